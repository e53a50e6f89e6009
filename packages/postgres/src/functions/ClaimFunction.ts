/**
 * `claim_deliveries`: how a worker leases due deliveries.
 *
 * - If few are due, and the worker names no limits, it leases all of them that nobody else has locked.
 * - It looks at the deliveries that have been due the longest, twice as many as it was asked for. Mostly these
 *   are all that are due. From them it picks what the limits allow, with tenants taking turns, and locks the picks.
 *   Rows that another claim has locked are skipped.
 * - Claims that run at the same time would pick the same deliveries, and then have to look again. So each passes as many as
 *   the others look at: see docs/decisions/0056.
 * - If more may be due, behind a backlog, it goes from tenant to tenant, so that each gets its turn. That takes one
 *   look-up for each tenant in the index that starts with the tenant, however long the backlogs are. With only one
 *   tenant in the queue this step is skipped.
 * - If the first deliveries belong to endpoints that have reached their limits, it goes from endpoint to endpoint, by
 *   the index that starts with the endpoint.
 * - Where no tenant with room has more than was looked at, that step is skipped.
 * - The next claim continues where the last two steps ended (`visited…`). After a backlog it goes from tenant to tenant at
 *   once.
 *
 * While a transaction of anybody stays open for long, the index keeps the entries of all deliveries that ended since, at its
 * front. `p_due_since` says from where on a look at what has been due the longest begins, so that it need not walk through
 * them. The worker finds out (`LowWaterMark`).
 *
 * Within the function, rows are identified by their position in the table (`ctid`). That is safe, because they are
 * locked, or they were seen by the statement's snapshot and are checked again when they are locked.
 */
import { instantOf } from "../Millis.ts"
import type { SchemaName } from "../SchemaName.ts"
import { answer as answerOf, COLUMNS as ANSWER_COLUMNS } from "./ClaimedAnswer.ts"
import { count, FIRST_ID, hourOf, slotOf } from "./DeliveryFunctions.ts"
import { offsetOf } from "./IdFunctions.ts"
import { define } from "./SqlFunction.ts"
import { deadWorkers, WORKER_LENGTH } from "./WorkerFunctions.ts"

/** How many due deliveries are looked at first, those due longest first, for each one asked for. */
const FIRST_LOOK = 2
/** How many are looked at, of all tenants together, when the first look doesn't fill a claim. */
const LOOK_AHEAD = 1_000
/** How many tenants are visited when more deliveries are due than the first look covers. */
const MAX_TENANTS = 500
/** How many endpoints are visited when the tenants' deliveries don't fill a claim. */
const MAX_VISITS = 500
/** How many rounds a claim takes, including those to replace picks that another claim had locked. */
const MAX_ROUNDS = 6

/** How many claims that run at the same time keep out of each other's way. */
const MAX_SIDE_BY_SIDE = 8

/** The number of the advisory lock of a place among claims that run at the same time. `place` is SQL: 0 for the first. */
export const placeLock = (schema: SchemaName, place: string): string =>
  `hashtextextended('billwright claim of ${schema}: ' || ${place}, 0)`

/** Whether nobody has the delivery: it has no lease, the lease has ended, or its worker is dead. */
const isFree = `(q.leased_until is null or q.leased_until <= v_now
              or v_dead is not null and left(q.lease_token::text, ${WORKER_LENGTH}) = any (v_dead))`

// Rooms are looked up in JSON objects. The planner expects lists of parameters to be short, and a queue that was empty when
// it planned, too. So it would compare each row with each limit of a list.

const tenantOf = (row: string): string => `${row}.account_id || ' ' || ${row}.mode`

/** How many more deliveries of a row's endpoint this claim may take. */
const endpointRoom = (row: string, rooms = "v_endpoint_rooms"): string =>
  `coalesce((${rooms} ->> ${row}.endpoint_id::text)::integer, p_limit_per_endpoint)`

/** How many more deliveries of a row's tenant this claim may take. */
const tenantRoom = (row: string, rooms = "v_tenant_rooms"): string =>
  `coalesce((${rooms} ->> (${tenantOf(row)}))::integer, p_limit)`

