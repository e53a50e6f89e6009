import { createHash } from "node:crypto"
import { Billing, Customers } from "@billwright/core"
import { Migrations, PostgresClient, SchemaName, Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect } from "vitest"
import { disturb, ofRelease } from "./OtherRelease.ts"
import { introspect } from "./SchemaManifest.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const withDatabase = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.provide(effect, TestDatabase.layerEmpty()))

/** The functions that tables need, such as those of triggers: migrations make them, and they are frozen. */
const OF_MIGRATIONS = [
  "check_credit_note_has_lines",
  "check_credit_note_lines",
  "check_credit_account",
  "check_credit_note_series",
  "check_credit_notes",
  "check_invoice_credits",
  "check_invoice_causes",
  "check_invoice_sums",
  "check_issued_numbers",
  "check_issued_sums",
  "check_payments",
  "check_returned",
  "check_series",
  "count_credit_note",
  "count_taken_numbers",
  "customer_search_keys",
  "note_change_of_lines",
  "refuse_change_of_audit_log",
  "refuse_change_of_credit",
  "refuse_change_of_credit_note",
  "refuse_change_of_cause",
  "refuse_change_of_entitlement",
  "refuse_change_of_invoice",
  "refuse_change_of_line",
  "refuse_change_of_payment",
  "refuse_change_of_proof",
  "refuse_change_of_rate_card",
  "refuse_change_of_refund",
  "refuse_change_of_scope",
  "refuse_change_of_version",
]

const nothing: Migrations.Applied = { migrations: [], functions: [] }

