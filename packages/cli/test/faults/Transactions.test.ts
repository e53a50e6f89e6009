/**
 * Transactions that fail in the middle: rows 11 to 13, 20 to 22 and 24 of the fault matrix. The answers of Postgres that
 * the proxy saw show that the fault really happened.
 */
import { Choice } from "@billwright/simulation"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { isPooled } from "../FaultyPostgres.ts"
import { holds } from "../Receiver.ts"
import { until } from "../Until.ts"
import { holdsAll } from "./Checks.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { never } from "./Proxy.ts"
import { Withstanding } from "./Withstand.ts"
import { SHORT_LEASE, World } from "./World.ts"

const world = new World({ isProxied: true, settings: { deadlock_timeout: "100ms" } })
const { postgres, receiver } = world
const clients = new Withstanding(world)
const choice = new Choice(1)

beforeAll(async () => {
  await world.start()
  await clients.start()
  await world.worker()
}, TIMEOUT)
afterEach(() => holdsAll(world), TIMEOUT)
afterAll(async () => {
  assert.deepStrictEqual(await world.stop(), [0])
}, TIMEOUT)

/** Changes a setting for all new connections while clients work. */
const withSetting = async (name: string, value: string): Promise<() => Promise<void>> => {
  const reset = await postgres.set(name, value)
  world.proxy.drop()
  return async () => {
    await reset()
    world.proxy.drop()
  }
}

/**
 * Every third append fails as Postgres fails transactions that it can't serialize. Ours are at READ COMMITTED, whatever the
 * default is, so that real ones are too rare to wait for.
 */
const failToSerialize = async (): Promise<() => Promise<void>> => {
  const session = postgres.open()
  await session.query(
    "create sequence public.appends",
    "grant usage on sequence public.appends to public",
    `create function public.fail_to_serialize() returns trigger language plpgsql as $$
begin
  if nextval('public.appends') % 3 = 0 then raise 'could not serialize access' using errcode = '40001'; end if;
  return null;
end $$`,
    `create trigger fail_to_serialize before insert on billwright.usage_records
for each statement execute function public.fail_to_serialize()`,
  )
  return async () => {
    await session.query(
      "drop trigger fail_to_serialize on billwright.usage_records",
      "drop function public.fail_to_serialize()",
      "drop sequence public.appends",
    )
    await session.close()
  }
}

/** The backend of the server under test that waits for a lock. */
const waiting = () =>
  until("a backend that waits", async () => {
    const [row] = await postgres.query(
      "select pid from pg_stat_activity where usename = 'service' and wait_event_type = 'Lock'",
    )
    return row && Number(row["pid"])
  })

/** Usage that fires a threshold. Its record, the firing, the event and the delivery are in one transaction. */
const fire = async (name: string) => {
  const tenant = world.tenant
  const target = await tenant.endpoint(receiver.url(`/${name}`), ["usage.threshold"])
  const { id } = await tenant.request("POST", "/customers", { name, email: "ada@example.com" })
  const meter = { customer_id: id, product_id: "api", unit: "call", quantity: 10 }
  await tenant.request("POST", "/usage/thresholds", { ...meter, period: "lifetime" })
  return {
    record: tenant.request("POST", "/usage", { ...meter, idempotency_key: name }),
    /** Checks that everything is stored once. */
    check: async () => {
      const request = await receiver.next(`/${name}`, 1)
      assert.include(request.body, '"usage.threshold"')
      await world.drain()
      await holdsAll(world)
      assert.lengthOf(receiver.received(`/${name}`), 1)
      await tenant.request("DELETE", `/webhook_endpoints/${target.id}`)
    },
  }
}

