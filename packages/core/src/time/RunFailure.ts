/**
 * What is noted of a subject that failed: why, and when it is tried again.
 */
import { Cause, DateTime } from "effect"
import type { DueFailure } from "../shared/Due.ts"

/** How long after its first failure a subject is tried again. Each further failure doubles that. */
const FIRST_RETRY_MILLIS = 60_000
const MAX_RETRY_MILLIS = 21_600_000
/** How often a subject is tried before it is set aside. */
export const MAX_RUN_ATTEMPTS = 10
/** Longest problem that is stored, in characters. */
const MAX_PROBLEM_LENGTH = 500

/** What is noted of a failure: the next attempt, or that there is none. */
export const failureOf = (attempts: number, cause: Cause.Cause<unknown>, at: DateTime.Utc): DueFailure => {
  const error = Cause.squash(cause)
  const problem = error instanceof Error ? error.message : String(error)
  const delay = Math.min(FIRST_RETRY_MILLIS * 2 ** (attempts - 1), MAX_RETRY_MILLIS)
  return {
    attempts,
    problem: problem.slice(0, MAX_PROBLEM_LENGTH),
    at,
    retryAt: attempts >= MAX_RUN_ATTEMPTS ? null : DateTime.add(at, { milliseconds: delay }),
  }
}
