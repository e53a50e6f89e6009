/**
 * Properties: rules that hold for all inputs, tried on generated ones. The seed is fixed, so that every run
 * tries the same inputs and a failure can be repeated.
 */
import { Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"

/** The share of the inputs that is tried. `npm run test:suites` tries all of them. */
const SHARE = Number(process.env["PROPERTY_SHARE"] ?? "0.1")
/** How many of `runs` inputs are tried here. */
export const numRuns = (runs: number): number => Math.ceil(runs * SHARE)

const SEED = 20_261_121

/** A property of pure code: `holds([fc.integer()], (n) => …)` throws for a counterexample, the smallest found. */
export const holds = <const Ts extends [unknown, ...Array<unknown>]>(
  arbitraries: { [K in keyof Ts]: fc.Arbitrary<Ts[K]> },
  property: (...values: Ts) => void,
  runs = 200,
): void => {
  fc.assert(fc.property(...arbitraries, property), { seed: SEED, numRuns: numRuns(runs) })
}

/** A property of effects: each input runs in a scope and with a `TestClock` of its own. */
export const holdsEffect = <A, E>(
  arbitrary: fc.Arbitrary<A>,
  property: (value: A) => Effect.Effect<void, E, Scope.Scope>,
  runs = 50,
): Effect.Effect<void> =>
  Effect.promise(() =>
    fc.assert(
      fc.asyncProperty(arbitrary, (value) =>
        Effect.runPromise(property(value).pipe(Effect.scoped, Effect.provide(TestClock.layer()))),
      ),
      { seed: SEED, numRuns: numRuns(runs) },
    ),
  )

export { fc }
