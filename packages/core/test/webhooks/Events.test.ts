import {
  type Customer,
  Customers,
  Deliveries,
  Delivery,
  DeliveryStore,
  Endpoints,
  Event,
  Events,
  EventType,
  InvalidInput,
  Retention,
  ThresholdEvent,
  Thresholds,
  Transactor,
  Usage,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  deliveriesOf,
  deliveryOf,
  inWorld,
  newEndpoint,
  PAID,
  publish,
  runDue,
  URL_B,
} from "../webhooks/world.ts"
import { acmeTest, as, globex, newCustomer, NOON } from "../world.ts"

const rejected = <A, R>(effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

const UNKNOWN = "evt_01kahd3kc8e0fsr8zknzqgf2h1"

describe("Events.publish", () => {
  it.effect("stores an event and a pending delivery for each endpoint that wants it", () =>
    Effect.gen(function* () {
      const { endpoint: one } = yield* newEndpoint()
      const { endpoint: two } = yield* newEndpoint({ url: URL_B, eventTypes: ["invoice.paid"] })
      yield* newEndpoint({ eventTypes: ["invoice.created"] })
      const event = yield* publish()
      assert.deepStrictEqual(JSON.parse(event.payload), {
        id: event.id,
        type: "invoice.paid",
        timestamp: "2026-11-21T12:00:00.000Z",
        livemode: true,
        data: PAID,
      })
      const deliveries = yield* deliveriesOf(event)
      assert.deepStrictEqual(
        deliveries.map(({ endpointId, nextAttemptAt, status }) => [endpointId, status, nextAttemptAt]),
        [
          [one.id, "Pending", NOON],
          [two.id, "Pending", NOON],
        ],
      )
      assert.deepStrictEqual(
        deliveries.map(({ id }) => id),
        [0, 1].map((index) => Delivery.deliveryId(Delivery.firstDeliveryId(event.id), index)),
      )
      assert.deepStrictEqual(yield* (yield* Events).get(event.id), event)
    }).pipe(inWorld()),
  )

  it.effect("commits and rolls back with the change that it tells of", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const { atomically } = yield* Transactor
      const events = yield* Events
      const undone = atomically(Effect.andThen(Effect.andThen(newCustomer(), publish()), Effect.fail("no")))
      assert.strictEqual(yield* Effect.flip(undone), "no")
      assert.deepStrictEqual((yield* events.list()).data, [])
      assert.deepStrictEqual((yield* (yield* Customers).list()).data, [])
      assert.strictEqual(yield* runDue, 0)
      const event = yield* atomically(Effect.andThen(newCustomer(), publish()))
      const deliveryCounts = { pending: 1, delivered: 0, failed: 0 }
      assert.deepStrictEqual((yield* events.list()).data, [{ ...event, deliveryCounts }])
      assert.strictEqual(yield* runDue, 1)
    }).pipe(inWorld()),
  )

  it.effect("publishes once for an idempotency key", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const events = yield* Events
      const input = { type: "invoice.paid", data: PAID, idempotencyKey: "paid-1" }
      const first = yield* events.publish(input)
      yield* TestClock.adjust("1 day")
      // Keys of an object have no order.
      const reordered = Object.fromEntries(Object.entries(PAID).toReversed())
      const again = yield* events.publish({ ...input, data: reordered })
      assert.deepStrictEqual([first._tag, again._tag], ["Published", "Duplicate"])
      assert.deepStrictEqual(again.event, first.event)
      assert.strictEqual((yield* deliveriesOf(first.event)).length, 1)
      const other = { ...input, data: { ...PAID, amount: 1 } }
      const conflict = yield* Effect.flip(events.publish(other))
      assert.deepStrictEqual(conflict, new Event.EventKeyConflict({ eventId: first.event.id }))
      assert.strictEqual((yield* as(acmeTest)(events.publish(other)))._tag, "Published")
    }).pipe(inWorld()),
  )

  it.effect("names what is wrong, and stores nothing", () =>
    Effect.gen(function* () {
      const events = yield* Events
      const message = (input: unknown) => rejected(events.publish(input as Event.PublishEvent))
      assert.strictEqual(
        yield* message({ type: "invoice.payed", data: PAID }),
        'type is not a known event type: "invoice.payed"',
      )
      assert.strictEqual(
        yield* message({ type: "invoice.paid", data: { ...PAID, amount: "1" } }),
        "data.amount must be an integer of the currency's minor unit, from 0 to 9007199254740991",
      )
      assert.strictEqual(
        yield* message({ type: "invoice.paid", data: { ...PAID, invoice_id: "a\0" } }),
        "data must not contain NUL or a lone surrogate",
      )
      assert.strictEqual(yield* message({ type: "invoice.paid" }), "data is required")
      assert.strictEqual(
        yield* message({ type: "invoice.paid", data: PAID, customer: "x" }),
        "customer is not a known field",
      )
      assert.strictEqual(
        yield* message({ type: "invoice.paid", data: PAID, idempotencyKey: "" }),
        "idempotencyKey must be 1 to 255 characters",
      )
      assert.deepStrictEqual((yield* events.list()).data, [])
    }).pipe(inWorld()),
  )

  it.effect("refuses a payload beyond 256 KiB, counted in bytes", () =>
    Effect.gen(function* () {
      const text = EventType.make({
        name: "note.made",
        description: "A note was made.",
        data: Schema.Struct({ text: Schema.String }),
        example: { text: "" },
      })
      yield* Effect.gen(function* () {
        const events = yield* Events
        const empty = (yield* events.publish({ type: "note.made", data: { text: "" } })).event.payload.length
        const room = Event.MAX_PAYLOAD_BYTES - empty
        const put = (character: string, count: number) =>
          events.publish({ type: "note.made", data: { text: character.repeat(count) } })
        yield* put("a", room)
        yield* put("€", Math.floor(room / 3))
        const tooLong = new InvalidInput({
          field: "data",
          problem: "makes a payload of more than 262144 bytes",
        })
        assert.deepStrictEqual(yield* Effect.flip(put("a", room + 1)), tooLong)
        assert.deepStrictEqual(yield* Effect.flip(put("€", Math.floor(room / 3) + 1)), tooLong)
      }).pipe(inWorld({ events: { types: [text] } }))
    }),
  )

  it.effect("is about a customer that exists", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const event = yield* publish({ customerId: customer.id })
      assert.strictEqual(event.customerId, customer.id)
      yield* (yield* Customers).erase(customer.id)
      assert.strictEqual(
        yield* rejected(publish({ customerId: customer.id })),
        `no customer has the id ${customer.id}`,
      )
      const stranger = yield* newCustomer().pipe(as(globex))
      yield* rejected(publish({ customerId: stranger.id }))
    }).pipe(inWorld()),
  )
})

