import { spawnSync } from "node:child_process"
import { chownSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
/**
 * A server whose Postgres fails under load: it refuses what it can't store, in time, and recovers by itself.
 */
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import * as Cli from "./Cli.ts"
import { FaultyPostgres } from "./FaultyPostgres.ts"
import { UsageLoad } from "./UsageLoad.ts"

const TIMEOUT = 60_000
const CLIENTS = 9
/** Fewer than clients, so that a fault can use all of it up. */
const POOL_SIZE = 4
/** Promised are 5 seconds. The rest is for a machine that has other things to do, too. */
const MAX_ANSWER_MILLIS = 8_000

const postgres = new FaultyPostgres({ max_connections: "20", autovacuum: "off" })
let env: Record<string, string> = {}
let server: Cli.Serving

beforeAll(async () => {
  await postgres.start()
  env = { DATABASE_URL: postgres.url, DATABASE_POOL_SIZE: String(POOL_SIZE), ...Cli.ENCRYPTION }
  server = await Cli.serve(["--store", "postgres"], { env })
}, TIMEOUT)

afterAll(async () => {
  const code = await server.stop()
  await postgres.remove()
  assert.strictEqual(code, 0)
}, TIMEOUT)

const get = async (path: string): Promise<Cli.Answer> => {
  const sentAt = performance.now()
  const answer = await Cli.call(server.url, server.keys.test, "GET", path)
  assert.isBelow(performance.now() - sentAt, MAX_ANSWER_MILLIS, path)
  return answer
}

const readiness = async (status: number): Promise<void> => {
  while ((await get("/readyz")).status !== status);
}

/** What was seen while a fault lasted. */
type During = (load: UsageLoad) => Promise<void>

const isRefusingAll: During = async (load) => {
  await load.refused(2)
  await readiness(503)
}

const isRefusingWrites =
  (customer: string): During =>
  async (load) => {
    await load.refused(2)
    assert.strictEqual((await get(`/v1/usage?customer_id=${customer}`)).status, 200)
  }

const createCustomer = async (): Promise<string> => {
  const body = { name: "Ada", email: "ada@example.com" }
  return String((await Cli.call(server.url, server.keys.test, "POST", "/v1/customers", body)).body["id"])
}

/**
 * Posts usage before, during and after a fault. `fail` brings the fault about and gives what ends it; `during` is
 * what must be seen in between.
 */
const withstand = async (
  fail: () => Promise<() => unknown>,
  during: During,
  customer?: string,
): Promise<void> => {
  const name = customer ?? (await createCustomer())
  const load = new UsageLoad(server.url, server.keys.test, name, CLIENTS)
  await load.acknowledged(3)
  const heal = await fail()
  try {
    await during(load)
    assert.strictEqual((await get("/livez")).status, 200)
  } finally {
    await heal()
  }
  // Nothing is restarted: every client gets through again.
  await load.acknowledged()
  await readiness(200)
  const expected = await load.end()
  assert.deepStrictEqual(load.broken, [])
  assert.isBelow(load.slowest, MAX_ANSWER_MILLIS)
  const { text } = await get(`/v1/usage?customer_id=${name}`)
  assert.include(text, `"total_quantity":${expected.quantity},`)
  assert.include(text, `"record_count":${expected.records},`)
  assert.strictEqual(server.child.exitCode, null)
}

/** Room for a table that takes records until there is no more. */
const DISK_BYTES = 4 * 2 ** 20

const mount = (...args: ReadonlyArray<string>): boolean => spawnSync("mount", args).status === 0
const unmount = (directory: string): boolean => spawnSync("umount", ["--lazy", directory]).status === 0

/** Whether this machine lets a test have a disk of its own: Linux, as root, outside of a locked-down container. */
const canMount = (() => {
  if (process.platform !== "linux" || userInfo().uid !== 0) return false
  const directory = join(postgres.directory, "probe")
  mkdirSync(directory)
  return mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", directory) && unmount(directory)
})()

describe("a server", () => {
  it("withstands a crash of Postgres", { timeout: TIMEOUT }, () =>
    withstand(async () => {
      await postgres.crash()
      return () => postgres.start()
    }, isRefusingAll),
  )

  it("withstands that its connections are terminated over and over", { timeout: TIMEOUT }, () =>
    withstand(
      async () => async () => {},
      async (load) => {
        for (let terminated = 0; terminated < 20 * POOL_SIZE;) {
          terminated += await postgres.terminate()
          await load.acknowledged()
        }
      },
    ),
  )

  it("withstands a lock that all of its connections wait for", { timeout: TIMEOUT }, () =>
    withstand(
      async () => {
        const session = postgres.open()
        await session.query("begin", "lock table billwright.usage_records in access exclusive mode")
        return async () => {
          await session.query("rollback")
          await session.close()
        }
      },
      (load) => load.refused(2),
    ),
  )

  it("withstands that Postgres becomes read-only, and goes on reading", { timeout: TIMEOUT }, async () => {
    const customer = await createCustomer()
    const readOnly = (setting: string) =>
      postgres.query(`alter system set default_transaction_read_only = ${setting}`, "select pg_reload_conf()")
    await withstand(
      async () => {
        await readOnly("on")
        return () => readOnly("off")
      },
      isRefusingWrites(customer),
      customer,
    )
  })

  it.skipIf(!canMount)("withstands a full disk, and goes on reading", { timeout: TIMEOUT }, async () => {
    const directory = join(postgres.directory, "disk")
    const ballast = join(directory, "ballast")
    mkdirSync(directory)
    // Or the disk of the machine would be filled.
    assert.isTrue(mount("-t", "tmpfs", "-o", `size=${DISK_BYTES}`, "tmpfs", directory))
    try {
      const space = join(directory, "space")
      mkdirSync(space)
      const { gid, uid } = statSync(postgres.cluster)
      chownSync(space, uid, gid)
      const move = (to: string) => `alter table billwright.usage_records set tablespace ${to}`
      await postgres.query(`create tablespace small location '${space}'`, move("small"))
      const customer = await createCustomer()
      await withstand(
        async () => {
          fillUp(ballast)
          return () => rmSync(ballast)
        },
        isRefusingWrites(customer),
        customer,
      )
      await postgres.query(move("pg_default"), "drop tablespace small")
    } finally {
      unmount(directory)
    }
  })

  it("withstands a Postgres that is frozen", { timeout: TIMEOUT }, () =>
    withstand(() => postgres.freeze(), isRefusingAll),
  )

  it("withstands that others take all connections", { timeout: TIMEOUT }, () =>
    withstand(() => postgres.occupy(), isRefusingAll),
  )

  it("has stored nothing by halves", { timeout: TIMEOUT }, async () => {
    const audit = await Cli.run(["audit", "usage", "--store", "postgres"], { env })
    assert.strictEqual(
      audit.stdout,
      "live: every roll-up equals its records.\ntest: every roll-up equals its records.\n",
    )
    assert.strictEqual(audit.code, 0)
  })
})

/** Writes until the disk takes no more. */
const fillUp = (path: string): void => {
  for (let size = 2 ** 20; size >= 1;) {
    try {
      writeFileSync(path, Buffer.alloc(size), { flag: "a" })
    } catch {
      size = Math.floor(size / 2)
    }
  }
}
