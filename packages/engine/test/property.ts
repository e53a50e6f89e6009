/**
 * Properties: rules that hold for all inputs, tried on generated ones. The seed is fixed, so that every run tries the
 * same inputs and a failure can be repeated.
 */
import * as fc from "fast-check"

/** The share of the inputs that is tried. `npm run test:suites` tries all of them. */
const SHARE = Number(process.env["PROPERTY_SHARE"] ?? "0.1")
const numRuns = (runs: number): number => Math.ceil(runs * SHARE)

const SEED = 20_261_122

/** `holds([fc.integer()], (n) => …)` throws for a counterexample, the smallest found. */
export const holds = <const Ts extends [unknown, ...Array<unknown>]>(
  arbitraries: { [K in keyof Ts]: fc.Arbitrary<Ts[K]> },
  property: (...values: Ts) => void,
  runs = 300,
): void => {
  fc.assert(fc.property(...arbitraries, property), { seed: SEED, numRuns: numRuns(runs) })
}

/** A decimal ≥ 0 as plans write it, with at most this many digits before and after the point. */
export const decimals = (before = 6, after = 6): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.bigInt({ min: 0n, max: 10n ** BigInt(before) - 1n }),
      fc.integer({ min: 0, max: after }),
      fc.bigInt({ min: 0n, max: 10n ** BigInt(after) - 1n }),
    )
    .map(([whole, length, digits]) =>
      length === 0 ? `${whole}` : `${whole}.${digits.toString().padStart(after, "0").slice(0, length)}`,
    )

export { fc }
