import {
  Billing,
  Collections,
  CurrentTenant,
  Customer,
  Customers,
  IdempotencyStore,
  Meters,
  Tenant,
  Transactor,
  Usage,
} from "@billwright/core"
import { Memory, MemoryInspector } from "@billwright/memory"
import { plain, Sample } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer, Option } from "effect"

const tenant = { accountId: Tenant.defaultAccountId, mode: "live" as const }
const services = Billing.layer.pipe(
  Layer.provideMerge(Memory.layer),
  Layer.merge(Layer.succeed(CurrentTenant, tenant)),
)

const day = (days: number) => DateTime.add(Sample.CREATED_AT, { days })
const response = { status: 200, body: "{}" }

describe("undo", () => {
  it.effect("restores answers that were swept", () =>
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const { atomically } = yield* Transactor
      const { snapshot } = yield* MemoryInspector
      yield* store.once(Sample.request(), { now: day(0), expiresAt: day(1) }, Effect.succeed(response))
      const before = plain(yield* snapshot)
      const swept = store
        .sweep(day(2), 10)
        .pipe(Effect.tap((count) => Effect.sync(() => assert.strictEqual(count, 1))))
      yield* Effect.ignore(atomically(Effect.andThen(swept, Effect.fail("no"))))
      assert.deepStrictEqual(plain(yield* snapshot), before)
    }).pipe(Effect.provide(services)),
  )

  it.effect("replays the answer to a request that waited for a sweep that was undone", () =>
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const { atomically } = yield* Transactor
      const lifetime = { now: day(0), expiresAt: day(1) }
      yield* store.once(Sample.request(), lifetime, Effect.succeed(response))
      const hasSwept = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const sweeper = yield* Effect.forkChild(
        Effect.ignore(
          atomically(
            Effect.gen(function* () {
              yield* store.sweep(day(2), 10)
              yield* Deferred.succeed(hasSwept, undefined)
              yield* Deferred.await(mayEnd)
              return yield* Effect.fail("no")
            }),
          ),
        ),
      )
      yield* Deferred.await(hasSwept)
      const asked = yield* Effect.forkChild(store.once(Sample.request(), lifetime, Effect.die("ran")))
      yield* Effect.repeat(Effect.yieldNow, { times: 10 })
      yield* Deferred.succeed(mayEnd, undefined)
      assert.deepStrictEqual(yield* Fiber.join(asked), { _tag: "Replayed", response })
      yield* Fiber.join(sweeper)
    }).pipe(Effect.provide(services)),
  )

  it.effect("does not restore a customer that its own change erased", () =>
    Effect.gen(function* () {
      const store = (yield* Collections).of(Customer.customers)
      const customer = yield* Sample.customer()
      yield* store.insert(customer)
      const changed = yield* store.modify(customer.id, (old) => Effect.as(store.remove(old.id), old))
      assert.deepStrictEqual(changed, Option.none())
      assert.strictEqual(yield* store.status(customer.id), "removed")
    }).pipe(Effect.provide(services)),
  )

  it.effect("forgets the roll-up of a meter whose change was undone", () =>
    Effect.gen(function* () {
      const { create: createCustomer } = yield* Customers
      const meters = yield* Meters
      const usage = yield* Usage
      const { atomically } = yield* Transactor
      const { id: customerId } = yield* createCustomer({ name: "Ada", email: "ada@example.com" })
      const call = { productId: "api", unit: "call" }
      const meter = yield* meters.create({
        key: "calls",
        ...call,
        aggregation: "count",
        dimensions: ["region"],
      })
      for (const quantity of [5, 7]) yield* usage.record({ customerId, ...call, quantity })

      const undone = meters.update(meter.id, {
        aggregation: "unique_count",
        dimensions: ["model"],
        counted: "model",
      })
      yield* Effect.ignore(atomically(Effect.andThen(undone, Effect.fail("no"))))
      yield* meters.update(meter.id, { aggregation: "max", dimensions: [] })

      const { totalQuantity } = yield* usage.summary({ customerId, meter: "calls" })
      assert.strictEqual(totalQuantity, 7n)
    }).pipe(Effect.provide(services)),
  )
})
