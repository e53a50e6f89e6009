/**
 * Currencies by their codes.
 */
import { Schema } from "effect"

/** The form of an ISO 4217 code: three capital letters. */
export const Currency = Schema.String.check(
  Schema.isPattern(/^[A-Z]{3}$/u, { message: "must be an ISO 4217 currency code such as EUR" }),
)
