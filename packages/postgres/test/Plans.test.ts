/**
 * No frequent query reads a whole table. Postgres counts sequential scans, including those inside functions, and no
 * method of the stores increases the counts.
 */
import {
  type ApiKey,
  ApiKeyStore,
  Billing,
  type CollectionOf,
  Collections,
  type CurrentTenant,
  Customer,
  Dimensions,
  Id,
  IdempotencyStore,
  InvalidInput,
  type Page,
  Threshold,
  Usage,
  type UsageRecord,
  UsageStore,
} from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const live = Billing.layer.pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient({ poolSize: 1 })),
)

/** More than 5 executions: after those Postgres may switch to a generic plan. */
const EXECUTIONS = 8

const uuid = (table: number, row: number): string =>
  `01940000-0000-7000-8${String(table).padStart(3, "0")}-${row.toString(16).padStart(12, "0")}`
const customerId = (row: number) => Id.fromUuid("cus", uuid(1, row)) as Customer.CustomerId
const recordId = (row: number) => Id.fromUuid("usg", uuid(2, row)) as UsageRecord.UsageRecordId
const thresholdId = (row: number) => Id.fromUuid("thr", uuid(3, row)) as Threshold.ThresholdId
const keyId = (row: number) => Id.fromUuid("key", uuid(4, row)) as ApiKey.ApiKeyId

const sqlUuid = (table: number, row: string) =>
  `('01940000-0000-7000-8${String(table).padStart(3, "0")}-' || lpad(to_hex(${row}), 12, '0'))::uuid`

/**
 * On a busy machine this takes longer than the statement timeout. The pool has one connection, so the setting stays.
 */
const unhurried = "set statement_timeout = 0"

/** 20,000 customers, 60,000 records of 2,000 of them over 30 days, their roll-ups, and some of everything else. */
const fill = [
  unhurried,
  `insert into billwright.customers (account_id, mode, id, name, email, search_text, metadata, created_at, updated_at, threshold_count)
select 'default', 'live', ${sqlUuid(1, "n")}, 'n', 'c' || n || '@b', 'n' || chr(10) || 'c' || n || '@b.', '{}', now(), now(), 30 * (n % 2) from generate_series(0, 19999) n`,
  `insert into billwright.usage_records
  (account_id, mode, customer_id, id, product_id, unit, quantity, occurred_at, idempotency_key, created_at)
select 'default', 'live', ${sqlUuid(1, "n % 2000")}, ${sqlUuid(2, "n")}, 'p' || n % 3, 'u', 1,
  '2026-01-01T00:00:00Z'::timestamptz + (n % 720) * interval '1 hour', 'k' || n, now() from generate_series(0, 59999) n`,
  // Customer 0 has a busy month: 40,000 records, 55 an hour.
  `insert into billwright.usage_records
  (account_id, mode, customer_id, id, product_id, unit, quantity, occurred_at, idempotency_key, created_at)
select 'default', 'live', ${sqlUuid(1, "0")}, ${sqlUuid(5, "n")}, 'p' || n % 3, 'u', 1,
  '2026-01-01T00:00:00Z'::timestamptz + (n % 720) * interval '1 hour', null, now() from generate_series(0, 39999) n`,
  `insert into billwright.usage_daily
select account_id, mode, customer_id, product_id, unit, (occurred_at at time zone 'UTC')::date, sum(quantity), count(*)
from billwright.usage_records group by 1, 2, 3, 4, 5, 6`,
  `insert into billwright.usage_thresholds
  (account_id, mode, id, customer_id, product_id, unit, quantity, period, created_at)
select 'default', 'live', ${sqlUuid(3, "n")}, ${sqlUuid(1, "2 * (n % 1000) + 1")}, 'p' || n / 1000, 'u', 1,
  (array['day', 'month', 'lifetime'])[1 + n % 3], now() from generate_series(0, 29999) n`,
  `insert into billwright.usage_threshold_firings
select account_id, mode, id, '2020-01-' || lpad((1 + d)::text, 2, '0'), 1, now()
from billwright.usage_thresholds, generate_series(0, 4) d`,
  `insert into billwright.api_keys (account_id, mode, id, name, scopes, hint, digest, created_at)
select 'default', 'live', ${sqlUuid(4, "n")}, 'n', '{}', 'abcd', lpad(to_hex(n), 64, '0'), now()
from generate_series(0, 4999) n`,
  // Revoking a key takes its reminder off the queue.
  `insert into billwright.billing_due (account_id, mode, kind, id, due_at)
select 'default', 'live', 'api_key', ${sqlUuid(4, "n")}, now() from generate_series(0, 4999) n`,
  `insert into billwright.idempotency_keys
  (account_id, mode, request_digest, fingerprint, response_status, response_body, expires_at)
select 'default', 'live', sha256(int4send(n)), 'f', 200, '{}', '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 hour'
from generate_series(0, 4999) n`,
  // Firing a threshold looks for endpoints of its tenant.
  `insert into billwright.webhook_endpoints
  (account_id, mode, id, url, event_types, headers, metadata, signature, secrets, status, created_at, updated_at)
select 'other' || n, 'live', ${sqlUuid(6, "n")}, 'https://example.com', '{*}', '{}', '{}', 'hmac', '[]', 'enabled',
  now(), now() from generate_series(0, 4999) n`,
  "analyze",
]

