import { Dimensions } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const is = Schema.is(Dimensions.Dimensions)
const some = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`d${index}`, "x"]))

describe("dimensions", () => {
  it("are at most 8", () => {
    assert.deepStrictEqual(
      [0, 1, 8, 9].map((count) => is(some(count))),
      [true, true, true, false],
    )
  })

  it("have names of 1 to 40 and values of 1 to 100 code points, which are text", () => {
    assert.isTrue(is({ ["😀".repeat(40)]: "😀".repeat(100) }))
    assert.isFalse(is({ "": "x" }))
    assert.isFalse(is({ ["d".repeat(41)]: "x" }))
    assert.isFalse(is({ d: "" }))
    assert.isFalse(is({ d: "x".repeat(101) }))
    for (const value of [1, true, null, {}, ["x"], undefined]) assert.isFalse(is({ d: value }))
    for (const value of ["a\0", "\uD83D"]) assert.isFalse(is({ d: value }))
    for (const name of ["a\0", "\uD83D"]) assert.isFalse(is({ [name]: "x" }))
  })

  it("may have any name of Object.prototype but __proto__", () => {
    assert.isFalse(is(JSON.parse(`{"__proto__":"x"}`)))
    for (const name of Object.getOwnPropertyNames(Object.prototype))
      if (name !== "__proto__") assert.isTrue(is({ [name]: "x" }), name)
  })

  it("are the same in any order, and differ by a name or a value", () => {
    assert.isTrue(Dimensions.isSame({ a: "1", b: "2" }, { b: "2", a: "1" }))
    assert.isTrue(Dimensions.isSame(Dimensions.NONE, {}))
    assert.isFalse(Dimensions.isSame({ a: "1" }, { a: "2" }))
    assert.isFalse(Dimensions.isSame({ a: "1" }, { A: "1" }))
    assert.isFalse(Dimensions.isSame({ a: "1" }, { a: "1", b: "2" }))
    assert.isFalse(Dimensions.isSame({ a: "1", b: "2" }, { a: "1" }))
    assert.isFalse(Dimensions.isSame({ toString: "1" } as Dimensions.Dimensions, { a: "1" }))
  })

  it("that are none are one object, which can't be changed", () => {
    for (const none of [undefined, null, {}, Dimensions.NONE])
      assert.strictEqual(Dimensions.orNone(none), Dimensions.NONE)
    assert.isTrue(Object.isFrozen(Dimensions.NONE))
    assert.deepStrictEqual(Dimensions.orNone({ a: "1" }), { a: "1" })
  })
})
