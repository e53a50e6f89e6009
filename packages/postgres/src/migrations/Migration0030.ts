/**
 * What customers consumed of features, and the limits that they reached.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * What Postgres refuses by itself, whoever writes:
 *
 * - A second consumption of a customer with a key, and a limit that is noted twice.
 * - `refuse_change_of_entitlement`, at once: consumptions and limits never change, and none is removed.
 *
 * Messages contain no values, because they reach logs.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const SETTINGS = "language plpgsql set search_path = pg_catalog, pg_temp"

const CUSTOMER = `account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  customer_id uuid not null`

const key = (name: string): string =>
  `${name} text collate "C" not null check (${name} ~ '^[a-z][a-z0-9_]{0,63}$')`
const amount = (name: string): string => `${name} numeric(60, 0) not null check (${name} >= 0)`
const instant = (name: string): string => `${name} timestamptz(3) not null check (isfinite(${name}))`

const tables = (schema: SchemaName): ReadonlyArray<string> => [
  `create table ${schema}.billing_entitlement_locks (
  ${CUSTOMER},
  sequence bigint not null check (sequence >= 1),
  primary key (account_id, mode, customer_id)
)`,
  `create table ${schema}.billing_entitlement_consumptions (
  ${CUSTOMER},
  idempotency_key text collate "C" not null check (char_length(idempotency_key) between 1 and 255),
  ${key("feature")},
  quantity bigint not null check (quantity between 1 and 9007199254740991),
  dimensions jsonb not null check (jsonb_typeof(dimensions) = 'object'),
  usage_record_id uuid not null,
  subscription_id uuid not null,
  ${key("meter")},
  reason text collate "C" not null check (reason in ('included', 'overage')),
  limit_type text collate "C" not null check (limit_type in ('hard', 'soft')),
  ${amount("usage_limit")},
  ${amount("used")},
  ${instant("period_start")},
  ${instant("resets_at")},
  ${instant("created_at")},
  primary key (account_id, mode, customer_id, idempotency_key),
  constraint billing_entitlement_consumptions_hard check (limit_type = 'soft' or used <= usage_limit),
  constraint billing_entitlement_consumptions_reason check (reason = 'overage' or used <= usage_limit)
)`,
  `create table ${schema}.billing_entitlement_limits (
  ${CUSTOMER},
  ${key("feature")},
  subscription_id uuid not null,
  ${instant("period_start")},
  ${amount("usage_limit")},
  ${instant("reached_at")},
  primary key (account_id, mode, customer_id, feature, subscription_id, period_start, usage_limit)
)`,
]

const rules = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.refuse_change_of_entitlement() returns trigger ${SETTINGS} as $$
begin
  raise exception 'what was consumed of entitlements and which limits were reached does not change'
    using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_table_name || '_are_final';
end
$$`,
  ...["consumptions", "limits"].flatMap((name) => [
    `create trigger billing_entitlement_${name}_are_final before update or delete
on ${schema}.billing_entitlement_${name} for each row execute function ${schema}.refuse_change_of_entitlement()`,
    `create trigger billing_entitlement_${name}_stay before truncate
on ${schema}.billing_entitlement_${name} for each statement execute function ${schema}.refuse_change_of_entitlement()`,
  ]),
]

export const migration0030: Migration = {
  id: 30,
  name: "entitlements",
  minReader: 1,
  statements: (schema: SchemaName) => [...tables(schema), ...rules(schema)],
}