const scans = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select pg_stat_force_next_flush()`
  const rows = yield* sql<{ name: string; scans: string }>`select relname as name, seq_scan::text as scans
from pg_stat_user_tables where schemaname = 'billwright' and relname <> 'schema_migrations'`
  return new Map(rows.map(({ name, scans }) => [name, scans]))
})

const day = (text: string): DateTime.Utc => DateTime.makeUnsafe(`${text}T00:00:00Z`)
const millis = (text: string): number => DateTime.makeUnsafe(text).epochMilliseconds

let serial = 0
const newRecord = (customer: number, key: string | null): UsageRecord.NewUsageRecord => ({
  id: Id.fromUuid("usg", uuid(9, serial++)) as UsageRecord.UsageRecordId,
  customerId: customerId(customer),
  productId: "p0",
  quantity: 1,
  unit: "u",
  dimensions: Dimensions.NONE,
  timestamp: day("2026-01-05"),
  hasOwnTimestamp: true,
  idempotencyKey: key,
  voidedAt: null,
  createdAt: day("2026-02-01"),
})

const everybody = { email: undefined, search: undefined }
const first: Page.PageQuery = { limit: 20, cursor: undefined }

type Verb = (n: number) => Effect.Effect<unknown, unknown, CurrentTenant>

const verbs = (
  usage: UsageStore["Service"],
  thresholds: CollectionOf<typeof Threshold.thresholds>,
  customers: CollectionOf<typeof Customer.customers>,
  keys: ApiKeyStore["Service"],
  idempotency: IdempotencyStore["Service"],
) => {
  const totals = (n: number, boundaries: ReadonlyArray<number | undefined>, productId?: string) =>
    usage.totals({ customerId: customerId(n), productId, unit: undefined, boundaries, by: "meter" })
  const days = Array.from({ length: 31 }, (_, index) => millis("2026-01-01T00:00:00Z") + index * 86_400_000)
  const hours = Array.from({ length: 25 }, (_, index) => millis("2026-01-05T00:30:00Z") + index * 3_600_000)
  return {
    "append of one": (n: number) => usage.append([newRecord(n, `one ${n}`)]),
    "append of many": (n: number) =>
      usage.append(
        Array.from({ length: 500 }, (_, index) => newRecord((n * 500 + index) % 2000, `many ${n} ${index}`)),
      ),
    "append of what is there": (n: number) =>
      usage.append([newRecord(0, "k0"), newRecord(n, "again"), newRecord(n, "again")]),
    "find a record": (n: number) => usage.find(recordId(n)),
    void: (n: number) => usage.void(recordId(n), day("2026-02-01")),
    "list records": (n: number) =>
      usage.list({ customerId: customerId(n), productId: undefined, unit: undefined }, first),
    "list records further": (n: number) =>
      usage.list(
        { customerId: customerId(n), productId: "p0", unit: "u" },
        { limit: 20, cursor: { direction: "older", id: recordId(n) } },
      ),
    "total of all": (n: number) => totals(n, [undefined, undefined]),
    "total of a month": (n: number) =>
      totals(n, [millis("2026-01-01T00:00:00Z"), millis("2026-02-01T00:00:00Z")], "p0"),
    "total of a month elsewhere": (n: number) =>
      totals(n, [millis("2025-12-31T23:00:00Z"), millis("2026-01-31T23:00:00Z")]),
    "totals of days": (n: number) => totals(n, days),
    "totals of hours": (n: number) => totals(n, hours),
    units: (n: number) => usage.units(customerId(n), 2),
    "find a threshold": (n: number) => thresholds.find(thresholdId(n)),
    "list thresholds": () => thresholds.list({ customerId: undefined }, first),
    "list thresholds of a customer": (n: number) => thresholds.list({ customerId: customerId(n) }, first),
    "insert a threshold": (n: number) =>
      thresholds.insert({
        id: Id.fromUuid("thr", uuid(8, n)) as Threshold.ThresholdId,
        customerId: customerId(n),
        productId: "p1",
        unit: "u",
        quantity: 1n,
        period: "day",
        createdAt: day("2026-02-01"),
        lastFiredAt: null,
      }),
    "delete a threshold": (n: number) => thresholds.remove(thresholdId(n)),
    "find a customer": (n: number) => customers.find(customerId(n)),
    "status of a customer": (n: number) => customers.status(customerId(n)),
    "modify a customer": (n: number) => customers.modify(customerId(n), Effect.succeed),
    "erase a customer": (n: number) => customers.remove(customerId(1900 + n)),
    "list customers": () => customers.list(everybody, first),
    "list customers further": (n: number) =>
      customers.list(everybody, { limit: 20, cursor: { direction: "newer", id: customerId(n) } }),
    "list customers by e-mail": (n: number) => customers.list({ ...everybody, email: `c${n}@b` }, first),
    "search what few customers have": (n: number) =>
      customers.list({ ...everybody, search: `c${n}@b` }, first),
    "search what all customers have": () => customers.list({ ...everybody, search: "@b." }, first),
    "find a key by digest": (n: number) => keys.findByDigest(n.toString(16).padStart(64, "0")),
    "find a key": (n: number) => keys.find(keyId(n)),
    "list keys": () => keys.list(first),
    "touch a key": (n: number) => keys.touch(keyId(n), day("2026-02-01")),
    "revoke a key": (n: number) => keys.revoke(keyId(n), day("2026-02-01")),
    once: (n: number) =>
      idempotency.once(
        { method: "POST", path: "/v1/usage", key: `k${n % 4}`, fingerprint: "f" },
        { now: day("2026-02-01"), expiresAt: day("2027-02-01") },
        Effect.succeed({ status: 200, body: "{}" }),
      ),
    sweep: () => idempotency.sweep(day("2026-01-03"), 10),
  } satisfies Record<string, Verb>
}

/** Rows of a table that were read so far, through any index. */
const rowsRead = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select pg_stat_force_next_flush()`
  const rows = yield* sql<{ read: string }>`select (seq_tup_read + idx_tup_fetch)::text as read
from pg_stat_user_tables where schemaname = 'billwright' and relname = ${table}`
  return Number(rows[0]?.read)
})