describe("usage.threshold", () => {
  const used = (customer: Customer.Customer, quantity: number) =>
    Effect.flatMap(Usage, (usage) =>
      usage.record({ customerId: customer.id, productId: "api", unit: "call", quantity }),
    )

  it.effect("is published by the record that reaches the threshold, once", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const customer = yield* newCustomer()
      const threshold = yield* (yield* Thresholds).create({
        customerId: customer.id,
        productId: "api",
        unit: "call",
        quantity: 100n,
        period: "month",
      })
      yield* used(customer, 99)
      assert.deepStrictEqual((yield* (yield* Events).list()).data, [])
      yield* used(customer, 4)
      yield* used(customer, 100)
      const { data } = yield* (yield* Events).list()
      assert.strictEqual(data.length, 1)
      const event = data[0]!
      assert.deepStrictEqual([event.type, event.customerId], ["usage.threshold", customer.id])
      assert.deepStrictEqual(Event.dataOf(event), {
        threshold_id: threshold.id,
        customer_id: customer.id,
        product_id: "api",
        unit: "call",
        quantity: 100,
        period: "month",
        period_key: "2026-11",
        total_quantity: 103,
      })
      assert.strictEqual(EventType.problemOf(ThresholdEvent.usageThreshold, Event.dataOf(event)), undefined)
      yield* runDue
      assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
    }).pipe(inWorld()),
  )

  it.effect("of several periods and thresholds has an id and a delivery each", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const customer = yield* newCustomer()
      const thresholds = yield* Thresholds
      for (const period of ["day", "month", "lifetime"] as const) {
        yield* thresholds.create({
          customerId: customer.id,
          productId: "api",
          unit: "call",
          quantity: 5n,
          period,
        })
      }
      yield* used(customer, 7)
      const { data } = yield* (yield* Events).list()
      const deliveries = yield* Effect.forEach(data, deliveryOf)
      assert.strictEqual(new Set(data.map(({ id }) => id)).size, 3)
      assert.strictEqual(new Set(deliveries.map(({ id }) => id)).size, 3)
      assert.strictEqual(yield* runDue, 3)
    }).pipe(inWorld()),
  )

  it.effect("is gone with the record when that is rolled back", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      yield* (yield* Thresholds).create({
        customerId: customer.id,
        productId: "api",
        unit: "call",
        quantity: 1n,
        period: "day",
      })
      const { atomically } = yield* Transactor
      yield* Effect.flip(atomically(Effect.andThen(used(customer, 1), Effect.fail("no"))))
      assert.deepStrictEqual((yield* (yield* Events).list()).data, [])
      yield* used(customer, 1)
      assert.strictEqual((yield* (yield* Events).list()).data.length, 1)
    }).pipe(inWorld()),
  )
})

