/**
 * The queue of billing runs: `claim_due` leases subjects of the lane `billing` on which something is due, `claim_due_calls`
 * those of the lane `calls`, and `next_due` says when something is due.
 *
 * A claim works like `claim_deliveries`, without endpoints. It looks at the subjects that have been due the longest, and picks
 * from them with tenants taking turns. If more may be due than it looked at, it also visits tenant after tenant, so that
 * none waits behind the backlog of another. The next claim continues with the tenant after the last one visited
 * (`visited…`). Rows of test clocks are left out: each is in the index of its clock only. Rows that another claim has locked are skipped, and others are picked instead.
 */
import { instantOf, millis, millisText } from "../Millis.ts"
import type { SchemaName } from "../SchemaName.ts"
import { define, type SqlFunction } from "./SqlFunction.ts"

/** The subjects of each lane, by their rows `q`. Each lane has indexes of its own, with these words. */
const LANES = {
  billing: "q.kind in ('invoice', 'plan_migration', 'subscription')",
  calls: "q.kind not in ('invoice', 'plan_migration', 'subscription')",
} as const
type LaneRows = (typeof LANES)[keyof typeof LANES]

/** How many subjects are looked at in each order: those due longest, and those to be tried again. At least one claim. */
const LOOK_AHEAD = 1_000
/** How many tenants are visited when more subjects are due than were looked at. */
const MAX_TENANTS = 500
/** How many rounds a claim takes, including those to replace picks that another claim had locked. */
const MAX_ROUNDS = 6

const isFree = "(q.leased_until is null or q.leased_until <= v_now) and not q.ctid = any (v_seen)"
const COLUMNS = "q.ctid as tid, q.account_id, q.mode, q.kind, q.id, q.due_at"

/** Subjects due for the first time, and those to be tried again, each by an index in this order. */
const lookAhead = (schema: SchemaName, lane: LaneRows): string => `
      (select ${COLUMNS} from ${schema}.billing_due q where ${lane} and q.test_clock_id is null and q.attempts = 0 and q.due_at <= v_now and ${isFree}
        order by q.due_at, q.kind, q.id limit ${LOOK_AHEAD})
      union all
      (select ${COLUMNS} from ${schema}.billing_due q
        where ${lane} and q.test_clock_id is null and q.retry_at is not null and q.retry_at <= v_now and q.due_at <= v_now and ${isFree}
        order by q.retry_at, q.due_at, q.kind, q.id limit ${LOOK_AHEAD})`

/**
 * Picks from the rows of `looked`, with tenants taking turns. After picks that another claim had locked, it picks more
 * than are wanted.
 */
const pick = `turns as (
      select l.*, row_number() over (partition by l.account_id, l.mode order by l.due_at, l.kind, l.id)
        + coalesce(t.taken, 0) as turn
      from looked l left join (
        select t.account_id, t.mode, count(*) as taken from unnest(v_accounts, v_modes) as t (account_id, mode) group by 1, 2
      ) as t on t.account_id = l.account_id and t.mode = l.mode
    ), picked as (
      select t.* from turns t order by t.turn, t.due_at, t.kind, t.id
      limit p_limit - cardinality(v_tids) + cardinality(v_seen)
    )`

const PICKED = "(select array_agg(p.tid order by p.turn, p.due_at, p.kind, p.id) from picked p)"

const pickFromAll = (schema: SchemaName, lane: LaneRows): string => `
    with looked as (${lookAhead(schema, lane)}
    ), ${pick}
    select (select count(*) from looked), ${PICKED} into v_ahead, v_picked;`

// `union` leaves a tenant out that was visited before, so the visits end when they are around. `nulls first` matches the
// order of the index by tenant and of no other index. The row comparison is needed because, with a condition on `due_at`
// alone, Postgres before 18 would use the index by `due_at`.
const pickByTenant = (schema: SchemaName, lane: LaneRows): string => {
  const next = (after: string): string => `select q.account_id, q.mode from (
          (select q.account_id, q.mode, 1 as n from ${schema}.billing_due q where (q.account_id, q.mode) > ${after}
            and ${lane} and q.test_clock_id is null and (q.attempts = 0 or q.retry_at is not null) order by q.account_id, q.mode, q.due_at nulls first limit 1)
          union all
          (select q.account_id, q.mode, 2 as n from ${schema}.billing_due q
            where ${lane} and q.test_clock_id is null and (q.attempts = 0 or q.retry_at is not null) order by q.account_id, q.mode, q.due_at nulls first limit 1)
        ) as q order by q.n limit 1`
  return `
    with recursive visits (account_id, mode) as (
      (${next("(v_after_account, v_after_mode)")})
      union
      (select n.account_id, n.mode from visits v cross join lateral (${next("(v.account_id, v.mode)")}) as n)
    ), tenants as materialized (
      select v.account_id, v.mode, row_number() over () as n from (select * from visits limit ${MAX_TENANTS}) as v
    ), looked as (
      select d.* from tenants t cross join lateral (
        select ${COLUMNS} from ${schema}.billing_due q
        where ${lane} and q.test_clock_id is null and q.account_id = t.account_id and q.mode = t.mode
          and (q.account_id, q.mode, q.due_at) <= (t.account_id, t.mode, v_now)
          and (q.attempts = 0 or q.retry_at is not null) and (q.retry_at is null or q.retry_at <= v_now) and ${isFree}
        order by q.due_at nulls first, q.kind, q.id
        limit (select greatest(${LOOK_AHEAD} / greatest(count(*), 1), 1) from tenants)
      ) as d
      union${lookAhead(schema, lane)}
    ), ${pick}
    select (select array[t.account_id, t.mode] from tenants t order by t.n desc limit 1),
      ${PICKED} into v_last, v_picked;`
}

