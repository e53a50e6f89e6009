import {
  ApiKeys,
  Billing,
  Customers,
  IdGenerator,
  Idempotency,
  StorageError,
  Tenant,
  Thresholds,
  Transactor,
  Usage,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { acme, inWorld, newCustomer, recordUsage } from "./world.ts"

describe("Billing.layer", () => {
  it.effect("has all services, over one storage and with ids of its own", () =>
    Effect.gen(function* () {
      yield* Effect.all([ApiKeys, Idempotency, IdGenerator, Thresholds])
      const customer = yield* newCustomer()
      yield* recordUsage(customer, { quantity: 5 })
      assert.strictEqual((yield* (yield* Usage).summary({ customerId: customer.id })).totalQuantity, 5n)
      assert.deepStrictEqual((yield* (yield* Customers).list()).data, [customer])
    }).pipe(
      Effect.provideService(Tenant.CurrentTenant, acme),
      Effect.provide(Layer.provide(Billing.layer, Memory.layer)),
    ),
  )
})

describe("the options", () => {
  it.effect("reach the queue of usage", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const customer = yield* newCustomer()
      // A transaction that holds up every append until it ends.
      const [begun, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const open = yield* Effect.forkChild(
        atomically(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(end))),
      )
      yield* Deferred.await(begun)
      const first = yield* Effect.forkChild(recordUsage(customer), { startImmediately: true })
      const second = yield* Effect.forkChild(recordUsage(customer), { startImmediately: true })
      yield* TestClock.adjust(20)
      assert.instanceOf(yield* Effect.flip(Fiber.join(second)), StorageError)
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(open)
      assert.strictEqual((yield* Fiber.join(first))._tag, "Recorded")
    }).pipe(inWorld({ usage: { ingest: { maxPending: 1, maxWaitMillis: 20 } } })),
  )
})
