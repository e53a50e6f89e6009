/**
 * The dimensions of a usage record: a small, flat map of text that says what else is known about the usage.
 */
import type { Schema } from "effect"
import * as Text from "../shared/Text.ts"
import * as TextMap from "../shared/TextMap.ts"

/** Most dimensions of one record. */
export const MAX_DIMENSIONS = 8
/** Longest name of a dimension, in code points. */
export const MAX_DIMENSION_NAME_LENGTH = 40
/** Longest value of a dimension, in code points. */
export const MAX_DIMENSION_VALUE_LENGTH = 100

/** The value of a dimension: 1 to 100 characters. */
export const DimensionValue = Text.bounded(1, MAX_DIMENSION_VALUE_LENGTH)

/** At most 8 names of 1 to 40 characters, each with a value. The order of the names has no meaning. */
export const Dimensions = TextMap.make(DimensionValue, {
  keys: MAX_DIMENSIONS,
  keyLength: MAX_DIMENSION_NAME_LENGTH,
})
export interface Dimensions extends Schema.Schema.Type<typeof Dimensions> {}

/** No dimensions. All records without dimensions share this object, so that they need no memory for them. */
export const NONE: Dimensions = Object.freeze({})

export const isEmpty = (dimensions: Dimensions): boolean => {
  if (dimensions !== NONE) for (const _ in dimensions) return false
  return true
}

/** The dimensions, or `NONE` when there are none. */
export const orNone = (dimensions: Dimensions | null | undefined): Dimensions =>
  dimensions === null || dimensions === undefined || isEmpty(dimensions) ? NONE : dimensions

/** Whether both have the same names with the same values, in any order. */
export const isSame = (a: Dimensions, b: Dimensions): boolean => {
  if (a === b) return true
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && a[name] === b[name])
  )
}
