/**
 * The tables.
 *
 * This file is frozen: a test compares a digest of its statements. To change the tables, write a new migration.
 *
 * Every key starts with the account and the mode, so that no query leaves its tenant. In the keys of usage the
 * customer comes next, so that `usage_records` and `usage_daily` can be distributed by customer. No foreign key
 * refers to these two tables or starts from them. Text compares by bytes (`collate "C"`): equality is the same as in
 * JavaScript, the order doesn't depend on the machine, and indexes are fast.
 *
 * Deliveries are in two tables. `webhook_pending` is the queue: small, busy, and with only those that are not done.
 * Done deliveries move to `webhook_finished`, to which rows are only ever added. So the queue stays as fast with a
 * hundred million finished deliveries as with none. The view `webhook_deliveries` shows both as one table.
 *
 * A lease changes no indexed column, so claiming writes no index entries. No foreign key refers to events or
 * deliveries, so each table can be pruned by itself.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const accountAndMode = `account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test'))`

// Tables with thousands of inserts each second get only cheap checks.
const accountAndModeOfMany = `account_id text collate "C" not null check (char_length(account_id) between 1 and 64),
  mode text collate "C" not null check (mode in ('live', 'test'))`

const instant = (name: string): string => `${name} timestamptz(3) check (isfinite(${name}))`
const instantNotNull = (name: string): string => `${name} timestamptz(3) not null check (isfinite(${name}))`

/**
 * The primary key, added after the table's other indexes. While a table was never analyzed, the planner considers all
 * indexes that start with the tenant equally good, and takes the newest of them. The queue is often empty, so it may
 * have no statistics when a burst comes. Only one of its other indexes starts with the tenant, and that one has an
 * order that only claims ask for.
 */
const primaryKey = (schema: string, table: string): string =>
  `alter table ${schema}.${table} add primary key (account_id, mode, id)`

/** The columns that a delivery has in both tables. */
const deliveryColumns = `${accountAndModeOfMany},
  id uuid not null,
  event_id uuid not null,
  event_type text collate "C" not null check (char_length(event_type) between 3 and 100),
  endpoint_id uuid not null,
  attempt_count integer not null check (attempt_count >= 0),
  last_response_status smallint check (last_response_status between 100 and 599),
  last_error text collate "C" check (char_length(last_error) between 1 and 64),
  ${instantNotNull("created_at")}`

const commonColumns = `account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, last_response_status,
  last_error, created_at`

const customers = (schema: SchemaName): ReadonlyArray<string> => [
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
  search_text text collate "C",
  primary key (account_id, mode, id),
  constraint customers_erased check (
    case when erased_at is null then name is not null and email is not null and metadata is not null
    else name is null and email is null and metadata is null end
  ),
  constraint customers_search check (erased_at is null or search_text is null)
)`,
  `comment on column ${schema}.customers.threshold_count is
  'How many usage thresholds the customer has: tells an append without a look-up whether there are any.'`,
  `create index customers_email on ${schema}.customers (account_id, mode, email, id) where email is not null`,
  // `search_text` is what core makes of name and e-mail address (`Customer.searchText`), so that all storages
  // consider the same letters equal. The index holds every sequence of three letters, each with the tenant before it:
  // a row that contains a text contains all of the text's sequences. It needs no extension (`pg_trgm`), which not
  // every server has and not everybody may create. The function below built the index, so it is frozen like the
  // table.
  `create function ${schema}.customer_search_keys(p_account_id text, p_mode text, p_text text) returns text[]
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $$
  select array_agg(distinct p_account_id || '/' || p_mode || '/' || substr(p_text, n, 3))
  from generate_series(1, char_length(p_text) - 2) as n
