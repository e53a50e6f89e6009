/**
 * A test event remembers the endpoint that it was made for, and no replay sends it to another.
 *
 * No foreign key refers to the endpoint, as with deliveries: it may be deleted, and its events stay. Events of before
 * say nothing: what was a test then is an event for all that want it.
 */
import type { SchemaName } from "../SchemaName.ts"
import { between, FIRST_ID, LAST_ID } from "./DeliveryFunctions.ts"
import type { Migration } from "./Migration.ts"

const millis = (expression: string): string => `(extract(epoch from ${expression}) * 1000)::bigint::text`
const at = (millis: string): string => `to_timestamp(${millis} / 1000.0::float8)`

const eventJson = (
  schema: SchemaName,
): string => `create or replace function ${schema}.event_json(e ${schema}.events)
returns jsonb language sql stable as $$
  select jsonb_build_object('id', e.id, 'type', e.type, 'occurred_at', ${millis("e.occurred_at")},
    'customer_id', e.customer_id, 'idempotency_key', e.idempotency_key, 'endpoint_id', e.endpoint_id,
    'payload', e.payload)
$$`

/** As in migration 5, and the event remembers which endpoint it was for. */
const publishEventRow = (
  schema: SchemaName,
): string => `create or replace function ${schema}.publish_event_row(
  p_account_id text, p_mode text, p_id uuid, p_type text, p_occurred_at bigint, p_customer_id uuid,
  p_idempotency_key text, p_payload text, p_only_to uuid
) returns table (kind text, xid text, event jsonb) language plpgsql as $$
declare
  v_at timestamptz(3) := to_timestamp(p_occurred_at / 1000.0::float8);
  v_published integer;
  v_first ${schema}.events;
begin
  if p_customer_id is not null then
    perform from ${schema}.customers c
    where c.account_id = p_account_id and c.mode = p_mode and c.id = p_customer_id and c.erased_at is null
    for key share;
    if not found then
      return query select 'unknown_customer', null::text, null::jsonb;
      return;
    end if;
  end if;
  if p_only_to is not null then
    perform from ${schema}.webhook_endpoints w
    where w.account_id = p_account_id and w.mode = p_mode and w.id = p_only_to and w.status = 'enabled'
      and w.deleted_at is null;
    if not found then
      return query select 'unknown_endpoint', null::text, null::jsonb;
      return;
    end if;
  end if;

  with published as (
    insert into ${schema}.events
      (account_id, mode, id, type, occurred_at, customer_id, idempotency_key, endpoint_id, payload)
    values (p_account_id, p_mode, p_id, p_type, v_at, p_customer_id, p_idempotency_key, p_only_to, p_payload)
    on conflict do nothing
    returning 1
  ), queued as (
    insert into ${schema}.webhook_pending
      (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
    select p_account_id, p_mode, ${schema}.offset_id(p_id, row_number() over (order by w.id) - 1), p_id, p_type,
      w.id, 0, v_at, v_at
    from ${schema}.webhook_endpoints w
    where w.account_id = p_account_id and w.mode = p_mode and w.status = 'enabled' and w.deleted_at is null
      and case when p_only_to is null then w.event_types[1] = '*' or p_type = any (w.event_types)
        else w.id = p_only_to end
      and exists (select from published)
  )
  select count(*) into v_published from published;
  if v_published = 1 then
    return query select 'published', pg_current_xact_id_if_assigned()::text, null::jsonb;
    return;
  end if;

  -- Statements of their own: their snapshot has what a concurrent publication has just committed.
  select e.* into v_first from ${schema}.events e
  where e.account_id = p_account_id and e.mode = p_mode and e.idempotency_key = p_idempotency_key;
  if not found then
    select e.* into v_first from ${schema}.events e
    where e.account_id = p_account_id and e.mode = p_mode and e.id = p_id;
    if not found then
      raise exception 'an event of the same idempotency key is not visible yet' using errcode = '40001';
    elsif v_first.payload <> p_payload then
      raise exception 'the event id % is taken', p_id using errcode = '23505';
    end if;
  end if;
  return query select
    case
      when v_first.id = p_id and v_first.payload = p_payload then 'published_before'
      when v_first.type = p_type and v_first.customer_id is not distinct from p_customer_id
        and v_first.endpoint_id is not distinct from p_only_to
        and ${schema}.is_same_data(v_first.payload, p_payload) then 'duplicate'
      else 'key_conflict' end,
    pg_current_xact_id_if_assigned()::text, ${schema}.event_json(v_first);
end
$$`

