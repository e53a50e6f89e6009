/**
 * Payment methods on Postgres: one default a customer, whoever attaches methods at once, also in plain SQL.
 */
import { Billing, BillingRuns, Customers, FakeProvider, PaymentMethods } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Client } from "pg"
import { START } from "./Invoicing.ts"
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
