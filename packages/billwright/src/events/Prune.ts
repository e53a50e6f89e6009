/**
 * The removal of old data.
 */
import type { Instant } from "../Call.ts"

/** Selects the data to remove. */
export interface Prune {
  /**
   * Removes events published before this instant whose deliveries have not changed since. Must be at least an hour
   * ago.
   */
  readonly before: Instant
  /** Only counts what would be removed. Default `false`. */
  readonly isDryRun?: boolean | undefined
}

/** The numbers of removed items. In a dry run: of items that would be removed. */
export interface Pruned {
  readonly events: number
  readonly deliveries: number
  readonly attempts: number
  /** Rows with the hourly delivery counts of an endpoint. */
  readonly hourlyCounts: number
  /** Expired answers to requests with an `Idempotency-Key`. `undefined` in a dry run, which doesn't count them. */
  readonly answers: number | undefined
}
