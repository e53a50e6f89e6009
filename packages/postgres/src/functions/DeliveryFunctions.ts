/**
 * The functions that end deliveries (results, cancellation) and the one that starts them again (replay).
 *
 * They lock endpoints in the order of their keys, and then deliveries in the order of their ids, by deleting them in that order
 * where that is all they do. The transaction that
 * disables an endpoint has locked it before it cancels its deliveries, so no deadlock can form. There is one exception:
 * results whose rows have moved, because somebody rewrote the table, are locked after the others of their call. Postgres ends
 * such a deadlock, and the call is repeated. Claims never wait for a lock.
 *
 * A call has results of many tenants, and anybody's transaction may hold one of their deliveries for long: one that has cancelled
 * it and is still open. So results wait for locks for a short time only. Then the call is repeated, and leaves out what is locked.
 */
import { Delivery, MAX_CANCEL } from "@billwright/core"
import { instantOf, millisText } from "../Millis.ts"
import type { SchemaName } from "../SchemaName.ts"
import { offsetOf } from "./IdFunctions.ts"
import { define } from "./SqlFunction.ts"
import { WORKER_LENGTH } from "./WorkerFunctions.ts"

/** All columns of `webhook_finished`, with those of the last attempt at the end. */
const finishedColumns = `account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, last_response_status,
      last_error, created_at, status, reason, finished_at, lease_token, attempt_started_at, attempt_duration_ms,
      attempt_request_headers, attempt_response_status, attempt_response_headers, attempt_response_body`

/**
 * The rows whose `columns` are between two rows of values. It is read by an index that begins with the first of these
 * columns. With `id = …` the planner could choose any index that contains the id and read all of it: while it
 * believes that a table has no rows, it sees no difference between indexes.
 */
const between = (columns: string, from: string, to: string): string =>
  `(${columns}) >= (${from}) and (${columns}) <= (${to})`

/** The smallest and the greatest id. */
export const FIRST_ID = "'00000000-0000-0000-0000-000000000000'::uuid"
const LAST_ID = "'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid"

/**
 * The row of the queue with the key of `n`, if `condition` is also true of it. It reads the first row that is not
 * smaller, with a limit. An upper bound in place of the limit would stop no scan before Postgres 18.
 */
const ofKey = (schema: SchemaName, condition: string): string => `lateral (
        select q.tid from (
          select q.*, q.ctid as tid from ${schema}.webhook_pending q
          where (q.account_id, q.mode, q.id) >= (n.account_id, n.mode, n.id)
          order by q.account_id, q.mode, q.id limit 1
        ) as q
        where q.account_id = n.account_id and q.mode = n.mode and q.id = n.id and ${condition}
      ) as own`

/** What an attempt needs of the endpoint of row `w`. */
export const claimedEndpointJson = `jsonb_build_object(
      'status', case when w.deleted_at is null then w.status else 'deleted' end, 'url', w.url, 'headers', w.headers,
      'signature', w.signature, 'secrets', w.secrets, 'failing_since', ${millisText("w.failing_since")})`

/** How many rows the counts of an endpoint and hour may have that workers write. */
const HOURLY_SLOTS = 16

/** The slot in which cancellations count. No worker does, so none waits until a transaction that has cancelled ends. */
const CANCEL_SLOT = HOURLY_SLOTS

/**
 * The slot in which the worker with a lease's token counts. Workers with different slots don't wait for each other's
 * commits.
 */
export const slotOf = (token: string): string =>
  `('x' || left(${token}::text, ${WORKER_LENGTH}))::bit(32)::integer & ${HOURLY_SLOTS - 1}`

/** Adds to the counts by hour. `rows` selects the numbers for each account, mode, hour, endpoint and slot. */
export const count = (schema: SchemaName, rows: string): string => `
      insert into ${schema}.webhook_hourly as h
        (account_id, mode, hour, endpoint_id, slot, delivered, failed, failed_attempts)
      ${rows}
      group by 1, 2, 3, 4, 5 having count(*) > 0 order by 1, 2, 3, 4, 5
      on conflict (account_id, mode, hour, endpoint_id, slot) do update set delivered = h.delivered + excluded.delivered,
        failed = h.failed + excluded.failed, failed_attempts = h.failed_attempts + excluded.failed_attempts`

/** The start of the UTC hour that contains an instant, given in epoch milliseconds. */
export const hourOf = (millis: string): string => instantOf(`(${millis} / 3600000 * 3600000)`)

