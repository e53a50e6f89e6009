/**
 * The first tables.
 *
 * Every key starts with the account and the mode, so that no query leaves its tenant. The keys of usage go on
 * with the customer, so that `usage_records` and `usage_daily` can be distributed by customer; nothing refers
 * to them, and they refer to nothing, by foreign keys. Text compares by bytes (`collate "C"`): equality is
 * that of JavaScript, order doesn't depend on the machine, and indexes are fast.
 */
import type { Migration } from "./Migration.ts"

export const migration0001: Migration = {
  id: 1,
  name: "tables",
  minReader: 1,
  statements: (schema) => [
    `create table ${schema}.customers (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  id uuid not null,
  name text check (char_length(name) between 1 and 256),
  email text collate "C" check (char_length(email) between 3 and 254),
  metadata jsonb check (jsonb_typeof(metadata) = 'object'),
  threshold_count integer not null default 0 check (threshold_count >= 0),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  updated_at timestamptz(3) not null check (isfinite(updated_at)),
  erased_at timestamptz(3) check (isfinite(erased_at)),
  primary key (account_id, mode, id),
  constraint customers_erased check (
    case when erased_at is null then name is not null and email is not null and metadata is not null
    else name is null and email is null and metadata is null end
  )
)`,
    `comment on column ${schema}.customers.threshold_count is
  'How many usage thresholds the customer has: tells an append without a look-up whether there are any.'`,
    `create index customers_email on ${schema}.customers (account_id, mode, email, id) where email is not null`,

    `create table ${schema}.usage_records (
  account_id text collate "C" not null check (char_length(account_id) between 1 and 64),
  mode text collate "C" not null check (mode in ('live', 'test')),
  customer_id uuid not null,
  id uuid not null,
  product_id text collate "C" not null check (char_length(product_id) between 1 and 255),
  unit text collate "C" not null check (char_length(unit) between 1 and 64),
  quantity bigint not null check (quantity between 0 and 9007199254740991),
  occurred_at timestamptz(3) not null check (isfinite(occurred_at)),
  idempotency_key text collate "C" check (char_length(idempotency_key) between 1 and 255),
  voided_at timestamptz(3) check (isfinite(voided_at)),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  primary key (account_id, mode, customer_id, id)
)`,
    `create unique index usage_records_idempotency_key
  on ${schema}.usage_records (account_id, mode, customer_id, idempotency_key) where idempotency_key is not null`,
    `create index usage_records_occurred_at on ${schema}.usage_records (account_id, mode, customer_id, occurred_at)`,
    `create index usage_records_id on ${schema}.usage_records (account_id, mode, id)`,

    // Roll-ups are updated in place: room on each page lets an update stay there and leave the indexes alone.
    `create table ${schema}.usage_daily (
  account_id text collate "C" not null check (char_length(account_id) between 1 and 64),
  mode text collate "C" not null check (mode in ('live', 'test')),
  customer_id uuid not null,
  product_id text collate "C" not null check (char_length(product_id) between 1 and 255),
  unit text collate "C" not null check (char_length(unit) between 1 and 64),
  day date not null check (isfinite(day)),
  quantity numeric(38, 0) not null check (quantity >= 0 and quantity <> 'NaN'),
  record_count bigint not null check (record_count >= 0),
  primary key (account_id, mode, customer_id, product_id, unit, day)
) with (fillfactor = 70)`,
    `comment on column ${schema}.usage_daily.day is 'A UTC day.'`,
    `create index usage_daily_day on ${schema}.usage_daily (account_id, mode, customer_id, day)`,

    `create table ${schema}.usage_thresholds (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  id uuid not null,
  customer_id uuid not null,
  product_id text collate "C" not null check (char_length(product_id) between 1 and 255),
  unit text collate "C" not null check (char_length(unit) between 1 and 64),
  quantity numeric(31, 0) not null check (quantity between 1 and 1e30 and quantity <> 'NaN'),
  period text collate "C" not null check (period in ('day', 'month', 'lifetime')),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  last_fired_at timestamptz(3) check (isfinite(last_fired_at)),
  check_count bigint not null default 0,
  primary key (account_id, mode, id)
) with (fillfactor = 70)`,
    `comment on column ${schema}.usage_thresholds.check_count is
  'Counts checks. Changing it makes concurrent checks of a threshold wait for each other, at every isolation level.'`,
    `create index usage_thresholds_meter
  on ${schema}.usage_thresholds (account_id, mode, customer_id, product_id, unit, id)`,
    `create table ${schema}.usage_threshold_firings (
  account_id text collate "C" not null,
  mode text collate "C" not null,
  threshold_id uuid not null,
  period_key text collate "C" not null check (period_key ~ '^(\\d{4}-\\d{2}(-\\d{2})?|lifetime)$'),
  total numeric(38, 0) not null check (total >= 0 and total <> 'NaN'),
  fired_at timestamptz(3) not null check (isfinite(fired_at)),
  primary key (account_id, mode, threshold_id, period_key),
  foreign key (account_id, mode, threshold_id)
    references ${schema}.usage_thresholds (account_id, mode, id) on delete cascade
)`,

    // The one unique rule that doesn't start with the tenant: a secret is what tells the tenant.
    `create table ${schema}.api_keys (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 128),
  scopes text[] not null check (cardinality(scopes) <= 12),
  hint text not null check (char_length(hint) between 1 and 16),
  digest text collate "C" not null check (digest ~ '^[0-9a-f]{64}$'),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  expires_at timestamptz(3) check (isfinite(expires_at)),
  revoked_at timestamptz(3) check (isfinite(revoked_at)),
  last_used_at timestamptz(3) check (isfinite(last_used_at)),
  primary key (account_id, mode, id)
)`,
    `create unique index api_keys_digest on ${schema}.api_keys (digest)`,
    `create index api_keys_id on ${schema}.api_keys (id)`,

    // The key is a digest because paths have no limit that an index could hold.
    `create table ${schema}.idempotency_keys (
  account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test')),
  request_digest bytea not null check (octet_length(request_digest) = 32),
  fingerprint text collate "C" not null,
  response_status integer not null,
  response_body text not null,
  subject text collate "C",
  expires_at timestamptz(3) not null check (isfinite(expires_at)),
  primary key (account_id, mode, request_digest)
)`,
    `comment on column ${schema}.idempotency_keys.request_digest is
  'SHA-256 of method, path and Idempotency-Key, separated by line feeds.'`,
    `create index idempotency_keys_subject
  on ${schema}.idempotency_keys (account_id, mode, subject) where subject is not null`,
    `create index idempotency_keys_expires_at on ${schema}.idempotency_keys (expires_at)`,
  ],
}
