/**
 * J7: credits under faults. Available credits are never below zero except as recorded debt, balances are their entries, and
 * a hold settles once.
 */
import { describe, expect, it } from "vitest"
import { judgeCredits } from "../src/credits/CreditCheckers.ts"
import { simulateCredits } from "../src/credits/CreditsSimulation.ts"

/** Enough for every kind of fault. `npm run simulate` runs more. */
const SEEDS = 20
/** The seeds of one test. Few, so that a test that hangs names a small range. */
const AT_ONCE = 10

/** The faults that must have occurred in at least one seed. */
const KINDS = [
  "process: clock set back",
  "process: clock set forward",
  "storage: answer lost",
  "storage: refused",
  "storage: request lost",
]
/** What holds must have come to in at least one seed, and what operations must have been refused for. */
const ENDS = ["committed", "committed late", "lapsed", "released", "ActionUnavailable", "InsufficientCredits"]
/** The least number of different points at which a process died. */
const MIN_CRASH_POINTS = 6

describe("a simulation of credits", () => {
  const seen = new Set<string>()
  const ends = new Set<string>()

  it("is the same for the same seed, and differs for another seed", async () => {
    const outcomes = []
    for (const seed of [7, 7, 8]) {
      const { history } = await simulateCredits({ seed })
      outcomes.push(history.turns)
    }
    expect(outcomes[1]).toEqual(outcomes[0])
    expect(outcomes[2]).not.toEqual(outcomes[0])
  })

  it.for(Array.from({ length: SEEDS / AT_ONCE }, (_, index) => index * AT_ONCE + 1))(
    `breaks no invariant with the ${AT_ONCE} seeds from %d on`,
    async (from) => {
      for (let seed = from; seed < from + AT_ONCE; seed++) {
        const { faults, history } = await simulateCredits({ seed })
        for (const fault of faults.keys()) seen.add(fault)
        for (const { isLate, status } of history.credits.flatMap(({ holds }) => holds)) {
          ends.add(isLate ? `${status} late` : status)
        }
        for (const { outcome } of history.told) {
          if (outcome.type === "refused") ends.add(outcome.error._tag)
        }
        const [first] = judgeCredits(history)
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