/** How long results wait for locked endpoints whose `failing_since` they change, for each such endpoint. */
const MARK_LOCK_MILLIS = 1_000

/** How long results wait for any other lock: longer than most transactions take that cancel deliveries. */
const RESULT_LOCK_MILLIS = 250

/** Whether a result `n` is a failure of its endpoint. See `Delivery.isEndpointsFailure`. */
const isFailure = `n.status <> 'Delivered' and n.number is not null
  and coalesce(n.error not in (${Delivery.ownErrors.map((error) => `'${error}'`).join(", ")}), true)`

/** The endpoints whose `failing_since` changes by the results of `settle_deliveries`, in the order of their keys. */
const marked = (schema: SchemaName, lock: string): string => `
        select w.ctid as tid from (
          select n.account_id, n.mode, n.endpoint_id, bool_or(n.status = 'Delivered') as has_success,
            bool_or(${isFailure}) as has_failure
          from unnest(p_account_ids, p_modes, p_endpoint_ids, p_statuses, p_numbers, p_errors)
            as n (account_id, mode, endpoint_id, status, number, error)
          group by 1, 2, 3 order by 1, 2, 3
        ) as n, lateral (
          select w.ctid from ${schema}.webhook_endpoints w
          where w.account_id = n.account_id and w.mode = n.mode and w.id = n.endpoint_id
            and (n.has_success and w.failing_since is not null or n.has_failure and w.failing_since is null)
          ${lock}
        ) as w`

/**
 * Whether the row `q` of the queue is where the claim of result `n` left it, and still the claim's. Only its place can be looked
 * up: no index has values that are compared with `is not distinct from`. Otherwise a plan that was made while the queue was
 * empty reads all of the tenant's queue for each result.
 */
const isHeld = `q.ctid = n.tid and q.leased_until is not null
          and (q.account_id, q.mode, q.id, q.lease_token) is not distinct from (n.account_id, n.mode, n.id, n.token)`

/** Of a result that was written: what it is counted by. */
const COUNTED = "n.ordinal, n.account_id, n.mode, n.at, q.endpoint_id as owner, n.token, n.status, n.number"

/** How the rows of results are locked before they are written. */
type Lock = "for update" | "for update skip locked"

/**
 * Writes results of `settle_deliveries`, and keeps the ordinals of those that are written. With a `lock`, all rows are locked
 * first. That is needed if some deliveries are to be tried again, so that the locks of a call are in the order of ids. And it is
 * needed to leave out what is locked. Without it, rows are deleted as they are found.
 */
const writeResults = (schema: SchemaName, lock: Lock | undefined): string => `
      with given as materialized (
        select n.* from unnest(v_tids, p_account_ids, p_modes, p_ids, p_tokens, p_ats, p_statuses, p_attempt_counts,
          p_due_ats, p_reasons, p_numbers, p_started_ats, p_durations, p_request_headers, p_response_statuses,
          p_response_headers, p_response_bodies, p_errors) with ordinality
          as n (tid, account_id, mode, id, token, at, status, attempt_count, due_at, reason, number, started_at,
            duration, request_headers, response_status, response_headers, response_body, error, ordinal)
        where n.tid is not null order by n.id, n.account_id, n.mode
      ), ${lock === undefined ? "" : keptResults(schema, lock)}ended as (
        delete from ${schema}.webhook_pending q using ${lock === undefined ? "given" : "held"} n
        where ${lock === undefined ? isHeld : "q.ctid = n.tid and n.status <> 'Pending'"}
        returning ${COUNTED}, n.id, q.event_id, q.event_type, n.attempt_count,
          coalesce(n.response_status, q.last_response_status) as last_response_status,
          case when n.number is null then q.last_error else n.error end as last_error, q.created_at, n.reason, n.started_at,
          n.duration, n.request_headers, n.response_status, n.response_headers, n.response_body
      ), finished as (
        insert into ${schema}.webhook_finished (${finishedColumns})
        select e.account_id, e.mode, e.id, e.event_id, e.event_type, e.owner, e.attempt_count, e.last_response_status,
          e.last_error, e.created_at, e.status, e.reason, ${instantOf("e.at")}, e.token, ${instantOf("e.started_at")},
          e.duration, e.request_headers::json, e.response_status, e.response_headers::json, e.response_body
        from ended e
      ), written as (
        select e.ordinal, e.account_id, e.mode, e.at, e.owner, e.token, e.status, e.number from ended e${
          lock === undefined ? "" : " union all select k.* from kept k"
        }
      ), counted as (${count(
        schema,
        `select w.account_id, w.mode, ${hourOf("w.at")}, w.owner, ${slotOf("w.token")},
        count(*) filter (where w.status = 'Delivered'), count(*) filter (where w.status = 'Failed'),
        count(*) filter (where w.status <> 'Delivered' and w.number is not null)
      from written w where w.status <> 'Pending' or w.number is not null`,
      )}
      )
      select coalesce(array_agg(w.ordinal), '{}') into v_written from written w;`

