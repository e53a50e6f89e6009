/**
 * The functions that write usage, for this library and for any other client.
 *
 * Appending is a function in the database, so that there is one implementation for all languages, and one round trip
 * in every case. The statements that use `usage_records` and `usage_daily` name the customer or take rows from an
 * array. They join these two tables with no other table, so they also work when these two are distributed by
 * customer.
 */
import { instantOf, millisText } from "../Millis.ts"
import type { SchemaName } from "../SchemaName.ts"
import { define } from "./SqlFunction.ts"

/** From this many records on, they are inserted without a look for conflicts first. */
const PLAIN_INSERT = 16

// Nearly always all customers are active. Looking each one up in an array of a thousand would take time.
const MAY_CONFLICT = `where v_are_all_active or n.customer_id = any (v_active)
    on conflict do nothing`

/** The arrays of an append that the functions of meters need. */
const RECORDS = `p_ids, p_customer_ids, p_product_ids, p_units, p_quantities, p_timestamps,
      p_idempotency_keys, p_dimensions`

/**
 * Fails with 40001 when the transaction has a snapshot of its own that is older than the last change of a meter. Then it
 * may not see a roll-up that it has to serve.
 */
const requireCurrentMeters = (schema: SchemaName): string => `
  if current_setting('transaction_isolation') <> 'read committed' then
    perform from ${schema}.meter_changes c for share;
  end if;`

/** Inserts records, adds to their roll-ups, and notes which records were inserted. */
const insertRecords = (schema: SchemaName, mayConflict: boolean): string => `
    with recorded as (
      insert into ${schema}.usage_records (account_id, mode, customer_id, id, product_id, unit, quantity,
        occurred_at, idempotency_key, created_at, dimensions)
      select p_account_id, p_mode, n.customer_id, n.id, n.product_id, n.unit, n.quantity,
        ${instantOf("n.occurred_at")}, n.idempotency_key, ${instantOf("n.created_at")},
        n.dimensions
      from unnest(p_ids, p_customer_ids, p_product_ids, p_units, p_quantities, p_timestamps, p_idempotency_keys,
        p_created_at, p_dimensions) as n (id, customer_id, product_id, unit, quantity, occurred_at, idempotency_key,
        created_at, dimensions)
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
 * `p_dimensions` is NULL when no record has dimensions, and an element is NULL when its record has none.
 *
 * Takes locks in this order: customers (share), idempotency keys in the order of the arguments, roll-ups in the order
 * of their key, cells of meters, thresholds in the order of their ids. Callers sort their records by customer and key, so
 * two appends never deadlock. Cells need no order: who writes them has locked the roll-up of their day.
 *
 * No statement scans a table. Its plans are kept, and may be made while the table of meters is still empty.
 */
export const appendUsage = define(
  "append_usage",
  (schema) => `(
  p_account_id text, p_mode text, p_ids uuid[], p_customer_ids uuid[], p_product_ids text[], p_units text[],
  p_quantities bigint[], p_timestamps bigint[], p_has_own_timestamps boolean[], p_idempotency_keys text[],
  p_created_at bigint[], p_dimensions jsonb[] default null
) returns table (kind text, ordinal integer, payload jsonb) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  v_active uuid[];
  v_are_all_active boolean;
  v_is_plain boolean;
  v_watched uuid[];
  v_spending uuid[];
  v_rollups ${schema}.meter_rollups[];
  v_refusals ${schema}.meter_refusal[];
  v_refused uuid[] := '{}';
  v_recorded uuid[];
  v_customers uuid[];
  v_keys text[];
  v_unkeyed uuid[];
  v_expected bigint;
  v_first ${schema}.usage_records[];
  v_found bigint;