/** One customer with 50,000 products in a day, and with 100 on each of 30 days. */
const fillProducts = `insert into billwright.usage_daily
  (account_id, mode, customer_id, product_id, unit, day, quantity, record_count)
select 'default', 'live', ${sqlUuid(1, "19999")}, 'many ' || n, 'u', '2026-01-31', 1, 1 from generate_series(0, 49999) n
union all
select 'default', 'live', ${sqlUuid(1, "19999")}, 'some ' || n % 100, 'u', '2026-01-01'::date + n / 100, 1, 1
from generate_series(0, 2999) n`

describe("a series by product of a customer with very many products", () => {
  layer(live, { excludeTestServices: true })((it) => {
    it.effect("is refused after reading one roll-up more than the limit", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const usage = yield* Usage
        for (const statement of [...fill.slice(0, 2), fillProducts, "analyze"]) yield* sql.unsafe(statement)
        const series = (startDate: string, endDate: string) =>
          usage.series({
            customerId: customerId(19_999),
            startDate,
            endDate,
            window: "day",
            groupBy: "product_id",
          })
        for (const [startDate, most] of [
          ["2026-01-31", 10_001],
          ["2026-01-02", 30 * 333 + 1],
        ] as const) {
          const before = yield* rowsRead("usage_daily")
          const error = yield* Effect.flip(series(startDate, "2026-01-31"))
          assert.instanceOf(error, InvalidInput)
          assert.match(error.message, /^groupBy gives more than 10000 points/)
          assert.isAtMost((yield* rowsRead("usage_daily")) - before, most)
        }
        assert.lengthOf(yield* series("2026-01-01", "2026-01-30"), 30 * 100)
      }).pipe(asTenant),
    )
  })
})

