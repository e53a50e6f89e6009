/**
 * The contract of `Transactor`: which writes other transactions never see.
 */
import { Collections, Customer, Transactor, UsageStore } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option } from "effect"
import * as Sample from "../Sample.ts"
import { type ContractTest, pause, same, times, together } from "./ContractTest.ts"
import { insertCustomer, writeEverything } from "./Everything.ts"
export const isolationTests = (test: ContractTest): void => {
  test(
    "shows its writes to others only after it commits, and never if it fails",
    Effect.gen(function* () {
      const { before, look, write } = yield* writeEverything(yield* insertCustomer())
      const { atomically } = yield* Transactor
      const hasWritten = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const writer = yield* Effect.forkChild(
        Effect.exit(
          atomically(
            Effect.gen(function* () {
              yield* write
              yield* Deferred.succeed(hasWritten, undefined)
              yield* Deferred.await(mayEnd)
              return yield* Effect.fail("no")
            }),
          ),
        ),
      )
      yield* Deferred.await(hasWritten)
      // A reader may see the old state at once, or wait for the end. It must not see the new state.
      const reader = yield* Effect.forkChild(look)
      const readerInTransaction = yield* Effect.forkChild(atomically(look))
      yield* pause
      yield* Deferred.succeed(mayEnd, undefined)
      same(yield* Fiber.join(reader), before)
      same(yield* Fiber.join(readerInTransaction), before)
      assert.deepStrictEqual(yield* Fiber.join(writer), Exit.fail("no"))
    }),
  )

  test(
    "lets no two transactions change a value on the basis of the same old value",
    Effect.gen(function* () {
      const existing = yield* insertCustomer()
      const { atomically } = yield* Transactor
      const store = (yield* Collections).of(Customer.customers)
      const usage = yield* UsageStore
      const increment = (index: number) =>
        atomically(
          Effect.gen(function* () {
            yield* store.modify(existing.id, ({ metadata, ...customer }) =>
              Effect.as(Effect.yieldNow, {
                ...customer,
                metadata: { n: String(Number(metadata["n"] ?? 0) + 1) },
              }),
            )
            yield* usage.append([yield* Sample.record(existing.id)])
            // Every fourth transaction fails after its writes.
            if (index % 4 === 3) return yield* Effect.fail("no")
          }),
        ).pipe(Effect.ignore)
      yield* together(times(20, increment))
      same(Option.getOrThrow(yield* store.find(existing.id)).metadata, { n: "15" })
      const totals = yield* usage.totals({
        customerId: existing.id,
        productId: undefined,
        unit: undefined,
        boundaries: [undefined, undefined],
        by: "meter",
      })
      same(totals, [{ window: 0, productId: "api", unit: "call", quantity: 15n, recordCount: 15 }])
      same(yield* usage.audit, [])
    }),
  )

  test(
    "interrupts transactions that wait for another one, and none of them writes",
    Effect.gen(function* () {
      const existing = yield* insertCustomer()
      const { atomically } = yield* Transactor
      const store = (yield* Collections).of(Customer.customers)
      const rename = (name: string) => store.modify(existing.id, (old) => Effect.succeed({ ...old, name }))
      const hasWritten = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(
        atomically(
          rename("holder").pipe(
            Effect.andThen(Deferred.succeed(hasWritten, undefined)),
            Effect.andThen(Deferred.await(mayEnd)),
          ),
        ),
      )
      yield* Deferred.await(hasWritten)
      const waiters = yield* Effect.forEach(
        times(3, (index) => `waiter ${index}`),
        (name) => Effect.forkChild(atomically(rename(name))),
      )
      yield* pause
      yield* Fiber.interruptAll(waiters)
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(holder)
      assert.strictEqual(Option.getOrThrow(yield* store.find(existing.id)).name, "holder")
      yield* atomically(rename("later"))
      assert.strictEqual(Option.getOrThrow(yield* store.find(existing.id)).name, "later")
    }),
  )
}
