/**
 * Logs an outage that many operations run into: its start, reminders while it lasts, and its end. An outage takes a few
 * lines in the log, however many failures there are.
 */
import { Clock, Effect } from "effect"

/** The pause after the first line of an outage. Each further pause is twice as long. */
const FIRST_PAUSE_MILLIS = 60_000
/** Longest pause between two lines of an outage. */
const MAX_PAUSE_MILLIS = 3_600_000
/**
 * An outage is over at the first success after this time without a failure. A success alone does not end it, because
 * some operations may work while others fail.
 */
const CALM_MILLIS = 10_000

/** The log of one kind of outage. */
export interface OutageLog {
  /**
   * Reports a failure. The sentence and the error are logged at the start of the outage, and then after pauses of 1, 2,
   * 4, … minutes, at most an hour, with the number of failures that were not logged.
   */
  readonly failed: (sentence: string, error: unknown) => Effect.Effect<void>
  /** Reports a success. The end of the outage is logged when nothing has failed for 10 s. */
  readonly worked: Effect.Effect<void>
}

/** `recovery` is the sentence for the end of an outage. */
export const make = (recovery: string): OutageLog => {
  let pause = 0
  let quietUntil = Number.NEGATIVE_INFINITY
  let failedAt = Number.NEGATIVE_INFINITY
  let unlogged = 0
  /** With the number of failures that were not logged, which begins anew. */
  const counted = (sentence: string): string => {
    const count = unlogged
    unlogged = 0
    if (count === 0) return sentence
    return `${sentence} (${count} ${count === 1 ? "failure was" : "failures were"} not logged)`
  }
  return {
    failed: (sentence, error) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        failedAt = now
        if (now < quietUntil) {
          unlogged++
          return Effect.void
        }
        pause = Math.min(pause === 0 ? FIRST_PAUSE_MILLIS : pause * 2, MAX_PAUSE_MILLIS)
        quietUntil = now + pause
        return Effect.logError(counted(sentence), error)
      }),
    worked: Effect.suspend(() =>
      pause === 0
        ? Effect.void
        : Effect.flatMap(Clock.currentTimeMillis, (now) => {
            // Another fiber may have ended the outage meanwhile.
            if (pause === 0 || now - failedAt < CALM_MILLIS) return Effect.void
            pause = 0
            quietUntil = Number.NEGATIVE_INFINITY
            return Effect.logInfo(counted(recovery))
          }),
    ),
  }
}
