/**
 * When a failed attempt is repeated: exponential back-off with jitter, computed from the number of attempts that have
 * ended.
 */
import type { Mode } from "../shared/Tenant.ts"
import * as HttpDate from "./HttpDate.ts"

export interface RetryPolicy {
  /** The delay after the first attempt, in milliseconds. */
  readonly baseMillis: number
  /** Each delay is the previous one times this factor. */
  readonly factor: number
  /** Longest delay before jitter, in milliseconds. */
  readonly capMillis: number
  /** Most attempts of a delivery, with the first one. */
  readonly maxAttempts: number
  /** How much a delay may differ from the computed one, as a fraction of it: 0 to 1; 0.2 means ±20 %. */
  readonly jitter: number
}

/** Live: 5 s, 20 s, 80 s, … up to 24 h; 10 attempts in 54 hours and 20 minutes, before jitter. */
export const live: RetryPolicy = {
  baseMillis: 5_000,
  factor: 4,
  capMillis: 86_400_000,
  maxAttempts: 10,
  jitter: 0.2,
}

/** Test mode: 1 s, 2 s, 4 s, 8 s; 5 attempts in 15 seconds, before jitter. */
export const test: RetryPolicy = {
  baseMillis: 1_000,
  factor: 2,
  capMillis: 10_000,
  maxAttempts: 5,
  jitter: 0.2,
}

export type RetryPolicies = Readonly<Record<Mode, RetryPolicy>>

export const defaults: RetryPolicies = { live, test }

/** Longest wait that a receiver can ask for with `Retry-After`: 24 hours. */
export const MAX_RETRY_AFTER_MILLIS = 86_400_000

/** Whether another attempt follows after `attemptCount` of them have failed. */
export const allowsAfter = (policy: RetryPolicy, attemptCount: number): boolean =>
  attemptCount < policy.maxAttempts

/**
 * The delay before attempt n + 1, in whole milliseconds: `min(cap, base × factor^(n − 1))`, varied by the jitter.
 * `attemptCount` (n) is 1 or more. `random`, from 0 to 1, chooses the delay between its lowest and highest value.
 */
export const delayMillis = (policy: RetryPolicy, attemptCount: number, random: number): number => {
  const delay = Math.min(policy.capMillis, policy.baseMillis * policy.factor ** (attemptCount - 1))
  return Math.round(delay * (1 - policy.jitter + 2 * policy.jitter * random))
}

const SECONDS = /^\d+$/

/**
 * The wait that a `Retry-After` header asks for (RFC 9110 §10.2.3), in milliseconds, at most 24 hours. The header gives
 * seconds, or a date in any of the three forms of HTTP. 0 when it is missing, in the past or not valid.
 */
export const retryAfterMillis = (header: string | undefined, nowMillis: number): number => {
  const text = header?.trim() ?? ""
  const wait = SECONDS.test(text)
    ? Number(text) * 1_000
    : (HttpDate.parse(text, nowMillis) ?? nowMillis) - nowMillis
  return Math.min(Math.max(wait, 0), MAX_RETRY_AFTER_MILLIS)
}
