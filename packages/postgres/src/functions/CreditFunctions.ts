/**
 * `take_credits`, `hold_credits` and `settle_holds`: calls that use credits, hold them and settle holds, many in one
 * statement, where nothing else is to be done. docs/decisions has why the rest is not here.
 *
 * Each gives a row for every call that it carried out. For the others it has changed nothing: `is_busy` says that somebody
 * else has the account, which is only for callers that don't wait.
 *
 * The first statement locks the accounts, in the order of their keys. The second one has a newer snapshot, so it sees what
 * those before have committed. Its plan has nested loops only, an index look-up for each call, also while the planner has no
 * statistics: `lateral` with `offset 0` leaves it no other choice. Rows that were read under the lock are updated by their
 * position (`ctid`), which nobody else can change.
 */
import { Hold } from "@billwright/core"
import { instantOf } from "../Millis.ts"
import type { SchemaName } from "../SchemaName.ts"
import { holdJsonOf } from "../stores/CreditRow.ts"
import { offsetOf } from "./IdFunctions.ts"
import { define } from "./SqlFunction.ts"

const isOf = (alias: string, of: string): string =>
  `${alias}.account_id = p_account_id and ${alias}.mode = p_mode and ${alias}.customer_id = ${of}.customer_id
      and ${alias}.unit = ${of}.unit`

const NESTED_LOOPS = "set enable_hashjoin = off set enable_mergejoin = off"

/** Locks the accounts of `v_customers` and `v_units`. Without waiting, it leaves out those that somebody else has. */
const lockAccounts = (schema: SchemaName): string => {
  const locked = (skip: string) => `
    select array_agg(l.customer_id), array_agg(l.unit) into v_locked_customers, v_locked_units from (
      select a.customer_id, a.unit
      from (
        select distinct n.customer_id, n.unit from unnest(v_customers, v_units) as n (customer_id, unit) order by 1, 2
      ) as n
      cross join lateral (
        select a.customer_id, a.unit from ${schema}.billing_credit_accounts a where ${isOf("a", "n")}
        for no key update${skip}
      ) as a
    ) as l;`
  return `
  if p_waits then${locked("")}
  else${locked(" skip locked")}
  end if;`
}

const LOCKED = `
  v_locked_customers uuid[];
  v_locked_units text[];`

/**
 * Whether an open hold of account `a` has expired by an instant. Only the index of open holds has them in the order of their
 * expiry. Any other one gives all holds of the tenant, and while the planner has no statistics it seems to cost as little.
 */
export const hasExpiredHold = (schema: SchemaName, at: string): string => `(
      select 1 from ${schema}.billing_credit_holds h
      where ${isOf("h", "a")} and h.status = 'open' and h.expires_at <= ${at}
      order by h.expires_at limit 1
    ) is not null`

/** The locked accounts, and whether something of them is due by the clock. `asked` has the instants of the calls. */
const opened = (schema: SchemaName): string => `opened as (
    select a.tid as account_tid, a.customer_id, a.unit, a.available, a.held, a.debt, a.open_holds, a.sequence, a.levels, ${hasExpiredHold(schema, "n.latest")} or exists (
      select from ${schema}.billing_credit_grants g
      where ${isOf("g", "a")} and g.is_live
        and (g.status = 'pending' and g.effective_at <= n.latest
          or g.status in ('pending', 'active') and g.expires_at <= n.latest)
    ) as is_due
    from unnest(v_locked_customers, v_locked_units) as l (customer_id, unit)
    cross join lateral (
      select a.*, a.ctid as tid from ${schema}.billing_credit_accounts a where ${isOf("a", "l")} offset 0
    ) as a
    cross join lateral (
      select max(q.at) as latest from asked q where q.customer_id = a.customer_id and q.unit = a.unit
    ) as n
  )`

/**
 * Calls whose account exists and was locked by somebody else. Each account is looked up by itself: joined, all accounts of the
 * tenant might be read.
 */
const busy = (schema: SchemaName): string => `
  if not p_waits then
    return query select n.ordinal::integer, true, null::jsonb
    from unnest(v_customers, v_units) with ordinality as n (customer_id, unit, ordinal)
    where not exists (
      select from unnest(v_locked_customers, v_locked_units) as l (customer_id, unit)
      where l.customer_id = n.customer_id and l.unit = n.unit
    ) and (select 1 from ${schema}.billing_credit_accounts a where ${isOf("a", "n")} limit 1) is not null;
  end if;`

