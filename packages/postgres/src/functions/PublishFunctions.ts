/**
 * The functions that publish events, for this library and for any other client.
 */
import { instantOf, millisText } from "../Millis.ts"
import { ANNOUNCES, CHANNEL, IN_TRANSACTION, MAX_QUEUE_USAGE } from "../Notices.ts"
import type { SchemaName } from "../SchemaName.ts"
import { offsetOf } from "./IdFunctions.ts"
import * as Leases from "./PublishLeases.ts"
import { define } from "./SqlFunction.ts"

/** The instant as JavaScript writes it. lpad, because to_char doesn't pad years before 1000 to four digits. */
export const formatInstant = define(
  "format_instant",
  () => `(p_at timestamptz) returns text language sql stable strict as $$
  select lpad(extract(year from u.at)::text, 4, '0') || to_char(u.at, '-MM-DD"T"HH24:MI:SS.MS"Z"')
  from (select p_at at time zone 'UTC') as u (at)
$$`,
)

export const eventJson = define(
  "event_json",
  (schema) => `(e ${schema}.events) returns jsonb language sql stable as $$
  select jsonb_build_object('id', e.id, 'type', e.type, 'occurred_at', ${millisText("e.occurred_at")},
    'customer_id', e.customer_id, 'idempotency_key', e.idempotency_key, 'endpoint_id', e.endpoint_id,
    'payload', e.payload)
$$`,
)

/** `Event.render`; `p_data` is the text of the data. */
export const eventPayload = define(
  "event_payload",
  (schema) => `(p_id uuid, p_type text, p_at timestamptz, p_mode text, p_data text)
returns text language sql stable strict as $$
  select '{"id":"' || ${schema}.format_id('evt', p_id) || '","type":"' || p_type || '","timestamp":"'
    || ${schema}.format_instant(p_at) || '","livemode":' || (p_mode = 'live')::text || ',"data":' || p_data || '}'
$$`,
)

/**
 * Compares the texts first, which mostly decides it. A number beyond the range of `numeric` is equal only to its own
 * text.
 */
export const isSameData = define(
  "is_same_data",
  () => `(p_first text, p_second text) returns boolean language plpgsql immutable as $$
begin
  if substr(p_first, strpos(p_first, ',"data":')) = substr(p_second, strpos(p_second, ',"data":')) then
    return true;
  end if;
  return p_first::jsonb -> 'data' = p_second::jsonb -> 'data';
exception when numeric_value_out_of_range then
  return false;
end
$$`,
)

/** The shortest pause between two notifications from within transactions, of all transactions together. */
const NOTICE_MILLIS = 5

/**
 * Has Postgres notify waiting workers when the caller's transaction commits. Clients of this library announce their commits
 * themselves, and say so by a setting.
 *
 * Commits with `NOTIFY` wait for each other. So only one transaction asks for one in each 5 milliseconds, and it asks
 * once, whatever it publishes. That time is kept in a sequence, which others see at once. A caller who may not write it
 * asks for none. Postgres can't prepare a transaction with `NOTIFY` for a commit in two phases, so none is asked for
 * where such transactions are allowed.
 */
export const announceCommit = define(
  "announce_commit",
  (schema) => `() returns void language plpgsql as $$
declare
  v_time bigint := (extract(epoch from clock_timestamp()) * 1000)::bigint / ${NOTICE_MILLIS};
begin
  if coalesce(current_setting('${ANNOUNCES}', true), '') <> '' then return; end if;
  if current_setting('max_prepared_transactions')::integer > 0
    or not has_sequence_privilege('${schema}.commit_notices', 'select')
    or not has_sequence_privilege('${schema}.commit_notices', 'update') then return;
  end if;
  if (select s.last_value from ${schema}.commit_notices s) = v_time
    or pg_notification_queue_usage() > ${MAX_QUEUE_USAGE} then return;
  end if;
  perform setval('${schema}.commit_notices', v_time), set_config('${ANNOUNCES}', 'done', true),
    pg_notify('${CHANNEL}', '${schema} ${IN_TRANSACTION}');
end
$$`,
)

