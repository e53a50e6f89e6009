/**
 * Billing under faults: every invariant holds for every seed, and the outcome is that of a run without faults.
 */
import { describe, expect, it } from "vitest"
import { judgeBilling } from "../src/billing/BillingCheckers.ts"
import { simulateBilling } from "../src/billing/BillingSimulation.ts"
import type { BillingHistory } from "../src/billing/Books.ts"
import { itemsComeToWhatWasGiven } from "../src/billing/ItemCheckers.ts"

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

  it("has had every kind of fault", () => {
    expect([...seen]).toEqual(expect.arrayContaining(KINDS))
    const points = [...seen].filter((fault) => fault.startsWith("crash at"))
    expect(points.length).toBeGreaterThanOrEqual(MIN_CRASH_POINTS)
  })
})

/** A history in which an issued invoice has an item, that item, and where the invoice is. */
const withIssuedItem = async (): Promise<{ history: BillingHistory; item: string; invoice: number }> => {
  for (let seed = 1; seed <= 50; seed++) {
    const { history } = await simulateBilling({ seed })
    for (const [
      invoice,
      {
        invoice: { state },
      },
    ] of history.invoices.entries()) {
      const line = state.status === "open" ? state.lines.find(({ id }) => id.startsWith("itm_")) : undefined
      if (line !== undefined) return { history, item: line.id, invoice }
    }
  }
  throw new Error("no seed issues an invoice of items")
}

describe("the checker of items", () => {
  it("reports a deleted item of an issued invoice, and none of a draft, which is as it was last stored", async () => {
    const { history, invoice, item } = await withIssuedItem()
    const items = history.items.filter((one) => one.item.id !== item)
    const { invoice: issued, tenant } = history.invoices[invoice]!
    const draft = { tenant, invoice: { ...issued, state: { ...issued.state, status: "draft" as const } } }

    expect(itemsComeToWhatWasGiven({ ...history, items })).toContain(
      `${issued.id} has the item ${item}, which there is not`,
    )
    expect(
      itemsComeToWhatWasGiven({ ...history, items, invoices: history.invoices.with(invoice, draft) }),
    ).toEqual([])
  })
})
