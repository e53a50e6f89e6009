/**
 * Migrations of plans: which subscriptions move, when, and what it costs.
 */
import { BillingRuns, PlanMigration, PlanMigrations, Plans, Subscriptions } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { InvoicingTest } from "../contract/InvoicingProbe.ts"
import { at, basic, billed, newCustomer, scenario, subscribed, told, until, use } from "./Scenario.ts"

/** Version 2 of `basic`: 41.00 a month for the base, instead of 10.00. */
const dearer = {
  ...basic,
  charges: [{ key: "base", model: "flat", price: { EUR: "41.00" } } as const, ...basic.charges.slice(1)],
}

const pushDearer = Effect.flatMap(Plans, ({ push }) => push({ plans: [dearer] }))

const runDue = Effect.flatMap(BillingRuns, (runs) => runs.runDue())

/** Runs a migration to its end. */
const migrated = Effect.fnUntraced(function* (input: PlanMigration.CreatePlanMigration) {
  const { create, get } = yield* PlanMigrations
  const begun = yield* create(input)
  assert.deepInclude(begun, { status: "running", completedAt: null })
  yield* runDue
  const done = yield* get(begun.id)
  assert.strictEqual(done.status, "completed")
  return done
})

const versions = Effect.gen(function* () {
  const { data } = yield* (yield* Subscriptions).list()
  return data.toReversed().map(({ plan: { key, version } }) => `${key} ${version}`)
})

/** Subscriptions of each kind: two that can move, one paused, one with a change that waits, and one of another plan. */
const several = Effect.gen(function* () {
  const { change, create, pause } = yield* Subscriptions
  const first = yield* subscribed
  const scheduled = yield* create({
    customerId: first.customer.id,
    plan: "basic",
    quantities: { seats: "0" },
    startAt: at("2026-03-01"),
  })
  const paused = yield* subscribed
  yield* pause(paused.id)
  const waiting = yield* subscribed
  yield* change(waiting.id, { plan: "pro", at: "period_end" })
  yield* create({ customerId: first.customer.id, plan: "yearly" })
  yield* pushDearer
  return { first, scheduled, paused, waiting }
})

