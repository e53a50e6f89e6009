/**
 * Integers in the data of events.
 */
import { Schema } from "effect"

const isWireInteger = (value: unknown): boolean => typeof value === "bigint" || Number.isSafeInteger(value)
/** A total may be too large for a `number`, so a `bigint` is accepted too. Both are written as an integer in JSON. */
export const WireInteger = Schema.Any.check(
  Schema.makeFilter(isWireInteger, {
    message: "must be an integer",
    toJsonSchema: () => ({ type: "integer" }),
  }),
)
