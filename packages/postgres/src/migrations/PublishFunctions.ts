/**
 * The functions through which events are published, by this library and by any other client.
 */
import type { SchemaName } from "../SchemaName.ts"
import { FIXED_PATH } from "./SearchPath.ts"

/** Milliseconds since 1970 as text: the same for every client, whatever it makes of timestamps and int8. */
const millis = (expression: string): string => `(extract(epoch from ${expression}) * 1000)::bigint::text`

const valueFunctions = (schema: SchemaName): ReadonlyArray<string> => [
  // \`Id.offset\`: the last 48 bits of an id are the last 12 digits of its text.
  `create function ${schema}.offset_id(p_id uuid, p_distance bigint) returns uuid language sql immutable strict ${FIXED_PATH} as $$
  select (left(p_id::text, 24) || lpad(to_hex(
    (('x' || right(p_id::text, 12))::bit(48)::bigint + p_distance) & 281474976710655), 12, '0'))::uuid
$$`,
  // As JavaScript writes it. lpad, because to_char writes years before 1000 its own way.
  `create function ${schema}.format_instant(p_at timestamptz) returns text language sql stable strict ${FIXED_PATH} as $$
  select lpad(extract(year from u.at)::text, 4, '0') || to_char(u.at, '-MM-DD"T"HH24:MI:SS.MS"Z"')
  from (select p_at at time zone 'UTC') as u (at)
$$`,
  `create function ${schema}.event_json(e ${schema}.events) returns jsonb language sql stable ${FIXED_PATH} as $$
  select jsonb_build_object('id', e.id, 'type', e.type, 'occurred_at', ${millis("e.occurred_at")},
    'customer_id', e.customer_id, 'idempotency_key', e.idempotency_key, 'payload', e.payload)
$$`,
  // \`Event.render\`; \`p_data\` is the text of the data.
  `create function ${schema}.event_payload(p_id uuid, p_type text, p_at timestamptz, p_mode text, p_data text)
returns text language sql stable strict ${FIXED_PATH} as $$
  select '{"id":"' || ${schema}.format_id('evt', p_id) || '","type":"' || p_type || '","timestamp":"'
    || ${schema}.format_instant(p_at) || '","livemode":' || (p_mode = 'live')::text || ',"data":' || p_data || '}'
$$`,
  // The texts mostly tell already. A number that numeric can't hold equals itself alone.
  `create function ${schema}.is_same_data(p_first text, p_second text) returns boolean language plpgsql immutable ${FIXED_PATH} as $$
begin
  if substr(p_first, strpos(p_first, ',"data":')) = substr(p_second, strpos(p_second, ',"data":')) then
    return true;
  end if;
  return p_first::jsonb -> 'data' = p_second::jsonb -> 'data';
exception when numeric_value_out_of_range then
  return false;
end
$$`,
]

/**
 * What is published before the caller's transaction commits is seen by nobody, so nothing is locked but the
 * customer, against erasure. An endpoint that is disabled meanwhile may get a delivery: whoever claims it sees
 * the endpoint as it is then.
 */
export const publishEventRow = (
  schema: SchemaName,
): string => `create or replace function ${schema}.publish_event_row(
  p_account_id text, p_mode text, p_id uuid, p_type text, p_occurred_at bigint, p_customer_id uuid,
  p_idempotency_key text, p_payload text, p_only_to uuid
) returns table (kind text, xid text, event jsonb) language plpgsql ${FIXED_PATH} as $$
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

/**
 * As in migration 2, and each firing publishes an event: \`ThresholdEvent.make\`, to the byte.
 *
 * \`to_json\` escapes text exactly as \`JSON.stringify\` does.
 */
const fireThresholds = (schema: SchemaName): string => `create or replace function ${schema}.fire_thresholds(
  p_account_id text, p_mode text, p_watched uuid[], p_recorded uuid[], p_ids uuid[], p_customer_ids uuid[], p_product_ids text[],
  p_units text[], p_timestamps bigint[], p_created_at bigint[]
) returns setof jsonb language plpgsql ${FIXED_PATH} as $$
declare
  v_due uuid[];
  v_id uuid;
  v_threshold ${schema}.usage_thresholds;
  v_period record;
  v_total numeric;
  v_at timestamptz(3);
  v_last_record uuid;
  v_published_at bigint;
  v_event uuid;
  v_event_count bigint := 0;
