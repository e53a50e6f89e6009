/** Electronic invoices: what the rules of EN 16931 say about their sums, computed anew with rationals. */
import { assert, describe, it } from "vitest"
import type { DocumentSettings, Recipient } from "../../src/documents/index.ts"
import {
  ciiXml,
  creditNoteToEn16931,
  type En16931Invoice,
  type En16931Result,
  toEn16931,
  ublXml,
} from "../../src/einvoice/index.ts"
import { creditNoteAmounts, type Invoice, type Line } from "../../src/index.ts"
import { inputs, issued, line, quoteOf, standard } from "../invoices/Documents.ts"
import { holds } from "../property.ts"
import { Rational } from "../Rational.ts"

const settings: DocumentSettings = {
  seller: {
    name: "Kartenhaus GmbH",
    address: { line1: "Domplatz 1", city: "Mainz", postcode: "55116" },
    country: "DE",
    taxId: "DE 136 695 976",
    registration: "HRB 12345",
  },
  locale: null,
  timezone: "Europe/Berlin",
}
const customer: Recipient = {
  name: "Ada Lovelace",
  address: null,
  country: "FR",
  taxId: "FR40303265045",
  locale: null,
  timezone: null,
}

const of = (invoice: Invoice, more: object = {}): En16931Result =>
  toEn16931({ invoice, customer, settings, timezones: {}, ...more })

const made = (result: En16931Result): En16931Invoice => {
  assert.isTrue(result.ok, JSON.stringify(result))
  return (result as Extract<En16931Result, { readonly ok: true }>).invoice
}

const termsOf = (result: En16931Result): ReadonlyArray<string> =>
  result.ok ? [] : result.problems.map(({ field, term }) => `${term} ${field}`)

const sum = (texts: ReadonlyArray<string>): Rational =>
  texts.reduce((all, text) => all.plus(Rational.of(text)), Rational.of("0"))

const rational = (value: Rational | string): Rational =>
  typeof value === "string" ? Rational.of(value) : value

const same = (a: Rational | string, b: Rational | string): void =>
  assert.isTrue(rational(a).equals(rational(b)), `${String(a)} and ${String(b)}`)

/** The rules of the norm about sums, and which words they use for it. */
const checkSums = ({ lines, taxes, totals }: En16931Invoice): void => {
  // BR-CO-10, BR-CO-13: discounts are in the lines, so there are no allowances of the document.
  same(totals.net, sum(lines.map(({ net }) => net)))
  // BR-CO-14, BR-CO-15, BR-CO-16.
  same(totals.tax, sum(taxes.map(({ amount }) => amount)))
  same(totals.gross, sum([totals.net, totals.tax]))
  same(totals.gross, sum([totals.prepaid, totals.due]))
  for (const { category, rate, taxable } of taxes) {
    // BR-S-08, and the same of the other categories.
    const ofRate = lines.filter((line) => line.category === category && line.rate === rate)
    same(taxable, sum(ofRate.map(({ net }) => net)))
    // BR-CO-18: each has lines.
    assert.isAbove(ofRate.length, 0)
  }
  for (const { allowance, net, price, quantity } of lines) {
    // BR-27, and the amount of a line by its price.
    assert.notMatch(price, /^-/)
    const whole = Rational.of(quantity)
      .times(Rational.of(price))
      .minus(Rational.of(allowance ?? "0"))
    const cents = Rational.of("100")
    same(Rational.of(whole.times(cents).nearest()), rational(net).times(cents))
  }
}

