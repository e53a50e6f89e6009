/**
 * A token bucket: so many calls a second, and as many at once after a second without any.
 */
import { Clock, Effect } from "effect"

/** How long a call may wait for its turn. */
const MAX_WAIT_MILLIS = 10_000

/** Lets calls pass at a rate. A call that would wait too long is refused at once, with `tooBusy`. */
export const makeRateLimit = <E>(perSecond: number, tooBusy: E): Effect.Effect<void, E> => {
  const interval = 1_000 / perSecond
  /** When all calls that passed are used up. */
  let busyUntil = 0
  return Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const next = Math.max(busyUntil, now) + interval
    const wait = next - 1_000 - now
    if (wait > MAX_WAIT_MILLIS) return Effect.fail(tooBusy)
    busyUntil = next
    return wait > 0 ? Effect.sleep(wait) : Effect.void
  })
}
