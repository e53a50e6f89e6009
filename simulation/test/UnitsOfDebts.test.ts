/**
 * Where the units are that an invoice gives back of a repaid debt. Of seed 2318 of the whole: they made a grant of their own, a
 * later invoice burnt of it, and gave that back too.
 */
import { describe, expect, it } from "vitest"
import type { PrepaidBooks } from "../src/prepaid/PrepaidBooks.ts"
import { unitsAreAtOnePlace } from "../src/prepaid/Units.ts"

type Move = readonly [
  kind: string,
  grantId: string | null,
  invoiceId: string | null,
  by: bigint,
  debt?: bigint,
]

/** An instant after all grants began. */
const LATER = 10

const grantOf = (id: string, amount: bigint, invoiceId: string | null = null) => ({
  id,
  amount,
  status: "active",
  effectiveAt: 1,
  source: invoiceId === null ? null : { type: "invoice", id: invoiceId, period: null },
})

/** Changes of one account, with the balance that their entries come to. */
const booksOf = (
  changes: ReadonlyArray<{
    readonly grants?: ReadonlyArray<ReturnType<typeof grantOf>>
    readonly moves: ReadonlyArray<Move>
  }>,
) => {
  const balance = { available: 0n, held: 0n, debt: 0n }
  let sequence = 0
  const transactions = changes.map(({ grants = [], moves }) => {
    const entries = moves.map(([kind, grantId, invoiceId, available, debt = 0n]) => {
      balance.available += available
      balance.debt += debt
      sequence += 1
      const causes = { consumptionId: null, holdId: null, invoiceId }
      return {
        id: `cen_${sequence}`,
        sequence,
        at: LATER,
        kind,
        grantId,
        available,
        debt,
        held: 0n,
        ...causes,
      }
    })
    return [{ type: "account", name: "token", now: LATER, balance: { ...balance }, grants, entries }]
  })
  return { transactions } as unknown as PrepaidBooks
}

/** An invoice burns 5 of a plan and owes 3. Those are repaid, and given back as a grant. The next one burns all, and owes 2. */
const BURNT = [
  { grants: [grantOf("cgr_plan", 5n)], moves: [["grant", "cgr_plan", null, 5n]] },
  {
    moves: [
      ["burn", "cgr_plan", "inv_1", -5n],
      ["burn", null, "inv_1", 0n, 3n],
    ],
  },
  {
    grants: [grantOf("cgr_bought_1", 3n, "inv_bought_1")],
    moves: [
      ["grant", "cgr_bought_1", null, 3n],
      ["repay", "cgr_bought_1", null, -3n, -3n],
    ],
  },
  {
    grants: [grantOf("cgr_rest_1", 3n, "inv_2")],
    moves: [
      ["restore", "cgr_plan", "inv_1", 5n],
      ["restore", "cgr_rest_1", "inv_1", 3n],
    ],
  },
  {
    moves: [
      ["burn", "cgr_plan", "inv_3", -5n],
      ["burn", "cgr_rest_1", "inv_3", -3n],
      ["burn", null, "inv_3", 0n, 2n],
    ],
  },
  {
    grants: [grantOf("cgr_bought_2", 2n, "inv_bought_2")],
    moves: [
      ["grant", "cgr_bought_2", null, 2n],
      ["repay", "cgr_bought_2", null, -2n, -2n],
    ],
  },
] as const

/** All that happens, and then an invoice gives back what the last one burnt. */
const givenBack = (rest: ReturnType<typeof grantOf>, ...moves: ReadonlyArray<Move>) =>
  booksOf([...BURNT, { grants: [grantOf("cgr_rest_1", 3n, "inv_2"), rest], moves }])

describe("what an invoice has burnt of a grant of a repaid debt", () => {
  const plan = ["restore", "cgr_plan", "inv_3", 5n] as const

  it("goes back to that grant, and what it owed makes another", () => {
    const books = givenBack(
      grantOf("cgr_rest_2", 2n, "inv_4"),
      ["restore", "cgr_rest_1", "inv_3", 3n],
      plan,
      ["restore", "cgr_rest_2", "inv_3", 2n],
    )
    expect(unitsAreAtOnePlace(books)).toEqual([])
  })

  it("is told when more goes back than it burnt", () => {
    const books = givenBack(
      grantOf("cgr_rest_2", 1n, "inv_4"),
      ["restore", "cgr_rest_1", "inv_3", 4n],
      plan,
      ["restore", "cgr_rest_2", "inv_3", 1n],
    )
    expect(unitsAreAtOnePlace(books)).toEqual([
      "cen_13 is a restore of 4 of cgr_rest_1, and 3 are used by inv_3",
    ])
  })

  it("is told when it goes back twice", () => {
    const books = givenBack(
      grantOf("cgr_rest_2", 2n, "inv_4"),
      ["restore", "cgr_rest_1", "inv_3", 3n],
      ["restore", "cgr_rest_1", "inv_3", 2n],
      plan,
    )
    expect(unitsAreAtOnePlace(books)).toEqual([
      "cen_14 is a restore of 2 of cgr_rest_1, and 0 are used by inv_3",
      "0 units came into being of cgr_rest_1, cgr_rest_2, which granted 2 more",
    ])
  })

  it("is told when the new grant has more than it owed", () => {
    const books = givenBack(grantOf("cgr_rest_2", 5n, "inv_4"), plan, ["restore", "cgr_rest_2", "inv_3", 5n])
    expect(unitsAreAtOnePlace(books)).toEqual(["cen_14 gives back 3 more than inv_3 owed"])
  })
})
