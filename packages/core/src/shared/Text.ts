/**
 * Rules for text that people and programs send: bounded, well-formed Unicode, without NUL.
 *
 * NUL can't be stored by Postgres, and a lone surrogate can't be encoded as UTF-8: both would be an error
 * deep inside instead of a clear answer at the edge. Lengths count Unicode code points, as JSON Schema's
 * `maxLength` and Postgres's `char_length` do.
 */
import { Schema } from "effect"

/** True for text that every adapter can store and give back unchanged. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

const storable = Schema.makeFilter<string>(isStorable, {
  message: "must not contain NUL or a lone surrogate",
})

/** Text of `minimum` to `maximum` code points. */
export const bounded = (minimum: number, maximum: number) =>
  // The bounds come last: what annotates the schema annotates them, and they are what JSON Schema can say.
  Schema.String.check(
    storable,
    Schema.isBetweenCodePoints(minimum, maximum, { message: `must be ${minimum} to ${maximum} characters` }),
  )
