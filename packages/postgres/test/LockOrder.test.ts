/**
 * Writers take locks in a fixed order, not in the order of their input.
 */
import { Billing, type Customer, Customers, Transactor, type UsageRecord, UsageStore } from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { Sample } from "@billwright/testing"
import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

// Without retries, because a retry would hide a deadlock.
const once = Billing.layer.pipe(
  Layer.provideMerge(Storage.layer({ maxAttempts: 1 })),
  Layer.provideMerge(TestDatabase.layerClient()),
)

const newCustomer = Effect.flatMap(Customers, (customers) => customers.create({ name: "A", email: "a@b" }))

/** Waits until this many statements in the database wait for a lock of another transaction. */
const waiting = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const all = sql`select 1 from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock'`
  yield* Effect.repeat(all, { until: (rows) => rows.length >= count })
})

type Place = readonly [customer: Customer.Customer, idempotencyKey: string]

const append = Effect.fnUntraced(function* (places: ReadonlyArray<Place>) {
  const records: ReadonlyArray<UsageRecord.NewUsageRecord> = yield* Effect.forEach(
    places,
    ([customer, idempotencyKey]) => Sample.record(customer.id, { idempotencyKey }),
  )
  const { outcomes } = yield* (yield* UsageStore).append(records)
  return outcomes.map(({ _tag }) => _tag)
})

/**
 * Two batches with the same keys in opposite orders. Both stop in the middle, at a key that a third transaction has
 * locked and then releases. If they took locks in the given order, each would now have a lock that the other one
 * needs.
 */
const cross = Effect.fnUntraced(function* (first: Place, middle: Place, last: Place) {
  const transactor = yield* Transactor
  const [isHeld, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const holder = yield* append([middle]).pipe(
    Effect.andThen(Deferred.succeed(isHeld, undefined)),
    Effect.andThen(Deferred.await(mayEnd)),
    Effect.andThen(Effect.fail("undone" as const)),
    transactor.atomically,
    Effect.flip,
    Effect.forkChild,
  )
  yield* Deferred.await(isHeld)
  const batches = [
    yield* Effect.forkChild(append([first, middle, last])),
    yield* Effect.forkChild(append([last, middle, first])),
  ]
  yield* waiting(batches.length)
  yield* Deferred.succeed(mayEnd, undefined)
  assert.strictEqual(yield* Fiber.join(holder), "undone")
  const outcomes = yield* Effect.forEach(batches, Fiber.join)
  assert.sameDeepMembers(outcomes, [
    ["Recorded", "Recorded", "Recorded"],
    ["Duplicate", "Duplicate", "Duplicate"],
  ])
})

describe("two batches with the same keys in opposite orders", () => {
  layer(once, { excludeTestServices: true })((it) => {
    it.effect("don't deadlock: keys of one customer", () =>
      Effect.gen(function* () {
        const customer = yield* newCustomer
        yield* cross([customer, "a"], [customer, "m"], [customer, "b"])
        yield* cross([customer, "y"], [customer, "n"], [customer, "z"])
      }).pipe(asTenant),
    )

    it.effect("don't deadlock: customers of one key", () =>
      Effect.gen(function* () {
        const [one, two, three] = [yield* newCustomer, yield* newCustomer, yield* newCustomer]
        yield* cross([one, "k"], [three, "k"], [two, "k"])
        yield* cross([two, "l"], [one, "l"], [three, "l"])
      }).pipe(asTenant),
    )
  })
})
