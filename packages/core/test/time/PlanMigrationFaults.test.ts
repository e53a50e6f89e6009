import {
  BillingRuns,
  PlanMigrations,
  Plans,
  StorageError,
  Subscriptions,
  SubscriptionStore,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { at, newCustomer } from "../world.ts"
import { inYears, pro, pushPro } from "./billing.ts"

const START = at("2026-06-01T00:00:00.000Z").epochMilliseconds

/** A customer with subscriptions on version 1 of a plan that has two. */
const subscribed = Effect.fnUntraced(function* (count: number) {
  yield* pushPro
  const { id: customerId } = yield* newCustomer()
  const { create } = yield* Subscriptions
  for (let made = 0; made < count; made++) yield* create({ customerId, plan: "pro" })
  yield* (yield* BillingRuns).runDue()
  yield* (yield* Plans).push({ plans: [{ ...pro, trial: { days: 30 } }] })
})

const failure = new StorageError({
  operation: "SubscriptionStore.lock",
  retryable: true,
  cause: new Error("gone"),
})

/** Billing runs whose storage fails when a subscription is locked, at the locks that `fails` names by number. */
const runsFailing = (fails: (lock: number) => boolean) => {
  let locks = 0
  return Layer.fresh(BillingRuns.layerManual).pipe(
    Layer.provide(
      Layer.effect(
        SubscriptionStore,
        Effect.map(SubscriptionStore, (store) =>
          SubscriptionStore.of({
            ...store,
            lockGroup: (id) => (fails(++locks) ? Effect.fail(failure) : store.lockGroup(id)),
          }),
        ),
      ),
    ),
  )
}

const versions = Effect.map(
  Effect.flatMap(Subscriptions, ({ list }) => list()),
  ({ data }) => data.map(({ plan }) => plan.version),
)

describe("a plan migration", () => {
  it.effect("goes on after the storage has failed within a batch, and counts each subscription once", () =>
    Effect.gen(function* () {
      yield* subscribed(3)
      const { create, get } = yield* PlanMigrations
      const { id } = yield* create({ plan: "pro", at: "now" })
      // Each subscription is locked by the batch and by its change: the third lock is of the second one.
      const broken = yield* Effect.flatMap(BillingRuns, ({ runDue }) => runDue()).pipe(
        Effect.provide(runsFailing((lock) => lock === 3)),
      )
      assert.strictEqual(broken.failed, 1)
      assert.deepStrictEqual((yield* get(id)).counts, { migrated: 1, unchanged: 0, failed: 0 })
      assert.deepStrictEqual(yield* versions, [2, 1, 1])
      yield* TestClock.adjust("1 minute")
      yield* (yield* BillingRuns).runDue()
      const done = yield* get(id)
      assert.deepStrictEqual(
        [done.status, done.counts],
        ["completed", { migrated: 3, unchanged: 0, failed: 0 }],
      )
      assert.deepStrictEqual(yield* versions, [2, 2, 2])
    }).pipe(inYears(START)),
  )

  it.effect("is never set aside: it is completed after any number of failures, which nobody would see", () =>
    Effect.gen(function* () {
      yield* subscribed(1)
      const { create, get } = yield* PlanMigrations
      const { id } = yield* create({ plan: "pro", at: "now" })
      yield* Effect.gen(function* () {
        const { runDue } = yield* BillingRuns
        for (let failures = 0; failures < 20; failures++) {
          assert.strictEqual((yield* runDue()).failed, 1)
          yield* TestClock.adjust("6 hours")
        }
      }).pipe(Effect.provide(runsFailing(() => true)))
      assert.strictEqual((yield* get(id)).status, "running")
      yield* (yield* BillingRuns).runDue()
      const { counts, status } = yield* get(id)
      assert.deepStrictEqual([status, counts], ["completed", { migrated: 1, unchanged: 0, failed: 0 }])
    }).pipe(inYears(START)),
  )

  it.effect("is done once by several runners", () =>
    Effect.gen(function* () {
      yield* subscribed(60)
      const { create, get } = yield* PlanMigrations
      const { id } = yield* create({ plan: "pro", at: "now" })
      const { runDue } = yield* BillingRuns
      yield* Effect.all([runDue(), runDue(), runDue()], { concurrency: "unbounded" })
      assert.deepStrictEqual((yield* get(id)).counts, { migrated: 60, unchanged: 0, failed: 0 })
    }).pipe(inYears(START)),
  )
})
