/**
 * Credit alerts, and the levels that they watch on accounts.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const instant = (name: string): string => `${name} timestamptz(3) not null check (isfinite(${name}))`

export const migration0034: Migration = {
  id: 34,
  name: "credit alerts",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create table ${schema}.credit_alerts (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  customer_id uuid not null,
  id uuid not null,
  unit text collate "C" not null check (unit ~ '^([A-Z]{3}|[a-z][a-z0-9_]{0,63})$'),
  level numeric(31, 0) not null check (level between 1 and 1e30 and level <> 'NaN'),
  ${instant("created_at")},
  ${instant("updated_at")},
  primary key (account_id, mode, customer_id, id)
)`,
    `create unique index credit_alerts_id on ${schema}.credit_alerts (account_id, mode, id)`,
    `alter table ${schema}.billing_credit_accounts add column levels numeric[] check (cardinality(levels) between 1 and 100)`,
    `comment on column ${schema}.billing_credit_accounts.levels is
  'The levels that are watched: a change that falls below one of them publishes an event. Null: none.'`,
  ],
}
