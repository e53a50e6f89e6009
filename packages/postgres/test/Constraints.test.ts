/**
 * What the tables refuse by themselves, whoever writes to them.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as TestDatabase from "./TestDatabase.ts"

/** Valid rows: columns with their values as SQL. */
const ROWS = {
  customers: {
    account_id: "'default'",
    mode: "'live'",
    id: "gen_random_uuid()",
    name: "'Ada'",
    email: "'ada@example.com'",
    metadata: "'{}'",
    created_at: "now()",
    updated_at: "now()",
    erased_at: "null",
  },
  usage_records: {
    account_id: "'default'",
    mode: "'live'",
    id: "gen_random_uuid()",
    customer_id: "gen_random_uuid()",
    product_id: "'api'",
    unit: "'call'",
    quantity: "1",
    occurred_at: "now()",
    dimensions: "null",
    idempotency_key: "null",
    voided_at: "null",
    created_at: "now()",
  },
  usage_daily: {
    account_id: "'default'",
    mode: "'live'",
    customer_id: "gen_random_uuid()",
    product_id: "'api'",
    unit: "'call'",
    day: "'2026-01-01'",
    quantity: "1",
    record_count: "1",
  },
  meters: {
    account_id: "'default'",
    mode: "'live'",
    id: "gen_random_uuid()",
    key: "'m' || translate(gen_random_uuid()::text, '-', '_')",
    name: "null",
    product_id: "'api'",
    unit: "'call'",
    aggregation: "'sum'",
    dimensions: `'["model"]'`,
    counted: "null",
    status: "'ready'",
    generation: "'1'",
    rebuild: "null",
    archived_at: "null",
    created_at: "now()",
    updated_at: "now()",
  },
  meter_cells: {
    account_id: "'default'",
    mode: "'live'",
    meter_id: "gen_random_uuid()",
    generation: "1",
    customer_id: "gen_random_uuid()",
    day: "'2026-01-01'",
    combination: "'{a,null}'",
    record_count: "1",
    quantity: "1",
  },
  meter_days: {
    account_id: "'default'",
    mode: "'live'",
    meter_id: "gen_random_uuid()",
    generation: "1",
    customer_id: "gen_random_uuid()",
    day: "'2026-01-01'",
    combination_count: "1",
  },
  meter_works: {
    account_id: "'default'",
    mode: "'live'",
    meter_id: "gen_random_uuid()",
    target: "'build 1'",
    xid: "'1'",
    done: "0",
    total: "0",
  },
  usage_thresholds: {
    account_id: "'default'",
    mode: "'live'",
    id: "gen_random_uuid()",
    customer_id: "gen_random_uuid()",
    product_id: "'api'",
    unit: "'call'",
    quantity: "1",
    period: "'month'",
    created_at: "now()",
    last_fired_at: "null",
  },
} as const

type Table = keyof typeof ROWS

const insert = (table: Table, changes: Readonly<Record<string, string>>): string => {
  const row = { ...ROWS[table], ...changes }
  return `insert into billwright.${table} (${Object.keys(row).join(", ")}) values (${Object.values(row).join(", ")})`
}

const REFUSED: ReadonlyArray<readonly [Table, Readonly<Record<string, string>>]> = [
  ["customers", { mode: "'other'" }],
  ["customers", { account_id: "'a b'" }],
  ["customers", { name: "null" }],
  ["customers", { name: "''" }],
  ["customers", { metadata: "'[]'" }],
  ["customers", { erased_at: "now()" }],
  ["customers", { created_at: "'infinity'" }],
  ["meters", { key: "'A'" }],
  ["meters", { key: "''" }],
  ["meters", { name: "''" }],
  ["meters", { aggregation: "'mean'" }],
  ["meters", { dimensions: "'{}'" }],
  ["meters", { counted: "''" }],
  ["meters", { status: "'done'" }],
  ["meters", { generation: `'"1"'` }],
  ["meters", { rebuild: "'[]'" }],
  ["meters", { archived_at: "'infinity'" }],
  ["meter_cells", { day: "'infinity'" }],
  ["meter_cells", { combination: "'{a,b,c,d,e}'" }],
  ["meter_cells", { record_count: "-1" }],
  ["meter_cells", { quantity: "-1" }],
  ["meter_cells", { quantity: "'NaN'" }],
  ["meter_days", { combination_count: "-1" }],
  ["meter_works", { done: "-1" }],
  ["usage_records", { quantity: "-1" }],
  ["usage_records", { quantity: "9007199254740992" }],
  ["usage_records", { quantity: "'NaN'::float8" }],
  ["usage_records", { quantity: "'Infinity'::float8" }],
  ["usage_records", { occurred_at: "'infinity'" }],
  ["usage_records", { voided_at: "'-infinity'" }],
  ["usage_records", { dimensions: "'[]'" }],
  ["usage_records", { dimensions: "'null'" }],
  ["usage_records", { unit: "''" }],
  ["usage_records", { product_id: "repeat('x', 256)" }],
  ["usage_records", { idempotency_key: "''" }],
  ["usage_daily", { quantity: "-1" }],
  ["usage_daily", { quantity: "'NaN'" }],
  ["usage_daily", { quantity: "'Infinity'" }],
  ["usage_daily", { record_count: "-1" }],
  ["usage_daily", { day: "'infinity'" }],
  ["usage_thresholds", { quantity: "0" }],
  ["usage_thresholds", { quantity: "'NaN'" }],
  ["usage_thresholds", { quantity: "'Infinity'" }],
  ["usage_thresholds", { period: "'year'" }],
]

/** check_violation, or numeric_value_out_of_range for a value that the type can't hold. */
const REFUSALS = ["23514", "22003"]

layer(TestDatabase.layerClient())((it) => {
  it.effect.each(Object.keys(ROWS) as ReadonlyArray<Table>)("a valid row is accepted: %s", (table) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(insert(table, {}))
    }),
  )

  it.effect.each(REFUSED)("%s refuses %o", ([table, changes]) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const error = yield* Effect.flip(sql.unsafe(insert(table, changes)))
      assert.include(REFUSALS, (error.reason.cause as { readonly code?: string }).code)
    }),
  )
})
