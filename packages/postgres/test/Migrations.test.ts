import { Billing, Customers } from "@billwright/core"
import { Migrations, PostgresClient, Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect } from "vitest"
import { introspect } from "./SchemaManifest.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const withDatabase = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.provide(effect, TestDatabase.layerClient()))

describe("Migrations", () => {
  it.live("bring an empty database up to date, once", () =>
    Effect.gen(function* () {
      const names = Migrations.migrations.map(({ name }) => name)
      assert.deepStrictEqual(yield* Migrations.run(), names)
      assert.deepStrictEqual(yield* Migrations.run(), [])
      yield* Migrations.check()
    }).pipe(withDatabase),
  )

  it.live("numbers them 1, 2, 3, and readers never know less than a migration needs", () =>
    Effect.sync(() => {
      let minReader = 1
      for (const [index, migration] of Migrations.migrations.entries()) {
        assert.strictEqual(migration.id, index + 1)
        assert.isAtLeast(migration.minReader, minReader)
        assert.isAtMost(migration.minReader, migration.id)
        minReader = migration.minReader
      }
    }),
  )

  it.live("can run in many processes at once: each has clients of its own", () =>
    Effect.gen(function* () {
      const url = Redacted.make(yield* TestDatabase.make)
      const process = Effect.scoped(
        Effect.provide(Migrations.run(), PostgresClient.layer({ url, poolSize: 1 })),
      )
      const applied = yield* Effect.all(
        Array.from({ length: 6 }, () => process),
        { concurrency: "unbounded" },
      )
      const all = applied.flat().sort()
      assert.deepStrictEqual(all, Migrations.migrations.map(({ name }) => name).sort())
    }).pipe(Effect.scoped),
  )

  it.live("print what they run: psql makes the same schema of it", () =>
    Effect.gen(function* () {
      const printed = yield* TestDatabase.make
      yield* Effect.promise(() => TestDatabase.execute(printed, Migrations.print()))
      const run = yield* TestDatabase.make
      const manifest = (url: string) =>
        Effect.scoped(
          Effect.provide(introspect("billwright"), PostgresClient.layer({ url: Redacted.make(url) })),
        )
      yield* Effect.provide(Migrations.run(), PostgresClient.layer({ url: Redacted.make(run) }))
      assert.deepStrictEqual(yield* manifest(printed), yield* manifest(run))
      // The rest of a database that has some of them already.
      assert.notInclude(Migrations.print({ after: 2 }), "create schema")
      assert.strictEqual(Migrations.print({ after: Migrations.latestId }), "")
    }).pipe(Effect.scoped),
  )

  it("make the schema that is written down in schema.json", async () => {
    const introspected = Effect.andThen(Migrations.run(), introspect("billwright"))
    const manifest = await Effect.runPromise(withDatabase(introspected))
    await expect(`${JSON.stringify(manifest, undefined, 2)}\n`).toMatchFileSnapshot("../schema.json")
  })

  it.live("let no function look for names in the path of its caller", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Migrations.run()
      const others = sql<{ name: string }>`select oid::regprocedure::text as name from pg_proc
where pronamespace = 'billwright'::regnamespace
  and array['search_path=pg_catalog, pg_temp'] <@ proconfig is not true`
      assert.deepStrictEqual(yield* others, [])
      // Databases of before.
      yield* sql.unsafe(`do $$ declare f regprocedure; begin
  for f in select oid::regprocedure from pg_proc where pronamespace = 'billwright'::regnamespace loop
    execute format('alter function %s reset search_path', f);
  end loop; end $$`)
      yield* sql`delete from billwright.schema_migrations where id >= 12`
      assert.isAbove((yield* others).length, 20)
      yield* Migrations.run()
      assert.deepStrictEqual(yield* others, [])
    }).pipe(withDatabase),
  )

  it.live("call nothing that somebody else has put into the path", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const storage = Billing.layer.pipe(Layer.provideMerge(Storage.layer()))
      const customer = yield* Effect.provide(
        asTenant(Effect.flatMap(Customers, ({ create }) => create({ name: "A", email: "a@b.example" }))),
        storage,
      )
      // Each fits better than what Postgres has, or comes before it in the path.
      yield* sql`create schema trap`
      for (const [declared, result] of [
        ["char_length(text)", "integer"],
        ["date_trunc(text, timestamptz)", "timestamptz"],
        ["to_char(timestamp, text)", "text"],
        ["substr(text, integer, integer)", "text"],
        ["jsonb_build_object(variadic text[])", "jsonb"],
        ["clock_timestamp()", "timestamptz"],
      ] as const) {
        yield* sql.unsafe(`create function trap.${declared} returns ${result} language plpgsql as $$
begin raise exception 'called'; end $$`)
      }
      const trapped = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        sql.withTransaction(Effect.andThen(sql`set local search_path = trap, pg_catalog`, effect))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(trapped(sql`select clock_timestamp()`))))
      yield* trapped(sql`select billwright.record_usage('default', 'live', ${customer.id}, 'api', 3, 'call')`)
      yield* trapped(
        sql`select billwright.publish_event('default', 'live', 'order.placed', '{"order_id": "17"}', ${customer.id})`,
      )
      assert.lengthOf(yield* sql`select id from billwright.events`, 1)
    }).pipe(withDatabase),
  )

  it.live("leave the tables of usage fit to be distributed by customer", () =>
    Effect.gen(function* () {
      yield* Migrations.run()
      const sql = yield* SqlClient.SqlClient
      // Citus takes no unique key without the column of the distribution, and no reference from or to other tables.
      const keys = yield* sql<{ table: string; columns: ReadonlyArray<string> }>`
select i.indrelid::regclass::text as table, array(
  select a.attname::text from unnest(i.indkey::int2[]) with ordinality as k (number, position)
  join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number order by k.position
) as columns
from pg_index i where i.indisunique
  and i.indrelid in ('billwright.usage_records'::regclass, 'billwright.usage_daily'::regclass)`
      assert.lengthOf(keys, 3)
      for (const { columns, table } of keys) {
        assert.deepStrictEqual(columns.slice(0, 3), ["account_id", "mode", "customer_id"], table)
      }
      const references = yield* sql`select conname from pg_constraint where contype = 'f'
  and ('billwright.usage_records'::regclass in (conrelid, confrelid)
    or 'billwright.usage_daily'::regclass in (conrelid, confrelid))`
      assert.deepStrictEqual(references, [])
    }).pipe(withDatabase),
  )

  it.live("work in a schema of another name, and leave others alone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const options = { schema: "metering" }
      yield* Migrations.run(options)
      const schemas = yield* sql`select nspname from pg_namespace where nspname in ('metering', 'billwright')`
      assert.deepStrictEqual(schemas, [{ nspname: "metering" }])
      const storage = Billing.layer.pipe(Layer.provideMerge(Storage.layerStorage(options)))
      const created = Effect.flatMap(Customers, (customers) => customers.create({ name: "A", email: "a@b" }))
      yield* Effect.provide(asTenant(created), storage)
      assert.strictEqual((yield* sql`select 1 from metering.customers`).length, 1)
    }).pipe(withDatabase),
  )

  it.live("warn of a user that is called like the schema, whose own names would mean our tables", () =>
    Effect.gen(function* () {
      const logs: Array<unknown> = []
      const logger = Logger.make<unknown, void>(({ message }) => void logs.push(message))
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ user: string }>`select current_user::text as user`
      const schema = row?.user ?? ""
      const migrated = (options: { readonly schema?: string }) =>
        Effect.provide(Migrations.run(options), Logger.layer([logger]))
      yield* migrated({})
      assert.deepStrictEqual(logs, [])
      yield* migrated({ schema })
      assert.include(String(logs), `the database user "${schema}" is called like the schema`)
      assert.deepStrictEqual(yield* sql`select to_regclass('customers')::text as ours`, [
        { ours: "customers" },
      ])
      yield* sql`set search_path = public`
      logs.length = 0
      yield* Migrations.check({ schema }).pipe(Effect.provide(Logger.layer([logger])))
      assert.deepStrictEqual(logs, [])
    }).pipe(Effect.provide(TestDatabase.layerClient({ poolSize: 1 })), Effect.scoped),
  )

  it.live("refuse a name that isn't one", () =>
    Effect.gen(function* () {
      for (const schema of ["", "Billing", "a b", 'a"; drop table x; --', "pg_catalog", "x".repeat(64)]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(Migrations.run({ schema }))), schema)
      }
    }).pipe(withDatabase),
  )
})

