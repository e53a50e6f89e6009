import { assert, describe, it } from "vitest"
import {
  ciiXml,
  type EInvoiceCreditNoteInput,
  type EInvoiceInput,
  type En16931Invoice,
  toEn16931,
  ublXml,
} from "../../src/einvoices/index.ts"
import {
  type CouponInput,
  type CreditRequest,
  creditNoteAmounts,
  type Invoice,
  InvoiceError,
} from "../../src/index.ts"
import * as Samples from "../documents/Samples.ts"
import { after, draft, inputs, issued, line, linesOf, quoteOf, standard } from "../invoices/Documents.ts"
import { fc, holds } from "../property.ts"
import { Rational } from "../Rational.ts"

const { customer, settings } = Samples

const made = (input: EInvoiceInput | EInvoiceCreditNoteInput): En16931Invoice => {
  const result = toEn16931(input)
  if (result.type === "problems") throw new Error(JSON.stringify(result.problems))
  return result.document
}

const of = (invoice: Invoice, more: Partial<EInvoiceInput> = {}): EInvoiceInput => ({
  invoice,
  customer,
  settings,
  timezones: { sub_1: "Europe/Berlin" },
  ...more,
})

const missingOf = (input: EInvoiceInput | EInvoiceCreditNoteInput) => {
  const result = toEn16931(input)
  return result.type === "document" ? [] : result.problems.map(({ field, term }) => `${term} ${field}`)
}

const noteOf = (invoice: Invoice, lines: CreditRequest["lines"]): EInvoiceCreditNoteInput => ({
  ...of(invoice),
  creditNote: {
    ...creditNoteAmounts(invoice, [], { lines }),
    number: "CN-2026-0001",
    currency: invoice.currency,
    issuedAt: Date.UTC(2026, 11, 1),
  },
})

const sum = (amounts: ReadonlyArray<string>): Rational =>
  amounts.reduce((total, amount) => total.plus(Rational.of(amount)), new Rational(0n))

const equal = (left: Rational, right: Rational, rule: string) =>
  assert.isTrue(left.equals(right), `${rule}: ${left.n}/${left.d} is not ${right.n}/${right.d}`)

const CENT = new Rational(1n, 100n)

/** The rules of the norm about totals, worked out with rationals. */
const checkTotals = (document: En16931Invoice): void => {
  const { lines, taxes, totals } = document
  const amount = (text: string) => Rational.of(text)
  for (const { allowances, baseQuantity, net, price, quantity } of lines) {
    assert.isFalse(amount(price).isLessThan(new Rational(0n)), "BR-27")
    const gross = amount(quantity)
      .times(amount(price))
      .over(amount(baseQuantity ?? "1"))
    const off = sum(allowances.map((one) => one.amount))
    equal(new Rational(gross.times(new Rational(100n)).nearest(), 100n).minus(off), amount(net), "BT-131")
  }
  equal(sum(lines.map(({ net }) => net)), amount(totals.lines), "BR-CO-10")
  equal(amount(totals.lines), amount(totals.net), "BR-CO-13")
  equal(sum(taxes.map((tax) => tax.amount)), amount(totals.tax), "BR-CO-14")
  equal(amount(totals.net).plus(amount(totals.tax)), amount(totals.gross), "BR-CO-15")
  equal(amount(totals.gross).minus(amount(totals.paid)), amount(totals.due), "BR-CO-16")
  const keys = taxes.map(({ category, rate }) => `${category} ${rate}`)
  assert.lengthOf(new Set(keys), keys.length, "BG-23")
  for (const tax of taxes) {
    const own = lines.filter((one) => one.tax.category === tax.category && one.tax.rate === tax.rate)
    equal(sum(own.map(({ net }) => net)), amount(tax.taxable), "BR-S-08")
    const exact = amount(tax.taxable)
      .times(amount(tax.rate ?? "0"))
      .over(new Rational(100n))
    // Amounts with tax, taxes of two countries and what is left of credit notes may be off by a rounding.
    const off = amount(tax.amount).minus(exact)
    const most = CENT.times(new Rational(2n))
    assert.isFalse(most.isLessThan(off) || off.isLessThan(new Rational(0n).minus(most)), "BR-CO-17")
  }
}