/** How many deliveries of a row's tenant this claim has. */
const taken = (row: string): string => `coalesce((v_taken ->> (${tenantOf(row)}))::integer, 0)`

/** Subtracts what this claim has from the rooms. */
const spend = `
      select v_endpoint_limits || coalesce(
        jsonb_object_agg(g.endpoint_id, ${endpointRoom("g", "v_endpoint_limits")} - g.taken), '{}')
      into v_endpoint_rooms
      from (select g.endpoint_id, count(*) as taken from unnest(v_endpoints) as g (endpoint_id) group by 1) as g;
      select v_tenant_limits || coalesce(
          jsonb_object_agg(${tenantOf("g")}, ${tenantRoom("g", "v_tenant_limits")} - g.taken), '{}'),
        coalesce(jsonb_object_agg(${tenantOf("g")}, g.taken), '{}')
      into v_tenant_rooms, v_taken
      from (
        select g.account_id, g.mode, count(*) as taken from unnest(v_accounts, v_modes) as g (account_id, mode) group by 1, 2
      ) as g;`

/** Picks from the rows of `looked` what the limits of endpoints and tenants allow, with tenants taking turns. */
const pick = `ranked as (
        select a.*, row_number() over (partition by a.endpoint_id order by a.due_at, a.id) as place
        from looked a where not a.tid = any (v_seen)
      ), allowed as (
        select r.*, row_number() over (partition by r.account_id, r.mode order by r.due_at, r.id) as turn
        from ranked r where r.place <= ${endpointRoom("r")}
      ), picked as (
        select a.tid, a.due_at, a.id, a.account_id, a.mode from allowed a where a.turn <= ${tenantRoom("a")}
        order by ${taken("a")} + a.turn, a.due_at, a.id limit p_limit - cardinality(v_tids)
      )`

const COLUMNS =
  "q.ctid as tid, q.id, q.account_id, q.mode, q.endpoint_id, coalesce(q.leased_until, q.due_at) as due_at"

/** All that are due, if they are few. */
const lookAtFew = (schema: SchemaName): string => `
    select count(*), coalesce(bool_or(d.leased_until is not null), false), array_agg(d.tid order by d.due_at, d.id)
    into v_ahead, v_is_lost, v_picked from (
      select q.ctid as tid, q.due_at, q.id, q.leased_until from ${schema}.webhook_pending q
      where q.due_at >= v_since and q.due_at <= v_now and ${isFree}
      order by q.due_at, q.id limit least(p_limit, p_limit_per_endpoint) + 1
    ) as d;`

/** Takes the first free place until the end of the transaction. Each place before it is that of a claim under way. */
const passOthers = (schema: SchemaName): string => `
    for v_place in 0..${MAX_SIDE_BY_SIDE - 1} loop
      exit when pg_try_advisory_xact_lock(${placeLock(schema, "v_place")});
      v_passed := v_passed + v_look;
    end loop;`

const pickFromAll = (schema: SchemaName): string => `
      with looked as (
        select ${COLUMNS} from ${schema}.webhook_pending q
        where q.due_at >= v_since and q.due_at <= v_now and ${isFree}
        order by q.due_at, q.id limit v_look offset v_passed
      ), ${pick}
      select (select count(*) from looked), (select array[l.account_id, l.mode] from looked l limit 1),
        array_agg(p.tid order by p.due_at, p.id)
      into v_ahead, v_one, v_picked from picked p;`

/**
 * Whether deliveries of more than one tenant are pending. It looks beyond those of `v_one`, so that it reads no entries of
 * deliveries of that tenant which have ended.
 */
const isShared = (schema: SchemaName): string => `
      v_is_shared := exists (select from ${schema}.webhook_pending q where (q.account_id, q.mode) > (v_one[1], v_one[2]))
        or exists (select from ${schema}.webhook_pending q where (q.account_id, q.mode) < (v_one[1], v_one[2]));`

