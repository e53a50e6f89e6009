/**
 * The headers of endpoints on Postgres: those of an older release move over, and no value of one is in the database.
 */
import { Billing, Endpoints, generateKey } from "@billwright/core"
import { Migrations, PostgresClient, SchemaName, Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const HEADERS = { authorization: "Bearer quill.feather", "x-team": "books" }

const withKeys =
  (url: string, keys: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      asTenant,
      Effect.provide(
        Billing.layerWith({ encryption: Redacted.make(keys) }).pipe(
          Layer.provideMerge(Storage.layer()),
          Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
        ),
      ),
    )

/** All endpoints, as they are stored. */
const rows = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql<{ headers: object; all: string }>`select headers, to_jsonb(w)::text as "all"
from billwright.webhook_endpoints w order by w.id`,
)

it.live("headers of an older release move over, and are encrypted by rotate-encryption", () =>
  Effect.gen(function* () {
    const url = yield* TestDatabase.make
    const client = PostgresClient.layer({ url: Redacted.make(url) })
    const key = Redacted.value(generateKey("k1"))
    const input = { url: "https://receiver.example/hooks", eventTypes: ["*"] }
    const ids = yield* Effect.gen(function* () {
      const { create } = yield* Endpoints
      const made = [yield* create({ ...input, headers: HEADERS }), yield* create(input)]
      return made.map(({ endpoint }) => endpoint.id)
    }).pipe(withKeys(url, key))

    // As a release before the migration has left them.
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`update billwright.webhook_endpoints set headers = ${JSON.stringify(HEADERS)}::text::jsonb
where headers <> '{}'`
      const { statements } = Migrations.migrations.find(({ name }) => name === "sealed_headers")!
      yield* Effect.forEach(statements(SchemaName.make()), (statement) => sql.unsafe(statement))
      assert.deepStrictEqual(
        (yield* rows).map(({ headers }) => headers),
        [{ authorization: "plain.Bearer quill.feather", "x-team": "plain.books" }, {}],
      )
    }).pipe(Effect.provide(client))

    yield* Effect.gen(function* () {
      const { get, rotateEncryption } = yield* Endpoints
      assert.deepStrictEqual((yield* get(ids[0]!)).headers, HEADERS)
      assert.deepStrictEqual([yield* rotateEncryption, yield* rotateEncryption], [1, 0])
    }).pipe(withKeys(url, `${key} plain`))

    yield* Effect.gen(function* () {
      const { get } = yield* Endpoints
      assert.deepStrictEqual((yield* get(ids[0]!)).headers, HEADERS)
      assert.deepStrictEqual((yield* get(ids[1]!)).headers, {})
    }).pipe(withKeys(url, key))
    const [row] = yield* Effect.provide(rows, client)
    assert.deepStrictEqual(Object.keys(row!.headers).toSorted(), Object.keys(HEADERS))
    assert.notMatch(row!.all, /quill|books|plain\./)
  }).pipe(Effect.scoped),
)
