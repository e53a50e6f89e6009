/**
 * The contract of `DeliveryStore.settle`: only the worker with the lease writes results. And how results change the
 * endpoint.
 */
import {
  type ClaimedDelivery,
  Delivery,
  EndpointStore,
  MAX_SETTLE,
  type Settlement,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, otherTenants, same, times, together } from "./ContractTest.ts"
import {
  claim,
  claimNew,
  claimOne,
  delivery,
  emptyQueue,
  failedUntil,
  listDeliveries,
  minute,
  newEndpoint,
  publish,
  refused,
  settle,
  settlementOf,
} from "./WebhookProbe.ts"

const fencing = (test: ContractTest): void => {
  test(
    "writes nothing for a lease that was claimed again, was settled, or never existed",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      const { claimed } = yield* claimNew
      same(yield* settle([settlementOf(claimed, { token: crypto.randomUUID() })]), [false])
      const again = yield* claimOne(minute(5))
      const before = yield* delivery(claimed.id)
      same(yield* settle([settlementOf(claimed)]), [false])
      same(yield* delivery(claimed.id), before)
      same(yield* settle([settlementOf(again)]), [true])
      const after = yield* delivery(claimed.id)
      same(after.delivery.status, "Delivered")
      same(yield* settle([settlementOf(again, failedUntil(again, minute(9)), refused)]), [false])
      same(yield* settle([settlementOf(claimed)]), [false])
      same(yield* delivery(claimed.id), after)
    }),
  )

  test(
    "writes only the first of several results of a lease that are given at once",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      const resultsOf = (claimed: ClaimedDelivery): ReadonlyArray<Settlement> => [
        settlementOf(claimed, failedUntil(claimed, minute(9)), refused),
        settlementOf(claimed),
        settlementOf(claimed, { state: { status: "Failed", attemptCount: 1, reason: "exhausted" } }, refused),
      ]
      const statuses = ["Pending", "Delivered", "Failed"]
      for (const first of [0, 1, 2]) {
        for (const second of [0, 1, 2]) {
          const { claimed } = yield* claimNew
          const results = resultsOf(claimed)
          same(yield* settle([results[first]!, results[second]!]), [true, false])
          const found = yield* delivery(claimed.id)
          same([found.delivery.status, found.delivery.attemptCount], [statuses[first], 1])
          same(found.attempts, [results[first]!.attempt])
        }
      }
    }),
  )

  test(
    "writes the result of an expired lease if nobody has claimed the delivery again",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      const { claimed } = yield* claimNew
      same(yield* settle([settlementOf(claimed, { at: minute(99) })]), [true])
      same((yield* delivery(claimed.id)).delivery.finishedAt, minute(99))
    }),
  )

  test(
    "requires delivery, token and tenant to match",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      yield* publish()
      yield* publish()
      const { deliveries } = yield* claim(minute(0))
      const [a, b] = deliveries.map((claimed) => settlementOf(claimed))
      same(yield* settle([{ ...a!, token: b!.token }]), [false])
      same(yield* settle([{ ...a!, id: yield* Sample.deliveryId }]), [false])
      for (const tenant of yield* otherTenants) same(yield* settle([{ ...a!, tenant }]), [false])
      same((yield* listDeliveries({ status: "Pending" })).data.length, 2)
      same(yield* settle([{ ...a!, endpointId: undefined }, b!]), [true, true])
    }),
  )

  test(
    "returns for each result, in the given order, whether it was written",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      yield* Effect.all(times(4, () => publish()))
      const { deliveries } = yield* claim(minute(0))
      const [a, b, c, d] = deliveries.map((claimed) => settlementOf(claimed))
      const stale = { ...b!, token: crypto.randomUUID() }
      same(yield* settle([d!, stale, a!, a!, c!]), [true, false, true, false, true])
      same((yield* listDeliveries({ status: "Delivered" })).data.length, 3)
      same((yield* delivery(a!.id)).attempts.length, 1)
      same(yield* settle([]), [])
    }),
  )

  test(
    "writes as many results at once as the limit allows",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      const count = MAX_SETTLE
      yield* Effect.all(
        times(count, () => publish()),
        { discard: true },
      )
      const { deliveries } = yield* claim(minute(0))
      assert.strictEqual(deliveries.length, count)
      same(
        yield* settle(deliveries.map((claimed) => settlementOf(claimed))),
        times(count, () => true),
      )
    }),
  )

  test(
    "lets one of many concurrent results win, or a cancellation as a whole",
    Effect.gen(function* () {
      yield* emptyQueue
      const endpoint = yield* newEndpoint()
      const { claimed } = yield* claimNew
      const results = yield* together(times(10, () => settle([settlementOf(claimed)])))
      assert.strictEqual(results.flat().filter((isWritten) => isWritten).length, 1)
      same((yield* delivery(claimed.id)).attempts.length, 1)
      const disable = (yield* EndpointStore).modify(endpoint.id, ({ endpoint: old, secrets }) =>
        Effect.succeed({ endpoint: { ...old, ...Sample.disabled }, secrets }),
      )
      const next = (yield* claimNew).claimed
      const [[isWritten]] = yield* Effect.all([settle([settlementOf(next)]), disable], {
        concurrency: "unbounded",
      })
      same(isWritten, true)
    }),
  )

  test(
    "is undone with its transaction",
    Effect.gen(function* () {
      yield* emptyQueue
      const { atomically } = yield* Transactor
      const endpoint = yield* newEndpoint()
      const { claimed } = yield* claimNew
      const before = yield* delivery(claimed.id)
      const failure = settlementOf(claimed, failedUntil(claimed, minute(9)), refused)
      yield* Effect.exit(atomically(Effect.andThen(settle([failure]), Effect.fail("no"))))
      same(yield* delivery(claimed.id), before)
      same((yield* (yield* EndpointStore).find(endpoint.id)).pipe(Option.getOrThrow), endpoint)
      same(yield* settle([settlementOf(claimed)]), [true])
    }),
  )
}

