/**
 * J6: payments under faults. Nobody is charged twice, no money is lost, and everything is resolved or needs attention.
 */
import { describe, expect, it } from "vitest"
import { judgePayments } from "../src/payments/PaymentCheckers.ts"
import { simulatePayments } from "../src/payments/PaymentsSimulation.ts"

/** Enough for every kind of fault. `npm run simulate` runs more. */
const SEEDS = 20
/** The seeds of one test. Few, so that a test that hangs names a small range. */
const AT_ONCE = 10

/** The faults that must have occurred in at least one seed. */
const KINDS = [
  "bank: answer lost",
  "bank: busy",
  "bank: never answered",
  "bank: repeated later",
  "bank: request late",
  "bank: request lost",
  "bank: sent twice",
  "bank: slow answer",
  "bank: slow request",
  "notice: lost",
  "notice: twice",
  "process: clock set back",
  "process: stands still",
  "storage: answer lost",
  "storage: refused",
  "storage: request lost",
]
/** What payments, refunds and disputes must have come to in at least one seed. */
const ENDS = [
  "succeeded",
  "closed",
  "awaiting_method",
  "needs_attention",
  "refund succeeded",
  "refund failed",
  "dispute won",
  "dispute lost",
]
/** The least number of different points at which a process died. */
const MIN_CRASH_POINTS = 10

describe("a simulation of payments", () => {
  const seen = new Set<string>()
  const ends = new Set<string>()

  it("is the same for the same seed, and differs for another seed", async () => {
    const outcomes = []
    for (const seed of [7, 7, 8]) {
      const { history } = await simulatePayments({ seed })
      outcomes.push(history.facts)
    }
    expect(outcomes[1]).toEqual(outcomes[0])
    expect(outcomes[2]).not.toEqual(outcomes[0])
  })

  it.for(Array.from({ length: SEEDS / AT_ONCE }, (_, index) => index * AT_ONCE + 1))(
    `breaks no invariant with the ${AT_ONCE} seeds from %d on`,
    async (from) => {
      for (let seed = from; seed < from + AT_ONCE; seed++) {
        const { faults, history } = await simulatePayments({ seed })
        for (const fault of faults.keys()) seen.add(fault)
        for (const { payment } of history.payments) {
          ends.add(payment.status === "open" ? (payment.collection?.state ?? "") : payment.status)
        }
        for (const { refund } of history.refunds) ends.add(`refund ${refund.status}`)
        for (const { dispute } of history.disputes) ends.add(`dispute ${dispute.status}`)
        const [first] = judgePayments(history)
        if (first === undefined) continue
        expect.fail(`seed ${seed}, ${first.invariant}: ${first.problem}`)
      }
    },
  )

  it("has had every kind of fault, and every kind of end", () => {
    expect([...seen]).toEqual(expect.arrayContaining(KINDS))
    expect([...ends]).toEqual(expect.arrayContaining(ENDS))
    const points = [...seen].filter((fault) => fault.startsWith("crash at"))
    expect(points.length).toBeGreaterThanOrEqual(MIN_CRASH_POINTS)
  })
})