/** The id of an entry of a call: that of the first one, and those that follow from it. */
const entryId = (part: string): string =>
  `case ${part}.part_number when 1 then ${part}.entry_id else ${offsetOf(`${part}.entry_id`, `${part}.part_number - 1`)} end`

const XID = "pg_current_xact_id_if_assigned()::text"

/**
 * Looks for the key of a call `q`. Only the index of keys has rows in this order, and this takes it also while the planner
 * has no statistics: any other one reads all rows of the customer.
 */
const hasKey = (schema: SchemaName, table: string): string => `(
      select 1 from ${schema}.${table} r
      where ${isOf("r", "q")} and r.idempotency_key >= q.key and r.idempotency_key <= q.key
      order by r.idempotency_key limit 1
    )`

interface Using {
  /** The table that has the keys of the calls. */
  readonly table: string
  readonly arguments: string
  /** Which calls can be carried out, of `fresh` ones. */
  readonly isPossible: string
  /** CTEs that write the records of the calls. */
  readonly record: (schema: SchemaName) => string
  readonly kind: "consume" | "reserve"
  readonly recordColumn: "consumption_id" | "hold_id"
  /** How much of what is taken is held then: a factor. */
  readonly held: 0 | 1
}

/**
 * Takes what calls ask for from the grants of their accounts. Calls of an account take one after another, in the order of
 * the arguments: each an interval of what is available, as each grant has one. Where a call's interval and a grant's overlap,
 * it takes credits of it.
 *
 * The last credits of an account are used with an event, and so are those that cross a level of an alert. They are left to
 * others. So are calls with a purpose, which grants with a scope may pay for: no call here uses those.
 */
const using =
  ({ arguments: more, held, isPossible, kind, record, recordColumn, table }: Using) =>
  (schema: SchemaName): string =>
    `(
  p_account_id text, p_mode text, p_waits boolean, p_customer_ids uuid[], p_units text[], p_ids uuid[],
  p_first_entry_ids uuid[], p_amounts numeric[], p_keys text[], p_nows bigint[]${more}
) returns table (ordinal integer, is_busy boolean, answer jsonb) language plpgsql ${NESTED_LOOPS} as $$
declare
  v_customers uuid[] := p_customer_ids;
  v_units text[] := p_units;${LOCKED}
begin${lockAccounts(schema)}

  return query with asked as (
    select n.customer_id, n.unit, n.id, n.entry_id, n.amount, n.key, ${instantOf("n.now")}::timestamptz(3) as at, n.place,
      row_number() over (partition by n.customer_id, n.unit, coalesce(n.key, n.id::text) order by n.place) as turn
    from unnest(p_customer_ids, p_units, p_ids, p_first_entry_ids, p_amounts, p_keys, p_nows)
      with ordinality as n (customer_id, unit, id, entry_id, amount, key, now, place)
  ), ${opened(schema)}, fresh as (
    select q.*, o.account_tid, o.available, o.held, o.debt, o.open_holds, o.sequence, o.levels,
      sum(q.amount) over of_account as upto, row_number() over of_account as number
    from asked q join opened o on o.customer_id = q.customer_id and o.unit = q.unit
    where not o.is_due and q.turn = 1 and (q.key is null or ${hasKey(schema, table)} is null)
    window of_account as (partition by q.customer_id, q.unit order by q.place)
  ), taken as (
    select * from fresh f where f.upto < f.available and ${isPossible} and not exists (
      select from unnest(f.levels) as l (level) where l.level <= f.available and l.level > f.available - f.upto
    )
  ), live as (
    select o.customer_id, o.unit, g.tid, g.id, g.available, sum(g.available) over (
      partition by o.customer_id, o.unit order by g.priority, g.expires_at, g.created_at, g.id
    ) as upto
    from opened o cross join lateral (
      select g.*, g.ctid as tid from ${schema}.billing_credit_grants g
      where ${isOf("g", "o")} and g.is_live and g.available > 0 and g.scope is null offset 0
    ) as g
  ), parts as (
    select t.*, l.tid as grant_tid, l.id as grant_id, least(l.upto, t.upto) - greatest(l.upto - l.available, t.upto - t.amount) as part,
      row_number() over (partition by t.place order by l.upto) as part_number,
      row_number() over (partition by t.customer_id, t.unit order by t.place, l.upto) as entry_number
    from taken t join live l on l.customer_id = t.customer_id and l.unit = t.unit
      and l.upto > t.upto - t.amount and l.upto - l.available < t.upto
  ), ${record(schema)}, entries as (
    insert into ${schema}.billing_credit_entries
      (account_id, mode, customer_id, unit, sequence, id, kind, grant_id, ${recordColumn}, available, held, debt, at)
    select p_account_id, p_mode, p.customer_id, p.unit, p.sequence + p.entry_number,
      ${entryId("p")}, '${kind}', p.grant_id, p.id, -p.part, ${held} * p.part, 0, p.at
    from parts p
  ), grants as (
    update ${schema}.billing_credit_grants g set available = g.available - s.sum, held = g.held + ${held} * s.sum
    from (
      select p.grant_tid, sum(p.part) as sum from parts p group by 1
    ) as s where g.ctid = s.grant_tid
  ), accounts as (
    update ${schema}.billing_credit_accounts a set available = a.available - s.sum, held = a.held + ${held} * s.sum,
      open_holds = a.open_holds + ${held} * s.calls, sequence = a.sequence + s.entries
    from (
      select p.account_tid, sum(p.part) as sum, count(*) as entries, count(distinct p.place)::integer as calls
      from parts p group by 1
    ) as s where a.ctid = s.account_tid
  )
  select t.place::integer, false, jsonb_build_object('available', (t.available - t.upto)::text,
    'held', (t.held + ${held} * t.upto)::text, 'debt', t.debt::text, 'xid', ${XID})
  from taken t;
${busy(schema)}
end
$$`

