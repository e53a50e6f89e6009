/**
 * Checks of the books, and reminders of API keys that expire, in the queue of billing runs.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SCHEDULED =
  "'api_key', 'auto_top_up', 'book_check', 'erasure', 'payment_method', 'plan_migration', 'refund', 'test_clock'"

const count = (name: string): string =>
  `${name} jsonb not null check (jsonb_typeof(${name}) = 'number' and ${name} >= '0')`

export const migration0054: Migration = {
  id: 54,
  name: "book_checks",
  minReader: 52,
  statements: (schema: SchemaName) => [
    `create table ${schema}.book_checks (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  id uuid not null,
  night text collate "C" check (char_length(night) between 1 and 64),
  status text collate "C" not null check (status in ('running', 'completed')),
  ${count("invoices")},
  ${count("credit_accounts")},
  ${count("differences")},
  found jsonb not null check (jsonb_typeof(found) = 'array'),
  part text collate "C" not null check (part in ('invoices', 'credits')),
  position text collate "C" check (char_length(position) between 1 and 200),
  completed_at timestamptz(3) check (isfinite(completed_at)),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  primary key (account_id, mode, id)
)`,
    `comment on table ${schema}.book_checks is
  'Checks of the books: each derives all invoices and balances of credits again.'`,
    `create unique index book_checks_night on ${schema}.book_checks (account_id, mode, night)`,
    `create index book_checks_status on ${schema}.book_checks (account_id, mode, status, id)`,
    `alter table ${schema}.billing_due drop constraint billing_due_kind, drop constraint billing_due_customer,
  add constraint billing_due_kind check (kind in ('invoice', 'payment', 'subscription', ${SCHEDULED})),
  add constraint billing_due_customer check ((kind in (${SCHEDULED})) = (customer_id is null))`,
  ],
}
