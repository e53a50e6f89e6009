/**
 * Waiting for a database, in real time.
 *
 * Locks, time-outs and restarts of a database take real time, even in a test that stops Effect's `Clock`. So these
 * two functions use the timers of the platform.
 */
import { Effect, type Exit, Fiber } from "effect"

/** Waits for a number of milliseconds. */
export const waited = (millis: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })

/**
 * The result of `effect`, or the failure `late` when it takes longer. A late effect is interrupted, but not waited
 * for: closing a connection can itself take seconds when the server doesn't answer. When the caller interrupts the
 * whole, it does wait until the effect has ended, so that the effect's locks are free afterwards.
 */
export const answeredWithin = <A, E, R, E2>(
  effect: Effect.Effect<A, E, R>,
  millis: number,
  late: () => E2,
): Effect.Effect<A, E | E2, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(restore(effect), { startImmediately: true }), (fiber) => {
      const done = fiber.pollUnsafe()
      if (done !== undefined) return done as Exit.Exit<A, E | E2>
      const answer = Effect.callback<A, E | E2>((resume) => {
        const timer = setTimeout(() => {
          forget()
          const error = late()
          fiber.interruptUnsafe()
          resume(Effect.fail(error))
        }, millis)
        const forget = fiber.addObserver((exit) => {
          clearTimeout(timer)
          resume(exit)
        })
        return Effect.sync(() => {
          clearTimeout(timer)
          forget()
        })
      })
      return Effect.onInterrupt(restore(answer), () => Fiber.interrupt(fiber))
    }),
  )
