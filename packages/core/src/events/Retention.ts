/**
 * Removing what is old, so that what is busy stays small.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { IdempotencyStore } from "../shared/IdempotencyStore.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { type PruneStep, type RetentionCursor, RetentionStore } from "./RetentionStore.ts"

/** The youngest that may be removed: what is younger is still being delivered, followed and retried. 1 hour. */
export const MIN_RETENTION_MILLIS = 3_600_000
/** How many events a step looks at: few enough to take a fraction of a second with all that hangs on them. */
const EVENTS_OF_STEP = 500
/** How many counts of hours, or expired answers, a step removes. */
const ROWS_OF_STEP = 1_000

/** What was removed, or would be. */
export interface Pruned {
  readonly events: number
  readonly deliveries: number
  readonly attempts: number
  /** Counts of an endpoint's deliveries in an hour, which statistics are made of. */
  readonly hourlyCounts: number
  /**
   * Answers to requests with an idempotency key that have expired, whatever their age. `undefined` in a dry run, which
   * doesn't count them.
   */
  readonly answers: number | undefined
}

export interface PruneOptions {
  /** Events published before this, to which nothing has happened since, are removed. At least an hour ago. */
  readonly before: DateTime.Utc
  /** Counts what would be removed, and removes nothing. Default false. */
  readonly isDryRun?: boolean
  /** Is told after each step what was removed so far. */
  readonly onProgress?: (soFar: Pruned) => Effect.Effect<void>
}

/**
 * Removes old events with their deliveries and attempts, the hourly counts of that time, and expired answers; of all
 * tenants. Never what isn't delivered yet, customers, usage, or anything that a total is made of.
 *
 * Works in small transactions, so that it can run at any time, also in several processes at once. One that is ended
 * halfway has removed what it has told of; the next goes on. With an event its idempotency key ends, and replays and
 * streams that begin behind it.
 */
export class Retention extends Context.Service<
  Retention,
  {
    readonly prune: (options: PruneOptions) => Effect.Effect<Pruned, InvalidInput | StorageError>
  }
>()("@billwright/core/events/Retention") {
  static readonly layer = Layer.effect(
    Retention,
    Effect.suspend(() => make),
  )
}

const make = Effect.gen(function* () {
  const store = yield* RetentionStore
  const idempotency = yield* IdempotencyStore

  const prune = Effect.fn("Retention.prune")(function* (options: PruneOptions) {
    const { before, isDryRun = false, onProgress = () => Effect.void } = options
    const now = yield* DateTime.now
    if (before.epochMilliseconds > now.epochMilliseconds - MIN_RETENTION_MILLIS) {
      return yield* new InvalidInput({ field: "before", problem: "must be at least an hour ago" })
    }
    let pruned: Pruned = {
      events: 0,
      deliveries: 0,
      attempts: 0,
      hourlyCounts: 0,
      answers: isDryRun ? undefined : 0,
    }
    const note = (change: Partial<Pruned>) => {
      pruned = { ...pruned, ...change }
      return onProgress(pruned)
    }
    const stepOf = (limit: number, after: RetentionCursor | undefined): PruneStep => ({
      before,
      limit,
      after,
      isDryRun,
    })

    yield* walk((after) =>
      Effect.tap(store.pruneEvents(stepOf(EVENTS_OF_STEP, after)), ({ attempts, deliveries, events }) =>
        note({
          events: pruned.events + events,
          deliveries: pruned.deliveries + deliveries,
          attempts: pruned.attempts + attempts,
        }),
      ),
    )
    yield* walk((after) =>
      Effect.tap(store.pruneCounts(stepOf(ROWS_OF_STEP, after)), ({ counts }) =>
        note({ hourlyCounts: pruned.hourlyCounts + counts }),
      ),
    )
    if (isDryRun) return pruned
    for (;;) {
      const swept = yield* idempotency.sweep(now, ROWS_OF_STEP)
      yield* note({ answers: (pruned.answers ?? 0) + swept })
      if (swept < ROWS_OF_STEP) return pruned
    }
  })

  return Retention.of({ prune })
})

/** Steps from cursor to cursor until there is no next one. */
const walk = <E>(
  step: (
    after: RetentionCursor | undefined,
  ) => Effect.Effect<{ readonly next: RetentionCursor | undefined }, E>,
): Effect.Effect<void, E> =>
  Effect.gen(function* () {
    let cursor: RetentionCursor | undefined
    do {
      cursor = (yield* step(cursor)).next
    } while (cursor !== undefined)
  })
