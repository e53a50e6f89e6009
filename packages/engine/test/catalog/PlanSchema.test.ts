/** The JSON Schemas of plans and steps say what the rules and `rate` do, as far as JSON Schema can. */
import { Ajv2020 } from "ajv/dist/2020.js"
import { assert, describe, it } from "vitest"
import { isPlan, planSchemas, rate, stepSchemas } from "../../src/index.ts"
import { cases } from "../rating/WorkedCases.ts"
import { Rational } from "../Rational.ts"
import { pro, withAt, wrong } from "./SamplePlans.ts"

const ajv = new Ajv2020({ strict: false, allErrors: true })
ajv.addSchema({ components: { schemas: { ...planSchemas, ...stepSchemas } } }, "document")
const validatorOf = (name: string) => ajv.compile({ $ref: `document#/components/schemas/${name}` })
const isDefinition = validatorOf("PlanDefinition")
const isCharge = validatorOf("PlanCharge")
const isStep = validatorOf("RatingStep")

/** Problems of fields by the values of others, or by words that JSON Schema doesn't have. */
const BEYOND_SCHEMAS =
  /greater than|needs a|one of them|has no price in|is not a currency of the plan|listed twice|used twice|last tier|left out|0 or more|after its period|ISO 4217|control characters|integer from 1 to 36$/

/** All places of a value, from the root. */
const placesOf = (value: unknown, path: ReadonlyArray<string | number> = []): ReadonlyArray<typeof path> => {
  if (Array.isArray(value)) return [path, ...value.flatMap((one, index) => placesOf(one, [...path, index]))]
  if (typeof value !== "object" || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, one]) => placesOf(one, [...path, name]))]
}

/** Values of every kind, and at the limits. */
const OTHER_VALUES: ReadonlyArray<unknown> = [
  [undefined, null, 0, 720, {}, []],
  ["", "-0", "10.5", `${"9".repeat(18)}.${"9".repeat(12)}`],
  ["é".repeat(40), "🚀".repeat(100), "a".repeat(64)],
  ["soft", "arrears", "none", "time", "restart", "half_up", "week"],
].flat(1)

describe("the schemas of plans", () => {
  it("accept a plan that has one of everything", () => {
    assert.isTrue(isDefinition(pro), JSON.stringify(isDefinition.errors))
  })

  it.each(wrong.filter(([, , problem]) => !BEYOND_SCHEMAS.test(problem)))(
    "refuse what the rules refuse: at %j with %j",
    (path, value, problem) => {
      // A blank name has characters, which is all that a schema sees.
      if (value === " ") return
      assert.isFalse(isDefinition(withAt(pro, path, value)), problem)
    },
  )

  it("accept every plan that the rules accept", () => {
    let accepted = 0
    for (const path of placesOf(pro)) {
      for (const value of OTHER_VALUES) {
        const plan = withAt(pro, path, value)
        if (!isPlan(plan)) continue
        accepted++
        assert.isTrue(isDefinition(plan), JSON.stringify([path, value, isDefinition.errors]))
      }
    }
    assert.isAbove(accepted, 100)
  })

  it("accept the charge of every worked case, and every step of its rating", () => {
    const seen = new Set<string>()
    for (const { charge, currency, discounts = [], id, quantity, records, share } of cases) {
      assert.isTrue(isCharge(charge), `${id}: ${JSON.stringify(isCharge.errors)}`)
      const { d, n } = Rational.of(quantity)
      const { steps } = rate(
        charge,
        { numerator: n, denominator: d },
        {
          currency,
          discounts,
          billedBefore: [{ invoice: "inv_1", line: "lin_1", amount: 1 }],
          ...(share === undefined ? {} : { share: [BigInt(share[0]), BigInt(share[1])] as const }),
          ...(records === undefined ? {} : { records }),
        },
      )
      for (const step of [...steps, ...rate(charge, 0, { currency, billedBefore: 1 }).steps]) {
        assert.isTrue(isStep(step), `${id}: ${JSON.stringify([step, isStep.errors])}`)
        seen.add(step.type)
      }
    }
    const burn = { type: "burn", unit: "credits", credits: "1.5", amount: "0" } as const
    assert.isTrue(isStep(burn))
    seen.add(burn.type)
    const { mapping } = stepSchemas["RatingStep"]!["discriminator"] as { readonly mapping: object }
    assert.sameMembers([...seen], Object.keys(mapping))
  })

  it("tell kinds apart by their word alone", () => {
    const flat = { key: "base", model: "flat", price: { EUR: "1" } }
    assert.isTrue(isCharge(flat))
    for (const wrongly of [
      { ...flat, model: "unity" },
      { ...flat, size: "1" },
      { ...flat, meter: "calls" },
    ]) {
      assert.isFalse(isCharge(wrongly))
    }
    assert.isFalse(isStep({ type: "unit", amount: "1" }))
  })
})
