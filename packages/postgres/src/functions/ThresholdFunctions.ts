/**
 * The functions of usage thresholds. `append_usage` calls `fire_thresholds` with the usage that it recorded.
 */
import { instantOf, millisText } from "../Millis.ts"
import { define } from "./SqlFunction.ts"

export const usageThresholdJson = define(
  "usage_threshold_json",
  (schema) => `(t ${schema}.usage_thresholds) returns jsonb
language sql stable as $$
  select jsonb_build_object('id', t.id, 'customer_id', t.customer_id, 'product_id', t.product_id, 'unit', t.unit,
    'quantity', t.quantity::text, 'period', t.period, 'created_at', ${millisText("t.created_at")},
    'last_fired_at', ${millisText("t.last_fired_at")})
$$`,
)

/** lpad, because to_char formats years before 1000 and after 9999 differently. */
export const periodDays = define(
  "period_days",
  () => `(
  p_period text, p_at timestamptz, out period_key text, out first_day date, out next_day date
) language sql stable as $$
  select
    case p_period when 'lifetime' then 'lifetime'
      else lpad(extract(year from u.at)::text, 4, '0') || to_char(u.at, case p_period when 'day' then '-MM-DD' else '-MM' end)
    end,
    case p_period when 'lifetime' then '-infinity'::date else date_trunc(p_period, u.at)::date end,
    case p_period when 'lifetime' then 'infinity'::date
      else (date_trunc(p_period, u.at) + ('1 ' || p_period)::interval)::date end
  from (select p_at at time zone 'UTC') as u (at)
$$`,
)

export const periodKey = define(
  "period_key",
  (schema) => `(p_period text, p_at timestamptz) returns text language sql stable as $$
  select (${schema}.period_days(p_period, p_at)).period_key
$$`,
)

export const thresholdEventData = define(
  "threshold_event_data",
  (schema) => `(
  t ${schema}.usage_thresholds, p_period_key text, p_total numeric
) returns text language sql stable as $$
  select '{"threshold_id":"' || ${schema}.format_id('thr', t.id)
    || '","customer_id":"' || ${schema}.format_id('cus', t.customer_id)
    || '","product_id":' || to_json(t.product_id)::text || ',"unit":' || to_json(t.unit)::text
    || ',"quantity":' || t.quantity::text || ',"period":"' || t.period || '","period_key":"' || p_period_key
    || '","total_quantity":' || p_total::text || '}'
$$`,
)

/**
 * Fires the thresholds that the recorded usage crosses, and publishes an event for each. The rule is in
 * docs/decisions/0003. The event has the same bytes as that of `ThresholdEvent.make`: `to_json` escapes text exactly
 * as `JSON.stringify` does. A threshold's firing has the latest `created_at` of the records.
 */
export const fireThresholds = define(
  "fire_thresholds",
  (schema) => `(
  p_account_id text, p_mode text, p_watched uuid[], p_recorded uuid[], p_ids uuid[], p_customer_ids uuid[], p_product_ids text[],
  p_units text[], p_timestamps bigint[], p_created_at bigint[]
) returns setof jsonb language plpgsql as $$
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
  -- From the meters to their thresholds, with one index look-up each: \`offset 0\` keeps the planner from reading all
  -- thresholds.
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
      and f.period_key = ${schema}.period_key(t.period, ${instantOf("m.occurred_at")}) offset 0
  );
  if v_due is null then return; end if;

  select n.id into v_last_record from unnest(p_recorded) as n (id) order by n.id desc limit 1;
  select max(n.created_at) into v_published_at from unnest(p_ids, p_created_at) as n (id, created_at)
  where n.id = any (p_recorded);

  foreach v_id in array v_due loop
    -- Appends to different days update different roll-ups, so these don't make them wait for each other. This lock on
    -- the threshold does. Usage that others have added to the period is now either committed, and visible to the
    -- statements below, or is added after this transaction.
    update ${schema}.usage_thresholds t set check_count = t.check_count + 1
    where t.account_id = p_account_id and t.mode = p_mode and t.id = v_id returning t.* into v_threshold;
    continue when not found;
    select ${instantOf("max(n.created_at)")} into v_at
    from unnest(p_ids, p_customer_ids, p_product_ids, p_units, p_created_at)
      as n (id, customer_id, product_id, unit, created_at)
    where n.id = any (p_recorded) and n.customer_id = v_threshold.customer_id
      and n.product_id = v_threshold.product_id and n.unit = v_threshold.unit;
    for v_period in
      select distinct k.period_key, k.first_day, k.next_day
      from unnest(p_ids, p_customer_ids, p_product_ids, p_units, p_timestamps)
          as n (id, customer_id, product_id, unit, occurred_at),
        lateral ${schema}.period_days(v_threshold.period, ${instantOf("n.occurred_at")}) as k
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

      -- The ids of events are 2^30 apart, which leaves room for the ids of their deliveries and attempts.
      v_event := ${schema}.offset_id(v_last_record, v_event_count * 1073741824);
      v_event_count := v_event_count + 1;
      perform ${schema}.publish_event_row(p_account_id, p_mode, v_event, 'usage.threshold', v_published_at,
        v_threshold.customer_id, null,
        ${schema}.event_payload(v_event, 'usage.threshold', ${instantOf("v_published_at")}::timestamptz(3),
          p_mode, ${schema}.threshold_event_data(v_threshold, v_period.period_key, v_total)), null);

      return next ${schema}.usage_threshold_json(v_threshold)
        || jsonb_build_object('period_key', v_period.period_key, 'total', v_total::text);
    end loop;
  end loop;
end
$$`,
)