describe("Events.list", () => {
  it.effect("filters, and pages from the newest on", () =>
    Effect.gen(function* () {
      const events = yield* Events
      const customer = yield* newCustomer()
      const ids: Array<string> = []
      for (let i = 0; i < 5; i++) {
        yield* TestClock.adjust("1 minute")
        const type = i % 2 === 0 ? "invoice.paid" : "invoice.created"
        ids.unshift((yield* publish({ type, ...(i === 1 ? { customerId: customer.id } : {}) })).id)
      }
      const idsOf = (query: Event.ListEvents) =>
        Effect.map(events.list(query), ({ data }) => data.map(({ id }) => id))
      assert.deepStrictEqual(yield* idsOf({}), ids)
      assert.deepStrictEqual(yield* idsOf({ type: "invoice.created" }), [ids[1], ids[3]])
      assert.deepStrictEqual(yield* idsOf({ customerId: customer.id }), [ids[3]])
      const second = (yield* events.get(ids[3]!)).timestamp
      const fourth = (yield* events.get(ids[1]!)).timestamp
      assert.deepStrictEqual(yield* idsOf({ createdAfter: second, createdBefore: fourth }), [ids[2], ids[3]])
      const page = yield* events.list({ limit: 2, startingAfter: ids[0]! })
      assert.deepStrictEqual([page.data.map(({ id }) => id), page.hasMore], [[ids[1], ids[2]], true])
      assert.strictEqual(
        yield* rejected(events.list({ startingAfter: UNKNOWN })),
        "startingAfter is not the id of an item of this list",
      )
    }).pipe(inWorld()),
  )

  it.effect("finds events by the status of their deliveries", () =>
    Effect.gen(function* () {
      const events = yield* Events
      yield* newEndpoint({ eventTypes: ["invoice.paid"] })
      const sent = yield* publish()
      yield* runDue
      const waiting = yield* publish()
      yield* publish({ type: "invoice.created" })
      const idsOf = (deliveryStatus: Delivery.DeliveryStatus) =>
        Effect.map(events.list({ deliveryStatus }), ({ data }) => data.map(({ id }) => id))
      assert.deepStrictEqual(yield* idsOf("Delivered"), [sent.id])
      assert.deepStrictEqual(yield* idsOf("Pending"), [waiting.id])
      assert.deepStrictEqual(yield* idsOf("Failed"), [])
    }).pipe(inWorld()),
  )

  it.effect("never shows another tenant's", () =>
    Effect.gen(function* () {
      const events = yield* Events
      const event = yield* publish()
      for (const other of [acmeTest, globex]) {
        assert.deepStrictEqual((yield* as(other)(events.list())).data, [])
        yield* Effect.flip(as(other)(events.get(event.id)))
        yield* Effect.flip(as(other)(events.replay(event.id)))
        yield* Effect.flip(as(other)(events.tailPosition(event.id)))
      }
    }).pipe(inWorld()),
  )
})

