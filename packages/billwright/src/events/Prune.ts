/**
 * Removing what is old.
 */
import type { Instant } from "../Call.ts"

/** What to remove. */
export interface Prune {
  /** Events published before this, to which nothing has happened since, are removed. At least an hour ago. */
  readonly before: Instant
  /** Counts what would be removed, and removes nothing. Default false. */
  readonly isDryRun?: boolean | undefined
}

/** What was removed, or would be. */
export interface Pruned {
  readonly events: number
  readonly deliveries: number
  readonly attempts: number
  /** Counts of an endpoint's deliveries in an hour. */
  readonly hourlyCounts: number
  /** Expired answers to requests with an idempotency key. `undefined` in a dry run, which doesn't count them. */
  readonly answers: number | undefined
}
