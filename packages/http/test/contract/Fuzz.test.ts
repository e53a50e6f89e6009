import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { assertStatuses, assertSuccesses, fuzz } from "../Fuzz.ts"

const SEEDS = [1]

describe("generated requests, many of them", () => {
  it.effect.each(SEEDS)("with the seed %d", (seed) =>
    Effect.gen(function* () {
      const seen = yield* fuzz(seed, 120)
      assertSuccesses(seen)
      assertStatuses(seen)
    }),
  )
})
