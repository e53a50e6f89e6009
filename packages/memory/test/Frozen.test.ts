import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { frozen } from "../src/Frozen.ts"

const isFrozen = (value: unknown): boolean =>
  typeof value !== "object" ||
  value === null ||
  DateTime.isDateTime(value) ||
  (Object.isFrozen(value) && Object.values(value).every(isFrozen))

describe("frozen", () => {
  it("copies plain data, so that no part of the copy can be changed and the given value can", () => {
    const at = DateTime.makeUnsafe(0)
    const given = { at, lines: [{ amount: 5n, steps: [{ type: "flat" }] }], empty: {}, none: null }
    const copy = frozen(given)
    assert.deepStrictEqual(copy, given)
    assert.isTrue(isFrozen(copy))
    assert.strictEqual(copy.at, at)
    given.lines[0]!.steps.push({ type: "round" })
    assert.lengthOf(copy.lines[0]!.steps, 1)
  })

  it("shares the parts that can't be changed", () => {
    const before = frozen({ status: "draft", lines: [{ amount: 5n }] })
    const after = frozen({ ...before, status: "open" })
    assert.strictEqual(frozen(before), before)
    assert.strictEqual(after.lines, before.lines)
  })

  it("copies what somebody else froze, when a part of it can be changed", () => {
    const inner = [1]
    const given = Object.freeze({ inner })
    const copy = frozen(given)
    inner.push(2)
    assert.deepStrictEqual(copy, { inner: [1] })
    assert.isTrue(isFrozen(copy))
  })

  it("copies a field named __proto__ as a field", () => {
    const given = JSON.parse('{"__proto__":{"a":[1]}}') as object
    const copy = frozen(given)
    assert.strictEqual(Object.getPrototypeOf(copy), Object.prototype)
    assert.strictEqual(JSON.stringify(copy), '{"__proto__":{"a":[1]}}')
    assert.isTrue(isFrozen(copy))
  })
})
