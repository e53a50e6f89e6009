import {
  availableBy,
  availableFor,
  commitHold,
  type Consumed,
  consumeCredits,
  type CreditAccount,
  type CreditChange,
  type CreditEntry,
  type CreditGrant,
  type CreditHold,
  type CreditLedger,
  extendHold,
  fallsBelow,
  grantAt,
  grantCredits,
  holdAt,
  isExhausted,
  NO_CREDITS,
  releaseHold,
  reserveCredits,
  settleCredits,
  type SettledHold,
  voidGrant,
} from "@billwright/engine"
import { TokenModel } from "@billwright/simulation"
import { describe, expect, it } from "vitest"
import { fc, holds } from "../property.ts"

/** An account as a store keeps it. */
class Book {
  account: CreditAccount = NO_CREDITS
  readonly grants = new Map<string, CreditGrant>()
  readonly holds = new Map<string, CreditHold>()
  readonly entries: Array<CreditEntry> = []
  /** The level that is watched, and what was available when it was crossed. */
  readonly level = 6n
  readonly falls: Array<bigint> = []

  ledger(now: number): CreditLedger {
    return {
      account: this.account,
      grants: [...this.grants.values()].filter(
        ({ available, held, status }) => status === "pending" || available > 0n || held > 0n,
      ),
      holds: [...this.holds.values()].filter(
        ({ expiresAt, status }) => status === "open" && expiresAt <= now,
      ),
    }
  }

  write(change: CreditChange): void {
    const { account, entries, grants, holds: changed } = change
    for (const sequence of fallsBelow(this.level, this.account, change)) {
      const upTo = entries.filter((entry) => entry.sequence <= sequence)
      this.falls.push(this.account.available + sumOf(upTo).available)
    }
    this.account = account
    for (const grant of grants) this.grants.set(grant.id, grant)
    for (const hold of changed) this.holds.set(hold.id, hold)
    this.entries.push(...entries)
  }

  /** Writes what came of an operation. Gives whether it was done, now or before. */
  settle(result: Consumed | SettledHold): boolean {
    if (result.type === "done") this.write(result.change)
    return result.type === "done" || result.type === "unchanged"
  }

  grant(id: string, amount: bigint, change: Partial<CreditGrant> = {}, now = 0): void {
    const grant = {
      id,
      kind: "paid",
      amount,
      priority: 50,
      effectiveAt: now,
      expiresAt: null,
      rollover: null,
      scope: null,
      createdAt: now,
    } as const
    this.write(grantCredits(this.ledger(now), { ...grant, ...change }, now))
  }

  consume(amount: bigint, now: number, purpose: string | null = null): boolean {
    return this.settle(consumeCredits(this.ledger(now), { amount, purpose, consumptionId: "c" }, now))
  }

  reserve(
    id: string,
    amount: bigint,
    expiresAt: number,
    now: number,
    purpose: string | null = null,
  ): boolean {
    return this.settle(reserveCredits(this.ledger(now), { id, amount, purpose, expiresAt }, now))
  }

  commit(id: string, amount: bigint, now: number, overdraft: "debt" | "refuse" = "debt"): boolean {
    return this.settle(commitHold(this.ledger(now), this.holds.get(id)!, { amount, overdraft }, now))
  }

  release(id: string, now: number): boolean {
    return this.settle(releaseHold(this.ledger(now), this.holds.get(id)!, now))
  }

  get balance() {
    const { available, debt, held } = this.account
    return { available, held, debt }
  }

  left(id: string) {
    const { available, held } = this.grants.get(id)!
    return { available, held }
  }
}

const sumOf = (entries: ReadonlyArray<CreditEntry>) =>
  entries.reduce(
    (sum, { available, debt, held, scoped }) => ({
      available: sum.available + available,
      scoped: sum.scoped + scoped,
      held: sum.held + held,
      debt: sum.debt + debt,
    }),
    { available: 0n, scoped: 0n, held: 0n, debt: 0n },
  )

