/**
 * Credits that plans grant, at the start of each period and when plans change.
 */
import {
  BillingRuns,
  Credit,
  Credits,
  CreditStore,
  type Customer,
  Plans,
  Subscriptions,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { InvoicingTest } from "../contract/InvoicingProbe.ts"
import { at, basic, newCustomer, scenario, told, until } from "./Scenario.ts"

const granting = (key: string, amount: string, maximum?: string) => ({
  ...basic,
  key,
  charges: basic.charges.filter((charge) => charge.key === "base"),
  grants: [{ unit: "token", amount, ...(maximum === undefined ? {} : { rollover: { maximum } }) }],
})

/** A new customer with a subscription of a plan that grants 1,000 in each period. `large` grants 5,000. */
const started = Effect.gen(function* () {
  yield* (yield* Plans).push({
    plans: [granting("small", "1000"), granting("large", "5000"), granting("rolling", "1000", "300")],
  })
  const { id: customerId } = yield* newCustomer
  return { customerId, key: { customerId, unit: "token" } }
})

const subscribed = (customerId: Customer.CustomerId, plan = "small") =>
  Effect.flatMap(Subscriptions, ({ create }) => create({ customerId, plan }))

const available = (key: { readonly customerId: Customer.CustomerId; readonly unit: string }) =>
  Effect.flatMap(Credits, ({ balance }) =>
    Effect.map(balance(key), (found) => [found.available, found.debt] as const),
  )

const entriesOf = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
  const { data } = yield* (yield* Credits).listEntries({ customerId, limit: 100 })
  return data.toReversed().map((entry) => `${entry.kind} ${entry.available}`)
})

const grantsOf = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
  const { data } = yield* (yield* Credits).listGrants({ customerId, limit: 100 })
  return data.toReversed()
})

const periods = (test: InvoicingTest): void => {
  scenario(
    test,
    "a plan grants credits at the start of each period, and they end with it",
    Effect.gen(function* () {
      const { customerId, key } = yield* started
      const { id } = yield* subscribed(customerId)
      yield* (yield* Credits).consume({ ...key, amount: 400n })
      yield* until("2026-03-15")
      assert.deepStrictEqual(yield* available(key), [1_000n, 0n])
      assert.deepStrictEqual(yield* entriesOf(customerId), [
        "grant 1000",
        "consume -400",
        "expire -600",
        "grant 1000",
        "expire -1000",
        "grant 1000",
      ])
      const [first, , last] = yield* grantsOf(customerId)
      assert.deepInclude(first, { status: "expired", source: { type: "subscription", id, period: 0 } })
      assert.deepInclude(last, { kind: "plan", effectiveAt: at("2026-03-01"), expiresAt: at("2026-04-01") })
      assert.deepStrictEqual(last?.steps, [
        { plan: { key: "small", version: 1 }, granted: "1000", from: 0, to: 31, of: 31, amount: 1_000n },
      ])
      assert.include(yield* told, "2026-02-01 credit.granted")
    }),
  )

  scenario(
    test,
    "periods that are opened late have the grants that they would have had",
    Effect.gen(function* () {
      const { customerId, key } = yield* started
      yield* subscribed(customerId, "rolling")
      yield* (yield* Credits).consume({ ...key, amount: 900n })
      // Nobody does what is due, and in the meantime the account has gone past the end of the first grant.
      yield* TestClock.setTime(at("2026-02-20").epochMilliseconds)
      yield* (yield* Credits).consume({ ...key, amount: 30n })
      yield* TestClock.setTime(at("2026-03-20").epochMilliseconds)
      const { runDue } = yield* BillingRuns
      yield* runDue()
      yield* runDue()
      const grants = yield* grantsOf(customerId)
      assert.deepStrictEqual(
        grants.map(({ amount, available: left, effectiveAt, status }) => [status, effectiveAt, amount, left]),
        [
          ["expired", at("2026-01-01"), 1_000n, 0n],
          ["active", at("2026-02-01"), 1_000n, 300n],
          ["active", at("2026-03-01"), 1_000n, 1_000n],
        ],
      )
      assert.deepStrictEqual(yield* available(key), [1_300n, 0n])
    }),
  )

  scenario(
    test,
    "what is left of a grant rolls over up to a maximum, for one period",
    Effect.gen(function* () {
      const { customerId, key } = yield* started
      yield* subscribed(customerId, "rolling")
      yield* (yield* Credits).consume({ ...key, amount: 500n })
      yield* until("2026-02-10")
      assert.deepStrictEqual(yield* available(key), [1_300n, 0n])
      const [first] = yield* grantsOf(customerId)
      const rollover = { maximum: 300n, expiresAt: at("2026-03-01") }
      assert.deepInclude(first, { status: "active", available: 300n, expiresAt: at("2026-03-01"), rollover })
      // It ends first, so it is used first.
      yield* (yield* Credits).consume({ ...key, amount: 1_100n })
      yield* until("2026-03-10")
      assert.deepStrictEqual(yield* available(key), [1_200n, 0n])
    }),
  )

  scenario(
    test,
    "a grant of a subscription and a period is there once",
    Effect.gen(function* () {
      const { customerId, key } = yield* started
      yield* subscribed(customerId)
      const store = yield* CreditStore
      const ledger = yield* store.read(key, at("2026-01-01").epochMilliseconds)
      const copy = { ...ledger.grants[0]!, id: Credit.CreditGrantId.make("cgr_01kahd3kc8e0fsr8zknzqgf2h1") }
      const twice = store.write(key, {
        account: ledger.account,
        grants: [copy],
        holds: [],
        entries: [],
        consumption: null,
      })
      assert.strictEqual((yield* Effect.flip(twice))._tag, "StorageError")
    }),
  )
}

