/**
 * The functions that build the cells of a roll-up from the records, and remove cells that are no longer used. Each call is
 * one batch. The caller has locked the meter.
 *
 * Appends that are under way when a meter changes have not seen the change. So the work begins only when all transactions
 * are over that had locked customers or records at that time (`await_writers`). Each append that comes later has seen the
 * meter, and keeps the cells up to date. Older snapshots are kept out by `meter_changes`.
 */
import { Rollup } from "@billwright/core"
import type { SchemaName } from "../SchemaName.ts"
import { lockOf, startsOf } from "./MeterFunctions.ts"
import { define } from "./SqlFunction.ts"

/** The most rows of `usage_daily` that a batch looks at to find days of the product and unit. */
const MAX_LOOKED_AT = 50_000
/** After this many records a batch takes no further day. */
const MAX_RECORDS = 100_000
/** How long a batch waits for appends of its customers. New appends of these customers wait as long, behind it. */
const LOCK_TIMEOUT = "100ms"
/** How long a batch pauses when it can't go on, in seconds, so that its repeats don't load the server. */
const PAUSE_SECONDS = 0.05

/**
 * The locks of transactions that write no rows: those of reading, of VACUUM, ANALYZE and CREATE INDEX CONCURRENTLY, and of
 * CREATE INDEX. Who also writes has another lock besides.
 */
const OTHER_LOCKS = "'AccessShareLock', 'ShareUpdateExclusiveLock', 'ShareLock'"

/** The transactions that hold locks on customers or records to write, by their virtual ids. */
const writers = (schema: SchemaName): string => `
      select l.virtualtransaction from pg_locks l
      where l.locktype = 'relation' and l.granted and l.pid is distinct from pg_backend_pid()
        and l.database = (select d.oid from pg_database d where d.datname = current_database())
        and l.relation in ('${schema}.customers'::regclass, '${schema}.usage_records'::regclass)
        and l.mode not in (${OTHER_LOCKS})`

/**
 * Whether all transactions are over that may have missed the last change of a meter. \`p_target\` names the work. New work
 * is noted by the first call and waits from the second call on, because the first one has to be committed for new
 * transactions to see the change.
 */
export const awaitWriters = define(
  "await_writers",
  (schema) => `(
  p_account_id text, p_mode text, p_meter_id uuid, p_target text
) returns boolean language plpgsql as $$
declare
  w ${schema}.meter_works;
begin
  select x.* into w from ${schema}.meter_works x
  where x.account_id = p_account_id and x.mode = p_mode and x.meter_id = p_meter_id for no key update;
  if not found or w.target <> p_target then
    delete from ${schema}.meter_works x
    where x.account_id = p_account_id and x.mode = p_mode and x.meter_id = p_meter_id;
    insert into ${schema}.meter_works (account_id, mode, meter_id, target, xid)
    values (p_account_id, p_mode, p_meter_id, p_target, pg_current_xact_id());
    update ${schema}.meter_changes c set number = c.number + 1;
    return false;
  end if;
  if w.xid = pg_current_xact_id() then return false; end if;
  if w.waits_for is null then
    w.waits_for := array(select distinct x.virtualtransaction from (${writers(schema)}) as x);
  elsif cardinality(w.waits_for) > 0 then
    w.waits_for := array(select distinct x.virtualtransaction from (${writers(schema)}) as x
      where x.virtualtransaction = any (w.waits_for));
  else
    return true;
  end if;
  -- With a snapshot for the whole transaction, it may not see what the last of them wrote. The next call does.
  update ${schema}.meter_works x set waits_for = w.waits_for, xid = pg_current_xact_id()
  where x.account_id = p_account_id and x.mode = p_mode and x.meter_id = p_meter_id;
  if cardinality(w.waits_for) > 0 then
    perform pg_sleep(${PAUSE_SECONDS});
    return false;
  end if;
  return current_setting('transaction_isolation') = 'read committed';
end
$$`,
)

/** The rows of usage_daily of a tenant after the place of the work, in the order of their key. */
const lookedAt = (schema: SchemaName): string => `
    select d.customer_id, d.product_id, d.unit, d.day, d.record_count,
      d.product_id = p_rollup.product_id and d.unit = p_rollup.unit as is_served
    from ${schema}.usage_daily d
    where d.account_id = p_rollup.account_id and d.mode = p_rollup.mode
      and (d.customer_id, d.product_id, d.unit, d.day) > (
        coalesce(w.after_customer_id, '00000000-0000-0000-0000-000000000000'), coalesce(w.after_product_id, ''),
        coalesce(w.after_unit, ''), coalesce(w.after_day, '-infinity'))
    order by d.customer_id, d.product_id, d.unit, d.day limit ${MAX_LOOKED_AT}`

const ofWork = `x.account_id = p_rollup.account_id and x.mode = p_rollup.mode and x.meter_id = p_rollup.meter_id`
const PLACE = "customer_id, product_id, unit, day"
const AFTER = "after_customer_id, after_product_id, after_unit, after_day"

