/**
 * Items and subscriptions at once.
 */
import { Billing, Customers, InvoiceItems, Subscriptions } from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { START, subscribe } from "./Invoicing.ts"
import { inTurn } from "./Races.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const services = Billing.layer.pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient()),
)

it.live("no item is for a subscription that has ended, whoever is first", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(START.epochMilliseconds)
    const items = yield* InvoiceItems
    const subscriptions = yield* Subscriptions
    const begun = Effect.map(subscribe, ({ customer, subscription: { id: subscriptionId } }) => ({
      cancel: subscriptions.cancel(subscriptionId, { at: "now" }),
      create: items.create({
        customerId: customer.id,
        subscriptionId,
        currency: "EUR",
        amount: -500n,
        description: "Credit",
      }),
    }))
    const one = yield* begun
    const [ended, refused] = yield* inTurn(one.cancel, one.create)
    assert.isTrue(Exit.isSuccess(ended))
    assert.deepInclude(yield* Effect.flip(refused), { _tag: "InvalidInput", field: "subscriptionId" })
    const two = yield* begun
    const [created, endedLater] = yield* inTurn(two.create, two.cancel)
    assert.isTrue(Exit.isSuccess(endedLater))
    const { id } = yield* created
    assert.strictEqual((yield* items.get(id)).subscriptionId, null)
  }).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(services)),
)

it.live("no item of an erased customer has metadata, whoever is first", () =>
  Effect.gen(function* () {
    const [customers, items] = [yield* Customers, yield* InvoiceItems]
    const begun = Effect.map(customers.create({ name: "Ada", email: "ada@example.com" }), ({ id }) => ({
      erase: customers.erase(id),
      create: items.create({
        customerId: id,
        currency: "EUR",
        amount: 500n,
        description: "Set-up",
        metadata: { contact: "Ada Lovelace" },
      }),
    }))
    const one = yield* begun
    const [erased, refused] = yield* inTurn(one.erase, one.create)
    assert.isTrue(Exit.isSuccess(erased))
    assert.deepInclude(yield* Effect.flip(refused), { _tag: "CustomerNotFound", field: "customerId" })
    const two = yield* begun
    const [created, erasedLater] = yield* inTurn(two.create, two.erase)
    assert.isTrue(Exit.isSuccess(erasedLater))
    const { id } = yield* created
    assert.deepStrictEqual((yield* items.get(id)).metadata, {})
  }).pipe(asTenant, Effect.provide(services)),
)
