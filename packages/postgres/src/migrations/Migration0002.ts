/**
 * The functions through which usage is written, by this library and by any other client.
 *
 * Appending is a function in the database so that there is one implementation for every language, and one
 * round trip whatever happens. The statements that touch `usage_records` and `usage_daily` name the customer
 * or take rows from an array, and join neither with other tables: they work unchanged when these two are
 * distributed by customer.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"
import { FIXED_PATH } from "./SearchPath.ts"

/** From so many records on they are inserted as if there were no conflict. */
const PLAIN_INSERT = 16

// Nearly always all customers are active, and looking each up in an array of a thousand takes its time.
const MAY_CONFLICT = `where v_are_all_active or n.customer_id = any (v_active)
    on conflict do nothing`

/** Inserts records, adds to their roll-ups, and notes which they were. */
const insertRecords = (schema: SchemaName, mayConflict: boolean): string => `
    with recorded as (
      insert into ${schema}.usage_records (account_id, mode, customer_id, id, product_id, unit, quantity,
        occurred_at, idempotency_key, created_at)
      select p_account_id, p_mode, n.customer_id, n.id, n.product_id, n.unit, n.quantity,
        to_timestamp(n.occurred_at / 1000.0::float8), n.idempotency_key, to_timestamp(n.created_at / 1000.0::float8)
      from unnest(p_ids, p_customer_ids, p_product_ids, p_units, p_quantities, p_timestamps, p_idempotency_keys,
        p_created_at) as n (id, customer_id, product_id, unit, quantity, occurred_at, idempotency_key, created_at)
      ${mayConflict ? MAY_CONFLICT : ""}
      returning id, customer_id, product_id, unit, quantity, occurred_at
    ), rolled_up as (
      insert into ${schema}.usage_daily as d
        (account_id, mode, customer_id, product_id, unit, day, quantity, record_count)
      select p_account_id, p_mode, r.customer_id, r.product_id, r.unit, (r.occurred_at at time zone 'UTC')::date,
        sum(r.quantity), count(*)
      from recorded r group by 3, 4, 5, 6 order by 3, 4, 5, 6
      on conflict (account_id, mode, customer_id, product_id, unit, day) do update
      set quantity = d.quantity + excluded.quantity, record_count = d.record_count + excluded.record_count
    )
    select coalesce(array_agg(r.id), '{}') into v_recorded from recorded r;`

/**
 * Locks, in this order: customers (share), idempotency keys in the order of the arguments, roll-ups in the
 * order of their key, thresholds in the order of their ids. Callers sort their records by customer and key, so
 * that two appends never wait for each other in a circle.
 */
