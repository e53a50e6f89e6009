/**
 * Workers that end in the middle of an attempt: rows 1 to 5 of the fault matrix.
 */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { isPooled } from "../FaultyPostgres.ts"
import { answers, holds } from "../Receiver.ts"
import { INVOICE } from "../Tenant.ts"
import { until } from "../Until.ts"
import { checkAll, holdsAll, outcomes } from "./Checks.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { World } from "./World.ts"

const world = new World()
const { postgres, receiver } = world

beforeAll(() => world.start(), TIMEOUT)
afterEach(async () => {
  await world.endWorkers()
  await holdsAll(world)
}, TIMEOUT)
afterAll(() => world.stop(), TIMEOUT)

/** A lease that no test waits for. */
const LONG_LEASE = ["--lease-seconds", "3600", "--attempt-seconds", "600"]

const leases = async (): Promise<number> => {
  const [row] = await postgres.query(
    "select count(*) as n from billwright.webhook_pending where leased_until is not null",
  )
  return Number(row!["n"])
}

/** Starts another worker, and waits until the leases of the dead one have ended and everything is delivered. */
const heal = async (): Promise<void> => {
  await world.worker()
  await world.tenant.drain()
}

/** The leases of workers whose death would be noticed. */
const watchedLeases = () =>
  postgres.query(`select 1 from billwright.webhook_pending q
join billwright.webhook_workers w on w.worker = left(q.lease_token::text, 8)`)

/** The offers of workers to publications of other processes. */
const offers = () =>
  postgres.query(`select from billwright.webhook_workers
where offered_places > 0 and not pg_try_advisory_xact_lock_shared(hashtextextended('billwright offer of billwright: '
  || worker || ' ' || floor(extract(epoch from clock_timestamp()))::bigint, 0))`)

/** As large as an event can be: more than one read of a socket returns. */
const LARGE = {
  ...INVOICE,
  metadata: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`key${n}`, "😀".repeat(500)])),
}