export const takeCredits = define(
  "take_credits",
  using({
    table: "billing_credit_consumptions",
    arguments: "",
    isPossible: "true",
    record: (schema) => `consumptions as (
    insert into ${schema}.billing_credit_consumptions
      (account_id, mode, customer_id, unit, id, amount, available, held, debt, idempotency_key, created_at)
    select p_account_id, p_mode, t.customer_id, t.unit, t.id, t.amount, t.available - t.upto, t.held, t.debt, t.key, t.at
    from taken t
  )`,
    kind: "consume",
    recordColumn: "consumption_id",
    held: 0,
  }),
  { isByIndex: true },
)

export const holdCredits = define(
  "hold_credits",
  using({
    table: "billing_credit_holds",
    arguments: ", p_ttls integer[]",
    isPossible: `f.open_holds + f.number <= ${Hold.MAX_OPEN_HOLDS}`,
    record: (schema) => `holds as (
    insert into ${schema}.billing_credit_holds (account_id, mode, customer_id, unit, id, amount, slices, ttl_seconds,
      expires_at, status, is_late, idempotency_key, created_at)
    select p_account_id, p_mode, t.customer_id, t.unit, t.id, t.amount, (
      select jsonb_agg(jsonb_build_object('grant_id', p.grant_id, 'amount', p.part::text) order by p.part_number)
      from parts p where p.place = t.place
    ), p_ttls[t.place], t.at + p_ttls[t.place] * interval '1 second', 'open', false, t.key, t.at
    from taken t
  )`,
    kind: "reserve",
    recordColumn: "hold_id",
    held: 1,
  }),
  { isByIndex: true },
)

/**
 * Commits holds, with an amount that they cover (without one, all of it), or gives them back. What is left over goes back to its
 * grants. It settles open holds of accounts without a debt, whose grants have neither ended nor rolled over, and pay for
 * anything.
 */
