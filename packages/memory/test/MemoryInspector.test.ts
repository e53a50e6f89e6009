import {
  Aggregation,
  ApiKeyStore,
  Billing,
  Collections,
  CurrentTenant,
  Customer,
  Delivery,
  DeliveryStore,
  EndpointStore,
  type Event,
  EventStore,
  IdempotencyStore,
  Meter,
  PlanStore,
  Rollup,
  Tenant,
  Threshold,
  Transactor,
  UsageStore,
} from "@billwright/core"
import { Memory, MemoryInspector } from "@billwright/memory"
import { plain, Sample } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"

const tenant = { accountId: Tenant.defaultAccountId, mode: "live" as const }
const services = Billing.layer.pipe(
  Layer.provideMerge(Memory.layer),
  Layer.merge(Layer.succeed(CurrentTenant, tenant)),
)

const later = (minutes: number) => DateTime.add(Sample.CREATED_AT, { minutes })

/** An attempt whose lease ended without a result. */
const lost: Delivery.Attempt = {
  number: 1,
  startedAt: Sample.CREATED_AT,
  durationMillis: null,
  requestHeaders: {},
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  error: "unknown",
}

describe("MemoryInspector", () => {
  it.effect("shows all stored data of all tenants", () =>
    Effect.gen(function* () {
      const customers = (yield* Collections).of(Customer.customers)
      const usage = yield* UsageStore
      const { snapshot } = yield* MemoryInspector
      const [ada, grace] = yield* Effect.all([Sample.customer(), Sample.customer()])
      yield* customers.insert(ada)
      yield* customers.insert(grace)
      yield* customers.remove(grace.id)
      const threshold = yield* Sample.of(Threshold.thresholds, ada.id, { quantity: 5n, period: "day" })
      yield* (yield* Collections).of(Threshold.thresholds).insert(threshold)
      const [a, b] = yield* Effect.all([
        Sample.record(ada.id, { quantity: 5, dimensions: { model: "a" } }),
        Sample.record(ada.id, { quantity: 2, dimensions: { model: "a" } }),
      ])
      const largest = yield* Sample.of(Meter.meters, undefined, {
        productId: "api",
        unit: "call",
        aggregation: "max",
        dimensions: ["model"],
      })
      yield* (yield* Collections).of(Meter.meters).insert(largest)
      yield* usage.append([a, b])
      yield* usage.void(b.id, Sample.CREATED_AT)
      const wanted = { eventTypes: ["invoice.paid"] }
      const endpoints = yield* EndpointStore
      const open = yield* Sample.endpoint(wanted, [Sample.sealedSecret({ sealed: "k2.a secret" })])
      const deleted = yield* Sample.endpoint(wanted)
      yield* Effect.forEach([open, deleted], (endpoint) => endpoints.insert(endpoint))
      yield* endpoints.delete(deleted.endpoint.id, Sample.CREATED_AT)
      const events = yield* EventStore
      const [paid, again] = [yield* Sample.event(), yield* Sample.event({ timestamp: later(1) })]
      yield* Effect.forEach([paid, again], (event) => events.publish(event))
      const deliveries = yield* DeliveryStore
      const claim = {
        leaseUntil: later(9),
        limit: 9,
        limitPerEndpoint: 9,
        limits: new Map(),
        tenantLimits: [],
      }
      yield* deliveries.claimDue({ ...claim, now: Sample.CREATED_AT, leaseUntil: later(5) })
      yield* deliveries.claimDue({ ...claim, now: later(5) })
      const plan = yield* Sample.plan()
      yield* (yield* PlanStore).publish(plan)
      yield* (yield* PlanStore).rename({ ...plan, name: "Renamed" })
      const key = yield* Sample.apiKey()
      yield* (yield* ApiKeyStore).insert(key)
      const expiresAt = DateTime.add(Sample.CREATED_AT, { days: 1 })
      const response = { status: 200, body: "{}" }
      yield* (yield* IdempotencyStore).once(
        Sample.request(),
        { now: Sample.CREATED_AT, expiresAt },
        Effect.succeed(response),
      )
      const other = { ...tenant, mode: "test" as const }
      const elsewhere = yield* Sample.customer()
      yield* customers.insert(elsewhere).pipe(Effect.provideService(CurrentTenant, other))

      const { hasOwnTimestamp: _a, ...recordA } = a
      const { hasOwnTimestamp: _b, ...recordB } = b
      const found = yield* snapshot
      const [firing] = found.events
      assert.strictEqual(firing?.event.type, "usage.threshold")
      const unattempted = { reason: null, lastResponseStatus: null, lastError: null, finishedAt: null }
      const delivered = (event: Event.Event): Delivery.Delivery => ({
        ...unattempted,
        id: Delivery.firstDeliveryId(event.id),
        eventId: event.id,
        eventType: event.type,
        endpointId: open.endpoint.id,
        status: "Pending",
        attemptCount: 0,
        nextAttemptAt: later(9),
        createdAt: event.timestamp,
      })
      const meter = { customerId: ada.id, productId: "api", unit: "call" }
      const expected = {
        customers: [
          { tenant, id: ada.id, customer: ada },
          { tenant, id: grace.id, customer: null },
          { tenant: other, id: elsewhere.id, customer: elsewhere },
        ],
        records: [
          { tenant, record: recordA },
          { tenant, record: { ...recordB, voidedAt: Sample.CREATED_AT } },
        ],
        rollups: [{ tenant, ...meter, day: "2026-03-10", quantity: 5n, recordCount: 1 }],
        meters: [{ tenant, meter: largest }],
        cells: [
          {
            tenant,
            rollup: Rollup.answering(largest),
            customerId: ada.id,
            day: "2026-03-10",
            combination: ["a"],
            state: { ...Aggregation.zero, recordCount: 1, quantity: 5n },
          },
        ],
        thresholds: [{ tenant, threshold: { ...threshold, lastFiredAt: Sample.CREATED_AT } }],
        firings: [{ tenant, thresholdId: threshold.id, periodKey: "2026-03-10", firedAt: Sample.CREATED_AT }],
        keys: [key],
        idempotency: [{ tenant, request: Sample.request(), response, expiresAt }],
        plans: [{ tenant, plan: { ...plan, name: "Renamed" } }],
        subscriptions: [],
        invoices: [],
        creditNotes: [],
        credits: [],
        payments: [],
        planVersions: [
          {
            tenant,
            version: {
              id: plan.versionId,
              planKey: plan.key,
              version: 1,
              hash: plan.hash,
              terms: plan.terms,
              createdAt: plan.updatedAt,
            },
          },
        ],
        events: [firing, { tenant, event: paid }, { tenant, event: again }],
        endpoints: [
          {
            tenant,
            id: open.endpoint.id,
            endpoint: open.endpoint,
            secrets: [{ keyId: "k2", createdAt: Sample.CREATED_AT, expiresAt: null }],
          },
          { tenant, id: deleted.endpoint.id, endpoint: null, secrets: [] },
        ],
        deliveries: [
          {
            tenant,
            delivery: { ...delivered(paid), attemptCount: 1, lastError: "unknown" },
            attemptStartedAt: later(5),
            attempts: [lost],
            isLeased: true,
          },
          { tenant, delivery: delivered(again), attemptStartedAt: later(5), attempts: [], isLeased: true },
        ],
      }
      assert.deepStrictEqual(plain(found), plain(expected))
    }).pipe(Effect.provide(services)),
  )

  it.effect("shows a transaction its own writes, and never shows undone writes", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const customers = (yield* Collections).of(Customer.customers)
      const { snapshot } = yield* MemoryInspector
      const before = yield* snapshot
      const customer = yield* Sample.customer()
      yield* Effect.ignore(
        atomically(
          Effect.gen(function* () {
            yield* customers.insert(customer)
            assert.strictEqual((yield* snapshot).customers.length, 1)
            return yield* Effect.fail("no")
          }),
        ),
      )
      assert.deepStrictEqual(yield* snapshot, before)
      yield* customers.insert(customer)
      assert.strictEqual(before.customers.length, 0)
    }).pipe(Effect.provide(services)),
  )

  it.effect("shows no secret, and no token of a lease", () =>
    Effect.gen(function* () {
      const { snapshot } = yield* MemoryInspector
      const secret = "c2VjcmV0LXNlY3JldA"
      yield* (yield* EndpointStore).insert(
        yield* Sample.endpoint({}, [Sample.sealedSecret({ sealed: `plain.${secret}` })]),
      )
      yield* (yield* EventStore).publish(yield* Sample.event())
      const { deliveries } = yield* (yield* DeliveryStore).claimDue({
        now: later(1),
        leaseUntil: later(2),
        limit: 1,
        limitPerEndpoint: 1,
        limits: new Map(),
        tenantLimits: [],
      })
      const shown = JSON.stringify(yield* snapshot)
      assert.notInclude(shown, secret)
      assert.notInclude(shown, deliveries[0]!.token)
    }).pipe(Effect.provide(services)),
  )
})
