/**
 * A clock that runs, but not at the present time: a day of deliveries is made within seconds.
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
    /** So many milliseconds before the present. It must not go back. */
    setBehind: (behindMillis: number): void => {
      shiftMillis = -behindMillis
    },
  }
}