describe("credits", () => {
  it("uses grants by priority, then the soonest expiry, then the oldest", () => {
    const book = new Book()
    book.grant("never", 10n, {}, 1)
    book.grant("late", 10n, { expiresAt: 200 }, 2)
    book.grant("younger", 10n, { expiresAt: 100 }, 4)
    book.grant("older", 10n, { expiresAt: 100 }, 3)
    book.grant("first", 10n, { priority: 0 }, 5)
    expect(book.consume(50n, 6)).toBe(true)
    const used = book.entries.filter(({ kind }) => kind === "consume").map(({ grantId }) => grantId)
    expect(used).toEqual(["first", "older", "younger", "late", "never"])
  })

  it("consumes the whole amount or nothing", () => {
    const book = new Book()
    book.grant("a", 10n)
    expect(consumeCredits(book.ledger(1), { amount: 11n, consumptionId: "c" }, 1)).toEqual({
      type: "insufficient",
      amount: 11n,
      available: 10n,
    })
    const result = consumeCredits(book.ledger(1), { amount: 10n, consumptionId: "c" }, 1)
    expect(result.type === "done" && isExhausted(book.account, result.change)).toBe(true)
  })

  it("gives what a hold did not use back to where it came from", () => {
    const book = new Book()
    book.grant("a", 10n, { priority: 1 })
    book.grant("b", 10n)
    expect(book.reserve("h", 15n, 100, 1)).toBe(true)
    expect(book.balance).toEqual({ available: 5n, held: 15n, debt: 0n })
    expect(book.commit("h", 4n, 2)).toBe(true)
    expect(book.left("a")).toEqual({ available: 6n, held: 0n })
    expect(book.left("b")).toEqual({ available: 10n, held: 0n })
    expect(book.holds.get("h")).toMatchObject({ status: "committed", committed: 4n, isLate: false })
  })

  it("keeps what is held of a grant that expires, and lets the rest go when it comes back", () => {
    const book = new Book()
    book.grant("a", 10n, { expiresAt: 50 })
    book.reserve("h", 6n, 100, 1)
    book.write(settleCredits(book.ledger(60), 60))
    expect(book.balance).toEqual({ available: 0n, held: 6n, debt: 0n })
    expect(book.commit("h", 4n, 61)).toBe(true)
    expect(book.balance).toEqual({ available: 0n, held: 0n, debt: 0n })
    const moved = book.entries.map(({ at, available, held, kind }) => ({ at, available, held, kind }))
    expect(moved).toEqual([
      { at: 0, available: 10n, held: 0n, kind: "grant" },
      { at: 1, available: -6n, held: 6n, kind: "reserve" },
      { at: 50, available: -4n, held: 0n, kind: "expire" },
      { at: 61, available: 0n, held: -4n, kind: "commit" },
      { at: 61, available: 2n, held: -2n, kind: "release" },
      { at: 61, available: -2n, held: 0n, kind: "expire" },
    ])
  })

  it("charges a late commit, and says so", () => {
    const book = new Book()
    book.grant("a", 10n)
    book.reserve("h", 6n, 100, 1)
    expect(book.commit("h", 6n, 100)).toBe(true)
    expect(book.holds.get("h")).toMatchObject({ status: "committed", isLate: true, settledAt: 100 })
    expect(book.account).toMatchObject({ available: 4n, held: 0n, openHolds: 0 })
    expect(book.commit("h", 6n, 200)).toBe(true)
    expect(book.commit("h", 5n, 200)).toBe(false)
    expect(book.release("h", 200)).toBe(false)
  })

  it("makes debt of what is used beyond everything, or refuses it, and repays debt first", () => {
    const book = new Book()
    book.grant("a", 10n)
    book.reserve("h", 8n, 100, 1)
    expect(book.commit("h", 13n, 2, "refuse")).toBe(false)
    expect(book.commit("h", 13n, 2)).toBe(true)
    expect(book.balance).toEqual({ available: 0n, held: 0n, debt: 3n })
    book.grant("b", 10n, {}, 3)
    expect(book.balance).toEqual({ available: 7n, held: 0n, debt: 0n })
    expect(book.entries.at(-1)).toMatchObject({ kind: "repay", grantId: "b", available: -3n, debt: -3n })
  })

  it("does what is due at one instant in one order, however a store gives its rows", () => {
    const book = new Book()
    book.grant("a", 10n, { priority: 1 })
    book.grant("b", 10n)
    book.reserve("first", 10n, 50, 1)
    book.reserve("second", 10n, 50, 1)
    book.grant("c", 4n, { effectiveAt: 60 }, 1)
    book.grant("d", 4n, { effectiveAt: 60 }, 1)
    book.grant("e", 1n, { expiresAt: 3 }, 2)
    book.reserve("fourth", 1n, 40, 2)
    expect(book.commit("fourth", 16n, 3)).toBe(true)
    expect(book.account).toMatchObject({ available: 0n, debt: 15n })
    const ledger = book.ledger(60)
    const turned = { ...ledger, grants: ledger.grants.toReversed(), holds: ledger.holds.toReversed() }
    expect(ledger.holds).toHaveLength(2)
    expect(settleCredits(turned, 60).entries).toEqual(settleCredits(ledger, 60).entries)
  })

  it("voids what is left of a grant once", () => {
    const book = new Book()
    book.grant("a", 10n)
    book.consume(4n, 1)
    book.write(voidGrant(book.ledger(2), book.grants.get("a")!, 2)!)
    expect(book.balance).toEqual({ available: 0n, held: 0n, debt: 0n })
    expect(voidGrant(book.ledger(3), book.grants.get("a")!, 3)).toBeUndefined()
    book.grant("b", 10n, { expiresAt: 9 }, 4)
    expect(voidGrant(book.ledger(9), book.grants.get("b")!, 9)).toBeUndefined()
  })
})

