/**
 * Removes old events and what belongs to them, so that busy tables stay small.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { IdempotencyStore } from "../shared/IdempotencyStore.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { type PruneStep, type RetentionCursor, RetentionStore } from "./RetentionStore.ts"

/** Minimum age of events that are removed: 1 hour. Younger events are still being delivered, streamed and retried. */
export const MIN_RETENTION_MILLIS = 3_600_000
/** Most events of a step. With their deliveries and attempts, they take a fraction of a second to remove. */
const EVENTS_OF_STEP = 500
/** Most hourly counts, or expired answers, that a step removes. */
const ROWS_OF_STEP = 1_000

/** How long a run rests after each step, in times of the step. So it works a quarter of the time, and publishing goes on. */
const REST_OF_STEP = 3
/** Longest rest after a step, in milliseconds. */
const MAX_REST_MILLIS = 1_000

/** How many rows were removed. In a dry run: how many would be removed. */
export interface Pruned {
  readonly events: number
  readonly deliveries: number
  readonly attempts: number
  /** The statistics' rows: each counts an endpoint's deliveries in one hour. */
  readonly hourlyCounts: number
  /**
   * Expired answers to requests with an idempotency key, whatever their age. `undefined` in a dry run, which doesn't
   * count them.
   */
  readonly answers: number | undefined
}

export interface PruneOptions {
  /** Removes events published before this instant to which nothing has happened since. Must be at least an hour ago. */
  readonly before: DateTime.Utc
  /** Counts what would be removed, and removes nothing. Default false. */
  readonly isDryRun?: boolean
  /** Called after each step with what was removed so far. */
  readonly onProgress?: (soFar: Pruned) => Effect.Effect<void>
}

/**
 * Removes old events with their deliveries and attempts, the hourly counts of that time, and expired answers, of all
 * tenants. It keeps events with a pending delivery. It never removes customers, usage, or rows that totals are
 * computed from.
 *
 * It works in small transactions, and rests three times as long after each as that took. So it can run at any time, also in
 * several processes at once, beside publishing. Don't call it in a transaction of your own, which would keep all locks also
 * while it rests. A dry run does not rest. When it stops halfway, the rows reported to `onProgress` are gone, and the next run
 * removes the rest. Once an event is removed, its idempotency key can be used again, it can't be replayed, and streams can't
 * start after it.
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
    const walk = walkBy(isDryRun ? (step) => step : resting)

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
      const swept = yield* resting(idempotency.sweep(now, ROWS_OF_STEP))
      yield* note({ answers: (pruned.answers ?? 0) + swept })
      if (swept < ROWS_OF_STEP) return pruned
    }
  })

  return Retention.of({ prune })
})

/** Does a step, and rests after it. */
const resting = <A, E>(step: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    const [took, result] = yield* Effect.timed(step)
    const rest = Math.min(REST_OF_STEP * Duration.toMillis(took), MAX_REST_MILLIS)
    if (rest > 0) yield* Effect.sleep(rest)
    return result
  })

interface Walked {
  readonly next: RetentionCursor | undefined
}

/** Repeats a step until it returns no next cursor. */
const walkBy =
  (paced: <E>(step: Effect.Effect<Walked, E>) => Effect.Effect<Walked, E>) =>
  <E>(step: (after: RetentionCursor | undefined) => Effect.Effect<Walked, E>): Effect.Effect<void, E> =>
    Effect.gen(function* () {
      let cursor: RetentionCursor | undefined
      do {
        cursor = (yield* paced(step(cursor))).next
      } while (cursor !== undefined)
    })
