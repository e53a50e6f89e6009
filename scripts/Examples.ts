/**
 * Runs and type-checks the TypeScript of documents, inside the workspace, where the packages are found.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { node, root } from "./Documents.ts"

/** A folder inside the workspace, so that the packages are found, for as long as it is used. */
export const inWorkspace = <A>(use: (folder: string) => A): A => {
  const folder = mkdtempSync(join(root, "scripts", ".readme-"))
  try {
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What an example says that it prints: `console.log(…) // this`. */
const printedBy = (code: string): ReadonlyArray<string> =>
  [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, printed = ""]) => printed)

/** Whether an example says what it prints, so that it can be run. */
export const saysWhatItPrints = (code: string): boolean => printedBy(code).length > 0

// Standard output is left to the results; each example's own is put beside its name.
const RUNNER = `
import { format } from "node:util"

const isLog = /^\\[\\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\] /
const results = []
for (const file of process.argv.slice(2)) {
  const printed = []
  // The library's log comes out here, too, a time before each entry.
  console.log = (...values) => isLog.test(String(values[0])) || printed.push(...format(...values).split("\\n"))
  const error = await import(file).then(() => null, (error) => String(error.stack))
  results.push({ printed, error })
}
process.stdout.write(JSON.stringify(results))
`

interface Result {
  readonly printed: ReadonlyArray<string>
  readonly error: string | null
}

/**
 * Runs examples one after the other in one process, and checks what each of them prints. The process has to end by
 * itself: an example closes what it opens.
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
    const run = spawnSync(node, [join(folder, "run.ts"), ...files], { encoding: "utf8", env })
    assert.strictEqual(run.stderr, "")
    const results = JSON.parse(run.stdout) as ReadonlyArray<Result>
    for (const [index, code] of codes.entries()) {
      assert.isTrue(saysWhatItPrints(code), `this says nothing of what it prints:\n${code}`)
      assert.deepStrictEqual(results[index], { printed: printedBy(code), error: null }, code)
    }
  })

/** Runs an example in a process of its own. */
export const runExample = (code: string, variables: NodeJS.ProcessEnv = {}): void =>
  runExamples([code], variables)

/** What short examples leave out: names of the reader's own. One that declares a name has its own. */
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

/** Type-checks examples as modules of one program. `names` say where each is from. */
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
    // What is wrong elsewhere is told by check:types. A message goes on in indented lines.
    const messages = run.stdout.split(/\n(?=\S)/).filter((message) => !message.startsWith(".."))
    assert.strictEqual(messages.join("\n").trim(), "")
  })
