/**
 * Tests that the simulation of payments finds bugs: each bug is planted alone, and one of the invariants that it breaks
 * must fail.
 */
import { assert, describe, expect, it } from "vitest"
import { judgePayments, paymentCheckers } from "../src/payments/PaymentCheckers.ts"
import { simulatePayments } from "../src/payments/PaymentsSimulation.ts"
import { payments } from "./mutations/PaymentMutations.ts"
import { refunds } from "./mutations/RefundMutations.ts"

/** The number of seeds within which every planted bug is found. */
const MAX_SEEDS = 60

const BUGS = [...payments, ...refunds]

describe("a planted bug of payments is found", () => {
  it.for(BUGS)("$name", async ({ breaks, ...mutations }) => {
    const seen = new Set<string>()
    for (let seed = 1; seed <= MAX_SEEDS; seed++) {
      const { history } = await simulatePayments({ seed, ...mutations })
      for (const { invariant } of judgePayments(history)) seen.add(invariant)
      if (breaks.some((invariant) => seen.has(invariant))) return
    }
    expect.fail(
      `it was not found in ${MAX_SEEDS} seeds. Invariants that failed: ${[...seen].join(", ") || "none"}`,
    )
  })
})

describe("a checker of payments", () => {
  it("of each invariant has a bug above that it finds", () => {
    const broken = new Set(["J0", ...BUGS.flatMap(({ breaks }) => breaks)])
    assert.sameMembers([...broken], Object.keys(paymentCheckers))
  })

  it("reports a fiber that died", () => {
    assert.deepStrictEqual(paymentCheckers.J0({ defects: ["TypeError"] }), ["TypeError"])
  })
})
