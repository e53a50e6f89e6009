/**
 * Waiting for a database, which lives in real time.
 *
 * A database keeps its own clock: locks, time-outs and restarts last as long as they last, also in a test that
 * holds Effect's `Clock` still. So these two wait by the timers of the platform.
 */
import { Effect, type Exit, Fiber } from "effect"

/** Waits. */
export const waited = (millis: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })

/**
 * The result of `effect`, or `late` when it takes longer. A late effect is interrupted but not waited for:
 * giving a connection up can itself take seconds when nobody answers on the other side. Interrupting the whole
 * interrupts the effect and does wait, so that its locks are free afterwards.
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
