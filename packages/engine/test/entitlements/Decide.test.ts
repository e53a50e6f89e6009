import { decideEntitlement, type Feature, type FeatureSource, isAllowed, limitOf } from "@billwright/engine"
import { assert, describe, it } from "vitest"
import { decimals, fc, holds } from "../property.ts"

const metered = (included: string, limit: "hard" | "soft", used: bigint, rolledOver = 0n): FeatureSource => ({
  feature: { type: "metered", meter: "calls", included, limit },
  used,
  rolledOver,
})
const config = (value: string): FeatureSource => ({
  feature: { type: "config", value },
  used: 0n,
  rolledOver: 0n,
})
const flag: FeatureSource = { feature: { type: "boolean" }, used: 0n, rolledOver: 0n }

const reasons = (sources: ReadonlyArray<FeatureSource>, quantity: bigint) => {
  const { reason, source } = decideEntitlement(sources, quantity)
  return [reason, source]
}

const sources = fc.array(
  fc
    .record({
      included: decimals(2, 2),
      limit: fc.constantFrom("hard" as const, "soft" as const),
      used: fc.bigInt({ min: 0n, max: 120n }),
    })
    .map(({ included, limit, used }) => metered(included, limit, used)),
  { minLength: 1, maxLength: 4 },
)

/** How many units one after the other fit a source before it is full, counted in hundredths of a unit. */
const fitting = ({ feature, used }: FeatureSource): number => {
  const { included } = feature as Extract<Feature, { type: "metered" }>
  const hundredths = Math.round(Number(included) * 100)
  let units = 0
  while ((Number(used) + units + 1) * 100 <= hundredths) units++
  return units
}

describe("a decision about a feature", () => {
  it("is that nothing is included without a source", () => {
    assert.deepStrictEqual(reasons([], 1n), ["not_included", null])
    assert.isFalse(isAllowed("not_included"))
  })

  it("includes what the plan has, whatever the quantity", () => {
    assert.deepStrictEqual(reasons([flag], 1_000n), ["included", 0])
    assert.strictEqual(decideEntitlement([flag], 1n).value, null)
    assert.strictEqual(decideEntitlement([config("gold")], 1n).value, "gold")
  })

  it("takes the greatest number, and else the value of the oldest subscription", () => {
    const valueOf = (...values: ReadonlyArray<string>) => {
      const { source, value } = decideEntitlement(values.map(config), 1n)
      return [value, source]
    }
    assert.deepStrictEqual(valueOf("9", "10", "1.5"), ["10", 1])
    assert.deepStrictEqual(valueOf("10.0", "10"), ["10.0", 0])
    assert.deepStrictEqual(valueOf("silver", "gold"), ["silver", 0])
    assert.deepStrictEqual(valueOf("9", "10", "unlimited"), ["9", 0])
  })

  it("counts sources of the type of the oldest subscription only", () => {
    assert.deepStrictEqual(reasons([metered("1", "hard", 1n), flag], 1n), ["limit_reached", 0])
    assert.deepStrictEqual(reasons([flag, metered("1", "hard", 1n)], 1n), ["included", 0])
    const mixed = decideEntitlement([config("1"), flag, config("2")], 1n)
    assert.deepStrictEqual(mixed, { reason: "included", source: 2, value: "2" })
  })

  it("prefers what needs no overage, and then what leaves most", () => {
    const soft = metered("5", "soft", 5n)
    const hard = metered("10", "hard", 5n)
    assert.deepStrictEqual(reasons([soft, hard], 5n), ["included", 1])
    assert.deepStrictEqual(reasons([soft, hard], 6n), ["overage", 0])
    assert.deepStrictEqual(reasons([hard, hard], 6n), ["limit_reached", 0])
    assert.deepStrictEqual(reasons([hard, metered("11", "hard", 5n)], 7n), ["limit_reached", 1])
  })

  it("has limits in whole units", () => {
    assert.strictEqual(limitOf(metered("50.999", "hard", 0n).feature, 0n), 50n)
    assert.strictEqual(limitOf(flag.feature, 0n), null)
  })

  it("allows what fits one of the sources, or any amount where one is soft", () => {
    holds([sources, fc.bigInt({ min: 1n, max: 120n })], (all, quantity) => {
      const room = all.map(fitting)
      const isSoft = all.some(({ feature }) => feature.type === "metered" && feature.limit === "soft")
      const expected = Math.max(...room) >= quantity ? "included" : isSoft ? "overage" : "limit_reached"
      const { reason, source } = decideEntitlement(all, quantity)
      assert.strictEqual(reason, expected)
      const { feature } = all[source ?? -1]!
      if (reason === "included") assert.strictEqual(room[source!], Math.max(...room))
      else if (reason === "overage") assert.deepInclude(feature, { limit: "soft" })
    })
  })

  it("never lets callers one after the other pass the largest of hard limits", () => {
    const quantities = fc.array(fc.bigInt({ min: 1n, max: 30n }), { maxLength: 20 })
    holds([fc.array(decimals(2, 1), { minLength: 1, maxLength: 3 }), quantities], (limits, asked) => {
      let used = 0n
      let refused = 0n
      for (const quantity of asked) {
        const all = limits.map((included) => metered(included, "hard", used))
        if (isAllowed(decideEntitlement(all, quantity).reason)) used += quantity
        else refused = refused === 0n || quantity < refused ? quantity : refused
      }
      const most = BigInt(Math.floor(Math.max(...limits.map(Number))))
      assert.isTrue(used <= most)
      // The smallest refused one did not fit when it came, so it does not fit now.
      assert.isTrue(refused === 0n || used + refused > most)
    })
  })
})
