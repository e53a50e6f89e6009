import { UsageRecord } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"

const first: UsageRecord.NewUsageRecord = {
  id: UsageRecord.UsageRecordId.make(`usg_${"0".repeat(26)}`),
  customerId: Schema.decodeUnknownSync(UsageRecord.UsageRecord.fields.customerId)(`cus_${"0".repeat(26)}`),
  productId: "api",
  quantity: 7,
  unit: "call",
  dimensions: { model: "opus", kind: "input" },
  timestamp: DateTime.makeUnsafe("2026-11-21T12:00:00.000Z"),
  hasOwnTimestamp: true,
  idempotencyKey: "key",
  voidedAt: null,
  createdAt: DateTime.makeUnsafe("2026-11-21T12:00:01.000Z"),
}
const later = DateTime.makeUnsafe("2026-11-21T12:00:00.001Z")

describe("a repeat of an idempotency key", () => {
  it.each<[string, Partial<UsageRecord.NewUsageRecord>, boolean]>([
    ["nothing else", {}, true],
    [
      "another id and time of arrival",
      { id: UsageRecord.UsageRecordId.make(`usg_${"1".repeat(26)}`), createdAt: later },
      true,
    ],
    ["another product", { productId: "API" }, false],
    ["another unit", { unit: "calls" }, false],
    ["another quantity", { quantity: 8 }, false],
    ["the same dimensions in another order", { dimensions: { kind: "input", model: "opus" } }, true],
    ["another value of a dimension", { dimensions: { model: "haiku", kind: "input" } }, false],
    ["fewer dimensions", { dimensions: { model: "opus" } }, false],
    ["no dimensions", { dimensions: {} }, false],
    ["another timestamp", { timestamp: later }, false],
    ["a timestamp that the library made", { timestamp: later, hasOwnTimestamp: false }, true],
    [
      "a timestamp that the library made, and another quantity",
      { timestamp: later, hasOwnTimestamp: false, quantity: 8 },
      false,
    ],
  ])("with %s", (_, change, isSame) => {
    assert.strictEqual(UsageRecord.isSameContent(first, { ...first, ...change }), isSame)
  })

  it("may name the timestamp that the library made for the first", () => {
    const made = { ...first, hasOwnTimestamp: false }
    assert.isTrue(UsageRecord.isSameContent(made, first))
    assert.isFalse(UsageRecord.isSameContent(made, { ...first, timestamp: later }))
  })

  it("has the content of a first record that was voided since", () => {
    assert.isTrue(UsageRecord.isSameContent({ ...first, voidedAt: later }, first))
  })
})

describe("the limits", () => {
  it("are those of the contract", () => {
    assert.deepStrictEqual(
      [
        UsageRecord.MAX_QUANTITY,
        UsageRecord.MAX_BATCH_RECORDS,
        UsageRecord.MAX_FUTURE_MILLIS,
        UsageRecord.MIN_TIMESTAMP_MILLIS,
      ],
      [2 ** 53 - 1, 1_000, 300_000, Date.parse("0001-01-01T00:00:00.000Z")],
    )
  })

  it.each([
    ["ProductId", UsageRecord.ProductId, 255],
    ["Unit", UsageRecord.Unit, 64],
    ["UsageKey", UsageRecord.UsageKey, 255],
  ] as const)("%s has 1 to %3$s characters", (_, schema, maximum) => {
    const is = Schema.is(schema)
    assert.deepStrictEqual(
      [0, 1, maximum, maximum + 1].map((length) => is("😀".repeat(length))),
      [false, true, true, false],
    )
  })

  it("Quantity is an integer from 0 to 2^53 − 1", () => {
    const is = Schema.is(UsageRecord.Quantity)
    for (const good of [0, -0, 1, 2 ** 53 - 1]) assert.isTrue(is(good))
    for (const bad of [-1, 0.1, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, "1", 1n, null])
      assert.isFalse(is(bad))
  })
})
