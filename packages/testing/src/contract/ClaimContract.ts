/**
 * The contract of `DeliveryStore.claimDue` and `nextDueAt`: one queue of due deliveries for all tenants.
 *
 * Every test begins with an empty queue, so only one suite at a time may use a storage.
 */
import {
  CurrentTenant,
  Delivery,
  DeliveryStore,
  type Endpoint,
  EndpointStore,
  Tenant,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Option } from "effect"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, otherTenants, pause, same, times } from "./ContractTest.ts"
import {
  claim,
  claimOne,
  deliveriesOf,
  delivery,
  emptyQueue,
  eventIdsOf,
  failedUntil,
  idsOf,
  minute,
  newEndpoint,
  keyOf,
  publish,
  publishAt,
  refused,
  settle,
  settlementOf,
} from "./WebhookProbe.ts"

const nextDueAt = Effect.flatMap(DeliveryStore, (store) => store.nextDueAt)

const content = (test: ContractTest): void => {
  test(
    "returns everything that an attempt needs",
    Effect.gen(function* () {
      yield* emptyQueue
      const tenant = yield* CurrentTenant
      const secrets = [
        Sample.sealedSecret({ createdAt: minute(2) }),
        Sample.sealedSecret({ sealed: "older.secret", expiresAt: minute(1) }),
      ]
      const fields = { headers: { "x-a": "b" }, signature: "ed25519", failingSince: minute(-9) } as const
      const endpoint = yield* newEndpoint(fields, secrets)
      const event = yield* publish({ data: { text: "\u{1f600} é" } })
      const [made] = yield* deliveriesOf(event)
      const claimed = yield* claimOne(minute(0))
      same(claimed, {
        tenant,
        id: made!.id,
        eventId: event.id,
        eventType: event.type,
        payload: event.payload,
        attemptCount: 0,
        wasLost: false,
        token: claimed.token,
        endpoint: {
          id: endpoint.id,
          status: "enabled",
          url: endpoint.url,
          headers: endpoint.headers,
          signature: "ed25519",
          secrets,
          failingSince: minute(-9),
        },
      })
      // A storage may add to it where the row is. Nobody can guess the UUID.
      assert.match(claimed.token, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}( |$)/)
    }),
  )

  test(
    "claims deliveries of all tenants at once, each with its tenant",
    Effect.gen(function* () {
      yield* emptyQueue
      const tenants = [yield* CurrentTenant, ...(yield* otherTenants)]
      const places = yield* Effect.forEach(tenants, (tenant) =>
        Effect.gen(function* () {
          const endpoint = yield* newEndpoint()
          const event = yield* publish()
          const id = Delivery.firstDeliveryId(event.id)
          return { tenant, id, endpointId: endpoint.id, payload: event.payload }
        }).pipe(asTenant(tenant)),
      )
      const { deliveries } = yield* claim(minute(0))
      same(
        deliveries
          .map(({ endpoint, id, payload, tenant }) => ({ tenant, id, endpointId: endpoint.id, payload }))
          .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
        places.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
      )
      const [live, testMode] = tenants
      assert.notStrictEqual(Tenant.tenantKey(live!), Tenant.tenantKey(testMode!))
    }),
  )

  test(
    "returns the current state of the endpoint, also of disabled and deleted ones",
    Effect.gen(function* () {
      yield* emptyQueue
      const store = yield* EndpointStore
      const [disabled, deleted, changed] = yield* Effect.all([newEndpoint(), newEndpoint(), newEndpoint()])
      yield* publish()
      yield* store.modify(disabled.id, ({ endpoint, secrets }) =>
        Effect.succeed({ endpoint: { ...endpoint, ...Sample.disabled }, secrets }),
      )
      yield* store.delete(deleted.id, minute(1))
      const secrets = [Sample.sealedSecret({ sealed: "new.secret" })]
      yield* store.modify(changed.id, ({ endpoint }) =>
        Effect.succeed({ endpoint: { ...endpoint, url: "https://example.org/other" }, secrets }),
      )
      const { deliveries } = yield* claim(minute(1))
      const of = (id: Endpoint.EndpointId) => deliveries.find(({ endpoint }) => endpoint.id === id)!.endpoint
      same(of(disabled.id).status, "disabled")
      same([of(deleted.id).status, of(deleted.id).secrets], ["deleted", []])
      same([of(changed.id).url, of(changed.id).secrets], ["https://example.org/other", secrets])
    }),
  )
}