describe("totals of e-invoices", () => {
  it("keep to the rules of the norm, whatever was discounted, credited and taxed", () => {
    holds([inputs], (input) => {
      const invoice = issued(input)
      const result = toEn16931(of(invoice))
      assert.strictEqual(result.type, "document")
      if (result.type !== "document") return
      const { document } = result
      checkTotals(document)
      assert.strictEqual(document.totals.gross, units(invoice.total))
      assert.strictEqual(document.totals.due, units(invoice.amountDue))
    })
  })

  it("of credit notes keep to them, too", () => {
    holds([inputs, fc.integer({ min: 1, max: 100 })], (input, percent) => {
      const invoice = issued(input)
      if (!invoice.availableActions.includes("credit")) return
      const part = (invoice.lines.reduce((total, { net }) => total + net, 0n) * BigInt(percent)) / 100n
      try {
        checkTotals(made(noteOf(invoice, percent === 100 || part <= 0n ? "rest" : part)))
      } catch (error) {
        // Lines below 0 can't be credited in part.
        if (!(error instanceof InvoiceError)) throw error
      }
    })
  })

  it("round the tax once for each rate", () => {
    const lines = linesOf(33n, 33n, 33n)
    const { taxes, totals } = made(of(issued({ lines, quote: quoteOf(lines, standard("20")) })))
    assert.deepInclude(taxes[0], { taxable: "0.99", amount: "0.20", category: "S", rate: "20" })
    assert.deepEqual(totals, {
      lines: "0.99",
      net: "0.99",
      tax: "0.20",
      gross: "1.19",
      paid: "0.00",
      due: "1.19",
    })
  })
})

const units = (amount: bigint): string => {
  const text = (amount < 0n ? -amount : amount).toString().padStart(3, "0")
  return `${amount < 0n ? "-" : ""}${text.slice(0, -2)}.${text.slice(-2)}`
}

describe("reasons why there is no tax", () => {
  const exempt = (...reasons: ReadonlyArray<string | null>): Invoice => Samples.exempt("E", ...reasons)
  const taxesOf = (input: EInvoiceInput | EInvoiceCreditNoteInput) =>
    made(input).taxes.map(({ reason, reasonCode, taxable }) => [taxable, reason, reasonCode])

  it("are all stated in the one part of their category and rate", () => {
    assert.deepEqual(taxesOf(of(exempt("§ 4 Nr. 21 UStG", "§ 4 Nr. 10 UStG", "§ 4 Nr. 21 UStG"))), [
      ["6.00", "§ 4 Nr. 21 UStG; § 4 Nr. 10 UStG", null],
    ])
  })

  it("are those of a credit note's own lines", () => {
    const invoice = exempt("§ 4 Nr. 21 UStG", "§ 4 Nr. 10 UStG")
    assert.deepEqual(taxesOf(noteOf(invoice, [{ lineId: "b", amount: 200n }])), [
      ["2.00", "§ 4 Nr. 10 UStG", null],
    ])
  })

  it("are a code only if it is the one reason", () => {
    const [one, other] = ["VATEX-EU-132-1I", "VATEX-EU-135-1A"]
    assert.deepEqual(taxesOf(of(exempt(one, one))), [["3.00", null, one]])
    assert.deepEqual(taxesOf(of(exempt(one, other))), [["3.00", `${one}; ${other}`, null]])
    assert.deepEqual(taxesOf(of(exempt("§ 4 Nr. 21 UStG", one))), [["3.00", `§ 4 Nr. 21 UStG; ${one}`, null]])
  })

  it("of categories that mean one thing only are their code", () => {
    const invoice = Samples.exempt("AE", null, "VATEX-EU-AE")
    assert.deepEqual(taxesOf(of(invoice)), [["3.00", null, "VATEX-EU-AE"]])
  })

  it("are missing if one line has none, wherever it stands", () => {
    for (const invoice of [exempt("§ 4 Nr. 21 UStG", null), exempt(null, "§ 4 Nr. 21 UStG")]) {
      assert.deepEqual(missingOf(of(invoice)), ["BT-120 taxes.reason"])
    }
  })
})

