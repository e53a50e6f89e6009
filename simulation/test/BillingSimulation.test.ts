/**
 * Billing under faults: every invariant holds for every seed, and the outcome is that of a run without faults.
 */
import { describe, expect, it } from "vitest"
import { judgeBilling } from "../src/billing/BillingCheckers.ts"
import { simulateBilling } from "../src/billing/BillingSimulation.ts"

/** Enough for every kind of fault. `npm run simulate` runs more. */
const SEEDS = 10
/** The seeds of one test. Few, so that a test that hangs names a small range. */
const AT_ONCE = 5

/** The faults that must have occurred in at least one seed. */
const KINDS = [
  "process: clock set back",
  "storage: answer lost",
  "storage: broken",
  "storage: refused",
  "storage: request lost",
  "storage: slow",
  "storage: slow answer",
]
/** The least number of different points at which a process died in these seeds. In 40 seeds there are 15. */
const MIN_CRASH_POINTS = 10
/** Longest part of a problem that is shown. */
const SHOWN = 2_000

describe("a simulation of billing", () => {
  const seen = new Set<string>()

  it("is the same for the same seed, and differs for another seed", async () => {
    const outcomes = []
    for (const seed of [7, 7, 8]) {
      const { history } = await simulateBilling({ seed })
      outcomes.push(history.invoices.map(({ invoice }) => `${invoice.id} ${invoice.state.number}`))
    }
    expect(outcomes[1]).toEqual(outcomes[0])
    expect(outcomes[2]).not.toEqual(outcomes[0])
  })

  it.for(Array.from({ length: SEEDS / AT_ONCE }, (_, index) => index * AT_ONCE + 1))(
    `breaks no invariant with the ${AT_ONCE} seeds from %d on`,
    async (from) => {
      for (let seed = from; seed < from + AT_ONCE; seed++) {
        const { faults, history } = await simulateBilling({ seed })
        for (const fault of faults.keys()) seen.add(fault)
        const [first] = judgeBilling(history)
        if (first === undefined) continue
        expect.fail(`seed ${seed}, ${first.invariant}: ${first.problem.slice(0, SHOWN)}`)
      }
    },
  )

  it("breaks no invariant with a seed in which a draft has an item that was deleted", async () => {
    const { history } = await simulateBilling({ seed: 484 })
    const items = new Set(history.items.map(({ item }) => item.id as string))
    const drafts = history.invoices.filter(({ invoice: { state } }) => state.status === "draft")
    const itemLines = drafts.flatMap(({ invoice }) =>
      invoice.state.lines.filter(({ id }) => id.startsWith("itm_")),
    )
    expect(itemLines.some(({ id }) => !items.has(id))).toBe(true)
    expect(judgeBilling(history)).toEqual([])
  })

  it("has had every kind of fault", () => {
    expect([...seen]).toEqual(expect.arrayContaining(KINDS))
    const points = [...seen].filter((fault) => fault.startsWith("crash at"))
    expect(points.length).toBeGreaterThanOrEqual(MIN_CRASH_POINTS)
  })
})
