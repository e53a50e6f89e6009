import { join } from "node:path"
/**
 * Writes the results of the tests of each row to `docs/fault-matrix.md`, if all of them were run. A row without a passed
 * test says so. The section about other servers is written again from what is kept of them.
 */
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node"
import { MATRIX, type Row } from "./Matrix.ts"
import { escaped, table, writeMatrix } from "./Page.ts"
import { write as writeServers } from "./versions/Columns.ts"

const ROOT = join(import.meta.dirname, "../../../..")

interface Outcome {
  readonly name: string
  readonly file: string
  readonly state: "passed" | "failed" | "skipped" | "pending"
  readonly millis: number
}

const outcomeOf = (test: TestCase): Outcome => ({
  name: test.fullName.replaceAll(" > ", ": "),
  file: test.module.moduleId.slice(ROOT.length + 1),
  state: test.result().state,
  millis: test.diagnostic()?.duration ?? 0,
})

/** The result of a row. */
const verdictOf = (outcomes: ReadonlyArray<Outcome>): string => {
  if (outcomes.length === 0) return "**no test ran**"
  if (outcomes.some(({ state }) => state === "failed")) return "**failed**"
  if (outcomes.some(({ state }) => state !== "passed")) return "**skipped here**"
  return "holds"
}

const cellsOf = ({ fault, holds, number }: Row, outcomes: ReadonlyArray<Outcome>): ReadonlyArray<string> => {
  const files = [...new Set(outcomes.map(({ file }) => file))].sort()
  const links = files.map((file) => `[${file.split("/").at(-1)}](../${file})`).join(", ")
  const seconds = Math.ceil(outcomes.reduce((sum, { millis }) => sum + millis, 0) / 1_000)
  return [String(number), escaped(fault), escaped(holds), verdictOf(outcomes), links || "–", `${seconds} s`]
}

const HEAD = `# The fault matrix

Faults that the tests cause, with servers and workers as processes on a real Postgres, and what held. Written by \`npm run faults\`. The times are those of the machine that ran the tests.

After each fault, the test ends the fault and waits until all due work is done. Then it checks the history: the calls of clients and their answers, the requests that receivers got, and what Postgres committed and stores. The checkers are those of the [simulation](../simulation/README.md), one for each of the invariants I1 to I14: I1 acknowledged writes survive · I2 nothing exists that no client requested · I3 usage counts once · I4 a change and its event exist together · I5 every event arrives, or visibly fails · I6 deliveries only move forward · I7 a stale lease writes nothing · I8 same id, same bytes, right signature · I9 a repeated request gets the same answer · I10 every request has its attempt · I11 nothing crosses accounts or modes · I12 all due work is done · I13 totals, records and roll-ups agree · I14 no secret in a log, an error or an attempt.

Those of billing are J1 a line is what its explanation gives · J2 an invoice is the sum of its lines, discounts and taxes · J3 all documents of a period together are what it costs · J4 numbers have no gap, and their instants never fall · J5 an issued invoice never changes · J6 nobody is charged twice, and what the provider took is booked once · J7 credits are never used beyond what there is, but as debt, and an account is its entries · J8 the result is that of a run without faults, in memory · J10 each change has its event, with a rising sequence · J11 nothing crosses accounts, modes or currencies.

`
const COLUMNS = ["#", "fault", "must hold", "seen", "tests", "took"]

export default class MatrixReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  async onTestRunEnd(modules: ReadonlyArray<TestModule>): Promise<void> {
    if (await this.#isPartial(modules.length)) return
    const byRow = new Map<number, Array<Outcome>>(MATRIX.map(({ number }) => [number, []]))
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        for (const number of test.meta().rows ?? []) byRow.get(number)?.push(outcomeOf(test))
      }
    }
    const rows = MATRIX.map((row) => cellsOf(row, byRow.get(row.number)!))
    writeMatrix(`${HEAD}${table([COLUMNS, ...rows])}\n`)
    writeServers()
  }

  /** Whether only a part of the tests was run, which says nothing about the other rows. */
  async #isPartial(files: number): Promise<boolean> {
    const all = await this.#vitest!.globTestSpecifications()
    return files < all.length || this.#vitest!.config.testNamePattern !== undefined
  }
}