describe("the tax of amounts in whole units", () => {
  const kronur = (rate: string, ...amounts: ReadonlyArray<bigint>): Invoice => {
    const lines = linesOf(...amounts)
    return { ...issued({ lines, quote: quoteOf(lines, standard(rate), "inclusive") }), currency: "ISK" }
  }

  it("is refused where it is a whole unit or more from its rate, as validators do", () => {
    // 491 are 395 and 96 of tax, and 24 percent of 395 are 94.80.
    const note = noteOf(kronur("24", 1005n), 491n)
    assert.deepInclude(note.creditNote.taxes[0], { taxable: 395n, amount: 96n })
    const result = toEn16931(note)
    assert.deepEqual(result.type === "problems" ? result.problems : [], [
      {
        term: "BT-117",
        name: "VAT category tax amount",
        field: "taxes.amount",
        problem: "is 96, which is 1 ISK or more from 24 percent of 395: validators refuse that",
      },
    ])
  })

  it("is compared with what the rate comes to in cents", () => {
    const note = noteOf(kronur("24.004", 1240n), "rest")
    const ofTaxes = (taxable: bigint, amount: bigint) => ({
      ...note,
      creditNote: {
        ...note.creditNote,
        taxes: [{ ...standard("24.004"), taxable, amount }],
      },
    })
    // 24.004 are 24.00 for a validator: 25 is one whole unit off.
    assert.deepEqual(missingOf(ofTaxes(100n, 25n)), ["BT-117 taxes.amount"])
    assert.deepEqual(missingOf(ofTaxes(100n, 24n)), [])
  })

  /** BR-S-09 and BR-CO-17, as the official rules have them. */
  const isAccepted = ({
    amount,
    rate,
    taxable,
  }: {
    amount: bigint
    rate: string
    taxable: bigint
  }): boolean => {
    const exact = new Rational(taxable).times(Rational.of(rate))
    const rounded = new Rational(exact.nearest(), 100n)
    const one = new Rational(1n)
    const tax = new Rational(amount)
    return tax.minus(one).isLessThan(rounded) && rounded.isLessThan(tax.plus(one))
  }

  it("is in all credit notes that validators take, and in no other one", () => {
    const invoice = kronur("24", 1005n)
    let refused = 0
    for (let part = 1n; part <= invoice.total; part++) {
      const note = noteOf(invoice, part)
      const accepted = note.creditNote.taxes.every(isAccepted)
      if (!accepted) refused += 1
      assert.deepEqual(missingOf(note), accepted ? [] : ["BT-117 taxes.amount"], String(part))
    }
    assert.isAbove(refused, 0)
    assert.isBelow(refused, Number(invoice.total) / 2)
  })
})

describe("discounts of an invoice", () => {
  it("are read once, and not for every line", () => {
    const count = 50
    const lines = linesOf(...Array.from({ length: count }, () => 100n))
    const coupons = [{ id: "c", name: "Half", allowance: { type: "percent", percent: "50" } as const }]
    const invoice = issued({ lines, quote: quoteOf(lines, standard("19")), coupons })
    let reads = 0
    const parts = invoice.discounts[0]!.parts.map(({ amount, lineId }) => ({
      amount,
      get lineId() {
        reads += 1
        return lineId
      },
    }))
    const document = made(of({ ...invoice, discounts: [{ ...invoice.discounts[0]!, parts }] }))
    assert.lengthOf(document.lines, count)
    for (const { allowances } of document.lines) {
      assert.deepEqual(allowances, [{ amount: "0.50", reason: "Half" }])
    }
    assert.strictEqual(reads, count)
  })
})