/** The endpoint `w` of a replay, unless it was deleted. */
const endpointOf = (schema: SchemaName): string => `(
        select w.event_types from ${schema}.webhook_endpoints w
        where w.account_id = p_account_id and w.mode = p_mode and w.id = p_endpoint_id and w.deleted_at is null
      ) as w`

/** Whether an event `e` is in the range, admitted, asked for, of no other endpoint, and has nothing pending to `w`. */
const isWanted = (schema: SchemaName): string => `e.occurred_at >= ${at("p_since")}
        and e.occurred_at < ${at("p_until")}
        and (w.event_types[1] = '*' or e.type = any (w.event_types))
        and (cardinality(p_types) = 0 or e.type = any (p_types))
        and (e.endpoint_id is null or e.endpoint_id = p_endpoint_id)
        and e.id not in (
          select q.event_id from ${schema}.webhook_pending q
          where ${between("q.endpoint_id, q.id", `p_endpoint_id, ${FIRST_ID}`, `p_endpoint_id, ${LAST_ID}`)}
            and q.account_id = p_account_id and q.mode = p_mode
        )`

/**
 * As in migration 5, but never an event that was made for another endpoint. What is pending is looked up by a hash, which
 * has to fit into the memory; it takes as much as there is.
 */
const replayDeliveries = (
  schema: SchemaName,
): string => `create or replace function ${schema}.replay_deliveries(
  p_account_id text, p_mode text, p_endpoint_id uuid, p_since bigint, p_until bigint, p_only_failed boolean,
  p_types text[], p_first_id uuid, p_now bigint, p_limit integer, p_is_dry_run boolean
) returns table (xid text, count bigint) language plpgsql set work_mem = '64MB' as $$
declare
  v_ids uuid[];
  v_types text[];
begin
  perform pg_advisory_xact_lock(hashtextextended('billwright replays for ' || p_endpoint_id::text, 0));
  if p_only_failed then
    -- From the failures to their events, one look-up each: there are few of these and many of those.
    select array_agg(c.id order by c.id), array_agg(c.type order by c.id) into v_ids, v_types
    from (
      select e.id, e.type
      from ${endpointOf(schema)}, (
        select distinct f.event_id from ${schema}.webhook_finished f where f.account_id = p_account_id
          and f.mode = p_mode and f.endpoint_id = p_endpoint_id and f.status = 'Failed'
      ) as f, lateral (
        select e.id, e.type, e.account_id, e.mode, e.occurred_at, e.endpoint_id from ${schema}.events e
        where e.account_id = p_account_id and e.mode = p_mode and e.id = f.event_id offset 0 for key share
      ) as e, lateral (
        select f.status from ${schema}.webhook_finished f where f.account_id = p_account_id and f.mode = p_mode
          and f.event_id = e.id and f.endpoint_id = p_endpoint_id order by f.id desc limit 1
      ) as newest
      where newest.status = 'Failed' and ${isWanted(schema)}
      limit p_limit + 1
    ) as c;
  else
    select array_agg(c.id order by c.id), array_agg(c.type order by c.id) into v_ids, v_types
    from (
      select e.id, e.type from ${endpointOf(schema)}, ${schema}.events e
      where e.account_id = p_account_id and e.mode = p_mode and ${isWanted(schema)}
      limit p_limit + 1 for key share of e
    ) as c;
  end if;
  if cardinality(v_ids) <= p_limit and not p_is_dry_run then
    insert into ${schema}.webhook_pending
      (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
    select p_account_id, p_mode, ${schema}.offset_id(p_first_id, n.ordinal - 1), n.id, n.type, p_endpoint_id, 0,
      ${at("p_now")}, ${at("p_now")}
    from unnest(v_ids, v_types) with ordinality as n (id, type, ordinal);
  end if;
  return query select pg_current_xact_id_if_assigned()::text, coalesce(cardinality(v_ids), 0)::bigint;
end
$$`

export const migration0007: Migration = {
  id: 7,
  name: "events_of_endpoints",
  minReader: 2,
  statements: (schema) => [
    `alter table ${schema}.events add column endpoint_id uuid`,
    `comment on column ${schema}.events.endpoint_id is
  'The endpoint that it was made for: a test event, which goes nowhere else. Null: it is for all that want it.'`,
    eventJson(schema),
    publishEventRow(schema),
    replayDeliveries(schema),
  ],
}
