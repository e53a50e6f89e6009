/**
 * The roles that `Migrations.run({ roles: true })` makes: what each must do works, and what it must not do is refused.
 */
import {
  ApiKeys,
  Billing,
  Credits,
  Customers,
  Deliveries,
  Dispatcher,
  Endpoints,
  Events,
  Holds,
  Id,
  Idempotency,
  Meters,
  Plans,
  Retention,
  Thresholds,
  Transactor,
  Usage,
} from "@billwright/core"
import { Migrations, PostgresClient, Storage } from "@billwright/postgres"
import { Receiver, ScriptedReceivers } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Privileges from "../src/roles/Privileges.ts"
import * as Logins from "./Logins.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const INSUFFICIENT_PRIVILEGE = "42501"

const RECEIVER = "https://receiver.example.com/hooks"

/** Everything that an application does, except for making keys. */
const everything = Effect.gen(function* () {
  const customers = yield* Customers
  const usage = yield* Usage
  const thresholds = yield* Thresholds
  const endpoints = yield* Endpoints
  const events = yield* Events
  const deliveries = yield* Deliveries
  yield* (yield* ScriptedReceivers).script(RECEIVER, Receiver.answers(200))
  const { id: customerId } = yield* customers.create({ name: "Ada", email: "ada@example.com" })
  yield* customers.update(customerId, { name: "Ada King" })
  const { endpoint } = yield* endpoints.create({ url: RECEIVER, eventTypes: ["*"] })
  yield* endpoints.rotateSecret(endpoint.id)
  const meter = { customerId, productId: "api", unit: "call" }
  const threshold = yield* thresholds.create({ ...meter, period: "day", quantity: 5n })
  const recorded = yield* usage.record({ ...meter, quantity: 7 })
  yield* usage.voidRecord(recorded.record.id)
  yield* thresholds.delete(threshold.id)
  const meters = yield* Meters
  const counted = yield* meters.create({
    key: "calls",
    productId: "api",
    unit: "call",
    dimensions: ["model"],
  })
  yield* meters.rebuild(counted.id)
  const later = yield* usage.record({ ...meter, quantity: 1, dimensions: { model: "a" } })
  yield* usage.voidRecord(later.record.id)
  const atSnapshot = usage.record({ ...meter, quantity: 1, dimensions: { model: "b" } })
  yield* (yield* Transactor)
    .atomically(atSnapshot)
    .pipe(Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL REPEATABLE READ"))
  yield* usage.summary({ customerId, meter: "calls" })
  yield* meters.update(counted.id, { aggregation: "max" })
  yield* meters.rebuild(counted.id)
  yield* meters.archive(counted.id)
  yield* meters.rebuild(counted.id)
  yield* endpoints.test(endpoint.id, "invoice.paid")
  const answered = yield* (yield* Dispatcher).runDue
  assert.strictEqual(answered, 2, "the event of the threshold and the test")
  const [first] = (yield* deliveries.list({})).data
  yield* deliveries.replay(first!.id)
  yield* endpoints.update(endpoint.id, { status: "disabled" })
  yield* endpoints.delete(endpoint.id)
  const request = { method: "POST", path: "/v1/x", key: "k", fingerprint: "f" }
  const answer = Effect.succeed({ status: 201, body: "{}" })
  yield* (yield* Idempotency).run(request, answer, () => Option.none())
  const before = DateTime.subtract(yield* DateTime.now, { hours: 2 })
  yield* (yield* Retention).prune({ before })
  const plan = {
    key: "pro",
    name: "Pro",
    currencies: ["EUR"],
    interval: { unit: "month", count: 1 },
    charges: [],
  } as const
  const plans = yield* Plans
  yield* plans.push({ plans: [plan] })
  yield* plans.push({ plans: [{ ...plan, name: "Professional", trial: { days: 14 } }] })
  yield* customers.erase(customerId)
  assert.lengthOf((yield* events.list({})).data, 2)
})

const serve = ({ schema, url }: Logins.Login) =>
  Layer.mergeAll(Dispatcher.layerManual(), Retention.layer).pipe(
    Layer.provideMerge(Billing.layerWith({ encryption: "none" })),
    Layer.provideMerge(Layer.merge(Storage.layerStorage({ schema }), ScriptedReceivers.layer)),
    Layer.provideMerge(PostgresClient.layer({ url: Redacted.make(url) })),
  )

const issue = asTenant(Effect.flatMap(ApiKeys, (keys) => keys.issue({ name: "of the owner" })))

/** What a statement of a login fails with. */
const refusal = (login: Logins.Login, ...statements: ReadonlyArray<string>) =>
  Logins.refusal(login.url, ...statements.map((text) => text.replaceAll("$schema", login.schema)))

/** Everything of a schema that has privileges, and the privileges that are not the owner's. */
const granted = Effect.fnUntraced(function* (schema: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ name: string; role: string | null; right: string | null }>`
with objects as (
  select c.relname::text as name, c.relacl as acl, c.relowner as owner from pg_class c
  where c.relnamespace = ${schema}::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
  union all
  select c.relname || '.' || a.attname, a.attacl, c.relowner from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relnamespace = ${schema}::regnamespace and a.attacl is not null
  union all
  select p.proname || case when p.prorettype = 'trigger'::regtype then ' trigger' else '()' end,
    coalesce(p.proacl, acldefault('f', p.proowner)), p.proowner
  from pg_proc p where p.pronamespace = ${schema}::regnamespace
  union all
  select 'the schema', n.nspacl, n.nspowner from pg_namespace n where n.nspname = ${schema}
)
select o.name, case x.grantee when 0 then 'public' else substr(pg_get_userbyid(x.grantee), ${schema.length + 2}::integer) end as role,
  lower(x.privilege_type) as right
from objects o left join lateral (
  select * from aclexplode(o.acl) as x where x.grantee <> o.owner
) as x on true order by 1, 2, 3`
  return [...Map.groupBy(rows, ({ name }) => name)].map(
    ([name, rights]) =>
      `${name}: ${rights.flatMap(({ right, role }) => (role === null ? [] : [`${role} ${right}`])).join(", ")}`,
  )
})

