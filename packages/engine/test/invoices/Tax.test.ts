import { assert, describe, it } from "vitest"
import {
  EU_COUNTRIES,
  EU_STANDARD_RATES,
  problemsOfTaxTable,
  quoteByTable,
  type TaxCustomer,
  type TaxTable,
} from "../../src/index.ts"
import { assembled, line, linesOf, quoteOf, standard } from "./Documents.ts"

describe("the tax of lines", () => {
  it("is rounded once for a rate: three lines of 0.33 at 20 % carry 0.20", () => {
    const lines = linesOf(33n, 33n, 33n)
    const made = assembled({ lines, quote: quoteOf(lines, standard("20")) })
    assert.strictEqual(made.tax, 20n)
    assert.strictEqual(made.total, 119n)
  })

  it("is part of inclusive amounts: 19.95 at 19 % is 16.76 and 3.19", () => {
    const lines = linesOf(1_995n)
    const made = assembled({ lines, quote: quoteOf(lines, standard("19"), "inclusive") })
    assert.deepStrictEqual([made.taxes[0]?.taxable, made.tax, made.total], [1_676n, 319n, 1_995n])
  })

  // https://docs.zuora.com: Rounding rule for inclusive tax mode, "Rounding Net Amount (default)"
  it("is what is left of the gross amount after the net: 2.99 at 4 % is 2.88 and 0.11", () => {
    const lines = linesOf(299n)
    const made = assembled({ lines, quote: quoteOf(lines, standard("4"), "inclusive") })
    assert.deepStrictEqual([made.taxes[0]?.taxable, made.tax], [288n, 11n])
  })

  it("has nets of inclusive lines that sum: three of 6.65 at 19 %", () => {
    const lines = linesOf(665n, 665n, 665n)
    const made = assembled({ lines, quote: quoteOf(lines, standard("19"), "inclusive") })
    // Each alone is 5.588…, which would round to 5.59 and sum to 16.77.
    assert.deepStrictEqual(
      made.lines.map(({ net }) => net),
      [559n, 559n, 558n],
    )
    assert.strictEqual(made.tax, 319n)
  })

  // https://github.com/OpenPEPPOL/peppol-bis-invoice-3, rules/examples/base-example.xml
  it("is the tax of the base example of Peppol BIS Billing 3.0", () => {
    const lines = linesOf(280_000n, -150_000n, 2_500n)
    const made = assembled({ lines, quote: quoteOf(lines, standard("25")) })
    assert.deepStrictEqual([made.taxes[0]?.taxable, made.tax, made.total], [132_500n, 33_125n, 165_625n])
  })

  it("is separate by category and rate, in the order of the lines", () => {
    const lines = [line("book", 1_000n), line("tool", 2_000n), line("map", 500n)]
    const rates = { book: standard("7"), tool: standard("19"), map: standard("7.0") }
    assert.deepStrictEqual(
      assembled({ lines, quote: { behavior: "exclusive", rates } }).taxes.map(({ amount, rate, taxable }) => [
        rate,
        taxable,
        amount,
      ]),
      [
        ["7", 1_500n, 105n],
        ["19", 2_000n, 380n],
      ],
    )
  })
})

const table: TaxTable = {
  behavior: "exclusive",
  seller: "DE",
  union: EU_COUNTRIES,
  goods: ["shirts"],
  rates: [
    ...EU_STANDARD_RATES,
    { country: "DE", code: "reduced", rate: "7" },
    { country: "DE", code: "shirts", rate: "19" },
    { country: "CH", rate: "8.1" },
    { country: "DE", code: "insurance", category: "E", rate: "0", reason: "§ 4 Nr. 10 UStG" },
    { country: "DE", code: "solar", rate: "0" },
  ],
}

const customer = (country: string | null, more: Partial<TaxCustomer> = {}): TaxCustomer => ({
  country,
  taxId: null,
  taxStatus: "taxable",
  ...more,
})

const rateFor = (who: TaxCustomer, taxCode: string | null = null, taxPoint = "2026-11-22") => {
  const lines = [{ id: "a", taxCode, amount: 100n }]
  const rate = quoteByTable(table, { currency: "EUR", taxPoint, customer: who, lines }).rates["a"]!
  return [rate.category, rate.rate, rate.country, rate.reason]
}

