import {
  Billing,
  Collections,
  CurrentTenant,
  Customer,
  Delivery,
  DeliveryStore,
  EndpointStore,
  EventStore,
  Tenant,
  Threshold,
  Transactor,
  UsageStore,
} from "@billwright/core"
import { Memory, MemoryInspector } from "@billwright/memory"
import { plain, Sample } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, Option } from "effect"

const tenant = { accountId: Tenant.defaultAccountId, mode: "live" as const }
const services = Billing.layer.pipe(
  Layer.provideMerge(Memory.layer),
  Layer.merge(Layer.succeed(CurrentTenant, tenant)),
)

const later = (minutes: number) => DateTime.add(Sample.CREATED_AT, { minutes })

const claimAt = (minutes: number) => ({
  now: later(minutes),
  leaseUntil: later(minutes + 5),
  limit: 9,
  limitPerEndpoint: 9,
  limits: new Map(),
  tenantLimits: [],
})

/**
 * A storage with some of everything: a due delivery, a leased one, one with a lost lease, and one of each final
 * status.
 */
const fill = Effect.gen(function* () {
  const endpoints = yield* EndpointStore
  const events = yield* EventStore
  const deliveries = yield* DeliveryStore
  const customer = yield* Sample.customer()
  yield* (yield* Collections).of(Customer.customers).insert(customer)
  yield* (yield* Collections)
    .of(Threshold.thresholds)
    .insert(yield* Sample.of(Threshold.thresholds, customer.id, { quantity: 1n }))
  const [endpoint, other] = [yield* Sample.endpoint(), yield* Sample.endpoint()]
  yield* endpoints.insert(endpoint)
  const published = yield* Effect.forEach([0, 1, 10], (minutes) =>
    Effect.tap(Sample.event({ timestamp: later(minutes), idempotencyKey: `k${minutes}` }), events.publish),
  )
  yield* endpoints.insert(other)
  yield* deliveries.claimDue(claimAt(0))
  const { deliveries: claimed } = yield* deliveries.claimDue(claimAt(4))
  return { customer, endpoint: endpoint.endpoint, other: other.endpoint, published, claimed: claimed[0]! }
})

type Filled = Effect.Success<typeof fill>
type Services = Billing.Services | Billing.Storage | CurrentTenant

/** The methods that write. Each must change something. */
const verbs: Readonly<Record<string, (filled: Filled) => Effect.Effect<unknown, unknown, Services>>> = {
  publish: () =>
    Effect.gen(function* () {
      yield* (yield* EventStore).publish(yield* Sample.event())
    }),
  append: ({ customer }) =>
    Effect.gen(function* () {
      yield* (yield* UsageStore).append([yield* Sample.record(customer.id)])
    }),
  insertEndpoint: () =>
    Effect.gen(function* () {
      yield* (yield* EndpointStore).insert(yield* Sample.endpoint())
    }),
  modify: ({ endpoint }) =>
    Effect.gen(function* () {
      yield* (yield* EndpointStore).modify(endpoint.id, (stored) =>
        Effect.succeed({ endpoint: { ...stored.endpoint, ...Sample.disabled }, secrets: [] }),
      )
    }),
  delete: ({ endpoint }) => Effect.flatMap(EndpointStore, (store) => store.delete(endpoint.id, later(1))),
  replay: ({ endpoint, other, published }) =>
    Effect.gen(function* () {
      yield* (yield* DeliveryStore).insert({
        eventId: published[0]!.id,
        endpointIds: [endpoint.id, other.id],
        firstDeliveryId: yield* Sample.deliveryId,
        now: later(2),
      })
    }),
  replayRange: ({ other }) =>
    Effect.gen(function* () {
      yield* (yield* DeliveryStore).replayRange({
        endpointId: other.id,
        since: later(0),
        until: later(99),
        onlyFailed: false,
        types: [],
        firstDeliveryId: yield* Sample.deliveryId,
        now: later(2),
        limit: 10,
        isDryRun: false,
      })
    }),
  cancel: ({ endpoint }) =>
    Effect.flatMap(DeliveryStore, (store) => store.cancel(endpoint.id, "endpoint_disabled", later(3))),
  claimDue: () => Effect.flatMap(DeliveryStore, (store) => store.claimDue(claimAt(60))),
  settle: ({ claimed }) =>
    Effect.flatMap(DeliveryStore, (store) =>
      store.settle([
        {
          tenant,
          id: claimed.id,
          endpointId: claimed.endpoint.id,
          token: claimed.token,
          at: later(5),
          state: { status: "Pending", attemptCount: 1, dueAt: 0 },
          attempt: Sample.attempt({ responseStatus: 500 }),
        },
      ]),
    ),
}

