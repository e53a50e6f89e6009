/**
 * Keeps what the tests of a file said about each row, on the server that `run.ts` chose.
 */
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node"
import { type Column, keep, together, type Verdict } from "./Columns.ts"

/** The environment variables that say which column it is, and the versions of its servers. */
export const COLUMN = "FAULTS_COLUMN"
export const SERVER = "FAULTS_SERVER"

const verdictOf = (test: TestCase, module: TestModule): Verdict => {
  const { state } = test.result()
  if (state === "passed") return "passed"
  // Tests after a set-up that failed are skipped, too.
  return state === "failed" || module.state() === "failed" ? "failed" : "skipped"
}

const rowsOf = (module: TestModule): Readonly<Record<string, Verdict>> => {
  const said = [...module.children.allTests()].flatMap((test) =>
    (test.meta().rows ?? []).map((row) => ({ row, verdict: verdictOf(test, module) })),
  )
  const byRow = Map.groupBy(said, ({ row }) => row)
  return Object.fromEntries(
    [...byRow].map(([row, all]) => [row, together(all.map(({ verdict }) => verdict))!]),
  )
}

export default class ColumnReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestModuleEnd(module: TestModule): void {
    // Some of the tests of a file say nothing about the others.
    if (this.#vitest!.config.testNamePattern !== undefined) return
    const file = module.moduleId.split("/").at(-1)!
    const rows = rowsOf(module)
    if (Object.keys(rows).length === 0) return
    const on = new Date().toISOString().slice(0, "2026-11-27".length)
    keep(process.env[COLUMN] as Column, process.env[SERVER]!, file, { on, rows })
  }
}
