/** The words of pages for payers. */
import { assert, describe, it } from "vitest"
import { PAYER_TEXTS } from "../../src/payer/index.ts"

/** All texts with the values that they have room for, by their paths. */
const placesOf = (texts: object, path = ""): Readonly<Record<string, ReadonlyArray<string>>> =>
  Object.assign(
    {},
    ...Object.entries(texts).map(([name, text]) =>
      typeof text === "string"
        ? { [`${path}${name}`]: [...text.matchAll(/\{(\w+)\}/g)].map(([place]) => place).toSorted() }
        : placesOf(text as object, `${path}${name}.`),
    ),
  ) as Readonly<Record<string, ReadonlyArray<string>>>

const empty = (texts: object): ReadonlyArray<string> =>
  Object.entries(texts).flatMap(([name, text]) =>
    typeof text === "string" ? (text.trim() === "" ? [name] : []) : empty(text as object),
  )

describe("the words of pages for payers", () => {
  const { en, ...others } = PAYER_TEXTS
  it.each(Object.entries(others))("have the same values in %s as in English", (_, texts) => {
    assert.deepStrictEqual(placesOf(texts), placesOf(en))
  })
  it.each(Object.entries(PAYER_TEXTS))("are all there in %s", (_, texts) => {
    assert.deepStrictEqual(empty(texts), [])
  })
})
