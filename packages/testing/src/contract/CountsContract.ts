/**
 * The contract of `DeliveryStore.counts`: what it counts, in which hour, and for which endpoint.
 */
import { DeliveryStore, type Endpoint, type WebhookStatistics } from "@billwright/core"
import { DateTime, Effect } from "effect"
import { type ContractTest, same } from "./ContractTest.ts"
import {
  claim,
  claimNew,
  emptyQueue,
  minute,
  newEndpoint,
  publish,
  refused,
  settle,
  settlementOf,
} from "./WebhookProbe.ts"

/** The hours from a week before the tests begin. */
const stored = Effect.flatMap(DeliveryStore, (store) =>
  store.counts(DateTime.startOf(DateTime.subtract(minute(0), { days: 7 }), "hour")),
)

const hourOf = (minutes: number): number => DateTime.startOf(minute(minutes), "hour").epochMilliseconds

/** The counts of one endpoint, by hour. */
const of = (endpoint: Endpoint.Endpoint) =>
  Effect.map(stored, ({ hours, pending }) => ({
    hours: hours
      .filter(({ endpointId }) => endpointId === endpoint.id)
      .toSorted((a, b) => a.hour - b.hour)
      .map(({ delivered, failed, failedAttempts, hour }) => ({ hour, delivered, failed, failedAttempts })),
    pending: pending.get(endpoint.id) ?? 0,
  }))

const counts = (
  minutes: number,
  counted: Partial<WebhookStatistics.Counts>,
): WebhookStatistics.Counts & { readonly hour: number } => ({
  hour: hourOf(minutes),
  delivered: 0,
  failed: 0,
  failedAttempts: 0,
  ...counted,
})

export const countsContract = (test: ContractTest): void => {
  test(
    "counts results in the hours of their instants",
    Effect.gen(function* () {
      yield* emptyQueue
      const endpoint = yield* newEndpoint()
      const first = (yield* claimNew).claimed
      const again = { status: "Pending", attemptCount: 1, dueAt: minute(500).epochMilliseconds } as const
      yield* settle([settlementOf(first, { state: again, at: minute(1) }, refused)])
      const second = (yield* claimNew).claimed
      yield* settle([
        settlementOf(second, { state: { status: "Delivered", attemptCount: 1 }, at: minute(130) }),
      ])
      const third = (yield* claimNew).claimed
      const exhausted = { status: "Failed", attemptCount: 1, reason: "exhausted" } as const
      yield* settle([settlementOf(third, { state: exhausted, at: minute(131) }, refused)])
      same(yield* of(endpoint), {
        hours: [
          counts(1, { failedAttempts: 1 }),
          counts(130, { delivered: 1, failed: 1, failedAttempts: 1 }),
        ],
        pending: 1,
      })
    }),
  )

  test(
    "does not count a result that was not written, or that made no attempt and did not end the delivery",
    Effect.gen(function* () {
      yield* emptyQueue
      const endpoint = yield* newEndpoint()
      const { claimed } = yield* claimNew
      const done = settlementOf(claimed, { state: { status: "Delivered", attemptCount: 1 }, at: minute(1) })
      yield* settle([{ ...done, token: crypto.randomUUID() }])
      const released = { status: "Pending", attemptCount: 0, dueAt: minute(1).epochMilliseconds } as const
      yield* settle([{ ...settlementOf(claimed, { state: released, at: minute(1) }), attempt: undefined }])
      yield* settle([done])
      same(yield* of(endpoint), { hours: [], pending: 1 })
    }),
  )

  test(
    "counts a lost attempt when a claim finds it, and a cancelled one when it is cancelled",
    Effect.gen(function* () {
      yield* emptyQueue
      const endpoint = yield* newEndpoint()
      yield* publish()
      yield* publish()
      yield* claim(minute(0), { leaseUntil: minute(1) })
      yield* claim(minute(100), { limit: 1 })
      const store = yield* DeliveryStore
      same(yield* store.cancel(endpoint.id, "endpoint_disabled", minute(200)), 2)
      same(yield* of(endpoint), {
        hours: [counts(100, { failedAttempts: 1 }), counts(200, { failed: 2, failedAttempts: 2 })],
        pending: 0,
      })
    }),
  )

  test(
    "leaves out earlier hours and other endpoints",
    Effect.gen(function* () {
      yield* emptyQueue
      const endpoint = yield* newEndpoint({ eventTypes: ["invoice.paid"] })
      const other = yield* newEndpoint({ eventTypes: ["payment.failed"] })
      const { claimed } = yield* claimNew
      yield* settle([
        settlementOf(claimed, { state: { status: "Delivered", attemptCount: 1 }, at: minute(1) }),
      ])
      same((yield* of(endpoint)).hours, [counts(1, { delivered: 1 })])
      same(yield* of(other), { hours: [], pending: 0 })
      const store = yield* DeliveryStore
      const later = yield* store.counts(DateTime.makeUnsafe(hourOf(1) + 3_600_000))
      same(
        later.hours.filter(({ endpointId }) => endpointId === endpoint.id),
        [],
      )
    }),
  )
}
