/**
 * Calls of what is not part of the library: a payment provider, a tax service.
 */
import { Cause, Effect, Exit, Fiber, Option, Result } from "effect"

/** Why a call gave neither an answer nor an error of its own. */
class NoAnswer extends Error {
  override readonly name = "NoAnswer"
}

/**
 * The answer of a call, or its own error. When it takes longer than `millis`, throws, dies or is interrupted by itself,
 * that is the failure that `otherwise` makes.
 *
 * A call that is late is interrupted, and nobody waits until it has ended: it may never end. The same happens when the
 * caller is interrupted.
 */
export const answerWithin = <A, E, R, E2>(
  call: () => Effect.Effect<A, E, R>,
  millis: number,
  otherwise: (problem: unknown) => E2,
): Effect.Effect<A, E | E2, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkDetach(Effect.interruptible(Effect.suspend(call)), {
        startImmediately: true,
      })
      const leave = Effect.sync(() => fiber.interruptUnsafe())
      const waited = Effect.timeoutOption(Fiber.await(fiber), millis)
      const ended = yield* Effect.onInterrupt(restore(waited), () => leave)
      if (Option.isNone(ended)) {
        yield* leave
        return yield* Effect.fail(otherwise(new NoAnswer(`it did not answer within ${millis / 1_000} s`)))
      }
      const exit = ended.value
      if (Exit.isSuccess(exit)) return exit.value
      if (Cause.hasInterrupts(exit.cause)) {
        return yield* Effect.fail(otherwise(new NoAnswer("it was interrupted")))
      }
      const error = Cause.findError(exit.cause)
      return yield* Effect.fail(Result.isSuccess(error) ? error.success : otherwise(Cause.squash(exit.cause)))
    }),
  )
