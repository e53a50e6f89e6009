/**
 * The functions that keep the cells of meters. `append_usage` and `void_usage` call them for products and units that have
 * meters.
 *
 * A cell belongs to a roll-up (one definition of a meter), a customer, a UTC day and a combination of dimensions. Who
 * writes cells of a day has locked the row of `usage_daily` with the same customer, product, unit and day. So cells are
 * never written by two transactions at once. That is also why the limit of combinations is decided after the records were
 * inserted: a record that is refused is removed again, before anybody could see it.
 *
 * A roll-up that is being built is filled by `build_cells`, some customers at a time. An append takes an advisory lock
 * that it shares with other appends, and the building takes the same lock alone. There are `LOCKS` of them for a roll-up,
 * so that a large append does not need one for each of its customers.
 */
import { Rollup } from "@billwright/core"
import { instantOf } from "../Millis.ts"
import type { SchemaName } from "../SchemaName.ts"
import { define } from "./SqlFunction.ts"

/** How many advisory locks the customers of a roll-up share. A power of 2. */
const LOCKS = 16

/** The advisory lock of a roll-up's customer. */
export const lockOf = (rollup: string, customerId: string): string =>
  `hashtextextended('billwright cells ' || ${rollup}.meter_id || ' ' || ${rollup}.generation || ' ' ||
    (uuid_hash(${customerId}) & ${LOCKS - 1}), 0)`

/** The values of dimensions, at most `MAX_METER_DIMENSIONS`, by how many there are and their names. Faster than a subquery. */
const valuesOf = (dimensions: string, count: string, name: (number: number) => string): string => {
  const values = (length: number) =>
    Array.from({ length }, (_, index) => `${dimensions} ->> ${name(index + 1)}`).join(", ")
  return `(case ${count} when 0 then '{}'::text[] when 1 then array[${values(1)}]
        when 2 then array[${values(2)}] when 3 then array[${values(3)}] else array[${values(4)}] end) collate "C"`
}

/** The values of declared dimensions. */
const combinationOf = (dimensions: string, names: string): string =>
  valuesOf(dimensions, `cardinality(${names})`, (number) => `${names}[${number}]`)

/** The UTC day of an instant. */
const dayOf = (at: string): string => `(${at} at time zone 'UTC')::date`

/** The first instants of days, or of the days after them. */
export const startsOf = (days: string, after = ""): string =>
  `select (n.day${after})::timestamp at time zone 'UTC' from unnest(${days}) with ordinality as n (day, place) order by n.place`

/** The order of records in time: `Aggregation.compare`. */
const order = (alias: string): string => `${alias}.at, ${alias}.key nulls first, ${alias}.id`

/** The state of records with an order: `Aggregation.State` of `latest` and `time_weighted`. */
const orderedState = (aggregation: string): string => `
      case ${aggregation} when 'time_weighted' then
        coalesce(sum(x.quantity::numeric * (extract(epoch from x.next_at - x.at) * 1000)::bigint) filter (where x.is_live), 0)
      else 0 end,
      case ${aggregation} when 'time_weighted' then min(x.at) filter (where x.is_live) end,
      max(x.at) filter (where x.is_live), max(x.key) filter (where x.is_live and x.next_at is null),
      (array_agg(x.id) filter (where x.is_live and x.next_at is null))[1],
      max(x.quantity) filter (where x.is_live and x.next_at is null)`

/** The state of records whose order does not matter. */
const plainState = (aggregation: string, where: string): string => `
      case ${aggregation} when 'sum' then coalesce(sum(x.quantity) ${where}, 0)
        when 'max' then coalesce(max(x.quantity) ${where}, 0) else 0 end,
      null::timestamptz, null::timestamptz, null::text, null::uuid, null::bigint`

const isOrdered = (aggregation: string): string => `${aggregation} in ('latest', 'time_weighted')`