export const appendUsage = (schema: SchemaName): string => `create or replace function ${schema}.append_usage(
  p_account_id text, p_mode text, p_ids uuid[], p_customer_ids uuid[], p_product_ids text[], p_units text[],
  p_quantities bigint[], p_timestamps bigint[], p_has_own_timestamps boolean[], p_idempotency_keys text[],
  p_created_at bigint[]
) returns table (kind text, ordinal integer, payload jsonb) language plpgsql
set plan_cache_mode = force_generic_plan ${FIXED_PATH} as $$
declare
  v_active uuid[];
  v_are_all_active boolean;
  v_is_plain boolean;
  v_watched uuid[];
  v_recorded uuid[];
  v_customers uuid[];
  v_keys text[];
  v_unkeyed uuid[];
  v_expected bigint;
  v_first ${schema}.usage_records[];
  v_found bigint;
begin
  -- Waits for an erasure that is under way, and makes a later one wait for this transaction.
  with locked as (
    select c.id, c.threshold_count from (select distinct unnest(p_customer_ids)) as u (id) left join lateral (
      select c.id, c.threshold_count from ${schema}.customers c
      where c.account_id = p_account_id and c.mode = p_mode and c.id = u.id and c.erased_at is null for key share
    ) as c on true
  )
  select coalesce(array_agg(l.id) filter (where l.id is not null), '{}'), bool_and(l.id is not null),
    array_agg(l.id) filter (where l.threshold_count > 0)
  into v_active, v_are_all_active, v_watched from locked l;

  -- Without a look for conflicts first, which takes a good part of the time, and mostly finds none. Not for a few
  -- records: each time is a subtransaction, and a host may record one by one in a long transaction.
  v_is_plain := v_are_all_active and cardinality(p_ids) >= ${PLAIN_INSERT};
  if v_is_plain then
    begin${insertRecords(schema, false)}
    exception when unique_violation then
      v_is_plain := false;
    end;
  end if;
  if not v_is_plain then${insertRecords(schema, true)}
  end if;

  return query select 'done', 0, to_jsonb(pg_current_xact_id_if_assigned()::text);

  if cardinality(v_recorded) < cardinality(p_ids) then
    return query select 'unknown_customer', n.ordinal::integer, null::jsonb
    from unnest(p_customer_ids) with ordinality as n (customer_id, ordinal) where not n.customer_id = any (v_active);

    select array_agg(distinct n.customer_id), array_agg(n.idempotency_key) filter (where n.idempotency_key is not null),
      array_agg(n.id) filter (where n.idempotency_key is null), count(*)
    into v_customers, v_keys, v_unkeyed, v_expected
    from unnest(p_ids, p_customer_ids, p_idempotency_keys) as n (id, customer_id, idempotency_key)
    where n.customer_id = any (v_active) and not n.id = any (v_recorded);

    -- A statement of its own: its snapshot has what concurrent appends have just committed. And one for all
    -- records: looked up one by one on a table that was never analyzed, each look-up may be planned as a walk
    -- through all records of the customer.
    select coalesce(array_agg(r), '{}') into v_first from ${schema}.usage_records r
    where r.account_id = p_account_id and r.mode = p_mode and r.customer_id = any (v_customers)
      and r.idempotency_key = any (v_keys);
    if v_unkeyed is not null then
      select v_first || coalesce(array_agg(r), '{}') into v_first from ${schema}.usage_records r
      where r.account_id = p_account_id and r.mode = p_mode and r.customer_id = any (v_customers)
        and r.id = any (v_unkeyed);
    end if;

    return query select
      case
        when f.id = n.id then 'recorded_before'
        when f.product_id = n.product_id and f.unit = n.unit and f.quantity = n.quantity
          and (not n.has_own_timestamp or f.occurred_at = to_timestamp(n.occurred_at / 1000.0::float8)::timestamptz(3))
        then 'duplicate' else 'key_conflict' end,
      n.ordinal::integer, ${schema}.usage_record_json(f)
    from unnest(p_ids, p_customer_ids, p_product_ids, p_units, p_quantities, p_timestamps, p_has_own_timestamps,
      p_idempotency_keys) with ordinality as n (id, customer_id, product_id, unit, quantity, occurred_at,
      has_own_timestamp, idempotency_key, ordinal)
    join unnest(v_first) as f on f.customer_id = n.customer_id
      and coalesce(f.idempotency_key, f.id::text) = coalesce(n.idempotency_key, n.id::text)
    where not n.id = any (v_recorded);
    get diagnostics v_found = row_count;
    if v_found < v_expected then
      raise exception 'a record of the same idempotency key is not visible yet' using errcode = '40001';
    end if;
  end if;

  if v_watched is not null and cardinality(v_recorded) > 0 then
    return query select 'crossing', 0, f.crossing from ${schema}.fire_thresholds(p_account_id, p_mode, v_watched,
      v_recorded, p_ids, p_customer_ids, p_product_ids, p_units, p_timestamps, p_created_at) as f (crossing);
  end if;
end
$$`

/** The rule is \`Threshold.crosses\`: see there. A threshold counts as fired at the latest \`created_at\`. */
const fireThresholds = (schema: SchemaName): string => `create function ${schema}.fire_thresholds(
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
      return next ${schema}.usage_threshold_json(v_threshold)
        || jsonb_build_object('period_key', v_period.period_key, 'total', v_total::text);
    end loop;
  end loop;
end
$$`

