import { spawnSync } from "node:child_process"
import { chownSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
/**
 * Servers whose Postgres fails under load: rows 14 to 19, 23, 25 and 26 of the fault matrix. They refuse requests that
 * they can't store, within a time limit, and recover by themselves.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "../Cli.ts"
import { isPooled } from "../FaultyPostgres.ts"
import { until } from "../Until.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import type { Traffic } from "./Traffic.ts"
import { get, isRefusingAll, Withstanding } from "./Withstand.ts"
import { SHORT_LEASE, World } from "./World.ts"

/** Fewer connections than clients, so that a fault can use up all of them. */
const POOL_SIZE = 4
const DOWN_MILLIS = 30_000

const world = new World({
  settings: { max_connections: "24", autovacuum: "off" },
  env: { DATABASE_POOL_SIZE: String(POOL_SIZE) },
  serverArgs: SHORT_LEASE,
  isProxied: true,
})
const { postgres } = world
const clients = new Withstanding(world)

beforeAll(async () => {
  await world.start()
  await clients.start()
}, TIMEOUT)

afterAll(async () => {
  assert.deepStrictEqual(await world.stop(), [0])
}, TIMEOUT)

/** Checks that writes are refused and reads work. */
const isRefusingWrites = async (traffic: Traffic): Promise<void> => {
  await traffic.refused(2)
  assert.strictEqual(await get(world, "/v1/customers"), 200)
}

/** The size of a disk that a test fills with usage records. */
const DISK_BYTES = 4 * 2 ** 20

const mount = (...args: ReadonlyArray<string>): boolean => spawnSync("mount", args).status === 0
const unmount = (directory: string): boolean => spawnSync("umount", ["--lazy", directory]).status === 0

/** Whether a test can mount a disk here: it needs Linux, root, and a container that allows it. */
const canMount = (() => {
  if (process.platform !== "linux" || userInfo().uid !== 0) return false
  const directory = join(postgres.directory, "probe")
  mkdirSync(directory)
  return mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", directory) && unmount(directory)
})()

/** The promise is 5 seconds. The rest is for a busy machine. */
const MAX_END_MILLIS = 20_000

describe("a server", () => {
  it("withstands an immediate restart of Postgres", ofRows(14), () =>
    clients.withstand({
      fail: async () => {
        await postgres.crash()
        return () => postgres.start()
      },
      during: isRefusingAll(world),
    }),
  )

  it("withstands the kill of a backend, which drops every session", ofRows(15), () =>
    clients.withstand({
      fail: async () => async () => {},
      during: async (traffic) => {
        for (let n = 0; n < 3; n++) {
          await postgres.killBackend()
          await until("Postgres is back", () =>
            postgres.query("select 1").then(
              () => true,
              () => false,
            ),
          )
          await traffic.acknowledged()
        }
      },
    }),
  )

  it("withstands a Postgres that is down for 30 seconds", ofRows(16), () =>
    clients.withstand({
      fail: async () => {
        await postgres.crash()
        return () => postgres.start()
      },
      during: async (traffic) => {
        const end = Date.now() + DOWN_MILLIS
        await isRefusingAll(world)(traffic)
        while (Date.now() < end) {
          assert.strictEqual(await get(world, "/readyz"), 503)
          assert.strictEqual(await get(world, "/livez"), 200)
          await traffic.refused()
          await pause(1_000)
        }
      },
    }),
  )

  it("withstands repeated terminations of its connections", ofRows(11), async () => {
    await clients.withstand({
      fail: async () => async () => {},
      during: async (traffic) => {
        for (let terminated = 0; terminated < 20 * POOL_SIZE;) {
          terminated += await postgres.terminate()
          await traffic.acknowledged()
        }
      },
    })
    assert.isAbove(world.proxy.seen("57P01"), 0)
  })

  it("withstands a lock that all of its connections wait for", ofRows(23), async () => {
    await clients.withstand({
      fail: async () => {
        const session = postgres.open()
        await session.query("begin", "lock table billwright.usage_records in access exclusive mode")
        return async () => {
          await session.query("rollback")
          await session.close()
        }
      },
      during: (traffic) => traffic.refused(2),
    })
    assert.isAbove(world.proxy.seen("57014"), 0)
  })

  it("withstands a Postgres that becomes read-only, and still reads from it", ofRows(25), async () => {
    const readOnly = (setting: string) =>
      postgres.query(`alter system set default_transaction_read_only = ${setting}`, "select pg_reload_conf()")
    await clients.withstand({
      fail: async () => {
        await readOnly("on")
        return () => readOnly("off")
      },
      during: async (traffic) => {
        await isRefusingWrites(traffic)
        // Load balancers should use another server, if one with another Postgres exists.
        assert.strictEqual(await get(world, "/readyz"), 503)
      },
    })
    assert.isAbove(world.proxy.seen("25006"), 0)
  })

  it.skipIf(!canMount)("withstands a full disk, and still reads", ofRows(26), async () => {
    const directory = join(postgres.directory, "disk")
    const ballast = join(directory, "ballast")
    mkdirSync(directory)
    // Without this, the disk of the machine would be filled.
    assert.isTrue(mount("-t", "tmpfs", "-o", `size=${DISK_BYTES}`, "tmpfs", directory))
    try {
      const space = join(directory, "space")
      mkdirSync(space)
      const { gid, uid } = statSync(postgres.cluster)
      chownSync(space, uid, gid)
      const move = (to: string) => `alter table billwright.usage_records set tablespace ${to}`
      await postgres.query(`create tablespace small location '${space}'`, move("small"))
      await clients.withstand({
        fail: async () => {
          fillUp(ballast)
          return () => rmSync(ballast)
        },
        during: isRefusingWrites,
      })
      assert.isAbove(world.proxy.seen("53100"), 0)
      await postgres.query(move("pg_default"), "drop tablespace small")
    } finally {
      unmount(directory)
    }
  })

  it("withstands a Postgres that is frozen", ofRows(17), () =>
    clients.withstand({ fail: () => postgres.freeze(), during: isRefusingAll(world) }),
  )

  it("withstands lost packets, and drops those connections", ofRows(18), async () => {
    let before = 0
    await clients.withstand({
      fail: async () => {
        before = world.proxy.opened
        world.proxy.isBlackhole = true
        return () => {
          world.proxy.isBlackhole = false
        }
      },
      during: isRefusingAll(world),
    })
    assert.isAtLeast(world.proxy.opened - before, POOL_SIZE)
  })

  it("stops on a signal although its packets are lost", ofRows(5, 18), async () => {
    const [server, worker] = [await world.server([]), await world.worker()]
    world.proxy.isBlackhole = true
    try {
      const began = performance.now()
      assert.deepStrictEqual(await Promise.all([server.stop(), worker.stop()]), [0, 0])
      assert.isBelow(performance.now() - began, MAX_END_MILLIS)
    } finally {
      world.proxy.isBlackhole = false
      world.proxy.drop()
    }
  })

  it("withstands clients that take all connections of Postgres", ofRows(19), async () => {
    // A pooler says in its own words that it can't log in.
    const states = isPooled ? ["53300", "08P01"] : ["53300"]
    const seen = () => states.reduce((sum, state) => sum + world.proxy.seen(state), 0)
    const before = seen()
    await clients.withstand({ fail: () => postgres.occupy(), during: isRefusingAll(world) })
    assert.isAbove(seen(), before)
  })

  it("has no half-written data after all of these", ofRows(14, 15, 16, 17, 18, 19, 23, 25, 26), async () => {
    const audit = await Cli.run(["audit", "usage", "--store", "postgres"], { env: world.env })
    assert.strictEqual(
      audit.stdout,
      "live: every roll-up equals its records.\ntest: every roll-up equals its records.\n",
    )
    assert.strictEqual(audit.code, 0)
  })
})

/** Writes until the disk is full. */
const fillUp = (path: string): void => {
  for (let size = 2 ** 20; size >= 1;) {
    try {
      writeFileSync(path, Buffer.alloc(size), { flag: "a" })
    } catch {
      size = Math.floor(size / 2)
    }
  }
}
