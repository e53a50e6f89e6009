/**
 * Rounds of work in the background. A loop of them must not end because one fails: nobody would begin it again.
 */
import { Cause, Effect } from "effect"
import type { OutageLog } from "./OutageLog.ts"
import { StorageError } from "./StorageError.ts"

export interface LastingOptions {
  readonly outage: OutageLog
  /** What does not work while rounds fail, for the log: `webhook deliveries can't be claimed`. */
  readonly problem: string
  /** The pause after a round that failed. */
  readonly pauseMillis: number
}

/**
 * A round that does not end its loop when the storage fails, when a bug ends it, or when something in it interrupts itself.
 * Then the outage logs it, and a pause follows. Other failures end the loop. An interruption of the loop ends it, too.
 */
export const lasting = <A, E, R>(
  round: Effect.Effect<A, E | StorageError, R>,
  { outage, pauseMillis, problem }: LastingOptions,
): Effect.Effect<A | void, E, R> =>
  Effect.catchCause(round, (cause) => {
    const error = Cause.squash(cause)
    const isStorage = error instanceof StorageError
    if (Cause.hasFails(cause) && !isStorage) return Effect.failCause(cause as Cause.Cause<E>)
    const why = isStorage ? "the storage fails" : "of a bug"
    return Effect.andThen(
      outage.failed(`${problem} because ${why}; it is tried again`, error),
      Effect.sleep(pauseMillis),
    )
  })
