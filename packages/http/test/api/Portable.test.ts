import { assert, describe, it } from "@effect/vitest"
import { portable } from "../../src/api/Portable.ts"

describe("what is made portable in a document", () => {
  it("are integers: those that don't fit 32 bits have a format", () => {
    const wide = { type: "integer", format: "int64" }
    assert.deepStrictEqual(portable({ type: "integer" }), wide)
    assert.deepStrictEqual(portable({ type: "integer", maximum: 2 ** 31 }), { ...wide, maximum: 2 ** 31 })
    for (const other of [
      { type: "integer", maximum: 2 ** 31 - 1 },
      { type: "integer", format: "uint64" },
      { type: "number" },
    ])
      assert.deepStrictEqual(portable(other), other)
    assert.deepStrictEqual(portable([{ items: { type: "integer" } }]), [{ items: wide }])
  })

  it("are booleans that are always the same", () => {
    assert.deepStrictEqual(portable({ type: "boolean", enum: [true] }), {
      type: "boolean",
      description: "Always `true`.",
    })
  })

  it("are patterns with control characters", () => {
    assert.deepStrictEqual(portable({ pattern: String.raw`^[^\p{Cc}@]+$` }), {
      pattern: String.raw`^[^\x00-\x1f\x7f-\x9f@]+$`,
    })
  })

  it("are groups that don't capture", () => {
    assert.deepStrictEqual(portable({ pattern: String.raw`^\d{1,3}(?:\.\d{1,2})?$` }), {
      pattern: String.raw`^\d{1,3}(\.\d{1,2})?$`,
    })
  })

  it("is nothing that only looks like a schema: examples and values", () => {
    const value = { type: "integer" }
    for (const name of ["example", "examples", "default", "const", "enum"])
      assert.deepStrictEqual(portable({ [name]: value }), { [name]: value })
  })
})
