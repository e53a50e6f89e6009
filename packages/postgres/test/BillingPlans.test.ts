/**
 * Billing one subscription reads no more rows when the tenant has many, even while the tables have no statistics or old
 * ones: in the first minute, after an import, and when a run has just made thousands of drafts. Postgres counts the rows.
 */
import {
  Billing,
  BillingRuns,
  Coupons,
  Customers,
  Invoices,
  InvoiceStore,
  Meters,
  Redemptions,
  Subscriptions,
  Usage,
} from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { START, subscribe } from "./Invoicing.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const live = Billing.layerWith({ encryption: "none" }).pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient({ poolSize: 1 })),
)

/** `DueQueue.test.ts` counts what is read of the queue. */
const TABLES = [
  "billing_invoice_causes",
  "billing_invoice_lines",
  "billing_invoices",
  "billing_periods",
  "billing_subscriptions",
] as const

const USAGE_TABLES = ["usage_daily", "usage_records"] as const

const SUBSCRIPTIONS = 60
/** How often each step is taken: after 5 executions Postgres may switch to a generic plan. */
const TIMES = 8
/** Most rows of one table that a step on one subscription reads. */
const MOST_ROWS = 25

/** Rows of each table that were read so far, through any index or without one. */
const rowsRead = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select pg_stat_force_next_flush()`
  const rows = yield* sql<{ name: string; read: string }>`select relname as name,
  (seq_tup_read + greatest(coalesce(idx_tup_fetch, 0), (
    select coalesce(sum(i.idx_tup_read), 0) from pg_stat_user_indexes i where i.relid = t.relid
  )))::text as read