const KEY = "account_id, mode, meter_id, generation, customer_id, day, combination"
const STATE = "record_count, quantity, first_at, last_at, last_key, last_id, last_quantity"
const HEADER = "account_id, mode, meter_id, generation, customer_id, day"
/** The cell of `alias` that has the key of a row. */
const sameCell = (alias: string, row: string): string =>
  KEY.split(", ")
    .map((column) => `${alias}.${column} = ${row}.${column}`)
    .join(" and ")

/** The arguments of `append_usage` that these functions need, with the same names. */
const ARGUMENTS = `p_ids uuid[], p_customer_ids uuid[], p_product_ids text[], p_units text[], p_quantities bigint[],
  p_timestamps bigint[], p_idempotency_keys text[], p_dimensions jsonb[]`
const RECORDS = `unnest(p_ids, p_customer_ids, p_product_ids, p_units, p_quantities, p_timestamps,
      p_idempotency_keys, p_dimensions) with ordinality as n (id, customer_id, product_id, unit, quantity, occurred_at,
      key, dimensions, ordinal)`

/**
 * Reads the states of a roll-up from the records of customers in ranges of instants. `place` is the index of the range.
 * A combination whose records are all voided has a state, too.
 */
export const measureUsage = define(
  "measure_usage",
  (schema) => {
    const records = `unnest(p_customer_ids, p_from, p_to) with ordinality as e (customer_id, from_at, to_at, place), lateral (
        select r.id, r.quantity, r.occurred_at as at, r.idempotency_key as key, r.voided_at is null as is_live,
          ${combinationOf("r.dimensions", "p_rollup.dimensions")} as combination
        from ${schema}.usage_records r
        where r.account_id = p_rollup.account_id and r.mode = p_rollup.mode and r.customer_id = e.customer_id
          and r.occurred_at >= e.from_at and r.occurred_at < e.to_at
          and r.product_id = p_rollup.product_id and r.unit = p_rollup.unit order by r.occurred_at offset 0
      ) as r`
    return `(
  p_rollup ${schema}.meter_rollups, p_customer_ids uuid[], p_from timestamptz[], p_to timestamptz[]
) returns table (place bigint, customer_id uuid, combination text[], record_count bigint, quantity numeric,
  first_at timestamptz, last_at timestamptz, last_key text, last_id uuid, last_quantity bigint) language plpgsql stable
as $$
#variable_conflict use_column
begin
  if ${isOrdered("p_rollup.aggregation")} then
    return query select x.place, x.customer_id, x.combination, count(*) filter (where x.is_live),
      ${orderedState("p_rollup.aggregation").trim()}
    from (
      select e.place, e.customer_id, r.*, lead(r.at) over (
        partition by e.place, r.combination, r.is_live order by ${order("r")}) as next_at
      from ${records}
    ) as x group by x.place, x.customer_id, x.combination;
  else
    return query select x.place, x.customer_id, x.combination, count(*) filter (where x.is_live),
      ${plainState("p_rollup.aggregation", "filter (where x.is_live)").trim()}
    from (
      select e.place, e.customer_id, r.* from ${records}
    ) as x group by x.place, x.customer_id, x.combination;
  end if;
end
$$`
  },
  { isByIndex: true },
)

/**
 * Reads given cells again from their records. A cell without any record, not even a voided one, is removed: it is one that
 * the current transaction has made.
 */
