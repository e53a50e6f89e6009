import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { assertStatuses, fuzz } from "../Fuzz.ts"

const SEED = 20_261_121

describe("generated requests", () => {
  it.effect(
    "to every operation get no 5xx, documented statuses, and errors with two fields",
    () =>
      Effect.gen(function* () {
        assertStatuses(yield* fuzz(SEED, 10))
      }),
    { timeout: 60_000 },
  )
})
