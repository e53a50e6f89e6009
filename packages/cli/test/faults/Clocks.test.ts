/**
 * Wrong clocks: rows 41 and 42 of the fault matrix.
 */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import type * as Cli from "../Command.ts"
import { answers, type Script } from "../Receiver.ts"
import { until } from "../Until.ts"
import { holdsAll } from "./Checks.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { RecordedTenant } from "./RecordedTenant.ts"
import { preloading, SHORT_LEASE, World } from "./World.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR
const TEN_MINUTES = 600_000
/** The most attempts of a delivery in test mode. */
const MAX_ATTEMPTS = 5

const world = new World({ skewMillis: 1_000 * DAY })
const { receiver } = world
const preload = preloading("ShiftedClock.ts")

beforeAll(() => world.start(), TIMEOUT)
afterEach(async () => {
  await world.endWorkers()
  await holdsAll(world)
}, TIMEOUT)
afterAll(() => world.stop(), TIMEOUT)

/** Makes the clock of a process jump, and waits until it has jumped. */
const jump = async (running: Cli.Running): Promise<void> => {
  const before = running.stderr().split("clock ").length
  running.child.kill("SIGUSR2")
  await until("the clock jumps", async () => running.stderr().split("clock ").length > before)
}

/** A receiver that is slow, so that the clock jumps during attempts, and that sometimes fails. */
const slow: Script = (exchange, index) => {
  setTimeout(() => exchange.answer(index % 3 === 0 ? 500 : 204), 50)
}

const publish = async (count: number): Promise<ReadonlyArray<string>> => {
  const events: Array<string> = []
  for (let n = 0; n < count; n++) events.push(await world.tenant.publish())
  return events
}

/** Every event arrived, and none was sent more often than it has attempts. */
const arrived = (path: string, events: ReadonlyArray<string>): void => {
  const requests = Map.groupBy(receiver.received(path), ({ headers }) => headers["webhook-id"])
  assert.sameMembers([...requests.keys()], [...events])
  for (const some of requests.values()) assert.isAtMost(some.length, MAX_ATTEMPTS)
}

describe("a worker", () => {
  it("loses nothing when its clock jumps forward and back by an hour", ofRows(41), async () => {
    const target = await world.target("/jumps")
    receiver.script(target.path, slow)
    const worker = await world.worker(undefined, {
      ...preload,
      CLOCK_JUMPS_MILLIS: [HOUR, -2 * HOUR, HOUR].join(),
    })
    const right = await publish(5)
    await receiver.next(target.path, 5)
    await jump(worker)
    const ahead = await publish(5)
    await receiver.next(target.path, 10)
    await jump(worker)
    // With a clock that is an hour behind, newly published events are not due.
    const behind = await publish(5)
    await jump(worker)
    const events = [...right, ...ahead, ...behind]
    receiver.script(target.path, answers(204))
    await world.drain()
    arrived(target.path, events)
    await world.retire(target)
  })

  it.each([TEN_MINUTES, -TEN_MINUTES])(
    "loses nothing when its clock is off by %i ms, beside a worker whose clock is right",
    ofRows(42),
    async (offset) => {
      const target = await world.target(`/off${offset}`)
      receiver.script(target.path, slow)
      await Promise.all([
        world.worker(),
        world.worker(undefined, { ...preload, CLOCK_OFFSET_MILLIS: String(offset) }),
      ])
      const events = await publish(20)
      await until("all are seen", async () => {
        const seen = new Set(receiver.received(target.path).map(({ headers }) => headers["webhook-id"]))
        return seen.size === events.length
      })
      receiver.script(target.path, answers(204))
      await world.drain()
      arrived(target.path, events)
      await world.retire(target)
    },
  )
})

/** The points of a series, as the API answers them. */
interface Point {
  readonly start: string
  readonly quantity: number
}

/** A server whose clock starts at an instant and jumps after each record. */
const recordAt = async (at: string, jumps: ReadonlyArray<number>, query: string) => {
  const target = await world.target(`/${at}`)
  const server = await world.server(SHORT_LEASE, {
    ...preload,
    CLOCK_AT: at,
    CLOCK_JUMPS_MILLIS: jumps.join(),
    TZ: "Europe/Berlin",
  })
  const tenant = new RecordedTenant(server.url, world.keys.test, world.journal, "test:default")
  const { id } = await tenant.request("POST", "/customers", { name: at, email: "ada@example.com" })
  for (let n = 0; n <= jumps.length; n++) {
    const meter = { customer_id: id, product_id: "api", unit: "call" }
    await tenant.request("POST", "/usage", { ...meter, quantity: 2 ** n })
    await tenant.publish()
    await receiver.next(target.path, n + 1)
    if (n < jumps.length) await jump(server)
  }
  await world.drain()
  const { data } = await tenant.request("GET", `/usage/series?customer_id=${String(id)}&${query}`)
  assert.strictEqual(await server.stop(), 0)
  assert.lengthOf(receiver.received(target.path), jumps.length + 1)
  await world.retire(target)
  return (data as ReadonlyArray<Point>).map(({ quantity, start }) => [start, quantity])
}

describe("a server", () => {
  it("counts the days of a leap year", ofRows(41), async () => {
    const query = "window=day&start_date=2028-02-28&end_date=2028-03-01"
    assert.deepStrictEqual(await recordAt("2028-02-28T23:30:00Z", [HOUR, DAY], query), [
      ["2028-02-28T00:00:00.000Z", 1],
      ["2028-02-29T00:00:00.000Z", 2],
      ["2028-03-01T00:00:00.000Z", 4],
    ])
  })

  it("counts the hours of a day with 23 hours", ofRows(41), async () => {
    const query = "window=hour&start_date=2028-03-26&end_date=2028-03-26&timezone=Europe/Berlin"
    const points = await recordAt("2028-03-26T00:30:00Z", [HOUR], query)
    assert.lengthOf(points, 23)
    assert.deepStrictEqual(points.slice(1, 3), [
      ["2028-03-26T00:00:00.000Z", 1],
      ["2028-03-26T01:00:00.000Z", 2],
    ])
  })
})
