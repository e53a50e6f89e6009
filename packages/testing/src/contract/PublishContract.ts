/**
 * The contract of `EventStore.publish`: what it stores, for which endpoints, and what it refuses.
 */
import {
  Collections,
  CurrentTenant,
  Customer,
  Endpoint,
  EndpointStore,
  Event,
  EventStore,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option } from "effect"
import * as Generators from "../Generators.ts"
import { forAll } from "../Property.ts"
import * as Sample from "../Sample.ts"
import {
  asTenant,
  type ContractTest,
  Effort,
  otherTenants,
  pause,
  same,
  times,
  together,
} from "./ContractTest.ts"
import { newCustomer } from "./UsageProbe.ts"
import {
  deliveriesOf,
  delivery,
  eventIds,
  expectedDelivery,
  listDeliveries,
  listEvents,
  minute,
  newEndpoint,
  publish,
  publishAs,
} from "./WebhookProbe.ts"

const storing = (test: ContractTest): void => {
  test(
    "returns every field of a published event, and its payload byte for byte",
    Effect.gen(function* () {
      const store = yield* EventStore
      const effort = yield* Effort
      yield* forAll(Generators.event, effort, (generated) =>
        Effect.gen(function* () {
          const customerId = generated.customerId === null ? null : yield* newCustomer
          const event = { ...generated, id: yield* Sample.eventId, customerId }
          same(yield* publishAs(event), { _tag: "Published", event })
          same(yield* store.find(event.id), Option.some(event))
        }).pipe(Effect.provideServiceEffect(CurrentTenant, Sample.tenant)),
      )
    }),
  )

  test(
    "stores the largest payload, and payloads that a JSON serializer would write differently",
    Effect.gen(function* () {
      const store = yield* EventStore
      const text = "𝒩".repeat(65_000)
      const large = yield* publish({ data: { text } })
      assert.isBelow(new TextEncoder().encode(large.payload).length, Event.MAX_PAYLOAD_BYTES)
      same(yield* store.find(large.id), Option.some(large))
      const sample = yield* Sample.event()
      const odd = { ...sample, payload: sample.payload.replace(/"data".*/, '"data":{"b" : 1.50,\n"a":1e2}}') }
      same(yield* publishAs(odd), { _tag: "Published", event: odd })
      same(yield* store.find(odd.id), Option.some(odd))
    }),
  )

  test(
    "finds no event for an unknown id",
    Effect.gen(function* () {
      const store = yield* EventStore
      same(yield* store.find(yield* Sample.eventId), Option.none())
    }),
  )
}

