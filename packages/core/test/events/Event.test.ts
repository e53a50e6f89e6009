import { Event, EventId } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { fc, holds } from "../property.ts"

const fields = {
  id: EventId.make("evt_01kahd3kc8e0fsr8zknzqgf2h1"),
  type: "invoice.paid",
  timestamp: DateTime.makeUnsafe("2026-11-21T12:00:00.000Z"),
}
const eventOf = (payload: string): Event.Event => ({
  ...fields,
  customerId: null,
  idempotencyKey: null,
  endpointId: null,
  payload,
})

/** JSON that may be published: of plain values, with texts that can be stored. */
const anyData = fc
  .jsonValue({ maxDepth: 5, noUnicodeString: false })
  .filter((value) => Event.problemOfJson(value) === undefined)

describe("the payload of an event", () => {
  it("has id, type, timestamp, livemode and data, in this order", () => {
    assert.strictEqual(
      Event.render(fields, "live", { amount: 1, currency: "EUR" }),
      '{"id":"evt_01kahd3kc8e0fsr8zknzqgf2h1","type":"invoice.paid","timestamp":"2026-11-21T12:00:00.000Z","livemode":true,"data":{"amount":1,"currency":"EUR"}}',
    )
    assert.include(Event.render(fields, "test", null), '"livemode":false,"data":null}')
  })

  it("is JSON of what was given, whatever that is", () =>
    holds([anyData], (data) => {
      const payload = Event.render(fields, "live", data)
      const expected: unknown = JSON.parse(JSON.stringify(data))
      assert.deepStrictEqual((JSON.parse(payload) as { data: unknown }).data, expected)
      assert.deepStrictEqual(Event.dataOf(eventOf(payload)), expected)
    }))

  it("gives back the text of its data, also when that holds what looks like an end", () => {
    const data = { data: ',"data":{"x":1}}', nested: { data: [] } }
    assert.strictEqual(Event.dataText(Event.render(fields, "live", data)), JSON.stringify(data))
  })

  it("writes integers beyond 2^53 exactly", () => {
    const payload = Event.render(fields, "live", { total: 2n ** 53n + 1n, small: 7n })
    assert.strictEqual(Event.dataText(payload), '{"total":9007199254740993,"small":7}')
  })
})

describe("what data may be", () => {
  class Invoice {
    readonly id = 1
  }
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])

  it.each<[string, unknown, string]>([
    ["NUL", { a: ["x\0"] }, "must not contain NUL or a lone surrogate"],
    ["a lone surrogate", "\ud800", "must not contain NUL or a lone surrogate"],
    ["NUL in a key", { "a\0": 1 }, "must not contain NUL or a lone surrogate"],
    ["NaN", { a: Number.NaN }, "must not contain a number that JSON can't hold"],
    ["Infinity", [-Infinity], "must not contain a number that JSON can't hold"],
    ["undefined", { a: undefined }, "must not contain a value of type undefined"],
    ["a function", { a: () => 1 }, "must not contain a value of type function"],
    ["a class", { a: new Invoice() }, "must contain plain objects only"],
    ["a date", new Date(0), "must contain plain objects only"],
    ["__proto__", JSON.parse('{"__proto__":{"a":1}}'), "must not contain the key __proto__"],
    ["depth", deep(31), "must not be nested deeper than 30 levels"],
    ["digits", [10n ** 1_000n], "must not contain a number of more than 1000 digits"],
    ["digits below zero", [-(10n ** 1_000n)], "must not contain a number of more than 1000 digits"],
  ])("is not %s", (_, data, problem) => {
    assert.strictEqual(Event.problemOfJson(data), problem)
  })

  it.each<[string, unknown]>([
    ["depth 30", deep(30)],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
    ["bigint", { a: 2n ** 70n }],
    ["null", null],
    ["constructor as a key", { constructor: 1 }],
  ])("is %s", (_, data) => {
    assert.strictEqual(Event.problemOfJson(data), undefined)
  })
})