from pg_stat_user_tables t where schemaname = 'billwright'`
  return new Map(rows.map(({ name, read }) => [name, Number(read)]))
})

const readsFew = Effect.fnUntraced(function* <E, R>(name: string, step: Effect.Effect<unknown, E, R>) {
  const before = yield* rowsRead
  for (let time = 0; time < TIMES; time++) yield* step
  const after = yield* rowsRead
  const most = TABLES.map((table) => ({
    table,
    rows: Math.round((after.get(table)! - before.get(table)!) / TIMES),
  })).filter(({ rows }) => rows > MOST_ROWS)
  assert.deepStrictEqual(most, [], name)
})

/** Autovacuum would analyze when it likes. */
const keepStatistics = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of [...TABLES, ...USAGE_TABLES]) {
    yield* sql.unsafe(`alter table billwright.${table} set (autovacuum_enabled = off)`)
  }
})

const billsEachByFewRows = Effect.gen(function* () {
  const made = yield* Effect.forEach(Array.from({ length: SUBSCRIPTIONS }), () => subscribe)
  const subscriptions = yield* Subscriptions
  const ids = made.map(({ subscription }) => subscription.id)
  yield* readsFew("create", subscribe)
  yield* readsFew(
    "change",
    Effect.suspend(() => subscriptions.change(ids.pop()!, { quantities: {}, at: "now" })),
  )
  yield* readsFew(
    "cancel",
    Effect.suspend(() => subscriptions.cancel(ids.pop()!, { at: "now" })),
  )
  const { runDue } = yield* BillingRuns
  yield* TestClock.setTime(DateTime.add(START, { hours: 1 }).epochMilliseconds)
  yield* readsFew("finalize", runDue({ limit: 1 }))
  const { list, void: cancel } = yield* Invoices
  const issued = (yield* list({ status: "open", limit: 100 })).data.map(({ id }) => id)
  yield* readsFew(
    "void",
    Effect.suspend(() => cancel(issued.pop()!)),
  )
  yield* TestClock.setTime(DateTime.add(START, { months: 1 }).epochMilliseconds)
  yield* readsFew("renew", runDue({ limit: 1 }))
})

it.live("one subscription of a tenant whose tables were never analyzed", () =>
  Effect.gen(function* () {
    yield* keepStatistics
    yield* TestClock.setTime(START.epochMilliseconds)
    yield* billsEachByFewRows
  }).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(live)),
)

it.live("one subscription of a tenant whose tables were analyzed when there were no drafts", () =>
  Effect.gen(function* () {
    yield* keepStatistics
    const sql = yield* SqlClient.SqlClient
    yield* TestClock.setTime(DateTime.subtract(START, { hours: 2 }).epochMilliseconds)
    for (let time = 0; time < SUBSCRIPTIONS; time++) yield* subscribe
    yield* TestClock.setTime(START.epochMilliseconds)
    yield* (yield* BillingRuns).runDue()
    yield* sql`analyze`
    yield* billsEachByFewRows
  }).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(live)),
)

/** Periods of a subscription that a coupon took something off: the first two. */
const DISCOUNTED = 2
const PERIODS = 30
/**
 * Most versions of an issued invoice that Postgres reads. It also counts earlier versions of a row, which it removes from an
 * index as it likes.
 */
const VERSIONS = 5

it.live("what coupons took off, in a long history of invoices without discounts", () =>
  Effect.gen(function* () {
    yield* keepStatistics
    yield* TestClock.setTime(START.epochMilliseconds)
    const { runDue } = yield* BillingRuns
    const { subscription } = yield* subscribe
    const coupon = {
      code: "TWICE",
      name: "Twice",
      percent: "50",
      duration: "periods",
      periods: DISCOUNTED,
    } as const
    yield* (yield* Coupons).create(coupon)
    yield* (yield* Redemptions).create({ coupon: coupon.code, subscriptionId: subscription.id })
    for (let month = 1; month <= PERIODS; month++) {
      yield* TestClock.setTime(DateTime.add(START, { months: month }).epochMilliseconds)
      yield* runDue()
    }
    yield* TestClock.adjust("1 day")
    yield* runDue()
    const store = yield* InvoiceStore
    const uses = yield* store.couponUses(subscription.id, 0)
    assert.lengthOf(uses, DISCOUNTED)
    const before = (yield* rowsRead).get("billing_invoices")!
    for (let time = 0; time < TIMES; time++) yield* store.couponUses(subscription.id, 0)
    assert.isAtMost((yield* rowsRead).get("billing_invoices")! - before, TIMES * DISCOUNTED * VERSIONS)
    assert.deepStrictEqual(yield* store.couponUses(subscription.id, PERIODS), [])
  }).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(live)),
)

/** Days of usage of each of some customers, a record a day. */
const DAYS = 20
const OTHERS = 40

it.live("usage in a time zone of one customer, whose tables were never analyzed", () =>
  Effect.gen(function* () {
    yield* keepStatistics
    yield* TestClock.setTime(DateTime.add(START, { days: DAYS }).epochMilliseconds)
    const [customers, usage] = [yield* Customers, yield* Usage]
    const use = Effect.fnUntraced(function* (name: string) {
      const { id: customerId } = yield* customers.create({ name, email: `${name}@example.com` })
      const records = Array.from({ length: DAYS }, (_, day) => ({
        customerId,
        productId: "api",
        unit: "call",
        quantity: 1,
        timestamp: DateTime.add(START, { days: day }),
        dimensions: { region: "eu" },
      }))
      yield* usage.recordBatch({ records })
      return customerId
    })
    yield* (yield* Meters).create({ key: "calls", productId: "api", unit: "call", dimensions: ["region"] })
    const customerId = yield* use("first")
    // The days of Berlin are not whole UTC days, so that records are read, too.
    const year = { customerId, startDate: "2026-01-01", endDate: "2026-12-31", timezone: "Europe/Berlin" }
    const read = Effect.all([
      usage.summary({ ...year, productId: "api" }),
      usage.summary({ ...year, meter: "calls", groupBy: "region" }),
    ])
    for (let time = 0; time < TIMES; time++) yield* read
    yield* Effect.forEach(Array.from({ length: OTHERS }), (_, place) => use(`other${place}`))
    const before = yield* rowsRead
    for (let time = 0; time < TIMES; time++) yield* read
    const after = yield* rowsRead
    for (const table of USAGE_TABLES) {
      assert.isAtMost((after.get(table)! - before.get(table)!) / TIMES, 2 * DAYS, table)
    }
  }).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(live)),
)
