import { assert, describe, it } from "vitest"
import { pricesEachRecord } from "../../src/catalog/Charge.ts"
import { type Charge, fold, rate, rater, RatingError } from "../../src/rating/index.ts"
import { decimals, fc, holds } from "../property.ts"
import { Rational } from "../Rational.ts"
import { charges, flatCharges, quantityCharges, shares } from "./Charges.ts"
import { cost, CURRENCY, DIGITS } from "./Oracle.ts"

const quantities = fc.oneof(decimals(6, 3), decimals(3, 2), fc.constant("0"))
const discounts = fc.array(fc.constantFrom("0", "10", "12.5", "33.333", "100"), { maxLength: 3 })
const RUNS = 1_000

describe("rate", () => {
  it("costs what an independent computation says, whatever the charge, the share and the discounts", () => {
    holds(
      [charges, quantities, shares, discounts],
      (charge, quantity, share, percents) => {
        const { amount } = rate(charge, quantity, { currency: CURRENCY, share, discounts: percents })
        const isOne = quantity.replace(/[0.]/g, "") !== ""
        const records = pricesEachRecord(charge) ? (isOne ? [Rational.of(quantity)] : []) : undefined
        assert.strictEqual(amount, cost(charge, Rational.of(quantity), share, percents, records))
      },
      RUNS,
    )
  })

  it("counts the end of a tier in the tier that ends there", () => {
    const tiered = quantityCharges.filter((charge) => "tiers" in charge && charge.convert === undefined)
    holds([tiered, fc.nat()], (charge, pick) => {
      const ends = "tiers" in charge ? charge.tiers.flatMap(({ up_to }) => up_to ?? []) : []
      if (ends.length === 0) return
      const quantity = Rational.of(ends[pick % ends.length]!).plus(Rational.of(charge.free ?? 0))
      const { amount } = rate(
        charge,
        { numerator: quantity.n, denominator: quantity.d },
        { currency: CURRENCY },
      )
      assert.strictEqual(amount, cost(charge, quantity, [1n, 1n], []))
    })
    const tiers = [
      { up_to: "10", price: { EUR: "1" } },
      { price: { EUR: "0.1" }, flat: { EUR: "5" } },
    ]
    const amountOf = (model: "graduated" | "volume", quantity: string) =>
      rate({ key: "c", model, tiers }, quantity, { currency: "EUR" }).amount
    assert.deepStrictEqual(
      ["10", "10.5"].map((quantity) => amountOf("graduated", quantity)),
      [1000n, 1505n],
    )
    assert.deepStrictEqual(
      ["10", "10.5"].map((quantity) => amountOf("volume", quantity)),
      [1000n, 605n],
    )
  })

  it("prices each record by itself where the model does", () => {
    const perRecord = quantityCharges.filter(pricesEachRecord)
    holds(
      [perRecord, fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 20 })],
      (charge, records) => {
        const total = records.reduce((a, b) => a + b, 0)
        const { amount, steps } = rate(charge, total, { currency: CURRENCY, records })
        assert.strictEqual(amount, cost(charge, Rational.of(total), [1n, 1n], [], records.map(Rational.of)))
        assert.strictEqual(fold(steps, DIGITS), amount)
      },
    )
  })

  it("is explained: folding the steps, from what each says, gives the amount", () => {
    holds(
      [charges, quantities, shares, discounts, fc.bigInt({ min: -1_000n, max: 1_000n })],
      (charge, quantity, share, percents, billedBefore) => {
        const { amount, steps } = rate(charge, quantity, {
          currency: CURRENCY,
          share,
          discounts: percents,
          billedBefore,
        })
        assert.strictEqual(fold(steps, DIGITS), amount)
        assert.deepStrictEqual(JSON.parse(JSON.stringify(steps)), steps)
      },
      RUNS,
    )
  })

  it("gives the same amount alone, without an explanation", () => {
    holds(
      [charges, quantities, shares, discounts, fc.bigInt({ min: -1_000n, max: 1_000n })],
      (charge, quantity, share, percents, billedBefore) => {
        const context = { share, discounts: percents, billedBefore }
        const ready = rater(charge, CURRENCY)
        assert.strictEqual(ready.amount(quantity, context), ready.rate(quantity, context).amount)
        assert.strictEqual(ready.amount(quantity), ready.rate(quantity).amount)
      },
    )
  })

  it("says the exact value beside the rounded one", () => {
    const third = { key: "fee", model: "flat", price: { EUR: "10" } } as const
    assert.strictEqual(rate(third, 1, { currency: "EUR", share: [1, 3] }).exact, "3.333333333333333…")
    assert.strictEqual(rate(third, 1, { currency: "EUR", share: [1, 8] }).exact, "1.25")
  })

  it("never costs less for more, but for volume", () => {
    const rising = quantityCharges.filter((charge) => charge.model !== "volume" && !pricesEachRecord(charge))
    holds([rising, quantities, quantities], (charge, a, b) => {
      const [less, more] = Number(a) <= Number(b) ? [a, b] : [b, a]
      const of = (quantity: string) => rate(charge, quantity, { currency: CURRENCY }).amount
      assert.isTrue(of(less) <= of(more))
      assert.isTrue(of(less) >= 0n)
    })
  })

  it("sums to the whole period however it is cut, since each document bills what is left of the target", () => {
    holds(
      [
        charges.filter((charge) => !pricesEachRecord(charge)),
        fc.array(quantities, { minLength: 1, maxLength: 6 }),
      ],
      (charge, parts) => {
        const rating = rater(charge, CURRENCY)
        let seen = Rational.of(0)
        let billed = 0n
        for (const part of parts) {
          seen = seen.plus(Rational.of(part))
          billed += rating.rate({ numerator: seen.n, denominator: seen.d }, { billedBefore: billed }).amount
        }
        assert.strictEqual(billed, rating.rate({ numerator: seen.n, denominator: seen.d }).amount)
      },
    )
  })

  it("splits a fee over the parts of a period so that they sum to it", () => {
    holds(
      [flatCharges, fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 5 })],
      (charge, cuts) => {
        const ends = [...cuts.toSorted((a, b) => a - b), 31]
        const billed = ends.reduce(
          (sum, end) =>
            sum + rate(charge, 1, { currency: CURRENCY, share: [end, 31], billedBefore: sum }).amount,
          0n,
        )
        assert.strictEqual(billed, rate(charge, 1, { currency: CURRENCY }).amount)
      },
    )
    const ten: Charge = { key: "fee", model: "flat", price: { EUR: "10.00" } }
    const first = rate(ten, 1, { currency: "EUR", share: [10, 31] }).amount
    const second = rate(ten, 1, { currency: "EUR", share: [20, 31], billedBefore: first }).amount
    const third = rate(ten, 1, { currency: "EUR", share: [31, 31], billedBefore: first + second }).amount
    assert.deepStrictEqual([first, second, third], [323n, 322n, 355n])
  })

  it("names the documents that billed a part before", () => {
    const charge: Charge = { key: "u", model: "unit", price: { EUR: "0.335" } }
    const billedBefore = [
      { invoice: "inv_1", line: "lin_1", amount: 34n },
      { invoice: "inv_2", line: "lin_2", amount: 33 },
    ]
    const { amount, steps } = rate(charge, 3, { currency: "EUR", billedBefore })
    assert.strictEqual(amount, 34n)
    assert.deepStrictEqual(steps.slice(-2), [
      { type: "already_billed", invoice: "inv_1", line: "lin_1", billed: "0.34", amount: "0.67" },
      { type: "already_billed", invoice: "inv_2", line: "lin_2", billed: "0.33", amount: "0.34" },
    ])
  })

  it("gives the same for a quantity as text, number, bigint and fraction", () => {
    const charge: Charge = { key: "u", model: "unit", price: { EUR: "0.07" } }
    const results = ["42", 42, 42n, { numerator: 84n, denominator: 2n }].map((quantity) =>
      rate(charge, quantity, { currency: "EUR" }),
    )
    for (const result of results) assert.deepStrictEqual(result, results[0])
    assert.strictEqual(rate(charge, 10.5, { currency: "EUR" }).exact, "0.735")
  })

  it("counts a number as its shortest decimal, also when that has an exponent or more than 18 digits", () => {
    const charge: Charge = { key: "u", model: "unit", price: { EUR: "1" } }
    const exactOf = (quantity: number) => rate(charge, quantity, { currency: "EUR" }).exact
    assert.strictEqual(exactOf(0.1 + 0.2), "0.30000000000000004")
    assert.strictEqual(exactOf(0.0050130283398400755), "0.0050130283398400755")
    assert.strictEqual(exactOf(1e-7), "0.0000001")
    assert.strictEqual(exactOf(2.5e-19), "0.00000000000000000025")
    assert.strictEqual(exactOf(-0), "0")
  })

  it("applies the minimum after the maximum", () => {
    const bounds = { maximum: { EUR: "3" }, minimum: { EUR: "5" } }
    const charge: Charge = { key: "u", model: "unit", price: { EUR: "1" }, ...bounds }
    assert.deepStrictEqual(
      [1, 4, 6].map((quantity) => rate(charge, quantity, { currency: "EUR" }).amount),
      [500n, 500n, 500n],
    )
  })

  it("is exact for the largest prices and quantities", () => {
    const charge: Charge = { key: "u", model: "unit", price: { JPY: "999999999999999999.999999999999" } }
    const { amount } = rate(charge, "9".repeat(60), { currency: "JPY" })
    const exact = (10n ** 60n - 1n) * (10n ** 30n - 1n)
    assert.strictEqual(amount, exact / 10n ** 12n + (exact % 10n ** 12n >= 5n * 10n ** 11n ? 1n : 0n))
  })

  it("rates in currencies of 0, 3 and 4 digits", () => {
    const charge: Charge = { key: "u", model: "unit", price: { JPY: "1.5", KWD: "0.0015", CLF: "0.00015" } }
    const amountIn = (currency: string) => rate(charge, 3, { currency }).amount
    assert.deepStrictEqual(["JPY", "KWD", "CLF"].map(amountIn), [5n, 5n, 5n])
  })

  it("does not change with the charge once it is made ready", () => {
    const price = { EUR: "1" }
    const ready = rater({ key: "u", model: "unit", price }, "EUR")
    price.EUR = "2"
    assert.strictEqual(ready.rate(1).amount, 100n)
  })
})

