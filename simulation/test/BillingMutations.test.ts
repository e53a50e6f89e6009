/**
 * Tests that the simulation of billing finds bugs: each bug is planted alone, and one of the invariants that it breaks
 * must fail.
 */
import { assert, describe, expect, it } from "vitest"
import { billingCheckers, judgeBilling } from "../src/billing/BillingCheckers.ts"
import { simulateBilling } from "../src/billing/BillingSimulation.ts"
import { billing } from "./mutations/BillingMutations.ts"
import { documents } from "./mutations/DocumentMutations.ts"
import { shared } from "./mutations/SharedMutations.ts"

const bugs = [...billing, ...documents, ...shared]

/** The number of seeds within which every planted bug is found. */
const MAX_SEEDS = 40

describe("a planted bug of billing is found", () => {
  it.for(bugs)("$name", async ({ breakStorage, breaks }) => {
    const seen = new Set<string>()
    for (let seed = 1; seed <= MAX_SEEDS; seed++) {
      const { history } = await simulateBilling({ seed, breakStorage })
      for (const { invariant } of judgeBilling(history)) seen.add(invariant)
      if (breaks.some((invariant) => seen.has(invariant))) return
    }
    expect.fail(
      `it was not found in ${MAX_SEEDS} seeds. Invariants that failed: ${[...seen].join(", ") || "none"}`,
    )
  })
})

describe("a checker of billing", () => {
  it("of each invariant has a bug above that it finds", () => {
    const broken = new Set(["J0", ...bugs.flatMap(({ breaks }) => breaks)])
    assert.sameMembers([...broken], Object.keys(billingCheckers))
  })

  it("reports a fiber that died", () => {
    assert.deepStrictEqual(billingCheckers.J0({ defects: ["TypeError"] }), ["TypeError"])
  })
})