describe("the model of an invoice", () => {
  it("has the terms of the norm", () => {
    const document = made(of(Samples.invoice()))
    assert.deepInclude(document, {
      number: "2026-0001",
      issueDate: "2026-11-22",
      typeCode: "380",
      currency: "EUR",
      dueDate: "2026-12-06",
      period: { start: "2026-11-01", end: "2026-12-31" },
      preceding: null,
    })
    assert.deepInclude(document.seller, {
      name: "Nordlicht Software GmbH",
      vatId: "DE123456789",
      registration: "HRB 98765, Amtsgericht Hamburg",
      taxRegistration: null,
      identifier: null,
    })
    assert.deepInclude(document.buyer, {
      name: "Ada Lovelace Ltd",
      vatId: "BE0123456789",
      registration: null,
    })
    assert.deepEqual(document.payment, {
      code: "58",
      text: "IBAN DE02 1203 0000 0000 2020 51; BIC BYLADEM1001",
      reference: "2026-0001",
      iban: "DE02120300000000202051",
      bic: "BYLADEM1001",
    })
    const [calls, seats] = document.lines
    // Tiers have no price of one: the price is that of the whole quantity.
    assert.deepInclude(calls, { quantity: "1500", price: "10.80", baseQuantity: "1500", net: "10.80" })
    assert.deepInclude(seats, { quantity: "7", price: "12.5", baseQuantity: null, net: "87.50" })
    assert.deepEqual(calls!.period, { start: "2026-11-01", end: "2026-11-30" })
  })

  it("has the account of the text, and never a longer or a shorter one", () => {
    const ibanOf = (paymentInstructions: string) => {
      const seller = { ...settings.seller!, paymentInstructions }
      return made(of(Samples.invoice(), { settings: { ...settings, seller } })).payment?.iban
    }
    // With two letters of the next word, the check digits are right by chance.
    assert.strictEqual(ibanOf("IBAN DE02 1203 0000 0000 2020 51 BIC BYLADEM1001"), "DE02120300000000202051")
    assert.strictEqual(ibanOf("DE02120300000000202051 or NO9386011117947"), "DE02120300000000202051")
    assert.strictEqual(ibanOf("NO93 8601 1117 947 Kontonummer"), "NO9386011117947")
    assert.strictEqual(ibanOf("MT84MALT011000012345MTLCAST001S"), "MT84MALT011000012345MTLCAST001S")
    assert.strictEqual(ibanOf("Ref AB12 DE02 1203 0000 0000 2020 51"), "DE02120300000000202051")
    // A digit too many, a wrong digit, a length of another country, and no country of the registry.
    for (const text of [
      "DE021203000000002020517",
      "DE02 1203 0000 0000 2020 52",
      "NO90 1203 0000 0000 2020 51",
      "US36 1203 0000 0000 2020 51",
    ])
      assert.isNull(ibanOf(text), text)
  })

  it("is as it was issued, whatever was paid since", () => {
    const invoice = Samples.invoice()
    const before = made(of(invoice))
    assert.deepEqual(made(of(after(invoice, { action: "pay", amount: invoice.amountDue }))), before)
    assert.strictEqual(ublXml(made(of(invoice))), ublXml(before))
  })

  it("says money back with a quantity below 0, and credits at once as the paid amount", () => {
    const lines = [line("a", 1000n), line("b", -333n, { quantity: "3" })]
    const paid = [{ id: "paid", available: 500n }]
    const document = made(of(issued({ lines, quote: quoteOf(lines, standard("10")), paid })))
    assert.deepInclude(document.lines[1], { quantity: "-3", price: "3.33", baseQuantity: "3", net: "-3.33" })
    assert.deepInclude(document.totals, { gross: "7.34", paid: "5.00", due: "2.34" })
  })

  it("of a credit note names the invoice, and says what is paid back", () => {
    const invoice = Samples.invoice()
    const document = made(noteOf(invoice, "rest"))
    assert.strictEqual(document.typeCode, "381")
    assert.deepEqual(document.preceding, { number: "2026-0001", issueDate: "2026-11-22" })
    assert.deepInclude(document.totals, { paid: document.totals.gross, due: "0.00" })
  })

  it("has no more decimals than the norm allows", () => {
    const dinars = (amount: bigint, coupons: ReadonlyArray<CouponInput> = []) => {
      const lines = [line("a", amount)]
      const quote = quoteOf(lines, { category: "Z", rate: "0", country: "DE", reason: null })
      return of({ ...issued({ lines, quote, coupons }), currency: "KWD" })
    }
    assert.strictEqual(made(dinars(1_250n)).totals.gross, "1.25")
    assert.deepEqual(missingOf(dinars(1_255n)), ["BT-5 currency"])
    // Both discounts together fit, and each is an allowance of its own.
    const allowance = { type: "fixed", amount: 5n } as const
    const coupons = ["a", "b"].map((id) => ({ id, name: id, allowance }))
    assert.deepEqual(missingOf(dinars(1_000n, coupons)), ["BT-5 currency"])
  })
})