const targets = (test: ContractTest): void => {
  test(
    "makes a delivery for each enabled endpoint that accepts the type, in the order of the endpoints' ids",
    Effect.gen(function* () {
      const [all, one, other, off, several] = yield* Effect.all([
        newEndpoint(),
        newEndpoint({ eventTypes: ["invoice.paid"] }),
        newEndpoint({ eventTypes: ["invoice.created"] }),
        newEndpoint(Sample.disabled),
        newEndpoint({ eventTypes: ["payment.failed", "invoice.paid", "invoice.created"] }),
      ])
      const paid = yield* publish({ timestamp: minute(3) })
      same(
        yield* deliveriesOf(paid),
        [all, one, several].map(({ id }, index) => expectedDelivery(paid, id, index)),
      )
      const created = yield* publish({ type: "invoice.created" })
      same(
        yield* deliveriesOf(created),
        [all, other, several].map(({ id }, index) => expectedDelivery(created, id, index)),
      )
      const [first] = yield* deliveriesOf(paid)
      same(yield* delivery(first!.id), { delivery: first, attemptStartedAt: null, attempts: [] })
      same((yield* listDeliveries({ endpointId: off.id })).data, [])
    }),
  )

  test(
    "does not confuse similar types",
    Effect.gen(function* () {
      const filters = ["invoice.paid", "invoice.paidx", "invoice.pai_", "invoice.pai", "xinvoice.paid"]
      const endpoints = yield* Effect.forEach(filters, (type) => newEndpoint({ eventTypes: [type] }))
      const paid = yield* publish()
      same(yield* deliveriesOf(paid), [expectedDelivery(paid, endpoints[0]!.id, 0)])
      const underscore = yield* publish({ type: "invoice.pai_" })
      same(yield* deliveriesOf(underscore), [expectedDelivery(underscore, endpoints[2]!.id, 0)])
    }),
  )

  test(
    "makes none for endpoints of other tenants, or when no endpoint accepts the type",
    Effect.gen(function* () {
      for (const tenant of yield* otherTenants) yield* newEndpoint().pipe(asTenant(tenant))
      const event = yield* publish()
      same(yield* deliveriesOf(event), [])
      same(yield* eventIds(), [event.id])
    }),
  )

  test(
    "uses the state of endpoints at the time of publication",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const [a, b, c] = yield* Effect.all([newEndpoint(), newEndpoint(), newEndpoint(Sample.disabled)])
      yield* store.delete(a.id, minute(1))
      const change = (id: Endpoint.EndpointId, fields: Partial<Endpoint.Endpoint>) =>
        store.modify(id, ({ endpoint, secrets }) =>
          Effect.succeed({ endpoint: { ...endpoint, ...fields }, secrets }),
        )
      yield* change(b.id, { eventTypes: ["payment.failed"] })
      yield* change(c.id, { status: "enabled", disabledReason: null, disabledAt: null })
      const event = yield* publish()
      same(yield* deliveriesOf(event), [expectedDelivery(event, c.id, 0)])
      yield* change(c.id, Sample.disabled)
      same(yield* deliveriesOf(yield* publish()), [])
    }),
  )

  test(
    "makes a delivery for each endpoint, up to the limit of endpoints",
    Effect.gen(function* () {
      const count = Endpoint.MAX_ENDPOINTS
      const endpoints = yield* Effect.all(times(count, () => newEndpoint()))
      const event = yield* publish()
      const [first, last] = [0, count - 1].map((index) =>
        expectedDelivery(event, endpoints[index]!.id, index),
      )
      same((yield* delivery(first!.id)).delivery, first)
      same((yield* delivery(last!.id)).delivery, last)
      same((yield* listDeliveries()).hasMore, true)
    }),
  )

  test(
    "delivers an event for one endpoint only there, whatever the endpoint's filter is",
    Effect.gen(function* () {
      const [all, other] = yield* Effect.all([newEndpoint(), newEndpoint({ eventTypes: ["payment.failed"] })])
      const event = yield* publish({ endpointId: other.id })
      same(yield* deliveriesOf(event), [expectedDelivery(event, other.id, 0)])
      const second = yield* publish({ endpointId: all.id })
      same(yield* deliveriesOf(second), [expectedDelivery(second, all.id, 0)])
    }),
  )

  test(
    "refuses an event for an endpoint that is unknown, deleted, disabled or another tenant's",
    Effect.gen(function* () {
      const endpoints = yield* EndpointStore
      const deleted = yield* newEndpoint()
      yield* endpoints.delete(deleted.id, minute(1))
      const [otherMode] = yield* otherTenants
      const refused = [
        yield* Sample.endpointId,
        deleted.id,
        (yield* newEndpoint(Sample.disabled)).id,
        (yield* newEndpoint().pipe(asTenant(otherMode!))).id,
      ]
      yield* newEndpoint()
      for (const id of refused) {
        same(yield* publishAs(yield* Sample.event({ endpointId: id })), { _tag: "EndpointNotFound" })
      }
      same(yield* listEvents(), { data: [], hasMore: false })
      same(yield* listDeliveries(), { data: [], hasMore: false })
    }),
  )
}

const customers = (test: ContractTest): void => {
  test(
    "refuses a customer that is unknown, erased or another tenant's, and stores nothing",
    Effect.gen(function* () {
      const store = (yield* Collections).of(Customer.customers)
      yield* newEndpoint()
      const erased = yield* newCustomer
      yield* store.remove(erased)
      const [, otherAccount] = yield* otherTenants
      const refused = [yield* Sample.customerId, erased, yield* newCustomer.pipe(asTenant(otherAccount!))]
      for (const customerId of refused) {
        const event = yield* Sample.event({ customerId, idempotencyKey: "k" })
        same(yield* publishAs(event), { _tag: "CustomerNotFound" })
      }
      same(yield* listEvents(), { data: [], hasMore: false })
      same(yield* listDeliveries(), { data: [], hasMore: false })
      // The key is unused.
      const event = yield* publish({ customerId: yield* newCustomer, idempotencyKey: "k" })
      same(yield* eventIds(), [event.id])
    }),
  )

  test(
    "keeps the events of a customer that is later erased",
    Effect.gen(function* () {
      const store = yield* EventStore
      const customerId = yield* newCustomer
      const event = yield* publish({ customerId, idempotencyKey: "k" })
      yield* (yield* Collections).of(Customer.customers).remove(customerId)
      same(yield* store.find(event.id), Option.some(event))
      same(yield* eventIds({ customerId }), [event.id])
      // As with usage, the customer is checked first: a used key then reveals nothing more.
      const again = yield* Sample.event({ customerId, idempotencyKey: "k" })
      same(yield* publishAs(again), { _tag: "CustomerNotFound" })
    }),
  )
}

