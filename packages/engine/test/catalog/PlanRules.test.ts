import { assert, describe, it } from "vitest"
import { isPlan, problemsOfPlan } from "../../src/index.ts"
import { KEY, type Path, pro, withAt, wrong } from "./SamplePlans.ts"

const texts = (plan: unknown): ReadonlyArray<string> =>
  problemsOfPlan(plan).map(({ path, problem }) => `${path} ${problem}`)

describe("problemsOfPlan", () => {
  it("finds nothing wrong with a plan that has one of everything", () => {
    assert.deepStrictEqual(texts(pro), [])
    assert.isTrue(isPlan(pro))
  })

  it.each(wrong)("names what is wrong at %j with %j", (path, value, problem) => {
    assert.deepStrictEqual(texts(withAt(pro, path, value)), [problem])
  })

  it("finds all that is wrong at once", () => {
    const changes: ReadonlyArray<readonly [Path, unknown]> = [
      [["interval", "count"], 0],
      [["charges", 0, "price", "EUR"], "-1"],
      [["charges", 2, "tiers", 1, "up_to"], "10"],
      [["policy", "grace_hours"], -1],
    ]
    const bad = changes.reduce((plan, [path, value]) => withAt(plan, path, value), pro as unknown)
    assert.deepStrictEqual(texts(bad), [
      "interval.count must be an integer from 1 to 36",
      "charges.base.price.EUR must be 0 or more",
      "charges.calls.tiers[1].up_to must be greater than 1000",
      "policy.grace_hours must be an integer from 0 to 720",
    ])
    assert.deepStrictEqual(texts([]), ["plan must be an object"])
    assert.deepStrictEqual(texts({}), [
      `key ${KEY}`,
      "name is required",
      "currencies is required",
      "interval is required",
      "charges is required",
    ])
  })

  it("wants a meter for a least over all usage, and a price in every currency of the plan", () => {
    const fees = { ...pro, charges: pro.charges.slice(0, 1) }
    assert.deepStrictEqual(texts(fees), [
      "minimum needs a charge with a meter whose usage costs money: it is the minimum of all of them together",
    ])
    const both = { ...pro, currencies: ["EUR", "USD"], charges: pro.charges.slice(0, 2), minimum: undefined }
    assert.deepStrictEqual(texts(withAt(both, ["minimum"], undefined)), [
      "charges.base.price has no price in USD",
      "charges.seats.price has no price in USD",
    ])
  })

  it("does not fall over values of any kind", () => {
    for (const value of [null, undefined, 1, "x", [], {}, () => 1, Symbol("x"), 1n, { charges: [[]] }]) {
      assert.isNotEmpty(problemsOfPlan(value))
      for (const field of Object.keys(pro)) {
        const texts = problemsOfPlan({ ...pro, [field]: value })
        assert.isArray(texts)
      }
    }
  })
})