describe("a grant with a scope", () => {
  const scoped = () => {
    const book = new Book()
    book.grant("images", 10n, { scope: ["images"], priority: 1 })
    book.grant("all", 10n)
    return book
  }

  it("pays only for what is in it, in the order of all grants", () => {
    const book = scoped()
    expect(book.account).toMatchObject({ available: 10n, scoped: 10n })
    expect(availableFor(book.ledger(1), "images", 1)).toBe(20n)
    expect(availableFor(book.ledger(1), "chat", 1)).toBe(10n)
    expect(book.consume(11n, 1, "chat")).toBe(false)
    expect(book.consume(12n, 1, "images")).toBe(true)
    expect([book.left("images").available, book.left("all").available]).toEqual([0n, 8n])
    expect(book.entries.slice(-2)).toMatchObject([
      { kind: "consume", grantId: "images", purpose: "images", available: 0n, scoped: -10n },
      { kind: "consume", grantId: "all", purpose: "images", available: -2n, scoped: 0n },
    ])
  })

  it("repays no debt, and keeps what it has beside one", () => {
    const book = scoped()
    book.reserve("h", 10n, 9, 1, "chat")
    expect(book.commit("h", 13n, 2)).toBe(true)
    expect(book.account).toMatchObject({ available: 0n, scoped: 10n, debt: 3n })
    expect(book.consume(10n, 3, "images")).toBe(true)
    expect(book.consume(1n, 3, "images")).toBe(false)
  })

  it("pays for what a hold of its purpose uses beyond what it kept", () => {
    const book = scoped()
    book.reserve("h", 1n, 9, 1, "images")
    expect(book.commit("h", 21n, 2, "refuse")).toBe(false)
    expect(book.commit("h", 20n, 2, "refuse")).toBe(true)
    expect(book.account).toMatchObject({ available: 0n, scoped: 0n, held: 0n, debt: 0n })
  })
})

describe("a level", () => {
  it("is crossed each time that what is available falls below it", () => {
    const book = new Book()
    book.grant("a", 10n)
    book.consume(4n, 1)
    expect(book.falls).toEqual([])
    book.consume(1n, 2)
    book.consume(1n, 3)
    expect(book.falls).toEqual([5n])
    book.grant("b", 2n, {}, 4)
    book.reserve("h", 3n, 9, 5)
    expect(book.falls).toEqual([5n, 3n])
  })

  it("is crossed by the clock, also by what rose in between", () => {
    const book = new Book()
    book.grant("a", 9n, { expiresAt: 50 })
    book.grant("b", 9n, { effectiveAt: 60, expiresAt: 70 })
    book.write(settleCredits(book.ledger(90), 90))
    expect(book.falls).toEqual([0n, 0n])
  })

  it("is not crossed by what comes and goes at one instant", () => {
    const book = new Book()
    book.grant("gone", 9n, { expiresAt: 50 })
    book.grant("a", 1n)
    book.reserve("h", 9n, 60, 1)
    expect(book.falls).toEqual([1n])
    // It lapses, and what its grant gets back has expired.
    book.write(settleCredits(book.ledger(90), 90))
    expect(book.entries.map(({ kind }) => kind).slice(-2)).toEqual(["lapse", "expire"])
    expect(book.falls).toEqual([1n])
  })
})

/** What credits are used for: nobody says it, or one of two things. A third has no grant of its own. */
const PURPOSES = [null, "a", "b", "c"] as const

const small = (max: number) => fc.integer({ min: 0, max })
const commands = fc.array(
  fc.record({
    type: fc.constantFrom("grant", "void", "consume", "reserve", "extend", "commit", "release"),
    wait: small(4),
    which: small(7),
    amount: fc.integer({ min: 1, max: 12 }),
    length: fc.integer({ min: 1, max: 9 }),
    priority: small(2),
    delay: small(3),
    isEternal: fc.boolean(),
    isRefused: fc.boolean(),
    scope: fc.constantFrom(null, null, ["a"], ["b"], ["a", "b"]),
    purpose: fc.constantFrom(...PURPOSES),
  }),
  { maxLength: 30 },
)

interface Command {
  readonly type: string
  readonly which: number
  readonly amount: number
  readonly length: number
  readonly priority: number
  readonly delay: number
  readonly isEternal: boolean
  readonly isRefused: boolean
  readonly scope: ReadonlyArray<string> | null
  readonly purpose: string | null
}

