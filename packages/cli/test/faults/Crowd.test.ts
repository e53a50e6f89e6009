/**
 * Many workers and no faults: row 8 of the fault matrix.
 */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { checkAll, holdsAll, outcomes } from "./Checks.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { type Target, World } from "./World.ts"

const WORKERS = 8
const ENDPOINTS = 20
const EVENTS = 100

const world = new World()
const { receiver } = world

beforeAll(() => world.start(), TIMEOUT)
afterAll(() => world.stop(), TIMEOUT)

it(`${WORKERS} workers send each of ${ENDPOINTS * EVENTS} deliveries once`, ofRows(8), async () => {
  const targets: Array<Target> = []
  for (let n = 0; n < ENDPOINTS; n++) targets.push(await world.target(`/crowd/${n}`))
  const starting = Array.from({ length: WORKERS }, () => world.worker([]))
  const events: Array<string> = []
  for (let n = 0; n < EVENTS; n++) events.push(await world.tenant.publish())
  const workers = await Promise.all(starting)
  await world.tenant.drain()

  for (const target of targets) {
    const deliveries = await checkAll(world, target, events)
    assert.isTrue(deliveries.every((delivery) => outcomes(delivery).join() === "204"))
    const ids = receiver.received(target.path).map(({ headers }) => headers["webhook-id"])
    assert.deepStrictEqual([...ids].sort(), [...events].sort())
  }
  const codes = await Promise.all(workers.map((worker) => worker.stop()))
  assert.deepStrictEqual([...new Set(codes)], [0])
  await holdsAll(world)
})