begin
  -- From the meters to their thresholds, one index look-up each: \`offset 0\` keeps the planner from reading all
  -- thresholds instead.
  select array_agg(distinct t.id order by t.id) into v_due
  from (
    select distinct n.customer_id, n.product_id, n.unit, n.occurred_at
    from unnest(p_ids, p_customer_ids, p_product_ids, p_units, p_timestamps)
      as n (id, customer_id, product_id, unit, occurred_at)
    where n.customer_id = any (p_watched) and n.id = any (p_recorded)
  ) as m, lateral (
    select t.account_id, t.mode, t.id, t.period from ${schema}.usage_thresholds t
    where t.account_id = p_account_id and t.mode = p_mode and t.customer_id = m.customer_id
      and t.product_id = m.product_id and t.unit = m.unit offset 0
  ) as t
  where not exists (
    select from ${schema}.usage_threshold_firings f
    where f.account_id = t.account_id and f.mode = t.mode and f.threshold_id = t.id
      and f.period_key = ${schema}.period_key(t.period, to_timestamp(m.occurred_at / 1000.0::float8)) offset 0
  );
  if v_due is null then return; end if;

  select n.id into v_last_record from unnest(p_recorded) as n (id) order by n.id desc limit 1;
  select max(n.created_at) into v_published_at from unnest(p_ids, p_created_at) as n (id, created_at)
  where n.id = any (p_recorded);

  foreach v_id in array v_due loop
    -- Roll-ups of different days don't make two appends wait for each other, but their threshold does: from here
    -- on, what others have added to the period is either committed and seen by the statements that follow, or
    -- comes after this transaction.
    update ${schema}.usage_thresholds t set check_count = t.check_count + 1
    where t.account_id = p_account_id and t.mode = p_mode and t.id = v_id returning t.* into v_threshold;
    continue when not found;
    select to_timestamp(max(n.created_at) / 1000.0::float8) into v_at
    from unnest(p_ids, p_customer_ids, p_product_ids, p_units, p_created_at)
      as n (id, customer_id, product_id, unit, created_at)
    where n.id = any (p_recorded) and n.customer_id = v_threshold.customer_id
      and n.product_id = v_threshold.product_id and n.unit = v_threshold.unit;
    for v_period in
      select distinct k.period_key, k.first_day, k.next_day
      from unnest(p_ids, p_customer_ids, p_product_ids, p_units, p_timestamps)
          as n (id, customer_id, product_id, unit, occurred_at),
        lateral ${schema}.period_days(v_threshold.period, to_timestamp(n.occurred_at / 1000.0::float8)) as k
      where n.id = any (p_recorded) and n.customer_id = v_threshold.customer_id
        and n.product_id = v_threshold.product_id and n.unit = v_threshold.unit
      order by k.period_key
    loop
      select coalesce(sum(d.quantity), 0) into v_total from ${schema}.usage_daily d
      where d.account_id = p_account_id and d.mode = p_mode and d.customer_id = v_threshold.customer_id
        and d.product_id = v_threshold.product_id and d.unit = v_threshold.unit
        and d.day >= v_period.first_day and d.day < v_period.next_day;
      continue when v_total < v_threshold.quantity;
      insert into ${schema}.usage_threshold_firings (account_id, mode, threshold_id, period_key, total, fired_at)
      values (p_account_id, p_mode, v_threshold.id, v_period.period_key, v_total, v_at)
      on conflict do nothing;
      continue when not found;
      update ${schema}.usage_thresholds t set last_fired_at = v_at
      where t.account_id = p_account_id and t.mode = p_mode and t.id = v_threshold.id;
      v_threshold.last_fired_at := v_at;

      -- Events lie 2^30 apart, which leaves room for the ids of their deliveries and attempts.
      v_event := ${schema}.offset_id(v_last_record, v_event_count * 1073741824);
      v_event_count := v_event_count + 1;
      perform ${schema}.publish_event_row(p_account_id, p_mode, v_event, 'usage.threshold', v_published_at,
        v_threshold.customer_id, null,
        ${schema}.event_payload(v_event, 'usage.threshold', to_timestamp(v_published_at / 1000.0::float8)::timestamptz(3),
          p_mode, ${schema}.threshold_event_data(v_threshold, v_period.period_key, v_total)), null);

      return next ${schema}.usage_threshold_json(v_threshold)
        || jsonb_build_object('period_key', v_period.period_key, 'total', v_total::text);
    end loop;
  end loop;
end
$$`

const thresholdEventData = (schema: SchemaName): string => `create function ${schema}.threshold_event_data(
  t ${schema}.usage_thresholds, p_period_key text, p_total numeric
) returns text language sql stable ${FIXED_PATH} as $$
  select '{"threshold_id":"' || ${schema}.format_id('thr', t.id)
    || '","customer_id":"' || ${schema}.format_id('cus', t.customer_id)
    || '","product_id":' || to_json(t.product_id)::text || ',"unit":' || to_json(t.unit)::text
    || ',"quantity":' || t.quantity::text || ',"period":"' || t.period || '","period_key":"' || p_period_key
    || '","total_quantity":' || p_total::text || '}'
$$`

export const publishFunctions = (schema: SchemaName): ReadonlyArray<string> => [
  ...valueFunctions(schema),
  publishEventRow(schema),
  thresholdEventData(schema),
  fireThresholds(schema),
]