const due = (test: ContractTest): void => {
  test(
    "claims due deliveries, those due longest first",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      const [c, a, d, b] = yield* publishAt([3, 1, 4, 2])
      const at = (now: DateTime.Utc) => Effect.map(claim(now, { leaseUntil: minute(99) }), eventIdsOf)
      same(yield* at(DateTime.subtract(minute(1), { milliseconds: 1 })), [])
      same(yield* at(minute(1)), [a!.id])
      same(yield* at(minute(3)), [b!.id, c!.id])
      same(yield* at(minute(3)), [])
      same(yield* at(minute(4)), [d!.id])
    }),
  )

  test(
    "claims those due longest across endpoints, with tenants taking turns, when there are more than the limit",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint({ eventTypes: ["invoice.paid"] })
      yield* newEndpoint({ eventTypes: ["invoice.created"] })
      const [tenant] = yield* otherTenants
      yield* newEndpoint().pipe(asTenant(tenant!))
      const events = yield* Effect.forEach(
        times(12, (index) => index),
        (index) => {
          const make = publish({
            type: index % 2 === 0 ? "invoice.paid" : "invoice.created",
            timestamp: minute(index),
          })
          return index % 3 === 0 ? asTenant(tenant!)(make) : make
        },
      )
      // Every third delivery is the other tenant's. They alternate while both have some, then the rest follows.
      for (const places of [
        [0, 1, 2, 3],
        [4, 5, 6, 9],
        [7, 8, 10, 11],
      ]) {
        const { deliveries } = yield* claim(minute(100), { limit: 4, leaseUntil: minute(500) })
        same(
          deliveries.map(({ eventId }) => eventId),
          idsOf(places.map((place) => events[place]!)),
        )
      }
    }),
  )

  test(
    "returns when the next delivery is due, or when the first lease ends",
    Effect.gen(function* () {
      yield* emptyQueue
      same(yield* nextDueAt, Option.none())
      yield* newEndpoint()
      yield* publishAt([7])
      same(yield* nextDueAt, Option.some(minute(7)))
      const [tenant] = yield* otherTenants
      yield* Effect.andThen(newEndpoint(), publishAt([5])).pipe(asTenant(tenant!))
      same(yield* nextDueAt, Option.some(minute(5)))
      const claimed = yield* claimOne(minute(5), { leaseUntil: minute(6) })
      same(yield* nextDueAt, Option.some(minute(6)))
      yield* settle([settlementOf(claimed, failedUntil(claimed, minute(20)), refused)])
      same(yield* nextDueAt, Option.some(minute(7)))
      const other = yield* claimOne(minute(7), { leaseUntil: minute(90) })
      same(yield* nextDueAt, Option.some(minute(20)))
      yield* settle([settlementOf(other)])
      yield* settle([settlementOf(yield* claimOne(minute(20)))])
      same(yield* nextDueAt, Option.none())
    }),
  )

  test(
    "returns the end of the lease while an attempt is running",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      yield* publishAt([0])
      const { id } = yield* claimOne(minute(0), { leaseUntil: minute(3) })
      same((yield* delivery(id)).delivery.nextAttemptAt, minute(3))
    }),
  )

  test(
    "sees the writes of a transaction after its commit, not before",
    Effect.gen(function* () {
      yield* emptyQueue
      const { atomically } = yield* Transactor
      yield* newEndpoint()
      const hasPublished = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const failing = yield* Effect.forkChild(
        Effect.exit(
          atomically(
            publish().pipe(
              Effect.andThen(Deferred.succeed(hasPublished, undefined)),
              Effect.andThen(Deferred.await(mayEnd)),
              Effect.andThen(Effect.fail("no")),
            ),
          ),
        ),
      )
      yield* Deferred.await(hasPublished)
      const claiming = yield* Effect.forkChild(claim(minute(1)))
      yield* pause
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(failing)
      same((yield* Fiber.join(claiming)).deliveries, [])
      const event = yield* atomically(publish())
      same(eventIdsOf(yield* claim(minute(1))), [event.id])
    }),
  )
}

export const claimContract = (test: ContractTest): void => {
  test.section("claimDue", () => {
    content(test)
    due(test)
  })
}
