/**
 * The roles in docs/postgres.md, created by the statements on that page, and then tried.
 */
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import {
  ApiKeys,
  Billing,
  Customers,
  Deliveries,
  Dispatcher,
  Endpoints,
  Events,
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
import { Client } from "pg"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const document = readFileSync(new URL("../../../docs/postgres.md", import.meta.url), "utf8")

/** Roles belong to the whole server, so each test names its own. */
const made = Effect.fnUntraced(function* (documented: "app" | "reader", url: string) {
  const role = `${documented}_${randomBytes(6).toString("hex")}`
  const blocks = Array.from(document.matchAll(/```sql\n([^`]*)```/g), ([, sql]) => sql!)
  const grants = blocks.filter((sql) => sql.includes(` to ${documented};`))
  assert.lengthOf(grants, 1, documented)
  const granted = grants.map((sql) => sql.replaceAll(` to ${documented};`, ` to ${role};`))
  yield* Effect.acquireRelease(
    Effect.promise(() =>
      TestDatabase.execute(url, `create role ${role} login password '${role}' nosuperuser`, ...granted),
    ),
    () => Effect.promise(() => TestDatabase.execute(url, `drop owned by ${role}`, `drop role ${role}`)),
  )
  const own = new URL(url)
  own.username = role
  own.password = role
  return own.href
})

/** The SQLSTATE that a statement fails with. */
const refusal = (url: string, statement: string) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      await client.query(statement)
      return undefined
    } catch (error) {
      return (error as { readonly code?: string }).code
    } finally {
      await client.end()
    }
  })

const INSUFFICIENT_PRIVILEGE = "42501"

const serve = (url: string) =>
  Layer.mergeAll(Dispatcher.layerManual(), Retention.layer).pipe(
    Layer.provideMerge(Billing.layerWith({ encryption: "none" })),
    Layer.provideMerge(Layer.merge(Storage.layerStorage(), ScriptedReceivers.layer)),
    Layer.provideMerge(PostgresClient.layer({ url: Redacted.make(url) })),
  )

const migrated = Effect.gen(function* () {
  const url = yield* TestDatabase.make
  yield* Effect.provide(Migrations.run(), PostgresClient.layer({ url: Redacted.make(url) }))
  const issued = yield* Effect.provide(
    asTenant(Effect.flatMap(ApiKeys, ({ issue }) => issue({ name: "of the owner" }))),
    serve(url),
  )
  return { issued, url }
})

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

describe("the role of the application", () => {
  it.live("can do all that an application does, and authenticate keys", () =>
    Effect.gen(function* () {
      const { issued, url } = yield* migrated
      const own = yield* made("app", url)
      yield* Effect.gen(function* () {
        yield* asTenant(everything)
        const keys = yield* ApiKeys
        const { key } = yield* keys.verify(issued.secret)
        assert.strictEqual(key.id, issued.key.id)
        assert.isNotNull((yield* asTenant(keys.get(key.id))).lastUsedAt, "its use is noted")
        const recording = `select billwright.record_usage('default', 'live', 'cus_${"0".repeat(26)}', 'api', 3, 'call')`
        assert.strictEqual(yield* refusal(own, recording), "BW404")
      }).pipe(Effect.provide(serve(own)))
    }).pipe(Effect.scoped),
  )

  it.live("can write each table, except for those of keys and of migrations", () =>
    Effect.gen(function* () {
      const { url } = yield* migrated
      const role = new URL(yield* made("app", url)).username
      const others = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql<{ readonly name: string }>`
          select relname as name from pg_class where relnamespace = 'billwright'::regnamespace
          and relkind in ('r', 'p') and not has_table_privilege(${role}, oid, 'insert') order by relname`
      }).pipe(Effect.provide(PostgresClient.layer({ url: Redacted.make(url) })))
      assert.deepStrictEqual(
        others.map(({ name }) => name),
        ["api_keys", "schema_functions", "schema_migrations"],
      )
    }).pipe(Effect.scoped),
  )

  it.live("can't make keys, and can't bring revoked or expired ones back", () =>
    Effect.gen(function* () {
      const { url } = yield* migrated
      const own = yield* made("app", url)
      const error = yield* Effect.flip(
        asTenant(Effect.flatMap(ApiKeys, ({ issue }) => issue({ name: "forged" }))),
      ).pipe(Effect.provide(serve(own)))
      assert.strictEqual(error._tag, "StorageError")
      for (const statement of [
        `insert into billwright.api_keys (account_id, mode, id, name, scopes, hint, digest, created_at)
values ('default', 'live', gen_random_uuid(), 'a', '{}', 'abcd', repeat('a', 64), now())`,
        "update billwright.api_keys set revoked_at = null",
        "update billwright.api_keys set expires_at = null",
        "update billwright.api_keys set scopes = '{}'",
        "update billwright.api_keys set digest = repeat('a', 64)",
        "update billwright.api_keys set account_id = 'other'",
        "delete from billwright.api_keys",
        "truncate billwright.api_keys",
        "alter table billwright.api_keys disable trigger all",
        "insert into billwright.schema_migrations (id, name, min_reader) values (999, 'a', 999)",
        "create function billwright.now() returns integer language sql as 'select 1'",
        "create table billwright.own (id integer)",
      ])
        assert.strictEqual(yield* refusal(own, statement), INSUFFICIENT_PRIVILEGE, statement)
    }).pipe(Effect.scoped),
  )
})

describe("the role of readers", () => {
  it.live("reads what is billed, but no key, secret or header", () =>
    Effect.gen(function* () {
      const { url } = yield* migrated
      const own = yield* made("reader", url)
      for (const table of [
        "customers",
        "usage_records",
        "usage_daily",
        "usage_thresholds",
        "usage_threshold_firings",
        "events",
        "webhook_deliveries",
        "webhook_attempts",
        "webhook_hourly",
      ]) {
        const statement = `select * from billwright.${table}`
        assert.isUndefined(yield* refusal(own, statement), statement)
        // A view accepts no writes from anyone.
        if (table === "webhook_deliveries") continue
        const write = `delete from billwright.${table}`
        assert.strictEqual(yield* refusal(own, write), INSUFFICIENT_PRIVILEGE, write)
      }
      for (const table of ["api_keys", "webhook_endpoints", "idempotency_keys"]) {
        const statement = `select * from billwright.${table}`
        assert.strictEqual(yield* refusal(own, statement), INSUFFICIENT_PRIVILEGE, statement)
      }
    }).pipe(Effect.scoped),
  )
})

it("no document grants a role the right to write keys", () => {
  const grants = document.match(/^grant [^;]*;/gm) ?? []
  assert.isNotEmpty(grants)
  for (const grant of grants) {
    const writes = /\b(insert|update|delete|truncate|all)\b/i.exec(grant.replace(/ on .*/s, ""))
    if (writes === null || grant.includes("update (last_used_at) on billwright.api_keys")) continue
    assert.notMatch(grant, /api_keys|all tables/, grant)
  }
})
