import { Currency } from "@billwright/engine"
import { assert, describe, it } from "vitest"
import type { RatingStep } from "../../app/api/Types.ts"
import { wireAmount, wireInteger } from "../../app/api/WireAmount.ts"
import * as Units from "../../app/credits/Units.ts"
import * as Exact from "../../app/Exact.ts"
import { textOf } from "../../app/invoices/StepTexts.ts"
import * as Money from "../../app/Money.ts"

describe("Money", () => {
  it("has the digits of the engine for every currency", () => {
    for (const code of Currency.codes())
      assert.strictEqual(Money.digitsOf(code), Currency.exponentOf(code), code)
  })

  it("shows amounts of the minor unit exactly, whatever their size", () => {
    assert.strictEqual(Money.format(123_450, "EUR"), "€1,234.50")
    assert.strictEqual(Money.format(-5, "EUR"), "-€0.05")
    assert.strictEqual(Money.format(500, "JPY"), "JP¥500")
    assert.strictEqual(Money.format(1_234, "KWD").replace(/\s/, " "), "KWD 1.234")
    assert.strictEqual(Money.format(10n ** 30n + 1n, "USD"), "US$10,000,000,000,000,000,000,000,000,000.01")
  })

  it("shows credits with the decimals of their unit", () => {
    assert.strictEqual(Units.format(125_050, "credits", 2), "1,250.50 credits")
    assert.strictEqual(Units.format(-5, "credits", 2), "-0.05 credits")
    assert.strictEqual(Units.formatChange(10n ** 30n, "token", 0), `+${"1,000"}${",000".repeat(9)} token`)
    assert.strictEqual(Units.format(1_250, "EUR", 2), "€12.50")
  })

  it("shows exact prices with all their digits, and fractions as they are", () => {
    assert.strictEqual(Money.formatExact("0.002", "EUR"), "€0.002")
    assert.strictEqual(Money.formatExact("20", "EUR"), "€20.00")
    assert.strictEqual(
      Money.formatExact("12345678901234567890.123456789", "EUR"),
      "€12,345,678,901,234,567,890.123456789",
    )
    assert.strictEqual(Money.formatExact("10/3", "EUR"), "10/3 EUR")
  })

  it("reads what somebody types, and refuses what has too many digits", () => {
    assert.strictEqual(Money.parse("12.5", "EUR"), 1_250n)
    assert.strictEqual(Money.parse(" 1,234 ", "EUR"), 123_400n)
    assert.strictEqual(Money.parse("1,234,567.50", "EUR"), 123_456_750n)
    assert.strictEqual(Money.parse("7.", "EUR"), 700n)
    assert.strictEqual(Money.parse("12.50", "JPY"), undefined)
    assert.strictEqual(Money.parse("12.00", "JPY"), 12n)
    assert.strictEqual(Money.parse("1.2345", "KWD"), undefined)
    for (const wrong of ["", "-1", "1e3", "twelve", "1.2.3", "1.234,5", "1 234"])
      assert.strictEqual(Money.parse(wrong, "EUR"), undefined)
    for (const amount of [0n, 1n, 99n, 100n, 10n ** 20n + 7n])
      assert.strictEqual(Money.parse(Money.decimalOf(amount, "EUR"), "EUR"), amount)
  })
})

describe("commas", () => {
  it("stand only between thousands: elsewhere somebody means a point", () => {
    for (const wrong of ["12,50", "12,5", "1234,567", "1,2345", ",500", "1,234,56", "1,,234", "0.1,234"]) {
      assert.strictEqual(Money.parse(wrong, "EUR"), undefined, wrong)
      assert.strictEqual(Money.parse(wrong, "JPY"), undefined, wrong)
      assert.throws(() => wireAmount("amount", wrong, "EUR"), /^amount must be .*12\.50\. Write a point/)
      assert.throws(() => wireAmount("refund", wrong, "JPY"), /^refund must be a whole number of JPY/)
      assert.throws(() => wireInteger("amount", wrong), /^amount must be a whole number/)
    }
    assert.strictEqual(BigInt(wireInteger("amount", " 1,234,567 ")), 1_234_567n)
  })

  it("are said to be read, before an amount is sent", () => {
    assert.strictEqual(Money.readAs("1,234", "EUR"), " = €1,234.00")
    assert.strictEqual(Money.readAs("12,50", "EUR"), "")
    // While somebody types the currency.
    assert.strictEqual(Money.readAs("12", "EU"), "")
  })
})

describe("Exact", () => {
  it("groups the digits of decimals and of fractions", () => {
    assert.strictEqual(Exact.format("1234567.25"), "1,234,567.25")
    assert.strictEqual(Exact.format("-1234"), "-1,234")
    assert.strictEqual(Exact.format("10000/3"), "10,000/3")
  })
})

describe("the steps of a computation", () => {
  const texts = (steps: ReadonlyArray<RatingStep>) =>
    steps.map((step) => {
      const { amount, isSoFar, text } = textOf(step, "EUR")
      return `${text}${amount === undefined ? "" : ` ${isSoFar ? "= " : ""}${amount}`}`
    })

  it("say what was done, in words", () => {
    assert.deepEqual(
      texts([
        { type: "aggregate", quantity: "2000" },
        { type: "free", free: "100", quantity: "1900" },
        { type: "tier", from: "0", up_to: "1000", quantity: "1000", price: "0.01", flat: "0", amount: "10" },
        {
          type: "tier",
          from: "1000",
          up_to: null,
          quantity: "900",
          price: "0.002",
          flat: "5",
          amount: "6.8",
        },
        { type: "share", numerator: "12", denominator: "31", amount: "6.503" },
        { type: "round", digits: 2, amount: "6.5" },
      ]),
      [
        "Quantity: 2,000",
        "100 free: 1,900 left",
        "Up to 1,000: 1,000 × €0.01 €10.00",
        "Above 1,000: 900 × €0.002 + €5.00 €6.80",
        "Share of the period: 12 / 31 = €6.503",
        "Rounded to 2 digits = €6.50",
      ],
    )
  })

  it("have tiers of money in the currency's unit, though their ends are in the minor unit", () => {
    assert.deepEqual(
      texts([
        {
          type: "percent_tier",
          from: "100000",
          up_to: "250000",
          money: "1500",
          rate: "1.5",
          flat: "0",
          amount: "22.5",
        },
      ]),
      ["Above €1,000.00, up to €2,500.00: 1.5 % of €1,500.00 €22.50"],
    )
  })
})