/** The part of `writeResults` that locks the rows, and for deliveries that are to be tried again. */
const keptResults = (schema: SchemaName, lock: Lock): string => `held as materialized (
        select n.* from given n, lateral (
          select from ${schema}.webhook_pending q where ${isHeld} ${lock}
        ) as q
      ), kept as (
        update ${schema}.webhook_pending q set due_at = ${instantOf("n.due_at")}, leased_at = null, leased_until = null,
          attempt_count = n.attempt_count,
          last_response_status = coalesce(n.response_status, q.last_response_status),
          last_error = case when n.number is null then q.last_error else n.error end
        from held n where q.ctid = n.tid and n.status = 'Pending'
        returning ${COUNTED}
      ), attempted as (
        insert into ${schema}.webhook_earlier_attempts (account_id, mode, delivery_id, number, started_at, duration_ms,
          request_headers, response_status, response_headers, response_body, error)
        select n.account_id, n.mode, n.id, n.number, ${instantOf("n.started_at")}, n.duration, n.request_headers::json,
          n.response_status, n.response_headers::json, n.response_body, n.error
        from held n where n.status = 'Pending' and n.number is not null
        on conflict do nothing
      ), `

/**
 * Writes the results of claimed deliveries. See `DeliveryStore.settle`. The arrays have one element for each result.
 * Returns which results were written.
 *
 * A repeat, after a call that failed, recognizes the tokens of leases. It reports as written what the call before wrote. It leaves
 * out what is locked, and gives null for it.
 *
 * `p_tids` says where the claim left each row, so that no index is read. Its element is null for a result that is given
 * twice, so that it is written once. Only the token decides whether the row is still the claim's.
 */