const changes = (test: InvoicingTest): void => {
  scenario(
    test,
    "a change of plan moves its grant by the fee's part: 900 + 500 - 1,000 used leaves 400",
    Effect.gen(function* () {
      const { customerId, key } = yield* started
      yield* until("2026-04-01")
      const { id } = yield* subscribed(customerId)
      yield* (yield* Credits).consume({ ...key, amount: 1_000n })
      yield* until("2026-04-28")
      const { change, preview } = yield* Subscriptions
      yield* preview({ action: "change", subscriptionId: id, plan: "large", at: "now" })
      assert.deepStrictEqual(yield* available(key), [0n, 0n])
      yield* change(id, { plan: "large", at: "now" })
      assert.deepStrictEqual(yield* available(key), [400n, 0n])
      const [grant] = yield* grantsOf(customerId)
      assert.deepInclude(grant, { amount: 1_400n, available: 400n, expiresAt: at("2026-05-01") })
      assert.deepStrictEqual(
        grant?.steps.map(({ amount, plan }) => [plan.key, amount]),
        [
          ["small", 900n],
          ["large", 500n],
        ],
      )
      assert.include(yield* told, "2026-04-28 credit.adjusted")
      yield* until("2026-05-01")
      assert.deepStrictEqual(yield* available(key), [5_000n, 0n])
    }),
  )

  scenario(
    test,
    "what was used beyond what a smaller plan grants is a debt, which the next period repays",
    Effect.gen(function* () {
      const { customerId, key } = yield* started
      yield* until("2026-04-01")
      const { id } = yield* subscribed(customerId, "large")
      const { change } = yield* Subscriptions
      yield* (yield* Credits).consume({ ...key, amount: 3_500n })
      yield* until("2026-04-16")
      yield* change(id, { plan: "small", at: "now" })
      assert.deepStrictEqual(yield* available(key), [0n, 500n])
      yield* until("2026-05-01")
      assert.deepStrictEqual(yield* available(key), [500n, 0n])
    }),
  )

  scenario(
    test,
    "a pause and a cancellation leave what was granted for the time that was served",
    Effect.gen(function* () {
      const { customerId, key } = yield* started
      yield* until("2026-04-01")
      const { id } = yield* subscribed(customerId)
      const { cancel, pause, resume } = yield* Subscriptions
      yield* until("2026-04-11")
      yield* pause(id)
      assert.deepStrictEqual(yield* available(key), [333n, 0n])
      yield* until("2026-04-21")
      yield* resume(id)
      assert.deepStrictEqual(yield* available(key), [666n, 0n])
      yield* until("2026-04-26")
      yield* cancel(id, { at: "now" })
      assert.deepStrictEqual(yield* available(key), [499n, 0n])
      yield* until("2026-05-01")
      assert.deepStrictEqual(yield* available(key), [0n, 0n])
    }),
  )
}

const taken = (test: InvoicingTest): void => {
  scenario(
    test,
    "what a pause takes of other credits comes back as credits of the plan, which end with its period",
    Effect.gen(function* () {
      const { customerId, key } = yield* started
      yield* until("2026-04-01")
      const { id } = yield* subscribed(customerId)
      const { consume, getGrant, grant } = yield* Credits
      const bought = yield* grant({ ...key, kind: "paid", amount: 500n })
      yield* consume({ ...key, amount: 1_000n })
      const { pause, resume } = yield* Subscriptions
      yield* until("2026-04-11")
      yield* pause(id)
      assert.deepStrictEqual(yield* available(key), [0n, 167n])
      yield* until("2026-04-21")
      yield* resume(id)
      assert.deepStrictEqual(yield* available(key), [166n, 0n])
      assert.strictEqual((yield* getGrant(bought.id)).available, 0n)
      yield* until("2026-05-01")
      assert.deepStrictEqual(yield* available(key), [1_000n, 0n])
    }),
  )
}

export const planGrantScenarios = (test: InvoicingTest): void => {
  periods(test)
  changes(test)
  taken(test)
}