describe("what is missing for an e-invoice", () => {
  it("is all named, by the term of the norm and by our field", () => {
    const invoice = Samples.invoice({ rate: Samples.REVERSE_CHARGE })
    const input = of(invoice, {
      customer: { ...customer, country: null, taxId: null },
      settings: { ...settings, seller: { name: "Nordlicht" } },
    })
    assert.deepEqual(missingOf(input), [
      "BT-40 invoices.seller.country",
      "BT-31 invoices.seller.taxId",
      "BT-55 customer.country",
      "BT-48 customer.taxId",
    ])
    assert.deepEqual(missingOf(of(invoice, { settings: { ...settings, seller: null } })), [
      "BT-27 invoices.seller.name",
    ])
  })

  it("refuses drafts and void invoices", () => {
    const lines = linesOf(100n)
    assert.deepEqual(missingOf(of(draft({ lines, quote: quoteOf(lines, standard("19")) }))), ["BT-1 status"])
    const voided = after(Samples.invoice(), { action: "void" })
    assert.deepEqual(missingOf(of(voided)), ["BT-115 status"])
  })

  it("refuses category O beside others, goods without a day, and exemption without a reason", () => {
    const lines = linesOf(100n, 100n)
    const none = { category: "O", rate: "0", country: null, reason: "Not subject to tax" } as const
    const rates = { a: standard("19"), b: none }
    assert.include(
      missingOf(of(issued({ lines, quote: { behavior: "exclusive", rates } }))),
      "BT-118 taxes.category",
    )
    const goods = { ...none, category: "K" } as const
    assert.deepEqual(missingOf(of(issued({ lines, quote: quoteOf(lines, goods) }))), [
      "BG-14 lines.periodStart",
    ])
    const exempt = { ...none, category: "E", reason: null } as const
    assert.deepEqual(missingOf(of(issued({ lines, quote: quoteOf(lines, exempt) }))), ["BT-120 taxes.reason"])
  })
})

describe.each([
  ["UBL", ublXml],
  ["CII", ciiXml],
])("%s", (_, write) => {
  it("escapes texts, and has no character that XML lacks", () => {
    const lines = [line("a", 100n, { description: `<b> & "q" \u0007\ud800 ]]> شركة` })]
    const xml = write(made(of(issued({ lines, quote: quoteOf(lines, standard("19")) }))))
    assert.include(xml, "&lt;b&gt; &amp; &quot;q&quot; \ufffd\ufffd ]]&gt; شركة")
    assert.isTrue(xml.isWellFormed())
    assert.notInclude(xml, "\u0007")
  })

  it("is one of an identifier that is a VAT id only with the prefix of its country", () => {
    const xml = write(
      made(
        of(Samples.invoice(), {
          settings: { ...settings, seller: { name: "Nord", country: "DE", taxId: "21/815/08150" } },
        }),
      ),
    )
    assert.match(xml, /<(?:cac:PartyIdentification|ram:SellerTradeParty)>\s*<[a-z]+:ID>21\/815\/08150</)
    assert.match(xml, /<ram:ID schemeID="FC">21\/815\/08150<|21\/815\/08150<[^]*?<cbc:ID>TAX</)
  })
})
