/**
 * Deliveries that can't be sent or read: rows 9 and 10 of the fault matrix.
 */
import { Id } from "@billwright/core"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "../Cli.ts"
import { checkAll, holdsAll, movedForward, outcomes, stored } from "./Checks.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { World } from "./World.ts"

const EVENTS = 20

// `plain`, because a test stores a secret that is not encrypted.
const world = new World({
  env: { BILLWRIGHT_ENCRYPTION_KEYS: `${Cli.ENCRYPTION.BILLWRIGHT_ENCRYPTION_KEYS},plain` },
})
const { postgres, receiver } = world

beforeAll(() => world.start(), TIMEOUT)
afterEach(async () => {
  await world.endWorkers()
  await holdsAll(world)
}, TIMEOUT)
afterAll(() => world.stop(), TIMEOUT)

const publishAll = async (): Promise<ReadonlyArray<string>> => {
  const events: Array<string> = []
  for (let n = 0; n < EVENTS; n++) events.push(await world.tenant.publish())
  return events
}

describe("a poisoned delivery", () => {
  it("with a defect while sending is recorded, and others are delivered", ofRows(9), async () => {
    const [good, bad] = [await world.target("/beside-defect"), await world.target("/defect")]
    const events = await publishAll()
    // This text is not a secret. Signing with it throws, like a bug.
    await postgres.query(
      `update billwright.webhook_endpoints set secrets = jsonb_set(secrets, '{0,sealed}', '"plain.no-secret"') where id = '${Id.toUuid(bad.id)}'`,
    )
    await world.worker()
    await receiver.next(good.path, EVENTS)
    for (const eventId of events) {
      await world.tenant.deliveries({ event_id: eventId, endpoint_id: bad.id })
    }
    // The error is visible while the delivery is still retried.
    const [seen] = await world.tenant.deliveries({ endpoint_id: bad.id, event_id: events[0]! })
    assert.strictEqual(seen!.last_error, "internal_error")
    assert.strictEqual(receiver.begun(bad.path), 0)

    const healed = await world.tenant.request("POST", `/webhook_endpoints/${bad.id}/rotate_secret`, {
      expire_previous_after_seconds: 0,
    })
    await world.tenant.drain()
    await checkAll(world, good, events)
    assert.lengthOf(receiver.received(good.path), EVENTS)
    const deliveries = await checkAll(world, { ...bad, secrets: [String(healed["secret"])] }, events)
    for (const delivery of deliveries) {
      assert.strictEqual(outcomes(delivery)[0], "internal_error")
      assert.strictEqual(delivery.status, "Delivered")
    }
    await world.retire(good)
    await world.retire(bad)
  })

  it.each([
    ["its event is gone", (event: string) => `delete from billwright.events where id = '${event}'`],
    [
      "its endpoint is unreadable",
      (_event: string, endpoint: string) =>
        `update billwright.webhook_endpoints set headers = '{"x-number": 1}' where id = '${endpoint}'`,
    ],
  ])("with a row that can't be decoded is set aside: %s", ofRows(10), async (name, damage) => {
    const path = `/${name.replaceAll(/\W/g, "-")}`
    const bad = await world.target(path)
    const poisoned = await world.tenant.publish()
    const good = await world.target(`${path}-beside`)
    // Its delivery has the same id with another prefix.
    world.damages(poisoned.slice("evt_".length))
    await postgres.query(damage(Id.toUuid(poisoned), Id.toUuid(bad.id)))
    const worker = await world.worker()
    const [first] = await world.tenant.deliveries({ endpoint_id: bad.id })
    const setAside = await world.tenant.deliveryThat(poisoned, ({ status }) => status !== "Pending")
    assert.strictEqual(setAside.id, first!.id)
    assert.deepInclude(setAside, { status: "Failed", reason: "unreadable", attempts: [] })
    assert.match(worker.stderr(), /cannot be read and was set aside as Failed/)

    await postgres.query(
      `update billwright.webhook_endpoints set headers = '{}' where id = '${Id.toUuid(bad.id)}'`,
    )
    const eventId = await world.tenant.publish()
    await world.tenant.drain()
    await checkAll(world, good, [eventId])
    const deliveries = await stored(postgres, bad)
    movedForward(deliveries)
    assert.deepStrictEqual(
      deliveries.map(({ status }) => status),
      ["Failed", "Delivered"],
    )
    assert.strictEqual(receiver.begun(bad.path), 1)
    await world.retire(good)
    await world.retire(bad)
  })
})