describe("a worker that is killed", () => {
  it("after the claim and before a request: another worker sends the event", ofRows(1), async () => {
    const target = await world.target("/claimed")
    const worker = await world.worker()
    receiver.isDeaf = true
    const connected = receiver.until("connection")
    const eventId = await world.tenant.publish()
    await connected
    assert.strictEqual(await leases(), 1)
    await worker.stop("SIGKILL")
    receiver.drop()
    receiver.isDeaf = false
    assert.lengthOf(receiver.received(target.path), 0)

    await heal()
    const [delivery] = await checkAll(world, target, [eventId])
    assert.deepStrictEqual(outcomes(delivery!), ["unknown", 204])
    assert.lengthOf(receiver.received(target.path), 1)
    await world.retire(target)
  })

  // Behind a pooler, a worker offers nothing.
  it.skipIf(isPooled)(
    "after a publication has leased it: another worker sends the event, and those that follow",
    ofRows(1),
    async () => {
      const target = await world.target("/leased")
      const worker = await world.worker(LONG_LEASE)
      await until("the offer of the worker", async () => (await offers()).length === 1)
      receiver.isDeaf = true
      const connected = receiver.until("connection")
      const eventId = await world.tenant.publish()
      await connected
      // Publications make tokens of version 8.
      const handed = await postgres.query(
        "select from billwright.webhook_pending where substr(lease_token::text, 15, 1) = '8'",
      )
      assert.lengthOf(handed, 1)
      await worker.stop("SIGKILL")
      receiver.drop()
      receiver.isDeaf = false
      await until("the end of its offer", async () => (await offers()).length === 0)
      const later = await world.tenant.publish()
      await world.worker(LONG_LEASE)
      for (const id of [eventId, later]) {
        await world.tenant.deliveryThat(id, ({ status }) => status === "Delivered")
      }
      const deliveries = await checkAll(world, target, [eventId, later])
      assert.deepStrictEqual(
        deliveries.map((delivery) => outcomes(delivery)),
        [["unknown", 204], [204]],
      )
      assert.lengthOf(receiver.received(target.path), 2)
      await world.retire(target)
    },
  )

  // Behind a pooler, nobody notices a death.
  it.skipIf(isPooled)(
    "beside a worker that lives: that one sends the event long before the lease ends",
    ofRows(1),
    async () => {
      const target = await world.target("/beside")
      const worker = await world.worker(LONG_LEASE)
      receiver.isDeaf = true
      const connected = receiver.until("connection")
      const eventId = await world.tenant.publish()
      await connected
      await world.worker(LONG_LEASE)
      await until("the session of the worker", async () => (await watchedLeases()).length === 1)
      await worker.stop("SIGKILL")
      receiver.drop()
      receiver.isDeaf = false

      await world.tenant.deliveryThat(eventId, ({ status }) => status === "Delivered")
      const [delivery] = await checkAll(world, target, [eventId])
      assert.deepStrictEqual(outcomes(delivery!), ["unknown", 204])
      assert.lengthOf(receiver.received(target.path), 1)
      await world.retire(target)
    },
  )

  it("after the 2xx and before the commit: the same request is sent again", ofRows(2), async () => {
    const target = await world.target("/answered")
    receiver.script(target.path, holds)
    const worker = await world.worker()
    const eventId = await world.tenant.publish()
    const exchange = await receiver.next(target.path, 1)
    const session = postgres.open()
    await session.query("begin", "lock table billwright.webhook_pending in exclusive mode")
    exchange.answer(204)
    await until("the write of the result", async () => {
      const waiting = await postgres.query(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%settle_deliveries%'",
      )
      return waiting.length > 0
    })
    await worker.stop("SIGKILL")
    // Postgres continues a statement without its client, so the backend is ended too: it must not commit.
    await postgres.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'",
    )
    await session.query("rollback")
    await session.close()
    receiver.script(target.path, answers(204))

    await heal()
    const [delivery] = await checkAll(world, target, [eventId])
    assert.deepStrictEqual(outcomes(delivery!), ["unknown", 204])
    assert.lengthOf(receiver.received(target.path), 2)
    await world.retire(target)
  })

  it("after the commit: nothing is sent again", ofRows(3), async () => {
    const target = await world.target("/committed")
    const worker = await world.worker()
    const eventId = await world.tenant.publish()
    await world.tenant.deliveryThat(eventId, ({ status }) => status === "Delivered")
    await worker.stop("SIGKILL")

    const later = await world.tenant.publish()
    await heal()
    await checkAll(world, target, [eventId, later])
    assert.lengthOf(receiver.received(target.path), 2)
    await world.retire(target)
  })

  it("with half of the body sent: the whole request is sent again", ofRows(4), async () => {
    const target = await world.target("/half")
    receiver.stall(target.path, true)
    const worker = await world.worker()
    const stalled = receiver.until("stalled")
    const eventId = await world.tenant.publish(LARGE)
    await stalled
    await worker.stop("SIGKILL")
    receiver.drop()
    receiver.stall(target.path, false)

    await heal()
    const [delivery] = await checkAll(world, target, [eventId])
    assert.deepStrictEqual(outcomes(delivery!), ["unknown", 204])
    assert.strictEqual(receiver.begun(target.path), 2)
    assert.lengthOf(receiver.received(target.path), 1)
    await world.retire(target)
  })
})

describe("a worker that is told to stop during an attempt", () => {
  it("waits for the answer, writes it and ends with exit code 0", ofRows(5), async () => {
    const target = await world.target("/finished")
    receiver.script(target.path, holds)
    const worker = await world.worker([])
    const eventId = await world.tenant.publish()
    const exchange = await receiver.next(target.path, 1)
    const stopping = worker.stop("SIGTERM")
    exchange.answer(200)
    assert.strictEqual(await stopping, 0)
    assert.strictEqual(await leases(), 0)

    const [delivery] = await checkAll(world, target, [eventId])
    assert.deepStrictEqual(outcomes(delivery!), [200])
    await world.retire(target)
  })

  it("releases a delivery that takes longer: another worker sends it at once", ofRows(5), async () => {
    const target = await world.target("/released")
    receiver.script(target.path, holds)
    const worker = await world.worker([])
    const eventId = await world.tenant.publish()
    await receiver.next(target.path, 1)
    const stoppedAt = Date.now()
    assert.strictEqual(await worker.stop("SIGTERM"), 0)
    // The promise is 5 seconds. The rest is for a busy machine.
    assert.isBelow(Date.now() - stoppedAt, 8_000)
    // The lease of 30 seconds is released, so others don't wait for its end.
    assert.strictEqual(await leases(), 0)
    assert.deepInclude(await world.tenant.deliveryOf(eventId), { status: "Pending", last_error: "unknown" })

    receiver.script(target.path, answers(204))
    await heal()
    const [delivery] = await checkAll(world, target, [eventId])
    assert.deepStrictEqual(outcomes(delivery!), ["unknown", 204])
    await world.retire(target)
  })
})
