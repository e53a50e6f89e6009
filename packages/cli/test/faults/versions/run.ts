/**
 * Runs the fault tests on other servers: `npm run faults:versions -- 15 16 17 18 pgbouncer`, or only some of these. With
 * `pgbouncer`, all connections of an application go through PgBouncer, to Postgres 18. Other arguments name test files, such
 * as `Outages`.
 *
 * The results of each file are kept beside this script, and the matrix of all of them is written to docs/fault-matrix.md.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { relative } from "node:path"
import { install, root, versionOf } from "../../../../postgres/scripts/Releases.ts"
import * as PgBouncer from "../../../../postgres/test/pgbouncer/PgBouncer.ts"
import { COLUMN, SERVER } from "./ColumnReporter.ts"
import { type Column, COLUMNS, matrix, write } from "./Columns.ts"

/** The version behind PgBouncer. */
const NEWEST = "18"

type Env = Readonly<Record<string, string>>

const environmentOf = async (column: Column): Promise<Env> => {
  const major = column === "pgbouncer" ? NEWEST : column
  const own = { FAULTS_MAJOR: major, FAULTS_PACKAGE_FOLDER: await install(major), [COLUMN]: column }
  if (column !== "pgbouncer") return { ...own, [SERVER]: `Postgres ${versionOf(major)}` }
  return {
    ...own,
    [SERVER]: `PgBouncer ${await PgBouncer.version()}, ${versionOf(major)}`,
    FAULTS_POOLER: "pgbouncer",
    DATABASE_POOLED: "true",
  }
}

const reporter = relative(root, `${import.meta.dirname}/ColumnReporter.ts`)
const VITEST = ["vitest", "run", "--config", "vitest.workspace.ts", "--project", "faults"]
const FLAGS = ["--max-workers", "1", "--reporter", "default", "--reporter", `./${reporter}`]

/** Whether the tests pass on a server. */
const passes = async (env: Env, files: ReadonlyArray<string>): Promise<boolean> => {
  process.stdout.write(`\n==> ${env[SERVER]}\n`)
  const tests = spawn("npx", [...VITEST, ...FLAGS, ...files], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  })
  const [code] = (await once(tests, "close")) as [number | null]
  return code === 0
}

const isColumn = (argument: string): argument is Column => COLUMNS.some((column) => column === argument)

/** The servers that were asked for. By default those that can run here. */
const chosen = async (named: ReadonlyArray<Column>): Promise<ReadonlyArray<Column>> => {
  if (named.includes("pgbouncer")) await PgBouncer.version()
  if (named.length > 0) return named
  return PgBouncer.version().then(
    () => COLUMNS,
    (error: unknown) => {
      process.stdout.write(`Without pgbouncer: ${String(error)}\n`)
      return COLUMNS.filter((column) => column !== "pgbouncer")
    },
  )
}

const given = process.argv.slice(2)
const files = given.filter((argument) => !isColumn(argument))
const failed: Array<string> = []
for (const column of await chosen(given.filter(isColumn))) {
  if (!(await passes(await environmentOf(column), files))) failed.push(column)
}
write()
process.stdout.write(`\n${matrix()}\n`)
if (failed.length > 0) {
  process.stderr.write(`\nFaults are not withstood on ${failed.join(", ")}.\n`)
  process.exitCode = 1
}
