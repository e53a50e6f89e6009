import { Threshold, UsageRecord } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import { fc, holds } from "../property.ts"

const { crosses, periodKey, periodOf } = Threshold

describe("the crossing rule", () => {
  it.each([
    ["below", 99n, false, false],
    ["exactly there", 100n, false, true],
    ["above", 101n, false, true],
    ["there again after it fired", 100n, true, false],
    ["far above after it fired", 10n ** 30n, true, false],
    ["below after it fired (a void)", 0n, true, false],
  ])("a total %s", (_, total, hasFired, expected) => {
    assert.strictEqual(crosses({ quantity: 100n, total, hasFired }), expected)
  })

  it("distinguishes totals beyond 2^53", () => {
    const quantity = 2n ** 53n + 1n
    assert.isFalse(crosses({ quantity, total: 2n ** 53n, hasFired: false }))
    assert.isTrue(crosses({ quantity, total: 2n ** 53n + 1n, hasFired: false }))
  })

  it("fires exactly once for any totals that reach the quantity, and never for others", () =>
    holds(
      [fc.array(fc.bigInt({ min: 0n, max: 20n })), fc.bigInt({ min: 1n, max: 20n })],
      (totals, quantity) => {
        let firings = 0
        for (const total of totals) if (crosses({ quantity, total, hasFired: firings > 0 })) firings++
        assert.strictEqual(firings, totals.some((total) => total >= quantity) ? 1 : 0)
      },
    ))
})

describe("a threshold", () => {
  const meter = { customerId: `cus_${"0".repeat(26)}`, productId: "api", unit: "call" }
  const accepts = Schema.is(Threshold.CreateThreshold)

  it.each(["day", "month", "lifetime"] as const)("counts over a %s", (period) => {
    assert.isTrue(accepts({ ...meter, quantity: 1n, period }))
    assert.isTrue(accepts({ ...meter, quantity: Threshold.MAX_THRESHOLD_QUANTITY, period }))
  })

  it.each<[string, object]>([
    ["without a meter", { quantity: 1n, period: "day" }],
    ["without a quantity", { ...meter, period: "day" }],
    ["without a period", { ...meter, quantity: 1n }],
    ["over no period", { ...meter, quantity: 1n, period: "" }],
    ["over another period", { ...meter, quantity: 1n, period: "week" }],
    ["of nothing", { ...meter, quantity: 0n, period: "day" }],
    ["of more than 10^30", { ...meter, quantity: 10n ** 30n + 1n, period: "day" }],
  ])("is invalid %s", (_, threshold) => {
    assert.isFalse(accepts(threshold))
  })

  it("has all of its fields when it is stored", () => {
    assert.isFalse(Schema.is(Threshold.Threshold)({}))
    assert.isFalse(Schema.is(Threshold.ListThresholds)({ customerId: "cus_1" }))
  })

  it("has clear messages for an unknown id and for too many thresholds", () => {
    const missing = new Threshold.ThresholdNotFound({ id: "thr_1" })
    assert.strictEqual(missing._tag, "ThresholdNotFound")
    assert.strictEqual(missing.message, "no usage threshold has the id thr_1")
    const tooMany = new Threshold.TooManyThresholds()
    assert.strictEqual(tooMany._tag, "TooManyThresholds")
    assert.strictEqual(
      tooMany.message,
      "there are already 100 thresholds for this customer, product and unit",
    )
  })
})

describe("the periods of a threshold", () => {
  const at = (text: string) => DateTime.makeUnsafe(text)

  it.each([
    ["day", "2026-11-21T00:00:00.000Z", "2026-11-21"],
    ["day", "2026-11-21T23:59:59.999Z", "2026-11-21"],
    ["month", "2026-11-30T23:59:59.999Z", "2026-11"],
    ["month", "2026-12-01T00:00:00.000Z", "2026-12"],
    ["day", "0001-01-01T00:00:00.000Z", "0001-01-01"],
    ["month", "0099-02-28T12:00:00.000Z", "0099-02"],
    ["lifetime", "2026-11-21T00:00:00.000Z", "lifetime"],
  ] as const)("the %s of %s is %s", (period, instant, key) => {
    assert.strictEqual(periodKey(period, at(instant)), key)
  })

  it("starts and ends at UTC midnights, months by the calendar", () => {
    assert.deepStrictEqual(periodOf("month", at("2024-02-29T12:00:00Z")), {
      start: Date.parse("2024-02-01"),
      end: Date.parse("2024-03-01"),
    })
    assert.deepStrictEqual(periodOf("month", at("2026-12-31T23:59:59.999Z")), {
      start: Date.parse("2026-12-01"),
      end: Date.parse("2027-01-01"),
    })
    assert.deepStrictEqual(periodOf("day", at("2026-12-31T23:59:59.999Z")), {
      start: Date.parse("2026-12-31"),
      end: Date.parse("2027-01-01"),
    })
    assert.deepStrictEqual(periodOf("lifetime", at("2026-12-31T23:59:59.999Z")), {
      start: undefined,
      end: undefined,
    })
  })

  const instants = fc.integer({ min: UsageRecord.MIN_TIMESTAMP_MILLIS, max: Date.parse("9998-12-31") })

  it.each(["day", "month"] as const)(
    "every instant is in the %s of its key, including the first and the last",
    (period) =>
      holds(
        [instants],
        (millis) => {
          const instant = DateTime.makeUnsafe(millis)
          const key = periodKey(period, instant)
          assert.strictEqual(key, new Date(millis).toISOString().slice(0, period === "day" ? 10 : 7))
          const { end, start } = periodOf(period, instant)
          assert.isTrue(start !== undefined && end !== undefined && start <= millis && millis < end)
          const keyAt = (other: number) => periodKey(period, DateTime.makeUnsafe(other))
          assert.strictEqual(keyAt(start!), key)
          assert.strictEqual(keyAt(end! - 1), key)
          assert.notStrictEqual(keyAt(end!), key)
          if (start! > UsageRecord.MIN_TIMESTAMP_MILLIS) assert.notStrictEqual(keyAt(start! - 1), key)
          assert.deepStrictEqual(periodOf(period, DateTime.makeUnsafe(end! - 1)), { start, end })
        },
        1_000,
      ),
  )
})
