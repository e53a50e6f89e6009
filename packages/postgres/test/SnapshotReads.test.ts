/** Reads as of one instant on Postgres: nothing is written, nobody waits. */
import { Billing, type CurrentTenant, Customers, SnapshotReads, StorageError } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const ADA = { name: "Ada", email: "ada@example.com" }

type Services = Billing.Services | Billing.Storage | CurrentTenant | SnapshotReads

const withDatabase = <A, E>(test: Effect.Effect<A, E, Services>) =>
  Effect.gen(function* () {
    const url = yield* TestDatabase.make
    const services = Billing.layer.pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
    )
    return yield* test.pipe(asTenant, Effect.provide(services))
  }).pipe(Effect.scoped)

const names = Effect.map(
  Effect.flatMap(Customers, (customers) => customers.list()),
  ({ data }) => data.map(({ name }) => name),
)

it.live("sees one instant, whatever is committed meanwhile, and waits for nobody", () =>
  withDatabase(
    Effect.gen(function* () {
      const customers = yield* Customers
      const { consistently } = yield* SnapshotReads
      const { id } = yield* customers.create(ADA)
      // With the services of the test, so that the change is outside of the transaction that reads.
      const services = yield* Effect.context<Services>()
      const change = Effect.promise(() =>
        Effect.runPromiseWith(services)(
          Effect.andThen(
            customers.update(id, { name: "Ada King" }),
            customers.create({ ...ADA, name: "Grace" }),
          ),
        ),
      )
      const seen = yield* consistently(
        Effect.gen(function* () {
          const before = yield* names
          yield* change
          return [before, yield* names]
        }),
      )
      assert.deepStrictEqual(seen, [["Ada"], ["Ada"]])
      assert.deepStrictEqual(yield* names, ["Grace", "Ada King"])
    }),
  ),
)

it.live("refuses each write", () =>
  withDatabase(
    Effect.gen(function* () {
      const customers = yield* Customers
      const { consistently } = yield* SnapshotReads
      const error = yield* Effect.flip(consistently(customers.create(ADA)))
      assert.instanceOf(error, StorageError)
      assert.deepStrictEqual(yield* names, [])
    }),
  ),
)