const lockPicked = (schema: SchemaName): string => `
    with locked as (
      select q.* from unnest(v_picked) as p (tid) cross join lateral (
        select q.ctid as tid, q.account_id, q.mode from ${schema}.billing_due q
        where q.ctid = p.tid and q.due_at <= v_now and (q.attempts = 0 or q.retry_at <= v_now) and ${isFree}
        for update skip locked
      ) as q limit p_limit - cardinality(v_tids)
    )
    select v_tids || coalesce(array_agg(l.tid), '{}'), v_accounts || coalesce(array_agg(l.account_id), '{}'),
      v_modes || coalesce(array_agg(l.mode), '{}')
    into v_tids, v_accounts, v_modes from locked l;
    v_seen := v_seen || v_picked;`

const answer = (rows: string): string => `
  return query with leased as (${rows})
  select l.account_id, l.mode, l.kind, l.id, l.customer_id, ${millisText("l.due_at")}, l.attempts, l.lease_token, v_last[1],
    v_last[2]
  from leased l order by l.due_at, l.kind, l.id;`

const claimOf = (name: string, lane: LaneRows): SqlFunction =>
  define(
    name,
    (schema) => `(
  p_now bigint, p_lease_until bigint, p_token uuid, p_limit integer, p_after_account text, p_after_mode text,
  p_is_repeat boolean
) returns table (account_id text, mode text, kind text, id uuid, customer_id uuid, due_at text, attempts integer, token uuid,
  visited_account text, visited_mode text) language plpgsql as $$
#variable_conflict use_column
declare
  v_now timestamptz(3) := ${instantOf("p_now")};
  v_until timestamptz(3) := ${instantOf("p_lease_until")};
  v_after_account text := coalesce(p_after_account, '');
  v_after_mode text := coalesce(p_after_mode, '');
  v_last text[] := array[p_after_account, p_after_mode];
  v_is_by_tenant boolean := false;
  v_ahead integer;
  v_picked tid[];
  v_seen tid[] := '{}';
  v_tids tid[] := '{}';
  v_accounts text[] := '{}';
  v_modes text[] := '{}';
begin
  -- The answer to this claim was lost. The tokens of a claim share their first 80 bits, which tell that it was carried out.
  if p_is_repeat then${answer(`
    select q.* from ${schema}.billing_due q
    where q.leased_until is not null and left(q.lease_token::text, 24) = left(p_token::text, 24)`)}
    if found then return; end if;
  end if;

  for v_round in 1..${MAX_ROUNDS} loop
    if v_is_by_tenant then${pickByTenant(schema, lane)}
    else${pickFromAll(schema, lane)}
      if v_ahead >= ${LOOK_AHEAD} and v_round = 1 then
        -- Nothing is locked yet: the rows looked at may all be of one tenant, and another tenant waits behind them.
        v_is_by_tenant := true;
        continue;
      end if;
    end if;
    exit when v_picked is null;${lockPicked(schema)}
    exit when cardinality(v_tids) >= p_limit;
  end loop;
${answer(`
    update ${schema}.billing_due q set lease_token = ${schema}.offset_id(p_token, t.place - 1), leased_until = v_until
    from unnest(v_tids) with ordinality as t (tid, place) where q.ctid = t.tid returning q.*`)}
end
$$`,
    { isByIndex: true },
  )

export const claimDue = claimOf("claim_due", LANES.billing)
export const claimDueCalls = claimOf("claim_due_calls", LANES.calls)

/** How many subjects at the start of each order are checked for the end of their lease. */
const NEXT_LOOK_AHEAD = 1_000

/**
 * When the first subjects of an order are due, or their leases end. Those that were due first have leases, so the first
 * one without is near the start. No lease after that one ends before it is due.
 */
const nextOf = (schema: SchemaName, due: string, where: string, order: string): string => `
    (select coalesce(q.leased_until, ${due}) as at from (
      select q.* from ${schema}.billing_due q where ${where} order by ${order} limit ${NEXT_LOOK_AHEAD}
    ) as q)
    union all
    (select ${due} from ${schema}.billing_due q where ${where} and q.leased_until is null order by ${order} limit 1)`

const nextOfLane = (schema: SchemaName, lane: LaneRows): string =>
  [
    nextOf(
      schema,
      "q.due_at",
      `${lane} and q.test_clock_id is null and q.attempts = 0`,
      "q.due_at, q.kind, q.id",
    ),
    nextOf(
      schema,
      "greatest(q.retry_at, q.due_at)",
      `${lane} and q.test_clock_id is null and q.retry_at is not null`,
      "q.retry_at, q.due_at, q.kind, q.id",
    ),
  ].join("\n    union all")

export const nextDue = define(
  "next_due",
  (schema) => `() returns bigint language plpgsql stable as $$
begin
  return (select ${millis("min(q.at)")} from (${Object.values(LANES)
    .map((lane) => nextOfLane(schema, lane))
    .join("\n    union all")}
  ) as q);
end
$$`,
  { isByIndex: true },
)
