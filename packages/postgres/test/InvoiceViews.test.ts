/**
 * The views that hosts join have the columns that docs/postgres.md promises, and show what the library shows.
 */
import { readFileSync } from "node:fs"
import { Billing, Id } from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { advanceTo, allInvoices, START, subscribe, use } from "./Invoicing.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const document = readFileSync(new URL("../../../docs/postgres.md", import.meta.url), "utf8")

const VIEWS = [
  "subscriptions",
  "invoices",
  "invoice_lines",
  "credit_notes",
  "payments",
  "journal",
  "journal_schedule",
  "receivable_aging",
]

const services = Billing.layer.pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient()),
)

it.live("the views have the documented columns, and the example reads an invoice", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(START.epochMilliseconds)
    const { customer, subscription } = yield* subscribe
    yield* use(customer, 1_500)
    yield* advanceTo(DateTime.add(START, { months: 1, hours: 2 }).epochMilliseconds)
    const sql = yield* SqlClient.SqlClient
    for (const view of VIEWS) {
      const columns = yield* sql<{
        names: string
      }>`select string_agg(column_name, ', ' order by ordinal_position) as names
from information_schema.columns where table_schema = 'billwright' and table_name = ${view}`
      const documented = new RegExp(String.raw`^\| \`${view}\`[^\n]*\| \`([^\`]*)\``, "m").exec(document)?.[1]
      assert.strictEqual(columns[0]?.names, documented, view)
    }
    const [row] = yield* sql<
      Record<string, unknown>
    >`select id::text, phase, plan_key, plan_version, period_end::text
from billwright.subscriptions`
    assert.deepStrictEqual(row, {
      id: Id.toUuid(subscription.id),
      phase: "active",
      plan_key: "pro",
      plan_version: 1,
      period_end: "2026-03-31 12:00:00+00",
    })
    const example = /```sql\n(select i\.number[^`]*)```/.exec(document)?.[1] ?? ""
    const lines = yield* sql.unsafe<
      Record<"amount" | "number" | "total", string> & Record<"charge" | "quantity", string | null>
    >(example.replace(/cus_[0-9a-z]{26}/, customer.id))
    const invoices = yield* allInvoices
    assert.deepStrictEqual(
      lines.map(({ amount, charge, number, quantity, total }) => [
        number,
        BigInt(total),
        charge,
        quantity,
        BigInt(amount),
      ]),
      invoices.flatMap((invoice) =>
        invoice.lines.map(({ amount, charge, quantity }) => [
          invoice.number,
          invoice.total,
          charge,
          quantity,
          amount,
        ]),
      ),
    )
    assert.lengthOf(lines, 3)
  }).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(services)),
)
