import {
  applyCredits,
  assemble,
  type CreditChange,
  type CreditGrant,
  creditUsesOf,
  grantCredits,
  INVOICE_LIMITS,
  invoiceCreditsOf,
  NO_CREDITS,
  restoreCredits,
} from "@billwright/engine"
import { assert, describe, it } from "vitest"
import { linesOf, quoteOf, standard } from "../invoices/Documents.ts"
import { fc, holds } from "../property.ts"

/** An account as a store keeps it. */
class Book {
  account = NO_CREDITS
  readonly grants = new Map<string, CreditGrant>()

  get ledger() {
    const grants = [...this.grants.values()].filter(
      ({ available, held, status }) => status === "pending" || available > 0n || held > 0n,
    )
    return { account: this.account, grants, holds: [] }
  }

  write({ account, grants }: CreditChange): void {
    this.account = account
    for (const grant of grants) this.grants.set(grant.id, grant)
  }

  grant(id: string, { amount, expiresAt, kind, priority, scope = null }: Terms): void {
    const grant = { id, kind, amount, priority, effectiveAt: 0, expiresAt, rollover: null, createdAt: 0 }
    this.write(grantCredits(this.ledger, { ...grant, scope }, 0))
  }
}

type Terms = Pick<CreditGrant, "amount" | "expiresAt" | "kind" | "priority"> &
  Partial<Pick<CreditGrant, "scope">>

const terms: fc.Arbitrary<Terms> = fc.record({
  kind: fc.constantFrom("paid", "promotional", "plan"),
  amount: fc.bigInt({ min: 1n, max: 3_000n }),
  priority: fc.integer({ min: 0, max: 2 }),
  expiresAt: fc.constantFrom(null, 50, 150),
})

const sum = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((total, one) => total + one, 0n)

/** What grants of a kind have left at an instant. */
const leftOf = ({ grants }: Book, kind: CreditGrant["kind"], at: number): bigint =>
  sum(
    Array.from(grants.values())
      .filter((one) => one.kind === kind && (one.expiresAt === null || one.expiresAt > at))
      .map(({ available }) => available),
  )

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** An invoice over amounts at 20 % tax, with what an account has at instant 100. */
const invoiceOf = (book: Book, amounts: ReadonlyArray<bigint>) => {
  const lines = linesOf(...amounts)
  return assemble({ lines, quote: quoteOf(lines, standard("20")), ...invoiceCreditsOf(book.ledger, 100) })!
}

const amounts = fc.array(fc.bigInt({ min: 0n, max: 2_000n }), { minLength: 1, maxLength: 4 })

