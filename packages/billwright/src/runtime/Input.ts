/**
 * Converts the input of callers to the input of the domain's services.
 */
import { Instant } from "@billwright/core"
import { DateTime, Option } from "effect"
import type { Instant as DateOrText } from "../Call.ts"
import { InvalidInputError } from "../errors/BillingError.ts"

const INSTANT_PROBLEM = "must be a Date or an RFC 3339 instant with an offset, such as 2026-11-21T09:30:00Z"

/** Throws an `InvalidInputError` when the value is not an instant. */
export const toInstant = (value: DateOrText, field: string, problem = INSTANT_PROBLEM): DateTime.Utc => {
  const instant =
    typeof value === "string"
      ? Instant.parse(value)
      : value instanceof Date
        ? Option.getOrUndefined(DateTime.make(value))
        : undefined
  if (instant === undefined) throw new InvalidInputError(field, problem)
  return DateTime.toUtc(instant)
}

/**
 * The input for a service. Fields that are `undefined` are left out, and the fields named in `instants` are parsed.
 * The service decodes the rest and checks its type.
 */
export const toInput = <A>(input: object | undefined, ...instants: ReadonlyArray<string>): A => {
  // The service refuses a value that is not an object.
  if (typeof input !== "object" || input === null) return input as A
  const result: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(input)) {
    if (value === undefined) continue
    result[field] = instants.includes(field) ? toInstant(value as DateOrText, field) : value
  }
  return result as A
}

/** The same for input that may be left out. */
export const toOptionalInput = <A extends object>(
  input: object | undefined,
  ...instants: ReadonlyArray<string>
): A => toInput<A>(input ?? {}, ...instants)

/** An amount for a service, which refuses what is not an integer. */
export const toAmount = (amount: unknown): unknown =>
  typeof amount === "number" && Number.isSafeInteger(amount) ? BigInt(amount) : amount
