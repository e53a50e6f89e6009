/**
 * The contract of the `usage.threshold` events that `UsageStore.append` publishes.
 */
import {
  CurrentTenant,
  Event,
  EventStore,
  type Threshold,
  ThresholdEvent,
  Transactor,
  type UsageRecord,
  UsageStore,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Exit, Option } from "effect"
import * as Sample from "../Sample.ts"
import { type ContractTest, pause, same, times, together } from "./ContractTest.ts"
import { insertThreshold as insert } from "./UsageProbe.ts"
import { newCustomer } from "./UsageProbe.ts"
import {
  deliveriesOf,
  eventIds,
  expectedDelivery,
  listEvents,
  minute,
  newEndpoint,
  publish,
} from "./WebhookProbe.ts"

/** Appends, and returns the events that the append should have published, in their order. */
const append = Effect.fnUntraced(function* (records: ReadonlyArray<UsageRecord.NewUsageRecord>) {
  const { mode } = yield* CurrentTenant
  const { crossings, outcomes } = yield* (yield* UsageStore).append(records)
  const stored = outcomes.flatMap((outcome) => (outcome._tag === "Recorded" ? [outcome.record] : []))
  if (crossings.length === 0) return []
  const lastId = stored.map(({ id }) => id).reduce((a, b) => (a < b ? b : a))
  const at = stored.map(({ createdAt }) => createdAt).reduce(DateTime.max)
  return ThresholdEvent.make(crossings, lastId, at, mode)
})

/** The stored events, in the order of their ids. */
const stored = Effect.map(listEvents({ type: "usage.threshold" }), ({ data }) => [...data].reverse())

const inIdOrder = (events: ReadonlyArray<Event.Event>) => events.toSorted((a, b) => (a.id < b.id ? -1 : 1))

const insertAll = (customerId: Threshold.Threshold["customerId"]) =>
  Effect.all([
    insert(customerId, { quantity: 10n, period: "day" }),
    insert(customerId, { quantity: 15n, period: "month" }),
    insert(customerId, { quantity: 10n ** 18n, period: "lifetime" }),
    insert(customerId, { quantity: 20n, period: "lifetime" }),
  ])

export const thresholdEventContract = (test: ContractTest): void => {
  test.section("threshold events", () => {
    test(
      "publishes one for each firing, with the bytes of ThresholdEvent and with its deliveries",
      Effect.gen(function* () {
        const store = yield* EventStore
        const customerId = yield* newCustomer
        yield* insertAll(customerId)
        const wanted = yield* newEndpoint({ eventTypes: ["usage.threshold"] })
        yield* newEndpoint({ eventTypes: ["invoice.paid"] })
        const all = yield* newEndpoint()
        const records = yield* Effect.all([
          Sample.record(customerId, { quantity: 12, createdAt: minute(3), timestamp: minute(0) }),
          Sample.record(customerId, { quantity: 11, createdAt: minute(7), timestamp: minute(-1_440) }),
          Sample.record(customerId, { quantity: 1, createdAt: minute(5) }),
          // A record that is not stored has no influence on the events.
          Sample.record(yield* Sample.customerId, { createdAt: minute(90) }),
        ])
        const start = yield* store.tailPosition(undefined)
        const events = yield* append(records)
        assert.strictEqual(events.length, 4)
        same(yield* stored, inIdOrder(events))
        assert.deepStrictEqual(
          (yield* stored).map(({ payload }) => payload),
          inIdOrder(events).map(({ payload }) => payload),
        )
        for (const event of events) {
          same(event.timestamp, minute(7))
          same(
            yield* deliveriesOf(event),
            [wanted, all].map(({ id }, index) => expectedDelivery(event, id, index)),
          )
        }
        same(
          yield* eventIds({ customerId }),
          inIdOrder(events)
            .map(({ id }) => id)
            .reverse(),
        )
        // Transactions of other tests may delay the tail.
        const { events: followed } = yield* Effect.repeat(
          Effect.andThen(pause, store.tail(Option.getOrThrow(start), [], 10)),
          { until: ({ events: found }) => found.length > 0, times: 100 },
        )
        same(inIdOrder(followed), inIdOrder(events))
      }),
    )

    test(
      "publishes none when nothing fires, and one for each period",
      Effect.gen(function* () {
        const customerId = yield* newCustomer
        yield* insert(customerId, { quantity: 10n, period: "month" })
        const use = (quantity: number) =>
          Effect.flatMap(Sample.record(customerId, { quantity }), (record) => append([record]))
        same(yield* use(9), [])
        same(yield* stored, [])
        const [event] = yield* use(1)
        same(yield* stored, [event])
        same(yield* use(100), [])
        same(yield* stored, [event])
      }),
    )

    test(
      "stores totals that no double can represent",
      Effect.gen(function* () {
        const customerId = yield* newCustomer
        const largest = { quantity: Number.MAX_SAFE_INTEGER }
        const quantity = 2n * BigInt(Number.MAX_SAFE_INTEGER) - 1n
        yield* insert(customerId, { quantity, period: "lifetime" })
        const [event] = yield* append(yield* Effect.all(times(2, () => Sample.record(customerId, largest))))
        same(yield* stored, [event])
        assert.include(Event.dataText(event!.payload), `"quantity":${quantity}`)
        assert.include(Event.dataText(event!.payload), `"total_quantity":${quantity + 1n}`)
      }),
    )

    test(
      "leaves no event and no delivery when the transaction of the append fails",
      Effect.gen(function* () {
        const { atomically } = yield* Transactor
        const customerId = yield* newCustomer
        yield* insertAll(customerId)
        yield* newEndpoint()
        const record = yield* Sample.record(customerId, { quantity: 100 })
        const exit = yield* Effect.exit(
          atomically(
            Effect.gen(function* () {
              same((yield* append([record])).length, 3)
              same((yield* stored).length, 3)
              return yield* Effect.fail("no")
            }),
          ),
        )
        assert.deepStrictEqual(exit, Exit.fail("no"))
        same(yield* stored, [])
        same(yield* listEvents({ deliveryStatus: "Pending" }), { data: [], hasMore: false })
        const events = yield* append([record])
        same(yield* stored, inIdOrder(events))
        same((yield* deliveriesOf(events[0]!)).length, 1)
      }),
    )

    test(
      "publishes each firing in exactly one of many concurrent appends",
      Effect.gen(function* () {
        const customerId = yield* newCustomer
        yield* insertAll(customerId)
        const endpoint = yield* newEndpoint()
        const published = yield* together(
          times(25, () => Effect.flatMap(Sample.record(customerId), (record) => append([record]))),
        )
        const events = inIdOrder(published.flat())
        assert.strictEqual(events.length, 3)
        same(yield* stored, events)
        for (const event of events)
          same(yield* deliveriesOf(event), [expectedDelivery(event, endpoint.id, 0)])
      }),
    )

    test(
      "publishes in the mode of its tenant",
      Effect.gen(function* () {
        const tenant = yield* CurrentTenant
        yield* Effect.gen(function* () {
          const customerId = yield* newCustomer
          yield* insert(customerId, { quantity: 1n })
          const [event] = yield* append([yield* Sample.record(customerId)])
          same(yield* stored, [event])
          assert.include(event!.payload, '"livemode":false')
        }).pipe(Effect.provideService(CurrentTenant, { ...tenant, mode: "test" }))
        same(yield* stored, [])
        yield* publish()
        same(yield* stored, [])
      }),
    )
  })
}
