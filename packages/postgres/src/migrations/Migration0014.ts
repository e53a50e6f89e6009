/**
 * Test clocks, and what is due by them.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * Rows of the queue with a test clock have an index of their own, and are in no other one. So claims never read them.
 *
 * In test mode, where invoices are issued when a test clock says, numbers still have no gaps, but nothing is said about the
 * instants. In live mode the rules stay.
 */
import type { SchemaName } from "../SchemaName.ts"
import { billingRules } from "./BillingRules.ts"
import type { Migration } from "./Migration.ts"

const accountAndMode = `account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test'))`

const clocks = (schema: SchemaName): ReadonlyArray<string> => [
  `create table ${schema}.test_clocks (
  ${accountAndMode},
  id uuid not null,
  name text check (char_length(name) between 1 and 256),
  now timestamptz(3) not null check (isfinite(now)),
  status text collate "C" not null check (status in ('ready', 'advancing')),
  advancing_to timestamptz(3) check (isfinite(advancing_to)),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  primary key (account_id, mode, id)
)`,
  `create index test_clocks_status on ${schema}.test_clocks (account_id, mode, status, id)`,
  `alter table ${schema}.customers add column test_clock_id uuid`,
  `alter table ${schema}.customers
  add constraint customers_test_clock check (erased_at is null or test_clock_id is null) not valid`,
  `create index customers_test_clock on ${schema}.customers (account_id, mode, test_clock_id, id)
  where test_clock_id is not null`,
]

const queue = (schema: SchemaName): ReadonlyArray<string> => [
  `alter table ${schema}.billing_due add column test_clock_id uuid`,
  `comment on column ${schema}.billing_due.test_clock_id is 'The test clock of the customer. Then due_at and retry_at are by it.'`,
  `drop index ${schema}.billing_due_first, ${schema}.billing_due_retry, ${schema}.billing_due_tenant`,
  `create index billing_due_first on ${schema}.billing_due (due_at, kind, id)
  where attempts = 0 and test_clock_id is null`,
  `create index billing_due_retry on ${schema}.billing_due (retry_at, due_at, kind, id)
  where retry_at is not null and test_clock_id is null`,
  `create index billing_due_tenant on ${schema}.billing_due (account_id, mode, due_at nulls first, kind, id)
  where (attempts = 0 or retry_at is not null) and test_clock_id is null`,
  `create index billing_due_clock on ${schema}.billing_due
  (account_id, mode, test_clock_id, greatest(due_at, retry_at), kind, id)
  where test_clock_id is not null and (attempts = 0 or retry_at is not null)`,
]

/** The functions of the rules about instants, which leave test mode out. */
const rules = (schema: SchemaName): ReadonlyArray<string> =>
  billingRules(schema).flatMap((statement) => {
    const isCount = statement.includes(`function ${schema}.count_issued_invoice() returns`)
    const isNumber = statement.includes(`function ${schema}.check_invoice_number() returns`)
    if (!isCount && !isNumber) return []
    return statement
      .replace("create function", "create or replace function")
      .replace(
        "issued_until = new.issued_at",
        "issued_until = case new.mode when 'live' then new.issued_at else s.issued_until end",
      )
      .replace(
        "coalesce(s.issued_until, '-infinity') <= new.issued_at",
        "(new.mode = 'test' or coalesce(s.issued_until, '-infinity') <= new.issued_at)",
      )
      .replace(
        "when extract(epoch from new.issued_at)",
        "when new.mode = 'live' and extract(epoch from new.issued_at)",
      )
  })

export const migration0014: Migration = {
  id: 14,
  name: "test_clocks",
  minReader: 1,
  statements: (schema: SchemaName) => [...clocks(schema), ...queue(schema), ...rules(schema)],
}
