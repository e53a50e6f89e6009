/**
 * Rules for text in input: a limited length, well-formed Unicode, no NUL.
 *
 * Postgres can't store NUL, and a lone surrogate can't be encoded as UTF-8. Refusing both here gives a clear error
 * instead of a failure in the storage. Lengths count Unicode code points, as JSON Schema's `maxLength` and Postgres's
 * `char_length` do.
 */
import { Schema } from "effect"

/** True for text that every adapter can store and give back unchanged. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/**
 * Text of others, such as the message of an error, as every adapter can store it: at most `maximum` code points, a space
 * for each control character, U+FFFD for each lone surrogate.
 */
export const cleaned = (text: string, maximum: number): string => {
  // A code point has at most 2 units of UTF-16. So the rest of a huge text is not read.
  const start = text
    .slice(0, 2 * maximum)
    .replaceAll(/\p{Cc}/gu, " ")
    .toWellFormed()
  return [...start].slice(0, maximum).join("")
}

const storable = Schema.makeFilter<string>(isStorable, {
  message: "must not contain NUL or a lone surrogate",
})

/** Text of `minimum` to `maximum` code points. */
export const bounded = (minimum: number, maximum: number) =>
  // The length check comes last, because annotations of the Schema go to its last check, and JSON Schema can express
  // only this one.
  Schema.String.check(
    storable,
    Schema.isBetweenCodePoints(minimum, maximum, { message: `must be ${minimum} to ${maximum} characters` }),
  )