export const refreshCells = define(
  "refresh_cells",
  (schema) => `(
  p_rollup ${schema}.meter_rollups, p_cells ${schema}.meter_cells[]
) returns void language plpgsql as $$
declare
  v_customers uuid[];
  v_days date[];
  v_measured ${schema}.meter_cells[];
begin
  select array_agg(d.customer_id), array_agg(d.day) into v_customers, v_days
  from (select distinct c.customer_id, c.day from unnest(p_cells) as c) as d;
  v_measured := array(
    select row(p_rollup.account_id, p_rollup.mode, p_rollup.meter_id, p_rollup.generation, m.customer_id,
      v_days[m.place], m.combination, m.record_count, m.quantity, m.first_at, m.last_at, m.last_key, m.last_id,
      m.last_quantity)::${schema}.meter_cells
    from ${schema}.measure_usage(p_rollup, v_customers,
      array(${startsOf("v_days")}), array(${startsOf("v_days", " + 1")})) as m
    where (m.customer_id, v_days[m.place], m.combination) in (select w.customer_id, w.day, w.combination from unnest(p_cells) as w)
  );

  update ${schema}.meter_cells c set record_count = s.record_count, quantity = s.quantity, first_at = s.first_at,
    last_at = s.last_at, last_key = s.last_key, last_id = s.last_id, last_quantity = s.last_quantity
  from unnest(v_measured) as s where ${sameCell("c", "s")};

  with removed as (
    delete from ${schema}.meter_cells c using (
      select ${KEY} from unnest(p_cells) as w except select ${KEY} from unnest(v_measured) as s
    ) as w where ${sameCell("c", "w")} returning c.*
  )
  update ${schema}.meter_days d set combination_count = d.combination_count - r.count
  from (select ${HEADER}, count(*) from removed r group by ${HEADER}) as r
  where ${HEADER.split(", ")
    .map((column) => `d.${column} = r.${column}`)
    .join(" and ")};
end
$$`,
  { isByIndex: true },
)

/** The declared dimension with the most different values on a day, the first of several: `Rollup.widest`. */
export const widestDimension = define(
  "widest_dimension",
  (
    schema,
  ) => `(p_rollup ${schema}.meter_rollups, p_customer_id uuid, p_day date) returns text language sql stable as $$
  select p_rollup.dimensions[i.number] from generate_subscripts(p_rollup.dimensions, 1) as i (number)
  order by (
    select count(distinct c.combination[i.number]) from ${schema}.meter_cells c
    where c.account_id = p_rollup.account_id and c.mode = p_rollup.mode and c.meter_id = p_rollup.meter_id
      and c.generation = p_rollup.generation and c.customer_id = p_customer_id and c.day = p_day
  ) desc, i.number limit 1
$$`,
)

/**
 * Adds states to the cells, and counts the new ones. A row that was inserted, and not updated, has no xmax. Notes the new
 * cells of days that have too many now.
 */
const upserting = (schema: SchemaName, states: string, change: string): string => `
      with upserted as (
        insert into ${schema}.meter_cells as c (${KEY}, ${STATE}) ${states}
        on conflict (${KEY}) do update set record_count = c.record_count + excluded.record_count, ${change}
        returning c.customer_id, c.day, c.combination, c.xmax = 0 as is_new
      ), counted as (
        insert into ${schema}.meter_days as d (${HEADER}, combination_count)
        select p_account_id, p_mode, g.meter_id, g.generation, u.customer_id, u.day, count(*)
        from upserted u where u.is_new group by u.customer_id, u.day order by u.customer_id, u.day
        on conflict (${HEADER}) do update set combination_count = d.combination_count + excluded.combination_count
        returning d.customer_id, d.day, d.combination_count
      )
      select v_new || array_agg(row(p_account_id, p_mode, g.meter_id, g.generation, u.customer_id, u.day, u.combination,
        d.combination_count, 0, null, null, null, null, null)::${schema}.meter_cells) into v_new
      from counted d join upserted u on u.customer_id = d.customer_id and u.day = d.day
      where d.combination_count > ${Rollup.MAX_COMBINATIONS} and u.is_new;`

/** The later of two last records. Keys are never empty, so an empty text stands for none and comes first. */
const isLater = `c.last_at is null
        or (excluded.last_at, coalesce(excluded.last_key, ''), excluded.last_id)
          > (c.last_at, coalesce(c.last_key, ''), c.last_id)`
const takesLater = ["last_at", "last_key", "last_id", "last_quantity"]
  .map((column) => `${column} = case when ${isLater} then excluded.${column} else c.${column} end`)
  .join(",\n      ")

