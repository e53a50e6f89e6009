/**
 * How often, and after what pause, an attempt is repeated.
 */
import { Effect, Random } from "effect"
import { waited } from "./Deadline.ts"

const DEFAULT_MAX_ATTEMPTS = 3
const FIRST_PAUSE_MILLIS = 20

/** Limits attempts. Each attempt is the whole statement or the whole transaction. */
export class RetryPolicy {
  readonly maxAttempts: number

  constructor(maxAttempts: number = DEFAULT_MAX_ATTEMPTS) {
    this.maxAttempts = maxAttempts
  }

  /** Whether another attempt may follow the one with this number, counted from 1. */
  allows(attempt: number): boolean {
    return attempt < this.maxAttempts
  }
}

/**
 * Waits before the next attempt: 20 ms, 80 ms, 320 ms, … Each pause is a random time between half of that and all of
 * it, so that two transactions that blocked each other don't do so again.
 */
export const pauseBefore = (attempt: number): Effect.Effect<void> =>
  Effect.flatMap(Random.next, (random) =>
    waited(FIRST_PAUSE_MILLIS * 4 ** (attempt - 1) * (0.5 + random / 2)),
  )