const declared = (triggers: ReadonlyArray<string>): ReadonlyArray<string> => {
  const of = (
    name: string,
    app: ReadonlyArray<string>,
    reader: ReadonlyArray<string> = [],
    recorder: ReadonlyArray<string> = [],
  ) =>
    `${name}: ${Object.entries({ app, reader, recorder })
      .flatMap(([role, rights]) => rights.toSorted().map((right) => `${role} ${right}`))
      .join(", ")}`
  const usage = ["usage"]
  const calls = (names: ReadonlyArray<string>, name: string) => (names.includes(name) ? ["execute"] : [])
  const functions = [...Privileges.APP_FUNCTIONS, "prune_audit_log"]
  return [
    of("the schema", usage, usage, usage),
    ...Object.entries(Privileges.TABLES).map(([name, { app, reader }]) => of(name, app, reader)),
    ...Object.entries(Privileges.COLUMNS).flatMap(([table, columns]) =>
      columns.map((column) => of(`${table}.${column}`, ["update"])),
    ),
    ...Privileges.SEQUENCES.map((name) => of(name, ["select", "update"])),
    ...functions.map((name) =>
      of(
        `${name}()`,
        calls(Privileges.APP_FUNCTIONS, name),
        calls(Privileges.READER_FUNCTIONS, name),
        calls(Privileges.RECORDER_FUNCTIONS, name),
      ),
    ),
    ...triggers,
  ]
}

/** The migration with the last table that was added. */
const WORKERS = 50

const isTrigger = (line: string): boolean => line.includes(" trigger:")

/** Each way to use a table, by the right that it needs. `self` is an assignment of a column to itself. */
const uses = (table: string, self: string): Readonly<Record<string, string>> => ({
  select: `select from ${table}`,
  insert: `insert into ${table} default values`,
  update: `update ${table} set ${self}`,
  delete: `delete from ${table}`,
  truncate: `truncate ${table} cascade`,
  trigger: `create trigger own before insert on ${table} for each row execute function suppress_redundant_updates_trigger()`,
  "alter table": `alter table ${table} disable trigger all`,
  "drop table": `drop table ${table} cascade`,
})

