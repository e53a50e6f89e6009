/**
 * Progress of commands that may take long.
 */
import { Clock, Console, Effect } from "effect"

/** How often a long run prints its progress, in milliseconds. */
const PROGRESS_MILLIS = 1_000

/** Prints the progress on standard error, at most once a second and not in the first one. */
export const make = <A>(sentence: (soFar: A) => string) => {
  let printedAt: number | undefined
  return (soFar: A): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      printedAt ??= now
      if (now < printedAt + PROGRESS_MILLIS) return Effect.void
      printedAt = now
      return Console.error(`so far: ${sentence(soFar)}`)
    })
}
