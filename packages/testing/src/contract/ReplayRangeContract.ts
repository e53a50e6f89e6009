/**
 * The contract of `DeliveryStore.replayRange`: which past events it sends again.
 */
import {
  type CurrentTenant,
  Delivery,
  DeliveryStore,
  type Endpoint,
  type IdGenerator,
  type RangeReplay,
  type StorageError,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, otherTenants, same, times, together } from "./ContractTest.ts"
import {
  claim,
  emptyQueue,
  idsOf,
  listDeliveries,
  minute,
  newEndpoint,
  publish,
  replay,
  settle,
  settlementOf,
} from "./WebhookProbe.ts"

/** Replays a range, by default one of all events. Returns how many, and the new deliveries. */
const replayRange: (
  endpointId: Endpoint.EndpointId,
  range?: Partial<RangeReplay>,
) => Effect.Effect<
  { readonly count: number; readonly firstDeliveryId: Delivery.DeliveryId },
  StorageError,
  CurrentTenant | DeliveryStore | IdGenerator
> = Effect.fnUntraced(function* (endpointId, range = {}) {
  const firstDeliveryId = yield* Sample.deliveryId
  const count = yield* (yield* DeliveryStore).replayRange({
    endpointId,
    since: minute(0),
    until: minute(100),
    onlyFailed: false,
    types: [],
    firstDeliveryId,
    now: minute(50),
    limit: 100,
    isDryRun: false,
    ...range,
  })
  return { count, firstDeliveryId }
})

/** The events of a replay's new deliveries, in the order of the deliveries. */
const replayed = Effect.fnUntraced(function* (endpointId: Endpoint.EndpointId, range?: Partial<RangeReplay>) {
  const { count, firstDeliveryId } = yield* replayRange(endpointId, range)
  const { data } = yield* listDeliveries({ endpointId })
  const made = data.filter(({ id }) => id >= firstDeliveryId).reverse()
  assert.strictEqual(made.length, count)
  same(
    idsOf(made),
    times(count, (index) => Delivery.deliveryId(firstDeliveryId, index)),
  )
  for (const one of made) {
    same(one.nextAttemptAt, range?.now ?? minute(50))
    same([one.status, one.attemptCount, one.createdAt], ["Pending", 0, range?.now ?? minute(50)])
  }
  return made.map(({ eventId }) => eventId)
})

/** Ends all due deliveries of the tenant's only endpoint. */
const endDue = Effect.fnUntraced(function* (status: "Delivered" | "Failed") {
  const { deliveries } = yield* claim(minute(1_000))
  yield* settle(
    deliveries.map((claimed) =>
      settlementOf(claimed, {
        state:
          status === "Delivered"
            ? { status, attemptCount: 1 }
            : { status, attemptCount: 1, reason: "exhausted" },
      }),
    ),
  )
})