/** Milliseconds since 1970 as text: the same for every client, whatever it makes of timestamps and int8. */
const millis = (expression: string) => `(extract(epoch from ${expression}) * 1000)::bigint::text`

const rowFunctions = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.usage_record_json(r ${schema}.usage_records) returns jsonb
language sql stable ${FIXED_PATH} as $$
  select jsonb_build_object('id', r.id, 'customer_id', r.customer_id, 'product_id', r.product_id, 'unit', r.unit,
    'quantity', r.quantity::text, 'idempotency_key', r.idempotency_key,
    'occurred_at', ${millis("r.occurred_at")}, 'voided_at', ${millis("r.voided_at")},
    'created_at', ${millis("r.created_at")})
$$`,
  `create function ${schema}.usage_threshold_json(t ${schema}.usage_thresholds) returns jsonb
language sql stable ${FIXED_PATH} as $$
  select jsonb_build_object('id', t.id, 'customer_id', t.customer_id, 'product_id', t.product_id, 'unit', t.unit,
    'quantity', t.quantity::text, 'period', t.period, 'created_at', ${millis("t.created_at")},
    'last_fired_at', ${millis("t.last_fired_at")})
$$`,
  // lpad, because to_char writes years beyond 9999 and before 1000 its own way.
  `create function ${schema}.period_days(
  p_period text, p_at timestamptz, out period_key text, out first_day date, out next_day date
) language sql stable ${FIXED_PATH} as $$
  select
    case p_period when 'lifetime' then 'lifetime'
      else lpad(extract(year from u.at)::text, 4, '0') || to_char(u.at, case p_period when 'day' then '-MM-DD' else '-MM' end)
    end,
    case p_period when 'lifetime' then '-infinity'::date else date_trunc(p_period, u.at)::date end,
    case p_period when 'lifetime' then 'infinity'::date
      else (date_trunc(p_period, u.at) + ('1 ' || p_period)::interval)::date end
  from (select p_at at time zone 'UTC') as u (at)
$$`,
  `create function ${schema}.period_key(p_period text, p_at timestamptz) returns text language sql stable ${FIXED_PATH} as $$
  select (${schema}.period_days(p_period, p_at)).period_key
$$`,
]

const voidUsage = (schema: SchemaName): string => `create function ${schema}.void_usage(
  p_account_id text, p_mode text, p_id uuid, p_at bigint
) returns setof jsonb language plpgsql ${FIXED_PATH} as $$
declare
  v_customer_id uuid;
  v_record ${schema}.usage_records;
begin
  select r.customer_id into v_customer_id from ${schema}.usage_records r
  where r.account_id = p_account_id and r.mode = p_mode and r.id = p_id;
  if not found then return; end if;

  update ${schema}.usage_records r set voided_at = to_timestamp(p_at / 1000.0::float8)
  where r.account_id = p_account_id and r.mode = p_mode and r.customer_id = v_customer_id and r.id = p_id
    and r.voided_at is null
  returning r.* into v_record;
  if found then
    update ${schema}.usage_daily d
    set quantity = d.quantity - v_record.quantity, record_count = d.record_count - 1
    where d.account_id = p_account_id and d.mode = p_mode and d.customer_id = v_customer_id
      and d.product_id = v_record.product_id and d.unit = v_record.unit
      and d.day = (v_record.occurred_at at time zone 'UTC')::date;
  else
    select * into v_record from ${schema}.usage_records r
    where r.account_id = p_account_id and r.mode = p_mode and r.customer_id = v_customer_id and r.id = p_id;
  end if;
  return next ${schema}.usage_record_json(v_record);
end
$$`

export const migration0002: Migration = {
  id: 2,
  name: "usage_functions",
  minReader: 2,
  statements: (schema) => [
    ...rowFunctions(schema),
    fireThresholds(schema),
    appendUsage(schema),
    voidUsage(schema),
  ],
}
