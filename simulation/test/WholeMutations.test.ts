/**
 * Tests that the simulation of the whole finds bugs, and by which checker: each bug is planted alone, into a rule of the
 * engine, into a storage or into a provider.
 */
import { afterEach, describe, expect, it, vi } from "vitest"
import { judgeWhole, wholeCheckers } from "../src/whole/WholeCheckers.ts"
import { simulateWhole, type WholeOptions } from "../src/whole/WholeSimulation.ts"
import { type Engine, type RuleBug, rules } from "./mutations/RuleMutations.ts"
import { whole } from "./mutations/WholeMutations.ts"

/** The number of seeds within which every planted bug is found. */
const MAX_SEEDS = 100

const planted = vi.hoisted((): { bug: RuleBug | undefined } => ({ bug: undefined }))

// A rule looks whether a bug is planted in it whenever it is called.
vi.mock(import("@billwright/engine"), async (importOriginal) => {
  const engine = await importOriginal()
  const { rules: bugs } = await import("./mutations/RuleMutations.ts")
  const looking = bugs.map(({ rule }) => {
    const right: unknown = engine[rule]
    const call = (...input: ReadonlyArray<unknown>): unknown => {
      const broken = planted.bug?.rule === rule ? planted.bug.breakRules(engine)[rule] : right
      return Reflect.apply(broken as (...same: ReadonlyArray<unknown>) => unknown, undefined, input)
    }
    return [rule, call] as const
  })
  return { ...engine, ...(Object.fromEntries(looking) as Partial<Engine>) }
})

afterEach(() => {
  planted.bug = undefined
})

/** Runs seeds until a checker finds something. Judges by the rules as they are. */
const expectFound = async (checker: string, mutations: Omit<WholeOptions, "seed">, bug?: RuleBug) => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= MAX_SEEDS; seed++) {
    planted.bug = bug
    const { history } = await simulateWhole({ seed, ...mutations })
    planted.bug = undefined
    for (const { invariant } of judgeWhole(history)) seen.add(invariant)
    if (seen.has(checker)) return
  }
  expect.fail(
    `it was not found in ${MAX_SEEDS} seeds by ${checker}, but by ${[...seen].join(", ") || "none"}`,
  )
}

describe("a bug that is planted in a rule of the engine is found", () => {
  it.for(rules)("$name", async (bug) => {
    await expectFound(bug.checker, {}, bug)
  })
})

describe("a bug that is planted in a storage or a provider is found", () => {
  it.for(whole)("$name", async ({ breakProvider, breakStorage, checker }) => {
    await expectFound(checker, { breakProvider, breakStorage })
  })
})

describe("the checkers of the whole", () => {
  it("have the names that the bugs above tell", () => {
    for (const { checker } of [...rules, ...whole]) expect([...wholeCheckers.keys()]).toContain(checker)
  })
})