describe("a transaction", () => {
  it("whose backend is terminated in the middle is repeated once", ofRows(11), async () => {
    const session = postgres.open()
    await session.query("begin", "lock table billwright.events in exclusive mode")
    const { check, record } = await fire("terminated")
    const pid = await waiting()
    await postgres.query(`select pg_terminate_backend(${pid})`)
    await world.proxy.until("57P01")
    await session.query("rollback")
    await session.close()
    await record
    await check()
  })

  it("that is the victim of a deadlock is repeated once", ofRows(20), async () => {
    const session = postgres.open()
    // It takes its locks in the other order, with a long deadlock_timeout. So the other transaction detects the deadlock
    // and is the victim.
    await session.query(
      "begin",
      "set local deadlock_timeout = '60s'",
      "lock table billwright.events in exclusive mode",
    )
    const { check, record } = await fire("deadlock")
    await waiting()
    await session.query("lock table billwright.usage_records in access exclusive mode")
    await world.proxy.until("40P01")
    await session.query("rollback")
    await session.close()
    await record
    await check()
  })
})

describe("clients get correct results", () => {
  it("while answers to COMMIT and to other statements are lost", ofRows(12), async () => {
    const before = world.proxy.cuts
    let commits = 0
    await clients.withstandFor(12, {
      fail: async () => {
        world.proxy.cutsAnswer = (data) => {
          const isCommit = data.includes("COMMIT\0")
          const isCut = choice.chance(isCommit ? 0.2 : 0.01)
          if (isCommit && isCut) commits++
          return isCut
        }
        return () => {
          world.proxy.cutsAnswer = never
        }
      },
    })
    assert.isAbove(commits, 0)
    assert.isAbove(world.proxy.cuts, before)
  })

  it("while connections are cut before COMMIT or another statement arrives", ofRows(13), async () => {
    const before = world.proxy.cuts
    await clients.withstandFor(12, {
      fail: async () => {
        world.proxy.cutsRequest = () => choice.chance(0.02)
        return () => {
          world.proxy.cutsRequest = never
        }
      },
    })
    assert.isAbove(world.proxy.cuts, before)
  })

  it("while transactions can't be serialized", ofRows(21), async () => {
    await clients.withstand({
      fail: failToSerialize,
      during: (traffic) => traffic.acknowledged(12),
    })
    assert.isAbove(world.proxy.seen("40001"), 0)
  })

  it("while locks are not available in time", ofRows(22), async () => {
    await clients.withstand({
      fail: async () => {
        const reset = await withSetting("lock_timeout", "50ms")
        const session = postgres.open()
        await session.query("begin", "lock table billwright.usage_records in share mode")
        return async () => {
          await session.query("rollback")
          await session.close()
          await reset()
        }
      },
      during: (traffic) => traffic.refused(2),
    })
    assert.isAbove(world.proxy.seen("55P03"), 0)
  })
})

describe("no HTTP request is sent in a transaction", () => {
  it("when a worker waits for a receiver for longer than a transaction may idle", ofRows(24), async () => {
    await world.endWorkers()
    // A pooled client uses the time-outs of the role. Other clients set their own.
    // Behind a pooler that is all of them, also those that a busy machine holds up while they work for clients.
    const limit = isPooled ? "1s" : "100ms"
    const reset = await postgres.set("idle_in_transaction_session_timeout", limit)
    const target = await world.target("/slow")
    receiver.script(target.path, holds)
    const worker = await world.worker([], { DATABASE_POOLED: "true" })
    await world.tenant.publish()
    const exchange = await receiver.next(target.path, 1)
    // A transaction may be open for a moment, but not since before the request.
    const [began] = await postgres.query("select clock_timestamp()::text as at")
    await postgres.query("select pg_sleep(0.3)")
    const open = await postgres.query(
      `select pid from pg_stat_activity where usename = 'service' and xact_start <= '${String(began!["at"])}'`,
    )
    assert.deepStrictEqual(open, [])
    exchange.answer(204)
    await world.drain()
    assert.strictEqual(await worker.stop(), 0)
    assert.strictEqual(world.proxy.seen("25P03"), 0)
    await world.retire(target)

    // Also under load, no transaction of ours idles for so long.
    await world.server(SHORT_LEASE, { DATABASE_POOLED: "true" })
    await clients.withstandFor(5, { fail: async () => reset })
    assert.strictEqual(world.proxy.seen("25P03"), 0)
  })
})