describe("frequent queries", () => {
  layer(live, { excludeTestServices: true })((it) => {
    it.effect(
      "scan no table",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          for (const statement of fill) yield* sql.unsafe(statement)
          const all = verbs(
            yield* UsageStore,
            (yield* Collections).of(Threshold.thresholds),
            (yield* Collections).of(Customer.customers),
            yield* ApiKeyStore,
            yield* IdempotencyStore,
          )
          for (const [name, verb] of Object.entries<Verb>(all)) {
            const before = yield* scans
            for (let n = 1; n <= EXECUTIONS; n++) yield* verb(n)
            assert.deepStrictEqual(yield* scans, before, name)
          }

          // A Berlin month of the busy customer: whole days from the roll-ups, and two single hours from the records.
          const recordsBefore = yield* rowsRead("usage_records")
          for (let n = 1; n <= EXECUTIONS; n++) yield* all["total of a month elsewhere"](0)
          assert.isAtMost((yield* rowsRead("usage_records")) - recordsBefore, EXECUTIONS * 2 * 60)
          // Two of its 30 days.
          const start = millis("2026-01-05T00:00:00Z")
          const twoDays = Effect.flatMap(UsageStore, (usage) =>
            usage.totals({
              customerId: customerId(0),
              productId: undefined,
              unit: undefined,
              boundaries: [start, start + 2 * 86_400_000],
              by: "unit",
            }),
          )
          const daysBefore = yield* rowsRead("usage_daily")
          for (let n = 1; n <= EXECUTIONS; n++) yield* twoDays
          assert.isAtMost((yield* rowsRead("usage_daily")) - daysBefore, EXECUTIONS * 2 * 3)

          // First the newest, one by one; then at most as many as match.
          for (const [name, most] of [
            ["search what few customers have", 2_100],
            ["search what all customers have", 2_100],
          ] as const) {
            const customersBefore = yield* rowsRead("customers")
            for (let n = 1; n <= EXECUTIONS; n++) yield* all[name](n)
            assert.isAtMost((yield* rowsRead("customers")) - customersBefore, EXECUTIONS * most, name)
          }
          // One of the oldest, and those whose text begins like its.
          const found = yield* Effect.flatMap(Collections, (collections) =>
            collections.of(Customer.customers).list({ ...everybody, search: "c19@" }, first),
          )
          assert.deepStrictEqual(
            found.data.map(({ id }) => id),
            [customerId(19)],
          )

          const audit = yield* Effect.flatMap(UsageStore, (usage) => usage.audit)
          assert.deepStrictEqual(audit, [])
          assert.notDeepEqual(yield* scans, new Map(), "the counts include our tables")
        }).pipe(asTenant),
      60_000,
    )
  })
})
