import { Generators } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { isSameJson } from "../../src/events/JsonText.ts"

describe("isSameJson", () => {
  const same: ReadonlyArray<readonly [string, string]> = [
    ["1", "1.0"],
    ["100", "1e2"],
    ["1.50", "15E-1"],
    ["0", "-0.00e9"],
    ["-12000", "-1.2e+4"],
    ['{"a":1,"b":[{}]}', '{ "b" : [ { } ], "a" : 1 }'],
    ['"é"', '"\\u00e9"'],
    ["1" + "0".repeat(400), "1e400"],
  ]
  const other: ReadonlyArray<readonly [string, string]> = [
    ["9007199254740992", "9007199254740993"],
    ["1", "-1"],
    ["1", "10"],
    ["0.1", "0.01"],
    ["1e400", "1e401"],
    ["[1,2]", "[12]"],
    ["[[1],2]", "[[1,2]]"],
    ['["a","b"]', '["a,b"]'],
    ['["a\\",\\"b"]', '["a","b"]'],
    ['{"a":{"b":1}}', '{"a":{},"b":1}'],
    ['"1e0"', "1"],
    ['"null"', "null"],
    ["[]", "{}"],
    ['{"0":1}', "[1]"],
  ]
  for (const [a, b] of same)
    it(`takes ${a.slice(0, 20)} for ${b.slice(0, 30)}`, () => assert.isTrue(isSameJson(a, b)))
  for (const [a, b] of other) it(`tells ${a} from ${b}`, () => assert.isFalse(isSameJson(a, b)))

  it("looks at each digit of a number once, however long it is: a quarter of a megabyte is no work", () => {
    const number = `1${"0".repeat(250_000)}1`
    assert.isTrue(isSameJson(`{"a":${number},"b":1}`, `{"b":1,"a":${number}000e-3}`))
    assert.isFalse(isSameJson(`{"a":${number}}`, `{"a":${number}0}`))
  })

  it("goes by the value alone", () => {
    const text = (value: unknown, space: number) =>
      JSON.stringify(value, (_, field: unknown) => (typeof field === "bigint" ? String(field) : field), space)
    fc.assert(
      fc.property(Generators.eventData, Generators.eventData, (a, b) => {
        assert.isTrue(isSameJson(text(a, 0), text(a, 2)))
        assert.isFalse(isSameJson(text([a], 0), text([a, b], 0)))
      }),
      { numRuns: 200 },
    )
  })
})
