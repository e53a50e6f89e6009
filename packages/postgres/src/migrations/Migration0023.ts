/**
 * Payment methods.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * A customer has one default at most. They are in the queue of billing runs, as migrations of plans are.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const text = (name: string, length: number, rest = ""): string =>
  `${name} text collate "C"${rest} check (char_length(${name}) between 1 and ${length})`
const instant = (name: string, rest = ""): string => `${name} timestamptz(3)${rest} check (isfinite(${name}))`

export const migration0023: Migration = {
  id: 23,
  name: "payment_methods",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create table ${schema}.payment_methods (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  id uuid not null,
  customer_id uuid not null,
  ${text("provider", 64, " not null")},
  status text collate "C" not null check (status in ('pending', 'attached', 'failed', 'detached')),
  is_default jsonb not null check (jsonb_typeof(is_default) = 'boolean'),
  ${text("type", 40)},
  ${text("brand", 40)},
  last4 text collate "C" check (char_length(last4) = 4),
  expiry jsonb check (jsonb_typeof(expiry) = 'object'),
  ${instant("expiring_since")},
  ${text("failure_code", 100)},
  ${text("reference", 255)},
  ${text("provider_customer", 255)},
  ${text("setup_reference", 255)},
  metadata jsonb not null check (jsonb_typeof(metadata) = 'object'),
  ${instant("detached_at")},
  ${instant("created_at", " not null")},
  ${instant("updated_at", " not null")},
  primary key (account_id, mode, customer_id, id)
)`,
    `create unique index payment_methods_id on ${schema}.payment_methods (account_id, mode, id)`,
    `create unique index payment_methods_one_default on ${schema}.payment_methods (account_id, mode, customer_id)
  where is_default = 'true'`,
    `create index payment_methods_status on ${schema}.payment_methods (account_id, mode, customer_id, status, id)`,
    `alter table ${schema}.billing_due drop constraint billing_due_kind, drop constraint billing_due_customer,
  add constraint billing_due_kind
    check (kind in ('invoice', 'payment', 'payment_method', 'plan_migration', 'subscription', 'test_clock')),
  add constraint billing_due_customer check ((kind in ('payment_method', 'plan_migration', 'test_clock')) = (customer_id is null))`,
  ],
}
