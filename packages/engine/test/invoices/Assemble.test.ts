import { assert, describe, it } from "vitest"
import {
  assemble,
  foldInvoice,
  InvoiceError,
  problemsOfLines,
  problemsOfSums,
  taxLines,
} from "../../src/index.ts"
import { holds } from "../property.ts"
import {
  assembled,
  draft,
  inputs,
  issued,
  line,
  linesOf,
  oracle,
  originOf,
  quoteOf,
  standard,
  total,
} from "./Documents.ts"

describe("assemble", () => {
  it("gives the amounts that rationals give", () => {
    holds([inputs], (input) => {
      const made = assembled(input)
      const expected = oracle(input)
      assert.deepStrictEqual(
        made.lines.map(({ amount, discount }) => amount - discount),
        expected.left,
      )
      assert.deepStrictEqual(
        made.taxes.map(({ amount, taxable }) => ({ taxable, tax: amount })),
        expected.taxes,
      )
      assert.strictEqual(made.tax, expected.tax)
      assert.strictEqual(made.total, expected.total)
    })
  })

  it("gives parts that sum, an explanation that folds, and never an amount due below 0", () => {
    holds([inputs], (input) => {
      const made = assembled(input)
      const { due, total: folded } = foldInvoice(made.steps)
      assert.strictEqual(folded, made.total)
      assert.strictEqual(due, made.amountDue)
      assert.isTrue(made.amountDue >= 0n)
      assert.strictEqual(total(made.lines.map(({ net }) => net)) + made.tax, made.total)
      assert.deepStrictEqual(problemsOfSums(draft(input)), [])
      assert.deepStrictEqual(problemsOfLines(draft(input)), [])
      for (const { amount, id } of made.applied) {
        const given = (input.paid ?? []).find((one) => one.id === id)
        assert.isTrue(amount > 0n && amount <= given!.available)
      }
    })
  })

  it("takes no line across 0, and no fixed amount takes the invoice below 0", () => {
    holds([inputs], (input) => {
      const fixed = (input.coupons ?? []).filter(({ allowance }) => allowance.type === "fixed")
      const made = assembled({ ...input, coupons: fixed })
      for (const { amount, discount } of made.lines) {
        assert.isTrue(discount === 0n || (discount > 0n && discount <= amount))
      }
      const before = total(input.lines.map(({ amount }) => amount))
      const left = before - total(made.lines.map(({ discount }) => discount))
      assert.isTrue(left >= 0n || left === before)
    })
  })

  it("takes as much off beside credits that are items as without them, and pays no more than is left", () => {
    const lines = [line("a", 2_000n), line("b", -1_500n)]
    const quote = quoteOf(lines, { ...standard("0"), category: "Z" })
    const fixed = { id: "f", name: "F", allowance: { type: "fixed", amount: 1_800n } } as const
    const waiting = new Set(["b"])
    const lowered = assembled({ lines, quote, coupons: [fixed], waiting })
    assert.deepInclude(lowered, { total: -1_300n, credited: 1_300n })
    const promotional = [{ id: "p", available: 1_800n }]
    assert.strictEqual(assembled({ lines, quote, promotional, waiting }).total, -1_300n)
    // A rebate that was given as a line does not wait: it is never turned into money.
    assert.deepInclude(assembled({ lines, quote, coupons: [fixed] }), { total: 0n, credited: 0n })
    assert.strictEqual(assembled({ lines, quote, promotional }).total, 0n)
    const paid = assembled({ lines, quote, paid: [{ id: "m", available: 1_800n }] })
    assert.deepInclude(paid, {
      total: 500n,
      amountDue: 0n,
      applied: [{ type: "paid_credit", id: "m", amount: 500n }],
    })
  })

  it("does not depend on whether the discounts are known when taxes are asked", () => {
    holds([inputs], (input) => {
      const asked = taxLines(input)
      const made = assembled(input)
      for (const { amount, id } of asked) {
        const found = made.lines.find((one) => one.id === id)!
        assert.strictEqual(amount, found.amount - found.discount)
      }
      assert.strictEqual(asked.length, input.lines.filter(({ fixedTax }) => fixedTax === null).length)
    })
  })

  it("makes no invoice without lines", () => {
    assert.isUndefined(assemble({ lines: [], quote: quoteOf([], standard("19")) }))
  })

  it("keeps the order: coupon on a line, coupon on the invoice, credit, tax, paid credits", () => {
    const lines = [
      line("base", 2_000n, { origin: originOf("pro"), charge: "base" }),
      line("calls", 8_000n, { origin: originOf("pro"), charge: "calls", kind: "usage" }),
    ]
    const made = assembled({
      lines,
      coupons: [
        { id: "ten", name: "10 off", allowance: { type: "fixed", amount: 1_000n } },
        {
          id: "calls",
          name: "Half the calls",
          scope: { charges: ["calls"] },
          allowance: { type: "percent", percent: "50" },
        },
      ],
      promotional: [{ id: "welcome", available: 500n }],
      quote: quoteOf(lines, standard("20")),
      paid: [
        { id: "grant_0", available: 400n },
        { id: "grant_1", available: 10_000n, scope: { charges: ["base"] } },
      ],
    })
    // 100.00 → 60.00 → 50.00 → 45.00, with 20 % tax 54.00. Of base 15.00 are left, 18.00 with tax; the first
    // grant pays 1.33 of it.
    assert.deepStrictEqual(
      made.discounts.map(({ amount, base, id, parts }) => [
        id,
        base,
        amount,
        parts.map((part) => part.amount),
      ]),
      [
        ["calls", 8_000n, 4_000n, [4_000n]],
        ["ten", 6_000n, 1_000n, [333n, 667n]],
        ["welcome", 5_000n, 500n, [167n, 333n]],
      ],
    )
    assert.strictEqual(made.subtotal, 10_000n)
    assert.strictEqual(made.tax, 900n)
    assert.strictEqual(made.total, 5_400n)
    assert.deepStrictEqual(made.applied, [
      { type: "paid_credit", id: "grant_0", amount: 400n },
      { type: "paid_credit", id: "grant_1", amount: 1_667n },
    ])
    assert.strictEqual(made.amountDue, 3_333n)
    assert.deepStrictEqual(
      made.steps.map(({ amount, type }) => [type, amount]),
      [
        ["lines", 10_000n],
        ["coupon", 6_000n],
        ["coupon", 5_000n],
        ["promotional_credit", 4_500n],
        ["tax", 5_400n],
        ["total", 5_400n],
        ["paid_credit", 5_000n],
        ["paid_credit", 3_333n],
        ["due", 3_333n],
      ],
    )
  })

  // https://github.com/OpenPEPPOL/peppol-bis-invoice-3, rules/examples/Allowance-example.xml
  it("gives the amounts of the Peppol example with an allowance, a charge and a prepaid amount", () => {
    const exempt = { category: "E", rate: "0", country: null, reason: "Reason for tax exempt" } as const
    const lines = [
      line("1", 400_000n, { charge: "taxed" }),
      line("2", 100_000n),
      line("3", 90_000n, { charge: "taxed" }),
      line("cleaning", 20_000n, { charge: "taxed" }),
    ]
    const rates = Object.fromEntries(
      lines.map(({ charge, id }) => [id, charge === null ? exempt : standard("25")]),
    )
    const made = assembled({
      lines,
      coupons: [
        {
          id: "95",
          name: "Discount",
          scope: { charges: ["taxed"] },
          allowance: { type: "fixed", amount: 20_000n },
        },
      ],
      quote: { behavior: "exclusive", rates },
      paid: [{ id: "prepaid", available: 100_000n }],
    })
    assert.deepStrictEqual(
      made.taxes.map(({ amount, category, taxable }) => [category, taxable, amount]),
      [
        ["S", 490_000n, 122_500n],
        ["E", 100_000n, 0n],
      ],
    )
    assert.deepStrictEqual([made.total, made.amountDue], [712_500n, 612_500n])
  })

  // https://docs.flexprice.io/docs/invoices/calculation: 70.78, of which credits pay 5.00
  it("gives the amounts of the Flexprice example with coupons on a line and on the invoice", () => {
    const lines = [line("calls", 8_000n, { charge: "calls" }), line("fee", 2_000n, { charge: "fee" })]
    const made = assembled({
      lines,
      coupons: [
        { id: "ten", name: "10 off", allowance: { type: "fixed", amount: 1_000n } },
        {
          id: "quarter",
          name: "25 % off calls",
          scope: { charges: ["calls"] },
          allowance: { type: "percent", percent: "25" },
        },
      ],
      quote: quoteOf(lines, standard("8.25")),
      paid: [{ id: "wallet", available: 500n }],
    })
    assert.deepStrictEqual([made.taxes[0]?.taxable, made.tax], [7_000n, 578n])
    assert.deepStrictEqual([made.total, made.amountDue], [7_578n, 7_078n])
  })

  it("takes percent coupons one after another, each off what is left", () => {
    const lines = linesOf(10_000n)
    const coupons = ["20", "10"].map((percent) => ({
      id: percent,
      name: `${percent} %`,
      allowance: { type: "percent" as const, percent },
    }))
    assert.strictEqual(assembled({ lines, coupons, quote: quoteOf(lines, standard("19")) }).tax, 1_368n)
    assert.strictEqual(
      assembled({ lines, coupons: coupons.toReversed(), quote: quoteOf(lines, standard("19")) }).total,
      8_568n,
    )
  })

  it("pays an invoice of 0 at once", () => {
    const lines = linesOf(500n)
    const free = { id: "free", name: "Free", allowance: { type: "percent" as const, percent: "100" } }
    const invoice = issued({ lines, coupons: [free], quote: quoteOf(lines, standard("19")) })
    assert.strictEqual(invoice.total, 0n)
    assert.strictEqual(invoice.status, "paid")
    const covered = issued({
      lines,
      quote: quoteOf(lines, standard("19")),
      paid: [{ id: "grant", available: 600n }],
    })
    assert.deepStrictEqual([covered.total, covered.amountDue, covered.status], [595n, 0n, "paid"])
  })

  it("credits a total below 0, with its tax, and takes no credits then", () => {
    // A downgrade: 60.00 back of the old plan, 20.00 for the new one, both at 20 %.
    const lines = [
      line("back", -6_000n, { kind: "credit", fixedTax: standard("20") }),
      line("new", 2_000n, { kind: "advance" }),
    ]
    const invoice = issued({
      lines,
      coupons: [{ id: "five", name: "5 off", allowance: { type: "fixed", amount: 500n } }],
      promotional: [{ id: "promo", available: 100n }],
      quote: quoteOf(lines, standard("20")),
      paid: [{ id: "grant", available: 1_000n }],
    })
    assert.strictEqual(invoice.tax, -800n)
    assert.strictEqual(invoice.total, -4_800n)
    assert.strictEqual(invoice.credited, 4_800n)
    assert.deepStrictEqual([invoice.applied, invoice.discounts], [[], []])
    assert.deepStrictEqual([invoice.amountDue, invoice.status], [0n, "paid"])
  })

  // https://github.com/OpenPEPPOL/peppol-bis-invoice-3, rules/examples/base-negative-inv-correction.xml
  it("gives the amounts of the Peppol example of an invoice below 0", () => {
    const lines = linesOf(-280_000n, 150_000n, -2_500n)
    const made = assembled({ lines, quote: quoteOf(lines, standard("25")) })
    assert.deepStrictEqual([made.taxes[0]?.taxable, made.tax, made.total], [-132_500n, -33_125n, -165_625n])
  })

  it("credits even the smallest total below 0", () => {
    const lines = linesOf(-1n)
    const made = assembled({ lines, quote: quoteOf(lines, standard("19")) })
    assert.deepStrictEqual([made.total, made.credited, made.amountDue], [-1n, 1n, 0n])
  })

  it("spreads what is left over to earlier lines first, also beyond ten lines", () => {
    const lines = linesOf(...Array.from({ length: 12 }, () => 10n))
    const coupon = { id: "c", name: "C", allowance: { type: "fixed" as const, amount: 3n } }
    const made = assembled({ lines, coupons: [coupon], quote: quoteOf(lines, standard("19")) })
    assert.deepStrictEqual(
      made.lines.map((one) => one.discount),
      lines.map((_, index) => (index < 3 ? 1n : 0n)),
    )
  })

  it("discounts no credits: they give back what was paid after discounts", () => {
    const lines = [
      line("back", -4_500n, { kind: "credit", fixedTax: standard("20") }),
      line("new", 10_000n, { kind: "advance" }),
    ]
    const made = assembled({
      lines,
      coupons: [{ id: "ten", name: "10 %", allowance: { type: "percent", percent: "10" } }],
      quote: quoteOf(lines, standard("20")),
    })
    assert.strictEqual(made.discounts[0]?.amount, 1_000n)
    assert.strictEqual(made.total, 5_400n)
  })

  it("keeps the tax rate that a credit's line had", () => {
    const lines = [
      line("back", -1_000n, { kind: "credit", fixedTax: standard("19") }),
      line("new", 1_000n, { kind: "advance" }),
    ]
    const made = assembled({
      lines,
      quote: { behavior: "exclusive", rates: { new: standard("16") } },
    })
    assert.deepStrictEqual(
      made.taxes.map(({ amount, rate }) => [rate, amount]),
      [
        ["19", -190n],
        ["16", 160n],
      ],
    )
    assert.strictEqual(made.credited, 30n)
  })

  it("names what is wrong with its input", () => {
    const [one] = linesOf(1n)
    const quote = quoteOf([one!], standard("19"))
    const refused = (input: Parameters<typeof assemble>[0], message: string) =>
      assert.throws(() => assemble(input), InvoiceError, message)
    refused({ lines: [one!, one!], quote }, "lines.a has an id that is used twice")
    refused(
      { lines: linesOf(1n, 2n), quote },
      "rates.b is required: the tax service gave no rate for this line",
    )
    refused(
      { lines: [one!], quote: quoteOf([one!], { ...standard("0"), country: "de" }) },
      "rates.a.rate must be greater than 0 in category S: a rate of 0 is category Z; rates.a.country must be two upper-case letters, or null",
    )
    refused(
      { lines: [one!], quote: quoteOf([one!], { ...standard("1"), category: "AE" }) },
      "rates.a.rate must be 0",
    )
    refused(
      { lines: [one!], quote, paid: [{ id: "g", available: -1n }] },
      "paid.g.available must be 0 or more",
    )
    refused(
      { lines: [one!], quote, promotional: [{ id: "g", available: -1n }] },
      "promotional.g.available must be 0 or more",
    )
    const coupon = { id: "c", name: "C", allowance: { type: "percent", percent: "1" } } as const
    refused(
      { lines: [one!], quote, coupons: Array.from({ length: 21 }, () => coupon) },
      "coupons must be at most 20 coupons of a subscription",
    )
    const ofTwo = ["a", "b"].flatMap((subscriptionId) =>
      Array.from({ length: 20 }, (_, index) => ({
        ...coupon,
        id: `${subscriptionId}${index}`,
        subscriptionId,
      })),
    )
    assert.doesNotThrow(() => assemble({ lines: [one!], quote, coupons: ofTwo }))
    refused(
      { lines: Array.from({ length: 10_001 }, (_, index) => line(String(index), 1n)), quote },
      "lines must be at most 10000 lines",
    )
  })
})