export const settleDeliveries = define(
  "settle_deliveries",
  (schema) => `(
  p_account_ids text[], p_modes text[], p_ids uuid[], p_endpoint_ids uuid[], p_tokens uuid[], p_tids tid[],
  p_ats bigint[], p_statuses text[], p_attempt_counts integer[], p_due_ats bigint[], p_reasons text[],
  p_numbers integer[], p_started_ats bigint[], p_durations integer[], p_request_headers text[],
  p_response_statuses smallint[], p_response_headers text[], p_response_bodies text[], p_errors text[],
  p_is_repeat boolean
) returns table (xid text, is_written boolean[]) language plpgsql set lock_timeout = '${RESULT_LOCK_MILLIS}' as $$
declare
  v_lock_timeout text := current_setting('lock_timeout');
  v_endpoints tid[];
  v_tids tid[] := p_tids;
  v_written bigint[];
  v_ordinals bigint[] := '{}';
  v_locked bigint[];
  v_is_moved boolean;
begin
  -- A result that doesn't change its endpoint doesn't need the endpoint's lock. One that does waits for it, but only
  -- for a short time: otherwise a lock held by others could keep results from being written until their leases end.
  -- After that time the endpoint's next result sets failing_since. A repeat waits for less, because the call before has waited.
  if exists (${marked(schema, "")}) then
    begin
      if not p_is_repeat then perform set_config('lock_timeout', '${MARK_LOCK_MILLIS}', true); end if;
      select array_agg(w.tid) into v_endpoints from (${marked(schema, "for no key update")}) as w;
      perform set_config('lock_timeout', v_lock_timeout, true);
    exception when lock_not_available then
      select array_agg(w.tid) into v_endpoints from (${marked(schema, "for no key update skip locked")}) as w;
    end;
  end if;

  for v_round in 1..2 loop
    if p_is_repeat then${writeResults(schema, "for update skip locked")}
    elsif 'Pending' = any (p_statuses) then${writeResults(schema, "for update")}
    else${writeResults(schema, undefined)}
    end if;
    v_ordinals := v_ordinals || v_written;
    exit when v_round = 2 or cardinality(v_ordinals) = cardinality(p_ids);

    -- A row is no longer where its claim left it when the lease is lost, or when the table was rewritten meanwhile.
    select array_agg(m.tid order by m.ordinal), bool_or(m.tid is not null) into v_tids, v_is_moved from (
      select n.ordinal, case when row_number() over (partition by own.tid order by n.ordinal) = 1 then own.tid end as tid
      from unnest(p_account_ids, p_modes, p_ids, p_tokens) with ordinality as n (account_id, mode, id, token, ordinal)
      left join ${ofKey(schema, "q.lease_token = n.token and q.leased_until is not null")} on true
    ) as m;
    exit when not v_is_moved;
  end loop;

  if cardinality(v_ordinals) > 0 and v_endpoints is not null then
    update ${schema}.webhook_endpoints w set failing_since = f.since
    from (
      select n.account_id, n.mode, n.endpoint_id, n.last_success,
        ${instantOf(`(array_agg(n.started_at order by n.ordinal)
          filter (where n.is_failure and n.ordinal > coalesce(n.last_success, 0)))[1]`)} as since
      from (
        select n.*, ${isFailure} as is_failure,
          max(n.ordinal) filter (where n.status = 'Delivered')
            over (partition by n.account_id, n.mode, n.endpoint_id) as last_success
        from unnest(p_account_ids, p_modes, p_endpoint_ids, p_statuses, p_numbers, p_errors, p_started_ats)
          with ordinality as n (account_id, mode, endpoint_id, status, number, error, started_at, ordinal)
        where n.ordinal = any (v_ordinals)
      ) as n
      group by 1, 2, 3, 4
    ) as f
    where w.ctid = any (v_endpoints)
      and w.account_id = f.account_id and w.mode = f.mode and w.id = f.endpoint_id
      and w.failing_since is distinct from f.since and (f.last_success is not null or w.failing_since is null);
  end if;

  if p_is_repeat then
    select v_ordinals || array_agg(n.ordinal) into v_ordinals
    from unnest(p_account_ids, p_modes, p_ids, p_tokens) with ordinality as n (account_id, mode, id, token, ordinal)
    where exists (
      select from ${schema}.webhook_finished f where f.account_id = n.account_id and f.mode = n.mode
        and f.id = n.id and f.lease_token = n.token
    ) or exists (
      select from ${ofKey(schema, "q.lease_token = n.token and q.leased_until is null")}
    );
    -- What still has its lease would have been written, if somebody else did not hold it.
    select array_agg(n.ordinal) into v_locked
    from unnest(p_account_ids, p_modes, p_ids, p_tokens) with ordinality as n (account_id, mode, id, token, ordinal)
    where exists (select from ${ofKey(schema, "q.lease_token = n.token and q.leased_until is not null")});
  end if;
  return query select pg_current_xact_id_if_assigned()::text,
    (select array_agg(case when n.ordinal = any (v_locked) then null
        else coalesce(n.ordinal = any (v_ordinals), false) end order by n.ordinal)
      from unnest(p_ids) with ordinality as n (id, ordinal));
end
$$`,
  { isByIndex: true },
)

/**
 * Ends the pending deliveries of an endpoint. See `DeliveryStore.cancel`. It takes two statements: a result that is
 * written at the same time creates a new version of its row, which is visible only to a statement that begins after
 * the wait for it.
 */
export const cancelDeliveries = define(
  "cancel_deliveries",
  (schema) => `(
  p_account_id text, p_mode text, p_endpoint_id uuid, p_reason text, p_at bigint
) returns table (xid text, count bigint) language plpgsql as $$
declare
  v_tids tid[];
begin
  select array_agg(d.tid) into v_tids from (
    select q.ctid as tid from ${schema}.webhook_pending q
    where ${between("q.endpoint_id, q.id", `p_endpoint_id, ${FIRST_ID}`, `p_endpoint_id, ${LAST_ID}`)}
      and q.account_id = p_account_id and q.mode = p_mode
    order by q.endpoint_id, q.id limit ${MAX_CANCEL} for update
  ) as d;
  return query with ended as (
    delete from ${schema}.webhook_pending q where q.ctid = any (v_tids)
    returning q.*, q.leased_until is not null as is_lost
  ), finished as (
    insert into ${schema}.webhook_finished (${finishedColumns})
    select e.account_id, e.mode, e.id, e.event_id, e.event_type, e.endpoint_id,
      e.attempt_count + e.is_lost::integer, e.last_response_status,
      case when e.is_lost then 'unknown' else e.last_error end, e.created_at, 'Failed', p_reason, ${instantOf("p_at")}, null,
      e.leased_at, null, case when e.is_lost then '{}'::json end, null, null, null
    from ended e returning 1
  ), counted as (${count(
    schema,
    `select p_account_id, p_mode, ${hourOf("p_at")}, p_endpoint_id, ${CANCEL_SLOT}, 0, count(*), count(*) filter (where e.is_lost)
    from ended e`,
  )}
  )
  select pg_current_xact_id_if_assigned()::text, count(*) from finished;
end
$$`,
  { isByIndex: true },
)

