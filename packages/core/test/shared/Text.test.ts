import { Metadata, Text } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { fc, holds } from "../property.ts"

/** Text with halves of surrogate pairs and NUL. */
const anyUnits = fc
  .array(fc.constantFrom("\0", "\uD83D", "\uDE00", "a", "é", "\uFFFD"))
  .map((units) => units.join(""))

describe("text", () => {
  const isShort = Schema.is(Text.bounded(1, 3))

  it("has a length within its bounds", () => {
    assert.deepStrictEqual(
      ["", "a", "abc", "abcd"].map((text) => isShort(text)),
      [false, true, true, false],
    )
  })

  it("counts code points, not UTF-16 units", () => {
    assert.isTrue(isShort("😀😀😀"))
    assert.isFalse(isShort("😀😀😀😀"))
  })

  it("has no NUL and no lone surrogate", () => {
    assert.isFalse(isShort("a\0"))
    assert.isFalse(isShort("\uD83D"))
    assert.isFalse(isShort("\uDE00"))
    assert.isFalse(isShort("\uDE00\uD83D"))
    assert.isTrue(isShort("\uD83D\uDE00"))
  })

  it("may hold anything else", () => {
    assert.isTrue(isShort(" "))
    assert.isTrue(isShort("\n\t\u0001"))
    assert.isTrue(isShort("\uFFFF\u202E"))
  })

  it("is storable exactly when it survives UTF-8 and has no NUL", () =>
    holds([anyUnits], (text) => {
      const survives = new TextDecoder().decode(new TextEncoder().encode(text)) === text
      assert.strictEqual(Text.isStorable(text), survives && !text.includes("\0"))
    }))
})

describe("cleaned text of others", () => {
  it("is what every adapter can store, cut between characters", () => {
    assert.strictEqual(Text.cleaned("a\0b\nc\ud800d", 100), "a b c\ufffdd")
    assert.strictEqual(Text.cleaned("😀😀😀", 2), "😀😀")
    holds([anyUnits, fc.nat(20)], (text, maximum) => {
      const cleaned = Text.cleaned(text, maximum)
      assert.isTrue(Text.isStorable(cleaned))
      assert.lengthOf([...cleaned], Math.min([...text].length, maximum))
    })
  })
})

describe("metadata", () => {
  const isMetadata = Schema.is(Metadata.Metadata)
  const isPatch = Schema.is(Metadata.MetadataPatch)
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, ""]))

  it("has at most 50 keys", () => {
    assert.isTrue(isMetadata({}))
    assert.isTrue(isMetadata(keys(50)))
    assert.isFalse(isMetadata(keys(51)))
    assert.isTrue(isPatch(keys(50)))
    assert.isFalse(isPatch(keys(51)))
  })

  it("has keys of 1 to 40 code points and values of at most 500", () => {
    assert.isTrue(isMetadata({ ["😀".repeat(40)]: "😀".repeat(500) }))
    assert.isFalse(isMetadata({ ["k".repeat(41)]: "" }))
    assert.isFalse(isMetadata({ "": "" }))
    assert.isFalse(isMetadata({ k: "v".repeat(501) }))
  })

  it("has strings alone, storable ones", () => {
    for (const value of [1, true, null, undefined, {}, [], "\0", "\uD83D"])
      assert.isFalse(isMetadata({ k: value }))
    assert.isFalse(isMetadata({ "a\0": "" }))
    assert.isFalse(isMetadata({ "\uD83D": "" }))
    for (const value of ["a", null]) assert.isTrue(isPatch({ k: value }))
    for (const value of [1, true, undefined, {}, []]) assert.isFalse(isPatch({ k: value }))
  })

  it("has no key __proto__, and any other name of Object.prototype", () => {
    assert.isFalse(isMetadata(JSON.parse(`{"__proto__":"x"}`)))
    assert.isFalse(isPatch(JSON.parse(`{"__proto__":null}`)))
    assert.isTrue(isMetadata({ constructor: "x", toString: "y", hasOwnProperty: "z" }))
  })

  it("keeps what a patch doesn't name, sets what it does, removes what it sets to null", () => {
    const metadata = { a: "1", b: "2", c: "3" }
    assert.deepStrictEqual(Metadata.patch(metadata, { a: null, b: "two", d: "4", e: null }), {
      b: "two",
      c: "3",
      d: "4",
    })
    assert.deepStrictEqual(metadata, { a: "1", b: "2", c: "3" })
    assert.deepStrictEqual(Metadata.patch(metadata, {}), metadata)
  })

  it("is emptied by a patch that is null", () => {
    assert.deepStrictEqual(Metadata.patch({ a: "1", b: "2" }, null), {})
  })

  it("keeps keys that are names of Object.prototype", () => {
    assert.deepStrictEqual(Metadata.patch({ toString: "a" }, { constructor: "b", toString: null }), {
      constructor: "b",
    })
  })

  const names = fc.constantFrom("a", "b", "c", "toString")
  it("is patched as a Map would be", () =>
    holds(
      [fc.dictionary(names, fc.string()), fc.dictionary(names, fc.option(fc.string()))],
      (metadata, change) => {
        const expected = new Map(Object.entries(metadata))
        for (const [key, value] of Object.entries(change)) {
          if (value === null) expected.delete(key)
          else expected.set(key, value)
        }
        assert.deepStrictEqual(new Map(Object.entries(Metadata.patch(metadata, change))), expected)
      },
    ))
})