const ranges = (test: ContractTest): void => {
  test(
    "replays all events of a range that the endpoint's filter accepts, in the order of their ids",
    Effect.gen(function* () {
      const before = yield* publish({ timestamp: minute(4) })
      const endpoint = yield* newEndpoint({ eventTypes: ["invoice.paid", "invoice.created"] })
      const other = yield* newEndpoint()
      yield* emptyQueue
      const events = yield* Effect.forEach(
        [
          { timestamp: minute(5) },
          { timestamp: minute(4), type: "invoice.created" },
          { timestamp: minute(5), type: "payment.failed" },
          { timestamp: minute(9) },
          { timestamp: minute(3) },
          { timestamp: minute(10) },
        ],
        (fields: Sample.EventFields) => publish(fields),
      )
      yield* endDue("Delivered")
      const range = { since: minute(4), until: minute(10) }
      const [a, b, , d] = idsOf(events)
      same(yield* replayed(endpoint.id, range), [before.id, a, b, d])
      // All of these now have a pending delivery.
      same(yield* replayed(endpoint.id, range), [])
      same((yield* listDeliveries({ endpointId: other.id, status: "Pending" })).data, [])
    }),
  )

  test(
    "replays only events whose newest delivery to the endpoint failed",
    Effect.gen(function* () {
      yield* publish()
      const endpoint = yield* newEndpoint()
      yield* emptyQueue
      const [failed, again] = [yield* publish(), yield* publish()]
      yield* endDue("Failed")
      const delivered = yield* publish()
      yield* replay(again, [endpoint], minute(1))
      yield* endDue("Delivered")
      const pending = yield* publish()
      const onlyFailed = { onlyFailed: true }
      // Failures of another endpoint do not count.
      const other = yield* newEndpoint()
      yield* replay(delivered, [other], minute(1))
      const { deliveries } = yield* claim(minute(2), { limits: new Map([[endpoint.id, 0]]) })
      yield* settle(
        deliveries.map((claimed) =>
          settlementOf(claimed, { state: { status: "Failed", attemptCount: 1, reason: "gone" } }),
        ),
      )
      same(yield* replayed(endpoint.id, onlyFailed), [failed.id])
      same(yield* replayed(endpoint.id, onlyFailed), [])
      same(yield* replayed(other.id, onlyFailed), [delivered.id])
      yield* endDue("Failed")
      same(yield* replayed(endpoint.id, onlyFailed), [failed.id, pending.id])
    }),
  )

  test(
    "replays only the requested types",
    Effect.gen(function* () {
      const types = ["invoice.paid", "invoice.created", "payment.failed"]
      const events = yield* Effect.forEach(types, (type) => publish({ type }))
      const endpoint = yield* newEndpoint()
      const some = yield* newEndpoint({ eventTypes: types.slice(1) })
      const [a, b, c] = idsOf(events)
      same(yield* replayed(endpoint.id, { types: [types[0]!, types[2]!] }), [a, c])
      same(yield* replayed(endpoint.id, { types: ["invoice.pai_"] }), [])
      same(yield* replayed(some.id, { types: [types[0]!, types[1]!] }), [b])
      same(yield* replayed(endpoint.id), [b])
      same(yield* replayed(some.id), [c])
    }),
  )

  test(
    "neither replays nor counts an event that was made for another endpoint",
    Effect.gen(function* () {
      yield* emptyQueue
      const [own, other] = [yield* newEndpoint(), yield* newEndpoint()]
      const forOwn = yield* publish({ endpointId: own.id })
      const forAll = yield* publish()
      // This was possible before events had an endpoint.
      yield* replay(forOwn, [other], minute(1))
      yield* endDue("Failed")
      for (const onlyFailed of [true, false]) {
        const counted = { onlyFailed, isDryRun: true }
        same((yield* replayRange(other.id, counted)).count, 1)
        same((yield* replayRange(other.id, { ...counted, limit: 1 })).count, 1)
        same((yield* replayRange(own.id, counted)).count, 2)
        same(yield* replayed(other.id, { onlyFailed }), [forAll.id])
        same(yield* replayed(own.id, { onlyFailed }), [forOwn.id, forAll.id])
        yield* endDue("Failed")
      }
    }),
  )

  test(
    "stores nothing when there are more events than the limit",
    Effect.gen(function* () {
      yield* Effect.all(times(7, () => publish()))
      const endpoint = yield* newEndpoint()
      same((yield* replayRange(endpoint.id, { limit: 6 })).count, 7)
      same((yield* replayRange(endpoint.id, { limit: 3 })).count, 4)
      same((yield* listDeliveries()).data, [])
      same((yield* replayRange(endpoint.id, { limit: 7 })).count, 7)
      same((yield* listDeliveries()).data.length, 7)
    }),
  )

  test(
    "stores nothing in a dry run, and returns the number that a replay would",
    Effect.gen(function* () {
      yield* emptyQueue
      const endpoint = yield* newEndpoint()
      yield* Effect.all(times(3, () => publish()))
      yield* endDue("Failed")
      yield* Effect.all(times(2, () => publish()))
      yield* endDue("Delivered")
      const dry = { isDryRun: true }
      same((yield* replayRange(endpoint.id, dry)).count, 5)
      same((yield* replayRange(endpoint.id, { ...dry, onlyFailed: true })).count, 3)
      same((yield* replayRange(endpoint.id, { ...dry, limit: 4 })).count, 5)
      same((yield* listDeliveries({ status: "Pending" })).data, [])
      same((yield* replayed(endpoint.id, { onlyFailed: true })).length, 3)
      same((yield* replayRange(endpoint.id, dry)).count, 2)
    }),
  )

  test(
    "replays only the events of its own tenant, and leaves nothing when it is undone",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      for (const tenant of yield* otherTenants) yield* publish().pipe(asTenant(tenant))
      const event = yield* publish()
      const endpoint = yield* newEndpoint()
      yield* Effect.exit(atomically(Effect.andThen(replayRange(endpoint.id), Effect.fail("no"))))
      same((yield* listDeliveries()).data, [])
      same(yield* replayed(endpoint.id), [event.id])
    }),
  )

  test(
    "makes one delivery of an event when it is replayed concurrently",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      yield* Effect.all(times(3, () => publish()))
      const endpoint = yield* newEndpoint()
      const results = yield* together(times(5, () => atomically(replayRange(endpoint.id))))
      same(results.map(({ count }) => count).sort(), [0, 0, 0, 0, 3])
      same((yield* listDeliveries()).data.length, 3)
    }),
  )
}

export const replayRangeContract = (test: ContractTest): void => {
  test.section("replayRange", () => ranges(test))
}