describe("quoteByTable", () => {
  const business = { taxId: "X1" }
  it.each([
    ["at home", customer("DE"), null, ["S", "19", "DE", null]],
    ["at home, a business", customer("DE", business), null, ["S", "19", "DE", null]],
    ["no country", customer(null), "reduced", ["S", "7", "DE", null]],
    ["a consumer elsewhere in the union", customer("FI"), null, ["S", "25.5", "FI", null]],
    ["services to a business in the union", customer("FR", business), null, ["AE", "0", "FR", "VATEX-EU-AE"]],
    ["goods to a business in the union", customer("FR", business), "shirts", ["K", "0", "FR", "VATEX-EU-IC"]],
    ["a country with a rate of its own", customer("CH"), null, ["S", "8.1", "CH", null]],
    ["services to a country outside", customer("US"), null, ["O", "0", "US", "VATEX-EU-O"]],
    ["goods to a country outside", customer("US"), "shirts", ["G", "0", "US", "VATEX-EU-G"]],
    [
      "an exempt customer",
      customer("DE", { taxStatus: "exempt" }),
      null,
      ["E", "0", "DE", "The customer is exempt from tax"],
    ],
    [
      "reverse charge at home",
      customer("DE", { taxStatus: "reverse_charge" }),
      null,
      ["AE", "0", "DE", "VATEX-EU-AE"],
    ],
    ["what is exempt", customer("DE"), "insurance", ["E", "0", "DE", "§ 4 Nr. 10 UStG"]],
    ["what has a rate of 0", customer("DE"), "solar", ["Z", "0", "DE", null]],
  ] as const)("%s", (_, who, code, expected) => {
    assert.deepStrictEqual(rateFor(who, code), [...expected])
  })

  it("takes the rate of the date", () => {
    assert.strictEqual(rateFor(customer("EE"), null, "2025-06-30")[1], "22")
    assert.strictEqual(rateFor(customer("EE"), null, "2025-07-01")[1], "24")
  })

  it("takes the last of several rates, in whatever order they are", () => {
    const rates = ["2025-01-01", "2026-07-01", "2026-01-01", "2027-01-01"].map((from, index) => ({
      country: "DE",
      rate: String(index + 1),
      from,
    }))
    const lines = [{ id: "a", taxCode: null, amount: 1n }]
    const request = { currency: "EUR", taxPoint: "2026-11-22", customer: customer("DE"), lines }
    for (const list of [rates, rates.toReversed()]) {
      const quote = quoteByTable({ behavior: "exclusive", seller: "DE", rates: list }, request)
      assert.strictEqual(quote.rates["a"]?.rate, "2")
    }
  })

  it("refuses what has no rate at home, also without a union", () => {
    const lines = [{ id: "a", taxCode: "books", amount: 1n }]
    const request = { currency: "CHF", taxPoint: "2026-11-22", customer: customer("CH"), lines }
    const swiss: TaxTable = { behavior: "exclusive", seller: "CH", rates: [{ country: "CH", rate: "8.1" }] }
    assert.throws(() => quoteByTable(swiss, request), `add one for CH and code "books"`)
  })

  it("names lines without a rate", () => {
    assert.throws(
      () => rateFor(customer("FR"), "reduced"),
      `lines.a has no tax rate: add one for FR and code "reduced" on 2026-11-22 to the table`,
    )
    assert.throws(() => rateFor(customer("FR"), null, "2023-12-31"), "for FR")
  })
})

describe("problemsOfTaxTable", () => {
  const texts = (value: unknown) => problemsOfTaxTable(value).map(({ path, problem }) => `${path} ${problem}`)

  it("finds nothing wrong with the table above", () => {
    assert.deepStrictEqual(texts(table), [])
  })

  it("finds all that is wrong at once", () => {
    assert.deepStrictEqual(texts({}), [
      "behavior must be one of exclusive, inclusive",
      "seller must be two upper-case letters",
      "rates is required",
    ])
    assert.deepStrictEqual(texts(null), ["table must be an object"])
    const percent = `must be a percentage in a string, such as "19", with at most 4 digits after the point`
    assert.deepStrictEqual(
      texts({
        behavior: "gross",
        seller: "Germany",
        union: ["eu"],
        goods: [1],
        extra: 1,
        rates: [
          null,
          { country: "DEU", code: "A", rate: 19, from: "2025-13-01" },
          { country: "DE", rate: "19", category: "X" },
          { country: "DE", rate: "19" },
          { country: "DE", rate: "0", code: "a", category: "E" },
          { country: "DE", rate: "5", code: "b", category: "AE", reason: "" },
          { country: "DE", rate: "0", code: "c", category: "S" },
        ],
      }),
      [
        "extra is not a known field here (known: behavior, seller, rates, union, goods)",
        "behavior must be one of exclusive, inclusive",
        "seller must be two upper-case letters",
        "rates[0] must be an object",
        "rates[1].country must be two upper-case letters",
        "rates[1].code must be a lower-case letter, then at most 63 lower-case letters, digits and underscores",
        "rates[1].from must be a date, such as 2025-07-01",
        `rates[1].rate ${percent}`,
        "rates[2].category must be one of S, Z, E, AE, K, G, O",
        "rates[2].rate must be 0 in category X",
        "rates[3] is for the same country, code and date as another rate",
        "rates[4].reason is required in category E",
        "rates[5].rate must be 0 in category AE",
        "rates[5].reason must be a text of 1 to 500 characters",
        "rates[6].rate must be greater than 0 in category S: a rate of 0 is category Z",
        "union[0] must be two upper-case letters",
        "goods[0] must be a tax code",
      ],
    )
  })
})

describe("the standard rates of the EU", () => {
  it("are of 27 countries, each from 17 % to 27 %, with the changes of 2024 and 2025", () => {
    assert.strictEqual(EU_COUNTRIES.length, 27)
    assert.deepStrictEqual(
      EU_STANDARD_RATES.filter(({ rate }) => Number(rate) < 17 || Number(rate) > 27),
      [],
    )
    assert.deepStrictEqual(
      EU_STANDARD_RATES.filter(({ from }) => from !== "2024-01-01").map(({ country }) => country),
      ["FI", "SK", "EE", "RO"],
    )
  })
})
