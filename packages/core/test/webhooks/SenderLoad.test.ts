/** How many attempts may begin for a tenant. */
import { Endpoint, type Tenant } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { SenderLoad } from "../../src/webhooks/SenderLoad.ts"
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
