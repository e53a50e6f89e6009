/**
 * Payment methods on Postgres: one default a customer, whoever attaches methods at once, also in plain SQL.
 */
import {
  Billing,
  BillingRuns,
  Collections,
  Customer,
  Customers,
  FakeProvider,
  PaymentMethod,
  PaymentMethods,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Client } from "pg"
import { START } from "./Invoicing.ts"
import { inTurn } from "./Races.ts"
import { tried } from "./Refusals.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const UNIQUE = "23505"

it.live("a customer has one default, whatever is attached, changed and detached at once", () =>
  Effect.gen(function* () {
    const url = yield* TestDatabase.make
    const fake = new FakeProvider({ hasMethods: true })
    const services = Billing.layerWith({ payments: fake }).pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
    )
    const client = new Client({ connectionString: url })
    yield* Effect.acquireRelease(
      Effect.promise(() => client.connect()),
      () => Effect.promise(() => client.end()),
    )
    yield* Effect.gen(function* () {
      yield* TestClock.setTime(START.epochMilliseconds)
      const methods = yield* PaymentMethods
      const { id: customerId } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
      const ids = yield* Effect.all(
        Array.from({ length: 6 }, () => Effect.map(methods.create({ customerId }), ({ id }) => id)),
      )
      for (const id of ids) {
        const { paymentMethod } = yield* methods.startSetup(id)
        fake.methods!.save(paymentMethod.setupReference!, { expiry: { month: 1, year: 2020 } })
      }
      yield* Effect.all(ids.map(methods.refresh), { concurrency: "unbounded" })
      const { runDue } = yield* BillingRuns
      yield* Effect.all([runDue(), runDue(), runDue()], { concurrency: "unbounded" })
      const defaults = Effect.map(methods.list({ customerId, status: "attached", limit: 100 }), ({ data }) =>
        data.filter(({ isDefault }) => isDefault),
      )
      assert.lengthOf(yield* defaults, 1)
      yield* Effect.all(
        ids.slice(1).map((id) => methods.update(id, { isDefault: true })),
        { concurrency: "unbounded" },
      )
      const [only, ...others] = yield* defaults
      assert.deepStrictEqual(others, [])
      assert.isNotNull(only?.expiringSince)
      yield* Effect.all(
        [...ids, ...ids].map((id) => methods.detach(id)),
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(yield* defaults, [])
      yield* runDue()
      assert.deepStrictEqual(
        ids.map((id) => fake.methods!.behaviourOf(`fake_${id}_card`)),
        ids.map(() => undefined),
      )
      assert.isTrue(Option.isNone(yield* (yield* BillingRuns).nextDueAt))

      const table = "billwright.payment_methods"
      const attempts = [
        [
          "one default",
          undefined,
          [`update ${table} set is_default = 'true' where id = (select min(id::text)::uuid from ${table})`],
        ],
        ["a second default", UNIQUE, [`update ${table} set is_default = 'true'`]],
      ] as const
      assert.deepStrictEqual(yield* Effect.promise(() => tried(client, attempts)), attempts)
      const { rows } = yield* Effect.promise(() =>
        client.query(
          "select count(*)::integer as told from billwright.events where type = 'payment_method.expiring'",
        ),
      )
      assert.deepStrictEqual(rows, [{ told: 6 }])
    }).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(services))
  }).pipe(Effect.scoped),
)

/** A new customer, and what makes further methods of it. */
const begun = Effect.fnUntraced(function* (fake: FakeProvider) {
  const methods = yield* PaymentMethods
  const { id: customerId } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
  const create = Effect.map(methods.create({ customerId }), ({ id }) => id)
  const save = Effect.gen(function* () {
    const { paymentMethod } = yield* methods.startSetup(yield* create)
    fake.methods!.save(paymentMethod.setupReference!, { expiry: { month: 1, year: 2020 } })
    return (yield* methods.refresh(paymentMethod.id)).id
  })
  return { customerId, create, save }
})

describe("a payment method that two change at once", () => {
  const fake = new FakeProvider({ hasMethods: true })
  /** Without retries, because a retry would hide a deadlock. */
  const once = Billing.layerWith({ payments: fake }).pipe(
    Layer.provideMerge(Storage.layer({ maxAttempts: 1 })),
    Layer.provideMerge(TestDatabase.layerClient()),
  )

  it.live("is not made the default when it was detached before", () =>
    Effect.gen(function* () {
      const { detach, get, update } = yield* PaymentMethods
      const { save } = yield* begun(fake)
      const [first, second, third] = [yield* save, yield* save, yield* save]
      const [detached, refused] = yield* inTurn(detach(second), update(second, { isDefault: true }))
      assert.isTrue(Exit.isSuccess(detached))
      assert.deepInclude(yield* Effect.flip(refused), { _tag: "ActionUnavailable", id: second })
      assert.deepInclude(yield* get(second), { status: "detached", isDefault: false })
      assert.isTrue((yield* get(first)).isDefault)
      assert.isTrue((yield* update(third, { isDefault: true })).isDefault)
    }).pipe(asTenant, Effect.provide(once)),
  )

  it.live("keeps the setup that was started meanwhile", () =>
    Effect.gen(function* () {
      const { get, update } = yield* PaymentMethods
      const store = (yield* Collections).of(PaymentMethod.paymentMethods)
      const id = yield* (yield* begun(fake)).create
      // As `startSetup` does when the provider has answered.
      const started = { providerCustomer: "customer", setupReference: "setup" }
      const start = store.modify(id, (method) => Effect.succeed({ ...method, ...started }))
      const [, updated] = yield* inTurn(start, update(id, { metadata: { team: "a" } }))
      assert.isTrue(Exit.isSuccess(updated))
      assert.deepInclude(yield* get(id), { ...started, metadata: { team: "a" } })
    }).pipe(asTenant, Effect.provide(once)),
  )

  it.live("is changed by a command while a billing run works on it, and neither waits for the other", () =>
    Effect.gen(function* () {
      const { detach, get } = yield* PaymentMethods
      const owners = (yield* Collections).of(Customer.customers)
      const { runDue } = yield* BillingRuns
      const { customerId, save } = yield* begun(fake)
      const id = yield* save
      // It holds the customer and then the method, as all commands do.
      const [held, ran] = yield* inTurn(owners.modify(customerId, Effect.succeed), runDue(), detach(id))
      assert.isTrue(Exit.isSuccess(held))
      assert.deepInclude(yield* ran, { failed: 0 })
      yield* runDue()
      assert.strictEqual((yield* get(id)).status, "detached")
      assert.isUndefined(fake.methods!.behaviourOf(`fake_${id}_card`))
    }).pipe(asTenant, Effect.provide(once)),
  )
})
