/**
 * Changes by users while replays and attempts are running: rows 34 and 35 of the fault matrix.
 */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { answers, holds, isVerified } from "../Receiver.ts"
import { checkAll, holdsAll, outcomes, unchanged } from "./Checks.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { World } from "./World.ts"

const world = new World()
const { receiver } = world

beforeAll(() => world.start(), TIMEOUT)
afterEach(async () => {
  await world.endWorkers()
  await holdsAll(world)
}, TIMEOUT)
afterAll(() => world.stop(), TIMEOUT)

const many = <A>(count: number, make: () => Promise<A>): Promise<ReadonlyArray<A>> =>
  Promise.all(Array.from({ length: count }, make))

describe("replays at the same time", () => {
  it("of one delivery each make a delivery of the same event", ofRows(34), async () => {
    const target = await world.target("/replayed")
    await world.worker()
    const eventId = await world.tenant.publish()
    await world.tenant.drain()
    const { id } = await world.tenant.deliveryOf(eventId)
    const before = await checkAll(world, target, [eventId])
    const made = await many(10, () => world.tenant.request("POST", `/deliveries/${id}/replay`))
    assert.strictEqual(new Set(made.map((delivery) => delivery["id"])).size, 10)

    await world.tenant.drain()
    const after = await checkAll(world, target, [eventId])
    assert.lengthOf(receiver.received(target.path), 11)
    unchanged(after.slice(0, 1), before)
    await world.retire(target)
  })

  it("of the events that an endpoint missed make one delivery of each event", ofRows(34), async () => {
    const target = await world.target("/missed")
    const events = await many(5, () => world.tenant.publish())
    await world.tenant.request("PATCH", `/webhook_endpoints/${target.id}`, { status: "disabled" })
    await world.tenant.request("PATCH", `/webhook_endpoints/${target.id}`, { status: "enabled" })
    const since = new Date(Date.now() - 3_600_000).toISOString()
    const replay = () => world.tenant.request("POST", `/webhook_endpoints/${target.id}/replay`, { since })
    const counts = (await many(8, replay)).map((answer) => Number(answer["count"]))
    assert.deepStrictEqual(
      counts.sort((a, b) => b - a),
      [5, 0, 0, 0, 0, 0, 0, 0],
    )

    await world.worker()
    await world.tenant.drain()
    const deliveries = await checkAll(world, target, events)
    assert.lengthOf(deliveries, 10)
    assert.lengthOf(receiver.received(target.path), 5)
    await world.retire(target)
  })
})

describe("an endpoint that is changed during an attempt", () => {
  const change = async (
    path: string,
    reason: string,
    act: (id: string) => Promise<unknown>,
  ): Promise<void> => {
    const target = await world.target(path)
    receiver.script(path, holds)
    const worker = await world.worker([])
    const eventId = await world.tenant.publish()
    const exchange = await receiver.next(path, 1)
    // One event is already waiting, and one is published later.
    await act(target.id)
    const before = await checkAll(world, target, [eventId])
    assert.deepInclude(before[0], { status: "Failed", reason })
    // The receiver may have seen the request, and the attempt says so.
    assert.deepStrictEqual(outcomes(before[0]!), ["unknown"])

    await world.tenant.publish()
    exchange.answer(200)
    assert.strictEqual(await worker.stop(), 0)
    await world.worker()
    await world.tenant.drain()
    unchanged(await checkAll(world, target, [eventId]), before)
    assert.strictEqual(receiver.begun(path), 1)
  }

  it("gets nothing more when it is deleted", ofRows(35), () =>
    change("/deleted", "endpoint_deleted", (id) =>
      world.tenant.request("DELETE", `/webhook_endpoints/${id}`),
    ),
  )

  it("gets nothing more when it is disabled", ofRows(35), () =>
    change("/disabled", "endpoint_disabled", (id) =>
      world.tenant.request("PATCH", `/webhook_endpoints/${id}`, { status: "disabled" }),
    ),
  )

  it("gets both signatures in the next attempt when it has a new secret", ofRows(35), async () => {
    const target = await world.target("/rotated")
    receiver.script(target.path, holds)
    await world.worker()
    const eventId = await world.tenant.publish()
    const exchange = await receiver.next(target.path, 1)
    const { secret } = await world.tenant.request("POST", `/webhook_endpoints/${target.id}/rotate_secret`, {})
    receiver.script(target.path, answers(204))
    exchange.answer(500)
    const second = await receiver.next(target.path, 2)
    assert.isTrue(await isVerified(second, String(secret)))
    assert.isTrue(await isVerified(second, target.secret))
    assert.isFalse(await isVerified(exchange, String(secret)))

    await world.tenant.drain()
    const [delivery] = await checkAll(world, target, [eventId])
    assert.deepStrictEqual(outcomes(delivery!), [500, 204])
    await world.retire(target)
  })
})
