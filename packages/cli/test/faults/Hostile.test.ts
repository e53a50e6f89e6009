/**
 * Hostile receivers: rows 37 and 38 of the fault matrix, with a real worker and a real Postgres. The tests of the
 * transport check the result of each answer. Here every result must be stored, and other receivers must still get their
 * events.
 */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { until } from "../Until.ts"
import { holdsAll } from "./Checks.ts"
import { HostileReceiver, OUTCOMES, SLOW } from "./HostileReceiver.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { World } from "./World.ts"

const world = new World()
const hostile = new HostileReceiver()

/** Long enough for everything that must happen before the first attempt ends. */
const LONG_ATTEMPTS = ["--lease-seconds", "20", "--attempt-seconds", "15"]
/** How many requests a worker sends to one endpoint at once. */
const AT_ONCE = 8

beforeAll(async () => {
  await Promise.all([world.start(), hostile.start()])
}, TIMEOUT)
afterEach(async () => {
  await world.endWorkers()
  await holdsAll(world)
}, TIMEOUT)
afterAll(async () => {
  hostile.stop()
  await world.stop()
}, TIMEOUT)

/** Creates an endpoint for each behaviour. Returns their ids. */
const endpointsFor = async (names: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>> => {
  const made = new Map<string, string>()
  for (const name of names) {
    made.set(name, (await world.tenant.endpoint(hostile.url(name), ["invoice.paid"])).id)
  }
  return made
}

const publish = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n++) await world.tenant.publish()
}

const retireAll = async (endpoints: ReadonlyMap<string, string>): Promise<void> => {
  for (const id of endpoints.values()) await world.tenant.request("DELETE", `/webhook_endpoints/${id}`)
  await world.drain()
}

describe("a hostile receiver", () => {
  it("gets an attempt that ends and is stored", ofRows(37, 38), async () => {
    const endpoints = await endpointsFor(Object.keys(OUTCOMES))
    await world.tenant.publish()
    await world.worker()
    for (const [name, endpoint_id] of endpoints) {
      const [delivery] = await world.tenant.deliveries({ endpoint_id })
      const { attempts } = await world.tenant.deliveryThatIs(
        delivery!.id,
        (found) => found.attempts.length > 0,
      )
      const { last_error, last_response_status, status } = OUTCOMES[name]!
      assert.deepInclude(attempts[0]!, { error: last_error, response_status: last_response_status }, name)
      const found = await world.tenant.delivery(delivery!.id)
      assert.strictEqual(found.status === "Delivered", status === "Delivered", name)
      // The checkers don't know this receiver, so they can't know that it accepted requests.
      if (status === "Delivered") world.damages(found.id)
    }
    await retireAll(endpoints)
  })

  it("doesn't delay other receivers, even when it holds as many requests as it can", ofRows(37), async () => {
    const names = Object.keys(SLOW)
    const endpoints = await endpointsFor(names)
    const asked = new Map(names.map((name) => [name, hostile.asked(name)]))
    const ended = () => names.map((name) => hostile.ended(name))
    const endedBefore = ended()
    await world.worker(LONG_ATTEMPTS)
    await publish(AT_ONCE + 2)
    for (const name of names) {
      const full = asked.get(name)! + AT_ONCE
      await until(`${name}, as often as it may`, () => Promise.resolve(hostile.asked(name) === full))
    }
    const good = await world.target("/beside-hostile")
    await publish(10)
    await world.receiver.next(good.path, 10)
    assert.deepStrictEqual(ended(), endedBefore, "all came before a hostile attempt ended")
    for (const name of names) assert.strictEqual(hostile.asked(name), asked.get(name)! + AT_ONCE, name)
    await retireAll(endpoints)
    await world.retire(good)
  })
})