describe("the roles of a schema", () => {
  it.live("have exactly the rights that are declared, on every table, view, sequence and function", () =>
    Effect.gen(function* () {
      const { owner, schema } = yield* Logins.migrated
      yield* Effect.gen(function* () {
        const found = yield* granted(schema)
        const triggers = found.filter(isTrigger)
        assert.isNotEmpty(triggers)
        for (const line of triggers) assert.match(line, / trigger: $/)
        assert.sameMembers(found.toSorted(), [...declared(triggers)].toSorted())
        const sql = yield* SqlClient.SqlClient
        const others = yield* sql`select relname from pg_class
where relnamespace = ${schema}::regnamespace and pg_get_userbyid(relowner) <> ${`${schema}_owner`}
union all select proname from pg_proc
where pronamespace = ${schema}::regnamespace and pg_get_userbyid(proowner) <> ${`${schema}_owner`}`
        assert.deepStrictEqual(others, [], "owned by others")
        const roles = yield* sql<{ name: string }>`select rolname::text as name from pg_roles
where rolname like ${`${schema}\\_%`} and rolname = any (${["owner", "app", "reader", "recorder"].map((kind) => `${schema}_${kind}`)})
  and not (rolcanlogin or rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls)`
        assert.lengthOf(roles, 4)
        const definers = yield* sql<{ name: string }>`select proname::text as name from pg_proc
where pronamespace = ${schema}::regnamespace and prosecdef and prorettype <> 'trigger'::regtype order by 1`
        assert.deepStrictEqual(
          definers.map(({ name }) => name),
          [...Privileges.DEFINERS].toSorted(),
          "run with the rights of the owner",
        )
        const invokers =
          yield* sql`select distinct p.proname from pg_trigger t join pg_proc p on p.oid = t.tgfoid
where p.pronamespace = ${schema}::regnamespace and t.tginitdeferred and not t.tgisinternal and not p.prosecdef`
        assert.deepStrictEqual(invokers, [], "deferred triggers with the rights of whoever commits")
      }).pipe(Effect.provide(PostgresClient.layer({ url: Redacted.make(owner.url) })))
    }).pipe(Effect.scoped),
  )

  it.live("let each use every table as declared, and refuse any other use", () =>
    Effect.gen(function* () {
      const made = yield* Logins.migrated
      const logins = {
        app: yield* made.login("app"),
        reader: yield* made.login("reader"),
        recorder: yield* made.login("recorder"),
      }
      const tables = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql<{ name: string; column: string; kind: string }>`
select c.relname::text as name, a.attname::text as column, c.relkind::text as kind
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum = 1
where c.relnamespace = ${made.schema}::regnamespace and c.relkind in ('r', 'v')`
      }).pipe(Effect.provide(PostgresClient.layer({ url: Redacted.make(made.owner.url) })))
      assert.isAbove(tables.length, 60)
      for (const [role, login] of Object.entries(logins)) {
        const client = yield* TestDatabase.administrator(login.url)
        for (const { column, kind, name } of tables) {
          const rights: ReadonlyArray<string> =
            role === "recorder" ? [] : Privileges.TABLES[name]![role as "app" | "reader"]
          const all = Object.entries(uses(`${made.schema}.${name}`, `${column} = ${column}`))
          // Postgres accepts no writes to these views from anyone.
          for (const [right, statement] of kind === "v" ? all.slice(0, 1) : all) {
            const code = yield* Effect.promise(() => Logins.tried(client, statement))
            if (rights.includes(right))
              assert.notStrictEqual(code, INSUFFICIENT_PRIVILEGE, `${role}: ${statement}`)
            else assert.strictEqual(code, INSUFFICIENT_PRIVILEGE, `${role}: ${statement}`)
          }
        }
      }
    }).pipe(Effect.scoped),
  )

  it.live("are made again without a change, by several at once, and in several databases", () =>
    Effect.gen(function* () {
      const schema = Logins.newSchema()
      yield* Logins.withoutRolesAfter(schema)
      const urls = [yield* TestDatabase.empty, yield* TestDatabase.empty]
      const run = (url: string) =>
        Effect.provide(
          Migrations.run({ schema, roles: true }),
          PostgresClient.layer({ url: Redacted.make(url) }),
        )
      const runs = yield* Effect.all([...urls, ...urls, ...urls].map(run), { concurrency: "unbounded" })
      for (const { roles } of runs) assert.strictEqual(roles?.recorder, `${schema}_recorder`)
      const rights = Effect.provide(granted(schema), PostgresClient.layer({ url: Redacted.make(urls[0]!) }))
      const before = yield* rights
      assert.deepStrictEqual(yield* run(urls[0]!), { ...runs[0]!, migrations: [], functions: [] })
      assert.deepStrictEqual(yield* rights, before)
    }).pipe(Effect.scoped),
  )

  it.live("can be made by a login that is no superuser, in a schema that it has had before", () =>
    Effect.gen(function* () {
      const made = yield* Logins.unmigrated
      const deployer = yield* made.deployer
      const own = PostgresClient.layer({ url: Redacted.make(deployer.url) })
      const { schema } = made
      yield* Effect.provide(Migrations.run({ schema }), own)
      yield* issue.pipe(Effect.provide(serve(deployer)))
      yield* Effect.provide(Migrations.run({ schema, roles: true }), own)
      yield* Effect.provide(Migrations.run({ schema, roles: true }), own)
      yield* issue.pipe(Effect.provide(serve(deployer)))
      const app = yield* made.login("app")
      yield* asTenant(everything).pipe(Effect.provide(serve(app)))
    }).pipe(Effect.scoped),
  )

  it.live(
    "keep their rights when a later migration, without the option, writes functions and tables again",
    () =>
      Effect.gen(function* () {
        const made = yield* Logins.migrated
        const { owner, schema } = made
        const layer = PostgresClient.layer({ url: Redacted.make(owner.url) })
        const before = yield* Effect.provide(granted(schema), layer)
        // As if this were the first release with some of the functions, and with the last tables.
        yield* Effect.promise(() =>
          TestDatabase.execute(
            owner.url,
            `drop table ${schema}.webhook_workers, ${schema}.book_checks`,
            `drop sequence ${schema}.commit_notices`,
            `alter table ${schema}.events drop column redacted_at`,
            `alter table ${schema}.api_keys drop column rolled_at`,
            `alter table ${schema}.webhook_hourly drop column slot`,
            `drop view ${schema}.webhook_attempts`,
            `alter table ${schema}.webhook_earlier_attempts rename to webhook_attempts`,
            `alter index ${schema}.webhook_earlier_attempts_pkey rename to webhook_attempts_pkey`,
            `alter table ${schema}.webhook_finished drop column attempt_started_at, drop column attempt_duration_ms,
drop column attempt_request_headers, drop column attempt_response_status, drop column attempt_response_headers,
drop column attempt_response_body`,
            `drop index ${schema}.billing_due_failed`,
            `delete from ${schema}.schema_migrations where id >= ${WORKERS}`,
            `drop function ${schema}.commit_hold`,
            `update ${schema}.schema_functions set digest = 'old' where name in ('claim_deliveries', 'commit_hold', 'record_usage')`,
          ),
        )
        const applied = yield* Effect.provide(Migrations.run({ schema }), layer)
        assert.deepStrictEqual(applied.functions, ["record_usage", "claim_deliveries", "commit_hold"])
        assert.lengthOf(applied.migrations, Migrations.latestId - WORKERS + 1)
        assert.deepStrictEqual(yield* Effect.provide(granted(schema), layer), before)
        const recorder = yield* made.login("recorder")
        const customer = yield* Effect.provide(
          asTenant(
            Effect.flatMap(Customers, ({ create }) => create({ name: "Ada", email: "ada@example.com" })),
          ),
          serve(owner),
        )
        const recording = `select $schema.record_usage('default', 'live', '${customer.id}', 'api', 3, 'call')`
        assert.isUndefined(yield* refusal(recorder, recording))
      }).pipe(Effect.scoped),
  )

  it("are refused for a schema that could hold tables of others, and for names that are too long", () => {
    assert.throws(() => Migrations.print({ schema: "public", roles: true }), /not public/)
    assert.throws(() => Migrations.print({ schema: "s".repeat(55), roles: true }), /54 characters/)
    assert.include(
      Migrations.print({ schema: "s".repeat(54), roles: true }),
      `create role ${"s".repeat(54)}_recorder`,
    )
  })

  it.live("are what the printed SQL makes, too", () =>
    Effect.gen(function* () {
      const made = yield* Logins.migrated
      const printed = yield* Logins.unmigrated
      const rightsOf = ({ owner, schema }: { readonly owner: Logins.Login; readonly schema: string }) =>
        Effect.provide(granted(schema), PostgresClient.layer({ url: Redacted.make(owner.url) }))
      yield* Effect.promise(() =>
        TestDatabase.execute(
          printed.superuser.url,
          Migrations.print({ schema: printed.schema, roles: true }),
        ),
      )
      const owner = yield* printed.login("owner")
      assert.deepStrictEqual(yield* rightsOf({ owner, schema: printed.schema }), yield* rightsOf(made))
    }).pipe(Effect.scoped),
  )
})

