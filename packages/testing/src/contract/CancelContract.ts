/**
 * The contract of `DeliveryStore.cancel`: pending deliveries end with their endpoint.
 */
import { cancelAll, Delivery, DeliveryStore, EndpointStore, MAX_CANCEL, Transactor } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Sample from "../Sample.ts"
import { type ContractTest, same } from "./ContractTest.ts"
import {
  claim,
  claimOne,
  deliveriesOf,
  delivery,
  emptyQueue,
  expectedDelivery,
  failedUntil,
  listDeliveries,
  minute,
  newEndpoint,
  publish,
  refused,
  replay,
  settle,
  settlementOf,
  unknownAttempt,
} from "./WebhookProbe.ts"

const cancellation = (test: ContractTest): void => {
  test(
    "ends the pending deliveries of an endpoint, and no others",
    Effect.gen(function* () {
      const store = yield* DeliveryStore
      yield* emptyQueue
      const endpoint = yield* newEndpoint()
      const finished = yield* publish()
      yield* settle([settlementOf(yield* claimOne(minute(0)))])
      const other = yield* newEndpoint()
      const waiting = [yield* publish(), yield* publish({ timestamp: minute(500) })]
      const before = (yield* listDeliveries({ endpointId: other.id })).data
      const [kept] = yield* deliveriesOf(finished)
      same(yield* store.cancel(endpoint.id, "endpoint_disabled", minute(2)), 2)
      for (const event of waiting) {
        const ended = {
          ...expectedDelivery(event, endpoint.id, 0),
          status: "Failed",
          reason: "endpoint_disabled",
          nextAttemptAt: null,
          finishedAt: minute(2),
        }
        same(yield* delivery(ended.id), { delivery: ended, attemptStartedAt: null, attempts: [] })
      }
      same(yield* deliveriesOf(finished), [kept])
      same((yield* listDeliveries({ endpointId: other.id })).data, before)
      same(yield* store.cancel(endpoint.id, "endpoint_deleted", minute(3)), 0)
      // None of its deliveries are due any more.
      same(
        (yield* claim(minute(900))).deliveries.map((claimed) => claimed.endpoint.id),
        [other.id, other.id],
      )
    }),
  )

  test(
    "ends at most a fixed number at a time, oldest first",
    Effect.gen(function* () {
      const store = yield* DeliveryStore
      yield* emptyQueue
      const endpoint = yield* newEndpoint()
      const event = yield* publish()
      const many = Array.from({ length: MAX_CANCEL + 1 }, () => endpoint)
      const { firstDeliveryId } = yield* replay(event, many, minute(0))
      same(yield* store.cancel(endpoint.id, "endpoint_disabled", minute(1)), MAX_CANCEL)
      const left = (yield* listDeliveries({ endpointId: endpoint.id, status: "Pending" })).data
      same(
        left.map(({ id }) => id),
        [
          Delivery.deliveryId(firstDeliveryId, MAX_CANCEL),
          Delivery.deliveryId(firstDeliveryId, MAX_CANCEL - 1),
        ],
      )
      yield* cancelAll(store, endpoint.id, "endpoint_disabled", minute(2))
      same((yield* listDeliveries({ endpointId: endpoint.id, status: "Pending" })).data, [])
    }),
  )

  test(
    "records an attempt that may be running as unknown, and refuses its worker's result",
    Effect.gen(function* () {
      const store = yield* DeliveryStore
      yield* emptyQueue
      const endpoint = yield* newEndpoint()
      const event = yield* publish()
      const first = yield* claimOne(minute(1))
      const attempt = Sample.attempt({ number: 1, ...refused })
      yield* settle([settlementOf(first, failedUntil(first, minute(5)), refused)])
      const second = yield* claimOne(minute(6))
      same(yield* store.cancel(endpoint.id, "endpoint_deleted", minute(7)), 1)
      const ended = {
        ...expectedDelivery(event, endpoint.id, 0),
        status: "Failed",
        reason: "endpoint_deleted",
        attemptCount: 2,
        nextAttemptAt: null,
        lastResponseStatus: 500,
        lastError: "unknown",
        finishedAt: minute(7),
      }
      const expected = {
        delivery: ended,
        attemptStartedAt: null,
        attempts: [attempt, unknownAttempt(2, minute(6))],
      }
      same(yield* delivery(ended.id), expected)
      same(yield* settle([settlementOf(second, { at: minute(8) })]), [false])
      same(yield* delivery(ended.id), expected)
      same((yield* claim(minute(900))).deliveries, [])
    }),
  )

  test(
    "ends the deliveries of an endpoint that is deleted in the same transaction, and is undone with it",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const store = yield* DeliveryStore
      const endpoints = yield* EndpointStore
      yield* emptyQueue
      const endpoint = yield* newEndpoint()
      const event = yield* publish()
      yield* publish()
      const claimed = yield* claimOne(minute(1), { limit: 1 })
      const before = yield* listDeliveries()
      const end = Effect.gen(function* () {
        yield* endpoints.delete(endpoint.id, minute(2))
        same(yield* store.cancel(endpoint.id, "endpoint_deleted", minute(2)), 2)
      })
      yield* Effect.exit(atomically(Effect.andThen(end, Effect.fail("no"))))
      same(yield* listDeliveries(), before)
      same((yield* delivery(claimed.id)).attempts, [])
      // The lease is unchanged, and the other delivery is due.
      assert.notStrictEqual((yield* claimOne(minute(1))).id, claimed.id)
      same(yield* settle([settlementOf(claimed)]), [true])
      yield* atomically(
        Effect.gen(function* () {
          yield* endpoints.delete(endpoint.id, minute(2))
          same(yield* store.cancel(endpoint.id, "endpoint_deleted", minute(2)), 1)
        }),
      )
      same((yield* deliveriesOf(event)).length, 1)
      same((yield* listDeliveries({ status: "Failed" })).data.length, 1)
    }),
  )
}

export const cancelContract = (test: ContractTest): void => {
  test.section("cancel", () => cancellation(test))
}
