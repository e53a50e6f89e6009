/** Changes the line as the README says, and checks that the output stays the same. */
import { execFile } from "node:child_process"
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const EXAMPLE = fileURLToPath(new URL("..", import.meta.url))

const scope = Scope.makeUnsafe()
let folder: string
/** A copy of `src` inside the example, so that its imports work. */
let copy: string
let databaseUrl: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "billwright-swap-storage-"))
  await chmod(folder, 0o755) // for root, whose Postgres runs as another user
  await mkdir(join(EXAMPLE, "dist"), { recursive: true })
  copy = await mkdtemp(join(EXAMPLE, "dist", "swapped-"))
  await cp(join(EXAMPLE, "src"), copy, { recursive: true })
  const server = EmbeddedPostgres.start({ directory: join(folder, "data"), settings: { fsync: "off" } })
  databaseUrl = Redacted.value((await Effect.runPromise(Scope.provide(server, scope))).url)
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await rm(copy, { recursive: true, force: true })
  await rm(folder, { recursive: true, force: true })
})

const run = async (program: string, env: Record<string, string>) =>
  (await promisify(execFile)(process.execPath, [program], { env })).stdout.trimEnd().split("\n")

/** Runs the program with the changed line. */
const swap = async (program: string): Promise<string> => {
  const swapped = join(copy, program)
  const source = await readFile(swapped, "utf8")
  const lines = source.split("\n")
  const changed = lines.map((line) =>
    line.endsWith("// the line to change") ? line.replace("./memory.ts", "./postgres.ts") : line,
  )
  expect(changed.filter((line, index) => line !== lines[index])).toHaveLength(1)
  await writeFile(swapped, changed.join("\n"))
  return swapped
}

const USAGE = "usage: 9007199254740996 call in 2 records"
const event = (invoice: string) =>
  `event: invoice.paid {"invoice_id":"${invoice}","customer_id":"cus_…","amount":4200,"currency":"EUR"}`

describe.each([
  ["main.ts", ["refused: usage_key_conflict", USAGE, event("in_2"), event("in_1")]],
  ["effect/main.ts", ["refused: UsageKeyConflict", USAGE]],
])("%s", (program, output) => {
  it("runs in memory", async () => {
    expect(await run(join(EXAMPLE, "src", program), {})).toEqual(output)
  })

  it("runs on Postgres after changing one line, with the same output", async () => {
    expect(await run(await swap(program), { DATABASE_URL: databaseUrl })).toEqual(output)
  })
})
