import {
  availableBy,
  burnCredits,
  type BurningUse,
  type BurntPart,
  type CreditAccount,
  type CreditChange,
  type CreditEntry,
  type CreditGrant,
  type CreditLedger,
  grantCredits,
  NO_CREDITS,
  settleCredits,
  unburnCredits,
  unusedSince,
  voidGrant,
} from "@billwright/engine"
import { assert, describe, it } from "vitest"
import { fc, holds } from "../property.ts"

const INVOICE = "invoice"
/** The instant until which usage counts. */
const AT = 50
/** The same of another invoice. */
const NEXT = 70
/** When a runner comes that is late. */
const LATE = 100

/** An account as a store keeps it. */
class Account {
  account: CreditAccount = NO_CREDITS
  readonly grants = new Map<string, CreditGrant>()
  readonly entries: Array<CreditEntry> = []

  get ledger(): CreditLedger {
    const live = ({ available, held, status }: CreditGrant) =>
      status === "pending" || available > 0n || held > 0n
    return { account: this.account, grants: [...this.grants.values()].filter(live), holds: [] }
  }

  write({ account, entries, grants }: CreditChange): void {
    this.account = account
    for (const grant of grants) this.grants.set(grant.id, grant)
    this.entries.push(...entries)
  }

  grant(given: Given, now: number): void {
    const { rollsOver, ...grant } = given
    const rollover =
      rollsOver === null || grant.expiresAt === null
        ? null
        : { maximum: rollsOver, expiresAt: grant.expiresAt + 20 }
    this.write(
      grantCredits(this.ledger, { ...grant, kind: "plan", rollover, createdAt: grant.effectiveAt }, now),
    )
  }

  settle(now: number): void {
    this.write(settleCredits(this.ledger, now))
  }

  burn(given: bigint | ReadonlyArray<BurningUse>, now: number, at = AT): void {
    const uses = typeof given === "bigint" ? [{ purpose: null, amount: given }] : given
    const ended = Map.groupBy(
      this.entries.filter(({ kind }) => kind === "expire"),
      ({ grantId }) => grantId!,
    )
    const unused = [...ended].map(([id, entries]) => ({
      grant: this.grants.get(id)!,
      amount: unusedSince(entries, at),
    }))
    const burning = { invoiceId: INVOICE, at, uses, unused, back: [], rest: null }
    this.write(burnCredits(this.ledger, burning, now))
  }

  /** What was burnt and not given back, what was taken last first, and debts before that. */
  get parts(): ReadonlyArray<BurntPart> {
    const left = new Map<string | null, bigint>([[null, 0n]])
    for (const entry of this.entries.toReversed()) {
      const { debt, grantId, kind } = entry
      if (kind === "burn" || kind === "restore")
        left.set(grantId, (left.get(grantId) ?? 0n) + debt - availableBy(entry))
    }
    return [...left]
      .filter(([, amount]) => amount > 0n)
      .map(([id, amount]) => ({ grant: id === null ? null : this.grants.get(id)!, amount }))
  }

  giveBack(amount: bigint, now: number): void {
    const rest: CreditGrant = this.grants.get("rest") ?? {
      id: "rest",
      kind: "paid",
      amount: 0n,
      priority: 50,
      effectiveAt: now,
      expiresAt: null,
      rollover: null,
      scope: null,
      createdAt: now,
      status: "active",
      available: 0n,
      held: 0n,
    }
    const back = [{ invoiceId: INVOICE, purpose: null, amount, parts: this.parts }]
    this.write(unburnCredits(this.ledger, { invoiceId: INVOICE, back, rest }, now))
  }

  get left() {
    const { available, debt } = this.account
    const grants = [...this.grants.values()].map(({ available: of, id }) => `${id} ${of}`)
    return { available, debt, grants: grants.toSorted() }
  }