/** Events and deliveries of a storage in which old events are removed before a replay is stored. */
const removingFirst = Layer.fresh(Layer.merge(Events.layer, Deliveries.layer)).pipe(
  Layer.provide(
    Layer.effect(
      DeliveryStore,
      Effect.gen(function* () {
        const store = yield* DeliveryStore
        const { prune } = yield* Retention
        const insert: typeof store.insert = (delivery) =>
          Effect.gen(function* () {
            const before = DateTime.subtract(yield* DateTime.now, { hours: 1 })
            yield* Effect.orDie(prune({ before }))
            return yield* store.insert(delivery)
          })
        return DeliveryStore.of({ ...store, insert })
      }),
    ),
  ),
)

describe("Events.replay", () => {
  it.effect("makes a delivery for each enabled endpoint that admits the type now", () =>
    Effect.gen(function* () {
      const events = yield* Events
      const endpoints = yield* Endpoints
      const { endpoint: old } = yield* newEndpoint()
      const event = yield* publish()
      yield* runDue
      const { endpoint: later } = yield* newEndpoint({ url: URL_B })
      yield* newEndpoint({ eventTypes: ["invoice.created"] })
      const { endpoint: off } = yield* newEndpoint()
      yield* endpoints.update(off.id, { status: "disabled" })
      const made = yield* events.replay(event.id)
      assert.deepStrictEqual(
        made.map(({ endpointId, status }) => [endpointId, status]),
        [
          [old.id, "Pending"],
          [later.id, "Pending"],
        ],
      )
      assert.strictEqual(yield* runDue, 2)
      assert.deepStrictEqual(
        (yield* deliveriesOf(event)).map(({ status }) => status),
        ["Delivered", "Delivered", "Delivered"],
      )
    }).pipe(inWorld()),
  )

  it.effect("of an event that is removed meanwhile says so, as does the replay of a delivery", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const old = Effect.tap(publish(), () => Effect.andThen(runDue, TestClock.adjust("2 hours")))
      const event = yield* old
      const ofEvent = Effect.flatMap(Events, ({ replay }) => replay(event.id))
      const gone = yield* Effect.flip(Effect.provide(ofEvent, removingFirst))
      assert.strictEqual(gone._tag, "EventNotFound")
      const delivery = yield* deliveryOf(yield* old)
      const ofDelivery = Effect.flatMap(Deliveries, ({ replay }) => replay(delivery.id))
      const goneToo = yield* Effect.flip(Effect.provide(ofDelivery, removingFirst))
      assert.strictEqual(goneToo._tag, "DeliveryNotFound")
    }).pipe(inWorld()),
  )

  it.effect("makes one for the endpoint that is named, if that can be", () =>
    Effect.gen(function* () {
      const events = yield* Events
      const endpoints = yield* Endpoints
      const { endpoint } = yield* newEndpoint()
      const event = yield* publish()
      const to = (endpointId: string) => events.replay(event.id, { endpointId })
      assert.deepStrictEqual(
        (yield* to(endpoint.id)).map(({ endpointId }) => endpointId),
        [endpoint.id],
      )
      yield* endpoints.update(endpoint.id, { eventTypes: ["invoice.created"] })
      assert.strictEqual((yield* Effect.flip(to(endpoint.id)))._tag, "EventNotAdmitted")
      yield* endpoints.update(endpoint.id, { status: "disabled" })
      assert.strictEqual((yield* Effect.flip(to(endpoint.id)))._tag, "EndpointIsDisabled")
      yield* endpoints.delete(endpoint.id)
      assert.strictEqual((yield* Effect.flip(to(endpoint.id)))._tag, "EndpointNotFound")
      assert.strictEqual((yield* Effect.flip(to("nonsense")))._tag, "EndpointNotFound")
      assert.strictEqual((yield* Effect.flip(events.replay(UNKNOWN)))._tag, "EventNotFound")
      assert.strictEqual((yield* Effect.flip(events.replay("nonsense")))._tag, "EventNotFound")
    }).pipe(inWorld()),
  )

  it.effect("sends a test event to the endpoint that it was made for, and to no other", () =>
    Effect.gen(function* () {
      const events = yield* Events
      const endpoints = yield* Endpoints
      const { endpoint: own } = yield* newEndpoint({ eventTypes: ["invoice.created"] })
      const { endpoint: other } = yield* newEndpoint({ url: URL_B })
      const event = yield* endpoints.test(own.id, "invoice.paid")
      const to = (endpointId: string) => events.replay(event.id, { endpointId })
      yield* runDue
      for (const replay of [events.replay(event.id), to(own.id)]) {
        assert.deepStrictEqual(
          (yield* replay).map(({ endpointId }) => endpointId),
          [own.id],
        )
      }
      for (const wrong of [other.id, "nonsense"]) {
        const problem = `endpointId must be ${own.id}, the endpoint that the event was made for`
        assert.strictEqual(yield* rejected(to(wrong)), problem)
      }
      yield* endpoints.update(own.id, { status: "disabled" })
      assert.strictEqual((yield* Effect.flip(events.replay(event.id)))._tag, "EndpointIsDisabled")
      yield* endpoints.delete(own.id)
      assert.strictEqual(yield* rejected(events.replay(event.id)), `no webhook endpoint has the id ${own.id}`)
      const all = {
        since: event.timestamp,
        until: DateTime.add(event.timestamp, { hours: 1 }),
        status: "all",
      } as const
      assert.strictEqual(yield* endpoints.replayRange(other.id, all), 0)
      assert.deepStrictEqual(
        (yield* deliveriesOf(event)).map(({ endpointId }) => endpointId),
        [own.id, own.id, own.id],
      )
    }).pipe(inWorld()),
  )

  it.effect("reaches more endpoints than a page holds", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 230; i++) yield* newEndpoint({ url: `https://e${i}.example.com/` })
      const event = yield* publish()
      assert.strictEqual((yield* (yield* Events).replay(event.id)).length, 230)
    }).pipe(inWorld()),
  )
})