// `due_at nulls first` matches the order of the index by tenant and of no other index, so the planner has to use it.
// There are no nulls. The row comparison is needed because, with a condition on `due_at` alone, Postgres before 18
// would use the index by `due_at`, read all tenants for each tenant, and sort.
const pickByTenant = (schema: SchemaName): string => `
      with recursive visits (account_id, mode, number) as (
        (select q.account_id, q.mode, 1 from ${schema}.webhook_pending q
          where (q.account_id, q.mode) > (v_after_account, v_after_mode) order by q.account_id, q.mode, q.id limit 1)
        union all
        select n.account_id, n.mode, v.number + 1 from visits v cross join lateral (
          select q.account_id, q.mode from ${schema}.webhook_pending q
          where (q.account_id, q.mode) > (v.account_id, v.mode) order by q.account_id, q.mode, q.id limit 1
        ) as n where v.number < ${MAX_TENANTS}
      ), share as (
        select greatest(v_look / greatest(count(*), 1), 1) as most from visits v
      ), looked as (
        select d.* from visits v cross join lateral (
          select ${COLUMNS} from ${schema}.webhook_pending q
          where q.account_id = v.account_id and q.mode = v.mode
            and (q.account_id, q.mode, q.due_at) <= (v.account_id, v.mode, v_now) and ${isFree}
          order by q.due_at nulls first, q.id limit (select s.most from share s)
        ) as d where ${tenantRoom("v")} > 0
      ), full_looks as (
        select l.account_id, l.mode from looked l group by 1, 2 having count(*) >= (select s.most from share s)
      ), ${pick}
      select (select array[v.account_id, v.mode] from visits v where v.number = ${MAX_TENANTS}),
        (select array_agg(p.tid order by p.due_at, p.id) from picked p),
        exists (select from full_looks f where ${tenantRoom("f")} > (
          select count(*) from picked p where p.account_id = f.account_id and p.mode = f.mode
        )),
        exists (select from full_looks) or exists (select from visits v where ${tenantRoom("v")} <= 0)
      into v_last_tenant, v_picked, v_has_more, v_has_backlog;`

const pickByEndpoint = (schema: SchemaName): string => `
      with recursive visits (endpoint_id, account_id, mode, number) as (
        (select q.endpoint_id, q.account_id, q.mode, 1 from ${schema}.webhook_pending q where q.endpoint_id > v_after
          order by q.endpoint_id limit 1)
        union all
        select n.endpoint_id, n.account_id, n.mode, v.number + 1 from visits v cross join lateral (
          select q.endpoint_id, q.account_id, q.mode from ${schema}.webhook_pending q
          where q.endpoint_id > v.endpoint_id order by q.endpoint_id limit 1
        ) as n where v.number < ${MAX_VISITS}
      ), looked as (
        select d.* from visits v cross join lateral (
          select ${COLUMNS} from ${schema}.webhook_pending q
          where q.endpoint_id = v.endpoint_id and q.due_at <= v_now
            and ${isFree} and not q.ctid = any (v_seen)
          order by q.due_at limit least(${endpointRoom("v")}, ${tenantRoom("v")})
        ) as d
        where ${endpointRoom("v")} > 0 and ${tenantRoom("v")} > 0
      ), ${pick}
      select (select v.endpoint_id from visits v where v.number = ${MAX_VISITS}),
        (select array_agg(p.tid order by p.due_at, p.id) from picked p)
      into v_after, v_picked;`

const lockPicked = (schema: SchemaName): string => `
      with locked as (
        select q.* from unnest(v_picked) with ordinality as p (tid, place) cross join lateral (
          select q.ctid as tid, q.account_id, q.mode, q.endpoint_id, q.leased_until is not null as was_lost
          from ${schema}.webhook_pending q where q.ctid = p.tid and q.due_at <= v_now and ${isFree}
          for update skip locked
        ) as q
      )
      select v_tids || coalesce(array_agg(l.tid), '{}'), v_endpoints || coalesce(array_agg(l.endpoint_id), '{}'),
        v_accounts || coalesce(array_agg(l.account_id), '{}'), v_modes || coalesce(array_agg(l.mode), '{}'),
        v_lost || coalesce(array_agg(l.was_lost), '{}'), count(*)
      into v_tids, v_endpoints, v_accounts, v_modes, v_lost, v_locked from locked l;
      v_seen := v_seen || v_picked;`