describe("Migrations", () => {
  it.live("bring an empty database up to date, once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { functions, migrations } = yield* Migrations.run()
      assert.deepStrictEqual(
        migrations,
        Migrations.migrations.map(({ name }) => name),
      )
      const written = yield* sql<{ name: string }>`select proname::text as name from pg_proc
where pronamespace = 'billwright'::regnamespace and proname <> all (${OF_MIGRATIONS}) order by proname collate "C"`
      assert.deepStrictEqual(
        functions.toSorted(),
        written.map(({ name }) => name),
      )
      assert.deepStrictEqual(yield* Migrations.run(), nothing)
      yield* Migrations.check()
    }).pipe(withDatabase),
  )

  it.live("are numbered 1, 2, 3, and `minReader` never falls", () =>
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

  it.live("can run in many processes at once, each with its own client", () =>
    Effect.gen(function* () {
      const url = Redacted.make(yield* TestDatabase.empty)
      const process = Effect.scoped(
        Effect.provide(Migrations.run(), PostgresClient.layer({ url, poolSize: 1 })),
      )
      const applied = yield* Effect.all(
        Array.from({ length: 6 }, () => process),
        { concurrency: "unbounded" },
      )
      const [first, ...others] = applied.toSorted((a, b) => b.functions.length - a.functions.length)
      assert.lengthOf(first!.migrations, Migrations.latestId)
      assert.isNotEmpty(first!.functions)
      assert.lengthOf(others, 5)
      for (const other of others) assert.deepStrictEqual(other, nothing)
    }).pipe(Effect.scoped),
  )

  it.live("print what they run: psql makes the same schema from it", () =>
    Effect.gen(function* () {
      const printed = yield* TestDatabase.empty
      yield* Effect.promise(() => TestDatabase.execute(printed, Migrations.print()))
      const run = yield* TestDatabase.empty
      const on =
        (url: string) =>
        <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
          Effect.scoped(Effect.provide(effect, PostgresClient.layer({ url: Redacted.make(url) })))
      yield* on(run)(Migrations.run())
      assert.deepStrictEqual(
        yield* on(printed)(introspect("billwright")),
        yield* on(run)(introspect("billwright")),
      )
      assert.deepStrictEqual(yield* on(printed)(Migrations.run()), nothing)
      // For a database with all migrations, only the functions are printed.
      const rest = Migrations.print({ after: Migrations.latestId })
      assert.notInclude(rest, "create table")
      yield* on(printed)(disturb)
      yield* Effect.promise(() => TestDatabase.execute(printed, rest))
      assert.deepStrictEqual(yield* on(printed)(Migrations.run()), nothing)
      yield* on(printed)(Effect.andThen(disturb, ofRelease("999.0.0")))
      const refused = yield* Effect.promise(() =>
        TestDatabase.execute(printed, rest).then(
          () => "",
          (error: Error) => error.message,
        ),
      )
      assert.include(refused, "the functions of the schema billwright are those of a release newer than")
    }).pipe(Effect.scoped),
  )

  it.live("add the dimensions without rewriting the records, and leave one function of each name", () =>
    Effect.gen(function* () {
      yield* migrateFrom0002.pipe(Effect.provide(yield* migratedBefore("0003")))
    }).pipe(Effect.scoped),
  )

  it.live("try again what was set aside, but subscriptions and invoices", () =>
    Effect.gen(function* () {
      yield* migrateFrom0058.pipe(Effect.provide(yield* migratedBefore("0059")))
    }).pipe(Effect.scoped),
  )

  it.live("queue the paid credits that begin or end", () =>
    Effect.gen(function* () {
      yield* migrateFrom0063.pipe(Effect.provide(yield* migratedBefore("0064")))
    }).pipe(Effect.scoped),
  )

  it("make the schema in schema.json", async () => {
    const introspected = Effect.andThen(Migrations.run(), introspect("billwright"))
    const manifest = await Effect.runPromise(withDatabase(introspected))
    await expect(`${JSON.stringify(manifest, undefined, 2)}\n`).toMatchFileSnapshot("../schema.json")
  })

  it.live("let no function use its caller's search path", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Migrations.run()
      const others = sql<{ name: string }>`select oid::regprocedure::text as name from pg_proc
where pronamespace = 'billwright'::regnamespace
  and array['search_path=pg_catalog, pg_temp'] <@ proconfig is not true`
      assert.deepStrictEqual(yield* others, [])
    }).pipe(withDatabase),
  )

  it.live("call nothing that others have put into the search path", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const storage = Billing.layer.pipe(Layer.provideMerge(Storage.layer()))
      const customer = yield* Effect.provide(
        asTenant(Effect.flatMap(Customers, ({ create }) => create({ name: "A", email: "a@b.example" }))),
        storage,
      )
      // Each of these fits better than the function of Postgres, or comes before it in the path.
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

  it.live("let the tables of usage be distributed by customer", () =>
    Effect.gen(function* () {
      yield* Migrations.run()
      const sql = yield* SqlClient.SqlClient
      // Citus allows no unique key without the distribution column, and no foreign key from or to other tables.
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

  it.live("work in a schema with another name, and leave others unchanged", () =>
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

  it.live("warn of a user named like the schema, for whom unqualified names would mean our tables", () =>
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
      assert.include(String(logs), `the database user "${schema}" has the same name as Billwright's schema`)
      assert.deepStrictEqual(yield* sql`select to_regclass('customers')::text as ours`, [
        { ours: "customers" },
      ])
      yield* sql`set search_path = public`
      logs.length = 0
      yield* Migrations.check({ schema }).pipe(Effect.provide(Logger.layer([logger])))
      assert.deepStrictEqual(logs, [])
    }).pipe(Effect.provide(TestDatabase.layerEmpty({ poolSize: 1 })), Effect.scoped),
  )

  it.live("refuse an invalid name", () =>
    Effect.gen(function* () {
      for (const schema of ["", "Billing", "a b", 'a"; drop table x; --', "pg_catalog", "x".repeat(64)]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(Migrations.run({ schema }))), schema)
      }
    }).pipe(withDatabase),
  )
})