/** Finds the next days of the product and unit, and how far they are. */
const findDays = (schema: SchemaName): string => `
  with looked as materialized (${lookedAt(schema)}
  ), served as (
    select l.*, row_number() over upward as number,
      sum(l.record_count) over (upward rows between unbounded preceding and 1 preceding) as records_before
    from looked l where l.is_served window upward as (order by ${PLACE})
  ), picked as (
    select s.* from served s where s.number <= p_days and coalesce(s.records_before, 0) < ${MAX_RECORDS}
  )
  select coalesce((select array_agg(p.customer_id order by ${PLACE}) from picked p), '{}'),
    coalesce((select array_agg(p.day order by ${PLACE}) from picked p), '{}'),
    (select count(*) from picked) = (select count(*) from served),
    (select count(*) from looked) < ${MAX_LOOKED_AT}
  into v_customers, v_days, v_has_all, v_is_end;`

/** Counts all days of the product and unit, over as many calls as that takes. */
const countDays = (schema: SchemaName): string => `
    with looked as materialized (${lookedAt(schema)})
    select count(*) filter (where l.is_served), count(*) < ${MAX_LOOKED_AT} into v_count, v_is_end from looked l;
    update ${schema}.meter_works x set total = x.total + v_count, is_counted = v_is_end where ${ofWork};
    if not v_is_end then
      update ${schema}.meter_works x set (${AFTER}) = (
        with looked as materialized (${lookedAt(schema)})
        select ${PLACE} from looked l order by l.customer_id desc, l.product_id desc, l.unit desc, l.day desc limit 1
      ) where ${ofWork} returning x.* into w;
      return query select 'building', w.done, w.total, null::uuid, null::date, null::text;
      return;
    end if;
    update ${schema}.meter_works x set (${AFTER}) = row(null, null, null, null) where ${ofWork} returning x.* into w;`

/** Takes the locks of the customers alone, for a short time at most. */
const lockCustomers = `
  begin
    perform set_config('lock_timeout', '${LOCK_TIMEOUT}', true);
    perform pg_advisory_xact_lock(l.key) from (
      select distinct ${lockOf("p_rollup", "n.customer_id")} as key from unnest(v_customers) as n (customer_id) order by 1
    ) as l;
    perform set_config('lock_timeout', v_timeout, true);
  exception when lock_not_available then
    perform pg_sleep(${PAUSE_SECONDS});
    return query select 'building', w.done, w.total, null::uuid, null::date, null::text;
    return;
  end;`

const CELL =
  "c.account_id = p_rollup.account_id and c.mode = p_rollup.mode and c.meter_id = p_rollup.meter_id"

/**
 * How many records the days must have. With the locks held, neither appends nor voids of these customers commit, so the
 * records that are read next are of the same state.
 */
const countRecords = (schema: SchemaName): string => `
  v_counts := array(
    select coalesce((
      select d.record_count from ${schema}.usage_daily d
      where d.account_id = p_rollup.account_id and d.mode = p_rollup.mode and d.customer_id = n.customer_id
        and d.product_id = p_rollup.product_id and d.unit = p_rollup.unit and d.day = n.day
    ), 0)
    from unnest(v_customers, v_days) with ordinality as n (customer_id, day, place) order by n.place
  );`

/** Replaces the cells of the days, unless one of them can't be built. */
const replaceCells = (schema: SchemaName): string => `
  delete from ${schema}.meter_cells c using unnest(v_customers, v_days) as n (customer_id, day)
  where ${CELL} and c.generation = p_rollup.generation and c.customer_id = n.customer_id and c.day = n.day;
  with cells as (
    insert into ${schema}.meter_cells (account_id, mode, meter_id, generation, customer_id, day, combination, record_count,
      quantity, first_at, last_at, last_key, last_id, last_quantity)
    select p_rollup.account_id, p_rollup.mode, p_rollup.meter_id, p_rollup.generation, m.customer_id, v_days[m.place],
      m.combination, m.record_count, m.quantity, m.first_at, m.last_at, m.last_key, m.last_id, m.last_quantity
    from ${schema}.measure_usage(p_rollup, v_customers,
      array(${startsOf("v_days")}), array(${startsOf("v_days", " + 1")})) as m
    returning customer_id, day, record_count
  ), days as (
    insert into ${schema}.meter_days as d (account_id, mode, meter_id, generation, customer_id, day, combination_count)
    select p_rollup.account_id, p_rollup.mode, p_rollup.meter_id, p_rollup.generation, c.customer_id, c.day, count(*)
    from cells c group by c.customer_id, c.day order by c.customer_id, c.day
    on conflict (account_id, mode, meter_id, generation, customer_id, day)
    do update set combination_count = excluded.combination_count
    returning d.customer_id, d.day, d.combination_count
  )
  select p.* into v_problem, v_customer_id, v_day from (
    select 'too_many_combinations', d.customer_id, d.day from days d
    where d.combination_count > ${Rollup.MAX_COMBINATIONS}
    union all
    select 'records_removed', n.customer_id, n.day
    from unnest(v_customers, v_days, v_counts) as n (customer_id, day, record_count)
    left join (
      select c.customer_id, c.day, sum(c.record_count) as record_count from cells c group by c.customer_id, c.day
    ) as c on c.customer_id = n.customer_id and c.day = n.day
    where coalesce(c.record_count, 0) < n.record_count
  ) as p (problem, customer_id, day) order by p.customer_id, p.day, p.problem limit 1;
  if v_problem is not null then
    return query select v_problem, w.done, w.total, v_customer_id, v_day,
      ${schema}.widest_dimension(p_rollup, v_customer_id, v_day);
    return;
  end if;`

