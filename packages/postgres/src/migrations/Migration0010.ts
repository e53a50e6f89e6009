/**
 * Migrations of plans.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * They are in the queue of billing runs, and belong to no customer.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const version = (name: string, rest: string): string =>
  `${name} jsonb ${rest}check (jsonb_typeof(${name}) = 'number' and ${name} between '1' and '2147483647')`

const list = (name: string): string => `${name} jsonb not null check (jsonb_typeof(${name}) = 'array')`

export const migration0010: Migration = {
  id: 10,
  name: "plan_migrations",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create table ${schema}.plan_migrations (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  id uuid not null,
  plan text collate "C" not null check (char_length(plan) between 1 and 64),
  ${version("from_version", "")},
  ${version("to_version", "not null ")},
  at text collate "C" not null check (at in ('now', 'period_end')),
  dry_run jsonb not null check (jsonb_typeof(dry_run) = 'boolean'),
  status text collate "C" not null check (status in ('running', 'completed')),
  counts jsonb not null check (jsonb_typeof(counts) = 'object'),
  ${list("failures")},
  ${list("amounts")},
  ${list("differences")},
  position text collate "C" check (char_length(position) between 1 and 64),
  completed_at timestamptz(3) check (isfinite(completed_at)),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  primary key (account_id, mode, id)
)`,
    `create index plan_migrations_status on ${schema}.plan_migrations (account_id, mode, status, id)`,
    `alter table ${schema}.billing_due drop constraint billing_due_kind_check, alter column customer_id drop not null,
  add constraint billing_due_kind check (kind in ('invoice', 'plan_migration', 'subscription')),
  add constraint billing_due_customer check ((kind = 'plan_migration') = (customer_id is null))`,
    `create index billing_subscriptions_plan on ${schema}.billing_subscriptions
  (account_id, mode, (state -> 'plan' ->> 'key'), id)`,
    // It stays the last index, which the planner takes for a look-up by id while the table was never analyzed.
    `drop index ${schema}.billing_subscriptions_id`,
    `create index billing_subscriptions_id on ${schema}.billing_subscriptions (account_id, mode, id)`,
  ],
}
