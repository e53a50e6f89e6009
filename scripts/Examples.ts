/**
 * Runs and type-checks the TypeScript of documents inside the workspace, where the packages can be imported.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { node, root } from "./Documents.ts"

/** A temporary folder inside the workspace, so that the packages can be imported. */
export const inWorkspace = <A>(use: (folder: string) => A): A => {
  const folder = mkdtempSync(join(root, "scripts", ".readme-"))
  try {
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The output that an example announces: `console.log(…) // this`. */
const printedBy = (code: string): ReadonlyArray<string> =>
  [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, printed = ""]) => printed)

/** Whether an example announces its output, so that a test can run it. */
export const saysWhatItPrints = (code: string): boolean => printedBy(code).length > 0

// Standard output is for the results. The output of each example is returned with its name.
const RUNNER = `
import { format } from "node:util"

const isLog = /^\\[\\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\] /
const results = []
for (const file of process.argv.slice(2)) {
  const printed = []
  // The library's log is printed here, too, with a time before each entry.
  console.log = (...values) => isLog.test(String(values[0])) || printed.push(...format(...values).split("\\n"))
  const error = await import(file).then(() => null, (error) => String(error.stack))
  results.push({ printed, error })
}
// An example that failed has not closed what it opened.
const hasFailed = results.some(({ error }) => error !== null)
process.stdout.write(JSON.stringify(results), () => hasFailed && process.exit())
`

interface Result {
  readonly printed: ReadonlyArray<string>
  readonly error: string | null
}

/** How long examples may run. */
const MAX_RUN_MILLIS = 120_000

/**
 * Runs examples one after another in one process, and checks what each prints. The process has to end by itself, so
 * an example must close what it opens.
 */
export const runExamples = (codes: ReadonlyArray<string>, variables: NodeJS.ProcessEnv = {}): void =>
  inWorkspace((folder) => {
    const files = codes.map((code, index) => {
      const file = join(folder, `example-${index + 1}.ts`)
      writeFileSync(file, code)
      return file
    })
    writeFileSync(join(folder, "run.ts"), RUNNER)
    const env = { ...process.env, ...variables }
    const run = spawnSync(node, [join(folder, "run.ts"), ...files], {
      encoding: "utf8",
      env,
      timeout: MAX_RUN_MILLIS,
    })
    assert.isNull(run.signal, "the examples print what they say, but one does not close what it opens")
    assert.strictEqual(run.stderr, "")
    const results = JSON.parse(run.stdout) as ReadonlyArray<Result>
    for (const [index, code] of codes.entries()) {
      assert.isTrue(saysWhatItPrints(code), `this example does not say what it prints:\n${code}`)
      assert.deepStrictEqual(results[index], { printed: printedBy(code), error: null }, code)
    }
  })

/** Runs an example in a separate process. */
export const runExample = (code: string, variables: NodeJS.ProcessEnv = {}): void =>
  runExamples([code], variables)

/**
 * Names of the reader's own code, which short examples don't declare. An example that declares a name uses its own.
 */
const GIVEN = `
import type { Billing as Services } from "@billwright/core"
import type { Billing } from "billwright"
import type { Effect, ManagedRuntime } from "effect"
import type pg from "pg"

declare global {
  const billing: Billing
  const pool: pg.Pool
  const client: pg.PoolClient
  const customerId: string
  const orderId: string
  const runtime: ManagedRuntime.ManagedRuntime<Services.Services, never>
  const recordUsage: Effect.Effect<unknown, unknown, Services.Services>
}
`

/** Type-checks examples as modules of one program. `names` say where each comes from. */
export const checkTypes = (examples: ReadonlyArray<{ readonly name: string; readonly code: string }>): void =>
  inWorkspace((folder) => {
    writeFileSync(join(folder, "given.d.ts"), GIVEN)
    for (const { code, name } of examples) writeFileSync(join(folder, `${name}.ts`), `${code}\nexport {}\n`)
    const compilerOptions = { noUnusedLocals: false }
    const config = { extends: "../../tsconfig.test.base.json", compilerOptions, include: ["*.ts"] }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config))
    const compiler = join(root, "node_modules/typescript/bin/tsc")
    const args = [compiler, "-p", folder, "--incremental", "false"]
    const run = spawnSync(node, args, { encoding: "utf8", cwd: folder })
    assert.strictEqual(run.stderr, "")
    // Errors in other files are reported by check:types. Further lines of a message are indented.
    const messages = run.stdout.split(/\n(?=\S)/).filter((message) => !message.startsWith(".."))
    assert.strictEqual(messages.join("\n").trim(), "")
  })