const transactions = (test: ContractTest): void => {
  test(
    "leaves no event, delivery or key when its transaction fails",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const store = yield* EventStore
      yield* newEndpoint()
      const event = yield* Sample.event({ idempotencyKey: "k" })
      const exit = yield* Effect.exit(
        atomically(
          Effect.gen(function* () {
            same(yield* publishAs(event), { _tag: "Published", event })
            same(yield* eventIds(), [event.id])
            same((yield* deliveriesOf(event)).length, 1)
            const again = yield* Sample.event({ idempotencyKey: "k" })
            same(yield* publishAs(again), { _tag: "Duplicate", event })
            return yield* Effect.fail("no")
          }),
        ),
      )
      assert.deepStrictEqual(exit, Exit.fail("no"))
      same(yield* store.find(event.id), Option.none())
      same(yield* listEvents(), { data: [], hasMore: false })
      same(yield* listDeliveries(), { data: [], hasMore: false })
      const other = yield* publish({ idempotencyKey: "k", data: "other" })
      same(yield* eventIds(), [other.id])
    }),
  )

  test(
    "undoes only the inner publication when the outer transaction recovers",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const endpoint = yield* newEndpoint()
      const [first, last] = yield* atomically(
        Effect.gen(function* () {
          const before = yield* publish()
          yield* Effect.exit(atomically(Effect.andThen(publish({ idempotencyKey: "k" }), Effect.fail("no"))))
          return [before, yield* publish({ idempotencyKey: "k" })]
        }),
      )
      same(yield* eventIds(), [last!.id, first!.id])
      same((yield* listDeliveries()).data, [
        expectedDelivery(last!, endpoint.id, 0),
        expectedDelivery(first!, endpoint.id, 0),
      ])
    }),
  )

  test(
    "leaves no pending delivery to an endpoint that is deleted concurrently",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const store = yield* EndpointStore
      const endpoint = yield* newEndpoint()
      const hasDeleted = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const deleting = yield* Effect.forkChild(
        atomically(
          store
            .delete(endpoint.id, minute(1))
            .pipe(
              Effect.andThen(Deferred.succeed(hasDeleted, undefined)),
              Effect.andThen(Deferred.await(mayEnd)),
            ),
        ),
      )
      yield* Deferred.await(hasDeleted)
      const publishing = yield* Effect.forkChild(publish())
      yield* pause
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(deleting)
      // It saw the endpoint before the deletion committed, or did not see it. It must never wait for ever.
      const made = yield* deliveriesOf(yield* Fiber.join(publishing))
      assert.isAtMost(made.length, 1)
    }),
  )

  test(
    "publishes events of known customers beside some of unknown ones",
    Effect.gen(function* () {
      const endpoint = yield* newEndpoint()
      const known = yield* newCustomer
      const unknown = yield* Sample.customerId
      const events = yield* Effect.all(
        times(30, (n) => Sample.event({ customerId: [null, known, unknown][n % 3]! })),
      )
      const outcomes = yield* together(events.map(publishAs))
      for (const [index, event] of events.entries()) {
        const isKnown = event.customerId !== unknown
        same(outcomes[index], isKnown ? { _tag: "Published", event } : { _tag: "CustomerNotFound" })
        same(yield* deliveriesOf(event), isKnown ? [expectedDelivery(event, endpoint.id, 0)] : [])
      }
    }),
  )

  test(
    "publishes many events concurrently, each with its own deliveries",
    Effect.gen(function* () {
      const endpoints = yield* Effect.all(times(3, () => newEndpoint()))
      const events = yield* together(times(20, () => publish()))
      for (const event of events) {
        same(
          yield* deliveriesOf(event),
          endpoints.map(({ id }, index) => expectedDelivery(event, id, index)),
        )
      }
    }),
  )
}

export const publishContract = (test: ContractTest): void => {
  test.section("publish", () => {
    storing(test)
    targets(test)
    customers(test)
    transactions(test)
  })
}