begin
  -- Waits for a running erasure, and makes a later one wait for this transaction.
  with locked as (
    select c.id, c.threshold_count, c.spend_alert_count
    from (select distinct unnest(p_customer_ids)) as u (id) left join lateral (
      select c.id, c.threshold_count, c.spend_alert_count from ${schema}.customers c
      where c.account_id = p_account_id and c.mode = p_mode and c.id = u.id and c.erased_at is null for key share
    ) as c on true
  )
  select coalesce(array_agg(l.id) filter (where l.id is not null), '{}'), bool_and(l.id is not null),
    array_agg(l.id) filter (where l.threshold_count > 0), array_agg(l.id) filter (where l.spend_alert_count > 0)
  into v_active, v_are_all_active, v_watched, v_spending from locked l;

  -- A new statement: with the customers locked, it sees every meter that these records have to be added to.${requireCurrentMeters(schema)}
  perform from ${schema}.meters m where m.account_id = p_account_id and m.mode = p_mode
    and m.product_id = any (p_product_ids) and m.unit = any (p_units) and m.status <> 'archived' limit 1;
  if found then
    v_rollups := ${schema}.serve_rollups(p_account_id, p_mode, p_customer_ids, p_product_ids, p_units);
  end if;

  -- Inserts without a look for conflicts first. The look takes much of the time and rarely finds one. It is not done
  -- for a few records: each time is a subtransaction, and a host may record one by one in a long transaction.
  v_is_plain := v_are_all_active and cardinality(p_ids) >= ${PLAIN_INSERT};
  if v_is_plain then
    begin${insertRecords(schema, false)}
    exception when unique_violation then
      v_is_plain := false;
    end;
  end if;
  if not v_is_plain then${insertRecords(schema, true)}
  end if;

  if v_rollups is not null then
    v_refusals := array(select r::${schema}.meter_refusal from ${schema}.add_to_cells(p_account_id, p_mode, v_rollups,
      case when cardinality(v_recorded) < cardinality(p_ids) then v_recorded end, ${RECORDS}) as r);
    if cardinality(v_refusals) > 0 then
      -- A repeat within the append has the outcome of the record that it repeats.
      v_refusals := v_refusals || array(
        select row(n.ordinal, r.meter_key, r.day, r.dimension)::${schema}.meter_refusal
        from unnest(v_refusals) as r
        join unnest(p_customer_ids, p_idempotency_keys) with ordinality as n (customer_id, key, ordinal)
          on n.customer_id = p_customer_ids[r.ordinal] and n.key = p_idempotency_keys[r.ordinal]
            and n.ordinal <> r.ordinal
      );
      v_refused := array(select p_ids[r.ordinal] from unnest(v_refusals) as r);
      v_recorded := array(select r.id from unnest(v_recorded) as r (id) where not r.id = any (v_refused));
    end if;
  end if;

  return query select 'done', 0, to_jsonb(pg_current_xact_id_if_assigned()::text);

  if cardinality(v_recorded) < cardinality(p_ids) then
    return query select 'unknown_customer', n.ordinal::integer, null::jsonb
    from unnest(p_customer_ids) with ordinality as n (customer_id, ordinal) where not n.customer_id = any (v_active);
    return query select 'too_many_combinations', r.ordinal::integer, jsonb_build_object('meter_key', r.meter_key,
      'day', to_char(r.day, 'YYYY-MM-DD'), 'dimension', r.dimension)
    from unnest(v_refusals) as r;

    select array_agg(distinct n.customer_id), array_agg(n.idempotency_key) filter (where n.idempotency_key is not null),
      array_agg(n.id) filter (where n.idempotency_key is null), count(*)
    into v_customers, v_keys, v_unkeyed, v_expected
    from unnest(p_ids, p_customer_ids, p_idempotency_keys) as n (id, customer_id, idempotency_key)
    where n.customer_id = any (v_active) and not n.id = any (v_recorded) and not n.id = any (v_refused);

    -- This is a new statement, so its snapshot has what concurrent appends have just committed. It is one statement
    -- for all records: on a table that was never analyzed, the planner may make each look-up read all records of the
    -- customer.
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
          and (not n.has_own_timestamp or f.occurred_at = ${instantOf("n.occurred_at")}::timestamptz(3))
          and f.dimensions is not distinct from n.dimensions
        then 'duplicate' else 'key_conflict' end,
      n.ordinal::integer, ${schema}.usage_record_json(f)
    from unnest(p_ids, p_customer_ids, p_product_ids, p_units, p_quantities, p_timestamps, p_has_own_timestamps,
      p_idempotency_keys, p_dimensions) with ordinality as n (id, customer_id, product_id, unit, quantity, occurred_at,
      has_own_timestamp, idempotency_key, dimensions, ordinal)
    join unnest(v_first) as f on f.customer_id = n.customer_id
      and coalesce(f.idempotency_key, f.id::text) = coalesce(n.idempotency_key, n.id::text)
    where not n.id = any (v_recorded) and not n.id = any (v_refused);
    get diagnostics v_found = row_count;
    if v_found < v_expected then
      raise exception 'a record of the same idempotency key is not visible yet' using errcode = '40001';
    end if;
  end if;

  -- Each mark is a row of its own, so that no append waits for another one, or for a check.
  if v_spending is not null and cardinality(v_recorded) > 0 then
    insert into ${schema}.spend_marks (account_id, mode, customer_id, id)
    select distinct on (n.customer_id) p_account_id, p_mode, n.customer_id, n.id
    from unnest(p_customer_ids, p_ids) as n (customer_id, id)
    where n.customer_id = any (v_spending) and n.id = any (v_recorded)
    order by n.customer_id, n.id;
  end if;

  if v_watched is not null and cardinality(v_recorded) > 0 then
    return query select 'crossing', 0, f.crossing from ${schema}.fire_thresholds(p_account_id, p_mode, v_watched,
      v_recorded, p_ids, p_customer_ids, p_product_ids, p_units, p_timestamps, p_created_at) as f (crossing);
  end if;