/**
 * The records of an append that a roll-up `g` serves. The names of its dimensions are variables of their own: taking them
 * out of `g` for each record takes as long as adding the record to its cell.
 */
const servedRecords = `
      select n.customer_id, n.id, n.quantity, ${instantOf("n.occurred_at")}::timestamptz(3) as at, n.key,
        true as is_live, ${valuesOf("n.dimensions", "v_dimension_count", (number) => `v_dimension_${number}`)} as combination
      from ${RECORDS}
      where n.product_id = g.product_id and n.unit = g.unit and (p_recorded is null or n.id = any (p_recorded))`

const keyOfState = `p_account_id, p_mode, g.meter_id, g.generation, x.customer_id, ${dayOf("x.at")}, x.combination`

const orderedStates = `
      select ${keyOfState}, count(*),${orderedState("g.aggregation")}
      from (
        select r.*, lead(r.at) over (
          partition by r.customer_id, ${dayOf("r.at")}, r.combination order by ${order("r")}) as next_at
        from (${servedRecords}) as r
      ) as x group by 5, 6, 7 order by 5, 6, 7`

/**
 * Goes through the records of an append in the order of their ids, which is that of their creation. Removes those that
 * add a combination too many, and returns them. `p_new` are the new cells of the days that have too many, with the number
 * of the day's combinations in `record_count`.
 */
export const refuseRecords = define(
  "refuse_records",
  (schema) => `(
  p_account_id text, p_mode text, p_rollups ${schema}.meter_rollups[], p_recorded uuid[], ${ARGUMENTS},
  p_new ${schema}.meter_cells[]
) returns setof ${schema}.meter_refusal language plpgsql as $$
declare
  g ${schema}.meter_rollups;
  v_record record;
  v_refusal ${schema}.meter_refusal;
  v_left integer[];
  v_day_of integer[];
  v_is_known boolean[] := array_fill(false, array[cardinality(p_new)]);
  v_refused_by integer;
  v_refusals ${schema}.meter_refusal[] := '{}';
  v_refused uuid[] := '{}';
  v_customers uuid[] := '{}';
  v_by integer[] := '{}';
begin
  -- For each new cell the number of its day, and for each day how many new cells it has room for.
  select array_agg(x.day_number order by x.place), array_agg(x.room order by x.place) into v_day_of, v_left
  from (
    select c.place, first_value(c.place) over same as day_number,
      ${Rollup.MAX_COMBINATIONS} - (c.record_count - count(*) over same) as room
    from unnest(p_new) with ordinality as c (${KEY}, ${STATE}, place)
    window same as (partition by c.meter_id, c.generation, c.customer_id, c.day)
  ) as x;

  for v_record in
    select n.ordinal, n.id, n.customer_id, ${dayOf(instantOf("n.occurred_at"))} as day,
      array_agg(w.place::integer order by r.place) as cells, array_agg(r.place::integer order by r.place) as rollups
    from ${RECORDS}
    join unnest(p_rollups) with ordinality as r (account_id, mode, product_id, unit, meter_id, meter_key, generation,
      aggregation, dimensions, counted, is_building, place) on r.product_id = n.product_id and r.unit = n.unit
    join unnest(p_new) with ordinality as w (${KEY}, ${STATE}, place) on w.meter_id = r.meter_id
      and w.generation = r.generation and w.customer_id = n.customer_id
      and w.day = ${dayOf(instantOf("n.occurred_at"))} and w.combination = ${combinationOf("n.dimensions", "r.dimensions")}
    where p_recorded is null or n.id = any (p_recorded)
    group by n.ordinal, n.id, n.customer_id, n.occurred_at order by n.id
  loop
    select min(u.number) into v_refused_by
    from unnest(v_record.cells) with ordinality as u (cell, number)
    where not v_is_known[u.cell] and v_left[v_day_of[u.cell]] <= 0;
    if v_refused_by is null then
      for v_number in 1..cardinality(v_record.cells) loop
        continue when v_is_known[v_record.cells[v_number]];
        v_is_known[v_record.cells[v_number]] := true;
        v_left[v_day_of[v_record.cells[v_number]]] := v_left[v_day_of[v_record.cells[v_number]]] - 1;
      end loop;
    else
      v_refused := v_refused || v_record.id;
      v_customers := v_customers || v_record.customer_id;
      v_refusal.ordinal := v_record.ordinal;
      v_refusal.meter_key := p_rollups[v_record.rollups[v_refused_by]].meter_key;
      v_refusal.day := v_record.day;
      v_refusals := v_refusals || v_refusal;
      v_by := v_by || v_record.rollups[v_refused_by];
    end if;
  end loop;

  with removed as (
    delete from ${schema}.usage_records r
    where r.account_id = p_account_id and r.mode = p_mode and r.customer_id = any (v_customers) and r.id = any (v_refused)
    returning r.customer_id, r.product_id, r.unit, ${dayOf("r.occurred_at")} as day, r.quantity
  )
  update ${schema}.usage_daily d set quantity = d.quantity - s.quantity, record_count = d.record_count - s.record_count
  from (
    select r.customer_id, r.product_id, r.unit, r.day, sum(r.quantity) as quantity, count(*) as record_count
    from removed r group by 1, 2, 3, 4
  ) as s
  where d.account_id = p_account_id and d.mode = p_mode and d.customer_id = s.customer_id
    and d.product_id = s.product_id and d.unit = s.unit and d.day = s.day;

  foreach g in array p_rollups loop
    perform ${schema}.refresh_cells(g, array_agg(row(p_account_id, p_mode, g.meter_id, g.generation, n.customer_id,
      ${dayOf(instantOf("n.occurred_at"))}, ${combinationOf("n.dimensions", "g.dimensions")}, 0, 0, null, null, null,
      null, null)::${schema}.meter_cells))
    from ${RECORDS} where n.product_id = g.product_id and n.unit = g.unit and n.id = any (v_refused) having count(*) > 0;
  end loop;

  for v_number in 1..cardinality(v_refusals) loop
    v_refusal := v_refusals[v_number];
    g := p_rollups[v_by[v_number]];
    v_refusal.dimension := ${schema}.widest_dimension(g, p_customer_ids[v_refusal.ordinal], v_refusal.day);
    return next v_refusal;
  end loop;
end
$$`,
)

