import { assert, describe, it } from "vitest"
import {
  creditRater,
  decimalsIn,
  fold,
  type PlanTerms,
  previewPlan,
  problemsOfCreditUnits,
  RatingError,
  tokenRater,
} from "../../src/index.ts"
import { decimals as decimal, fc, holds } from "../property.ts"
import { Rational } from "../Rational.ts"

const terms = (price: string): PlanTerms => ({
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "images", model: "unit", meter: "images", burns: "credits", price: { credits: price } },
    { key: "base", model: "flat", price: { EUR: "10.00" } },
  ],
})

/** An exact amount in the smallest part of a unit, rounded once. */
const inParts = (exact: Rational, decimals: number): bigint =>
  exact.times(new Rational(10n ** BigInt(decimals))).nearest()

const inputs = [decimal(3, 9), fc.nat({ max: 10 ** 9 }), fc.integer({ min: 0, max: 6 })] as const

describe("units of credits", () => {
  it("round what usage burns once, to their smallest part, in ratings and previews", () => {
    holds([...inputs], (price, quantity, decimals) => {
      const plan = terms(price)
      const expected = inParts(Rational.of(price).times(Rational.of(quantity)), decimals)
      const { amount, steps } = creditRater(plan.charges[0]!, decimals).rate(BigInt(quantity))
      assert.strictEqual(amount, expected)
      assert.strictEqual(fold(steps, decimals), expected)
      const { lines, total } = previewPlan(plan, {
        quantities: { images: quantity },
        units: { credits: { decimals } },
      })
      const burn = lines[0]!.steps.at(-1)
      assert.strictEqual(total, 1_000n)
      assert.isTrue(burn?.type === "burn")
      const credits = Rational.of(burn?.type === "burn" ? burn.credits : "0")
      assert.isTrue(credits.equals(new Rational(expected, 10n ** BigInt(decimals))))
    })
  })

  it("round the price of tokens alike", () => {
    holds([...inputs], (price, tokens, decimals) => {
      const card = { key: "llm", unit: "credits", decimals, models: { large: { input: price } } }
      const rated = tokenRater(card).rate({ model: "large", tokens: { input: tokens } })
      const exact = Rational.of(price).times(Rational.of(tokens)).over(new Rational(1_000_000n))
      assert.strictEqual(rated.status === "rated" ? rated.amount : undefined, inParts(exact, decimals))
    })
  })

  it("have the decimals that are declared, currencies those of ISO 4217, and others none", () => {
    const decimalsOf = decimalsIn({ credits: { decimals: 2 }, token: {} })
    assert.deepStrictEqual(
      ["credits", "token", "other", "constructor", "EUR", "JPY"].map(decimalsOf),
      [2, 0, 0, 0, 2, 0],
    )
  })

  it("say what is wrong with each of them", () => {
    const wrong: ReadonlyArray<readonly [unknown, string]> = [
      [[], `units must be settings by unit, such as {"credits": {"decimals": 2}}`],
      [{ EUR: {} }, "units.EUR must be left out: ISO 4217 says how many decimals EUR has"],
      [{ "my credits": {} }, 'units["my credits"] must be the name of a unit'],
      [{ credits: 2 }, `units.credits must be an object, such as {"decimals": 2}`],
      [{ credits: { digits: 2 } }, "units.credits.digits is not a known field here (known: decimals)"],
      [Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`u${index}`, {}])), "at most 100"],
      ...[-1, 7, 0.5, "2", null].map(
        (value) =>
          [
            { credits: { decimals: value } },
            "units.credits.decimals must be an integer from 0 to 6",
          ] as const,
      ),
    ]
    for (const [units, message] of wrong) {
      const [first, ...others] = problemsOfCreditUnits(units)
      assert.include(`${first?.path} ${first?.problem}`, message)
      assert.isEmpty(others)
      assert.throws(() => previewPlan(terms("1"), { units: units as never }), RatingError)
    }
  })
})