describe("Events.tail", () => {
  it.effect("goes on behind a place, in order, without a gap", () =>
    Effect.gen(function* () {
      const events = yield* Events
      const first = yield* publish()
      const now = yield* events.tailPosition()
      assert.deepStrictEqual((yield* events.tail(now)).events, [])
      const second = yield* publish({ type: "invoice.created" })
      const third = yield* publish()
      const step = yield* events.tail(now)
      assert.deepStrictEqual(step.events, [second, third])
      assert.deepStrictEqual((yield* events.tail(step.position)).events, [])
      const behindFirst = yield* events.tailPosition(first.id)
      assert.deepStrictEqual((yield* events.tail(behindFirst)).events, [second, third])
      assert.deepStrictEqual((yield* events.tail(behindFirst, ["invoice.created"])).events, [second])
      assert.strictEqual((yield* Effect.flip(events.tailPosition(UNKNOWN)))._tag, "EventNotFound")
    }).pipe(inWorld()),
  )

  it.effect("leaves test events out, and goes on behind any number of them", () =>
    Effect.gen(function* () {
      const events = yield* Events
      const { endpoint } = yield* newEndpoint()
      let position = yield* events.tailPosition()
      for (let i = 0; i < 100; i++) yield* (yield* Endpoints).test(endpoint.id, "invoice.paid")
      const event = yield* publish()
      const step = yield* events.tail(position)
      assert.deepStrictEqual([step.events, step.hasMore], [[], true])
      position = step.position
      assert.deepStrictEqual((yield* events.tail(position)).events, [event])
    }).pipe(inWorld()),
  )

  it.effect("is told of when something was committed", () =>
    Effect.gen(function* () {
      const events = yield* Events
      const awaiting = yield* events.committed
      yield* publish()
      yield* awaiting
    }).pipe(Effect.scoped, inWorld()),
  )
})