  /** The account and each grant are the sums of their entries, and never less than nothing. */
  check(): void {
    const sumOf = (entries: ReadonlyArray<CreditEntry>) => ({
      available: entries.reduce((sum, { available }) => sum + available, 0n),
      scoped: entries.reduce((sum, { scoped }) => sum + scoped, 0n),
      debt: entries.reduce((sum, { debt }) => sum + debt, 0n),
    })
    const { available, debt, scoped } = this.account
    assert.deepStrictEqual(sumOf(this.entries), { available, scoped, debt })
    assert.isTrue(available === 0n || debt === 0n)
    for (const grant of this.grants.values()) {
      const own = sumOf(this.entries.filter(({ grantId }) => grantId === grant.id))
      assert.strictEqual(own.available + own.scoped, grant.available)
      assert.isTrue(grant.available >= 0n)
    }
  }
}

type GrantTerms = "id" | "amount" | "priority" | "effectiveAt" | "expiresAt" | "scope"

interface Given extends Pick<CreditGrant, GrantTerms> {
  readonly rollsOver: bigint | null
}

const given: fc.Arbitrary<ReadonlyArray<Given>> = fc
  .array(
    fc.record({
      amount: fc.bigInt({ min: 1n, max: 20n }),
      priority: fc.integer({ min: 0, max: 2 }),
      effectiveAt: fc.integer({ min: 0, max: 60 }),
      lasts: fc.option(fc.integer({ min: 1, max: 60 })),
      rollsOver: fc.option(fc.bigInt({ min: 0n, max: 10n })),
      scope: fc.constantFrom(null, null, ["a"], ["b"], ["a", "b"]),
    }),
    { maxLength: 6 },
  )
  .map((all) =>
    all.map(({ lasts, ...grant }, index) => ({
      ...grant,
      id: String.fromCodePoint(97 + index),
      expiresAt: lasts === null ? null : grant.effectiveAt + lasts,
    })),
  )

/** Grants of which none has a scope, or none rolls over: one that has rolled over is used in the order of its new end. */
const alike = fc
  .tuple(given, fc.boolean())
  .map(([grants, areScoped]) =>
    grants.map((grant) => (areScoped ? { ...grant, rollsOver: null } : { ...grant, scope: null })),
  )

/** An account with grants, as it is at an instant. */
const accountAt = (grants: ReadonlyArray<Given>, now: number): Account => {
  const account = new Account()
  for (const grant of grants) account.grant(grant, 0)
  account.settle(now)
  return account
}

const amounts = fc.bigInt({ min: 0n, max: 80n })
/** What charges burn, one after another. Nothing was granted for the last one alone. */
const uses = fc
  .tuple(amounts, amounts, amounts)
  .map(([a, b, c]) => [a, b, c].map((amount, index) => ({ amount, purpose: ["a", "b", "c"][index]! })))