describe("the role of the owner", () => {
  it.live("migrates and issues keys, and is no superuser", () =>
    Effect.gen(function* () {
      const { owner } = yield* Logins.migrated
      yield* issue.pipe(Effect.provide(serve(owner)))
      assert.isUndefined(yield* refusal(owner, "alter table $schema.customers add column own text"))
      for (const statement of [
        "create role other",
        "create schema other",
        "select pg_read_file('/etc/passwd')",
      ])
        assert.strictEqual(yield* refusal(owner, statement), INSUFFICIENT_PRIVILEGE, statement)
    }).pipe(Effect.scoped),
  )
})

describe("the role of the application", () => {
  it.live.each([
    { where: "", schema: Logins.migrated },
    { where: " with row-level security", schema: Logins.secured },
  ])("can do all that an application does, and authenticate keys$where", ({ schema }) =>
    Effect.gen(function* () {
      const made = yield* schema
      const issued = yield* issue.pipe(Effect.provide(serve(made.owner)))
      const app = yield* made.login("app")
      yield* Effect.gen(function* () {
        yield* asTenant(everything)
        const keys = yield* ApiKeys
        const { key } = yield* keys.verify(issued.secret)
        assert.strictEqual(key.id, issued.key.id)
        assert.isNotNull((yield* asTenant(keys.get(key.id))).lastUsedAt, "its use is noted")
        const recording = `select $schema.record_usage('default', 'live', 'cus_${"0".repeat(26)}', 'api', 3, 'call')`
        assert.strictEqual(yield* refusal(app, recording), "BW404")
      }).pipe(Effect.provide(serve(app)))
    }).pipe(Effect.scoped),
  )

  it.live("erases customers with what their events say, and can't change events otherwise", () =>
    Effect.gen(function* () {
      const made = yield* Logins.secured
      const app = yield* made.login("app")
      yield* Effect.gen(function* () {
        const customers = yield* Customers
        const events = yield* Events
        const { id: customerId } = yield* customers.create({ name: "Ada", email: "ada@example.com" })
        const data = { invoice_id: "in_1", customer_id: "ada@example.com", amount: 5, currency: "EUR" }
        const { event } = yield* events.publish({ type: "invoice.paid", customerId, data })
        const uuids = `array['${Id.toUuid(event.id)}'::uuid]`
        const redacting = `select $schema.redact_events('default', 'live', '${Id.toUuid(customerId)}', ${uuids}, array['{}'], 0)`
        assert.strictEqual(yield* refusal(app, redacting), "22023")
        assert.strictEqual(
          yield* refusal(app, "update $schema.events set payload = '{}'"),
          INSUFFICIENT_PRIVILEGE,
        )
        yield* customers.erase(customerId)
        const { payload } = yield* events.get(event.id)
        assert.include(payload, '"redacted":true')
        assert.notInclude(payload, "ada@example.com")
        // Once it is redacted, it stays as it is.
        assert.isUndefined(yield* refusal(app, redacting))
        assert.strictEqual((yield* events.get(event.id)).payload, payload)
      }).pipe(asTenant, Effect.provide(serve(app)))
    }).pipe(Effect.scoped),
  )

  it.live("can't make keys, can't bring revoked or expired ones back, and can't change the schema", () =>
    Effect.gen(function* () {
      const made = yield* Logins.migrated
      const app = yield* made.login("app")
      const error = yield* Effect.flip(issue).pipe(Effect.provide(serve(app)))
      assert.strictEqual(error._tag, "StorageError")
      for (const statement of [
        `insert into $schema.api_keys (account_id, mode, id, name, scopes, hint, digest, created_at)
values ('default', 'live', gen_random_uuid(), 'a', '{}', 'abcd', repeat('a', 64), now())`,
        ...[
          "revoked_at = null",
          "expires_at = null",
          "scopes = '{}'",
          "digest = repeat('a', 64)",
          "account_id = 'other'",
        ].map((change) => `update $schema.api_keys set ${change}`),
        "insert into $schema.schema_migrations (id, name, min_reader) values (999, 'a', 999)",
        "create function $schema.now() returns integer language sql as 'select 1'",
        "create or replace function $schema.prune_audit_log(timestamptz, integer) returns bigint language sql as 'select 1'",
        "alter function $schema.record_usage security invoker",
        "select $schema.prune_audit_log(now() - interval '1 year')",
        "create table $schema.own (id integer)",
        "set role $schema_owner",
        "grant $schema_owner to current_user",
      ])
        assert.strictEqual(yield* refusal(app, statement), INSUFFICIENT_PRIVILEGE, statement)
    }).pipe(Effect.scoped),
  )
})

