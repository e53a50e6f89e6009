/**
 * Clocks that differ: every process has its own, which may be wrong, and all of them go on when the world does.
 */
import { type Clock, Effect } from "effect"

const NANOS_PER_MILLI = 1_000_000n

/** The time of the world: what passes by itself (`TestClock`), and what is skipped because nothing happens in it. */
export interface WorldTime {
  skippedMillis: number
}

/** How far a process' clock is off, in milliseconds. */
export interface Skew {
  millis: number
}

/** The clock of one process. Sleeping takes what it takes, however wrong the clock is. */
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