describe("a schema of somebody else's", () => {
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
    // As Rails has it.
    ["schema_migrations", ["create table theirs.schema_migrations (version text primary key)"]],
  ] as const)("is refused by name, and nothing is written there: %s", ([table, statements]) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create schema theirs`
      for (const statement of statements) yield* sql.unsafe(statement)
      for (const message of yield* refusals) {
        assert.include(message, `the schema "theirs" holds tables of somebody else's (${table}`)
      }
      assert.deepStrictEqual(yield* tables, [{ name: table }])
    }).pipe(withDatabase),
  )

  it.live("is none where there is nothing but what an extension brought", () =>
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
      assert.include(error.message, `has migration ${Migrations.latestId - 1}, and this release needs`)
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

describe("each migration", () => {
  // What it must find and what it must leave, on a database with rows in it. A new migration adds a line here.
  const steps: ReadonlyArray<{ readonly id: number; readonly before: string; readonly after: string }> = [
    {
      id: 1,
      before: "to_regclass('billwright.customers') is null",
      after: "to_regclass('billwright.usage_daily') is not null",
    },
    {
      id: 2,
      before: "to_regproc('billwright.append_usage') is null",
      after: "(select count(*) = 1 from billwright.customers)",
    },
    {
      id: 3,
      before: "to_regproc('billwright.record_usage') is null",
      after: "to_regproc('billwright.record_usage') is not null",
    },
    {
      id: 4,
      before: "to_regclass('billwright.events') is null",
      after:
        "(select count(*) = 0 from billwright.webhook_deliveries) and (select count(*) = 1 from billwright.customers)",
    },
    {
      id: 5,
      before:
        "to_regproc('billwright.publish_event') is null and to_regproc('billwright.fire_thresholds') is not null",
      after:
        "(select prosrc like '%usage.threshold%' from pg_proc where oid = 'billwright.fire_thresholds'::regproc)",
    },
    {
      id: 6,
      before: "to_regproc('billwright.customer_search_keys') is null",
      after: "(select search_text = 'a' || chr(10) || 'a@b' from billwright.customers)",
    },
    {
      id: 7,
      before: `not exists (select from pg_attribute
  where attrelid = 'billwright.events'::regclass and attname = 'endpoint_id')`,
      after: "(select endpoint_id is null and type = 'invoice.paid' from billwright.events)",
    },
    {
      id: 8,
      // A database of today has them as they are since then; one of before gets them.
      before: "to_regproc('billwright.settle_deliveries') is not null",
      after:
        "(select 'jit=off' = any (proconfig) from pg_proc where oid = 'billwright.settle_deliveries'::regproc)",
    },
    {
      id: 9,
      before: "to_regproc('billwright.settle_deliveries') is not null",
      // Replacing a function takes what was set for it away.
      after: `(select ('enable_sort=off' = any (proconfig)) = (current_setting('server_version_num')::integer >= 180000)
  from pg_proc where oid = 'billwright.settle_deliveries'::regproc)`,
    },
    {
      id: 10,
      before: "to_regproc('billwright.is_impossible_instant') is null",
      after:
        "(select prosrc like '%is_impossible_instant%' from pg_proc where oid = 'billwright.publish_event'::regproc)",
    },
    {
      id: 11,
      before: "to_regclass('billwright.webhook_pending_tenant_due') is null",
      // One function of the name: that of before is gone.
      after: `to_regclass('billwright.webhook_pending_tenant_due') is not null
  and (select pronargs = 14 from pg_proc where proname = 'claim_deliveries')`,
    },
    {
      id: 12,
      before: "to_regproc('billwright.record_usage') is not null",
      after: `(select 'search_path=pg_catalog, pg_temp' = any (proconfig) from pg_proc
  where oid = 'billwright.record_usage'::regproc)`,
    },
  ]

  it.live("has a step here and keeps what is stored", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const holds = (condition: string) =>
        Effect.map(sql.unsafe(`select 1 where ${condition}`), (rows) => rows.length === 1)
      assert.deepStrictEqual(
        steps.map(({ id }) => id),
        Migrations.migrations.map(({ id }) => id),
      )
      yield* sql`create schema billwright`
      for (const { after, before, id } of steps) {
        assert.isTrue(yield* holds(before), `before ${id}`)
        const migration = Migrations.migrations[id - 1]!
        for (const statement of migration.statements("billwright" as never)) yield* sql.unsafe(statement)
        if (id === 1) {
          yield* sql`insert into billwright.customers (account_id, mode, id, name, email, metadata, created_at, updated_at)
values ('default', 'live', gen_random_uuid(), 'A', 'a@b', '{}', now(), now())`
        }
        if (id === 5) {
          yield* sql`insert into billwright.events (account_id, mode, id, type, occurred_at, payload)
values ('default', 'live', gen_random_uuid(), 'invoice.paid', now(), '{"data":{}}')`
        }
        assert.isTrue(yield* holds(after), `after ${id}`)
      }
    }).pipe(withDatabase),
  )
})
