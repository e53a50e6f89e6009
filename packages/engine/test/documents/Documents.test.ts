import { assert, describe, it } from "vitest"
import { type BillingDocument, creditNoteDocument, invoiceDocument } from "../../src/documents/index.ts"
import { toEn16931 } from "../../src/einvoices/index.ts"
import { type Charge, type Invoice, type LineInput, rate, type Step } from "../../src/index.ts"
import { after, line, originOf } from "../invoices/Documents.ts"
import { fc, holds } from "../property.ts"
import {
  creditNote,
  customer,
  exempt,
  input,
  invoice,
  paid,
  REVERSE_CHARGE,
  seats,
  settings,
  usage,
} from "./Samples.ts"

const inLocale = (locale: string, of: Invoice = invoice()) =>
  invoiceDocument(input(of, { customer: { ...customer, locale } }))

/** Texts with plain spaces. */
const plain = (text: string): string => text.replaceAll("\u00a0", " ")

const servicePeriodOf = (of: Invoice, timezones = input(of).timezones) => {
  const { facts } = invoiceDocument(input(of, { timezones }))
  const value = facts.find(({ label }) => label === "Service period")?.value
  return value === undefined ? undefined : plain(value)
}

const electronicPeriodOf = (of: Invoice, timezones = input(of).timezones) => {
  const result = toEn16931(input(of, { timezones }))
  return result.type === "document" ? result.document.period : result.problems
}

const rows = ({ totals }: BillingDocument) => totals.map(({ label, value }) => plain(`${label}: ${value}`))