const problemsOf = (body: () => unknown): ReadonlyArray<string> => {
  try {
    body()
  } catch (error) {
    if (error instanceof RatingError) return error.problems.map(({ path, problem }) => `${path} ${problem}`)
    throw error
  }
  return []
}

describe("what rate refuses", () => {
  const unit: Charge = { key: "u", model: "unit", price: { EUR: "0.07" } }
  const refused = (quantity: unknown, context: object = {}, charge: unknown = unit) =>
    problemsOf(() => rate(charge as Charge, quantity as number, { currency: "EUR", ...context }))

  it("names what is wrong with the quantity", () => {
    const tooPrecise = 'must be a decimal of at most 60 digits before and 18 after the point, such as "10.5"'
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [-1, "quantity must be 0 or more"],
      ["-0.5", "quantity must be 0 or more"],
      [Number.NaN, "quantity must be a finite number: NaN is none"],
      [Number.POSITIVE_INFINITY, "quantity must be a finite number: Infinity is none"],
      [1e21, "quantity is beyond 2^53 − 1: give it as a string or a bigint"],
      [-1e-20, "quantity must be 0 or more"],
      ["1e5", `quantity ${tooPrecise}`],
      ["", `quantity ${tooPrecise}`],
      [10n ** 60n, "quantity must have at most 60 digits"],
      [undefined, "quantity is required: a decimal in a string, a number or a bigint"],
      [null, "quantity is required: a decimal in a string, a number or a bigint"],
      [
        { numerator: 1n, denominator: 0n },
        "quantity must be a fraction of two bigints, with a denominator greater than 0",
      ],
    ]
    for (const [quantity, problem] of cases) assert.deepStrictEqual(refused(quantity), [problem])
  })

  it("names what is wrong with the context", () => {
    const cases: ReadonlyArray<readonly [object, string]> = [
      [{ currency: "eur" }, `currency must be a code of ISO 4217, such as "EUR": "eur" is none`],
      [{ currency: "USD" }, "charge.price has no price in USD"],
      [{ share: [2, 1] }, "share[0] must be from 0 to share[1], 1"],
      [{ share: [1, 0] }, "share[1] must be greater than 0"],
      [{ share: [0.5, 1] }, "share[0] must be an integer"],
      [{ share: 0.5 }, "share must be [numerator, denominator]"],
      [{ discounts: ["101"] }, "discounts[0] must be at most 100"],
      [{ discounts: ["-1"] }, `discounts[0] must be a percentage, such as "10"`],
      [
        { discounts: Array.from({ length: 21 }, () => "1") },
        "discounts must be a list of at most 20 discounts",
      ],
      [{ discounts: "10" }, "discounts must be a list of at most 20 discounts"],
      [{ billedBefore: 0.5 }, "billedBefore must be an integer"],
      [{ billedBefore: "5" }, "billedBefore must be an integer"],
      [{ billedBefore: null }, "billedBefore must be an integer"],
      [{ billedBefore: [null] }, "billedBefore[0] must have an invoice, a line and an amount"],
      [
        { billedBefore: [{ invoice: "inv_1", line: "lin_1", amount: "5" }] },
        "billedBefore[0].amount must be an integer",
      ],
    ]
    for (const [context, problem] of cases) assert.deepStrictEqual(refused(1, context), [problem])
    for (const context of [undefined, null, "EUR"]) {
      const without = problemsOf(() => rate(unit, 1, context as never))
      assert.deepStrictEqual(without, [`context must be an object, such as { currency: "EUR" }`])
    }
  })

  it("names what is wrong with the records", () => {
    const charge = { key: "p", model: "percentage", rate: "1", flat: { EUR: "0.1" } }
    assert.deepStrictEqual(refused(3, { records: [1, 1] }, charge), [
      "records must sum to the quantity, 3: they sum to 2",
    ])
    assert.deepStrictEqual(refused(3, { records: [4, -1] }, charge), ["records[1] must be 0 or more"])
    for (const records of [3, "12", null, {}]) {
      assert.deepStrictEqual(refused(3, { records }, charge), ["records must be a list of quantities"])
    }
  })
})