/** SHA-256 of each migration's statements. A new migration adds its line. After the release, a line never changes. */
const FROZEN: ReadonlyArray<string> = [
  "cd0eef4a8925e817e0a7ac70df5febfffa741e3c6347ca0df7e72502c32e0214",
  "948bd2438782cbb6f32fc188d79e01fb994314daab1b7ba657c448ba5cb97fe2",
  "ffb9e0da6f0ef39992c9bd5a26d912d82f56566dba06d576abf9063dc7a9d111",
  "48227740c81700380b209d2c56799005fd31c80cbabde96111a40a645177f92e",
  "db4013db3b3ca7669c4e4c083af60aedd85fe26a0c29708b433fbdc668dac7a7",
  "5a12d8e19b06f1785914d09ac6800ee179692c6e1dd23355f9000b4ce8eeac4e",
  "d2c42d56864e379fb78805ee2115dc12f960f39f5ec40892cff32c4228f35eaf",
  "2384df328e075c014eb4610421ff6151ed23dc23593752334bb1a8f170189282",
  "2fea6cce70093ba796db4ffcb686901e926f374895e12e13551acb2a736b82de",
  "404ab15333ce353b3735f45b724748e703524aec0b19899297080f65c670092e",
  "39121b31b659d1752be8432973b95528a3cc61f8ae1fa630d599707219f4ebbe",
  "f47bb17fa9b01f91d926bceee5a3c8ef6fd11803feef15ea03109e17765a2b01",
  "3b92e248428270ce4a1f7b2879f137694d93a81a5761d0c15e26912194e23656",
  "6f7a79046ebed66f7118918a6b0b3fae1f37f8402e51a7c8839589638cf997d6",
  "c32532cc0be25c8ef7800e64fe20f37223a418572cd238ccf4cfde0a09b7b0a3",
  "d60ead3b3ca18591cac0d69a99d27145056cd617bb5f333cce6cf2159157e8a3",
  "b223a30db06f74c628f6665e4d661296cdcd279ed5b0c7b4ff9e653b32f6c0f5",
  "829630124204b5a946d502f6720a2d4a246e628a0cfcbb47078358857a168fb2",
  "b5774a0972002e96f51e8cd5c8d935497435d3191a954b2821b43c4eaa0cab4c",
  "766503827eea16ae5d3a01b9d0f302f2a5eb4994c7da15ee096012f29b2c0cb1",
  "86ad9b86482b3fa87f9441c1b755cd59ebdca17d39ec243787008c32ae127c55",
  "ccfe674c1055804a40bfe9a341f08ffd88b3262499c2d69ef4af34c9c8e60a74",
  "c18f7f6ac4b342e52f8ef6d7bc29ee9d9442e3f96ba3b3dda64850f019a19a20",
  "f11bea86ca2d938ca8c6d49bd206a686c2dfb416496a4d2420bd71b9876edfb5",
  "39b9b53934a2c47e2b381baf467643dcf6fd5a9c95f15a3792ab77391a52c0dd",
  "90f8f297edab0447159a20af38e6da047d1a7a2eece85501af515a82931eff05",
  "37765e72e29768ee1cf2b08be1a3a5d30fd5b81cdb892cdcaa1d91fa4872f3ab",
  "cf277f2a9672d8bca91f10eef9a387d2d59f65c632da584e4e19e1ab45e714ee",
  "d649f31127ee7041ca0b41dde31911dc83c5bd613e28ed65578f35a3413b1d3d",
  "eb5fe04360bbc623b3412a767e52d9b284955ec12708c6526510d5b243d74a9d",
  "6406d690d772bd68451c7680d5dfa4ac031c8b842f57dac8e7487ebb57b8cd6a",
  "3ced29b5b91e90f10cafe5a3d45a29be8bd8dc5edffb13e0d73d0871336288ea",
  "57a8509bb635603554b538f14e2fc6d8b503de11dfcb2c0eb4f2075568ba68d9",
  "6b6055c0ff6c3b133aa3d8c174c2a66ec6b5148bb052c3c18fc78e5c217b52dd",
  "85a0e451e87f372c1d5816c4e88df30f2946f95aa29ab5f3df58b3e2b93076e1",
  "71517df34091f52192a5b824ed36e31e6ffa6b2f062f5c350e0c03644ab80493",
  "be8e288970d5e9d8cf4716ef0a283db1a426fbf35dacd62b970171b29630f4df",
  "cb53b2c43566ec2ac292d2dc96093906eb040c91e016aeab16974cca459295b9",
  "38fa6646420dcbe6ef4f38e630df1361ccf00597eb3fc01fc456845cdf6c7131",
  "8b9c7426091dc1993d97e5a45999a1bfe240226b8b7dca5fe3cdd7b69dfb379d",
  "0e0fbf1d7b790c0b4efc165db0f307ee9c444901f267c2b300dc46e6d7230c67",
  "9f973210a6aca5ab6fede5092bd95dc9b2cbd954f07d631c6cdb3d317944d74a",
  "f2ebc41f270755414dacbc5f4db611cd7926c8672e1a779d0c36b3f904574f8e",
  "baac3f809a3f4aa35e201afb0352ad156742297fbc87414ff3f9b2e44c1200ab",
  "b5e3bd7a4afbb6a7cb60f66a91b43fd54894ee14ff365f6f2da72ee92a6ed8c5",
  "bf515f281830df1ab110d1db4aedb59dd49debd39098ab9e790068ca2786fb58",
  "47cb5d16e0c2c235f4fa429451f8b77242b2c7a053357128712084b4497db1df",
  "ac85e8707e2f8a8db39925c0cba1febc7a2fb825c39a29f00c944d65fc1d3d62",
  "d26100d847204eb790b78d4cb4a654b7670d4c0084a77e87c43dcd72467cdf6d",
  "70cd98116c694cada18ac9165f05eccb7be3fc7941f4465c29c3ae26cce374fd",
  "276168136109f0b14e710eb18dc08618b9a50e3bad685ee2ba5b71e86d3ff897",
  "93f6348d030c41be996c0a451036e2bb54610abba954991babd60c10f3867c04",
  "e7b0d62097be12de7731f1be286ccddb935869399ab4d948a14603c0f520a920",
  "a8ab72863e7148d96d050bb3134634ce1640b334dfffcd6d28a9c25328272562",
  "8ebb543f82805ca3d61f16d098f20371b8eb373c59b3c0366966045a253c5711",
  "da7c213e11c7537e023e7918ddcf7f03f7e8b6b26a4861d1c49adb95b51195bb",
  "8a301f07d2331c8baadab202db46a5629a06fdda0c1260b4fc2f9b592f0d0747",
  "f95fa8844fb822bf2a6c4665ad43fc427add083e4f31e30cc5457467c632987f",
  "5386d05b30f1b6c490e6376d4525a2da66febefa6d0be7032badf968d94aa90c",
  "beace5750fb05fd4e03eee1142004c06ef7c0e5144c1956741d923d4900fcc36",
  "4a5ff7f06c90df0bb04cb41b09c4dfddf02ba379a549f3770d9b3bff29c0e697",
  "38719ed3cefdb6fc06ceea16fb70f6bd2699d6ece1a5e6b0a95b0fb12615f1d4",
  "40f7888f5f8748fd0616fcd481361f60d6b0b15388e9e5ba6f5620e5b19c2511",
  "e1ef4da0bc84a9b16b48dfa1a4ac0bf1d26a4c1c053cc83eedd8d8013067d069",
]