describe("an invoice as a document", () => {
  it("is in the customer's language, with its numbers and dates", () => {
    assert.deepStrictEqual(rows(inLocale("en")), [
      "Subtotal: €98.30",
      "VAT 19% on €98.30: €18.68",
      "Total: €116.98",
      "Amount due: €116.98",
    ])
    assert.deepStrictEqual(rows(inLocale("de")).slice(1, 3), [
      "MwSt. 19 % auf 98,30 €: 18,68 €",
      "Gesamtbetrag: 116,98 €",
    ])
    assert.deepStrictEqual(rows(inLocale("fr")).slice(-1), ["Montant à payer: 116,98 €"])
    assert.deepStrictEqual(rows(inLocale("es")).slice(-1), ["Importe a pagar: 116,98 €"])
    assert.deepStrictEqual(
      inLocale("de").facts.map(({ label, value }) => `${label}: ${value}`),
      [
        "Nummer: 2026-0001",
        "Datum: 22. November 2026",
        "Fällig am: 6. Dezember 2026",
        "Leistungszeitraum: 01.11. – 31.12.2026",
      ],
    )
  })

  it("takes the region's way of writing, and the host's language where the customer has none that is known", () => {
    assert.strictEqual(rows(inLocale("de-CH", invoice({ currency: "KWD" }))).at(-1), "Zu zahlen: KWD 110.551")
    assert.strictEqual(inLocale("de-Latn-AT-1996").language, "de-AT")
    assert.strictEqual(inLocale("pt").language, "en")
    const german = { ...settings, locale: "de" }
    assert.strictEqual(
      invoiceDocument(input(invoice(), { customer: { ...customer, locale: "pt-BR" }, settings: german }))
        .language,
      "de",
    )
  })

  it("has the digits of its currency, and all digits of amounts beyond floats", () => {
    assert.strictEqual(rows(inLocale("en", invoice({ currency: "JPY" }))).at(-1), "Amount due: ¥2,675")
    const huge = invoice({ lines: [line("a", 12_345_678_901_234_567_890_123n)], rate: REVERSE_CHARGE })
    assert.strictEqual(rows(inLocale("en", huge)).at(-1), "Amount due: €123,456,789,012,345,678,901.23")
  })

  it("dates service periods in the time zone of the subscription, without the instant at which they end", () => {
    const { rows: lines } = inLocale("en-GB").lines
    assert.deepStrictEqual(
      lines.map(({ details }) => details.map(plain)),
      [["1 – 30 Nov 2026"], ["1 – 31 Dec 2026"]],
    )
    const utc = invoiceDocument(input(invoice(), { timezones: { sub_1: "UTC" } }))
    assert.notDeepEqual(utc.lines.rows[0]?.details, lines[0]?.details)
  })

  it("dates the day of payment in the customer's time zone, and the issue in the seller's", () => {
    const issued = { ...invoice(), issuedAt: Date.UTC(2026, 10, 22, 23), dueAt: Date.UTC(2026, 11, 7, 7) - 1 }
    const { facts } = invoiceDocument(
      input(issued, { customer: { ...customer, timezone: "America/Los_Angeles" } }),
    )
    assert.deepStrictEqual(facts.map(({ value }) => value).slice(1, 3), [
      "November 23, 2026",
      "December 6, 2026",
    ])
  })

  it("has the service period of its lines, as its e-invoice does, and not the one whose end made it", () => {
    const renewal = {
      ...invoice({ lines: [seats("seats", "7", "12.5", "EUR")] }),
      periodStart: Date.UTC(2026, 9, 31, 23),
      periodEnd: Date.UTC(2026, 10, 30, 23),
    }
    assert.strictEqual(servicePeriodOf(renewal), "Dec 1 – 31, 2026")
    assert.deepStrictEqual(electronicPeriodOf(renewal), { start: "2026-12-01", end: "2026-12-31" })
    assert.isUndefined(servicePeriodOf({ ...renewal, lines: invoice({ lines: [line("a", 1n)] }).lines }))
  })

  it("of a group has the service period in the time zone of its subscriptions, if they have the same one", () => {
    const of = (id: string, subscriptionId: string) =>
      usage(id, "1500", "EUR", {
        origin: { ...originOf("pro"), subscriptionId },
        periodStart: Date.UTC(2026, 10, 1, 4),
        periodEnd: Date.UTC(2026, 11, 1, 5),
      })
    const group = { ...invoice({ lines: [of("a", "sub_1"), of("b", "sub_2")] }), subscriptionId: null }
    const [newYork, berlin] = ["America/New_York", "Europe/Berlin"]
    const timezones = { sub_1: newYork, sub_2: newYork }
    assert.strictEqual(servicePeriodOf(group, timezones), "Nov 1 – 30, 2026")
    assert.deepStrictEqual(electronicPeriodOf(group, timezones), { start: "2026-11-01", end: "2026-11-30" })
    assert.isUndefined(servicePeriodOf(group, { ...timezones, sub_2: berlin }))
  })

  it("has the service period of items, too, which are dated in the seller's time zone", () => {
    const days = (timezone: string) => ({ ...settings, timezone })
    const item = line("item", 1n, { periodStart: Date.UTC(2026, 9, 20), periodEnd: Date.UTC(2026, 9, 25) })
    const timezones = { sub_1: "America/New_York" }
    const calls = usage("calls", "1500", "EUR", {
      periodStart: Date.UTC(2026, 10, 1, 4),
      periodEnd: Date.UTC(2026, 11, 1, 5),
    })
    const mixed = invoice({ lines: [item, calls] })
    assert.isNull(mixed.lines[0]?.origin)
    for (const [timezone, first] of [
      ["UTC", 20],
      ["America/Los_Angeles", 19],
    ] as const) {
      const of = input(mixed, { timezones, settings: days(timezone) })
      const fact = invoiceDocument(of).facts.find(({ label }) => label === "Service period")
      assert.strictEqual(plain(fact?.value ?? ""), `Oct ${first} – Nov 30, 2026`)
      const electronic = toEn16931(of)
      assert.deepStrictEqual(electronic.type === "document" ? electronic.document.period : null, {
        start: `2026-10-${first}`,
        end: "2026-11-30",
      })
    }
    const alone = invoiceDocument(input(invoice({ lines: [item] }), { timezones, settings: days("UTC") }))
    assert.include(
      alone.facts.map(({ value }) => plain(value)),
      "Oct 20 – 24, 2026",
    )
  })

  it("says what has to be said where the customer owes the tax", () => {
    const document = inLocale("de", invoice({ rate: REVERSE_CHARGE }))
    assert.match(document.notes.join(), /Steuerschuldnerschaft des Leistungsempfängers/)
    assert.deepStrictEqual(
      document.taxes?.rows.map((row) => row.map(plain)),
      [["Reverse Charge", "0 %", "98,30 €", "0,00 €", "98,30 €"]],
    )
  })

  it("adds the host's own reason of an exemption, and no code", () => {
    const notesOf = (reason: string) =>
      inLocale("en", invoice({ rate: { category: "E", rate: "0", country: "DE", reason } })).notes
    assert.deepStrictEqual(notesOf("§ 19 UStG"), ["Exempt from tax. § 19 UStG"])
    assert.deepStrictEqual(notesOf("VATEX-EU-132"), ["Exempt from tax."])
  })

  it("states every reason of its lines once, also of lines that are taxed together", () => {
    const { notes } = inLocale("en", exempt("E", "§ 4 Nr. 21 UStG", "§ 4 Nr. 10 UStG", "§ 4 Nr. 21 UStG"))
    assert.deepStrictEqual(notes, ["Exempt from tax. § 4 Nr. 21 UStG", "Exempt from tax. § 4 Nr. 10 UStG"])
  })

  it("has no word of taxes where nothing is taxed", () => {
    const untaxed = invoice({
      rate: { category: "O", rate: "0", country: null, reason: "Not subject to tax" },
    })
    const document = inLocale("en", untaxed)
    assert.deepStrictEqual([document.taxes, document.notes, document.lines.tax], [null, [], null])
    assert.deepStrictEqual(rows(document), ["Total: €98.30", "Amount due: €98.30"])
  })

  it("calls the tax VAT where it is, and tax elsewhere", () => {
    const american = invoice({ rate: { category: "S", rate: "8.875", country: "US", reason: null } })
    assert.match(rows(inLocale("en", american))[1]!, /^Tax 8.875% on/)
  })

  it("shows what is part of an inclusive amount as such", () => {
    assert.deepStrictEqual(rows(inLocale("en", invoice({ behavior: "inclusive" }))), [
      "Total: €98.30",
      "includes VAT 19%: €15.69",
      "Amount due: €98.30",
    ])
  })

  it("shows payments, what went back, and credit notes, down to what is due", () => {
    const of = { ...paid(invoice(), 5000n), amountPaid: 4000n, amountWaived: 1000n, amountDue: 6698n }
    const document = invoiceDocument(
      input(of, {
        payments: [{ amount: 5000n, paidAt: Date.UTC(2026, 10, 25) }],
        creditNotes: [{ number: "CN-1", issuedAt: Date.UTC(2026, 10, 26), total: 1500n, waived: 1000n }],
      }),
    )
    assert.deepStrictEqual(rows(document).slice(3), [
      "Paid on November 25, 2026: -€50.00",
      "Returned: €10.00",
      "Credit note CN-1: -€10.00",
      "Amount due: €66.98",
    ])
    assert.deepStrictEqual(document.creditNotes?.lines, ["CN-1 of November 26, 2026: €15.00"])
  })

  it("asks for payment only while something is due", () => {
    const open = invoice()
    assert.deepStrictEqual(inLocale("en", open).payment?.lines, [
      "Please pay €116.98 by December 6, 2026.",
      "IBAN DE02 1203 0000 0000 2020 51",
      "BIC BYLADEM1001",
      "Reference: 2026-0001",
    ])
    for (const other of [paid(open, open.amountDue), after(open, { action: "void" })]) {
      assert.isNull(inLocale("en", other).payment)
    }
    assert.deepStrictEqual(inLocale("en", after(open, { action: "void" })).stamp, {
      kind: "void",
      text: "Void",
    })
    assert.strictEqual(rows(inLocale("en", after(open, { action: "void" }))).at(-1), "Amount due: €0.00")
  })

  it("names the unit price where there is only one, and explains the rest", () => {
    const { rows: lines } = inLocale("en").lines
    assert.deepStrictEqual(
      lines.map(({ quantity, unitPrice }) => [quantity, unitPrice]),
      [
        ["1,500", null],
        ["7", "€12.50"],
      ],
    )
    assert.deepStrictEqual(
      lines.map(({ explanation }) => explanation.map(({ amount, text }) => [text, amount])),
      [
        [
          ["Quantity: 1,500", null],
          ["100 of these are free: 1,400 left", null],
          ["Up to 1,000: 1,000 × €0.01", "€10.00"],
          ["Above 1,000: 400 × €0.002", "€0.80"],
          ["Rounded", "= €10.80"],
        ],
        [],
      ],
    )
  })

  describe("of 5 seats that became 8 on January 25", () => {
    const SEATS: Charge = { key: "seats", model: "unit", quantity: "seats", price: { EUR: "9.99" } }
    const of = (kind: LineInput["kind"], from: number, to: number, steps: ReadonlyArray<Step>) =>
      line(kind, 1000n, {
        kind,
        origin: originOf("pro"),
        charge: "seats",
        description: "Seats",
        periodStart: Date.UTC(2026, 0, from, 10),
        periodEnd: Date.UTC(2026, 0, to, 10),
        steps,
      })
    const billed = (type: string | null, amount: string, left: string): Step => ({
      type: "already_billed",
      invoice: type,
      line: type,
      billed: amount,
      amount: left,
    })
    const part = rate(SEATS, "5", { currency: "EUR", share: [10, 31] }).steps
    const whole = rate(SEATS, "8", { currency: "EUR" }).steps
    const lineOf = (of: LineInput) => {
      const document = invoiceDocument(input(invoice({ lines: [of] }), { timezones: { sub_1: "UTC" } }))
      const { details, explanation } = document.lines.rows[0]!
      return { details: details.map(plain), texts: explanation.map(({ amount, text }) => [text, amount]) }
    }

    it("says of the credit what stays charged", () => {
      const credit = of("credit", 15, 25, [...part, billed("inv_1", "49.95", "-33.84")])
      assert.deepStrictEqual(lineOf(credit).details, [
        "Stays charged: Jan 15 – 25, 2026",
        "Credit for what was charged and is not owed any more",
      ])
      // Where nothing stays charged, the days are those of what is given back.
      const none = of("credit", 15, 25, [
        { type: "flat", amount: "0" },
        { type: "round", digits: 2, amount: "0" },
        billed("inv_1", "33.84", "-33.84"),
      ])
      assert.strictEqual(lineOf(none).details[0], "Jan 15 – 25, 2026")
    })

    it("says of the new seats that the time before is not part of them", () => {
      const fee = of("advance", 25, 46, [...whole, billed(null, "25.78", "54.14")])
      assert.deepStrictEqual(lineOf(fee).details, ["Jan 25 – Feb 15, 2026"])
      assert.deepStrictEqual(lineOf(fee).texts.at(-1), [
        "Less the part of the period before this line: €25.78",
        "= €54.14",
      ])
    })

    it("knows nothing of the time in what else is not part of a line", () => {
      const steps = [...part, billed("inv_1", "49.95", "-33.84"), billed(null, "-3.84", "-30")]
      assert.deepStrictEqual(lineOf(of("credit", 15, 25, steps)).texts.at(-1), [
        "Less what is not part of this line: -€3.84",
        "= -€30.00",
      ])
      const minimum = { ...of("true_up", 15, 46, [...whole, billed(null, "25.78", "54.14")]), charge: null }
      assert.deepStrictEqual(lineOf(minimum).texts.at(-1)?.[0], "Less what is not part of this line: €25.78")
    })
  })

  it("cuts explanations that are too long, and says so", () => {
    const [{ steps }] = [usage("a", "1500", "EUR")]
    const long = line("a", 1080n, { steps: Array.from({ length: 60 }, () => steps).flat() })
    const { explanation } = inLocale("en", invoice({ lines: [long] })).lines.rows[0]!
    assert.strictEqual(explanation.length, 101)
    assert.match(explanation.at(-1)!.text, /more steps/)
  })

  it("of a draft has no number and no days of its own, and says what it is", () => {
    const draft: Invoice = { ...invoice(), status: "draft", number: null, issuedAt: null, dueAt: null }
    const document = inLocale("en", draft)
    assert.deepStrictEqual([document.title, document.payment], ["Invoice (Draft)", null])
    assert.deepStrictEqual(
      document.facts.map(({ label }) => label),
      ["Service period"],
    )
    assert.strictEqual(document.stamp?.kind, "draft")
  })

  it("writes addresses as their countries do", () => {
    const of = (country: string | null) =>
      invoiceDocument(
        input(invoice(), {
          customer: {
            ...customer,
            country,
            address: { line1: "1 Main St", city: "Springfield", region: "IL", postcode: "62701" },
          },
        }),
      ).customer.lines
    assert.deepStrictEqual(of("US"), ["1 Main St", "Springfield, IL 62701", "United States"])
    assert.deepStrictEqual(of("DE"), ["1 Main St", "62701 Springfield, IL", "Germany"])
    assert.deepStrictEqual(of(null), ["1 Main St", "62701 Springfield, IL"])
  })

  it("adds up: the subtotal and the tax come to the total", () => {
    holds([fc.integer({ min: 1, max: 2000 })], (count) => {
      const document = inLocale("en", invoice({ lines: [seats("a", String(count), "3.33", "EUR")] }))
      const [subtotal, tax, total] = document.totals.map(({ value }) =>
        BigInt(value.replaceAll(/[^\d-]/g, "")),
      )
      assert.strictEqual(subtotal! + tax!, total)
    })
  })
})

describe("a credit note as a document", () => {
  it("states the reasons of its own lines, and not those of the invoice", () => {
    const of = exempt("E", "§ 4 Nr. 21 UStG", "§ 4 Nr. 10 UStG")
    assert.deepStrictEqual(creditNoteDocument(creditNote(of, of.lines[1])).notes, [
      "Exempt from tax. § 4 Nr. 10 UStG",
    ])
  })

  it("names its invoice, its reason, its lines and where the money goes", () => {
    const document = creditNoteDocument(creditNote(invoice()))
    assert.strictEqual(document.title, "Credit note CN-2026-0001")
    assert.deepStrictEqual(
      document.facts.map(({ value }) => value),
      ["CN-2026-0001", "December 1, 2026", "2026-0001, November 22, 2026", "Complaint"],
    )
    assert.deepStrictEqual(
      document.lines.rows.map(({ amount, description }) => [description, amount]),
      [["API calls", "€5.40"]],
    )
    assert.deepStrictEqual(rows(document), [
      "Total without tax: €5.40",
      "VAT 19% on €5.40: €1.03",
      "Total: €6.43",
      "Lowers the amount due of the invoice: €6.43",
    ])
  })
})
