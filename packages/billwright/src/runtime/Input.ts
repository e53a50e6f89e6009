/**
 * From what callers give to what the services of the domain take.
 */
import { DateTime, Option } from "effect"
import type { Instant } from "../Call.ts"
import { InvalidInputError } from "../errors/BillingError.ts"

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/
const INSTANT_PROBLEM = "must be a Date or an RFC 3339 instant with an offset, such as 2026-11-21T09:30:00Z"

/** `Date` takes `2026-02-30` for March 2nd, so the date is compared with what it came to. */
const isDateThatExists = (text: string): boolean => {
  const date = new Date(`${text.slice(0, 10)}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text.slice(0, 10))
}

/** Throws an `InvalidInputError` when it is none. */
const toInstant = (value: Instant, field: string): DateTime.Utc => {
  const isText = typeof value === "string"
  if (isText && !(RFC_3339.test(value) && isDateThatExists(value) && Number(value.slice(11, 13)) < 24)) {
    throw new InvalidInputError(field, INSTANT_PROBLEM)
  }
  const instant =
    isText || value instanceof Date ? DateTime.make(isText ? value.toUpperCase() : value) : Option.none()
  if (Option.isNone(instant)) throw new InvalidInputError(field, INSTANT_PROBLEM)
  return DateTime.toUtc(instant.value)
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
    result[field] = instants.includes(field) ? toInstant(value as Instant, field) : value
  }
  return result as A
}

/** An options object that may be left out. */
export const toOptionalInput = <A extends object>(
  input: object | undefined,
  ...instants: ReadonlyArray<string>
): A => toInput<A>(input ?? {}, ...instants)
