/**
 * BEGIN, COMMIT and ROLLBACK that get lost on their way, while the connection stays open.
 */
import { Billing, Customers, type StorageError, Transactor } from "@billwright/core"
import { Host, PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { Pool } from "pg"
import * as Proxy from "./Proxy.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** A pool of one connection, so that no other is left when that one is lost. */
const CLIENTS: Readonly<Record<string, (url: string) => Layer.Layer<SqlClient.SqlClient>>> = {
  "our client": (url) =>
    Layer.orDie(PostgresClient.layer({ url: Redacted.make(url), poolSize: 1, statementTimeoutMillis: 200 })),
  "a host's pool": (url) =>
    Layer.unwrap(
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => new Pool({ connectionString: url, max: 1 })),
          (pool) => Effect.promise(() => pool.end()),
        ),
        Host.fromPool,
      ),
    ),
}

/**
 * A transaction during which the network starts to drop everything: before its end, or already before its beginning.
 */
const TRANSACTIONS: Readonly<
  Record<
    string,
    (swallow: Effect.Effect<void>) => { before: Effect.Effect<void>; within: Effect.Effect<void, string> }
  >
> = {
  BEGIN: (swallow) => ({ before: swallow, within: Effect.void }),
  COMMIT: (swallow) => ({ before: Effect.void, within: swallow }),
  ROLLBACK: (swallow) => ({ before: Effect.void, within: Effect.andThen(swallow, Effect.fail("undo")) }),
}

/** A proxy to a database that is up to date. */
const proxied = Effect.gen(function* () {
  const url = yield* TestDatabase.make
  yield* Effect.provide(
    Effect.void,
    Layer.provide(Storage.layer(), PostgresClient.layer({ url: Redacted.make(url) })),
  )
  return yield* Proxy.make(url)
})

const billing = (client: Layer.Layer<SqlClient.SqlClient>, deadlineMillis: number) =>
  Billing.layer.pipe(Layer.provideMerge(Storage.layerStorage({ deadlineMillis })), Layer.provide(client))

describe.concurrent.each(Object.keys(CLIENTS))("with %s", (client) => {
  it.live.each(Object.keys(TRANSACTIONS))(
    "a %s that is never answered costs its connection, and another one replaces it",
    (statement) =>
      Effect.gen(function* () {
        const proxy = yield* proxied
        yield* Effect.gen(function* () {
          const [customers, transactor] = [yield* Customers, yield* Transactor]
          const create = customers.create({ name: "A", email: "a@b" })
          const { id } = yield* create
          const swallow = Effect.sync(() => {
            proxy.isBlackhole = true
          })
          const { before, within } = TRANSACTIONS[statement]!(swallow)
          yield* before
          const outcome = yield* Effect.flip(transactor.atomically(Effect.andThen(create, within)))
          assert.strictEqual((outcome as StorageError)._tag, "StorageError")
          proxy.isBlackhole = false
          const found = yield* Effect.retry(customers.get(id), { times: 20 })
          assert.strictEqual(found.id, id)
        }).pipe(asTenant, Effect.provide(billing(CLIENTS[client]!(proxy.url), 1_000)))
      }).pipe(Effect.scoped),
    30_000,
  )

  it.live(
    "a nested transaction whose RELEASE is late has failed: the outer one commits nothing of it, even if it recovers",
    () =>
      Effect.gen(function* () {
        const proxy = yield* proxied
        yield* Effect.gen(function* () {
          const [customers, { atomically }] = [yield* Customers, yield* Transactor]
          const create = (name: string) => customers.create({ name, email: "a@b" })
          const inner = Effect.gen(function* () {
            yield* create("inner")
            proxy.delayed = "RELEASE SAVEPOINT"
          })
          const outer = Effect.gen(function* () {
            yield* create("outer")
            const failure = yield* Effect.flip(atomically(inner))
            assert.strictEqual(failure._tag, "StorageError")
            proxy.release()
          })
          const outcome = yield* Effect.flip(atomically(outer))
          assert.strictEqual((outcome as StorageError)._tag, "StorageError")
          assert.deepStrictEqual((yield* customers.list()).data, [])
        }).pipe(asTenant, Effect.provide(billing(CLIENTS[client]!(proxy.url), 10_000)))
      }).pipe(Effect.scoped),
    30_000,
  )
})
