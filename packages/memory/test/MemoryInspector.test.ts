import {
  ApiKeyStore,
  Billing,
  CurrentTenant,
  CustomerStore,
  IdempotencyStore,
  Tenant,
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

describe("MemoryInspector", () => {
  it.effect("shows everything that is stored, of all tenants", () =>
    Effect.gen(function* () {
      const customers = yield* CustomerStore
      const usage = yield* UsageStore
      const { snapshot } = yield* MemoryInspector
      const [ada, grace] = yield* Effect.all([Sample.customer(), Sample.customer()])
      yield* customers.insert(ada)
      yield* customers.insert(grace)
      yield* customers.erase(grace.id)
      const threshold = yield* Sample.threshold(ada.id, { quantity: 5n, period: "day" })
      yield* usage.insertThreshold(threshold)
      const [a, b] = yield* Effect.all([
        Sample.record(ada.id, { quantity: 5 }),
        Sample.record(ada.id, { quantity: 2 }),
      ])
      yield* usage.append([a, b])
      yield* usage.void(b.id, Sample.CREATED_AT)
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
        thresholds: [{ tenant, threshold: { ...threshold, lastFiredAt: Sample.CREATED_AT } }],
        firings: [{ tenant, thresholdId: threshold.id, periodKey: "2026-03-10", firedAt: Sample.CREATED_AT }],
        keys: [key],
        idempotency: [{ tenant, request: Sample.request(), response, expiresAt }],
      }
      assert.deepStrictEqual(plain(found), plain(expected))
    }).pipe(Effect.provide(services)),
  )

  it.effect("shows a transaction its own writes, and nobody what was undone", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const customers = yield* CustomerStore
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
})
