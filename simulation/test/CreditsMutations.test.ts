/**
 * Tests that the simulation of credits finds bugs: each bug is planted alone, and one of the invariants that it breaks
 * must fail.
 */
import { assert, describe, expect, it } from "vitest"
import { judgeCredits, creditCheckers } from "../src/credits/CreditCheckers.ts"
import { simulateCredits } from "../src/credits/CreditsSimulation.ts"
import { credits } from "./mutations/CreditMutations.ts"

/** The number of seeds within which every planted bug is found. */
const MAX_SEEDS = 40

describe("a planted bug of credits is found", () => {
  it.for(credits)("$name", async ({ breaks, ...mutations }) => {
    const seen = new Set<string>()
    for (let seed = 1; seed <= MAX_SEEDS; seed++) {
      const { history } = await simulateCredits({ seed, ...mutations })
      for (const { invariant } of judgeCredits(history)) seen.add(invariant)
      if (breaks.some((invariant) => seen.has(invariant))) return
    }
    expect.fail(
      `it was not found in ${MAX_SEEDS} seeds. Invariants that failed: ${[...seen].join(", ") || "none"}`,
    )
  })
})

describe("a checker of credits", () => {
  it("of each invariant has a bug above that it finds", () => {
    const broken = new Set(["J0", ...credits.flatMap(({ breaks }) => breaks)])
    assert.sameMembers([...broken], Object.keys(creditCheckers))
  })

  it("reports a fiber that died", () => {
    assert.deepStrictEqual(creditCheckers.J0({ defects: ["TypeError"] }), ["TypeError"])
  })
})
