/**
 * Events and their deliveries.
 *
 * A delivery lives in two tables: `webhook_pending` is the queue, small and busy, and has those that are not
 * done; what is done moves to `webhook_finished`, which is only ever appended to. So the queue stays as fast
 * with a hundred million deliveries behind it as with none. The view `webhook_deliveries` shows both as one.
 *
 * A lease changes no column of an index, so that claiming writes no index entry. Nothing refers to these tables
 * by foreign keys: each can be pruned by itself.
 */
import type { Migration } from "./Migration.ts"

const accountAndMode = `account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test'))`

// What is written thousands of times a second is checked by what is cheap to check.
const accountAndModeOfMany = `account_id text collate "C" not null check (char_length(account_id) between 1 and 64),
  mode text collate "C" not null check (mode in ('live', 'test'))`

const instant = (name: string): string => `${name} timestamptz(3) check (isfinite(${name}))`
const instantNotNull = (name: string): string => `${name} timestamptz(3) not null check (isfinite(${name}))`

/**
 * Made after the other indexes of its table: as long as a table was never analyzed, the planner takes each index
 * that starts with the tenant for as good as any other, and among equals the newest. The queue is often empty, so
 * it may have no statistics when a burst comes: its other indexes don't start with the tenant at all.
 */
const primaryKey = (schema: string, table: string): string =>
  `alter table ${schema}.${table} add primary key (account_id, mode, id)`

/** The columns that a delivery has in both of its tables. */
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

export const migration0004: Migration = {
  id: 4,
  name: "events_and_deliveries",
  minReader: 2,
  statements: (schema) => [
    `create table ${schema}.events (
  ${accountAndModeOfMany},
  id uuid not null,
  type text collate "C" not null check (char_length(type) between 3 and 100),
  ${instantNotNull("occurred_at")},
  customer_id uuid,
  idempotency_key text collate "C" check (char_length(idempotency_key) between 1 and 255),
  payload text collate "C" not null check (octet_length(payload) between 2 and 262144),
  xid xid8 not null default pg_current_xact_id()
)`,
    `comment on column ${schema}.events.payload is 'What is sent, to the byte.'`,
    `comment on column ${schema}.events.xid is
  'The transaction that published it: the order of the stream. Has no meaning in another cluster.'`,
    `create unique index events_idempotency_key
  on ${schema}.events (account_id, mode, idempotency_key) where idempotency_key is not null`,
    `create index events_xid on ${schema}.events (account_id, mode, xid, id)`,
    `create index events_occurred_at on ${schema}.events (account_id, mode, occurred_at)`,
    `create index events_type on ${schema}.events (account_id, mode, type, id)`,
    `create index events_customer on ${schema}.events (account_id, mode, customer_id, id)
  where customer_id is not null`,
    primaryKey(schema, "events"),

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

    // Half of each page is left free, so that a lease stays on the page of its row; and dead rows are removed
    // long before they are a fifth of the table, because everything that claims passes them by.
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
  ],
}