$$`,
  `create index customers_search on ${schema}.customers
  using gin (${schema}.customer_search_keys(account_id, mode, search_text)) where search_text is not null`,
]

const usage = (schema: SchemaName): ReadonlyArray<string> => [
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

  // Roll-ups are updated in place. With free room on each page, an update stays on its page and changes no index.
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
]

const thresholds = (schema: SchemaName): ReadonlyArray<string> => [
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
]

const keys = (schema: SchemaName): ReadonlyArray<string> => [
  // The only unique index that doesn't start with the tenant: the secret tells who the tenant is.
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

  // The key is a digest, because paths have no limit, and an index entry does.
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
]

const events = (schema: SchemaName): ReadonlyArray<string> => [
  `create table ${schema}.events (
  ${accountAndModeOfMany},
  id uuid not null,
  type text collate "C" not null check (char_length(type) between 3 and 100),
  ${instantNotNull("occurred_at")},
  customer_id uuid,
  idempotency_key text collate "C" check (char_length(idempotency_key) between 1 and 255),
  payload text collate "C" not null check (octet_length(payload) between 2 and 262144),
  xid xid8 not null default pg_current_xact_id(),
  endpoint_id uuid
)`,
  `comment on column ${schema}.events.payload is 'What is sent, to the byte.'`,
  `comment on column ${schema}.events.xid is
  'The transaction that published it: the order of the stream. Has no meaning in another cluster.'`,
  `comment on column ${schema}.events.endpoint_id is
  'The endpoint that it was made for: a test event, which goes nowhere else. Null: it is for all that want it.'`,
  `create unique index events_idempotency_key
  on ${schema}.events (account_id, mode, idempotency_key) where idempotency_key is not null`,
  `create index events_xid on ${schema}.events (account_id, mode, xid, id)`,
  `create index events_occurred_at on ${schema}.events (account_id, mode, occurred_at)`,
  `create index events_type on ${schema}.events (account_id, mode, type, id)`,
  `create index events_customer on ${schema}.events (account_id, mode, customer_id, id)
  where customer_id is not null`,
  primaryKey(schema, "events"),
]

const endpoints = (schema: SchemaName): ReadonlyArray<string> => [
  `create table ${schema}.webhook_endpoints (
  ${accountAndMode},
  id uuid not null,
  url text collate "C" not null check (char_length(url) between 1 and 2048),
  event_types text[] collate "C" not null check (cardinality(event_types) between 1 and 1000),
  description text check (char_length(description) <= 500),
  headers jsonb not null check (jsonb_typeof(headers) = 'object'),
  metadata jsonb not null check (jsonb_typeof(metadata) = 'object'),
  signature text collate "C" not null check (signature in ('hmac', 'ed25519')),
  public_key text collate "C" check (char_length(public_key) between 1 and 255),
  secrets jsonb not null check (jsonb_typeof(secrets) = 'array'),
  status text collate "C" not null check (status in ('enabled', 'disabled')),
  disabled_reason text collate "C" check (char_length(disabled_reason) between 1 and 64),
  ${instant("disabled_at")},
  ${instant("failing_since")},
  ${instantNotNull("created_at")},
  ${instantNotNull("updated_at")},
  ${instant("deleted_at")},
  primary key (account_id, mode, id),
  constraint webhook_endpoints_disabled check (
    (status = 'disabled') = (disabled_reason is not null) and (status = 'disabled') = (disabled_at is not null)
  ),
  constraint webhook_endpoints_deleted check (deleted_at is null or secrets = '[]' and headers = '{}')
) with (fillfactor = 70)`,
  `comment on column ${schema}.webhook_endpoints.secrets is 'Encrypted, the newest first. A deleted endpoint has none.'`,
  `create index webhook_endpoints_enabled on ${schema}.webhook_endpoints (account_id, mode, id)
  where status = 'enabled' and deleted_at is null`,
]

const deliveries = (schema: SchemaName): ReadonlyArray<string> => [
  // Half of each page is left free, so that a lease stays on the page of its row. Dead rows are removed long before
  // they are a fifth of the table, because every claim has to skip them.
  `create table ${schema}.webhook_pending (
  ${deliveryColumns},
  ${instantNotNull("due_at")},
  lease_token uuid,
  ${instant("leased_at")},
  ${instant("leased_until")},
  constraint webhook_pending_lease check (
    (leased_until is null) = (leased_at is null) and (leased_until is null or lease_token is not null)
  )
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.2)`,
  `comment on table ${schema}.webhook_pending is 'Deliveries that are not done: the queue.'`,
  `comment on column ${schema}.webhook_pending.lease_token is
  'Names the newest lease. It is over when leased_until is null or past.'`,
  `create index webhook_pending_due on ${schema}.webhook_pending (due_at, id)`,
  `create index webhook_pending_endpoint_due on ${schema}.webhook_pending (endpoint_id, due_at)`,
  `create index webhook_pending_endpoint on ${schema}.webhook_pending (endpoint_id, id)`,
  `create index webhook_pending_event on ${schema}.webhook_pending (event_id, id)`,
  primaryKey(schema, "webhook_pending"),
  // Claims that go from tenant to tenant ask for nulls first. There are no nulls; but no other index has this order.
  `create index webhook_pending_tenant_due on ${schema}.webhook_pending (account_id, mode, due_at nulls first, id)`,

  `create table ${schema}.webhook_finished (
  ${deliveryColumns},
  status text collate "C" not null check (status in ('Delivered', 'Failed')),
  reason text collate "C" check (char_length(reason) between 1 and 64),
  ${instantNotNull("finished_at")},
  lease_token uuid,
  constraint webhook_finished_reason check ((status = 'Failed') = (reason is not null))
)`,
  `comment on table ${schema}.webhook_finished is 'Deliveries that are done. Rows never change.'`,
  `comment on column ${schema}.webhook_finished.lease_token is
  'The lease under which it was done: tells a repeated settlement.'`,
  `create index webhook_finished_endpoint on ${schema}.webhook_finished (account_id, mode, endpoint_id, id)`,
  `create index webhook_finished_event on ${schema}.webhook_finished (account_id, mode, event_id, id)`,
  `create index webhook_finished_failed on ${schema}.webhook_finished (account_id, mode, id)
  where status = 'Failed'`,
  `create index webhook_finished_failed_endpoint on ${schema}.webhook_finished (account_id, mode, endpoint_id, id)
  where status = 'Failed'`,
  `create index webhook_finished_failed_event on ${schema}.webhook_finished (account_id, mode, event_id)
  where status = 'Failed'`,
  primaryKey(schema, "webhook_finished"),

  `create view ${schema}.webhook_deliveries as
