/** Schemas of other releases, of other people, and with functions that have changed: what runs there, and what is refused. */
import { Migrations, PostgresClient, Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { describe } from "vitest"
import packageJson from "../package.json" with { type: "json" }
import { DISTURBED, disturb, ofRelease } from "./OtherRelease.ts"
import { introspect } from "./SchemaManifest.ts"
import * as TestDatabase from "./TestDatabase.ts"

const withDatabase = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.provide(effect, TestDatabase.layerEmpty()))

const nothing: Migrations.Applied = { migrations: [], functions: [] }

describe("a schema with other tables", () => {
  const refusals = Effect.gen(function* () {
    const messages: Array<string> = []
    for (const refused of [Migrations.run({ schema: "theirs" }), Migrations.check({ schema: "theirs" })]) {
      const error = yield* Effect.flip(Effect.asVoid<unknown, unknown, SqlClient.SqlClient>(refused))
      assert.instanceOf(error, Migrations.IncompatibleSchema)
      messages.push(error.message)
    }
    return messages
  })
  const tables = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`select relname::text as name from pg_class where relnamespace = 'theirs'::regnamespace and relkind = 'r'
order by 1`,
  )

  it.live.each([
    ["users", ["create table theirs.users (id int)", "create view theirs.all_users as select 1"]],
    // Like that of Rails.
    ["schema_migrations", ["create table theirs.schema_migrations (version text primary key)"]],
  ] as const)("is refused with the tables' names, and nothing is written there: %s", ([table, statements]) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create schema theirs`
      for (const statement of statements) yield* sql.unsafe(statement)
      for (const message of yield* refusals) {
        assert.include(message, `the schema "theirs" has tables that are not Billwright's (${table}`)
      }
      assert.deepStrictEqual(yield* tables, [{ name: table }])
    }).pipe(withDatabase),
  )

  it.live("is accepted when it contains only what an extension brought", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create schema theirs`
      yield* sql`create extension pg_stat_statements schema theirs`
      yield* Migrations.run({ schema: "theirs" })
    }).pipe(withDatabase),
  )
})

describe("layerStorage", () => {
  const build = (options: Storage.StorageOptions = {}) =>
    Effect.scoped(Layer.build(Storage.layerStorage(options)))

  it.live("refuses a database without our tables, and runs no DDL", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(build())
      assert.strictEqual(error._tag, "IncompatibleSchema")
      assert.include(error.message, "npx @billwright/cli migrate --store postgres")
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`select 1 from pg_namespace where nspname = 'billwright'`, [])
    }).pipe(withDatabase),
  )

  it.live("refuses a schema that lacks a migration", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Migrations.run()
      yield* sql`delete from billwright.schema_migrations where id = ${Migrations.latestId}`
      const error = yield* Effect.flip(build())
      assert.instanceOf(error, Migrations.IncompatibleSchema)
      assert.strictEqual(error.found, Migrations.latestId - 1)
      const later = new Migrations.IncompatibleSchema({ ...error, found: 1, known: 2, minReader: 1 })
      assert.include(later.message, "has migration 1, and this release needs 2. Run")
    }).pipe(withDatabase),
  )

  it.live("works with a newer schema that only added, and refuses one that breaks it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Migrations.run()
      const newer = Migrations.latestId + 1
      yield* sql`insert into billwright.schema_migrations (id, name, min_reader) values (${newer}, 'addition', 1)`
      yield* build()
      yield* Migrations.run()
      yield* sql`update billwright.schema_migrations set min_reader = ${newer} where id = ${newer}`
      for (const refused of [Effect.asVoid(build()), Effect.asVoid(Migrations.run())]) {
        const error = yield* Effect.flip(refused)
        assert.strictEqual(error._tag, "IncompatibleSchema")
        assert.include(error.message, "Upgrade this process")
      }
    }).pipe(withDatabase),
  )
})

/** As `schema_migrations` was before the first release, when there were up to 12 migrations and other functions. */
describe("a schema of a pre-release", () => {
  it.live.each([1, 12])("with %s migrations is refused, with what to do, and left as it is", (count) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create schema billwright`
      yield* sql`create table billwright.schema_migrations
(id integer primary key, name text not null, min_reader integer not null,
  applied_at timestamptz(3) not null default clock_timestamp())`
      yield* sql`insert into billwright.schema_migrations (id, name, min_reader)
select id, 'tables', id from generate_series(1, ${count}::integer) as id`
      const attempts = [
        Effect.asVoid(Migrations.run()),
        Migrations.check(),
        Effect.asVoid(Effect.scoped(Layer.build(Storage.layerStorage()))),
      ]
      for (const attempt of attempts) {
        const error = yield* Effect.flip(attempt)
        assert.strictEqual(
          error.message,
          `the schema "billwright" was made by a pre-release of Billwright, whose migrations were replaced before the first release, so it can't be migrated. Use a schema of another name, or drop it if you don't need its data: drop schema "billwright" cascade`,
        )
      }
      const tables =
        yield* sql`select 1 from pg_class where relnamespace = 'billwright'::regnamespace and relkind = 'r'`
      assert.lengthOf(tables, 1)
    }).pipe(withDatabase),
  )
})