describe("the role of readers", () => {
  it.live("reads what is billed, and ids, but no key, secret or header", () =>
    Effect.gen(function* () {
      const made = yield* Logins.migrated
      const reader = yield* made.login("reader")
      for (const statement of [
        "select * from $schema.invoices i join $schema.invoice_lines l on l.invoice_id = i.id",
        "select * from $schema.receivable_aging",
        "select * from $schema.journal",
        "select * from $schema.webhook_deliveries",
        "select * from $schema.webhook_attempts",
        "select * from $schema.deferred_revenue(now())",
        "select $schema.format_id('cus', id), id = $schema.parse_id('cus', 'cus_') from $schema.customers",
      ])
        assert.isUndefined(yield* refusal(reader, statement), statement)
      for (const statement of [
        "select digest from $schema.api_keys",
        "select headers from $schema.webhook_endpoints",
        "select * from $schema.webhook_earlier_attempts",
        "select * from $schema.idempotency_keys",
        "select $schema.record_usage('default', 'live', 'cus_', 'api', 3, 'call')",
        "select nextval('$schema.commit_notices')",
        "set role $schema_app",
      ])
        assert.strictEqual(yield* refusal(reader, statement), INSUFFICIENT_PRIVILEGE, statement)
    }).pipe(Effect.scoped),
  )
})

