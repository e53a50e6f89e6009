/**
 * `claim_deliveries`: how a worker leases what is due.
 *
 * It looks at the first deliveries that are due, picks from these what the limits allow, and locks the picks,
 * passing by those that another claim has locked. A few times what was asked for mostly suffice; if not, it looks
 * further. When the first ones belong to endpoints that have as many as they may have, it goes from endpoint to
 * endpoint instead: by the index that starts with the endpoint, so one look-up each, however long their backlogs
 * are. Where that ended is where the next claim goes on (`visited`).
 *
 * Rows are named by their place in the table (`ctid`) until the end of the statement: they are locked, or were
 * seen by its snapshot and are checked again when they are locked.
 */
import type { SchemaName } from "../SchemaName.ts"
import { byIndex, count, FIRST_ID, hourOf } from "./DeliveryFunctions.ts"

/** How many due deliveries are looked at first, the longest due first, for each one that is asked for. */
const FIRST_LOOK = 4
/** How many are looked at when these don't fill a claim. */
const LOOK_AHEAD = 1_000
/** How many endpoints are gone through when these don't fill a claim. */
const MAX_VISITS = 500
/** How often other picks are made for those that another claim had locked. */
const MAX_ROUNDS = 5

const isFree = "(q.leased_until is null or q.leased_until <= v_now)"

/** How many more each of some endpoints may have in this claim. */
const rooms = (endpoints: string): string => `
        select e.endpoint_id,
          greatest(coalesce(l.most, p_limit_per_endpoint) - coalesce(g.taken, 0), 0) as room
        from ${endpoints} as e
        left join unnest(p_endpoint_ids, p_limits) as l (endpoint_id, most) on l.endpoint_id = e.endpoint_id
        left join (select g.endpoint_id, count(*) as taken from unnest(v_endpoints) as g (endpoint_id) group by 1) as g
          on g.endpoint_id = e.endpoint_id`

const pickFromAll = (schema: SchemaName): string => `
      with ahead as (
        select q.ctid as tid, q.id, q.endpoint_id, coalesce(q.leased_until, q.due_at) as due_at
        from ${schema}.webhook_pending q where q.due_at <= v_now and ${isFree}
        order by q.due_at, q.id limit v_look
      ), ranked as (
        select a.*, row_number() over (partition by a.endpoint_id order by a.due_at, a.id) as place
        from ahead a where not a.tid = any (v_seen)
      ), rooms as (${rooms("(select distinct r.endpoint_id from ranked r)")}
      ), picked as (
        select r.tid, r.due_at, r.id from ranked r join rooms e on e.endpoint_id = r.endpoint_id
        where r.place <= e.room order by r.due_at, r.id limit p_limit - cardinality(v_tids)
      )
      select (select count(*) from ahead), array_agg(p.tid order by p.due_at, p.id)
      into v_ahead, v_picked from picked p;`

const pickByEndpoint = (schema: SchemaName): string => `
      with recursive visits (endpoint_id, number) as (
        (select q.endpoint_id, 1 from ${schema}.webhook_pending q where q.endpoint_id > v_after
          order by q.endpoint_id limit 1)
        union all
        select (select q.endpoint_id from ${schema}.webhook_pending q where q.endpoint_id > v.endpoint_id
          order by q.endpoint_id limit 1), v.number + 1
        from visits v where v.endpoint_id is not null and v.number < ${MAX_VISITS}
      ), rooms as (${rooms("(select v.endpoint_id from visits v where v.endpoint_id is not null)")}
      ), picked as (
        select d.* from rooms e cross join lateral (
          select q.ctid as tid, coalesce(q.leased_until, q.due_at) as due_at, q.id
          from ${schema}.webhook_pending q
          where q.endpoint_id = e.endpoint_id and q.due_at <= v_now
            and ${isFree} and not q.ctid = any (v_seen)
          order by q.due_at limit e.room
        ) as d
        where e.room > 0 order by d.due_at, d.id limit p_limit - cardinality(v_tids)
      )
      select (select v.endpoint_id from visits v where v.number = ${MAX_VISITS}),
        (select array_agg(p.tid order by p.due_at, p.id) from picked p)
      into v_after, v_picked;`

const lockPicked = (schema: SchemaName): string => `
      with locked as (
        select q.* from unnest(v_picked) with ordinality as p (tid, place) cross join lateral (
          select q.ctid as tid, q.endpoint_id, q.leased_until is not null as was_lost
          from ${schema}.webhook_pending q where q.ctid = p.tid and q.due_at <= v_now and ${isFree}
          for update skip locked
        ) as q
      )
      select v_tids || coalesce(array_agg(l.tid), '{}'), v_endpoints || coalesce(array_agg(l.endpoint_id), '{}'),
        v_lost || coalesce(array_agg(l.was_lost), '{}'), count(*)
      into v_tids, v_endpoints, v_lost, v_locked from locked l;
      v_seen := v_seen || v_picked;`

