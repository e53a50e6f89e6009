/**
 * The time of this machine, where `Clock` may be a customer's test clock.
 *
 * Code asks `DateTime.now` when something happens for the customer: a period begins, an invoice is issued. It asks the wall
 * clock for what must go forward for everybody: ids, events and their deliveries, and numbers of documents.
 */
import { Clock, Context, DateTime, Effect } from "effect"

class MachineClock extends Context.Reference<Clock.Clock | undefined>(
  "@billwright/core/shared/WallClock/MachineClock",
  { defaultValue: () => undefined },
) {}

/** The clock of this machine. */
const machine: Effect.Effect<Clock.Clock> = Effect.withFiber((fiber) =>
  Effect.succeed(fiber.getRef(MachineClock) ?? fiber.getRef(Clock.Clock)),
)

/** The time of this machine, in epoch milliseconds. */
export const millis: Effect.Effect<number> = Effect.map(machine, (clock) => clock.currentTimeMillisUnsafe())

/** The time of this machine. */
export const now: Effect.Effect<DateTime.Utc> = Effect.map(millis, (at) => DateTime.makeUnsafe(at))

/** Whether `Clock` is the clock of this machine, and no test clock. */
export const isReal: Effect.Effect<boolean> = Effect.map(MachineClock, (found) => found === undefined)

/** Runs an effect while `Clock` stands at an instant. Waiting still takes real time. */
export const standingAt = <A, E, R>(
  instant: DateTime.Utc,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.flatMap(machine, (real) => {
    const { epochMilliseconds } = instant
    const nanos = BigInt(epochMilliseconds) * 1_000_000n
    const standing: Clock.Clock = {
      currentTimeMillisUnsafe: () => epochMilliseconds,
      currentTimeMillis: Effect.succeed(epochMilliseconds),
      currentTimeNanosUnsafe: () => nanos,
      currentTimeNanos: Effect.succeed(nanos),
      monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: real.monotonicTimeNanos,
      sleep: (duration) => real.sleep(duration),
    }
    return effect.pipe(
      Effect.provideService(Clock.Clock, standing),
      Effect.provideService(MachineClock, real),
    )
  })