describe("burning", () => {
  it("takes what could be used before the instant, in the order of priority, end and age", () => {
    holds([given, uses], (grants, all) => {
      const account = accountAt(grants, AT - 1)
      account.burn(all, AT)
      // One credit after another, of grants as they were just before the instant.
      const credits = grants
        .filter(({ effectiveAt }) => effectiveAt < AT)
        .flatMap(({ amount: of, effectiveAt, expiresAt, id, priority, rollsOver, scope }) => {
          const hasRolled = expiresAt !== null && expiresAt < AT
          const end = hasRolled ? (rollsOver === null ? expiresAt : expiresAt + 20) : expiresAt
          if (end !== null && end < AT) return []
          const left = hasRolled && rollsOver! < of ? rollsOver! : of
          const last = end ?? Number.POSITIVE_INFINITY
          const key = [priority, last, effectiveAt]
          return Array.from({ length: Number(left) }, () => ({ id, scope, key }))
        })
        .toSorted((a, b) => {
          const index = a.key.findIndex((part, place) => part !== b.key[place])
          return index < 0 ? (a.id < b.id ? -1 : Number(a.id > b.id)) : a.key[index]! - b.key[index]!
        })
      let free = credits
      for (const { amount, purpose } of all) {
        const used = free
          .filter(({ scope }) => scope === null || scope.includes(purpose))
          .slice(0, Number(amount))
        free = free.filter((credit) => !used.includes(credit))
        const taken = Map.groupBy(used, ({ id }) => id)
        const burnt = account.entries.filter((entry) => entry.kind === "burn" && entry.purpose === purpose)
        assert.deepStrictEqual(
          burnt
            .filter(({ grantId }) => grantId !== null)
            .map((entry) => [entry.grantId, -availableBy(entry)]),
          [...taken].map(([id, own]) => [id, BigInt(own.length)]),
        )
        assert.strictEqual(
          burnt.reduce((sum, { debt }) => sum + debt, 0n),
          amount - BigInt(used.length),
        )
      }
      account.check()
    })
  })

  it("comes to the same late, when grants have begun and ended since", () => {
    holds([alike, uses], (grants, all) => {
      const inTime = accountAt(grants, AT - 1)
      inTime.burn(all, AT)
      inTime.settle(LATE)
      const late = accountAt(grants, LATE)
      late.burn(all, LATE)
      late.check()
      assert.strictEqual(late.account.available, inTime.account.available)
      assert.strictEqual(late.account.debt, inTime.account.debt)
      assert.strictEqual(late.account.scoped, inTime.account.scoped)
    })
  })

  it("comes to the same late for two invoices, whose usage counts until different instants", () => {
    holds([given, amounts, amounts], (grants, first, second) => {
      const lasting = grants.map((grant) => ({ ...grant, rollsOver: null, scope: null }))
      const inTime = accountAt(lasting, AT - 1)
      inTime.burn(first, AT)
      inTime.settle(NEXT - 1)
      inTime.burn(second, NEXT, NEXT)
      inTime.settle(LATE)
      const late = accountAt(lasting, LATE)
      late.burn(first, LATE)
      late.burn(second, LATE, NEXT)
      late.check()
      assert.strictEqual(
        late.account.available - late.account.debt,
        inTime.account.available - inTime.account.debt,
      )
    })
  })

  it("takes nothing that a hold or an invoice gave back to a grant that had ended", () => {
    const entry = {
      kind: "expire" as const,
      at: AT,
      available: -5n,
      scoped: 0n,
      holdId: null,
      invoiceId: null,
    }
    const all = [entry, { ...entry, holdId: "hold" }, { ...entry, invoiceId: INVOICE }]
    assert.strictEqual(unusedSince(all, AT), 5n)
    assert.strictEqual(unusedSince(all, AT + 1), 0n)
    assert.strictEqual(unusedSince([...all, { ...entry, at: 1, available: 2n, invoiceId: INVOICE }], AT), 3n)
    assert.strictEqual(unusedSince([{ ...entry, available: 0n, scoped: -4n }], AT), 4n)
  })

  it("gives back what it burnt, part by part, and never more", () => {
    holds([given, amounts, fc.array(fc.bigInt({ min: 1n, max: 30n }))], (grants, amount, parts) => {
      const lasting = grants.map((grant) => ({ ...grant, effectiveAt: 0, expiresAt: null, scope: null }))
      const account = accountAt(lasting, AT)
      const before = account.left
      account.burn(amount, AT)
      if (parts.length > 3) account.grant({ ...lasting[0]!, id: "z", amount: 15n, ...NEW } as Given, AT)
      const extra = account.grants.has("z") ? 15n : 0n
      let rest = amount
      for (const part of parts) {
        const back = part < rest ? part : rest
        account.giveBack(back, AT)
        account.check()
        rest -= back
      }
      account.giveBack(rest, AT)
      account.check()
      assert.strictEqual(account.account.available, before.available + extra)
      assert.strictEqual(account.account.debt, 0n)
      if (extra === 0n) assert.deepStrictEqual(account.left, before)
    })
  })

  it("gives nothing to the grant of an invoice for the rest once that was voided", () => {
    const account = accountAt([], AT)
    account.burn(20n, AT)
    account.grant({ ...NEW, id: "a", amount: 20n }, AT)
    account.giveBack(5n, AT)
    account.write(voidGrant(account.ledger, account.grants.get("rest")!, AT)!)
    account.giveBack(15n, AT)
    account.check()
    assert.deepInclude(account.grants.get("rest"), { amount: 20n, available: 0n, status: "voided" })
    assert.strictEqual(account.account.available, 0n)
  })
})

const NEW = { priority: 0, effectiveAt: AT, expiresAt: null, rollsOver: null, scope: null }
