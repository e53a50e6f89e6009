/**
 * Spend alerts on Postgres: who waits for whom, when several alerts bill, and when their customer is erased meanwhile.
 */
import {
  Billing,
  BillingRuns,
  Customers,
  SpendAlerts,
  Subscriptions,
  SubscriptionStore,
} from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { subscribe, use } from "./Invoicing.ts"
import { inTurn } from "./Races.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

// Without retries, because a retry would hide a deadlock.
const once = Billing.layer.pipe(
  Layer.provideMerge(Storage.layer({ maxAttempts: 1 })),
  Layer.provideMerge(TestDatabase.layerClient()),
)

it.live("alerts that bill are fired while somebody else holds their subscriptions one after the other", () =>
  Effect.gen(function* () {
    const { customer, subscription: first } = yield* subscribe
    const { id: customerId } = customer
    const second = yield* (yield* Subscriptions).create({ customerId, plan: "pro" })
    const { create, get } = yield* SpendAlerts
    const { checkSpend, runDue } = yield* BillingRuns
    yield* runDue()
    const alerts = yield* Effect.forEach([first, second], ({ id: subscriptionId }) =>
      create({ customerId, subscriptionId, currency: "EUR", amount: 500n, action: "invoice" }),
    )
    yield* use(customer, 700)
    const { lock } = yield* SubscriptionStore
    // The newest alert fires first. It is that of the second subscription.
    const [held, checked] = yield* inTurn(lock(first.id), checkSpend, lock(second.id))
    assert.isTrue(Exit.isSuccess(held))
    assert.isTrue(Exit.isSuccess(checked))
    const amounts = yield* Effect.forEach(alerts, ({ id }) => Effect.map(get(id), (one) => one.firedAmount))
    assert.deepStrictEqual(amounts, [500n, 500n])
  }).pipe(asTenant, Effect.provide(once)),
)

it.live("a customer who is erased gets no alert, whoever is first", () =>
  Effect.gen(function* () {
    const { create, list } = yield* SpendAlerts
    const customers = yield* Customers
    const newId = Effect.map(customers.create({ name: "Ada", email: "ada@example.com" }), ({ id }) => id)
    const alertOf = (customerId: Effect.Success<typeof newId>) =>
      create({ customerId, currency: "EUR", amount: 500n })
    const gone = yield* newId
    const [erased, refused] = yield* inTurn(customers.erase(gone), alertOf(gone))
    assert.isTrue(Exit.isSuccess(erased))
    assert.deepInclude(yield* Effect.flip(refused), { _tag: "CustomerNotFound", id: gone })
    assert.deepStrictEqual((yield* list({ customerId: gone })).data, [])
    const known = yield* newId
    const [created, erasedLater] = yield* inTurn(alertOf(known), customers.erase(known))
    assert.isTrue(Exit.isSuccess(created))
    assert.isTrue(Exit.isSuccess(erasedLater))
  }).pipe(asTenant, Effect.provide(once)),
)