/** What a worker needs to know of the rows that it leased. */
const answer = (schema: SchemaName, rows: string): string => `
  return query with leased as (${rows})
  select l.account_id, l.mode, l.id, l.event_id, l.event_type, l.endpoint_id, l.attempt_count, l.was_lost, l.lease_token,
    e.payload, w.endpoint, v_after
  from leased l
  left join lateral (
    select e.payload from ${schema}.events e
    where e.account_id = l.account_id and e.mode = l.mode and e.id = l.event_id limit 1
  ) as e on true
  left join lateral (
    select jsonb_build_object(
      'status', case when w.deleted_at is null then w.status else 'deleted' end, 'url', w.url, 'headers', w.headers,
      'signature', w.signature, 'secrets', w.secrets,
      'failing_since', (extract(epoch from w.failing_since) * 1000)::bigint::text) as endpoint
    from ${schema}.webhook_endpoints w
    where w.account_id = l.account_id and w.mode = l.mode and w.id = l.endpoint_id limit 1
  ) as w on true
  order by l.place;`

const leaseAll = (schema: SchemaName): string => `
    update ${schema}.webhook_pending q set lease_token = ${schema}.offset_id(p_token, t.place - 1),
      leased_at = v_now, leased_until = v_until, attempt_count = q.attempt_count + t.was_lost::integer,
      last_error = case when t.was_lost then 'unknown' else q.last_error end
    from unnest(v_tids, v_lost) with ordinality as t (tid, was_lost, place)
    where q.ctid = t.tid
    returning q.*, t.was_lost, t.place
  `

// The first try of a claim was carried out, and its answer was lost: the first 80 bits of the tokens tell.
const leasedBefore = (schema: SchemaName): string => `
      select q.*, exists (
        select from ${schema}.webhook_attempts a where a.account_id = q.account_id and a.mode = q.mode
          and a.delivery_id = q.id and a.number = q.attempt_count and a.error = 'unknown'
      ) as was_lost, row_number() over (order by q.due_at, q.id) as place
      from ${schema}.webhook_pending q
      where q.due_at <= v_now and q.leased_until is not null
        and left(q.lease_token::text, 24) = left(p_token::text, 24)
    `

export const claimDeliveries = (
  schema: SchemaName,
): string => `create or replace function ${schema}.claim_deliveries(
  p_now bigint, p_lease_until bigint, p_token uuid, p_limit integer, p_limit_per_endpoint integer,
  p_endpoint_ids uuid[], p_limits integer[], p_after uuid, p_is_repeat boolean
) returns table (account_id text, mode text, id uuid, event_id uuid, event_type text, endpoint_id uuid,
  attempt_count integer, was_lost boolean, token uuid, payload text, endpoint jsonb, visited uuid) language plpgsql
${byIndex} as $$
#variable_conflict use_column
declare
  v_now timestamptz(3) := to_timestamp(p_now / 1000.0::float8);
  v_until timestamptz(3) := to_timestamp(p_lease_until / 1000.0::float8);
  v_first uuid := ${FIRST_ID};
  v_after uuid := coalesce(p_after, v_first);
  v_is_by_endpoint boolean := false;
  v_may_wrap boolean := p_after is not null;
  v_look integer := least(${FIRST_LOOK} * p_limit, ${LOOK_AHEAD});
  v_ahead integer;
  v_picked tid[];
  v_seen tid[] := '{}';
  v_tids tid[] := '{}';
  v_endpoints uuid[] := '{}';
  v_lost boolean[] := '{}';
  v_locked integer;
begin
  if p_is_repeat then${answer(schema, leasedBefore(schema))}
    if found then return; end if;
  end if;

  for v_round in 1..${MAX_ROUNDS} loop
    if v_is_by_endpoint then${pickByEndpoint(schema)}
    else${pickFromAll(schema)}
    end if;
    v_locked := 0;
    if v_picked is not null then${lockPicked(schema)}
    end if;
    exit when cardinality(v_tids) >= p_limit;
    if v_is_by_endpoint then
      -- From where the last claim ended to the last endpoint, then from the first one.
      exit when v_after is not null or not v_may_wrap;
      v_may_wrap := false;
      v_after := v_first;
    elsif v_picked is null or v_locked = cardinality(v_picked) then
      exit when v_ahead < v_look; -- nothing is behind what was looked at
      v_is_by_endpoint := v_look = ${LOOK_AHEAD};
      v_look := ${LOOK_AHEAD};
    end if;
  end loop;

  if true = any (v_lost) then
    insert into ${schema}.webhook_attempts (account_id, mode, delivery_id, number, started_at, request_headers, error)
    select q.account_id, q.mode, q.id, q.attempt_count + 1, q.leased_at, '{}', 'unknown'
    from ${schema}.webhook_pending q where q.ctid = any (v_tids) and q.leased_until is not null
    on conflict do nothing;
    ${count(
      schema,
      `select q.account_id, q.mode, ${hourOf("p_now")}, q.endpoint_id, 0, 0, count(*)
      from ${schema}.webhook_pending q where q.ctid = any (v_tids) and q.leased_until is not null`,
    ).trim()};
  end if;
${answer(schema, leaseAll(schema))}
  if v_is_by_endpoint and not found then
    visited := v_after;
    return next;
  end if;
end
$$`
