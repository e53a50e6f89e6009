/**
 * A clock for each process. It may be wrong, but runs at the speed of the world's clock.
 */
import { REBUILD_POLL_MILLIS } from "@billwright/core"
import { type Clock, Duration, Effect } from "effect"

const NANOS_PER_MILLI = 1_000_000n

/** The world's time: the time of `TestClock`, plus the skipped time in which nothing is due. */
export interface WorldTime {
  skippedMillis: number
}

/** The offset of a process's clock, in milliseconds. */
export interface Skew {
  millis: number
}

/** The clock of one process. Sleeping takes the right time even if the clock is wrong. */
export const processClock = (base: Clock.Clock, world: WorldTime, skew: Skew): Clock.Clock => {
  const offset = () => world.skippedMillis + skew.millis
  const millis = () => base.currentTimeMillisUnsafe() + offset()
  const nanos = () => base.currentTimeNanosUnsafe() + BigInt(offset()) * NANOS_PER_MILLI
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => base.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: base.monotonicTimeNanos,
    sleep: (duration) => base.sleep(duration),
  }
}

/**
 * A clock by which work in the background looks for more work less often, when nothing tells it to. A world in which that
 * hardly matters takes less time so.
 */
export const patientClock = (clock: Clock.Clock, pollMillis: number): Clock.Clock => ({
  ...clock,
  sleep: (duration) =>
    clock.sleep(Duration.toMillis(duration) === REBUILD_POLL_MILLIS ? Duration.millis(pollMillis) : duration),
})
