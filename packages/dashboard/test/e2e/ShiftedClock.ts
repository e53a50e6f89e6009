/**
 * A running clock that is late, so that the deliveries of a day can be made within seconds.
 */
import { Clock, Effect, Layer } from "effect"

const NANOS_PER_MILLI = 1_000_000n

const real = Effect.runSync(Clock.clockWith(Effect.succeed))

export const make = () => {
  let shiftMillis = 0
  const millis = (): number => real.currentTimeMillisUnsafe() + shiftMillis
  const nanos = (): bigint => real.currentTimeNanosUnsafe() + BigInt(shiftMillis) * NANOS_PER_MILLI
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: real.monotonicTimeNanos,
    sleep: (duration) => real.sleep(duration),
  }
  return {
    layer: Layer.succeed(Clock.Clock, clock),
    /** Sets the clock to this many milliseconds before the present. It must not move back. */
    setBehind: (behindMillis: number): void => {
      shiftMillis = -behindMillis
    },
  }
}