/** Calls `announce_commit` unless the client announces its commits itself: then the call would only cost time. */
const announcing = (schema: SchemaName): string =>
  `if coalesce(current_setting('${ANNOUNCES}', true), '') = '' then perform ${schema}.announce_commit(); end if;`

/**
 * A function that gives one row. Otherwise the planner expects a thousand, and then the generic plan of a statement that works
 * on the row seems to cost more than a new plan for each call.
 */
const ONE_ROW = "rows 1"

/**
 * Before the caller's transaction commits, nobody sees the new rows. So only the customer is locked, against erasure.
 * An endpoint that is disabled at the same time may get a delivery. The claim of that delivery finds the endpoint
 * disabled. If the delivery was leased by the publication, it is sent.
 */
export const publishEventRow = define(
  "publish_event_row",
  (schema) => `(
  p_account_id text, p_mode text, p_id uuid, p_type text, p_occurred_at bigint, p_customer_id uuid,
  p_idempotency_key text, p_payload text, p_only_to uuid, ${Leases.PARAMETERS}
) returns table (kind text, xid text, event jsonb, ${Leases.RESULTS}) language plpgsql ${ONE_ROW} as $$
declare
  v_at timestamptz(3) := ${instantOf("p_occurred_at")};
  v_published integer;
  v_first ${schema}.events;
  ${Leases.VARIABLES}
begin
  if p_customer_id is not null then
    perform from ${schema}.customers c
    where c.account_id = p_account_id and c.mode = p_mode and c.id = p_customer_id and c.erased_at is null
    for key share;
    if not found then
      return query select 'unknown_customer', null::text, null::jsonb, null::json, null::boolean;
      return;
    end if;
  end if;
  if p_only_to is not null then
    perform from ${schema}.webhook_endpoints w
    where w.account_id = p_account_id and w.mode = p_mode and w.id = p_only_to and w.status = 'enabled'
      and w.deleted_at is null;
    if not found then
      return query select 'unknown_endpoint', null::text, null::jsonb, null::json, null::boolean;
      return;
    end if;
  end if;
${Leases.takeOffer(schema, "1", "array[p_occurred_at]")}
  with published as (
    insert into ${schema}.events
      (account_id, mode, id, type, occurred_at, customer_id, idempotency_key, endpoint_id, payload)
    values (p_account_id, p_mode, p_id, p_type, v_at, p_customer_id, p_idempotency_key, p_only_to, p_payload)
    on conflict do nothing
    returning 1
  ), queued as (
    insert into ${schema}.webhook_pending
      (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at, ${Leases.COLUMNS})
    select p_account_id, p_mode, ${offsetOf("p_id", "(d.number - 1)")}, p_id, p_type, d.endpoint_id, 0, v_at, v_at,
      ${Leases.leaseOf("v_at")}
    from (
      select w.id as endpoint_id, row_number() over (order by w.id) as number, ${Leases.placeOf("w.id")} as place
      from ${schema}.webhook_endpoints w
      where w.account_id = p_account_id and w.mode = p_mode and w.status = 'enabled' and w.deleted_at is null
        and case when p_only_to is null then w.event_types[1] = '*' or p_type = any (w.event_types)
          else w.id = p_only_to end
        and exists (select from published)
    ) as d
    returning id, event_id, endpoint_id, lease_token, ctid as tid
  )
  select (select count(*) from published), ${Leases.leased(schema)} into v_published, ${Leases.LEASED_INTO};
  if v_published = 1 then
    ${announcing(schema)}${Leases.NOTIFY}
    return query select 'published', pg_current_xact_id_if_assigned()::text, null::jsonb, v_leased, v_has_due;
    return;
  end if;

  -- These are new statements, so their snapshot has what a concurrent publication has just committed.
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
    pg_current_xact_id_if_assigned()::text, ${schema}.event_json(v_first), null::json, null::boolean;
end
$$`,
)