describe("the role of recorders", () => {
  it.live("records usage, uses credits and commits holds, in transactions of its own", () =>
    Effect.gen(function* () {
      const made = yield* Logins.migrated
      const recorder = yield* made.login("recorder")
      const { customerId, holdId } = yield* asTenant(
        Effect.gen(function* () {
          const { id: customerId } = yield* (yield* Customers).create({
            name: "Ada",
            email: "ada@example.com",
          })
          const account = { customerId, unit: "token" }
          yield* (yield* Credits).grant({ ...account, amount: 100n, kind: "promotional" })
          const hold = yield* (yield* Holds).reserve({ ...account, amount: 30n })
          const meter = { customerId, productId: "api", unit: "call" }
          yield* (yield* Thresholds).create({ ...meter, period: "day", quantity: 2n })
          return { customerId, holdId: hold.id }
        }),
      ).pipe(Effect.provide(serve(made.owner)))
      const calls = [
        "begin",
        `select $schema.record_usage('default', 'live', '${customerId}', 'api', 3, 'call')`,
        `select $schema.consume_credits('default', 'live', '${customerId}', 'token', 20)`,
        `select $schema.commit_hold('default', 'live', '${holdId}', 10)`,
        "commit",
      ]
      assert.isUndefined(yield* refusal(recorder, ...calls))
      yield* asTenant(
        Effect.gen(function* () {
          const { totalQuantity } = yield* (yield* Usage).summary({ customerId })
          assert.strictEqual(totalQuantity, 3n)
          assert.lengthOf((yield* (yield* Events).list({ type: "usage.threshold" })).data, 1)
          const balance = yield* (yield* Credits).balance({ customerId, unit: "token" })
          assert.strictEqual(balance.available, 70n)
        }),
      ).pipe(Effect.provide(serve(made.owner)))
    }).pipe(Effect.scoped),
  )

  it.live("does nothing else: it reads nothing, publishes no event and calls no other function", () =>
    Effect.gen(function* () {
      const made = yield* Logins.migrated
      const recorder = yield* made.login("recorder")
      for (const statement of [
        "select id from $schema.customers",
        "select * from $schema.invoices",
        "select $schema.publish_event('default', 'live', 'order.placed', '{}')",
        "select $schema.format_id('cus', gen_random_uuid())",
        "select $schema.next_due()",
        "select $schema.prune_audit_log(now() - interval '1 year')",
        "select last_value from $schema.commit_notices",
        "set role $schema_app",
      ])
        assert.strictEqual(yield* refusal(recorder, statement), INSUFFICIENT_PRIVILEGE, statement)
    }).pipe(Effect.scoped),
  )
})
