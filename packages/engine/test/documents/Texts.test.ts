import { assert, describe, it } from "vitest"
import { fill } from "../../src/documents/Texts.ts"
import { TEXTS } from "../../src/documents/Translations.ts"

/** All texts of a language, by their names. */
const flat = (texts: object, prefix = ""): ReadonlyArray<readonly [name: string, text: string]> =>
  Object.entries(texts).flatMap(([name, value]: [string, unknown]) =>
    typeof value === "string"
      ? [[`${prefix}${name}`, value] as const]
      : flat(value as object, `${prefix}${name}.`),
  )

const placesOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\{(\w+)\}/g)].map(([place]) => place).sort()

const english = new Map(flat(TEXTS.en))

describe("the texts of documents", () => {
  for (const [language, texts] of Object.entries(TEXTS)) {
    it(`have the same values in ${language}, and nothing is left empty`, () => {
      for (const [name, text] of flat(texts)) {
        assert.deepStrictEqual(placesOf(text), placesOf(english.get(name)!), name)
        assert.strictEqual(text === "", english.get(name) === "", name)
      }
    })
  }

  it("are words of each language: few are those of another", () => {
    for (const language of ["de", "es", "fr"] as const) {
      const same = flat(TEXTS[language]).filter(([name, text]) => text !== "" && text === english.get(name))
      assert.isBelow(same.length, 15, same.map(([name]) => name).join(", "))
    }
  })

  it("take values as they are", () => {
    assert.strictEqual(fill("{a} {b} {a}", { a: "{b}", b: "$&" }), "{b} $& {b}")
    assert.strictEqual(fill("{toString}", {}), "{toString}")
  })
})
