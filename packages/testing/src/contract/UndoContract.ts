/**
 * The contract of undone transactions: their new values are in no list, with any filter, and changed values are as
 * before.
 */
import {
  ApiKeyStore,
  Collections,
  Customer,
  DeliveryStore,
  EndpointStore,
  EventStore,
  Threshold,
  Transactor,
  UsageStore,
} from "@billwright/core"
import { DateTime, Effect } from "effect"
import * as Sample from "../Sample.ts"
import { type ContractTest, same } from "./ContractTest.ts"
import { insertCustomer } from "./Everything.ts"
import { thresholds } from "./UsageProbe.ts"
import {
  claimNew,
  emptyQueue,
  firstPage,
  listDeliveries,
  listEvents,
  minute,
  newEndpoint,
  publish,
  replay,
  settle,
  settlementOf,
} from "./WebhookProbe.ts"

const TYPE = "order.undone"
const EMAIL = "undone@example.com"

export const undoContract = (test: ContractTest): void => {
  test(
    "lists no value of an undone transaction, with any filter",
    Effect.gen(function* () {
      yield* emptyQueue
      const customers = (yield* Collections).of(Customer.customers)
      const usage = yield* UsageStore
      const watching = yield* thresholds
      const events = yield* EventStore
      const endpoints = yield* EndpointStore
      const deliveries = yield* DeliveryStore
      const keys = yield* ApiKeyStore
      const { atomically } = yield* Transactor

      // Other values outnumber the undone ones: a storage may read the shortest of its indexes.
      const existing = yield* insertCustomer()
      yield* Effect.forEach([1, 2, 3], () => insertCustomer())
      const endpoint = yield* newEndpoint()
      const claimedBefore = (yield* claimNew).claimed
      yield* settle([settlementOf(claimedBefore)])
      const { claimed } = yield* claimNew
      const [first] = yield* Effect.forEach([1, 2, 3], () => publish())
      const records = yield* Effect.forEach([1, 2, 3], () => Sample.record(existing.id))
      yield* usage.append(records)
      const threshold = yield* Sample.of(Threshold.thresholds, existing.id, { quantity: 100n })
      yield* watching.insert(threshold)
      const key = yield* Sample.apiKey()
      yield* keys.insert(key)
      const undoneId = (yield* Sample.event()).id

      const everybody = { email: undefined, search: undefined }
      const of = { customerId: existing.id, productId: undefined, unit: undefined }
      const window = { boundaries: [undefined, undefined], by: "meter" as const }
      const look = Effect.all({
        customers: Effect.all([
          customers.list(everybody, firstPage),
          customers.list({ ...everybody, email: EMAIL }, firstPage),
          customers.list({ ...everybody, email: existing.email }, firstPage),
          customers.list({ ...everybody, search: "undone" }, firstPage),
          customers.list({ ...everybody, search: existing.name }, firstPage),
        ]),
        usage: Effect.all([
          usage.list(of, firstPage),
          usage.list({ ...of, productId: "undone" }, firstPage),
          usage.list({ ...of, unit: "undone" }, firstPage),
          usage.totals({ ...of, ...window }),
          usage.totals({ ...of, ...window, productId: "undone" }),
        ]),
        units: usage.units(existing.id, 10),
        thresholds: Effect.all([
          watching.list({}, firstPage),
          watching.list({ customerId: existing.id }, firstPage),
        ]),
        events: Effect.all([
          listEvents(),
          listEvents({ type: TYPE }),
          listEvents({ customerId: existing.id }),
          listEvents({ deliveryStatus: "Pending" }),
          listEvents({ deliveryStatus: "Delivered" }),
          listEvents({ deliveryStatus: "Failed" }),
          listEvents({ type: TYPE, customerId: existing.id }),
        ]),
        deliveries: Effect.all([
          listDeliveries(),
          listDeliveries({ endpointId: endpoint.id }),
          listDeliveries({ eventId: undoneId }),
          listDeliveries({ status: "Pending" }),
          listDeliveries({ status: "Delivered" }),
          listDeliveries({ status: "Failed" }),
          listDeliveries({ status: "Failed", endpointId: endpoint.id }),
        ]),
        counts: deliveries.countByStatus([undoneId, claimed.eventId, first!.id]),
        hourlyCounts: deliveries.counts(DateTime.subtract(minute(0), { days: 7 })),
        endpoints: Effect.all([
          endpoints.list({ status: undefined }, firstPage),
          endpoints.list({ status: "enabled" }, firstPage),
          endpoints.list({ status: "disabled" }, firstPage),
        ]),
        keys: keys.list(firstPage),
        audit: usage.audit,
      })

      const undone = yield* Sample.customer({ name: "Undone", email: EMAIL })
      const another = yield* Sample.endpoint(Sample.disabled)
      const event = yield* Sample.event({
        id: undoneId,
        type: TYPE,
        customerId: existing.id,
        idempotencyKey: "undone",
      })
      const about = { productId: "undone", unit: "undone", idempotencyKey: "undone" }
      const record = yield* Sample.record(existing.id, about)
      const firing = yield* Sample.of(Threshold.thresholds, existing.id, {
        productId: "undone",
        unit: "undone",
        quantity: 1n,
      })
      const failed = { status: "Failed", attemptCount: 1, reason: "exhausted" } as const
      const writes = Effect.gen(function* () {
        yield* customers.insert(undone)
        yield* customers.modify(existing.id, (old) =>
          Effect.succeed({ ...old, name: "Undone", email: EMAIL }),
        )
        yield* endpoints.insert(another)
        yield* events.publish(event)
        yield* replay(first!, [endpoint], minute(2))
        yield* settle([settlementOf(claimed, { state: failed })])
        yield* watching.insert(firing)
        yield* usage.append([record])
        yield* usage.void(records[0]!.id, minute(1))
        yield* watching.remove(threshold.id)
        yield* keys.insert(yield* Sample.apiKey())
        yield* keys.revoke(key.key.id, minute(1))
        yield* deliveries.cancel(endpoint.id, "endpoint_disabled", minute(3))
        yield* endpoints.modify(endpoint.id, (stored) =>
          Effect.succeed({ ...stored, endpoint: { ...stored.endpoint, ...Sample.disabled } }),
        )
      })
      const before = yield* look
      yield* Effect.ignore(atomically(Effect.andThen(writes, Effect.fail("no"))))
      same(yield* look, before)
      // Erasing and deleting are undone, too: they remove values from all lists.
      const removals = Effect.gen(function* () {
        yield* endpoints.delete(endpoint.id, minute(1))
        yield* customers.remove(existing.id)
      })
      yield* Effect.ignore(atomically(Effect.andThen(removals, Effect.fail("no"))))
      same(yield* look, before)
      // The keys and ids of undone values can be used.
      yield* atomically(writes)
      same((yield* listEvents({ customerId: existing.id, type: TYPE })).data, [event])
      same((yield* customers.list({ ...everybody, email: undone.email }, firstPage)).data.length, 2)
    }),
  )
}