select ${commonColumns}, 'Pending'::text collate "C" as status, null::text collate "C" as reason,
  coalesce(leased_until, due_at) as due_at, null::timestamptz(3) as finished_at
from ${schema}.webhook_pending
union all
select ${commonColumns}, status, reason, null::timestamptz(3), finished_at
from ${schema}.webhook_finished`,
  `comment on view ${schema}.webhook_deliveries is
  'All deliveries. due_at is when the next attempt is due, or when the lease of one that is under way ends.'`,

  `create table ${schema}.webhook_attempts (
  ${accountAndModeOfMany},
  delivery_id uuid not null,
  number integer not null check (number >= 1),
  ${instantNotNull("started_at")},
  duration_ms integer check (duration_ms >= 0),
  request_headers json not null,
  response_status smallint check (response_status between 100 and 599),
  response_headers json,
  response_body text,
  error text collate "C" check (char_length(error) between 1 and 64),
  primary key (account_id, mode, delivery_id, number)
)`,

  `create table ${schema}.webhook_hourly (
  ${accountAndModeOfMany},
  hour timestamptz(3) not null check (isfinite(hour)),
  endpoint_id uuid not null,
  delivered bigint not null check (delivered >= 0),
  failed bigint not null check (failed >= 0),
  failed_attempts bigint not null check (failed_attempts >= 0),
  primary key (account_id, mode, hour, endpoint_id)
) with (fillfactor = 70)`,
  `comment on table ${schema}.webhook_hourly is 'What happened to deliveries, counted by hour of UTC and endpoint.'`,
]

const functions = (schema: SchemaName): ReadonlyArray<string> => [
  `create table ${schema}.schema_functions (
  name text collate "C" primary key,
  digest text collate "C" not null,
  release text collate "C" not null
)`,
  `comment on table ${schema}.schema_functions is
  'The functions as they were last written: the SHA-256 of their text, and the newest release that has migrated.'`,
]

export const migration0001: Migration = {
  id: 1,
  name: "tables",
  minReader: 1,
  statements: (schema) => [
    ...customers(schema),
    ...usage(schema),
    ...thresholds(schema),
    ...keys(schema),
    ...events(schema),
    ...endpoints(schema),
    ...deliveries(schema),
    ...functions(schema),
  ],
}