describe("each migration", () => {
  it("is frozen", () => {
    for (const [index, { id, name, statements }] of Migrations.migrations.entries()) {
      const digest = createHash("sha256").update(statements(SchemaName.make()).join(";\n")).digest("hex")
      assert.strictEqual(
        digest,
        FROZEN[index],
        `migration ${id} ("${name}") is not the one that is frozen here. Databases that have it don't run it again: undo the change, and write a new migration. A new migration adds its digest to FROZEN`,
      )
    }
    assert.lengthOf(FROZEN, Migrations.latestId)
  })
})

/** A client of a new database that has the migrations before one, and no functions. */
const migratedBefore = Effect.fnUntraced(function* (id: string) {
  const url = yield* TestDatabase.empty
  const [untilThen] = Migrations.print().split(`-- ${id}`)
  yield* Effect.promise(() => TestDatabase.execute(url, `${untilThen} commit`))
  return PostgresClient.layer({ url: Redacted.make(url) })
})

/** Adds work that has failed, and looks at when it is tried again after it has migrated. */
const BLOCKED = "00000000-0000-7000-8000-000000000001"

const migrateFrom0058 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`insert into billwright.billing_due
  (account_id, mode, kind, id, customer_id, due_at, attempts, problem, failed_at, retry_at)
select 'a', 'live', kind, gen_random_uuid(), case when kind in ('invoice', 'payment', 'subscription') then gen_random_uuid() end,
  '2026-01-01T00:00Z', attempts, 'gone', '2026-01-02T00:00Z', case when attempts < 10 then '2026-01-03T00:00Z'::timestamptz end
from unnest(array['erasure', 'invoice', 'payment', 'plan_migration', 'subscription']) as kind, unnest(array[9, 10]) as attempts`)
  yield* sql.unsafe(`insert into billwright.spend_marks (account_id, mode, customer_id, id, due_at, attempts)
select 'a', 'live', gen_random_uuid(), gen_random_uuid(), due_at, attempts
from (values ('2026-01-03T00:00Z'::timestamptz, 9), ('infinity', 10)) as failed (due_at, attempts)`)
  // Two alerts of a customer block now, and one of another customer blocked until yesterday.
  yield* sql.unsafe(`insert into billwright.spend_alerts
  (account_id, mode, customer_id, id, currency, amount, repeat, action, fired_amount, blocked_until, created_at, updated_at)
select 'a', 'live', customer_id::uuid, gen_random_uuid(), 'EUR', 500, 'once', 'block', 500, now() + blocked, now(), now()
from (values ('${BLOCKED}', interval '1 day'), ('${BLOCKED}', interval '2 days'),
  (gen_random_uuid()::text, interval '-1 day')) as alert (customer_id, blocked)`)
  const { migrations } = yield* Migrations.run()
  assert.deepStrictEqual(migrations, [
    "work_that_is_never_set_aside",
    "spend_alerts_that_are_never_set_aside",
    "rolled_api_keys_and_blocks_that_are_over",
    "standing_offers",
    "void_after_written_off",
    "grants_are_due",
  ])
  const rows = yield* sql<{
    kind: string
    day: string | null
  }>`select kind, extract(day from retry_at)::text as day
from billwright.billing_due order by kind, attempts`
  assert.deepStrictEqual(
    rows.map(({ day, kind }) => [kind, day]),
    [
      ["erasure", "3"],
      ["erasure", "2"],
      ["invoice", "3"],
      ["invoice", null],
      ["payment", "3"],
      ["payment", "2"],
      ["plan_migration", "3"],
      ["plan_migration", "2"],
      ["subscription", "3"],
      ["subscription", null],
    ],
  )
  const marks = yield* sql<{
    due: string
    isBlocked: boolean
  }>`select due_at::text as due, customer_id = ${BLOCKED}::uuid as "isBlocked" from billwright.spend_marks order by attempts`
  assert.deepStrictEqual(
    marks.map(({ due, isBlocked }) => [due.slice(0, 10), isBlocked]),
    [
      ["-infinity", true],
      ["2026-01-03", false],
      ["-infinity", false],
    ],
  )
})

