/**
 * What is noted of a subject that failed: why, and when it is tried again.
 */
import { Cause, DateTime } from "effect"
import type { DueFailure } from "../shared/Due.ts"
import * as Text from "../shared/Text.ts"
import type { CustomerDue, Subject } from "./DueStore.ts"

/** How long after its first failure a subject is tried again. Each further failure doubles that. */
const FIRST_RETRY_MILLIS = 60_000
const MAX_RETRY_MILLIS = 21_600_000
/** How often a subscription or an invoice is tried before it is set aside. */
export const MAX_RUN_ATTEMPTS = 10
/** Longest problem that is stored, in code points. */
const MAX_PROBLEM_LENGTH = 500

/** The message of what was thrown, which may be anything. */
const messageOf = (error: unknown): string => {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return "an error without a message"
  }
}

/**
 * How often a subject is tried. Subscriptions and invoices are set aside: all else of their customer waits for them, and they
 * show their failures. Nothing waits for the others, and nobody would see that they are set aside: they are tried for ever.
 */
export const mostAttemptsOf = ({ kind }: Subject): number =>
  kind === "subscription" || kind === "invoice" ? MAX_RUN_ATTEMPTS : Infinity

/** When what has failed so often in a row is tried again. */
export const retryAfter = (attempts: number, at: DateTime.Utc): DateTime.Utc =>
  DateTime.add(at, {
    milliseconds: Math.min(FIRST_RETRY_MILLIS * 2 ** (attempts - 1), MAX_RETRY_MILLIS),
  })

/** What is noted of a failure: the next attempt, or that there is none after the last of `most`. */
export const failureOf = (
  attempts: number,
  most: number,
  cause: Cause.Cause<unknown>,
  at: DateTime.Utc,
): DueFailure => {
  const error = Cause.squash(cause)
  return {
    attempts,
    problem: Text.cleaned(messageOf(error), MAX_PROBLEM_LENGTH),
    at,
    retryAt: attempts >= most ? null : retryAfter(attempts, at),
  }
}

/** Whether something has failed, and is not tried again by an instant, in epoch milliseconds. */
export const isWaitedFor = ({ retryAt }: CustomerDue, until: number): boolean =>
  retryAt !== null && retryAt > until

/**
 * What is noted of a subject that waits for another one of its customer, which has failed: it is tried again when that one
 * is. It does not count as a failure, so that it is not set aside.
 */
export const waitingFor = (
  attempts: number,
  { retryAt, subject }: CustomerDue,
  at: DateTime.Utc,
): DueFailure => {
  const soon = DateTime.add(at, { milliseconds: FIRST_RETRY_MILLIS })
  return {
    attempts: Math.max(attempts, 1),
    problem: `waits for the ${subject.kind} ${subject.id}, which is due before it and has failed`,
    at,
    retryAt: retryAt !== null && retryAt > at.epochMilliseconds ? DateTime.makeUnsafe(retryAt) : soon,
  }
}
