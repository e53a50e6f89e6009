/**
 * Statements are not planned anew for each call: after the first five executions Postgres keeps the generic plan, because it seems
 * to cost no more than plans for given values. Making a plan often takes longer than the statement itself.
 */
import {
  Billing,
  Credits,
  Customers,
  Endpoints,
  Entitlements,
  Events,
  Invoices,
  Subscriptions,
  Usage,
} from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { subscribe, use } from "./Invoicing.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { publish } from "./Webhooks.ts"

const live = Billing.layerWith({ encryption: "none" }).pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient({ poolSize: 1 })),
)

const TIMES = 20
/** How many executions Postgres plans for their values before it compares the costs. */
const PLANNED = 5

/** What an app does with a customer over and over. */
const work = Effect.gen(function* () {
  const { customer, subscription } = yield* subscribe
  const { id: customerId } = customer
  const credits = yield* Credits
  const usage = yield* Usage
  yield* use(customer, 5)
  yield* usage.summary({ customerId, startDate: "2026-01-01", endDate: "2026-12-31" })
  yield* usage.summary({ customerId, meter: "calls", startDate: "2026-01-01", endDate: "2026-12-31" })
  yield* credits.grant({ customerId, unit: "EUR", kind: "paid", amount: 500n })
  yield* credits.balance({ customerId, unit: "EUR" })
  yield* (yield* Entitlements).list({ customerId })
  yield* (yield* Subscriptions).get(subscription.id)
  yield* (yield* Subscriptions).list({ customerId })
  yield* (yield* Invoices).list({ customerId })
  yield* (yield* Invoices).upcoming(subscription.id)
  yield* (yield* Customers).get(customerId)
  yield* publish({ customerId })
  yield* publish({ idempotencyKey: crypto.randomUUID() })
  yield* Effect.all([publish(), publish(), publish()], { concurrency: "unbounded" })
  yield* (yield* Events).list({ limit: 10 })
  yield* (yield* Subscriptions).cancel(subscription.id, { at: "now" })
})

interface Prepared {
  readonly statement: string
  readonly custom: number
  readonly generic: number
}

/** How often each prepared statement ran with a plan for its values, and with the one that is kept. */
const prepared = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Prepared>`
select statement, custom_plans::integer as custom, generic_plans::integer as generic from pg_prepared_statements`,
)

/**
 * Tables that grow fast. Statements that look up lists in them are planned anew on purpose: a plan that was kept while they were
 * small reads all of them, until Postgres analyzes them again (`BillingPlans.test.ts`).
 */
const GROWING = /billing_(invoices|invoice_lines|periods|subscriptions)\b|usage_records\b/

/** Some of the statements that would be planned anew. */
const FREQUENT = [
  /from billwright\.publish_event_row\(/,
  /from billwright\.publish_event_rows\(/,
  /from "billwright"\.usage_daily/,
  /join lateral \(select t\.\* from "billwright"\.plan_versions/,
]

it.live("a plan is kept for what an app does over and over", () =>
  asTenant(
    Effect.gen(function* () {
      yield* (yield* Endpoints).create({ url: "https://example.com/hooks", eventTypes: ["*"] })
      for (let time = 0; time < TIMES; time++) yield* work
      const all = yield* prepared
      assert.deepStrictEqual(
        all.filter(({ custom, statement }) => custom > PLANNED && !GROWING.test(statement)),
        [],
      )
      for (const frequent of FREQUENT) {
        const found = all.filter(({ statement }) => frequent.test(statement))
        assert.isAtLeast(Math.max(...found.map(({ generic }) => generic)), TIMES - PLANNED, String(frequent))
      }
    }),
  ).pipe(Effect.provide(live)),
)
