import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { assertStatuses, assertSuccesses, fuzz } from "../Fuzz.ts"

const SEEDS = [1]
/**
 * Each operation is called 40 times, and many of them need a subscription or an invoice of their own each time. Only a test that
 * hangs takes so long, also on a machine that does much else.
 */
const LIMIT_MILLIS = 900_000

describe("generated requests, many of them", () => {
  it.effect.each(SEEDS)(
    "with the seed %d",
    (seed) =>
      Effect.gen(function* () {
        const seen = yield* fuzz(seed, 40)
        assertSuccesses(seen)
        assertStatuses(seen)
      }),
    LIMIT_MILLIS,
  )
})