const answer = (schema: SchemaName, rows: string): string =>
  answerOf(schema, rows, "v_after, v_last_tenant[1], v_last_tenant[2]")

/** Locks and leases in one statement, for picks that nobody has. Those that another claim has locked are left to it. */
const leasePicked = (schema: SchemaName): string => `
      update ${schema}.webhook_pending q set lease_token = ${offsetOf("p_token", "f.place - 1")},
        leased_at = v_now, leased_until = v_until
      from (
        select p.tid, p.place from unnest(v_picked) with ordinality as p (tid, place) cross join lateral (
          select from ${schema}.webhook_pending q
          where q.ctid = p.tid and q.due_at <= v_now and q.leased_until is null for update skip locked
        ) as q
      ) as f
      where q.ctid = f.tid
      returning q.*, q.ctid as tid, false as was_lost, f.place
    `

const leaseAll = (schema: SchemaName): string => `
    update ${schema}.webhook_pending q set lease_token = ${offsetOf("p_token", "t.place - 1")},
      leased_at = v_now, leased_until = v_until, attempt_count = q.attempt_count + t.was_lost::integer,
      last_error = case when t.was_lost then 'unknown' else q.last_error end
    from unnest(v_tids, v_lost) with ordinality as t (tid, was_lost, place)
    where q.ctid = t.tid
    returning q.*, q.ctid as tid, t.was_lost, t.place
  `

// For a repeat after a lost answer. Tokens of one claim share their first 80 bits, which tell that it was carried
// out.
const leasedBefore = (schema: SchemaName): string => `
      select q.*, q.ctid as tid, exists (
        select from ${schema}.webhook_earlier_attempts a where a.account_id = q.account_id and a.mode = q.mode
          and a.delivery_id = q.id and a.number = q.attempt_count and a.error = 'unknown'
      ) as was_lost, row_number() over (order by q.due_at, q.id) as place
      from ${schema}.webhook_pending q
      where q.due_at <= v_now and q.leased_until is not null
        and left(q.lease_token::text, 24) = left(p_token::text, 24)
    `

