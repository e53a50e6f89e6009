import { assert, describe, it } from "vitest"
import {
  applyToInvoice,
  type CreditNoteAmounts,
  creditNoteAmounts,
  type CreditRequest,
  type Invoice,
  InvoiceError,
  leftOfLines,
  problemsOfCreditNotes,
  problemsOfSums,
} from "../../src/index.ts"
import { fc, holds } from "../property.ts"
import { Rational } from "../Rational.ts"
import { after, draft, inputs, issued, line, linesOf, quoteOf, standard, total } from "./Documents.ts"

/** An invoice with its notes. */
interface Credited {
  readonly invoice: Invoice
  readonly notes: ReadonlyArray<CreditNoteAmounts>
}

/** Issues one more note, unless the request is refused. */
const credit = ({ invoice, notes }: Credited, request: CreditRequest): Credited => {
  try {
    const note = creditNoteAmounts(invoice, notes, request)
    const { total: sum, waived } = note
    return { invoice: after(invoice, { action: "credit", total: sum, waived }), notes: [...notes, note] }
  } catch (error) {
    if (!(error instanceof InvoiceError)) throw error
    return { invoice, notes }
  }
}

const single = (...amounts: ReadonlyArray<bigint>): Invoice => {
  const lines = linesOf(...amounts)
  return issued({ lines, quote: quoteOf(lines, standard("20")) })
}

/** Picks up to three lines of an invoice, and a part of what is left of each. */
const picks = fc.array(
  fc.array(fc.tuple(fc.nat({ max: 7 }), fc.integer({ min: 1, max: 100 })), { minLength: 1, maxLength: 3 }),
  { maxLength: 4 },
)

const requestOf = (
  invoice: Invoice,
  notes: ReadonlyArray<CreditNoteAmounts>,
  pick: ReadonlyArray<readonly [number, number]>,
): CreditRequest => {
  const left = [...leftOfLines(invoice, notes)].filter(([, amount]) => amount > 0n)
  const chosen = new Map(
    pick.flatMap(([index, percent]) => {
      const [id, amount] = left[index % Math.max(left.length, 1)] ?? []
      return id === undefined ? [] : [[id, new Rational(amount! * BigInt(percent), 100n).ceiling()] as const]
    }),
  )
  return { lines: [...chosen].map(([lineId, amount]) => ({ lineId, amount })) }
}

