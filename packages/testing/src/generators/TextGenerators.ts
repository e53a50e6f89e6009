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

/** One code point that every adapter must be able to store. */
export const codePoint = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 1 }) },
  { weight: 2, arbitrary: troublesome.filter((unit) => [...unit].length === 1) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 1 }).filter((unit) => unit !== "\0"),
  },
)

const wording = fc.constantFrom(
  "null",
  "NULL",
  "undefined",
  "NaN",
  "true",
  "constructor",
  "toString",
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
