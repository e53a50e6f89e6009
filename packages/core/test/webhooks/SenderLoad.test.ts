/** How many attempts may begin for a tenant. */
import { Endpoint, type Tenant } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { SenderLoad, type Sent, type Slot } from "../../src/webhooks/SenderLoad.ts"
import { acme, globex } from "../world.ts"

const OPTIONS = { maxInFlight: 64, maxAhead: 64, maxInFlightPerEndpoint: 8, maxStalled: 448 }
const numbered = (number: number) => ({
  id: Endpoint.EndpointId.make(`whe_${String(number).padStart(26, "0")}`),
})
const endpoint = numbered(0)

/** Leases a delivery and begins its attempt. */
const beginOne = (load: SenderLoad, sent: Sent, now: number): Slot => {
  const slot = load.wait(sent)
  load.begin(slot, now)
  return slot
}

describe("the places of a tenant", () => {
  it("are free again when its attempts have ended, also when more may be due to the same endpoint", () => {
    const load = new SenderLoad(OPTIONS)
    for (let now = 0; now < 100; now++) {
      const sent = Array.from({ length: OPTIONS.maxInFlightPerEndpoint }, () => ({ tenant: acme, endpoint }))
      load.claimed(sent, load.room(now))
      for (const slot of sent.map((one) => beginOne(load, one, now))) load.end(slot, "fine", now)
    }
    assert.strictEqual(load.inFlight, 0)
    assert.deepStrictEqual(load.room(100).tenantLimits, [])
  })
})