/** All visible data, including the queue: the deliveries that a claim would take, in its order. */
const look = Effect.gen(function* () {
  const { snapshot } = yield* MemoryInspector
  const deliveries = yield* DeliveryStore
  const events = yield* EventStore
  const { atomically } = yield* Transactor
  const queue = yield* Effect.flip(
    atomically(
      Effect.flatMap(deliveries.claimDue(claimAt(1_000)), ({ deliveries: due }) =>
        Effect.fail(due.map(({ attemptCount, id, wasLost }) => [id, attemptCount, wasLost])),
      ),
    ),
  )
  const page = { limit: 100, cursor: undefined }
  const filter = { type: undefined, customerId: undefined, createdAfter: undefined, createdBefore: undefined }
  return plain({
    stored: yield* snapshot,
    queue,
    nextDueAt: yield* deliveries.nextDueAt,
    pending: yield* events.list({ ...filter, deliveryStatus: "Pending" }, page),
    failed: yield* events.list({ ...filter, deliveryStatus: "Failed" }, page),
    tail: yield* events.tail("0", [], 100),
    lists: yield* Effect.forEach(Delivery.DeliveryStatus.literals, (status) =>
      deliveries.list({ status, endpointId: undefined, eventId: undefined }, page),
    ),
  })
})

describe("undo", () => {
  for (const [name, verb] of Object.entries(verbs)) {
    it.effect(`removes all effects of ${name}`, () =>
      Effect.gen(function* () {
        const { atomically } = yield* Transactor
        const filled = yield* fill
        const before = yield* look
        const exit = yield* Effect.exit(atomically(Effect.andThen(verb(filled), Effect.fail("no"))))
        assert.deepStrictEqual(exit, Exit.fail("no"))
        assert.deepStrictEqual(yield* look, before)
        yield* verb(filled)
        assert.notDeepEqual(yield* look, before)
      }).pipe(Effect.provide(services)),
    )
  }

  it.effect("removes all effects of all of them, in any savepoints", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const filled = yield* fill
      const before = yield* look
      const all = Object.values(verbs).reduceRight<Effect.Effect<unknown, unknown, Services>>(
        (inner, verb) => atomically(Effect.andThen(verb(filled), inner)),
        Effect.fail("no"),
      )
      yield* Effect.exit(all)
      assert.deepStrictEqual(yield* look, before)
      yield* Effect.exit(atomically(Effect.andThen(Effect.ignore(all), Effect.fail("no"))))
      assert.deepStrictEqual(yield* look, before)
    }).pipe(Effect.provide(services)),
  )

  it.effect("gives no later event a position that was read in a failed transaction", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const store = yield* EventStore
      const publish = Effect.flatMap(Sample.event(), (event) => Effect.as(store.publish(event), event))
      const undone = yield* Effect.flip(
        atomically(
          publish.pipe(
            Effect.andThen(store.tailPosition(undefined)),
            Effect.flatMap((position) => Effect.fail(position)),
          ),
        ),
      )
      const event = yield* publish
      const { events } = yield* store.tail(Option.getOrThrow(undone as Option.Option<string>), [], 9)
      assert.deepStrictEqual(plain(events), plain([event]))
    }).pipe(Effect.provide(services)),
  )
})

describe("committed", () => {
  it.effect("signals the next commit, but no undone writes", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const store = yield* EventStore
      const publish = Effect.flatMap(Sample.event(), (event) => store.publish(event))
      const undone = Effect.exit(atomically(Effect.andThen(publish, Effect.fail("no"))))
      const signal = yield* Effect.forkChild(yield* store.committed)
      const hasCome = Effect.map(
        Effect.repeat(Effect.yieldNow, { times: 20 }),
        () => signal.pollUnsafe() !== undefined,
      )
      yield* undone
      assert.isFalse(yield* hasCome)
      yield* atomically(undone)
      assert.isFalse(yield* hasCome)
      yield* atomically(Effect.andThen(undone, Effect.andThen(publish, undone)))
      assert.isTrue(yield* hasCome)
    }).pipe(Effect.provide(services)),
  )
})

describe("returned values", () => {
  it.effect("are copies: changing them changes nothing in the storage", () =>
    Effect.gen(function* () {
      const filled = yield* fill
      yield* verbs["settle"]!(filled)
      const before = yield* look
      const store = yield* DeliveryStore
      const endpoints = yield* EndpointStore
      const event = Option.getOrThrow(yield* (yield* EventStore).find(filled.published[0]!.id))
      const found = Option.getOrThrow(yield* store.find(filled.claimed.id))
      const endpoint = Option.getOrThrow(yield* endpoints.find(filled.endpoint.id))
      const values = [
        event,
        found.delivery,
        ...found.attempts,
        endpoint,
        filled.claimed.endpoint,
        filled.other,
      ]
      for (const value of values) spoil(value)
      assert.deepStrictEqual(yield* look, before)
    }).pipe(Effect.provide(services)),
  )
})

/** Changes everything in a value that can be changed. */
const spoil = (value: object): void => {
  for (const [key, field] of Object.entries(value)) {
    if (typeof field === "object" && field !== null && !DateTime.isDateTime(field)) spoil(field)
    Object.assign(value, { [key]: "spoiled" })
  }
  Object.assign(value, { more: "spoiled" })
}