/** The endpoint `w` of a replay, unless it was deleted. */
const endpointOf = (schema: SchemaName): string => `(
        select w.event_types from ${schema}.webhook_endpoints w
        where w.account_id = p_account_id and w.mode = p_mode and w.id = p_endpoint_id and w.deleted_at is null
      ) as w`

/**
 * Whether to replay event `e`: in the range, of the endpoint's and the requested types, not made for another
 * endpoint, and without a pending delivery to `w`.
 */
const isWanted = (schema: SchemaName): string => `e.occurred_at >= ${instantOf("p_since")}
        and e.occurred_at < ${instantOf("p_until")}
        and (w.event_types[1] = '*' or e.type = any (w.event_types))
        and (cardinality(p_types) = 0 or e.type = any (p_types))
        and (e.endpoint_id is null or e.endpoint_id = p_endpoint_id)
        and e.id not in (
          select q.event_id from ${schema}.webhook_pending q
          where ${between("q.endpoint_id, q.id", `p_endpoint_id, ${FIRST_ID}`, `p_endpoint_id, ${LAST_ID}`)}
            and q.account_id = p_account_id and q.mode = p_mode
        )`

/**
 * Creates new deliveries of an endpoint's past events. See `DeliveryStore.replayRange`. Two replays for one endpoint
 * run one after the other, so that the second sees what the first created. The events are locked, so that they can't
 * be pruned in between.
 *
 * Pending deliveries are looked up in a hash table, which has to fit into memory: hence the larger `work_mem`.
 */
export const replayDeliveries = define(
  "replay_deliveries",
  (schema) => `(
  p_account_id text, p_mode text, p_endpoint_id uuid, p_since bigint, p_until bigint, p_only_failed boolean,
  p_types text[], p_first_id uuid, p_now bigint, p_limit integer, p_is_dry_run boolean
) returns table (xid text, count bigint) language plpgsql set work_mem = '64MB' as $$
declare
  v_ids uuid[];
  v_types text[];
begin
  perform pg_advisory_xact_lock(hashtextextended('billwright replays for ' || p_endpoint_id::text, 0));
  if p_only_failed then
    -- From the failures to their events, with one look-up each: there are few failures and many events.
    select array_agg(c.id order by c.id), array_agg(c.type order by c.id) into v_ids, v_types
    from (
      select e.id, e.type
      from ${endpointOf(schema)}, (
        select distinct f.event_id from ${schema}.webhook_finished f where f.account_id = p_account_id
          and f.mode = p_mode and f.endpoint_id = p_endpoint_id and f.status = 'Failed'
      ) as f, lateral (
        select e.id, e.type, e.account_id, e.mode, e.occurred_at, e.endpoint_id from ${schema}.events e
        where e.account_id = p_account_id and e.mode = p_mode and e.id = f.event_id offset 0 for key share
      ) as e, lateral (
        select f.status from ${schema}.webhook_finished f where f.account_id = p_account_id and f.mode = p_mode
          and f.event_id = e.id and f.endpoint_id = p_endpoint_id order by f.id desc limit 1
      ) as newest
      where newest.status = 'Failed' and ${isWanted(schema)}
      limit p_limit + 1
    ) as c;
  else
    select array_agg(c.id order by c.id), array_agg(c.type order by c.id) into v_ids, v_types
    from (
      select e.id, e.type from ${endpointOf(schema)}, ${schema}.events e
      where e.account_id = p_account_id and e.mode = p_mode and ${isWanted(schema)}
      limit p_limit + 1 for key share of e
    ) as c;
  end if;
  if cardinality(v_ids) <= p_limit and not p_is_dry_run then
    insert into ${schema}.webhook_pending
      (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
    select p_account_id, p_mode, ${offsetOf("p_first_id", "(n.ordinal - 1)")}, n.id, n.type, p_endpoint_id, 0,
      ${instantOf("p_now")}, ${instantOf("p_now")}
    from unnest(v_ids, v_types) with ordinality as n (id, type, ordinal);
  end if;
  return query select pg_current_xact_id_if_assigned()::text, coalesce(cardinality(v_ids), 0)::bigint;
end
$$`,
)