describe("toEn16931", () => {
  it("keeps the rules about sums, whatever lines, discounts, credits and taxes there are", () => {
    holds([inputs], (input) => checkSums(made(of(issued(input)))))
  })

  it("has the quantity and the price of a line with one price, and the discount as an allowance", () => {
    const steps: Line["steps"] = [
      { type: "aggregate", quantity: "12345.5" },
      { type: "unit", quantity: "12345.5", price: "0.0006", amount: "7.4073" },
      { type: "round", digits: 2, amount: "7.41" },
    ]
    const lines = [line("a", 741n, { quantity: "12345.5", steps, description: "Requests" })]
    const quote = quoteOf(lines, standard("19"))
    const coupons = [{ id: "c", name: "C", allowance: { type: "percent", percent: "10" } }] as const
    const invoice = made(of(issued({ lines, quote, coupons })))
    assert.deepInclude(invoice.lines[0], {
      quantity: "12345.5",
      price: "0.0006",
      allowance: "0.74",
      net: "6.67",
      category: "S",
      rate: "19",
    })
    assert.include(ublXml(invoice), '<cbc:InvoicedQuantity unitCode="C62">12345.5</cbc:InvoicedQuantity>')
    assert.include(ciiXml(invoice), "<ram:ChargeAmount>0.0006</ram:ChargeAmount>")
  })

  it("has a negative quantity for money back, and never a negative price", () => {
    const lines = [line("a", 2_000n), line("b", -500n)]
    const invoice = made(of(issued({ lines, quote: quoteOf(lines, standard("19")) })))
    assert.deepInclude(invoice.lines[1], { quantity: "-1", price: "5", net: "-5" })
  })

  it("says all that is missing, by the field of the norm and ours", () => {
    const lines = [line("a", 2_000n)]
    const invoice = issued({ lines, quote: quoteOf(lines, standard("19")) })
    const bare = { ...settings, seller: { name: "Kartenhaus", taxId: "12/345/67890" } }
    assert.deepStrictEqual(
      termsOf(of(invoice, { settings: bare, customer: { ...customer, country: null } })),
      ["BT-40 seller.country", "BT-31 seller.taxId", "BT-55 customer.country"],
    )
    assert.deepStrictEqual(termsOf(of(invoice, { settings: { ...settings, seller: null } })), ["BG-4 seller"])
    assert.deepStrictEqual(termsOf(of({ ...invoice, number: null })), ["BT-1 status"])
    assert.deepStrictEqual(termsOf(of({ ...invoice, status: "void" })), ["BT-1 status"])
    assert.deepStrictEqual(termsOf(of({ ...invoice, currency: "KWD" })), ["BT-5 currency"])
  })

  it("wants the buyer's VAT id for reverse charge, and no VAT ids where nothing is subject to VAT", () => {
    const lines = [line("a", 2_000n), line("b", 100n)]
    const rates = (category: "AE" | "O") =>
      issued({ lines, quote: quoteOf(lines, { category, rate: "0", country: null, reason: null }) })
    const without = { customer: { ...customer, taxId: null } }
    assert.deepStrictEqual(termsOf(of(rates("AE"), without)), ["BT-48 customer.taxId"])
    const reverse = made(of(rates("AE"))).taxes[0]
    assert.deepInclude(reverse, { category: "AE", rate: "0", reasonCode: "VATEX-EU-AE" })
    const none = made(of(rates("O")))
    assert.deepInclude(none.taxes[0], { category: "O", rate: null, reasonCode: "VATEX-EU-O" })
    assert.deepStrictEqual([none.seller.vatId, none.buyer.vatId], [null, null])
    const { a, b } = {
      a: standard("19"),
      b: { category: "O", rate: "0", country: null, reason: null } as const,
    }
    const mixed = issued({ lines, quote: { behavior: "exclusive", rates: { a, b } } })
    assert.include(termsOf(of(mixed)), "BG-23 lines")
  })

  it("escapes what is markup, and what XML doesn't have", () => {
    const lines = [line("a", 100n, { description: `<b>&"\u0007\ud800` })]
    const invoice = made(of(issued({ lines, quote: quoteOf(lines, standard("19")) })))
    assert.include(ublXml(invoice), "<cbc:Name>&lt;b&gt;&amp;&quot;\ufffd\ufffd</cbc:Name>")
    assert.strictEqual(ciiXml(invoice), ciiXml(invoice))
  })
})

describe("creditNoteToEn16931", () => {
  it("keeps the rules about sums with taxes in and beside the prices, and names its invoice", () => {
    for (const behavior of ["exclusive", "inclusive"] as const) {
      const lines = [line("a", 3_333n), line("b", 3_334n), line("c", 1_000n)]
      const rates = { a: standard("19"), b: standard("19"), c: standard("7") }
      const invoice = issued({ lines, quote: { behavior, rates } })
      const amounts = creditNoteAmounts(invoice, [], { lines: 2_222n })
      const creditNote = {
        ...amounts,
        id: "cn_1",
        number: "CN-1",
        invoiceId: "inv_1",
        customerId: "cus_1",
        currency: "EUR",
        reason: "other",
        issuedAt: Date.UTC(2026, 11, 24),
      } as const
      const note = made(creditNoteToEn16931({ creditNote, invoice, customer, settings }))
      checkSums(note)
      assert.strictEqual(note.preceding?.number, invoice.number)
      assert.include(ublXml(note), "<cbc:CreditNoteTypeCode>381</cbc:CreditNoteTypeCode>")
    }
  })
})
