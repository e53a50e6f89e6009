/**
 * Operations that run thousands of times a second.
 */
import { Effect, type Tracer, Tracer as Tracers } from "effect"

/**
 * Makes each call a span, like `Effect.fn`, but only where a tracer is installed. Without one nobody sees the spans, and making
 * them would only take time: see docs/decisions/0053.
 */
export const traced =
  <Args extends ReadonlyArray<unknown>, A, E, R>(
    name: string,
    operation: (...args: Args) => Effect.Effect<A, E, R>,
  ): ((...args: Args) => Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>>) =>
  (...args) =>
    Effect.withFiber((fiber) => {
      const run = operation(...args)
      const isTraced = fiber.getRef(Tracers.Tracer) !== Tracers.nativeTracer
      return isTraced
        ? Effect.withSpan(run, name)
        : (run as Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>>)
    })