export const migrationScenarios = (test: InvoicingTest): void => {
  scenario(
    test,
    "a migration now moves what can move, lists the rest with reasons, and does nothing twice",
    Effect.gen(function* () {
      const { paused, waiting } = yield* several
      yield* until("2026-01-11")
      const before = yield* billed
      const done = yield* migrated({ plan: "basic", fromVersion: 1, at: "now" })
      assert.deepStrictEqual(done.counts, { migrated: 2, unchanged: 0, failed: 2 })
      assert.deepStrictEqual(
        done.failures.map(({ problem, subscription }) => [subscription, problem]),
        [
          [waiting.id, "has a change that waits"],
          [
            paused.id,
            "change is not possible while paused: the subscription must be scheduled, trialing, active",
          ],
        ],
      )
      assert.deepStrictEqual(yield* versions, ["basic 2", "basic 2", "basic 1", "basic 1", "yearly 1"])
      // 21 of 31 days: 6.77 back, and 27.77 of the 41.00.
      assert.deepStrictEqual((yield* billed).slice(before.length), [
        [
          "2026-01-11 21.00",
          "credit base 2026-01-01 2026-01-11 -6.77",
          "credit seats × 2 2026-01-01 2026-01-11 -6.77",
          "advance base 2026-01-11 2026-02-01 27.77",
          "advance seats × 2 2026-01-11 2026-02-01 6.77",
          "usage calls × 0 2026-01-01 2026-01-11 0.00",
        ],
      ])
      const all = yield* told
      const again = yield* migrated({ plan: "basic", at: "now" })
      assert.deepStrictEqual(again.counts, { migrated: 0, unchanged: 2, failed: 2 })
      assert.deepStrictEqual(yield* told, all)
    }),
  )

  scenario(
    test,
    "a migration at the period's end waits for each period, and is there for the next one",
    Effect.gen(function* () {
      yield* subscribed
      yield* pushDearer
      yield* until("2026-01-11")
      const wanted = { plan: "basic", toVersion: 2, at: "period_end" } as const
      assert.deepStrictEqual((yield* migrated(wanted)).counts, { migrated: 1, unchanged: 0, failed: 0 })
      assert.deepStrictEqual((yield* migrated(wanted)).counts, { migrated: 0, unchanged: 1, failed: 0 })
      assert.deepStrictEqual(yield* versions, ["basic 1"])
      yield* until("2026-02-02")
      assert.deepStrictEqual(yield* versions, ["basic 2"])
      assert.deepStrictEqual((yield* billed).slice(1), [
        [
          "2026-02-01 51.00",
          "usage calls × 0 2026-01-01 2026-02-01 0.00",
          "advance base 2026-02-01 2026-03-01 41.00",
          "advance seats × 2 2026-02-01 2026-03-01 10.00",
        ],
      ])
    }),
  )

  scenario(
    test,
    "a migration at the period's end is made together with fewer seats, whichever of them is asked for first",
    Effect.gen(function* () {
      const { change } = yield* Subscriptions
      const before = yield* subscribed
      const after = yield* subscribed
      yield* pushDearer
      yield* until("2026-01-11")
      yield* change(before.id, { quantities: { seats: "1" } })
      const done = yield* migrated({ plan: "basic", at: "period_end" })
      assert.deepStrictEqual(done.counts, { migrated: 2, unchanged: 0, failed: 0 })
      yield* change(after.id, { quantities: { seats: "1" } })
      yield* until("2026-02-02")
      assert.deepStrictEqual(yield* versions, ["basic 2", "basic 2"])
      const renewal = [
        "2026-02-01 46.00",
        "usage calls × 0 2026-01-01 2026-02-01 0.00",
        "advance base 2026-02-01 2026-03-01 41.00",
        "advance seats × 1 2026-02-01 2026-03-01 5.00",
      ]
      assert.deepStrictEqual((yield* billed).slice(2), [renewal, renewal])
    }),
  )

  scenario(
    test,
    "a dry run says what the migration would cost, and changes nothing",
    Effect.gen(function* () {
      const { first, scheduled } = yield* several
      yield* until("2026-01-11")
      yield* use(first.customer, 100)
      const [all, invoices] = [yield* told, yield* billed]
      const done = yield* migrated({ plan: "basic", at: "now", dryRun: true })
      assert.deepStrictEqual(done.counts, { migrated: 2, unchanged: 0, failed: 2 })
      assert.deepStrictEqual(done.differences, [
        { subscription: scheduled.id, currency: "EUR", now: "0", next: "3100" },
        // The next invoice costs 31.00 more. The usage is after the change.
        { subscription: first.id, currency: "EUR", now: "2100", next: "3100" },
      ])
      assert.deepStrictEqual(done.amounts, [{ currency: "EUR", now: "2100", next: "6200" }])
      assert.deepStrictEqual([yield* told, yield* billed], [all, invoices])
      assert.deepStrictEqual(yield* versions, ["basic 1", "basic 1", "basic 1", "basic 1", "yearly 1"])
    }),
  )

  scenario(
    test,
    "a migration goes on where it stopped, and stops when it is deleted",
    Effect.gen(function* () {
      const { create: subscribe } = yield* Subscriptions
      const { id: customerId } = yield* newCustomer
      const startAt = at("2026-03-01")
      for (let count = 0; count < 51; count++) {
        yield* subscribe({ customerId, plan: "basic", quantities: { seats: "0" }, startAt })
      }
      yield* pushDearer
      const migrations = yield* PlanMigrations
      const runs = yield* BillingRuns
      const dry = yield* migrations.create({ plan: "basic", at: "now", dryRun: true })
      const first = yield* migrations.create({ plan: "basic", at: "now" })
      yield* migrations.delete(dry.id)
      yield* runs.runDue({ limit: 1 })
      const begun = yield* migrations.get(first.id)
      assert.deepInclude(begun, { status: "running", counts: { migrated: 50, unchanged: 0, failed: 0 } })
      yield* runs.runDue({ limit: 1 })
      const { data } = yield* migrations.list({ status: "completed" })
      assert.deepStrictEqual(
        data.map(({ counts, id }) => ({ id, counts })),
        [{ id: first.id, counts: { migrated: 51, unchanged: 0, failed: 0 } }],
      )
      yield* migrations.delete(first.id)
      assert.instanceOf(yield* Effect.flip(migrations.get(first.id)), PlanMigration.PlanMigrationNotFound)
      assert.deepStrictEqual(yield* migrations.list(), { data: [], hasMore: false })
    }),
  )

  scenario(
    test,
    "a migration of an unknown plan or version is refused by name",
    Effect.gen(function* () {
      const { create } = yield* PlanMigrations
      const refused = yield* Effect.forEach(
        [
          { plan: "gold", at: "now" },
          { plan: "basic", toVersion: 2, at: "now" },
          { plan: "basic", fromVersion: 3, at: "now" },
          { plan: "basic", fromVersion: 1, at: "now" },
        ] as const,
        (input) =>
          Effect.map(Effect.flip(create(input)), (error) => ("field" in error ? error.field : error._tag)),
      )
      assert.deepStrictEqual(refused, ["plan", "toVersion", "fromVersion", "fromVersion"])
    }),
  )
}