/** Does the same with both. Gives whether each did it. */
const perform = (book: Book, model: TokenModel, id: string, now: number, command: Command) => {
  const { amount, delay, isEternal, isRefused, length, priority, purpose, scope, type, which } = command
  const [grants, held] = [[...book.grants.values()], [...book.holds.values()]]
  const [grant, hold] = [grants[which % grants.length], held[which % held.length]]
  const whole = BigInt(amount)
  if (type === "grant") {
    const from = now + Math.max(0, delay - 1)
    const until = isEternal ? null : from + length
    book.grant(id, whole, { priority, scope, effectiveAt: from, expiresAt: until }, now)
    model.grant(id, { amount, priority, from, until, scope })
  } else if (type === "consume") return [book.consume(whole, now, purpose), model.consume(amount, purpose)]
  else if (type === "reserve") {
    const reserved = model.reserve(id, amount, now + length, purpose)
    return [book.reserve(id, whole, now + length, now, purpose), reserved]
  } else if (type === "void" && grant !== undefined) {
    const change = voidGrant(book.ledger(now), grant, now)
    if (change !== undefined) book.write(change)
    return [change !== undefined, model.void(grant.id)]
  } else if (type === "extend" && hold !== undefined) {
    const extended = extendHold(book.ledger(now), hold, now + length, now)
    return [book.settle(extended), model.extend(hold.id, now + length)]
  } else if (type === "commit" && hold !== undefined) {
    const overdraft = isRefused ? "refuse" : "debt"
    const done = book.commit(hold.id, whole - 1n, now, overdraft)
    return [done, model.commit(hold.id, amount - 1, isRefused)]
  } else if (type === "release" && hold !== undefined) {
    return [book.release(hold.id, now), model.release(hold.id)]
  }
  return [true, true]
}

describe("any operations", () => {
  it("do what they do with single tokens, and the entries are the balances", () => {
    holds(
      [commands],
      (all) => {
        const [book, model] = [new Book(), new TokenModel(0)]
        let now = 0
        for (const [index, command] of all.entries()) {
          now += command.wait
          model.tickTo(now)
          const id = `${command.type}${String(index).padStart(2, "0")}`
          const [done, expected] = perform(book, model, id, now, command)
          expect(done).toBe(expected)
        }
        compare(book, model, now)
      },
      2_000,
    )
  })
})

describe("any operations and waits", () => {
  it("cross a level as often as single tokens do, instant by instant", () => {
    holds(
      [commands],
      (all) => {
        const [book, model] = [new Book(), new TokenModel(0)]
        const seen = [0]
        let now = 0
        for (const [index, command] of all.entries()) {
          for (let left = command.wait; left > 0; left--) {
            model.tickTo(++now)
            seen.push(model.balance.available)
          }
          book.write(settleCredits(book.ledger(now), now))
          perform(book, model, `${command.type}${String(index).padStart(2, "0")}`, now, command)
          seen.push(model.balance.available)
        }
        const level = Number(book.level)
        const falls = seen.filter((available, at) => available < level && (seen[at - 1] ?? 0) >= level)
        expect(book.falls.map(Number)).toEqual(falls)
      },
      2_000,
    )
  })
})

const compare = (book: Book, model: TokenModel, now: number): void => {
  // What is shown before it is written.
  for (const hold of book.holds.values()) {
    const { committed, status } = holdAt(hold, now)
    expect({ committed: committed === null ? null : Number(committed), status }).toEqual({
      committed: model.holds.get(hold.id)!.committed,
      status: model.holds.get(hold.id)!.status,
    })
  }
  for (const grant of book.grants.values()) {
    expect(grantAt(grant, now).status).toBe(model.grants.get(grant.id)!.status)
  }
  book.write(settleCredits(book.ledger(now), now))
  const { available, debt, held } = book.balance
  expect({ available: Number(available), held: Number(held), debt: Number(debt) }).toEqual(model.balance)
  for (const purpose of PURPOSES) {
    expect(Number(availableFor(book.ledger(now), purpose, now))).toBe(model.availableFor(purpose))
  }
  for (const { available: free, held: kept, id } of book.grants.values()) {
    const { status: _, ...left } = model.ofGrant(id)
    expect({ available: Number(free), held: Number(kept) }).toEqual(left)
    const own = book.entries.filter(({ grantId }) => grantId === id)
    const entered = own.reduce((sum, entry) => sum + availableBy(entry), 0n)
    expect({ available: entered, held: sumOf(own).held }).toEqual({ available: free, held: kept })
  }
  expect(sumOf(book.entries)).toEqual({ ...book.balance, scoped: book.account.scoped })
  expect(available === 0n || debt === 0n).toBe(true)
  expect(book.entries.map(({ sequence }) => sequence)).toEqual(book.entries.map((_, i) => i + 1))
  expect(book.account.openHolds).toBe(
    [...book.holds.values()].filter(({ status }) => status === "open").length,
  )
}