describe("credits on invoices", () => {
  it("lower the lines as far as there are promotional ones, and pay the rest as far as there are paid ones", () => {
    holds([fc.array(terms, { maxLength: 6 }), amounts], (grants, of) => {
      const book = new Book()
      for (const [index, grant] of grants.entries()) book.grant(`g${index}`, grant)
      const [promotional, paid, plan] = (["promotional", "paid", "plan"] as const).map((kind) =>
        leftOf(book, kind, 100),
      )
      const invoice = invoiceOf(book, of)
      assert.strictEqual(sum(invoice.discounts.map(({ amount }) => amount)), smaller(promotional!, sum(of)))
      assert.strictEqual(sum(invoice.applied.map(({ amount }) => amount)), smaller(paid!, invoice.total))
      const uses = creditUsesOf(invoice)
      const used = sum(uses.map(({ amount }) => amount))
      book.write(applyCredits(book.ledger, "inv", uses, 100))
      assert.strictEqual(book.account.available, promotional! + paid! + plan! - used)
      assert.strictEqual(leftOf(book, "plan", 100), plan)
      for (const { available } of book.grants.values()) assert.isTrue(available >= 0n)
    })
  })

  it("come back when the invoice is voided, but for those whose grant has ended", () => {
    const later = fc.constantFrom(100, 149, 150, 151)
    holds([fc.array(terms, { maxLength: 6 }), amounts, later], (grants, of, at) => {
      const book = new Book()
      for (const [index, grant] of grants.entries()) book.grant(`g${index}`, grant)
      const before = (["promotional", "paid", "plan"] as const).map((kind) => leftOf(book, kind, at))
      const uses = creditUsesOf(invoiceOf(book, of))
      book.write(applyCredits(book.ledger, "inv", uses, 100))
      const used = uses.map(({ grantId }) => book.grants.get(grantId)!)
      book.write(restoreCredits(book.ledger, used, "inv", uses, at))
      assert.strictEqual(book.account.available, sum(before))
    })
  })

  it("with a scope lower and pay only the lines of its charges", () => {
    const scopes = fc.constantFrom(null, ["a"], ["b"], ["a", "b"])
    const charges = fc.constantFrom("a", "b", null)
    const scoped = fc.record({
      kind: fc.constantFrom("paid" as const, "promotional" as const),
      amount: fc.bigInt({ min: 1n, max: 3_000n }),
      scope: scopes,
    })
    const given = fc.array(fc.tuple(fc.bigInt({ min: 0n, max: 2_000n }), charges), {
      minLength: 1,
      maxLength: 4,
    })
    holds([fc.array(scoped, { maxLength: 5 }), given], (grants, lines) => {
      const book = new Book()
      for (const [index, grant] of grants.entries()) {
        book.grant(`g${index}`, { ...grant, priority: index, expiresAt: null })
      }
      const all = linesOf(...lines.map(([amount]) => amount))
      const charged = all.map((line, index) => ({ ...line, charge: lines[index]![1] }))
      const quote = quoteOf(charged, standard("20"))
      const invoice = assemble({ lines: charged, quote, ...invoiceCreditsOf(book.ledger, 100) })!
      const chargeOf = (id: string) => charged.find((line) => line.id === id)!.charge
      for (const { id, parts } of invoice.discounts) {
        const { scope } = book.grants.get(id)!
        assert.isTrue(parts.every(({ lineId }) => scope === null || scope.includes(chargeOf(lineId) ?? "")))
      }
      // Whatever set of charges: grants for these alone never pay more than their lines come to.
      for (const keys of [["a"], ["b"], ["a", "b"]]) {
        const within = ({ scope }: CreditGrant) => scope !== null && scope.every((key) => keys.includes(key))
        const paid = invoice.applied.filter(({ id }) => within(book.grants.get(id)!))
        const gross = invoice.lines
          .filter(({ charge }) => charge !== null && keys.includes(charge))
          .map(({ net }) => (net * 12n) / 10n + 1n)
        assert.isTrue(sum(paid.map(({ amount }) => amount)) <= sum(gross))
      }
      const before = book.account
      book.write(applyCredits(book.ledger, "inv", creditUsesOf(invoice), 100))
      const used = sum(creditUsesOf(invoice).map(({ amount }) => amount))
      const { available, scoped: rest } = book.account
      assert.strictEqual(available + rest, before.available + before.scoped - used)
    })
  })

  it("are used by an invoice in the order in which anything uses them", () => {
    const book = new Book()
    book.grant("last", { kind: "paid", amount: 5n, priority: 50, expiresAt: null })
    book.grant("second", { kind: "paid", amount: 5n, priority: 50, expiresAt: 150 })
    book.grant("first", { kind: "paid", amount: 5n, priority: 1, expiresAt: null })
    book.grant("gone", { kind: "paid", amount: 5n, priority: 0, expiresAt: 100 })
    assert.deepStrictEqual(invoiceCreditsOf(book.ledger, 100).paid, [
      { id: "first", available: 5n },
      { id: "second", available: 5n },
      { id: "last", available: 5n },
    ])
  })

  it("are as many as an invoice can have, and the others are for the next ones", () => {
    const book = new Book()
    const most = INVOICE_LIMITS.credits
    for (let index = 0; index <= most; index++)
      book.grant(`g${index}`, { kind: "paid", amount: 1n, priority: 50, expiresAt: null })
    const invoice = invoiceOf(book, [BigInt(most) * 2n])
    assert.lengthOf(invoice.applied, most)
    book.write(applyCredits(book.ledger, "inv", creditUsesOf(invoice), 100))
    assert.deepStrictEqual(
      invoiceCreditsOf(book.ledger, 100).paid.map(({ available }) => available),
      [1n],
    )
  })
})