export const buildCells = define(
  "build_cells",
  (schema) => `(
  p_rollup ${schema}.meter_rollups, p_days integer
) returns table (status text, done bigint, total bigint, customer_id uuid, day date, dimension text) language plpgsql
as $$
#variable_conflict use_column
declare
  w ${schema}.meter_works;
  v_timeout text := current_setting('lock_timeout');
  v_count bigint;
  v_is_end boolean;
  v_has_all boolean;
  v_customers uuid[];
  v_days date[];
  v_counts bigint[];
  v_problem text;
  v_customer_id uuid;
  v_day date;
begin
  if not ${schema}.await_writers(p_rollup.account_id, p_rollup.mode, p_rollup.meter_id,
    'build ' || p_rollup.generation) then
    return query select 'building', 0::bigint, 0::bigint, null::uuid, null::date, null::text;
    return;
  end if;
  select x.* into w from ${schema}.meter_works x where ${ofWork};
  if not w.is_counted then${countDays(schema)}
  end if;
${findDays(schema)}
${lockCustomers}${countRecords(schema)}
${replaceCells(schema)}
  update ${schema}.meter_works x set done = x.done + cardinality(v_days),
    total = greatest(x.total, x.done + cardinality(v_days))
  where ${ofWork} returning x.* into w;
  if v_is_end and v_has_all then
    delete from ${schema}.meter_works x where ${ofWork};
    return query select 'built', w.done, w.done, null::uuid, null::date, null::text;
    return;
  end if;
  if v_has_all then
    -- All that was looked at is done, so the next batch begins behind it.
    update ${schema}.meter_works x set (${AFTER}) = (
      with looked as materialized (${lookedAt(schema)})
      select ${PLACE} from looked l order by l.customer_id desc, l.product_id desc, l.unit desc, l.day desc limit 1
    ) where ${ofWork};
  else
    update ${schema}.meter_works x set (${AFTER}) = row(v_customers[cardinality(v_customers)], p_rollup.product_id,
      p_rollup.unit, v_days[cardinality(v_days)]) where ${ofWork};
  end if;
  return query select 'building', w.done, w.total, null::uuid, null::date, null::text;
end
$$`,
  { isByIndex: true },
)

export const sweepCells = define(
  "sweep_cells",
  (schema) => `(
  p_account_id text, p_mode text, p_meter_id uuid, p_kept integer[], p_cells integer
) returns boolean language plpgsql as $$
declare
  v_generation integer := -1;
  v_left integer := p_cells;
  v_count integer;
begin
  if not ${schema}.await_writers(p_account_id, p_mode, p_meter_id, 'sweep ' || p_kept::text) then return false; end if;
  loop
    -- From generation to generation, with one look-up each. A day stays until its cells are gone.
    select d.generation into v_generation from ${schema}.meter_days d
    where d.account_id = p_account_id and d.mode = p_mode and d.meter_id = p_meter_id and d.generation > v_generation
    order by d.generation limit 1;
    exit when not found;
    continue when v_generation = any (p_kept);
    delete from ${schema}.meter_cells c where c.ctid = any (array(
      select d.ctid from ${schema}.meter_cells d
      where d.account_id = p_account_id and d.mode = p_mode and d.meter_id = p_meter_id
        and d.generation = v_generation limit v_left
    ));
    get diagnostics v_count = row_count;
    v_left := v_left - v_count;
    if v_left > 0 then
      delete from ${schema}.meter_days c where c.ctid = any (array(
        select d.ctid from ${schema}.meter_days d
        where d.account_id = p_account_id and d.mode = p_mode and d.meter_id = p_meter_id
          and d.generation = v_generation limit v_left
      ));
      get diagnostics v_count = row_count;
      v_left := v_left - v_count;
    end if;
    if v_left <= 0 then return false; end if;
  end loop;
  delete from ${schema}.meter_works x
  where x.account_id = p_account_id and x.mode = p_mode and x.meter_id = p_meter_id;
  return true;
end
$$`,
)
