/**
 * Text that every adapter must be able to store, and that some store wrongly.
 */
import * as fc from "fast-check"

const troublesome = fc.constantFrom(
  ..."\u0001\t\n\r\u007f\u0085\u00a0\u200b\u200d\u202e\u2028\ufeff\ufffd\uffff'\"\\%_{}[]()<>&;:,./?!$#@^~`|-+= ",
  "é",
  "e\u0301",
  "ß",
  "İ",
  "ﬃ",
  "Ω",
  "я",
  "字",
  "ع",
  "𝒩",
  "👩",
  "🏽",
  "\u{10ffff}",
)

/** A character of these code points. Surrogates alone are none. */
const between = (min: number, max: number): fc.Arbitrary<string> =>
  fc
    .integer({ min, max })
    .map((code) => String.fromCodePoint(code))
    .filter((unit) => unit.isWellFormed())

/**
 * One code point that every adapter must be able to store. It is not made by `fc.string`, which would look for every way
 * to write some words with it: that takes longer than most tests, for each kind of text that is made of code points.
 */
export const codePoint = fc.oneof(
  { weight: 5, arbitrary: between(0x20, 0x7e) },
  { weight: 2, arbitrary: troublesome.filter((unit) => [...unit].length === 1) },
  { weight: 1, arbitrary: between(0x01, 0x10ffff) },
)

const wording = fc.constantFrom(
  "null",
  "NULL",
  "undefined",
  "NaN",
  "true",
  "constructor",
  "toString",
  "__proto__",
  "hasOwnProperty",
  "valueOf",
  "length",
  "0",
  "-0",
  "1e3",
  "''",
  "--",
  "$1",
)

/** Text of `minimum` to `maximum` code points that can be stored: mostly short, sometimes of the maximum length. */
export const text = (minimum: number, maximum: number): fc.Arbitrary<string> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.string({
        unit: codePoint,
        minLength: minimum,
        maxLength: Math.min(maximum, minimum + 12),
      }),
    },
    { weight: 1, arbitrary: wording.filter((word) => word.length >= minimum && word.length <= maximum) },
    { weight: 1, arbitrary: codePoint.map((unit) => unit.repeat(maximum)) },
  )