/** Adds grants of all kinds, and looks at which of them are due after it has migrated. */
const migrateFrom0063 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Their accounts and entries are of no interest here.
  yield* sql.unsafe(`do $$ begin set local session_replication_role = replica;
insert into billwright.billing_credit_grants (account_id, mode, customer_id, unit, id, kind, amount, priority, effective_at,
  expires_at, status, available, held, created_at)
select 'a', 'live', gen_random_uuid(), 'EUR', gen_random_uuid(), kind, 100, 50, '2026-01-01T00:00Z', expires_at::timestamptz,
  status, available, held, now()
from (values ('paid', '2026-02-01T00:00Z', 'active', 60, 0), ('paid', '2026-02-02T00:00Z', 'active', 0, 10),
  ('paid', null, 'pending', 0, 0), ('paid', null, 'active', 60, 0), ('paid', '2026-02-03T00:00Z', 'active', 0, 0),
  ('paid', '2026-02-04T00:00Z', 'voided', 0, 0), ('paid', '2026-01-15T00:00Z', 'expired', 0, 5), ('promotional', '2026-02-05T00:00Z', 'active', 60, 0))
  as g (kind, expires_at, status, available, held);
end $$`)
  const { migrations } = yield* Migrations.run()
  assert.deepStrictEqual(migrations, ["grants_are_due"])
  const rows = yield* sql<{ day: string }>`select case when due_at > now() - interval '1 day'
  then 'now' else to_char(due_at at time zone 'UTC', 'YYYY-MM-DD') end as day
from billwright.billing_due where kind = 'credit_grant' order by due_at`
  assert.deepStrictEqual(
    rows.map(({ day }) => day),
    ["2026-01-01", "2026-02-01", "2026-02-02", "now"],
  )
})