export const settleHolds = define(
  "settle_holds",
  (schema) => `(
  p_account_id text, p_mode text, p_waits boolean, p_ids uuid[], p_first_entry_ids uuid[], p_statuses text[],
  p_amounts numeric[], p_nows bigint[]
) returns table (ordinal integer, is_busy boolean, answer jsonb) language plpgsql ${NESTED_LOOPS} as $$
declare
  v_customers uuid[];
  v_units text[];${LOCKED}
begin
  select array_agg(h.customer_id order by n.place), array_agg(h.unit order by n.place) into v_customers, v_units
  from unnest(p_ids) with ordinality as n (id, place)
  left join lateral (
    select h.customer_id, h.unit from ${schema}.billing_credit_holds h
    where h.account_id = p_account_id and h.mode = p_mode and h.id = n.id offset 0
  ) as h on true;
${lockAccounts(schema)}

  return query with asked as (
    select n.customer_id, n.unit, n.id, n.entry_id, n.status, n.amount, ${instantOf("n.now")}::timestamptz(3) as at, n.place,
      row_number() over (partition by n.id order by n.place) as turn
    from unnest(v_customers, v_units, p_ids, p_first_entry_ids, p_statuses, p_amounts, p_nows)
      with ordinality as n (customer_id, unit, id, entry_id, status, amount, now, place)
  ), ${opened(schema)}, found as (
    select q.customer_id, q.unit, q.id, q.entry_id, q.status, q.at, q.place, o.account_tid, o.sequence, h.tid as hold_tid, h.slices, h.purpose,
      case q.status when 'committed' then coalesce(q.amount, h.amount) end as amount
    from asked q join opened o on o.customer_id = q.customer_id and o.unit = q.unit
    cross join lateral (
      select h.*, h.ctid as tid from ${schema}.billing_credit_holds h where ${isOf("h", "q")} and h.id = q.id offset 0
    ) as h
    where not o.is_due and o.debt = 0 and q.turn = 1 and h.status = 'open' and coalesce(q.amount, 0) <= h.amount
  ), slices as (
    select f.*, s.grant_id, s.slice, s.slice_number, g.tid as grant_tid, g.is_plain, sum(s.slice) over (partition by f.place order by s.slice_number) as upto
    from found f cross join lateral (
      select (e.slice ->> 'grant_id')::uuid as grant_id, (e.slice ->> 'amount')::numeric as slice, e.number as slice_number
      from jsonb_array_elements(f.slices) with ordinality as e (slice, number)
    ) as s
    cross join lateral (
      select g.ctid as tid, g.status = 'active' and g.scope is null
        and coalesce(g.rollover_expires_at <> g.expires_at, true) as is_plain
      from ${schema}.billing_credit_grants g where ${isOf("g", "f")} and g.id = s.grant_id offset 0
    ) as g
  ), unlike as (
    select s.place from slices s where not s.is_plain
  ), settled as (
    select f.* from found f where not exists (select from unlike e where e.place = f.place)
  ), used as (
    select s.*, greatest(0, least(s.slice, coalesce(s.amount, 0) - (s.upto - s.slice))) as used from slices s
    where not exists (select from unlike e where e.place = s.place)
  ), moved as (
    select u.*, m.kind, m.part, m.back, row_number() over (partition by u.place order by u.slice_number, m.number) as part_number,
      row_number() over (partition by u.customer_id, u.unit order by u.place, u.slice_number, m.number) as entry_number
    from used u cross join lateral (
      values (1, 'commit', u.used, 0::numeric), (2, 'release', u.slice - u.used, u.slice - u.used)
    ) as m (number, kind, part, back)
    where m.part > 0
  ), holds as (
    update ${schema}.billing_credit_holds h set settled_at = s.at, committed = s.amount,
      status = s.status
    from settled s where h.ctid = s.hold_tid
    returning s.place, ${holdJsonOf("h")} as hold
  ), entries as (
    insert into ${schema}.billing_credit_entries
      (account_id, mode, customer_id, unit, sequence, id, kind, grant_id, hold_id, purpose, available, held, debt, at)
    select p_account_id, p_mode, m.customer_id, m.unit, m.sequence + m.entry_number,
      ${entryId("m")}, m.kind, m.grant_id, m.id, m.purpose, m.back, -m.part, 0, m.at
    from moved m
  ), grants as (
    update ${schema}.billing_credit_grants g set available = g.available + s.back, held = g.held - s.part
    from (
      select m.grant_tid, sum(m.part) as part, sum(m.back) as back from moved m group by 1
    ) as s where g.ctid = s.grant_tid
  ), accounts as (
    update ${schema}.billing_credit_accounts a set available = a.available + s.back, held = a.held - s.part,
      open_holds = a.open_holds - s.calls, sequence = a.sequence + s.entries
    from (
      select m.account_tid, sum(m.part) as part, sum(m.back) as back, count(*) as entries,
        count(distinct m.place)::integer as calls
      from moved m group by 1
    ) as s where a.ctid = s.account_tid
  )
  select h.place::integer, false, h.hold || jsonb_build_object('xid', ${XID}) from holds h;
${busy(schema)}
end
$$`,
  { isByIndex: true },
)
