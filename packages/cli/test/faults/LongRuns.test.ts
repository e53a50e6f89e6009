/**
 * Commands that may take hours, on a Postgres that stops answering while they run.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "../Cli.ts"
import { FaultyPostgres } from "../FaultyPostgres.ts"
import { until } from "../Until.ts"
import { TIMEOUT } from "./Matrix.ts"

const postgres = new FaultyPostgres({})
const children = new Set<ChildProcess>()

const migrated = async (...args: ReadonlyArray<string>): Promise<void> => {
  const env = { DATABASE_URL: postgres.url }
  const { code, stderr } = await Cli.run(["migrate", "--store", "postgres", ...args], { env })
  assert.strictEqual(code, 0, stderr)
}

beforeAll(async () => {
  await postgres.start()
  await migrated()
}, TIMEOUT)

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL")
  await postgres.remove()
}, TIMEOUT)

/** Starts a command, and waits until it waits for a lock of the test. */
const heldUp = async (args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, [Cli.bin, ...args, "--store", "postgres"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, DATABASE_URL: postgres.url },
  })
  children.add(child)
  const closed = once(child, "close")
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk))
  await until("a command that waits", async () => {
    const waiting = await postgres.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'")
    return waiting.length > 0
  })
  return {
    child,
    stderr: () => stderr,
    end: async () => {
      await closed
      return child.exitCode
    },
  }
}

const AUDITED = "lock table billwright.usage_records in access exclusive mode"
const MIGRATED = "select pg_advisory_xact_lock(hashtextextended('billwright migrations of other', 0))"

/** Starts a command that waits for a lock, runs the test, and releases the lock at the end. */
const whileHeldUp = async (
  lock: string,
  args: ReadonlyArray<string>,
  act: (command: Awaited<ReturnType<typeof heldUp>>, letGo: () => Promise<void>) => Promise<void>,
): Promise<void> => {
  const holder = postgres.open()
  await holder.query("begin", lock)
  const command = await heldUp(args)
  await act(command, holder.close).finally(holder.close)
}

const frozen = async (act: () => Promise<void>): Promise<void> => {
  const thaw = await postgres.freeze()
  await act().finally(thaw)
}

describe.each([
  ["audit usage", AUDITED, ["audit", "usage"]],
  ["migrate", MIGRATED, ["migrate", "--schema", "other"]],
])("billwright %s", (_, lock, args) => {
  it("ends when it is interrupted, although Postgres is frozen", { timeout: TIMEOUT }, () =>
    whileHeldUp(lock, args, (command) =>
      frozen(async () => {
        command.child.kill("SIGINT")
        assert.strictEqual(await command.end(), 130)
        assert.notInclude(command.stderr(), "Error")
      }),
    ),
  )

  it("fails by itself when Postgres is frozen, and says why", { timeout: TIMEOUT }, () =>
    whileHeldUp(lock, args, (command) =>
      frozen(async () => {
        assert.strictEqual(await command.end(), 1)
        assert.match(command.stderr(), /Postgres stopped answering after \d+ s/)
      }),
    ),
  )

  it("prints that it is still running while Postgres works", { timeout: TIMEOUT }, () =>
    whileHeldUp(lock, args, async (command, letGo) => {
      await until("a line of progress", async () => / is still running after \d+ s/.test(command.stderr()))
      await letGo()
      assert.strictEqual(await command.end(), 0)
    }),
  )
})