end
$$`,
)

export const usageRecordJson = define(
  "usage_record_json",
  (schema) => `(r ${schema}.usage_records) returns jsonb
language sql stable as $$
  select jsonb_build_object('id', r.id, 'customer_id', r.customer_id, 'product_id', r.product_id, 'unit', r.unit,
    'quantity', r.quantity::text, 'dimensions', r.dimensions, 'idempotency_key', r.idempotency_key,
    'occurred_at', ${millisText("r.occurred_at")}, 'voided_at', ${millisText("r.voided_at")},
    'created_at', ${millisText("r.created_at")})
$$`,
)

export const voidUsage = define(
  "void_usage",
  (schema) => `(
  p_account_id text, p_mode text, p_id uuid, p_at bigint
) returns setof jsonb language plpgsql set enable_seqscan = off as $$
declare
  v_customer_id uuid;
  v_record ${schema}.usage_records;
  v_rollups ${schema}.meter_rollups[];
begin
  select r.customer_id into v_customer_id from ${schema}.usage_records r
  where r.account_id = p_account_id and r.mode = p_mode and r.id = p_id;
  if not found then return; end if;

  update ${schema}.usage_records r set voided_at = ${instantOf("p_at")}
  where r.account_id = p_account_id and r.mode = p_mode and r.customer_id = v_customer_id and r.id = p_id
    and r.voided_at is null
  returning r.* into v_record;
  if found then
    update ${schema}.usage_daily d
    set quantity = d.quantity - v_record.quantity, record_count = d.record_count - 1
    where d.account_id = p_account_id and d.mode = p_mode and d.customer_id = v_customer_id
      and d.product_id = v_record.product_id and d.unit = v_record.unit
      and d.day = (v_record.occurred_at at time zone 'UTC')::date;${requireCurrentMeters(schema)}
    -- A new statement: with the roll-up locked, it sees every meter that the record was added to.
    v_rollups := ${schema}.serve_rollups(p_account_id, p_mode, array[v_customer_id], array[v_record.product_id],
      array[v_record.unit]);
    if v_rollups is not null then perform ${schema}.remove_from_cells(v_record, v_rollups); end if;
  else
    select * into v_record from ${schema}.usage_records r
    where r.account_id = p_account_id and r.mode = p_mode and r.customer_id = v_customer_id and r.id = p_id;
  end if;
  return next ${schema}.usage_record_json(v_record);
end
$$`,
)
