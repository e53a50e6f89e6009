/**
 * Row-level security by tenant: what a statement sees that forgets to name its tenant. `RowSecurityContract.test.ts` has the
 * contracts.
 */
import { Billing, CurrentTenant, Customers, Tenant, Transactor, Usage } from "@billwright/core"
import { Host, Migrations, PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { Client } from "pg"
import * as Logins from "./Logins.ts"
import * as Proxy from "./Proxy.ts"
import * as TestDatabase from "./TestDatabase.ts"

const live: Tenant.Tenant = { accountId: Tenant.AccountId.make("a"), mode: "live" }
const test: Tenant.Tenant = { accountId: Tenant.AccountId.make("a"), mode: "test" }
const other: Tenant.Tenant = { accountId: Tenant.AccountId.make("b"), mode: "live" }
const as = (tenant: Tenant.Tenant) => Effect.provideService(CurrentTenant, tenant)

const INSUFFICIENT_PRIVILEGE = "42501"

const rowsOf = async <A>(client: Client, statement: string, ...values: ReadonlyArray<unknown>) =>
  (await client.query(statement, [...values])).rows as ReadonlyArray<A>

const count = async (client: Client, table: string): Promise<number> =>
  (await rowsOf<{ n: number }>(client, `select count(*)::int as n from ${table}`))[0]!.n

/** Runs in a transaction that says whose rows it is about, and rolls back. */
const saying = async <A>(client: Client, tenant: string, act: () => Promise<A>): Promise<A> => {
  await client.query("begin")
  await client.query("select set_config('billwright.tenant', $1, true)", [tenant])
  try {
    return await act()
  } finally {
    await client.query("rollback")
  }
}

interface Table {
  readonly name: string
  /** Values for the columns of its primary key after the tenant. */
  readonly columns: ReadonlyArray<string>
  readonly values: ReadonlyArray<string>
}

const VALUES: Readonly<Record<string, string>> = {
  uuid: "gen_random_uuid()",
  text: "'x'",
  "text[]": "'{x}'",
  "integer[]": "'{1}'",
  jsonb: "'{}'",
  boolean: "true",
  smallint: "1",
  numeric: "1",
  date: "'2026-01-01'",
  integer: "1",
  bigint: "1",
  bytea: "'x'",
  "timestamp with time zone": "'2026-01-01'",
}

/** The tables with a tenant, without the rules for their rows, which are none of the policies' business. */
const tablesWithoutRules = async (superuser: Client, schema: string): Promise<ReadonlyArray<Table>> => {
  const rules = await rowsOf<{ statement: string }>(
    superuser,
    `select format('alter table %s alter column %I drop expression', a.attrelid::regclass, a.attname) as statement
from pg_attribute a join pg_class c on c.oid = a.attrelid
where c.relnamespace = $1::regnamespace and c.relkind = 'r' and a.attgenerated <> ''
union all
select format('alter table %s drop constraint %I', conrelid::regclass, conname) from pg_constraint
where connamespace = $1::regnamespace and contype in ('c', 'f')
union all
select format('alter table %s alter column %I drop not null', a.attrelid::regclass, a.attname)
from pg_attribute a join pg_class c on c.oid = a.attrelid
where c.relnamespace = $1::regnamespace and c.relkind = 'r' and a.attnum > 0 and a.attnotnull
  and a.attnum <> all ((select i.indkey from pg_index i where i.indrelid = c.oid and i.indisprimary)::int2[])
union all
select format('alter table %s disable trigger all', c.oid::regclass) from pg_class c
where c.relnamespace = $1::regnamespace and c.relkind = 'r'`,
    schema,
  )
  for (const { statement } of rules) await superuser.query(statement)
  const tables = await rowsOf<{ name: string; columns: Array<string>; types: Array<string> }>(
    superuser,
    `select c.oid::regclass::text as name, array_agg(a.attname::text order by a.attnum) as columns,
  array_agg(format_type(a.atttypid, a.atttypmod) order by a.attnum) as types
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and a.attnotnull and not a.attisdropped
  and not a.atthasdef and a.attname not in ('account_id', 'mode')
  and a.attnum = any ((select i.indkey from pg_index i where i.indrelid = c.oid and i.indisprimary)::int2[])
where c.relnamespace = $1::regnamespace and c.relkind = 'r'
  and exists (select from pg_attribute t where t.attrelid = c.oid and t.attname = 'account_id')
group by c.oid`,
    schema,
  )
  return tables.map(({ columns, name, types }) => ({
    name,
    columns,
    values: types.map(
      (type) => VALUES[type.replace(/\(.*\)/, "")] ?? assert.fail(`no value of the type ${type}`),
    ),
  }))
}

const insertion = ({ columns, name, values }: Table, { accountId, mode }: Tenant.Tenant): string =>
  `insert into ${name} (${["account_id", "mode", ...columns].join(", ")})
values (${[`'${accountId}'`, `'${mode}'`, ...values].join(", ")})`

const services = ({ schema, url }: Logins.Login, options: Partial<PostgresClient.ClientOptions> = {}) =>
  Billing.layer.pipe(
    Layer.provideMerge(Storage.layerStorage({ schema })),
    Layer.provideMerge(PostgresClient.layer({ url: Redacted.make(url), ...options })),
  )

const ada = { name: "Ada", email: "ada@example.com" }

describe("row-level security", () => {
  it.live("shows of every table the rows of the tenant that a transaction names, and none without one", () =>
    Effect.gen(function* () {
      const { login, schema, superuser: of } = yield* Logins.secured
      const superuser = yield* TestDatabase.administrator(of.url)
      const app = yield* TestDatabase.administrator((yield* login("app")).url)
      yield* Effect.promise(async () => {
        const tables = await tablesWithoutRules(superuser, schema)
        const all = await rowsOf<{ name: string }>(
          superuser,
          `select relname as name from pg_class c where relnamespace = $1::regnamespace and relkind in ('r', 'p')
  and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id')`,
          schema,
        )
        assert.isAbove(tables.length, 45)
        assert.strictEqual(tables.length, all.length, "every table with a tenant")
        for (const table of tables) {
          for (const tenant of [live, test, other]) await superuser.query(insertion(table, tenant))
          const { name } = table
          assert.strictEqual(await count(app, name), 0, `${name}: before any setting`)
          for (const tenant of ["a/live", "a/test", "b/live"]) {
            const seen = await saying(app, tenant, () =>
              rowsOf<{ tenant: string }>(app, `select account_id || '/' || mode as tenant from ${name}`),
            )
            assert.deepStrictEqual(seen, [{ tenant }], name)
          }
          for (const tenant of ["", "a", "a/", "/live", "live/a", "b/test", "*/*"])
            assert.strictEqual(await saying(app, tenant, () => count(app, name)), 0, `${name}: ${tenant}`)
          assert.strictEqual(await saying(app, "*", () => count(app, name)), 3, name)
          assert.strictEqual(await count(app, name), 0, `${name}: after a transaction`)
        }
      })
    }).pipe(Effect.scoped),
  )

  it.live("lets a statement without a where change only its tenant's rows, and add none to others", () =>
    Effect.gen(function* () {
      const { login, schema, superuser: of } = yield* Logins.secured
      const superuser = yield* TestDatabase.administrator(of.url)
      const appLogin = yield* login("app")
      const app = yield* TestDatabase.administrator(appLogin.url)
      yield* Effect.promise(async () => {
        for (const table of await tablesWithoutRules(superuser, schema)) {
          const { name } = table
          for (const tenant of [live, other]) await superuser.query(insertion(table, tenant))
          const mayInsert = await rowsOf<{ may: boolean }>(
            superuser,
            "select has_table_privilege($1, $2, 'insert') as may",
            `${schema}_app`,
            name,
          )
          if (mayInsert[0]!.may) {
            const adding = saying(app, "a/live", () => app.query(insertion(table, other)))
            const code = await adding.then(
              () => undefined,
              (error: unknown) => (error as { readonly code?: string }).code,
            )
            assert.strictEqual(code, INSUFFICIENT_PRIVILEGE, name)
          }
        }
        // The policies hold whatever a role may do.
        await superuser.query(`grant update, delete on all tables in schema ${schema} to ${schema}_app`)
        for (const table of await tablesWithoutRules(superuser, schema)) {
          await superuser.query("begin")
          await superuser.query(`set local role ${schema}_app`)
          await superuser.query("select set_config('billwright.tenant', 'a/live', true)")
          const changed = await superuser.query(`update ${table.name} set mode = mode`)
          assert.strictEqual(changed.rowCount, 1, table.name)
          const removed = await superuser.query(`delete from ${table.name}`)
          assert.strictEqual(removed.rowCount, 1, table.name)
          await superuser.query("rollback")
        }
      })
    }).pipe(Effect.scoped),
  )

  it.live("holds in views, for readers and for logins of the owner", () =>
    Effect.gen(function* () {
      const made = yield* Logins.secured
      const { schema } = made
      const superuser = yield* TestDatabase.administrator(made.superuser.url)
      const reader = yield* TestDatabase.administrator((yield* made.login("reader")).url)
      const owner = yield* TestDatabase.administrator(made.owner.url)
      yield* Effect.promise(async () => {
        const tables = await tablesWithoutRules(superuser, schema)
        for (const table of tables)
          for (const tenant of [live, other]) await superuser.query(insertion(table, tenant))
        const views = await rowsOf<{ name: string }>(
          superuser,
          "select oid::regclass::text as name from pg_class where relnamespace = $1::regnamespace and relkind = 'v'",
          schema,
        )
        const seen: Array<string> = []
        for (const { name } of views) {
          // A view has the policies of its owner, also when a superuser reads it.
          assert.strictEqual(await count(superuser, name), 0, name)
          const all = await saying(superuser, "*", () => count(superuser, name))
          const isReaders = await rowsOf<{ may: boolean }>(
            superuser,
            "select has_table_privilege($1, $2, 'select') as may",
            `${schema}_reader`,
            name,
          )
          for (const client of isReaders[0]!.may ? [reader, owner] : [owner]) {
            assert.strictEqual(await count(client, name), 0, name)
            const own = await saying(client, "a/live", () => count(client, name))
            assert.strictEqual(own * 2, all, name)
            assert.strictEqual(await saying(client, "*", () => count(client, name)), all, name)
          }
          if (all > 0) seen.push(name.replace(`${schema}.`, ""))
        }
        assert.includeMembers(seen, [
          "invoices",
          "invoice_lines",
          "payments",
          "subscriptions",
          "webhook_deliveries",
        ])
        assert.strictEqual(await count(owner, `${schema}.customers`), 0)
      })
    }).pipe(Effect.scoped),
  )

  it.live("lets the functions for SQL work for the tenant of their arguments", () =>
    Effect.gen(function* () {
      const made = yield* Logins.secured
      const [app, recorder] = [yield* made.login("app"), yield* made.login("recorder")]
      const { id } = yield* as(live)(Effect.flatMap(Customers, ({ create }) => create(ada))).pipe(
        Effect.provide(services(app)),
      )
      const record = (account: string) =>
        `select ${made.schema}.record_usage('${account}', 'live', '${id}', 'api', 3, 'call')`
      assert.isUndefined(yield* Logins.refusal(recorder.url, record("a")))
      assert.strictEqual(yield* Logins.refusal(recorder.url, record("b")), "BW404")
      const publish = `select ${made.schema}.publish_event('a', 'live', 'order.placed', '{"id": "1"}', '${id}')`
      assert.isUndefined(yield* Logins.refusal(app.url, publish))
      // The setting of the caller is as it was.
      const client = yield* TestDatabase.administrator(app.url)
      yield* Effect.promise(async () => {
        await saying(client, "b/live", async () => {
          await client.query(record("a"))
          assert.strictEqual(await count(client, `${made.schema}.usage_records`), 0)
        })
      })
    }).pipe(Effect.scoped),
  )

  it.live("holds for each statement of a transaction with several tenants, savepoints and a host's own", () =>
    Effect.gen(function* () {
      const made = yield* Logins.secured
      const app = yield* made.login("app")
      const host = yield* TestDatabase.administrator(app.url)
      const create = Effect.flatMap(Customers, (customers) => customers.create(ada))
      const listed = Effect.flatMap(Customers, (customers) =>
        Effect.map(customers.list({}), ({ data }) => data.length),
      )
      yield* Effect.gen(function* () {
        const { atomically } = yield* Transactor
        const steps = Effect.gen(function* () {
          yield* as(live)(create)
          yield* as(test)(create)
          yield* as(other)(create)
          // The savepoint takes back what was said in it.
          const undone = atomically(Effect.andThen(as(test)(create), Effect.fail("undone")))
          assert.isTrue(Exit.isFailure(yield* Effect.exit(undone)))
          assert.strictEqual(yield* as(test)(listed), 1)
          assert.strictEqual(yield* as(other)(listed), 1)
          yield* atomically(as(test)(create))
          assert.strictEqual(yield* as(other)(listed), 1)
          // Side by side on one connection.
          const both = [live, test, other].flatMap((tenant) => [as(tenant)(listed), as(tenant)(create)])
          yield* Effect.all(both, { concurrency: "unbounded" })
          return yield* Effect.forEach([live, test, other], (tenant) => as(tenant)(listed))
        })
        assert.deepStrictEqual(yield* atomically(steps), [2, 3, 2])
        yield* Effect.promise(() => host.query("begin"))
        const { id } = yield* as(live)(create).pipe(Host.joining(host))
        const used = Effect.flatMap(Usage, (usage) =>
          usage.record({ customerId: id, productId: "api", quantity: 5, unit: "call" }),
        )
        yield* as(live)(used).pipe(Host.joining(host))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(as(other)(used).pipe(Host.joining(host)))))
        yield* Effect.promise(() => host.query("commit"))
        assert.strictEqual(yield* as(live)(listed), 3)
      }).pipe(Effect.provide(services(app)))
    }).pipe(Effect.scoped),
  )

  it.live(
    "stores a record once, and reads, when the connection is lost in a transaction of one statement",
    () =>
      Effect.gen(function* () {
        const made = yield* Logins.secured
        const app = yield* made.login("app")
        const proxy = yield* Proxy.make(app.url)
        // The proxy finds statements by their text, which prepared ones send once only.
        yield* Effect.gen(function* () {
          const usage = yield* Usage
          const { id: customerId } = yield* Effect.flatMap(Customers, ({ create }) => create(ada))
          const record = usage.record({ customerId, productId: "api", quantity: 5, unit: "call" })
          const summary = Effect.map(usage.summary({ customerId }), ({ totalQuantity }) => totalQuantity)
          let total = 0n
          for (const fault of ["cut before", "cut answer"] as const) {
            proxy.commit = fault
            yield* record
            assert.strictEqual(proxy.commit, "pass", "it happened")
            assert.strictEqual(yield* summary, (total += 5n), fault)
            proxy.commit = fault
            assert.strictEqual(yield* summary, total, fault)
            assert.strictEqual(proxy.commit, "pass", "it happened")
          }
          for (const lost of ["append_usage", "billwright.tenant"]) {
            proxy.loseAnswerTo = lost
            yield* record
            assert.isUndefined(proxy.loseAnswerTo, "it happened")
            assert.strictEqual(yield* summary, (total += 5n), lost)
          }
        }).pipe(as(live), Effect.provide(services({ ...app, url: proxy.url }, { isPooled: true })))
      }).pipe(Effect.scoped),
  )

  it.live("stays on for what later migrations make, and can be turned off", () =>
    Effect.gen(function* () {
      const made = yield* Logins.secured
      const { owner, schema } = made
      const app = yield* made.login("app")
      const layer = PostgresClient.layer({ url: Redacted.make(owner.url) })
      const secured = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql<{ n: number; policies: number }>`select count(*)::int as n,
  (select count(*)::int from pg_policies where schemaname = ${schema}) as policies
from pg_class where relnamespace = ${schema}::regnamespace and relrowsecurity and relforcerowsecurity`
        return row!
      }).pipe(Effect.provide(layer))
      const before = yield* secured
      assert.isAbove(before.n, 45)
      assert.strictEqual(before.policies, before.n)
      // As if these were new.
      yield* Effect.promise(() =>
        TestDatabase.execute(
          owner.url,
          `drop policy billwright_tenant on ${schema}.coupons`,
          `alter table ${schema}.coupons disable row level security, no force row level security`,
          `update ${schema}.schema_functions set digest = 'old' where name = 'record_usage'`,
        ),
      )
      yield* Effect.provide(Migrations.run({ schema }), layer)
      assert.deepStrictEqual(yield* secured, before)
      yield* Effect.provide(Migrations.run({ schema, roles: true, rowLevelSecurity: false }), layer)
      assert.deepStrictEqual(yield* secured, { n: 0, policies: 0 })
      const { id } = yield* as(live)(Effect.flatMap(Customers, ({ create }) => create(ada))).pipe(
        Effect.provide(services(app)),
      )
      const found = yield* Effect.promise(() =>
        TestDatabase.execute(app.url, `do $$ begin assert exists (select from ${schema}.customers); end $$`),
      )
      assert.isUndefined(found, id)
      yield* Effect.provide(Migrations.run({ schema, roles: true, rowLevelSecurity: true }), layer)
      assert.deepStrictEqual(yield* secured, before)
    }).pipe(Effect.scoped),
  )

  it("needs roles", () => {
    assert.throws(() => Migrations.print({ rowLevelSecurity: true }), /needs roles/)
    assert.throws(() => Migrations.print({ rowLevelSecurity: false }), /needs roles/)
  })
})
