/**
 * Tests that the simulation finds bugs: each bug is planted alone, and one of the invariants that it breaks must
 * fail.
 */
import { describe, expect, it } from "vitest"
import { judge } from "../src/Checkers.ts"
import { simulate } from "../src/Simulation.ts"
import { boundaries, contents } from "./mutations/ContentMutations.ts"
import { fencing, results } from "./mutations/DeliveryMutations.ts"
import { outbox } from "./mutations/EventMutations.ts"
import { meters } from "./mutations/UsageMutations.ts"

const mutations = [...fencing, ...results, ...outbox, ...meters, ...contents, ...boundaries]

/** The number of seeds within which every planted bug is found. */
const MAX_SEEDS = 60

describe("a planted bug is found", () => {
  it.for(mutations)("$name", async ({ breakStorage, breaks }) => {
    const seen = new Set<string>()
    for (let seed = 1; seed <= MAX_SEEDS; seed++) {
      const { history } = await simulate({ seed, breakStorage })
      for (const { invariant } of judge(history)) seen.add(invariant)
      if (breaks.some((invariant) => seen.has(invariant))) return
    }
    expect.fail(
      `it was not found in ${MAX_SEEDS} seeds. Invariants that failed: ${[...seen].join(", ") || "none"}`,
    )
  })
})
