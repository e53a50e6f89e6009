/**
 * Spend alerts, and the marks of customers whose alerts have to be checked.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const TENANT = `account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  customer_id uuid not null,
  id uuid not null`

const instant = (name: string, rest = ""): string => `${name} timestamptz(3)${rest} check (isfinite(${name}))`

export const migration0031: Migration = {
  id: 31,
  name: "spend alerts",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `alter table ${schema}.customers
  add column spend_alert_count integer not null default 0 check (spend_alert_count >= 0)`,
    `comment on column ${schema}.customers.spend_alert_count is
  'How many spend alerts the customer has: tells an append without a look-up whether there are any.'`,
    `create table ${schema}.spend_alerts (
  ${TENANT},
  subscription_id uuid,
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  amount numeric(31, 0) not null check (amount between 1 and 1e30 and amount <> 'NaN'),
  repeat text collate "C" not null check (repeat in ('once', 'multiples')),
  action text collate "C" not null check (action in ('notify', 'block')),
  fired_amount numeric(31, 0) not null check (fired_amount between 0 and 1e30 and fired_amount <> 'NaN'),
  ${instant("fired_period_start")},
  ${instant("fired_at")},
  ${instant("blocked_until")},
  ${instant("created_at", " not null")},
  ${instant("updated_at", " not null")},
  primary key (account_id, mode, customer_id, id)
)`,
    `create unique index spend_alerts_id on ${schema}.spend_alerts (account_id, mode, id)`,
    // Without a key of the customer: a mark waits for nothing. Those without an instant of their own come first.
    `create table ${schema}.spend_marks (
  ${TENANT},
  due_at timestamptz(3) not null default '-infinity',
  attempts integer not null default 0 check (attempts >= 0),
  primary key (account_id, mode, customer_id, id)
)`,
    `create index spend_marks_due on ${schema}.spend_marks (due_at, id)`,
  ],
}
