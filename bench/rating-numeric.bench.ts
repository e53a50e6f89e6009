/**
 * Rating equals Postgres `numeric` to the last digit on 100,000 random charges, quantities, shares and discounts.
 *
 * It runs the test of `packages/engine/test/postgres` with that many cases; one case that differs fails it.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { save } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"

const CASES = process.env["BENCH_QUICK"] === "1" ? 2_000 : 100_000
const ROOT = join(import.meta.dirname, "..")
const ARGUMENTS = ["run", "--config", "vitest.workspace.ts", "--project", "engine-postgres"]

/** Runs the comparison. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const url = await server.createDatabase("bench_rating_numeric")
    const started = performance.now()
    const child = spawn(process.execPath, [join(ROOT, "node_modules/vitest/vitest.mjs"), ...ARGUMENTS], {
      cwd: ROOT,
      stdio: "inherit",
      env: { ...process.env, DATABASE_URL: url, NUMERIC_CASES: String(CASES) },
    })
    const [code] = (await once(child, "exit")) as [number | null]
    if (code !== 0) throw new Error("rating differs from Postgres numeric: see above")
    const seconds = (performance.now() - started) / 1000
    console.log(
      `${CASES.toLocaleString("en-US")} cases are equal to the last digit, Postgres ${server.version}`,
    )
    save("rating-numeric", {
      title: `Rating compared with Postgres numeric, Postgres ${server.version}`,
      cases: CASES,
      different: 0,
      seconds,
    })
  } finally {
    await server.stop()
  }
}
