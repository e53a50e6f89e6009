/**
 * Items of invoices.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * The index of lines refuses a second line of an item. A line of 0 takes nothing of it.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0013: Migration = {
  id: 13,
  name: "invoice_items",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create table ${schema}.invoice_items (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  id uuid not null,
  customer_id uuid not null,
  subscription_id uuid,
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  amount numeric(16, 0) not null check (amount between -1e15 and 1e15 and amount <> 0),
  description text not null check (char_length(description) between 1 and 500),
  period_start timestamptz(3) check (isfinite(period_start)),
  period_end timestamptz(3) check (isfinite(period_end)),
  tax_code text collate "C" check (tax_code ~ '^[a-z][a-z0-9_]{0,63}$'),
  metadata jsonb not null check (jsonb_typeof(metadata) = 'object'),
  status text collate "C" not null check (status in ('pending', 'invoiced')),
  invoice_id uuid,
  created_at timestamptz(3) not null check (isfinite(created_at)),
  primary key (account_id, mode, customer_id, id)
)`,
    `create unique index invoice_items_id on ${schema}.invoice_items (account_id, mode, id)`,
    `create index invoice_items_pending on ${schema}.invoice_items (account_id, mode, customer_id, currency, id)
  where status = 'pending'`,
    `create index invoice_items_invoice on ${schema}.invoice_items (account_id, mode, invoice_id, id)
  where invoice_id is not null`,
    `create unique index billing_invoice_lines_item
  on ${schema}.billing_invoice_lines (account_id, mode, customer_id, id) where kind = 'item' and amount <> 0`,
  ],
}
