/**
 * Top-ups, and automatic ones: their rows, their place in the queue of what is due, and the lines of their invoices.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const instant = (name: string): string => `${name} timestamptz(3) not null check (isfinite(${name}))`

const PURCHASE = `account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  customer_id uuid not null,
  id uuid not null,
  unit text collate "C" not null check (unit ~ '^([A-Z]{3}|[a-z][a-z0-9_]{0,63})$'),
  amount numeric(31, 0) not null check (amount between 1 and 1e30 and amount <> 'NaN'),
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  price numeric(31, 0) not null check (price between 1 and 1e15 and price <> 'NaN'),
  tax_code text collate "C" check (tax_code ~ '^[a-z][a-z0-9_]{0,63}$')`

const SCHEDULED = "'auto_top_up', 'payment_method', 'plan_migration', 'refund', 'test_clock'"

export const migration0039: Migration = {
  id: 39,
  name: "top ups",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create table ${schema}.auto_top_ups (
  ${PURCHASE},
  level numeric(31, 0) not null check (level between 1 and 1e30 and level <> 'NaN'),
  max_per_day jsonb not null check (jsonb_typeof(max_per_day) = 'number' and max_per_day between '1' and '100'),
  suspended_at timestamptz(3) check (isfinite(suspended_at)),
  ${instant("created_at")},
  ${instant("updated_at")},
  primary key (account_id, mode, customer_id, id)
)`,
    `create unique index auto_top_ups_id on ${schema}.auto_top_ups (account_id, mode, id)`,
    `create table ${schema}.top_ups (
  ${PURCHASE},
  status text collate "C" not null check (status in ('pending', 'granted', 'canceled')),
  invoice_id uuid not null,
  grant_id uuid,
  auto_top_up_id uuid,
  ${instant("created_at")},
  primary key (account_id, mode, customer_id, id)
)`,
    `create unique index top_ups_id on ${schema}.top_ups (account_id, mode, id)`,
    `create index top_ups_invoice on ${schema}.top_ups (account_id, mode, invoice_id)`,
    `create index top_ups_auto on ${schema}.top_ups (account_id, mode, auto_top_up_id, id)
  where auto_top_up_id is not null`,
    `alter table ${schema}.billing_due drop constraint billing_due_kind, drop constraint billing_due_customer,
  add constraint billing_due_kind check (kind in ('invoice', 'payment', 'subscription', ${SCHEDULED})),
  add constraint billing_due_customer check ((kind in (${SCHEDULED})) = (customer_id is null))`,
    `alter table ${schema}.billing_invoice_lines drop constraint billing_invoice_lines_kind_check,
  add constraint billing_invoice_lines_kind
    check (kind in ('advance', 'usage', 'credit', 'adjustment', 'item', 'true_up', 'top_up'))`,
  ],
}
