/**
 * The library under faults of all kinds: every invariant holds for every seed.
 */
import { describe, expect, it } from "vitest"
import { judge } from "../src/Checkers.ts"
import { digestOf } from "../src/Digest.ts"
import { simulate } from "../src/Simulation.ts"
import { storyOf } from "../src/Story.ts"

/** Enough for every kind of fault. `npm run simulate` runs more. */
const SEEDS = 30
/** The seeds of one test. Few, so that a test that hangs names a small range. */
const AT_ONCE = 10

/** The faults that must have occurred in at least one seed. */
const KINDS = [
  "process: clock set",
  "process: clocks of all jump ahead",
  "process: crash anywhere",
  "process: ended in order",
  "process: stopped and continued",
  "process: storage out of reach",
  "receiver: answers 410",
  "receiver: answers 429",
  "receiver: cut",
  "receiver: hangs",
  "receiver: sent twice by the network",
  "receiver: unreachable",
  "storage: answer lost",
  "storage: broken",
  "storage: refused",
  "storage: request lost",
  "storage: slow",
  "storage: slow answer",
]
/** The least number of different points at which a process died. */
const MIN_CRASH_POINTS = 8

describe("a simulation", () => {
  const seen = new Set<string>()

  it("is the same for the same seed, and differs for another seed", async () => {
    const digests = []
    for (const seed of [7, 7, 8]) digests.push(digestOf((await simulate({ seed })).history))
    expect(digests[1]).toBe(digests[0])
    expect(digests[2]).not.toBe(digests[0])
  })

  it.for(Array.from({ length: SEEDS / AT_ONCE }, (_, index) => index * AT_ONCE + 1))(
    `breaks no invariant with the ${AT_ONCE} seeds from %d on`,
    async (from) => {
      for (let seed = from; seed < from + AT_ONCE; seed++) {
        const { faults, history } = await simulate({ seed })
        for (const fault of faults.keys()) seen.add(fault)
        const [first] = judge(history)
        if (first === undefined) continue
        const story = storyOf(history, first.problem).join("\n")
        expect.fail(`seed ${seed}, ${first.invariant}: ${first.problem}\n${story}`)
      }
    },
  )

  it("has had every kind of fault", () => {
    expect([...seen]).toEqual(expect.arrayContaining(KINDS))
    const points = [...seen].filter((fault) => fault.startsWith("crash at"))
    expect(points.length).toBeGreaterThanOrEqual(MIN_CRASH_POINTS)
  })
})
