/**
 * Interleavings that the contract suite can't force, because they need to see who waits for whom.
 */
import {
  Billing,
  type Customer,
  Customers,
  IdGenerator,
  Thresholds,
  Transactor,
  type UsageRecord,
  UsageStore,
} from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const live = Billing.layer.pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient()),
)

const newCustomer = Effect.flatMap(Customers, (customers) => customers.create({ name: "A", email: "a@b" }))

const append = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  day: string,
  quantity: number,
  idempotencyKey: string | null = null,
) {
  const ids = yield* IdGenerator
  const store = yield* UsageStore
  const at = DateTime.makeUnsafe(`${day}T12:00:00Z`)
  const id = (yield* ids.next("usg")) as UsageRecord.UsageRecordId
  const content = { customerId, productId: "p", unit: "u", quantity, timestamp: at, idempotencyKey }
  return yield* store.append([{ id, ...content, hasOwnTimestamp: true, voidedAt: null, createdAt: at }])
})

/** Returns when some statement in the database waits for a lock of another transaction. */
const somebodyWaits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const waiting = sql`select 1 from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock'`
  yield* Effect.repeat(waiting, { until: (rows) => rows.length > 0 })
})

/** Runs `first` in a transaction that commits only when `second`, started meanwhile, waits for it. */
const overlapping = <A, B, E, R, E2, R2>(first: Effect.Effect<A, E, R>, second: Effect.Effect<B, E2, R2>) =>
  Effect.gen(function* () {
    const transactor = yield* Transactor
    const [isDone, mayCommit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const held = Effect.tap(first, () =>
      Effect.andThen(Deferred.succeed(isDone, undefined), Deferred.await(mayCommit)),
    )
    const holder = yield* Effect.forkChild(transactor.atomically(held))
    yield* Deferred.await(isDone)
    const waiter = yield* Effect.forkChild(transactor.atomically(second))
    yield* somebodyWaits
    yield* Deferred.succeed(mayCommit, undefined)
    return [yield* Fiber.join(holder), yield* Fiber.join(waiter)] as const
  })

const repeatableRead = Effect.provideService(
  SqlClient.BeginTransaction,
  "BEGIN ISOLATION LEVEL REPEATABLE READ",
)

describe("overlapping transactions", () => {
  layer(live, { excludeTestServices: true })((it) => {
    for (const [level, at] of [
      ["READ COMMITTED", <A, E, R>(effect: Effect.Effect<A, E, R>) => effect],
      ["REPEATABLE READ", repeatableRead],
    ] as const) {
      it.effect(`at ${level} fire a month's threshold that they reach together, on different days`, () =>
        Effect.gen(function* () {
          const { id } = yield* newCustomer
          const thresholds = yield* Thresholds
          yield* thresholds.create({
            customerId: id,
            productId: "p",
            unit: "u",
            quantity: 100n,
            period: "month",
          })
          const [first, second] = yield* at(
            overlapping(append(id, "2026-01-05", 60), append(id, "2026-01-06", 60)),
          )
          assert.deepStrictEqual(first.crossings, [])
          assert.deepStrictEqual(
            second.crossings.map(({ periodKey, total }) => ({ periodKey, total })),
            [{ periodKey: "2026-01", total: 120n }],
          )
        }).pipe(asTenant),
      )

      it.effect(`at ${level} with the same key make one record`, () =>
        Effect.gen(function* () {
          const { id } = yield* newCustomer
          const [first, second] = yield* at(
            overlapping(append(id, "2026-01-05", 1, "key"), append(id, "2026-01-05", 1, "key")),
          )
          assert.strictEqual(first.outcomes[0]?._tag, "Recorded")
          assert.strictEqual(second.outcomes[0]?._tag, "Duplicate")
        }).pipe(asTenant),
      )
    }

    it.effect("append to no customer that another one has erased", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const customers = yield* Customers
        const [, appended] = yield* overlapping(customers.erase(id), append(id, "2026-01-05", 1))
        assert.deepStrictEqual(appended.outcomes, [{ _tag: "CustomerNotFound" }])
      }).pipe(asTenant),
    )

    it.effect("erase a customer only after the usage that another one appends", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const customers = yield* Customers
        const [appended] = yield* overlapping(append(id, "2026-01-05", 1), customers.erase(id))
        assert.strictEqual(appended.outcomes[0]?._tag, "Recorded")
      }).pipe(asTenant),
    )

    it.effect("rename a customer while another one appends: neither waits", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const customers = yield* Customers
        const transactor = yield* Transactor
        const [isDone, mayCommit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const appending = Effect.gen(function* () {
          yield* append(id, "2026-01-05", 1)
          yield* Deferred.succeed(isDone, undefined)
          yield* Deferred.await(mayCommit)
        })
        const holder = yield* Effect.forkChild(transactor.atomically(appending))
        yield* Deferred.await(isDone)
        assert.strictEqual((yield* customers.update(id, { name: "B" })).name, "B")
        yield* Deferred.succeed(mayCommit, undefined)
        yield* Fiber.join(holder)
      }).pipe(asTenant),
    )
  })
})
