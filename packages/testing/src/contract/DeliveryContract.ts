/**
 * The contract of `DeliveryStore`: storing, listing and replaying.
 */
import { Delivery, DeliveryStore, EndpointStore, type EventId } from "@billwright/core"
import { Effect, Option } from "effect"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, otherTenants, same, times } from "./ContractTest.ts"
import { pagingContract } from "./PagingContract.ts"
import {
  claim,
  deliveriesOf,
  delivery,
  emptyQueue,
  expectedDelivery,
  idsOf,
  listDeliveries,
  minute,
  newEndpoint,
  publish,
  replay,
  settle,
  settlementOf,
} from "./WebhookProbe.ts"

const counts = (test: ContractTest): void => {
  const countByStatus = (eventIds: ReadonlyArray<EventId>) =>
    Effect.flatMap(DeliveryStore, (store) => store.countByStatus(eventIds))
  const none = { pending: 0, delivered: 0, failed: 0 }

  test(
    "counts the deliveries of events by status, in the order of the given events",
    Effect.gen(function* () {
      yield* emptyQueue
      const silent = yield* publish()
      const [e, f] = [yield* newEndpoint(), yield* newEndpoint()]
      const [a, b] = [yield* publish(), yield* publish()]
      const { deliveries } = yield* claim(minute(1))
      const [first, second] = deliveries.filter(({ eventId }) => eventId === a.id)
      yield* settle([
        settlementOf(first!),
        settlementOf(second!, { state: { status: "Failed", attemptCount: 1, reason: "exhausted" } }),
      ])
      yield* replay(a, [e, f], minute(2))
      const unknown = yield* Sample.eventId
      same(yield* countByStatus([b.id, unknown, a.id, silent.id, b.id]), [
        { ...none, pending: 2 },
        none,
        { pending: 2, delivered: 1, failed: 1 },
        none,
        { ...none, pending: 2 },
      ])
      same(yield* countByStatus([]), [])
      for (const tenant of yield* otherTenants)
        same(yield* countByStatus([a.id]).pipe(asTenant(tenant)), [none])
    }),
  )

  test(
    "counts up to a limit",
    Effect.gen(function* () {
      yield* emptyQueue
      const event = yield* publish()
      const endpoint = yield* newEndpoint()
      const many = times(Delivery.MAX_COUNTED / 2, () => endpoint)
      for (let round = 0; round < 3; round++) yield* replay(event, many, minute(round))
      same(yield* countByStatus([event.id]), [{ ...none, pending: Delivery.MAX_COUNTED }])
      yield* emptyQueue
    }),
  )
}

const lists = (test: ContractTest): void => {
  pagingContract(
    test,
    Effect.gen(function* () {
      const endpoint = yield* newEndpoint()
      return {
        add: (count) =>
          Effect.all(
            times(count, () => Effect.map(publish(), (event) => expectedDelivery(event, endpoint.id, 0).id)),
          ),
        list: (page) =>
          Effect.map(listDeliveries({}, page), ({ data, hasMore }) => ({ data: idsOf(data), hasMore })),
        unknownId: Sample.deliveryId,
      }
    }),
  )

  test(
    "lists by status, endpoint and event, newest first",
    Effect.gen(function* () {
      yield* emptyQueue
      const [e, f] = [yield* newEndpoint(), yield* newEndpoint({ eventTypes: ["invoice.paid"] })]
      const [a, b] = [yield* publish(), yield* publish({ type: "invoice.created" })]
      const [ae, af] = (yield* deliveriesOf(a)).map(({ id }) => id)
      const [be] = (yield* deliveriesOf(b)).map(({ id }) => id)
      const { made } = yield* replay(a, [f], minute(1))
      const again = made[0]!.id
      const list = (filter: Parameters<typeof listDeliveries>[0]) =>
        Effect.map(listDeliveries(filter), ({ data }) => idsOf(data))
      same(yield* list({}), [again, be, af, ae])
      const { deliveries } = yield* claim(minute(1))
      const of = (id: string | undefined) => deliveries.find((claimed) => claimed.id === id)!
      yield* settle([
        settlementOf(of(ae)),
        settlementOf(of(af), { state: { status: "Failed", attemptCount: 1, reason: "gone" } }),
      ])
      same(yield* list({ status: "Pending" }), [again, be])
      same(yield* list({ status: "Delivered" }), [ae])
      same(yield* list({ status: "Failed" }), [af])
      same(yield* list({ endpointId: e.id }), [be, ae])
      same(yield* list({ endpointId: f.id, status: "Pending" }), [again])
      same(yield* list({ eventId: a.id }), [again, af, ae])
      same(yield* list({ eventId: a.id, endpointId: f.id }), [again, af])
      same(yield* list({ eventId: a.id, endpointId: f.id, status: "Failed" }), [af])
      same(yield* list({ eventId: b.id, status: "Failed" }), [])
      same(yield* list({ eventId: yield* Sample.eventId }), [])
      same(yield* list({ endpointId: yield* Sample.endpointId }), [])
      yield* (yield* EndpointStore).delete(e.id, minute(2))
      same(yield* list({ endpointId: e.id }), [be, ae])
      const cursor = { direction: "older", id: be! } as const
      same(idsOf((yield* listDeliveries({ endpointId: f.id }, { limit: 1, cursor })).data), [af])
    }),
  )

  test(
    "keeps tenants apart",
    Effect.gen(function* () {
      const store = yield* DeliveryStore
      const endpoint = yield* newEndpoint()
      const event = yield* publish()
      const [made] = yield* deliveriesOf(event)
      for (const tenant of yield* otherTenants) {
        yield* Effect.gen(function* () {
          same(yield* store.find(made!.id), Option.none())
          for (const filter of [{}, { endpointId: endpoint.id }, { eventId: event.id }]) {
            same(yield* listDeliveries(filter), { data: [], hasMore: false })
          }
          same(yield* store.cancel(endpoint.id, "endpoint_disabled", minute(1)), 0)
        }).pipe(asTenant(tenant))
      }
      same(yield* store.find(made!.id), Option.some({ delivery: made, attemptStartedAt: null, attempts: [] }))
      same(yield* store.find(yield* Sample.deliveryId), Option.none())
    }),
  )
}

const replays = (test: ContractTest): void => {
  test(
    "stores new deliveries of a stored event, one for each given endpoint",
    Effect.gen(function* () {
      const [a, b, c] = yield* Effect.all([newEndpoint(), newEndpoint(), newEndpoint()])
      const event = yield* publish()
      const { firstDeliveryId, made } = yield* replay(event, [c, a], minute(7))
      const expected = [c, a].map(({ id }, index) => ({
        ...expectedDelivery(event, id, 0),
        id: Delivery.deliveryId(firstDeliveryId, index),
        nextAttemptAt: minute(7),
        createdAt: minute(7),
      }))
      same(made, expected)
      for (const one of expected)
        same(yield* delivery(one.id), { delivery: one, attemptStartedAt: null, attempts: [] })
      same((yield* listDeliveries({ endpointId: b.id })).data.length, 1)
      same((yield* replay(event, [], minute(8))).made, [])
      const removed = { ...event, id: yield* Sample.eventId }
      same((yield* replay(removed, [a], minute(8))).made, [])
      same((yield* listDeliveries({ endpointId: a.id })).data.length, 2)
    }),
  )
}

export const deliveryContract = (test: ContractTest): void => {
  test.section("list", () => lists(test))
  test.section("countByStatus", () => counts(test))
  test.section("insert", () => replays(test))
}