/** So many attempts to endpoints of their own, which begin now. */
const begin = (load: SenderLoad, tenant: Tenant.Tenant, first: number, count: number, now: number) => {
  const sent = Array.from({ length: count }, (_, index) => ({ tenant, endpoint: numbered(first + index) }))
  load.claimed(sent, load.room(now))
  return sent.map((one) => beginOne(load, one, now))
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

describe("places that are offered to publications", () => {
  /** What an offer has, and ends it. */
  const offered = (load: SenderLoad, tenant: Tenant.Tenant, events = 1, now = 0) => {
    const offer = load.offer(tenant, events, now)
    if (offer !== undefined) load.takeBack(offer)
    return offer
  }

  it("are 8 for each event, and leave half of all places to claims", () => {
    const load = new SenderLoad(OPTIONS)
    assert.strictEqual(offered(load, acme)?.places, 8)
    assert.strictEqual(offered(load, acme, 3)?.places, 24)
    assert.strictEqual(offered(load, acme, 8)?.places, 32)
    const slots = begin(load, acme, 0, 30, 0)
    const first = load.offer(acme, 1, 0)
    assert.isDefined(first)
    assert.strictEqual(first.places, 2)
    assert.isUndefined(load.offer(globex, 1, 0))
    load.takeBack(first)
    for (const slot of slots) load.end(slot, "fine", 1)
    assert.strictEqual(offered(load, globex, 1, 1)?.places, 8)
  })

  it("are fewer while others are offered, which keep no place from claims", () => {
    const load = new SenderLoad(OPTIONS)
    for (const places of [8, 8, 8, 8, undefined]) assert.strictEqual(load.offer(acme, 1, 0)?.places, places)
    assert.strictEqual(load.free(0), 64)
    assert.strictEqual(load.room(0).limits.size, 0)
  })

  it("are none at endpoints that are full, paused, or have others waiting", () => {
    const load = new SenderLoad({ ...OPTIONS, maxInFlightPerEndpoint: 2 })
    const [, , paused] = begin(load, acme, 0, 3, 0)
    begin(load, acme, 0, 1, 0)
    load.end(paused!, "overloaded", 1, 5_000)
    assert.deepStrictEqual(offered(load, acme, 1, 2)?.full, [endpoint.id, numbered(2).id])
    assert.deepStrictEqual(offered(load, acme, 2, 2)?.full, [endpoint.id, numbered(1).id, numbered(2).id])
    assert.isUndefined(load.offer(acme, 3, 2), "more events than an endpoint may get at once")
    const waits = new SenderLoad(OPTIONS)
    begin(waits, acme, 0, 2, 0)
    const sent = [{ tenant: acme, endpoint }]
    waits.claimed(sent, { ...waits.room(0), limits: new Map([[endpoint.id, 1]]) })
    assert.deepStrictEqual(offered(waits, acme)?.full, [endpoint.id])
  })

  it("are none for a tenant that has others waiting", () => {
    const load = new SenderLoad(OPTIONS)
    begin(load, acme, 0, 1, 0)
    const sent = [{ tenant: acme, endpoint }]
    load.claimed(sent, { ...load.room(0), tenantLimits: [{ tenant: acme, limit: 1 }] })
    assert.isUndefined(load.offer(acme, 1, 0))
    assert.isDefined(load.offer(globex, 1, 0))
  })
})

describe("what is known of endpoints", () => {
  const SOME = 101
  const MINUTE = 60_000
  const wide = { ...OPTIONS, maxInFlight: 4 * SOME, maxStalled: 2_000 }

  /** All of them time out twice. Gives when. */
  const timeOutTwice = (load: SenderLoad): number => {
    for (const startedAt of [0, 15_000]) {
      for (const slot of begin(load, acme, 0, SOME, startedAt))
        load.end(slot, "overloaded", startedAt + 15_000)
    }
    return 30_000
  }

  it("lapses when nothing has been sent to them for 10 minutes", () => {
    const load = new SenderLoad(wide)
    const endedAt = timeOutTwice(load)
    const justBefore = endedAt + 10 * MINUTE - 1
    assert.isUndefined(load.standingOffer(justBefore))
    assert.strictEqual(load.room(justBefore).limits.size, SOME)
    const later = endedAt + 11 * MINUTE
    assert.deepStrictEqual(load.standingOffer(later), { places: 8, full: [] })
    assert.strictEqual(load.room(later).limits.size, 0)
  })

  it.each([
    ["a claim", (load: SenderLoad, now: number) => load.room(now).limits.size],
    ["an offer", (load: SenderLoad, now: number) => load.offer(globex, 8, now)?.full.length],
    ["a standing offer", (load: SenderLoad, now: number) => load.standingOffer(now)?.full.length],
  ] as const)("lapses for %s", (_, named) => {
    const load = new SenderLoad(wide)
    assert.strictEqual(named(load, timeOutTwice(load) + 10 * MINUTE), 0)
  })

  it("lasts while something is sent to them, however long an attempt takes", () => {
    const load = new SenderLoad(wide)
    const endedAt = timeOutTwice(load)
    const again = begin(load, acme, 0, 1, endedAt + 9 * MINUTE)
    const later = endedAt + 19 * MINUTE
    assert.deepStrictEqual(load.room(later).limits, new Map([[endpoint.id, 1]]))
    for (const slot of again) load.end(slot, "overloaded", later)
    assert.deepStrictEqual(load.room(later + 10 * MINUTE - 1).limits, new Map([[endpoint.id, 1]]))
    assert.strictEqual(load.room(later + 10 * MINUTE).limits.size, 0)
  })

  it("lapses, too, where all that a claim leased is given back before it waits", () => {
    const load = new SenderLoad(OPTIONS)
    const eight = Array.from({ length: 8 }, () => ({ tenant: acme, endpoint }))
    load.claimed(eight, load.room(0))
    assert.deepStrictEqual(load.standingOffer(0)?.full, [endpoint.id], "more may be due")
    // Claims that take nothing of it are no reason to remember it.
    for (let now = 0; now < 10 * MINUTE; now += MINUTE) {
      load.claimed([], { ...load.room(now), limits: new Map([[endpoint.id, 0]]) })
    }
    assert.deepStrictEqual(load.standingOffer(10 * MINUTE)?.full, [])
  })

  it("is forgotten of an endpoint that has gone, once no attempt to it is under way", () => {
    const load = new SenderLoad(wide)
    const endedAt = timeOutTwice(load)
    load.forget(endpoint.id)
    assert.strictEqual(load.room(endedAt).limits.size, SOME - 1)
    const other = numbered(1).id
    const [slot] = begin(load, acme, 1, 1, endedAt)
    load.forget(other)
    assert.strictEqual(load.room(endedAt).limits.get(other), 1)
    load.end(slot!, "none", endedAt)
    load.forget(other)
    assert.isFalse(load.room(endedAt).limits.has(other))
    assert.strictEqual(load.inFlight, 0)
  })
})

describe("room for an attempt", () => {
  const sent = (tenant: Tenant.Tenant, number: number) => ({ tenant, endpoint: numbered(number) })

  it("is there until all places are taken, or those of the endpoint", () => {
    const load = new SenderLoad({ ...OPTIONS, maxInFlight: 3, maxInFlightPerEndpoint: 2 })
    begin(load, acme, 0, 1, 0)
    assert.isTrue(load.hasRoom(sent(acme, 0), 0))
    begin(load, acme, 0, 1, 0)
    assert.isFalse(load.hasRoom(sent(acme, 0), 0))
    assert.isTrue(load.hasRoom(sent(acme, 1), 0))
    begin(load, acme, 1, 1, 0)
    assert.isFalse(load.hasRoom(sent(globex, 2), 0))
  })

  it("is not there at a paused endpoint", () => {
    const load = new SenderLoad(OPTIONS)
    const [slot] = begin(load, acme, 0, 1, 0)
    load.end(slot!, "overloaded", 0, 1_000)
    assert.isFalse(load.hasRoom(sent(acme, 0), 999))
    assert.isTrue(load.hasRoom(sent(acme, 0), 1_000))
  })

  it("is not there for a tenant that has its part of the places for attempts that stall", () => {
    const load = new SenderLoad({ ...OPTIONS, maxStalled: 64 })
    begin(load, acme, 0, 64, 0)
    begin(load, acme, 100, 32, 2_000)
    // 64 and half of the 64 places for those that stall.
    assert.isFalse(load.hasRoom(sent(acme, 200), 2_000))
    assert.isTrue(load.hasRoom(sent(globex, 200), 2_000))
  })
})

describe("places that are offered to other processes", () => {
  const idsOf = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => numbered(first + index).id)

  it("are 8, and leave half of all places to claims", () => {
    const load = new SenderLoad(OPTIONS)
    assert.deepStrictEqual(load.standingOffer(0), { places: 8, full: [] })
    begin(load, acme, 0, 28, 0)
    assert.strictEqual(load.standingOffer(0)?.places, 4)
    begin(load, acme, 28, 4, 0)
    assert.isUndefined(load.standingOffer(0))
  })

  it("are not for endpoints with less than half of their room, that are slow, or for which others wait", () => {
    const load = new SenderLoad({ ...OPTIONS, maxInFlight: 200 })
    const to = (number: number) => ({ tenant: acme, endpoint: numbered(number) })
    for (let count = 0; count < 4; count++) beginOne(load, to(0), 0)
    for (let count = 0; count < 5; count++) beginOne(load, to(1), 0)
    const eight = Array.from({ length: 8 }, () => to(3))
    load.claimed(eight, load.room(0))
    for (const slot of eight.map((one) => beginOne(load, one, 0)).slice(1)) load.end(slot, "fine", 0)
    load.end(beginOne(load, to(2), 0), "none", 0, 1_000) // it asks to wait
    assert.deepStrictEqual(
      load.standingOffer(500)?.full,
      [1, 3, 2].map((number) => numbered(number).id),
    )
    assert.deepStrictEqual(
      load.standingOffer(1_000)?.full,
      [0, 1, 3].map((number) => numbered(number).id),
    )
  })

  it("are none while a tenant has its part of the places, or more may be due to it", () => {
    const load = new SenderLoad({ ...OPTIONS, maxInFlight: 4, maxAhead: 0, maxStalled: 8 })
    // 4 and half of those for attempts that stall: the tenant may have no more, and others may.
    begin(load, acme, 0, 4, 0)
    begin(load, acme, 4, 4, 1_000)
    assert.deepStrictEqual(load.room(2_000).tenantLimits, [{ tenant: acme, limit: 0 }])
    assert.strictEqual(load.free(2_000), 4)
    assert.isUndefined(load.standingOffer(2_000))
    const one = begin(load, globex, 8, 1, 2_000)
    for (const slot of one) load.end(slot, "fine", 2_000)
    assert.isUndefined(load.standingOffer(2_000))
  })

  it("are none when more than 100 endpoints are full", () => {
    const load = new SenderLoad({ ...OPTIONS, maxStalled: 2_000 })
    for (const slot of begin(load, acme, 0, 100, 0)) load.end(slot, "none", 1_000)
    assert.deepStrictEqual(load.standingOffer(1_000)?.full, idsOf(0, 100))
    for (const slot of begin(load, acme, 100, 1, 1_000)) load.end(slot, "none", 2_000)
    assert.isUndefined(load.standingOffer(2_000))
  })
})

