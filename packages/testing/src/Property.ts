/**
 * Properties of effects, tested with generated values.
 */
import { Effect } from "effect"
import * as fc from "fast-check"

export interface PropertyOptions {
  /** How many values to test. */
  readonly runs: number
  /** The seed to start from. A failure prints its seed. */
  readonly seed?: number | undefined
  /** Whether to search for the smallest failing value. Default true. */
  readonly isShrunk?: boolean | undefined
}

/**
 * Tests an effect with generated values. Dies with the smallest value that makes it fail, the seed, and the path to
 * that value. The effect keeps the services of the caller.
 */
export const forAll = <A, E, R>(
  arbitrary: fc.Arbitrary<A>,
  options: PropertyOptions,
  body: (value: A) => Effect.Effect<unknown, E, R>,
): Effect.Effect<void, never, R> =>
  Effect.contextWith((context) =>
    Effect.promise((signal) => {
      const run = Effect.runPromiseWith(context)
      const property = fc.asyncProperty(arbitrary, (value) => run(Effect.asVoid(body(value)), { signal }))
      const seed = options.seed === undefined ? {} : { seed: options.seed }
      return fc.assert(property, { numRuns: options.runs, endOnFailure: options.isShrunk === false, ...seed })
    }),
  )
