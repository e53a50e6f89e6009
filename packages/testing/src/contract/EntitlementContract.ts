/**
 * The contract of `EntitlementStore`, and of entitlements over subscriptions and usage.
 */
import {
  Collections,
  Customers,
  Entitlements,
  EntitlementStore,
  Invoices,
  Meter,
  Meters,
  Plans,
  Rollup,
  StorageError,
  Subscriptions,
  Transactor,
  Usage,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import {
  CALLERS,
  checked,
  consume,
  entitled,
  exportsOf,
  limitEvents,
  planOf,
  recordCall,
  subscribe,
} from "../scenarios/EntitlementScenes.ts"
import { at, newCustomer, scenario, until } from "../scenarios/Scenario.ts"
import { asTenant, otherTenants, same, times, together } from "./ContractTest.ts"
import { entitlementRolloverContract } from "./EntitlementRolloverContract.ts"
import type { InvoicingTest } from "./InvoicingProbe.ts"

const checkTests = (test: InvoicingTest): void => {
  scenario(
    test,
    "entitlements: features of all types are those of the plans of a customer's subscriptions",
    Effect.gen(function* () {
      const { customerId, subscriptionId } = yield* entitled({
        sso: { type: "boolean" },
        seats: { type: "config", value: "10" },
        ...exportsOf("50.9", "hard"),
      })
      const { check, list } = yield* Entitlements
      const nothing = {
        customerId,
        subscriptionId,
        allowed: true,
        reason: "included",
        value: null,
        meter: null,
        limitType: null,
        limit: null,
        rolledOver: null,
        used: null,
        balance: null,
        overage: null,
        periodStart: null,
        resetsAt: null,
      }
      const metered = {
        ...nothing,
        feature: "exports",
        type: "metered",
        meter: "calls",
        limitType: "hard",
        limit: 50n,
        rolledOver: 0n,
        used: 0n,
        balance: 50n,
        overage: 0n,
        periodStart: at("2026-01-01"),
        resetsAt: at("2026-02-01"),
      }
      const seats = { ...nothing, feature: "seats", type: "config", value: "10" }
      const sso = { ...nothing, feature: "sso", type: "boolean" }
      same(yield* list({ customerId }), [metered, seats, sso])
      for (const one of [metered, seats, sso]) same(yield* check({ customerId, feature: one.feature }), one)
      const missing = { ...nothing, type: null, allowed: false, subscriptionId: null }
      same(yield* check({ customerId, feature: "constructor" }), {
        ...missing,
        feature: "constructor",
        reason: "not_included",
      })
      const other = yield* newCustomer
      same(yield* list({ customerId: other.id }), [])
      same(yield* check({ customerId: other.id, feature: "sso" }), {
        ...missing,
        customerId: other.id,
        feature: "sso",
        reason: "no_subscription",
      })
      const unknown = yield* Effect.flip(
        check({ customerId: "cus_00000000000000000000000000" as never, feature: "sso" }),
      )
      assert.deepInclude(unknown, { _tag: "CustomerNotFound", field: "customerId" })
      for (const input of [{ quantity: 0 }, { quantity: 0.5 }]) {
        const refused = yield* Effect.flip(check({ customerId, feature: "exports", ...input }))
        assert.strictEqual(refused.message, "quantity must be an integer from 1 to 9007199254740991")
      }
    }),
  )

  scenario(
    test,
    "entitlements: what was used is the usage of the period, however it was recorded",
    Effect.gen(function* () {
      const asked = yield* entitled(exportsOf("10", "hard"))
      const { customerId } = asked
      yield* recordCall(customerId, 4)
      const record = yield* recordCall(customerId, 5)
      same(yield* checked(asked), [true, "included", 10n, 9n, 1n, 0n, "2026-02-01"])
      same(yield* checked(asked, 2), [false, "limit_reached", 10n, 9n, 1n, 0n, "2026-02-01"])
      yield* recordCall(customerId, 3)
      same(yield* checked(asked), [false, "limit_reached", 10n, 12n, 0n, 2n, "2026-02-01"])
      yield* (yield* Usage).voidRecord(record.id)
      same(yield* checked(asked), [true, "included", 10n, 7n, 3n, 0n, "2026-02-01"])
      // Nobody has billed the month that is over.
      yield* TestClock.setTime(at("2026-02-01").epochMilliseconds - 1)
      same(yield* checked(asked), [true, "included", 10n, 7n, 3n, 0n, "2026-02-01"])
      yield* TestClock.adjust("1 millis")
      same(yield* checked(asked), [true, "included", 10n, 0n, 10n, 0n, "2026-03-01"])
    }),
  )

  scenario(
    test,
    "entitlements: trials give features, and pauses, starts to come and ends don't",
    Effect.gen(function* () {
      const features = exportsOf("10", "hard")
      yield* (yield* Plans).push({ plans: [planOf("exporter", features, { trial: { days: 14 } })] })
      const { id: customerId } = yield* newCustomer
      const asked = { customerId, feature: "exports" }
      const { id } = yield* subscribe(customerId, "exporter", { startAt: at("2026-01-03") })
      const none = [false, "no_subscription", null, null, null, null, null]
      same(yield* checked(asked), none)
      yield* TestClock.setTime(at("2026-01-03").epochMilliseconds)
      same(yield* checked(asked), [true, "included", 10n, 0n, 10n, 0n, "2026-01-17"])
      yield* recordCall(customerId, 3)
      yield* TestClock.setTime(at("2026-01-17").epochMilliseconds)
      same(yield* checked(asked), [true, "included", 10n, 0n, 10n, 0n, "2026-02-17"])
      const subscriptions = yield* Subscriptions
      yield* TestClock.setTime(at("2026-01-18").epochMilliseconds)
      yield* recordCall(customerId, 4)
      yield* subscriptions.pause(id, { resumeAt: at("2026-01-20") })
      same(yield* checked(asked), none)
      yield* TestClock.setTime(at("2026-01-20").epochMilliseconds)
      same(yield* checked(asked), [true, "included", 10n, 4n, 6n, 0n, "2026-02-17"])
      yield* subscriptions.cancel(id, { at: "period_end" })
      same(yield* checked(asked), [true, "included", 10n, 4n, 6n, 0n, "2026-02-17"])
      yield* TestClock.setTime(at("2026-02-17").epochMilliseconds)
      same(yield* checked(asked), none)
    }),
  )

  scenario(
    test,
    "entitlements: a payment that is late ends features when the plan's grace is over, until nothing is late",
    Effect.gen(function* () {
      const fee = [{ key: "base", model: "flat", price: { EUR: "10.00" } }] as const
      const policy = { past_due_grace_days: 7 }
      const asked = yield* entitled(exportsOf("10", "hard"), { charges: fee, policy })
      yield* until("2026-01-02")
      const [invoice] = (yield* (yield* Invoices).list({ customerId: asked.customerId })).data
      // It is late from the instant after its due date on.
      const due = (invoice?.dueAt ?? 0) + 1 + 7 * 86_400_000
      yield* until(DateTime.formatIso(DateTime.makeUnsafe(due)).slice(0, 16))
      yield* TestClock.setTime(due - 1)
      const included = [true, "included", 10n, 0n, 10n, 0n, "2026-02-01"]
      same(yield* checked(asked), included)
      yield* TestClock.setTime(due)
      same(yield* checked(asked), [false, "past_due", null, null, null, null, null])
      assert.deepInclude(yield* consume(asked), { allowed: false, reason: "past_due" })
      same(yield* checked({ ...asked, feature: "other" }), [
        false,
        "not_included",
        null,
        null,
        null,
        null,
        null,
      ])
      const listed = yield* (yield* Entitlements).list({ customerId: asked.customerId })
      same(
        listed.map(({ allowed, reason }) => [allowed, reason]),
        [[false, "past_due"]],
      )
      yield* (yield* Invoices).void(invoice!.id)
      same(yield* checked(asked), included)
    }),
  )

  scenario(
    test,
    "entitlements: a change of plan changes the limit, and the count goes on unless the plan restarts it",
    Effect.gen(function* () {
      const asked = yield* entitled(exportsOf("10", "hard"))
      const bigger = exportsOf("25", "hard")
      yield* (yield* Plans).push({
        plans: [
          planOf("bigger", bigger),
          planOf("restarting", bigger, { policy: { usage_on_change: "restart" } }),
        ],
      })
      yield* recordCall(asked.customerId, 10)
      yield* TestClock.setTime(at("2026-01-11").epochMilliseconds)
      const { change } = yield* Subscriptions
      yield* change(asked.subscriptionId, { plan: "bigger", at: "now" })
      same(yield* checked(asked), [true, "included", 25n, 10n, 15n, 0n, "2026-02-01"])
      yield* TestClock.setTime(at("2026-01-12").epochMilliseconds)
      yield* change(asked.subscriptionId, { plan: "restarting", at: "now" })
      same(yield* checked(asked), [true, "included", 25n, 0n, 25n, 0n, "2026-02-01"])
    }),
  )

  scenario(
    test,
    "entitlements: of several subscriptions the most generous decides, and limits are not added",
    Effect.gen(function* () {
      const asked = yield* entitled({ ...exportsOf("10", "hard"), seats: { type: "config", value: "10" } })
      const { customerId } = asked
      const second = { ...exportsOf("25", "hard"), seats: { type: "config", value: "9" } } as const
      const third = { ...exportsOf("5", "soft"), seats: { type: "config", value: "10.5" } } as const
      yield* (yield* Plans).push({ plans: [planOf("second", second), planOf("third", third)] })
      yield* subscribe(customerId, "second")
      yield* recordCall(customerId, 9)
      same(yield* checked(asked, 16), [true, "included", 25n, 9n, 16n, 0n, "2026-02-01"])
      same(yield* checked(asked, 17), [false, "limit_reached", 25n, 9n, 16n, 0n, "2026-02-01"])
      const { id } = yield* subscribe(customerId, "third")
      same(yield* checked(asked, 16), [true, "included", 25n, 9n, 16n, 0n, "2026-02-01"])
      same(yield* checked(asked, 17), [true, "overage", 5n, 9n, 0n, 4n, "2026-02-01"])
      const { check } = yield* Entitlements
      assert.deepInclude(yield* check({ customerId, feature: "seats" }), {
        value: "10.5",
        subscriptionId: id,
      })
      yield* (yield* Subscriptions).cancel(id, { at: "now" })
      assert.deepInclude(yield* check({ customerId, feature: "seats" }), { value: "10" })
    }),
  )

  scenario(
    test,
    "entitlements: a feature whose meter can't be read says so",
    Effect.gen(function* () {
      const asked = yield* entitled(exportsOf("10", "hard"))
      const [meter] = (yield* (yield* Meters).list()).data
      const archived = Rollup.archived(meter!, yield* DateTime.now)
      // As earlier releases archived meters that plans name.
      yield* (yield* Collections).of(Meter.meters).modify(meter!.id, () => Effect.succeed(archived))
      const refused = yield* Effect.flip(checked(asked))
      assert.strictEqual(
        refused.message,
        `feature "exports" can't be answered: its meter "calls" is archived`,
      )
    }),
  )
}

const consumeTests = (test: InvoicingTest): void => {
  scenario(
    test,
    "entitlements: of many callers at once, those are allowed for whom a hard limit has room",
    Effect.gen(function* () {
      const asked = yield* entitled({
        ...exportsOf("100", "hard"),
        // Another feature of the same meter.
        reports: { type: "metered", meter: "calls", included: "100", limit: "hard" },
      })
      const answers = yield* together(
        times(CALLERS, (n) => consume({ ...asked, feature: n % 2 === 0 ? "exports" : "reports" }, 3)),
      )
      const allowed = answers.filter((answer) => answer.allowed)
      assert.lengthOf(allowed, 33)
      assert.lengthOf(new Set(allowed.map(({ usageRecordId }) => usageRecordId)), 33)
      assert.lengthOf(new Set(allowed.map(({ used }) => used)), 33)
      same(yield* checked(asked), [true, "included", 100n, 99n, 1n, 0n, "2026-02-01"])
    }),
  )

  scenario(
    test,
    "entitlements: of many checks at once, each has the answer that it has alone",
    Effect.gen(function* () {
      const { check } = yield* Entitlements
      const limited = yield* entitled({ ...exportsOf("100", "hard"), seats: { type: "config", value: "3" } })
      yield* (yield* Plans).push({
        plans: [
          planOf("soft", exportsOf("10", "soft"), { policy: { past_due_grace_days: 3 } }),
          planOf("bare", {}),
        ],
      })
      const customers = [limited.customerId]
      for (const plan of ["exporter", "soft", "soft", "bare"]) {
        const { id } = yield* newCustomer
        yield* subscribe(id, plan)
        customers.push(id)
      }
      const several = customers[2]!
      yield* subscribe(several, "exporter")
      for (const [index, id] of customers.entries()) yield* recordCall(id, 6 * (index + 1))
      const [stranger, { id: unknown }] = [yield* newCustomer, yield* newCustomer]
      yield* (yield* Customers).erase(unknown)
      const asked = [...customers, stranger.id, unknown].flatMap((customerId) =>
        ["exports", "seats", "constructor"].map((feature) => ({ customerId, feature })),
      )
      const all = Array.from({ length: CALLERS }, (_, n) => asked[n % asked.length]!)
      const alone = yield* Effect.forEach(asked, (one) => Effect.result(check(one)))
      const atOnce = yield* together(all.map((one) => Effect.result(check(one))))
      same(
        atOnce,
        all.map((_, n) => alone[n % asked.length]),
      )
      assert.lengthOf(new Set(alone.map((one) => one._tag)), 2)
    }),
  )

  scenario(
    test,
    "entitlements: a key gives the first answer for ever, and other content is refused",
    Effect.gen(function* () {
      const asked = yield* entitled({
        ...exportsOf("10", "hard"),
        reports: { type: "metered", meter: "calls", included: "10", limit: "hard" },
      })
      const keyed = { idempotencyKey: "request 'x'\\1", dimensions: { region: "eu" } }
      const refused = yield* consume(asked, 11, keyed)
      assert.deepInclude(refused, { allowed: false, reason: "limit_reached", usageRecordId: null, used: 0n })
      const first = yield* consume(asked, 6, keyed)
      assert.deepInclude(first, { allowed: true, reason: "included", used: 6n, balance: 4n, quantity: 6 })
      assert.strictEqual(first.idempotencyKey, keyed.idempotencyKey)
      const record = yield* (yield* Usage).getRecord(first.usageRecordId!)
      assert.deepInclude(record, { quantity: 6, unit: "call", productId: "api", ...keyed })
      yield* consume(asked, 4)
      yield* TestClock.adjust("400 days")
      same(yield* consume(asked, 6, keyed), first)
      const others = [
        consume(asked, 5, keyed),
        consume({ ...asked, feature: "reports" }, 6, keyed),
        consume(asked, 6, { ...keyed, dimensions: {} }),
      ]
      for (const other of others) {
        const conflict = yield* Effect.flip(other)
        assert.deepInclude(conflict, { _tag: "UsageKeyConflict", recordId: first.usageRecordId! })
      }
      same(yield* checked(asked), [true, "included", 10n, 0n, 10n, 0n, "2027-03-01"])
    }),
  )

  scenario(
    test,
    "entitlements: of many callers at once with one key, one records usage and all have its answer",
    Effect.gen(function* () {
      const asked = yield* entitled(exportsOf("100", "hard"))
      const answers = yield* together(times(CALLERS, () => consume(asked, 3, { idempotencyKey: "once" })))
      assert.lengthOf(new Set(answers.map(({ usageRecordId }) => usageRecordId)), 1)
      same(yield* checked(asked), [true, "included", 100n, 3n, 97n, 0n, "2026-02-01"])
    }),
  )

  scenario(
    test,
    "entitlements: usage that was recorded before with the key counts once",
    Effect.gen(function* () {
      const asked = yield* entitled(exportsOf("10", "hard"))
      const { customerId } = asked
      const usage = { customerId, productId: "api", unit: "call", idempotencyKey: "k" }
      const { record } = yield* (yield* Usage).record({ ...usage, quantity: 4 })
      const answer = yield* consume(asked, 4, { idempotencyKey: "k" })
      same([answer.allowed, answer.used, answer.usageRecordId], [true, 4n, record.id])
      same(yield* consume(asked, 4, { idempotencyKey: "k" }), answer)
      yield* (yield* Usage).record({ ...usage, idempotencyKey: "l", quantity: 1 })
      const conflict = yield* Effect.flip(consume(asked, 2, { idempotencyKey: "l" }))
      assert.strictEqual(conflict._tag, "UsageKeyConflict")
    }),
  )

  scenario(
    test,
    "entitlements: a limit that is reached is told once for a period and a limit, hard or soft",
    Effect.gen(function* () {
      const asked = yield* entitled(exportsOf("10", "soft"))
      const { customerId } = asked
      yield* consume(asked, 9)
      same(yield* limitEvents(customerId), [])
      const over = yield* consume(asked, 4)
      assert.deepInclude(over, { allowed: true, reason: "overage", used: 13n, balance: 0n, overage: 3n })
      yield* consume(asked, 1)
      const soft = ["exports", "soft", 10, 13, "2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"]
      same(yield* limitEvents(customerId), [soft])
      yield* (yield* Plans).push({ plans: [planOf("hard", exportsOf("20", "hard"))] })
      yield* (yield* Subscriptions).change(asked.subscriptionId, { plan: "hard", at: "now" })
      const refused = times(3, () => consume(asked, 7))
      for (const one of refused) assert.deepInclude(yield* one, { allowed: false, used: 14n })
      const hard = ["exports", "hard", 20, 14, "2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"]
      same(yield* limitEvents(customerId), [hard, soft])
      yield* TestClock.setTime(at("2026-02-01").epochMilliseconds)
      yield* consume(asked, 20)
      const next = ["exports", "hard", 20, 20, "2026-02-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"]
      same(yield* limitEvents(customerId), [next, hard, soft])
    }),
  )

  scenario(
    test,
    "entitlements: a transaction that fails consumed nothing and told nothing",
    Effect.gen(function* () {
      const asked = yield* entitled(exportsOf("10", "hard"))
      const all = Effect.andThen(consume(asked, 10, { idempotencyKey: "k" }), Effect.fail("undone"))
      yield* Effect.flip((yield* Transactor).atomically(all))
      same(yield* checked(asked), [true, "included", 10n, 0n, 10n, 0n, "2026-02-01"])
      same(yield* limitEvents(asked.customerId), [])
      assert.deepInclude(yield* consume(asked, 9, { idempotencyKey: "k" }), { used: 9n })
      yield* consume(asked, 1)
      same((yield* limitEvents(asked.customerId)).length, 1)
    }),
  )

  scenario(
    test,
    "entitlements: what can't be consumed is refused, with a word on why",
    Effect.gen(function* () {
      const { create } = yield* Meters
      yield* create({ key: "jobs", productId: "job", unit: "job", aggregation: "count" })
      yield* create({ key: "peak", productId: "disk", unit: "gb", aggregation: "max" })
      const asked = yield* entitled({
        sso: { type: "boolean" },
        jobs: { type: "metered", meter: "jobs", included: "2", limit: "hard" },
        peak: { type: "metered", meter: "peak", included: "2", limit: "hard" },
      })
      const problemOf = (feature: string, quantity: number) =>
        Effect.map(Effect.flip(consume({ ...asked, feature }, quantity)), ({ message }) => message)
      same(yield* problemOf("sso", 1), `feature "sso" is not metered: only what is metered can be consumed`)
      same(yield* problemOf("jobs", 2), `quantity must be 1: the meter jobs of "jobs" counts records`)
      same(
        yield* problemOf("peak", 1),
        `feature "peak" can't be consumed: its meter peak has the aggregation max, and only those with sum and count can be`,
      )
      const jobs = { ...asked, feature: "jobs" }
      const outcomes = [yield* consume(jobs), yield* consume(jobs), yield* consume(jobs)]
      same(
        outcomes.map(({ allowed, used }) => [allowed, used]),
        [
          [true, 1n],
          [true, 2n],
          [false, 2n],
        ],
      )
      const nothing = yield* consume({ ...asked, feature: "other" })
      assert.deepInclude(nothing, { allowed: false, reason: "not_included", usageRecordId: null })
    }),
  )
}

const storeTests = (test: InvoicingTest): void => {
  scenario(
    test,
    "entitlements: no other tenant sees what was consumed, and a key is stored once",
    Effect.gen(function* () {
      const [store, transactor] = [yield* EntitlementStore, yield* Transactor]
      const asked = yield* entitled(exportsOf("10", "hard"))
      yield* consume(asked, 10, { idempotencyKey: "k" })
      const stored = Option.getOrThrow(yield* store.byKey(asked.customerId, "k"))
      const { customerId, feature, limit, periodStart, subscriptionId } = stored
      const limits = { customerId, feature, limit, periodStart, subscriptionId, reachedAt: 0 }
      assert.isFalse(yield* store.reach(limits))
      assert.isTrue(yield* store.reach({ ...limits, limit: limit + 1n }))
      same(yield* store.byKey(customerId, "l"), Option.none())
      const again = transactor.atomically(Effect.andThen(store.lock(customerId), store.insert(stored)))
      assert.instanceOf(yield* Effect.flip(again), StorageError)
      for (const other of yield* otherTenants) {
        const theirs = asTenant(other)
        same(yield* theirs(store.byKey(customerId, "k")), Option.none())
        assert.isTrue(yield* theirs(store.reach(limits)))
        const refused = yield* Effect.flip(theirs((yield* Entitlements).check({ customerId, feature })))
        assert.strictEqual(refused._tag, "CustomerNotFound")
      }
    }),
  )
}

export const entitlementContract = (test: InvoicingTest): void => {
  checkTests(test)
  consumeTests(test)
  entitlementRolloverContract(test)
  storeTests(test)
}