/**
 * Adds records that were stored to the cells of roll-ups. `p_recorded` are their ids; NULL for all. A record of
 * `time_weighted` that is not after the others of its cell changes how long a level lasted, so the cell is read again.
 *
 * Removes the records that add too many combinations, and returns those.
 */
export const addToCells = define(
  "add_to_cells",
  (schema) => `(
  p_account_id text, p_mode text, p_rollups ${schema}.meter_rollups[], p_recorded uuid[], ${ARGUMENTS}
) returns setof ${schema}.meter_refusal language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  g ${schema}.meter_rollups;
  v_dimension_count integer;
  v_dimension_1 text;
  v_dimension_2 text;
  v_dimension_3 text;
  v_dimension_4 text;
  v_states ${schema}.meter_cells[];
  v_late ${schema}.meter_cells[];
  v_new ${schema}.meter_cells[];
begin
  foreach g in array p_rollups loop
    v_dimension_count := cardinality(g.dimensions);
    v_dimension_1 := g.dimensions[1];
    v_dimension_2 := g.dimensions[2];
    v_dimension_3 := g.dimensions[3];
    v_dimension_4 := g.dimensions[4];
    if not ${isOrdered("g.aggregation")} then${upserting(
      schema,
      `
      select ${keyOfState}, count(*),${plainState("g.aggregation", "")}
      from (${servedRecords}) as x group by 5, 6, 7 order by 5, 6, 7`,
      `quantity = case g.aggregation when 'max' then greatest(c.quantity, excluded.quantity)
        else c.quantity + excluded.quantity end`,
    )}
    elsif g.aggregation = 'latest' then${upserting(schema, orderedStates, takesLater)}
    else
      select array_agg(row(s.*)::${schema}.meter_cells) into v_states from (${orderedStates}) as s;
      continue when v_states is null;
      select array_agg(s) into v_late from unnest(v_states) as s where exists (
        select from ${schema}.meter_cells c where ${sameCell("c", "s")} and c.last_at >= s.first_at offset 0
      );${upserting(
        schema,
        `
      select s.* from unnest(v_states) as s where v_late is null or not s = any (v_late)`,
        `quantity = case when c.last_at is null then excluded.quantity
          else c.quantity + excluded.quantity
            + c.last_quantity::numeric * (extract(epoch from excluded.first_at - c.last_at) * 1000)::bigint end,
        first_at = coalesce(c.first_at, excluded.first_at),
      ${takesLater}`,
      )}
      if v_late is not null then perform ${schema}.refresh_cells(g, v_late); end if;
    end if;
  end loop;
  if v_new is not null then
    return query select r.* from ${schema}.refuse_records(p_account_id, p_mode, p_rollups, p_recorded, p_ids,
      p_customer_ids, p_product_ids, p_units, p_quantities, p_timestamps, p_idempotency_keys, p_dimensions, v_new) as r;
  end if;
end
$$`,
)

