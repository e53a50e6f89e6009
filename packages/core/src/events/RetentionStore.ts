/**
 * The storage port of `Retention`, which removes old rows.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"

/** Where the next step begins. Opaque, and valid only in the storage that gave it. */
export type RetentionCursor = string

/** One step of removing old rows. */
export interface PruneStep {
  /** Rows from before this instant are old. */
  readonly before: DateTime.Utc
  /** Most events, or hourly counts, to look at: 1 to `MAX_PRUNE`. */
  readonly limit: number
  /** Where the last step ended; `undefined` to begin at the start. */
  readonly after: RetentionCursor | undefined
  /** Counts what would be removed, and removes nothing. */
  readonly isDryRun: boolean
}

/** Most events, or hourly counts, that one step looks at. */
export const MAX_PRUNE = 1_000

export interface PrunedEvents {
  readonly events: number
  readonly deliveries: number
  readonly attempts: number
  /** Where the next step begins; `undefined`: this was the last one. */
  readonly next: RetentionCursor | undefined
}

export interface PrunedCounts {
  readonly counts: number
  /** Where the next step begins; `undefined`: this was the last one. */
  readonly next: RetentionCursor | undefined
}

/** Acts for all tenants. Joins the current transaction, if there is one. */
export class RetentionStore extends Context.Service<
  RetentionStore,
  {
    /**
     * Removes old events with their deliveries and attempts. An event is old when it was published before the instant,
     * none of its deliveries is pending, and none ended at the instant or later. An event that is being replayed is
     * skipped. A replay that starts after the removal gets "not found".
     *
     * Claims and writes of results never wait for it. Of publications, only one with an idempotency key that is being
     * removed waits, and not longer than a step takes.
     */
    readonly pruneEvents: (step: PruneStep) => Effect.Effect<PrunedEvents, StorageError>

    /** Removes what was counted of deliveries (`DeliveryStore.counts`) in hours that began before the instant. */
    readonly pruneCounts: (step: PruneStep) => Effect.Effect<PrunedCounts, StorageError>
  }
>()("@billwright/core/events/RetentionStore") {}