/**
 * Publishes many events without idempotency keys to all endpoints that want them. Says which were published: all but those of
 * unknown customers. An event that is there already, with the same id and payload, was published by the same call, whose
 * answer was lost.
 */
export const publishEventRows = define(
  "publish_event_rows",
  (schema) => `(
  p_account_id text, p_mode text, p_ids uuid[], p_types text[], p_occurred_ats bigint[], p_customer_ids uuid[],
  p_payloads text[], ${Leases.PARAMETERS}
) returns table (xid text, is_published boolean[], ${Leases.RESULTS}) language plpgsql ${ONE_ROW} as $$
declare
  v_customers uuid[] := '{}';
  v_published uuid[];
  ${Leases.VARIABLES}
begin
  if array_remove(p_customer_ids, null) <> '{}' then
    select coalesce(array_agg(c.id), '{}') into v_customers from (
      select c.id from ${schema}.customers c
      where c.account_id = p_account_id and c.mode = p_mode and c.id = any (p_customer_ids) and c.erased_at is null
      order by c.account_id, c.mode, c.id for key share
    ) as c;
  end if;
${Leases.takeOffer(schema, "cardinality(p_ids)", "p_occurred_ats")}
  with published as (
    insert into ${schema}.events (account_id, mode, id, type, occurred_at, customer_id, payload)
    select p_account_id, p_mode, g.id, g.type, ${instantOf("g.at")}, g.customer_id, g.payload
    from unnest(p_ids, p_types, p_occurred_ats, p_customer_ids, p_payloads) with ordinality
      as g (id, type, at, customer_id, payload, ordinal)
    where g.customer_id is null or g.customer_id = any (v_customers) order by g.ordinal
    on conflict do nothing
    returning id, type, occurred_at
  ), queued as (
    insert into ${schema}.webhook_pending
      (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at, ${Leases.COLUMNS})
    select p_account_id, p_mode, ${offsetOf("d.event_id", "(d.number - 1)")}, d.event_id, d.event_type, d.endpoint_id, 0,
      d.occurred_at, d.occurred_at, ${Leases.leaseOf("d.occurred_at")}
    from (
      select e.id as event_id, e.type as event_type, e.occurred_at, w.id as endpoint_id,
        row_number() over (partition by e.id order by w.id) as number, ${Leases.placeOf("e.id, w.id")} as place
      from published e join ${schema}.webhook_endpoints w
        on w.account_id = p_account_id and w.mode = p_mode and w.status = 'enabled' and w.deleted_at is null
        and (w.event_types[1] = '*' or e.type = any (w.event_types))
    ) as d
    returning id, event_id, endpoint_id, lease_token, ctid as tid
  )
  select (select coalesce(array_agg(e.id), '{}') from published e), ${Leases.leased(schema)} into v_published, ${Leases.LEASED_INTO};
  if cardinality(v_published) < cardinality(p_ids) then
    v_has_due := null; -- not known: some may have been published before
    select v_published || coalesce(array_agg(e.id), '{}') into v_published
    from unnest(p_ids, p_payloads) as g (id, payload), ${schema}.events e
    where e.account_id = p_account_id and e.mode = p_mode and e.id = g.id and e.payload = g.payload
      and not e.id = any (v_published);
    perform from unnest(p_ids, p_customer_ids) as g (id, customer_id)
    where (g.customer_id is null or g.customer_id = any (v_customers)) and not g.id = any (v_published);
    if found then
      raise exception 'the id of an event is taken' using errcode = '23505';
    end if;
  end if;
  if v_published <> '{}' then
    ${announcing(schema)}${Leases.NOTIFY}
  end if;
  return query select pg_current_xact_id_if_assigned()::text,
    (select array_agg(g.id = any (v_published) order by g.ordinal) from unnest(p_ids) with ordinality as g (id, ordinal)),
    v_leased, v_has_due;
end
$$`,
  { isByIndex: true },
)
