/**
 * How what is old is removed: the storage port of `Retention`.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"

/** Where a walk along what is old goes on. Opaque; one storage's says nothing to another. */
export type RetentionCursor = string

/** A step of a walk along what is old. */
export interface PruneStep {
  /** What was before this instant is old. */
  readonly before: DateTime.Utc
  /** How many events, or counts of an hour, are looked at, at most: 1 to `MAX_PRUNE`. */
  readonly limit: number
  /** Where the last step ended; `undefined`: from the start. */
  readonly after: RetentionCursor | undefined
  /** Counts what would be removed, and removes nothing. */
  readonly isDryRun: boolean
}

/** Most that one step looks at. */
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
     * Removes old events with their deliveries and attempts: those that were published before the instant and to
     * which nothing has happened since, so that no delivery of them is pending, or ended at it or later. One that is
     * being replayed is passed by; a replay that comes later finds it gone. Nobody who publishes, claims or writes
     * results waits for it longer than a step takes, and of these only who publishes with an idempotency key that
     * is being removed.
     */
    readonly pruneEvents: (step: PruneStep) => Effect.Effect<PrunedEvents, StorageError>

    /** Removes what was counted of deliveries (`DeliveryStore.counts`) in hours that began before the instant. */
    readonly pruneCounts: (step: PruneStep) => Effect.Effect<PrunedCounts, StorageError>
  }
>()("@billwright/core/events/RetentionStore") {}
