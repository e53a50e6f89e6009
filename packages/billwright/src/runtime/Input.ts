/**
 * From what callers give to what the services of the domain take.
 */
import { Instant } from "@billwright/core"
import { DateTime, Option } from "effect"
import type { Instant as DateOrText } from "../Call.ts"
import { InvalidInputError } from "../errors/BillingError.ts"

const INSTANT_PROBLEM = "must be a Date or an RFC 3339 instant with an offset, such as 2026-11-21T09:30:00Z"

/** Throws an `InvalidInputError` when it is none. */
const toInstant = (value: DateOrText, field: string): DateTime.Utc => {
  const instant =
    typeof value === "string"
      ? Instant.parse(value)
      : value instanceof Date
        ? Option.getOrUndefined(DateTime.make(value))
        : undefined
  if (instant === undefined) throw new InvalidInputError(field, INSTANT_PROBLEM)
  return DateTime.toUtc(instant)
}

/**
 * An input for a service: fields that are `undefined` are left out, instants are read. That it has the type is for
 * the service to check, which decodes it.
 */
export const toInput = <A>(input: object | undefined, ...instants: ReadonlyArray<string>): A => {
  // What is no object is for the service to refuse.
  if (typeof input !== "object" || input === null) return input as A
  const result: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(input)) {
    if (value === undefined) continue
    result[field] = instants.includes(field) ? toInstant(value as DateOrText, field) : value
  }
  return result as A
}

/** An options object that may be left out. */
export const toOptionalInput = <A extends object>(
  input: object | undefined,
  ...instants: ReadonlyArray<string>
): A => toInput<A>(input ?? {}, ...instants)