describe("creditNoteAmounts", () => {
  it("gives notes that sum to the invoice when nothing is left", () => {
    holds([inputs, picks], (input, list) => {
      const invoice = issued(input)
      if (invoice.total <= 0n) return
      let state: Credited = { invoice, notes: [] }
      for (const pick of list) state = credit(state, requestOf(invoice, state.notes, pick))
      assert.deepStrictEqual(problemsOfCreditNotes(state.invoice, state.notes), [])
      const before = total(state.notes.map((note) => note.total))
      assert.isTrue(before <= invoice.total)
      state = credit(state, { lines: "rest" })
      assert.deepStrictEqual(problemsOfCreditNotes(state.invoice, state.notes), [])
      assert.deepStrictEqual(problemsOfSums(state.invoice), [])
      if (before === invoice.total) return
      assert.strictEqual(total(state.notes.map((note) => note.total)), invoice.total)
      assert.strictEqual(total(state.notes.map((note) => note.tax)), invoice.tax)
      for (const amount of leftOfLines(invoice, state.notes).values()) assert.strictEqual(amount, 0n)
      for (const tax of invoice.taxes) {
        const parts = state.notes.flatMap(({ taxes }) =>
          taxes.filter(
            (one) =>
              [one.category, one.rate, one.country].join() === [tax.category, tax.rate, tax.country].join(),
          ),
        )
        assert.strictEqual(total(parts.map((part) => part.taxable)), tax.taxable)
        assert.strictEqual(total(parts.map((part) => part.amount)), tax.amount)
      }
      assert.deepStrictEqual(state.invoice.availableActions.includes("credit"), false)
    })
  })

  it("leaves an invoice whose tax is right for what is left of it", () => {
    holds([inputs, picks], (input, list) => {
      const invoice = issued(input)
      if (invoice.total <= 0n || invoice.taxBehavior === "inclusive") return
      const { notes } = list.reduce<Credited>(
        (state, pick) => credit(state, requestOf(invoice, state.notes, pick)),
        { invoice, notes: [] },
      )
      const left = leftOfLines(invoice, notes)
      for (const tax of invoice.taxes) {
        const isSame = (one: { category: string; rate: string; country: string | null }) =>
          one.category === tax.category && one.rate === tax.rate && one.country === tax.country
        const net = total(invoice.lines.filter((one) => isSame(one.tax)).map(({ id }) => left.get(id)!))
        const given = total(notes.flatMap(({ taxes }) => taxes.filter(isSame).map(({ amount }) => amount)))
        const expected = new Rational(net).times(Rational.of(tax.rate)).over(new Rational(100n)).nearest()
        assert.strictEqual(tax.amount - given, expected)
      }
    })
  })

  it("splits the tax of thirds so that it sums", () => {
    // 0.10 at 20 % is 0.02. Three notes of 0.03, 0.03 and 0.04 leave 0.07, 0.04 and 0: tax 0.014, 0.008 and 0.
    const { notes } = [3n, 3n, 4n].reduce<Credited>(
      (state, amount) => credit(state, { lines: [{ lineId: "a", amount }] }),
      { invoice: single(10n), notes: [] },
    )
    assert.deepStrictEqual(
      notes.map(({ net, tax, total: sum }) => [net, tax, sum]),
      [
        [3n, 1n, 4n],
        [3n, 0n, 3n],
        [4n, 1n, 5n],
      ],
    )
  })

  it("lowers what is due, then refunds what was paid, and the rest becomes paid credits", () => {
    const lines = linesOf(10_000n)
    const invoice = after(
      issued({
        lines,
        quote: quoteOf(lines, standard("20")),
        paid: [{ id: "grant", available: 2_000n }],
      }),
      { action: "pay", amount: 7_000n },
    )
    // 120.00: 20.00 from credits, 70.00 paid, 30.00 due.
    const note = creditNoteAmounts(invoice, [], { lines: "rest", refund: 6_000n })
    assert.deepStrictEqual(
      [note.total, note.waived, note.refund, note.toBalance],
      [12_000n, 3_000n, 6_000n, 3_000n],
    )
    const refused = (refund: bigint, most: string) =>
      assert.throws(
        () => creditNoteAmounts(invoice, [], { lines: "rest", refund }),
        `refund must be from 0 to ${most}: no more than was paid, and not what is still due`,
      )
    refused(7_001n, "7000")
    refused(-1n, "7000")
    const change = applyToInvoice(invoice, { action: "credit", total: note.total, waived: note.waived })
    assert(change.type === "changed")
    assert.deepStrictEqual([change.invoice.status, change.events], ["paid", ["invoice.paid"]])
  })

  it("refunds no more than was paid, over all notes", () => {
    const paid = after(single(10_000n), { action: "pay", amount: 12_000n })
    const first = creditNoteAmounts(paid, [], { lines: [{ lineId: "a", amount: 5_000n }], refund: 6_000n })
    const then = after(paid, { action: "credit", total: first.total, waived: first.waived })
    assert.strictEqual(creditNoteAmounts(then, [first], { lines: "rest", refund: 6_000n }).refund, 6_000n)
    assert.throws(() => creditNoteAmounts(then, [first], { lines: "rest", refund: 6_001n }), "from 0 to 6000")
  })

  it("refunds nothing of what credits paid", () => {
    const lines = linesOf(10_000n)
    const paid = after(
      issued({ lines, quote: quoteOf(lines, standard("20")), paid: [{ id: "grant", available: 6_000n }] }),
      { action: "pay", amount: 6_000n },
    )
    const first = creditNoteAmounts(paid, [], { lines: [{ lineId: "a", amount: 5_000n }], refund: 6_000n })
    const then = after(paid, { action: "credit", total: first.total, waived: first.waived })
    assert.strictEqual(creditNoteAmounts(then, [first], { lines: "rest" }).toBalance, 6_000n)
    assert.throws(() => creditNoteAmounts(then, [first], { lines: "rest", refund: 1n }), "from 0 to 0")
  })

  it("credits a line after its discount, and not what credit lines gave back of it", () => {
    const lines = linesOf(1_000n, 1_000n)
    const half = { id: "half", name: "Half", allowance: { type: "percent" as const, percent: "50" } }
    const invoice = issued({ lines, coupons: [half], quote: quoteOf(lines, standard("20")) })
    const givenBack = [{ lineId: "a", amount: 200n }]
    assert.deepStrictEqual(
      [...leftOfLines(invoice, [], givenBack)],
      [
        ["a", 300n],
        ["b", 500n],
      ],
    )
    assert.strictEqual(creditNoteAmounts(invoice, [], { lines: "rest" }).total, 1_200n)
    assert.strictEqual(creditNoteAmounts(invoice, [], { lines: "rest", givenBack }).total, 960n)
    const tooMuch = { lines: [{ lineId: "a", amount: 301n }], givenBack }
    assert.throws(
      () => creditNoteAmounts(invoice, [], tooMuch),
      "lines.a must be from 1 to 300, which is left of the line",
    )
  })

  it("credits amounts with tax where taxes are inclusive", () => {
    const lines = linesOf(1_995n)
    const invoice = issued({ lines, quote: quoteOf(lines, standard("19"), "inclusive") })
    const note = creditNoteAmounts(invoice, [], { lines: [{ lineId: "a", amount: 1_000n }] })
    // 9.95 are left: 8.36 and 1.59. So the note is 16.76 − 8.36 and 3.19 − 1.59.
    assert.deepStrictEqual([note.net, note.tax, note.total], [840n, 160n, 1_000n])
  })

  it("says what is wrong with a request", () => {
    const invoice = single(1_000n, -400n)
    const refused = (request: CreditRequest, message: string) =>
      assert.throws(() => creditNoteAmounts(invoice, [], request), InvoiceError, message)
    refused({ lines: [{ lineId: "x", amount: 1n }] }, "lines.x is not a line of the invoice")
    refused({ lines: [{ lineId: "b", amount: 1n }] }, "lines.b has nothing left to credit")
    refused({ lines: [{ lineId: "a", amount: 0n }] }, "lines.a must be from 1 to 1000")
    refused(
      {
        lines: [
          { lineId: "a", amount: 1n },
          { lineId: "a", amount: 1n },
        ],
      },
      "lines.a is listed twice",
    )
    refused({ lines: [] }, "lines must come to more than 0")
    refused(
      { lines: [{ lineId: "a", amount: 1_000n }] },
      "lines must come to at most 720, which is left of the invoice: they come to 1200",
    )
    const lines = linesOf(1n)
    const unissued = draft({ lines, quote: quoteOf(lines, standard("20")) })
    assert.throws(
      () => creditNoteAmounts(unissued, [], { lines: "rest" }),
      "invoice can't be credited: it is draft",
    )
  })

  it("refuses an invoice below 0", () => {
    const lines = [line("back", -100n, { kind: "credit", fixedTax: standard("20") })]
    const invoice = issued({ lines, quote: quoteOf([], standard("20")) })
    assert.throws(
      () => creditNoteAmounts(invoice, [], { lines: "rest" }),
      "invoice can't be credited: it is paid",
    )
  })
})
