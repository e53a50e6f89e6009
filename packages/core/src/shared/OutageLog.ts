/**
 * What the log says of an outage that many run into: that it began, that it goes on, and that it is over. Its length is
 * in a few lines, however many failures there are.
 */
import { Clock, Effect } from "effect"

/** How long nothing is logged after the first line of an outage; twice as long after each further one … */
const FIRST_PAUSE_MILLIS = 60_000
/** … up to this. */
const MAX_PAUSE_MILLIS = 3_600_000
/** An outage is over when something works and nothing has failed for so long: some things may work while others fail. */
const CALM_MILLIS = 10_000

/** The log of one kind of outage. */
export interface OutageLog {
  /**
   * Something failed. The sentence and the error are logged at the start of the outage and then after 1, 2, 4, … minutes,
   * at most an hour, with the number of failures that were not logged.
   */
  readonly failed: (sentence: string, error: unknown) => Effect.Effect<void>
  /** Something worked. The end of the outage is logged when nothing has failed for 10 s. */
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
            // Somebody else may have noticed meanwhile.
            if (pause === 0 || now - failedAt < CALM_MILLIS) return Effect.void
            pause = 0
            quietUntil = Number.NEGATIVE_INFINITY
            return Effect.logInfo(counted(recovery))
          }),
    ),
  }
}
