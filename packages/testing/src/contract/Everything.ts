/**
 * Writes through every store in one effect, to check that all of it is stored or none.
 */
import {
  ApiKeyStore,
  Collections,
  Customer,
  EndpointStore,
  EventStore,
  IdempotencyStore,
  PlanStore,
  Threshold,
  type UsageRecord,
  UsageStore,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import * as Sample from "../Sample.ts"
import type { ContractServices } from "./ContractTest.ts"
import { thresholds } from "./UsageProbe.ts"
import { listDeliveries, listEvents } from "./WebhookProbe.ts"

/** Writes that use every store. */
export interface Everything {
  readonly write: Effect.Effect<void, unknown, ContractServices>
  /** A summary of the visible data. It equals `before` or `after`. */
  readonly look: Effect.Effect<Looks, unknown, ContractServices>
  readonly before: Looks
  readonly after: Looks
  /** Whether the answer to the request is remembered. Reading it makes it so. */
  readonly isAnswered: Effect.Effect<boolean, unknown, ContractServices>
  readonly record: UsageRecord.NewUsageRecord
  readonly threshold: Threshold.Threshold
}

interface Looks {
  readonly customer: boolean
  readonly listed: number
  readonly name: string
  readonly record: boolean
  readonly records: number
  readonly totals: ReadonlyArray<bigint>
  readonly units: ReadonlyArray<string>
  readonly threshold: boolean
  readonly key: boolean
  readonly plans: ReadonlyArray<number>
  readonly versions: number
  readonly endpoint: boolean
  readonly events: number
  readonly deliveries: number
  readonly audit: ReadonlyArray<unknown>
}

/** Writes through every store. Some values belong to the stored customer, and some stand alone. */
export const writeEverything = Effect.fnUntraced(function* (
  existing: Customer.Customer,
): Effect.fn.Return<Everything, never, ContractServices> {
  const customers = (yield* Collections).of(Customer.customers)
  const usage = yield* UsageStore
  const keys = yield* ApiKeyStore
  const idempotency = yield* IdempotencyStore
  const endpoints = yield* EndpointStore
  const events = yield* EventStore
  const plans = yield* PlanStore

  const customer = yield* Sample.customer()
  const record = yield* Sample.record(existing.id, { quantity: 7, idempotencyKey: "in-transaction" })
  const threshold = yield* Sample.of(Threshold.thresholds, existing.id, { quantity: 5n })
  const key = yield* Sample.apiKey()
  const endpoint = yield* Sample.endpoint()
  const event = yield* Sample.event({ customerId: existing.id, idempotencyKey: "in-transaction" })
  const plan = yield* Sample.plan()
  const request = Sample.request({ key: record.id })
  const now = Sample.CREATED_AT
  const lifetime = { now, expiresAt: DateTime.add(now, { days: 7 }) }

  const write = Effect.gen(function* () {
    yield* customers.insert(customer)
    yield* customers.modify(existing.id, (old) => Effect.succeed({ ...old, name: "Changed" }))
    yield* endpoints.insert(endpoint)
    yield* events.publish(event)
    yield* (yield* thresholds).insert(threshold)
    const { crossings } = yield* usage.append([record])
    assert.strictEqual(crossings.length, 1)
    yield* usage.append([yield* Sample.record(existing.id, { productId: "voided" })]).pipe(
      Effect.flatMap(({ outcomes }) => {
        const outcome = outcomes[0]
        return outcome?._tag === "Recorded" ? usage.void(outcome.record.id, now) : Effect.die("not recorded")
      }),
    )
    yield* plans.publish(plan)
    yield* plans.rename({ ...plan, name: "Renamed" })
    yield* plans.publish({ ...plan, version: 2, versionId: yield* Sample.planVersionId })
    yield* keys.insert(key)
    yield* keys.revoke(key.key.id, now)
    yield* idempotency.once(request, lifetime, Effect.succeed({ status: 201, body: "{}" }))
  })

  const look = Effect.gen(function* () {
    const boundaries = [undefined, undefined]
    const query = {
      customerId: existing.id,
      productId: undefined,
      unit: undefined,
      boundaries,
      by: "unit" as const,
    }
    const filter = { customerId: existing.id, productId: undefined, unit: undefined }
    return {
      customer: (yield* customers.status(customer.id)) === "active",
      listed: (yield* customers.list({}, { limit: 10, cursor: undefined })).data.length,
      name: Option.getOrThrow(yield* customers.find(existing.id)).name,
      record: Option.isSome(yield* usage.find(record.id)),
      records: (yield* usage.list(filter, { limit: 10, cursor: undefined })).data.length,
      totals: (yield* usage.totals(query)).map(({ quantity }) => quantity),
      units: yield* usage.units(existing.id, 10),
      threshold: Option.isSome(yield* (yield* thresholds).find(threshold.id)),
      key: Option.isSome(yield* keys.findByDigest(key.digest)),
      plans: (yield* plans.list({ limit: 10, cursor: undefined })).data.map(({ version }) => version),
      versions: (yield* plans.listVersions(plan.key, { limit: 10, cursor: undefined })).data.length,
      endpoint: Option.isSome(yield* endpoints.find(endpoint.endpoint.id)),
      events: (yield* listEvents()).data.length,
      deliveries: (yield* listDeliveries()).data.length,
      audit: yield* usage.audit,
    }
  })

  const isAnswered = idempotency
    .once(request, lifetime, Effect.succeed({ status: 200, body: "" }))
    .pipe(Effect.map((outcome) => outcome._tag === "Replayed"))

  const before = {
    customer: false,
    listed: 1,
    name: existing.name,
    record: false,
    records: 0,
    totals: [],
    units: [],
    threshold: false,
    key: false,
    plans: [],
    versions: 0,
    endpoint: false,
    events: 0,
    deliveries: 0,
    audit: [],
  }
  const after = {
    customer: true,
    listed: 2,
    name: "Changed",
    record: true,
    records: 2,
    totals: [7n],
    units: ["call"],
    threshold: true,
    key: true,
    plans: [2],
    versions: 2,
    endpoint: true,
    // The event, and that of the threshold that fired.
    events: 2,
    deliveries: 2,
    audit: [],
  }
  return { write, look, isAnswered, before, after, record, threshold }
})

/** A stored customer. */
export const insertCustomer = Effect.fnUntraced(function* () {
  const customer = yield* Sample.customer({ name: "Before" })
  yield* (yield* Collections).of(Customer.customers).insert(customer)
  return customer
})