describe("deliveries that are leased ahead", () => {
  const to = (number: number, tenant: Tenant.Tenant = acme) => ({ tenant, endpoint: numbered(number) })

  /** Makes a claim, during which so many attempts end that began before it. */
  const claimWhile = (load: SenderLoad, ending: ReadonlyArray<Slot>, now = 0) => {
    const room = load.room(now)
    for (const slot of ending) load.end(slot, "fine", now)
    load.claimed([], room)
  }

  it("are twice as many as attempts ended during the last claim, and no more than there are places", () => {
    const load = new SenderLoad(OPTIONS)
    const slots = begin(load, acme, 0, 64, 0)
    assert.strictEqual(load.leasable(0), 0)
    claimWhile(load, slots.slice(0, 10))
    assert.strictEqual(load.free(0), 10)
    assert.strictEqual(load.leasable(0), 30)
    claimWhile(load, slots.slice(10, 60))
    assert.strictEqual(load.leasable(0), 60 + 64)
    claimWhile(load, [])
    assert.strictEqual(load.leasable(0), 60)
    const none = new SenderLoad({ ...OPTIONS, maxAhead: 0 })
    claimWhile(none, begin(none, acme, 0, 10, 0))
    assert.strictEqual(none.leasable(0), 64)
  })

  it("are claimed when half of those that may be leased are not", () => {
    const load = new SenderLoad(OPTIONS)
    const slots = begin(load, acme, 0, 64, 0)
    claimWhile(load, slots.slice(0, 16))
    // 64 places and 32 ahead: 48 is half.
    assert.strictEqual(load.leasable(0), 48)
    assert.isFalse(load.isBusy(0))
    load.wait(to(100))
    assert.isTrue(load.isBusy(0))
  })

  it("wait until a place is free, and count at their endpoint and their tenant", () => {
    const load = new SenderLoad({ ...OPTIONS, maxInFlight: 2, maxInFlightPerEndpoint: 2 })
    const [first] = begin(load, acme, 0, 2, 0)
    const slot = load.wait(to(0))
    assert.strictEqual(load.inFlight, 2)
    assert.strictEqual(load.turnOf(slot, 0), "waits")
    assert.strictEqual(load.room(0).limits.get(numbered(0).id), 0)
    load.end(first!, "fine", 1)
    assert.strictEqual(load.free(1), 0, "the place is for the one that waits")
    assert.strictEqual(load.turnOf(slot, 1), "begins")
    load.begin(slot, 1)
    assert.strictEqual(load.inFlight, 2)
  })

  it("begin at once when their endpoint is known to stall", () => {
    const load = new SenderLoad({ ...OPTIONS, maxInFlight: 1 })
    const [hung] = begin(load, acme, 0, 1, 0)
    load.end(hung!, "none", 1_000)
    begin(load, acme, 1, 1, 1_000)
    const slot = load.wait(to(0))
    assert.strictEqual(load.free(1_000), 0)
    assert.strictEqual(load.turnOf(slot, 1_000), "begins")
    load.begin(slot, 1_000)
    assert.strictEqual(load.free(1_000), 0, "it takes no place")

    const full = new SenderLoad({ ...OPTIONS, maxInFlight: 1, maxStalled: 0 })
    const [other] = begin(full, acme, 0, 1, 0)
    full.end(other!, "none", 1_000)
    begin(full, acme, 1, 1, 1_000)
    assert.strictEqual(full.turnOf(full.wait(to(0)), 1_000), "waits")
  })

  it("are none for attempts that end when they have stalled", () => {
    const load = new SenderLoad(OPTIONS)
    claimWhile(load, begin(load, acme, 0, 10, 0), 15_000)
    assert.strictEqual(load.leasable(15_000), 64)
  })

  it("find room for all that a claim asked for, also when fewer may be leased by then", () => {
    const load = new SenderLoad({ ...OPTIONS, maxInFlight: 2 })
    claimWhile(load, begin(load, acme, 0, 2, 0))
    assert.strictEqual(load.leasable(0), 6)
    claimWhile(load, [])
    for (let number = 0; number < 6; number++) {
      assert.isTrue(load.hasRoom(to(number), 0))
      load.wait(to(number))
    }
    assert.isFalse(load.hasRoom(to(6), 0))
  })

  it("are given back when their endpoint asks to wait, or was overloaded", () => {
    const load = new SenderLoad({ ...OPTIONS, maxInFlightPerEndpoint: 4 })
    const [asked] = begin(load, acme, 0, 1, 0)
    const waits = load.wait(to(0))
    assert.strictEqual(load.turnOf(waits, 0), "begins")
    load.end(asked!, "overloaded", 0, 1_000)
    assert.strictEqual(load.turnOf(waits, 999), "is given back")
    assert.strictEqual(load.turnOf(waits, 1_000), "begins")

    const [overloaded] = begin(load, acme, 1, 1, 0)
    const three = [load.wait(to(1)), load.wait(to(1)), load.wait(to(1))]
    load.end(overloaded!, "overloaded", 0)
    assert.strictEqual(load.turnOf(three[0]!, 0), "is given back")
    load.end(three[0]!, "none", 0)
    assert.strictEqual(load.turnOf(three[1]!, 0), "begins", "two at a time are allowed now")
  })

  it("leave nothing behind when they are given back", () => {
    const load = new SenderLoad({ ...OPTIONS, maxInFlight: 1 })
    const [slot] = begin(load, acme, 0, 1, 0)
    load.end(load.wait(to(1)), "none", 0)
    load.end(slot!, "fine", 0)
    assert.strictEqual(load.free(0), 1)
    assert.strictEqual(load.inFlight, 0)
    assert.deepStrictEqual(load.room(0).limits, new Map())
  })
})