/** Takes a voided record out of the cells of the roll-ups that serve it. What a cell can't tell is read again. */
export const removeFromCells = define(
  "remove_from_cells",
  (schema) => `(
  p_record ${schema}.usage_records, p_rollups ${schema}.meter_rollups[]
) returns void language plpgsql as $$
declare
  g ${schema}.meter_rollups;
  c ${schema}.meter_cells;
begin
  foreach g in array p_rollups loop
    select d.* into c from ${schema}.meter_cells d
    where d.account_id = g.account_id and d.mode = g.mode and d.meter_id = g.meter_id and d.generation = g.generation
      and d.customer_id = p_record.customer_id and d.day = ${dayOf("p_record.occurred_at")}
      and d.combination = ${combinationOf("p_record.dimensions", "g.dimensions")};
    continue when not found;
    -- Before its day is built, a cell has only the records that came since: it may not have this one.
    if g.is_building or (
      case g.aggregation when 'max' then c.quantity = p_record.quantity when 'latest' then c.last_id = p_record.id
      else g.aggregation = 'time_weighted' end)
    then
      perform ${schema}.refresh_cells(g, array[c]);
    else
      update ${schema}.meter_cells d set record_count = d.record_count - 1,
        quantity = d.quantity - case g.aggregation when 'sum' then p_record.quantity else 0 end
      where ${sameCell("d", "c")};
    end if;
  end loop;
end
$$`,
)

/**
 * The roll-ups that some records have to be added to, in the order in which they refuse records. Called after the
 * customers are locked. Waits for the building of roll-ups of these customers, and makes a later one wait for this
 * transaction.
 *
 * With an older snapshot, a transaction may not see a meter that others have built since. Then it fails with 40001.
 */
export const serveRollups = define(
  "serve_rollups",
  (schema) => `(
  p_account_id text, p_mode text, p_customer_ids uuid[], p_product_ids text[], p_units text[]
) returns ${schema}.meter_rollups[] language plpgsql as $$
declare
  v_rollups ${schema}.meter_rollups[];
begin
  select array_agg(r order by r.meter_key, r.generation) into v_rollups from ${schema}.meter_rollups r
  where r.account_id = p_account_id and r.mode = p_mode and r.product_id = any (p_product_ids)
    and r.unit = any (p_units);
  perform pg_advisory_xact_lock_shared(l.key) from (
    select distinct ${lockOf("g", "n.customer_id")} as key
    from unnest(v_rollups) as g, unnest(p_customer_ids) as n (customer_id) where g.is_building order by 1
  ) as l;
  return v_rollups;
end
$$`,
)
