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
