/**
 * Tests that the simulation of prepaid credits finds bugs: each bug is planted alone, and one of the invariants that it breaks
 * must fail.
 */
import { assert, describe, expect, it } from "vitest"
import { judgePrepaid, prepaidCheckers } from "../src/prepaid/PrepaidCheckers.ts"
import { simulatePrepaid } from "../src/prepaid/PrepaidSimulation.ts"
import { prepaid } from "./mutations/PrepaidMutations.ts"

/** The number of seeds within which every planted bug is found. */
const MAX_SEEDS = 60

describe("a planted bug of prepaid credits is found", () => {
  it.for(prepaid)("$name", async ({ breaks, ...mutations }) => {
    const seen = new Set<string>()
    for (let seed = 1; seed <= MAX_SEEDS; seed++) {
      const { history } = await simulatePrepaid({ seed, ...mutations })
      for (const { invariant } of judgePrepaid(history)) seen.add(invariant)
      if (breaks.some((invariant) => seen.has(invariant))) return
    }
    expect.fail(
      `it was not found in ${MAX_SEEDS} seeds. Invariants that failed: ${[...seen].join(", ") || "none"}`,
    )
  })
})

describe("a checker of prepaid credits", () => {
  it("of each invariant has a bug above that it finds", () => {
    const broken = new Set(["J0", ...prepaid.flatMap(({ breaks }) => breaks)])
    assert.sameMembers([...broken], Object.keys(prepaidCheckers))
  })

  it("reports a fiber that died", () => {
    assert.deepStrictEqual(prepaidCheckers.J0({ defects: ["TypeError"] }), ["TypeError"])
  })
})
