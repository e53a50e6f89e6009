/** How many attempts may begin for a tenant. */
import { Endpoint, type Tenant } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { type Reservation, SenderLoad } from "../../src/webhooks/SenderLoad.ts"
import { acme, globex } from "../world.ts"

const OPTIONS = { maxInFlight: 64, maxInFlightPerEndpoint: 8, maxStalled: 448 }
const numbered = (number: number) => ({
  id: Endpoint.EndpointId.make(`whe_${String(number).padStart(26, "0")}`),
})
const endpoint = numbered(0)

describe("the places of a tenant", () => {
  it("are free again when its attempts have ended, also when more may be due to the same endpoint", () => {
    const load = new SenderLoad(OPTIONS)
    for (let now = 0; now < 100; now++) {
      const sent = Array.from({ length: OPTIONS.maxInFlightPerEndpoint }, () => ({ tenant: acme, endpoint }))
      load.claimed(sent, load.room(now))
      for (const slot of sent.map((one) => load.begin(one, now))) load.end(slot, "fine", now)
    }
    assert.strictEqual(load.inFlight, 0)
    assert.deepStrictEqual(load.room(100).tenantLimits, [])
  })
})

/** So many attempts to endpoints of their own, which begin now. */
const begin = (load: SenderLoad, tenant: Tenant.Tenant, first: number, count: number, now: number) => {
  const sent = Array.from({ length: count }, (_, index) => ({ tenant, endpoint: numbered(first + index) }))
  load.claimed(sent, load.room(now))
  return sent.map((one) => load.begin(one, now))
}

describe("attempts that stall", () => {
  it("are expected of an endpoint until one to it ends sooner", () => {
    const load = new SenderLoad(OPTIONS)
    const hung = begin(load, acme, 0, 64, 0)
    assert.strictEqual(load.free(999), 0)
    for (const slot of hung) load.end(slot, "overloaded", 15_000)
    const again = begin(load, acme, 0, 64, 15_000)
    assert.strictEqual(load.free(15_000), 64)
    for (const slot of again) load.end(slot, "fine", 15_999)
    begin(load, acme, 0, 64, 16_000)
    assert.strictEqual(load.free(16_000), 0)
  })

  it("are remembered of idle endpoints without naming these in every claim", () => {
    const load = new SenderLoad(OPTIONS)
    for (const slot of begin(load, acme, 0, 64, 0)) load.end(slot, "none", 15_000)
    assert.strictEqual(load.room(15_000).limits.size, 0)
    begin(load, acme, 0, 64, 15_000)
    assert.strictEqual(load.free(15_000), 64)
  })

  it("are expected of an endpoint while one to it has stalled", () => {
    const load = new SenderLoad(OPTIONS)
    begin(load, acme, 0, 64, 0)
    begin(load, globex, 32, 64, 1_000)
    // The last 32 endpoints are new.
    assert.strictEqual(load.free(1_000), 32)
  })
})

describe("places for deliveries that are being published", () => {
  const released = (load: SenderLoad, reservation: Reservation | undefined) => {
    assert.isDefined(reservation)
    return load.release(reservation)
  }

  it("leave half of all places to claims", () => {
    const load = new SenderLoad(OPTIONS)
    const slots = begin(load, acme, 0, 30, 0)
    const reservation = load.reserve(acme, 1, 0)
    assert.strictEqual(reservation?.places, 2)
    assert.strictEqual(load.free(0), 32)
    assert.isUndefined(load.reserve(globex, 1, 0))
    assert.isFalse(released(load, reservation))
    assert.strictEqual(load.free(0), 34)
    for (const slot of slots) load.end(slot, "fine", 1)
    assert.strictEqual(load.reserve(globex, 1, 1)?.places, 32)
  })

  it("are taken from the room of claims, which come again when it is free", () => {
    const load = new SenderLoad({ ...OPTIONS, maxInFlightPerEndpoint: 2 })
    begin(load, acme, 0, 1, 0)
    const reservation = load.reserve(acme, 1, 0)
    const room = load.room(0)
    assert.strictEqual(room.limitPerEndpoint, 1)
    assert.deepStrictEqual([...room.limits], [[endpoint.id, 0]])
    assert.isUndefined(load.reserve(globex, 2, 0), "more events than an endpoint may get")
    assert.isTrue(released(load, reservation))
    assert.strictEqual(load.room(0).limitPerEndpoint, 2)
  })

  it("are none at endpoints that are full, paused, or have others waiting", () => {
    const load = new SenderLoad({ ...OPTIONS, maxInFlightPerEndpoint: 2 })
    const [, , paused] = begin(load, acme, 0, 3, 0)
    begin(load, acme, 0, 1, 0)
    load.end(paused!, "overloaded", 1, 5_000)
    const ids = (events: number) => {
      const reservation = load.reserve(acme, events, 2)
      released(load, reservation)
      return reservation?.full
    }
    assert.deepStrictEqual(ids(1), [endpoint.id, numbered(2).id])
    assert.deepStrictEqual(ids(2), [endpoint.id, numbered(1).id, numbered(2).id])
    const waits = new SenderLoad({ ...OPTIONS, maxInFlightPerEndpoint: 1 })
    const [slot] = begin(waits, acme, 0, 1, 0)
    waits.claimed([], waits.room(0))
    begin(waits, acme, 1, 1, 0)
    const other = [{ tenant: acme, endpoint: numbered(1) }]
    waits.claimed(other, { ...waits.room(0), limits: new Map([[numbered(1).id, 1]]) })
    waits.end(slot!, "fine", 1)
    assert.deepStrictEqual(waits.reserve(acme, 1, 1)?.full, [numbered(1).id])
  })

  it("are none for a tenant that has none left, or has others waiting", () => {
    const load = new SenderLoad({ ...OPTIONS, maxStalled: 64 })
    for (const slot of begin(load, acme, 0, 64, 0)) load.end(slot, "none", 15_000)
    // All of them are expected to stall, so they take none of the usual places. But they are the tenant's.
    begin(load, acme, 0, 64, 15_000)
    begin(load, acme, 100, 32, 15_000)
    assert.isUndefined(load.reserve(acme, 1, 15_000))
    const left = load.reserve(globex, 1, 15_000)
    assert.isUndefined(left)
    const idle = new SenderLoad(OPTIONS)
    begin(idle, acme, 0, 1, 0)
    idle.claimed([{ tenant: acme, endpoint }], {
      ...idle.room(0),
      tenantLimits: [{ tenant: acme, limit: 1 }],
    })
    assert.isUndefined(idle.reserve(acme, 1, 0))
    assert.isDefined(idle.reserve(globex, 1, 0))
  })
})
