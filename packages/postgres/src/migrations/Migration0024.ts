/**
 * The queue of billing runs has two lanes, each with indexes of its own: what calls a payment provider, and all else.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const BILLING = "('invoice', 'plan_migration', 'subscription')"

const indexes = (schema: SchemaName, name: string, lane: string): ReadonlyArray<string> => [
  `create index billing_due_${name}first on ${schema}.billing_due (due_at, kind, id)
  where ${lane} and attempts = 0 and test_clock_id is null`,
  `create index billing_due_${name}retry on ${schema}.billing_due (retry_at, due_at, kind, id)
  where ${lane} and retry_at is not null and test_clock_id is null`,
  `create index billing_due_${name}tenant on ${schema}.billing_due (account_id, mode, due_at nulls first, kind, id)
  where ${lane} and (attempts = 0 or retry_at is not null) and test_clock_id is null`,
]

export const migration0024: Migration = {
  id: 24,
  name: "lanes_of_billing_runs",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `drop index ${schema}.billing_due_first, ${schema}.billing_due_retry, ${schema}.billing_due_tenant`,
    ...indexes(schema, "", `kind in ${BILLING}`),
    ...indexes(schema, "calls_", `kind not in ${BILLING}`),
  ],
}
