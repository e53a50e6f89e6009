import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { assertStatuses, fuzz } from "../Fuzz.ts"

const SEED = 20_261_121

// `contract/Fuzz.test.ts` makes more of them, others each time.
describe("generated requests", () => {
  it.effect(
    "to every operation get no 5xx, documented statuses, and errors with two fields",
    () =>
      Effect.gen(function* () {
        assertStatuses(yield* fuzz(SEED, 4))
      }),
    { timeout: 120_000 },
  )
})
