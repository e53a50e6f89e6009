/**
 * Checks ids that callers pass. A malformed text is passed on, and the call then answers "not found". A value that
 * is not text is an `InvalidInputError`.
 */
import { Input } from "@billwright/core"
import { Predicate } from "effect"
import { InvalidInputError } from "../errors/BillingError.ts"

/**
 * Returns the id unchanged. Throws an `InvalidInputError` when it is not text. `prefix` is the prefix of these ids,
 * for the message.
 */
export const of =
  (prefix: string) =>
  (id: unknown): string => {
    if (typeof id === "string") return id
    const problem = Predicate.isPromiseLike(id)
      ? Input.PROMISE_PROBLEM
      : `must be a string such as ${prefix}_…`
    throw new InvalidInputError("id", problem)
  }

/** The same for keys of plans. */
export const planKey = (key: unknown): string => {
  if (typeof key === "string") return key
  throw new InvalidInputError("key", "must be the key of a plan, such as pro")
}

export const usageRecordId = of("usg")
export const eventId = of("evt")
export const endpointId = of("whe")
export const deliveryId = of("dlv")
export const apiKeyId = of("key")