export const claimDeliveries = define(
  "claim_deliveries",
  (schema) => `(
  p_now bigint, p_lease_until bigint, p_token uuid, p_limit integer, p_limit_per_endpoint integer,
  p_endpoint_ids uuid[], p_limits integer[], p_accounts text[], p_modes text[], p_tenant_limits integer[],
  p_after uuid, p_after_account text, p_after_mode text, p_is_repeat boolean, p_due_since bigint default null
) returns table (${ANSWER_COLUMNS}, visited uuid, visited_account text, visited_mode text) language plpgsql as $$
#variable_conflict use_column
declare
  v_now timestamptz(3) := ${instantOf("p_now")};
  v_until timestamptz(3) := ${instantOf("p_lease_until")};
  v_since timestamptz(3) := coalesce(${instantOf("p_due_since")}, '-infinity');
  v_first uuid := ${FIRST_ID};
  v_after uuid := coalesce(p_after, v_first);
  v_after_account text := coalesce(p_after_account, '');
  v_after_mode text := coalesce(p_after_mode, '');
  v_last_tenant text[] := array[p_after_account, p_after_mode];
  -- The last claim found a backlog: that of one tenant would fill a look at what has been due the longest.
  v_by text := case when p_after_account is null then 'due' else 'tenant' end;
  v_has_more boolean;
  v_has_backlog boolean;
  v_endpoint_limits jsonb;
  v_tenant_limits jsonb;
  v_endpoint_rooms jsonb;
  v_tenant_rooms jsonb;
  v_taken jsonb := '{}';
  v_is_shared boolean;
  v_one text[];
  v_may_wrap boolean := p_after is not null;
  v_look integer := case when p_after_account is null then least(${FIRST_LOOK} * p_limit, ${LOOK_AHEAD}) else ${LOOK_AHEAD} end;
  v_ahead integer;
  v_passed integer := 0;
  v_picked tid[];
  v_seen tid[] := '{}';
  v_tids tid[] := '{}';
  v_endpoints uuid[] := '{}';
  v_accounts text[] := '{}';
  v_modes text[] := '{}';
  v_lost boolean[] := '{}';
  v_locked integer;
  v_dead text[];
  v_is_lost boolean;
begin
  if p_is_repeat then${answer(schema, leasedBefore(schema))}
    if found then return; end if;
  end if;
  v_dead := (${deadWorkers(schema, `left(p_token::text, ${WORKER_LENGTH})`)}
  );

  -- Mostly few are due, and no limit decides which of them are taken.
  if v_by = 'due' and p_endpoint_ids = '{}' and p_accounts = '{}' then${lookAtFew(schema)}
    if v_ahead = 0 then return; end if;
    if v_ahead <= least(p_limit, p_limit_per_endpoint) and not v_is_lost then${answer(schema, leasePicked(schema))}
      return;
    end if;
  end if;

  if v_by = 'due' then${passOthers(schema)}
  end if;

  v_endpoint_limits := jsonb_object(p_endpoint_ids::text[], p_limits::text[]);
  v_endpoint_rooms := v_endpoint_limits;
  select coalesce(jsonb_object_agg(${tenantOf("l")}, l.most), '{}') into v_tenant_limits
  from unnest(p_accounts, p_modes, p_tenant_limits) as l (account_id, mode, most);
  v_tenant_rooms := v_tenant_limits;
  for v_round in 1..${MAX_ROUNDS} loop
    case v_by
      when 'endpoint' then${pickByEndpoint(schema)}
      when 'tenant' then${pickByTenant(schema)}
      else${pickFromAll(schema)}
    end case;
    if v_by = 'due' and v_ahead = v_look and v_is_shared is null then${isShared(schema)}
      if v_is_shared then
        -- Nothing is locked yet: the rows looked at may all be of one tenant, and another tenant waits behind them.
        v_by := 'tenant';
        v_look := ${LOOK_AHEAD};
        continue;
      end if;
    end if;
    if v_by = 'tenant' then
      -- Tenants that this round did not visit may have more.
      v_has_more := v_has_more or v_last_tenant is not null or v_after_account <> '';
      -- The next claim begins with tenants, too: after the last one, or with the first.
      if v_has_backlog then v_last_tenant := coalesce(v_last_tenant, array['', '']); end if;
    end if;
    v_locked := 0;
    if v_picked is not null then${lockPicked(schema)}
    end if;
    exit when cardinality(v_tids) >= p_limit;
    if v_by = 'due' and v_passed > 0 and v_ahead < v_look then
      -- No more are due behind what was passed. The others may leave some of that.
      v_passed := 0;
    elsif v_by = 'endpoint' then
      -- First from where the last claim ended to the last endpoint, then from the first endpoint on.
      exit when v_after is not null or not v_may_wrap;
      v_may_wrap := false;
      v_after := v_first;
    elsif v_picked is null or v_locked = cardinality(v_picked) then
      exit when v_by = 'due' and v_ahead < v_look; -- no more deliveries are due
      exit when v_by = 'tenant' and not v_has_more; -- of no tenant that has room
      if v_look = ${LOOK_AHEAD} then v_by := 'endpoint'; end if;
      v_look := ${LOOK_AHEAD};
    end if;
    if cardinality(v_tids) > 0 then${spend}
    end if;
  end loop;

  if true = any (v_lost) then
    insert into ${schema}.webhook_earlier_attempts (account_id, mode, delivery_id, number, started_at, request_headers, error)
    select q.account_id, q.mode, q.id, q.attempt_count + 1, q.leased_at, '{}', 'unknown'
    from ${schema}.webhook_pending q where q.ctid = any (v_tids) and q.leased_until is not null
    on conflict do nothing;
    ${count(
      schema,
      `select q.account_id, q.mode, ${hourOf("p_now")}, q.endpoint_id, ${slotOf("p_token")}, 0, 0, count(*)
      from ${schema}.webhook_pending q where q.ctid = any (v_tids) and q.leased_until is not null`,
    ).trim()};
  end if;
${answer(schema, leaseAll(schema))}
  if v_by <> 'due' and not found then
    visited := v_after;
    visited_account := v_last_tenant[1];
    visited_mode := v_last_tenant[2];
    return next;
  end if;
end
$$`,
  { isByIndex: true },
)