/** Adds a record and functions as the release before has them, migrates, and looks at them again. */
const migrateFrom0002 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // The functions of the release before, as far as their arguments go.
  yield* sql.unsafe(`create function billwright.append_usage(p_account_id text, p_mode text, p_ids uuid[],
  p_customer_ids uuid[], p_product_ids text[], p_units text[], p_quantities bigint[], p_timestamps bigint[],
  p_has_own_timestamps boolean[], p_idempotency_keys text[], p_created_at bigint[])
returns table (kind text, ordinal integer, payload jsonb) language sql as 'select null::text, 0, null::jsonb'`)
  yield* sql.unsafe(`create function billwright.record_usage(account_id text, mode text, customer_id text,
  product_id text, quantity numeric, unit text, occurred_at timestamptz default null,
  idempotency_key text default null) returns jsonb language sql as 'select null::jsonb'`)
  yield* sql.unsafe(`insert into billwright.usage_records (account_id, mode, customer_id, id, product_id, unit,
  quantity, occurred_at, created_at)
values ('a', 'live', gen_random_uuid(), gen_random_uuid(), 'p', 'u', 1, now(), now())`)
  const file = sql<{ node: string }>`select relfilenode::text as node, pg_relation_size(oid)::text as size
from pg_class where oid = 'billwright.usage_records'::regclass`
  const before = yield* file
  const { migrations } = yield* Migrations.run()
  assert.include(migrations, "dimensions")
  assert.deepStrictEqual(yield* file, before)
  const overloaded = sql`select proname from pg_proc where pronamespace = 'billwright'::regnamespace
group by proname having count(*) > 1`
  assert.deepStrictEqual(yield* overloaded, [])
  const [record] = yield* sql`select dimensions from billwright.usage_records`
  assert.deepStrictEqual(record, { dimensions: null })
})

describe("functions", () => {
  it.live("get their settings back with their text", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const settings = sql`select proname::text, proconfig from pg_proc
where pronamespace = 'billwright'::regnamespace order by 1`
      yield* Migrations.run()
      const fresh = yield* settings
      yield* sql.unsafe(`do $$ declare f regprocedure; begin
  for f in select oid::regprocedure from pg_proc where pronamespace = 'billwright'::regnamespace and proname <> all ('{${OF_MIGRATIONS.join(",")}}') loop
    execute format('alter function %s reset all', f);
  end loop; end $$`)
      yield* sql`update billwright.schema_functions set digest = 'other'`
      yield* Migrations.run()
      assert.deepStrictEqual(yield* settings, fresh)
    }).pipe(withDatabase),
  )
})
