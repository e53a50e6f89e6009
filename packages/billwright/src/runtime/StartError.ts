/**
 * Makes the error for a failed start.
 */
import { type BillingError, InvalidInputError } from "../errors/BillingError.ts"
import { ConfigurationError, StorageUnavailableError } from "../errors/RuntimeError.ts"
import { toBillingError } from "./Failure.ts"
import type { StoreParts } from "./StoreParts.ts"

/** The most wrappers around a driver's error that are followed. */
const MAX_DEPTH = 8

/** The driver's own error, inside all wrappers. The wrappers add no information and make the output long. */
const bottomOf = (error: unknown, depth = 0): Error | undefined => {
  if (!(error instanceof Error)) return undefined
  const beneath = error.cause ?? (error as { readonly reason?: unknown }).reason
  return (depth < MAX_DEPTH ? bottomOf(beneath, depth + 1) : undefined) ?? error
}

const ofStorage = (
  { isOutcomeUnknown, isRetryable, operation }: StorageUnavailableError,
  problem: unknown,
  { explain, unavailable = "the database can't be reached" }: StoreParts,
): BillingError => {
  const cause = bottomOf(problem)
  const reason = cause === undefined || cause === problem ? "" : ` (${cause.message})`
  const explanation = explain?.(problem)
  if (explanation !== undefined) {
    return new ConfigurationError(
      `billing can't start: ${explanation.problem}${reason}: ${explanation.advice}`,
      { cause },
    )
  }
  return new StorageUnavailableError(`billing can't start: ${unavailable}${reason}`, {
    cause,
    operation,
    isRetryable,
    isOutcomeUnknown,
  })
}

/** Input errors at the start come from options, so they become a `ConfigurationError`. */
export const toStartError = (problem: unknown, parts: StoreParts): BillingError => {
  const error = toBillingError(problem)
  if (error instanceof ConfigurationError) return error
  if (error instanceof StorageUnavailableError) return ofStorage(error, problem, parts)
  const isOptions = error instanceof InvalidInputError || error.code === "internal_error"
  const sentence = problem instanceof Error && problem.message !== "" ? problem.message : error.message
  return isOptions ? new ConfigurationError(sentence, { cause: problem }) : error
}
