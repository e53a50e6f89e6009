/**
 * Keeps a migration from stopping the live system while it waits for a lock.
 *
 * `alter table` waits until nobody reads the table, and a backup may read it for hours. Everybody who comes later waits
 * behind it, also those who only read. So it waits for a short time, undoes everything, lets the others go on, and tries
 * again.
 */
import { StorageError } from "@billwright/core"
import { Context, Effect } from "effect"
import { waited } from "../Deadline.ts"
import { sqlState } from "../StorageFailure.ts"

/** How long a migration waits for a lock, in milliseconds. Statements of others that wait behind it have 4 s by default. */
export const LOCK_MILLIS = 2_000
/** How long the others have the tables for themselves before the next try, in milliseconds. */
const PAUSE_MILLIS = 5_000
/** After this many milliseconds no further try is made. Whoever waits for the start has to hear why. */
const LIMIT_MILLIS = 600_000

export interface Patience {
  readonly lockMillis: number
  readonly pauseMillis: number
  readonly limitMillis: number
}

/** How long it waits. A service, so that a test can have less of it. */
export const Patience: Context.Reference<Patience> = Context.Reference<Patience>(
  "@billwright/postgres/migrations/Patience",
  {
    defaultValue: () => ({
      lockMillis: LOCK_MILLIS,
      pauseMillis: PAUSE_MILLIS,
      limitMillis: LIMIT_MILLIS,
    }),
  },
)

/** In a deadlock Postgres ends one of those who wait. That may be the migration. */
const LOCKED: ReadonlySet<string | undefined> = new Set(["55P03", "40P01"])

const isLocked = (error: unknown): boolean => LOCKED.has(sqlState(error))

const tooLong = (operation: string, limitMillis: number): StorageError => {
  const cause = new Error(
    `for ${limitMillis / 60_000} minutes the migration could not lock its tables, because other transactions use them: nothing has changed. End those transactions (pg_stat_activity shows them), or migrate when they have ended`,
  )
  return new StorageError({ operation, retryable: true, cause })
}

/**
 * Runs a transaction. Repeats it as a whole while it fails because others hold locks. Fails with a `retryable`
 * `StorageError` when they hold them for too long.
 */
export const untilUnlocked = <A, E, R>(
  operation: string,
  transaction: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R> =>
  Effect.flatMap(Patience, ({ limitMillis, pauseMillis }) => {
    const started = performance.now()
    const attempt = (count: number): Effect.Effect<A, E | StorageError, R> =>
      Effect.catchIf(transaction, isLocked, (): Effect.Effect<A, E | StorageError, R> =>
        performance.now() - started < limitMillis
          ? Effect.andThen(pause(count), attempt(count + 1))
          : Effect.fail(tooLong(operation, limitMillis)),
      )
    const pause = (count: number) =>
      Effect.andThen(count === 1 ? Effect.logWarning(WAITS) : Effect.void, waited(pauseMillis))
    return attempt(1)
  })

const WAITS =
  "the migration waits for locks of other transactions, such as a backup: it tries again every few seconds, and others can use the tables meanwhile"
