/**
 * The fields by which meters are named, filtered and grouped.
 */
import { Schema } from "effect"
import * as Text from "../shared/Text.ts"
import { DimensionValue, MAX_DIMENSION_NAME_LENGTH } from "./Dimensions.ts"

/** The most dimensions that a meter declares. */
export const MAX_METER_DIMENSIONS = 4
/** The most values of one dimension in a filter. */
export const MAX_WHERE_VALUES = 100

const KEY = /^[a-z][a-z0-9_]{0,63}$/
const KEY_PROBLEM = "must be a lower-case letter, then up to 63 lower-case letters, digits or underscores"

/** The name of a meter in plans and queries. */
export const MeterKey = Schema.String.annotate({ message: KEY_PROBLEM }).check(
  Schema.isPattern(KEY, {
    message: KEY_PROBLEM,
    toJsonSchema: () => ({ pattern: KEY.source, maxLength: 64 }),
  }),
)

/** The name of a dimension that a meter declares. It has no colon, because `name:value` is a filter in the REST API. */
export const DimensionName = Text.bounded(1, MAX_DIMENSION_NAME_LENGTH).check(
  Schema.makeFilter((name: string) => !name.includes(":") && name !== "__proto__", {
    message: "must not contain a colon or be __proto__",
    toJsonSchema: () => ({ pattern: "^[^:]+$" }),
  }),
)

const isUnlike = (names: ReadonlyArray<string>): boolean => new Set(names).size === names.length

/** The dimensions that a meter declares, in their order. */
export const MeterDimensions = Schema.Array(DimensionName).check(
  Schema.isMaxLength(MAX_METER_DIMENSIONS, {
    message: `must have at most ${MAX_METER_DIMENSIONS} dimensions`,
  }),
  Schema.makeFilter(isUnlike, {
    message: "must not name a dimension twice",
    toJsonSchema: () => ({ uniqueItems: true }),
  }),
)

const WhereValues = Schema.Array(DimensionValue).check(
  Schema.isBetweenLength(1, MAX_WHERE_VALUES, { message: `must have 1 to ${MAX_WHERE_VALUES} values` }),
)

/**
 * A filter by dimensions that the meter declares: for each, the values that match. A record must match in all of them. A
 * record that lacks a dimension does not match.
 */
export const WhereInput = Schema.Record(Schema.String, WhereValues).check(
  Schema.isMaxProperties(MAX_METER_DIMENSIONS, {
    message: `must have at most ${MAX_METER_DIMENSIONS} dimensions`,
  }),
)
export type WhereInput = typeof WhereInput.Type

/** The dimensions to group by: one that the meter declares, or several. */
export const GroupByInput = Schema.Union([Schema.String, MeterDimensions])
export type GroupByInput = typeof GroupByInput.Type

/** What queries of a meter have besides their other fields. */
export const meterFields = {
  /** The key of a meter. It stands for a product and unit, so those can't be given with it. */
  meter: Schema.optionalKey(MeterKey),
  /** Only records with these dimensions. Needs a meter. */
  where: Schema.optionalKey(WhereInput),
}