/** The functions, each with the transaction that last wrote it. */
const written = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ name: string; xmin: string }>`select proname::text as name, xmin::text from pg_proc
where pronamespace = 'billwright'::regnamespace order by 1`,
)

describe("functions", () => {
  it.live("are rewritten only where their text differs", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Migrations.run()
      const fresh = yield* introspect("billwright")
      yield* sql`grant execute on function billwright.offset_id to pg_monitor`
      yield* disturb
      const before = yield* written
      const applied = yield* Migrations.run()
      assert.deepStrictEqual(applied, { migrations: [], functions: DISTURBED })
      const after = yield* written
      const changed = after.filter(({ xmin }, index) => xmin !== before[index]!.xmin)
      assert.deepStrictEqual(
        changed.map(({ name }) => name),
        DISTURBED,
      )
      assert.deepStrictEqual(yield* introspect("billwright"), fresh)
      // Grants stay.
      const granted = yield* sql`select 1 from pg_proc where oid = 'billwright.offset_id'::regproc
and proacl::text like '%pg_monitor=X%'`
      assert.lengthOf(granted, 1)
      assert.deepStrictEqual(yield* Migrations.run(), nothing)
    }).pipe(withDatabase),
  )

  it.live("are right when many processes start at once", () =>
    Effect.gen(function* () {
      const url = Redacted.make(yield* TestDatabase.empty)
      const process = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
        Effect.scoped(Effect.provide(effect, PostgresClient.layer({ url, poolSize: 1 })))
      yield* process(Effect.andThen(Migrations.run(), disturb))
      const runs = yield* Effect.all(
        Array.from({ length: 4 }, () => process(Migrations.run())),
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(runs.flatMap(({ functions }) => functions).toSorted(), DISTURBED)
    }).pipe(Effect.scoped),
  )

  it.live("of a newer release stay, and this release works with them", () =>
    Effect.gen(function* () {
      yield* Migrations.run()
      for (const newer of ["0.0.1", "0.10.0", "10.0.0-beta.1"]) {
        yield* disturb
        yield* ofRelease(newer)
        const before = yield* written
        assert.deepStrictEqual(yield* Migrations.run(), nothing, newer)
        yield* Migrations.check()
        assert.deepStrictEqual(yield* written, before, newer)
      }
    }).pipe(withDatabase),
  )

  it.live("of an older release are refused by `check`, and rewritten by `run`", () =>
    Effect.gen(function* () {
      yield* Migrations.run()
      yield* disturb
      const error = yield* Effect.flip(Migrations.check())
      assert.strictEqual(error._tag, "IncompatibleSchema")
      assert.include(error.message, "has functions of an older release (offset_id, void_usage). Run `npx")
      assert.deepStrictEqual((yield* Migrations.run()).functions, DISTURBED)
      yield* Migrations.check()
    }).pipe(withDatabase),
  )

  it.live("are stamped by each release that migrates, even if none of them changed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Migrations.run()
      yield* ofRelease("0.0.0-beta.1")
      yield* sql`insert into billwright.schema_functions values ('gone', 'x', '0.0.0')`
      const before = yield* written
      assert.deepStrictEqual(yield* Migrations.run(), nothing)
      assert.deepStrictEqual(yield* written, before)
      const releases = yield* sql`select distinct release from billwright.schema_functions`
      assert.deepStrictEqual(releases, [{ release: packageJson.version }])
      assert.lengthOf(yield* sql`select from billwright.schema_functions where name = 'gone'`, 0)
    }).pipe(withDatabase),
  )

  it.live("are all written together with the tables, or none", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // A function of somebody else that ours can't replace, because its result type differs.
      yield* sql`create schema billwright`
      yield* sql`create function billwright.format_id(p_prefix text, p_uuid uuid) returns integer language sql as 'select 1'`
      const error = yield* Effect.flip(Migrations.run())
      assert.strictEqual(error._tag, "StorageError")
      const tables = yield* sql`select from pg_class where relnamespace = 'billwright'::regnamespace`
      assert.lengthOf(tables, 0)
    }).pipe(withDatabase),
  )
})