const withoutAttempt = (settlement: Settlement): Settlement => ({ ...settlement, attempt: undefined })

const failing = (test: ContractTest): void => {
  const failure = (claimed: ClaimedDelivery, startedAt: Delivery.Attempt["startedAt"]): Settlement =>
    settlementOf(claimed, failedUntil(claimed, minute(0)), { ...refused, startedAt })

  test(
    "records since when an endpoint fails: from the start of the first failure to the next success",
    Effect.gen(function* () {
      yield* emptyQueue
      const store = yield* EndpointStore
      const endpoint = yield* newEndpoint()
      const bystander = yield* newEndpoint({ eventTypes: ["payment.failed"] })
      const found = Effect.map(store.find(endpoint.id), Option.getOrThrow)
      yield* publish()
      yield* publish()
      const one = Effect.map(claim(minute(0), { limit: 1 }), ({ deliveries }) => deliveries[0]!)
      const first = yield* one
      yield* settle([failure(first, minute(3))])
      same(yield* found, { ...endpoint, failingSince: minute(3) })
      const second = yield* one
      same(second.endpoint.failingSince, minute(3))
      yield* settle([failure(second, minute(8))])
      same((yield* found).failingSince, minute(3))
      // A result without an attempt doesn't change the endpoint.
      const released = yield* one
      const state = { status: "Pending", attemptCount: released.attemptCount, dueAt: 0 } as const
      yield* settle([settlementOf(released, { state, attempt: undefined })])
      same((yield* found).failingSince, minute(3))
      yield* settle([settlementOf(yield* one)])
      same(yield* found, endpoint)
      const last = yield* one
      yield* settle([
        settlementOf(
          last,
          { state: { status: "Failed", attemptCount: last.attemptCount + 1, reason: "gone" } },
          { responseStatus: 410, startedAt: minute(9) },
        ),
      ])
      same((yield* found).failingSince, minute(9))
      same(Option.getOrThrow(yield* store.find(bystander.id)), bystander)
    }),
  )

  test(
    "does not count our own errors as failures of the endpoint",
    Effect.gen(function* () {
      yield* emptyQueue
      const store = yield* EndpointStore
      const endpoint = yield* newEndpoint()
      for (const error of Delivery.ownErrors) {
        const { claimed } = yield* claimNew
        const attempt = { error, responseStatus: null, responseHeaders: null, responseBody: null }
        same(yield* settle([settlementOf(claimed, failedUntil(claimed, minute(900)), attempt)]), [true])
        same(yield* store.find(endpoint.id), Option.some(endpoint))
        same((yield* delivery(claimed.id)).delivery.lastError, error)
      }
    }),
  )

  test(
    "does not change the endpoint for a result that comes too late or made no attempt",
    Effect.gen(function* () {
      yield* emptyQueue
      const store = yield* EndpointStore
      const endpoint = yield* newEndpoint()
      const { claimed } = yield* claimNew
      yield* settle([{ ...failure(claimed, minute(3)), token: crypto.randomUUID() }])
      yield* settle([withoutAttempt(failure(claimed, minute(3)))])
      same(yield* store.find(endpoint.id), Option.some(endpoint))
      const failingNow = yield* newEndpoint({ failingSince: minute(-5), eventTypes: ["payment.failed"] })
      yield* publish({ type: "payment.failed" })
      const { deliveries } = yield* claim(minute(0), { limits: new Map([[endpoint.id, 0]]) })
      yield* settle([{ ...settlementOf(deliveries[0]!), token: crypto.randomUUID() }])
      same(yield* store.find(failingNow.id), Option.some(failingNow))
    }),
  )

  test(
    "handles several failures of one endpoint and successes of another in one call",
    Effect.gen(function* () {
      yield* emptyQueue
      const store = yield* EndpointStore
      const [bad, good] = [yield* newEndpoint(), yield* newEndpoint({ failingSince: minute(-9) })]
      yield* Effect.all(times(3, () => publish()))
      const { deliveries } = yield* claim(minute(0))
      yield* settle(
        deliveries.map((claimed) =>
          claimed.endpoint.id === bad.id ? failure(claimed, minute(2)) : settlementOf(claimed),
        ),
      )
      same(Option.getOrThrow(yield* store.find(bad.id)).failingSince, minute(2))
      same(Option.getOrThrow(yield* store.find(good.id)).failingSince, null)
    }),
  )

  test(
    "writes results of a deleted endpoint, and does not change another tenant's",
    Effect.gen(function* () {
      yield* emptyQueue
      const store = yield* EndpointStore
      const endpoint = yield* newEndpoint()
      const { claimed } = yield* claimNew
      yield* store.delete(endpoint.id, minute(1))
      const [tenant] = yield* otherTenants
      const other = yield* newEndpoint().pipe(asTenant(tenant!))
      same(yield* settle([failure(claimed, minute(1))]), [true])
      same(yield* store.find(other.id).pipe(asTenant(tenant!)), Option.some(other))
      same((yield* delivery(claimed.id)).attempts.length, 1)
    }),
  )

  test(
    "loses neither a result's mark on the endpoint nor a concurrent change of the endpoint",
    Effect.gen(function* () {
      yield* emptyQueue
      const store = yield* EndpointStore
      const endpoint = yield* newEndpoint()
      yield* Effect.all(times(10, () => publish()))
      const { deliveries } = yield* claim(minute(0))
      const increment = store.modify(endpoint.id, ({ endpoint: old, secrets }) =>
        Effect.as(Effect.yieldNow, {
          endpoint: { ...old, metadata: { n: String(Number(old.metadata["n"] ?? 0) + 1) } },
          secrets,
        }),
      )
      yield* Effect.all(
        deliveries.flatMap((claimed) => [increment, settle([failure(claimed, minute(4))])]),
        { concurrency: "unbounded" },
      )
      same(
        yield* store.find(endpoint.id),
        Option.some({ ...endpoint, metadata: { n: "10" }, failingSince: minute(4) }),
      )
    }),
  )
}

export const fencingContract = (test: ContractTest): void => {
  test.section("fencing", () => fencing(test))
  test.section("failingSince", () => failing(test))
}
