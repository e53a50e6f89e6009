/**
 * What the log says of an outage that a loop runs into at every turn: that it began, that it goes on, each time after
 * twice as long, and that it is over.
 */
import { Clock, Effect } from "effect"

const FIRST_PAUSE_MILLIS = 60_000
const MAX_PAUSE_MILLIS = 3_600_000

export interface OutageLog {
  /** Something failed. It is logged when nothing was for long enough. */
  readonly failed: (error: unknown) => Effect.Effect<void>
  /** Something worked. It is logged when it failed before. */
  readonly worked: Effect.Effect<void>
}

/** `failure` and `recovery` are the sentences for the log. */
export const make = (failure: string, recovery: string): OutageLog => {
  let pause = 0
  let quietUntil = Number.NEGATIVE_INFINITY
  return {
    failed: (error) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (now < quietUntil) return Effect.void
        pause = Math.min(pause === 0 ? FIRST_PAUSE_MILLIS : pause * 2, MAX_PAUSE_MILLIS)
        quietUntil = now + pause
        return Effect.logWarning(failure, error)
      }),
    worked: Effect.suspend(() => {
      if (pause === 0) return Effect.void
      pause = 0
      quietUntil = Number.NEGATIVE_INFINITY
      return Effect.logInfo(recovery)
    }),
  }
}
