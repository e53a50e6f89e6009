/**
 * Everything that the storage promises, through a real PgBouncer in transaction pooling mode.
 */
import { Migrations, PostgresClient, Storage } from "@billwright/postgres"
import { StorageContract } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import * as TestDatabase from "../TestDatabase.ts"

const options = { pause: "20 millis", startTimeout: "30 seconds", timeoutMillis: 30_000 } as const

/** A new database, through PgBouncer. */
const database = Effect.map(TestDatabase.empty, (direct) => {
  const url = new URL(inject("pooledUrl"))
  url.pathname = new URL(direct).pathname
  return url.href
})

const client = (settings: Partial<PostgresClient.ClientOptions>) =>
  Layer.unwrap(Effect.map(database, (url) => PostgresClient.layer({ url: Redacted.make(url), ...settings })))

const pooledClient = Storage.layer().pipe(Layer.provide(client({ isPooled: true })))
const hostPool = Storage.layer().pipe(Layer.provide(TestDatabase.layerHostPool(database)))

StorageContract.suite("PostgreSQL behind PgBouncer", pooledClient, options)
StorageContract.suite("PostgreSQL behind PgBouncer, on the host's pool", hostPool, options)

describe("a client behind PgBouncer", () => {
  it.live("gets the session that another client had before", () =>
    Effect.gen(function* () {
      const url = Redacted.make(yield* database)
      const one = PostgresClient.layer({ url, poolSize: 1, isPooled: true })
      const connected = Effect.map(Layer.build(Layer.fresh(one)), Context.get(SqlClient.SqlClient))
      const [first, second] = [yield* connected, yield* connected]
      const session = (sql: SqlClient.SqlClient) =>
        Effect.map(sql<{ pid: number }>`select pg_backend_pid() as pid`, ([row]) => row!.pid)
      const both = yield* first.withTransaction(Effect.all([session(first), session(second)]))
      assert.notStrictEqual(both[0], both[1])
      const lent = yield* Effect.replicateEffect(session(second), 4)
      assert.sameMembers([...new Set(lent)], both)
    }).pipe(Effect.scoped),
  )

  it.live("migrates from many processes at once", () =>
    Effect.gen(function* () {
      const url = Redacted.make(yield* database)
      const one = Effect.provide(
        Migrations.run(),
        PostgresClient.layer({ url, poolSize: 1, isPooled: true }),
      ).pipe(Effect.scoped)
      const applied = yield* Effect.all(
        Array.from({ length: 6 }, () => one),
        { concurrency: "unbounded" },
      )
      assert.sameMembers(
        applied.flatMap(({ migrations }) => migrations),
        Migrations.migrations.map(({ name }) => name),
      )
    }).pipe(Effect.scoped),
  )
})
