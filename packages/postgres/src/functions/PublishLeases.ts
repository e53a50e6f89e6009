/**
 * How the functions that publish lease deliveries while they store them: to the dispatcher of the caller's own process
 * (docs/decisions/0051), or to a worker in another process that has offered places (docs/decisions/0059).
 *
 * These are parts of `publish_event_row` and `publish_event_rows`, which share their names for variables.
 */
import { instantOf } from "../Millis.ts"
import { CHANNEL, MAX_QUEUE_USAGE } from "../Notices.ts"
import type { SchemaName } from "../SchemaName.ts"
import { claimedEndpointJson as endpointJson } from "./DeliveryFunctions.ts"
import { offsetOf } from "./IdFunctions.ts"
import { followersLockOf, offerLockNow, WORKER_LENGTH } from "./WorkerFunctions.ts"

/**
 * The parameters. With a token, the caller's own process gets leases. `p_notice` is how the payload of the notification begins
 * by which the function tells others of the commit. Without it nobody is told, and no other process gets leases.
 */
export const PARAMETERS = `p_token uuid default null, p_lease_until bigint default null, p_places integer default 0,
  p_full uuid[] default '{}', p_notice text default null`

/** What was leased to the caller, and whether deliveries were stored without a lease. Null when that is not known. */
export const RESULTS = "leased json, has_due boolean"

/** The columns of a lease in `webhook_pending`. */
export const COLUMNS = "lease_token, leased_at, leased_until"

/** `v_worker`: the worker in another process that gets leases. `v_handed`: what it gets. */
export const VARIABLES = `v_token uuid := p_token;
  v_until timestamptz(3) := ${instantOf("p_lease_until")};
  v_places integer := p_places;
  v_full uuid[] := p_full;
  v_worker text;
  v_lease_millis integer;
  v_handed text;
  v_leased json;
  v_has_due boolean;`

/** The digit of a UUID that gives its version, and what it is in the tokens of publications. Those of claims have version 4. */
const VERSION_PLACE = 15
const VERSION = "8"

/** Whether a publication of another process made the token, which is SQL. */
export const isHanded = (token: string): string =>
  `substr(${token}::text, ${VERSION_PLACE}, 1) = '${VERSION}'`

/** How many workers with room are asked whether they still offer it. */
const MAX_ASKED = 3

/** How far the timestamps of events may be from the time of the database: less than `left_deliveries` looks for. */
const RECENT_MILLIS = 30_000

/**
 * Takes the offer of any worker, when the caller's process offers nothing. `events` and `timestamps` are SQL: how many are
 * published, and an array of their timestamps in epoch milliseconds.
 *
 * The caller may be a user who may not see the workers. Only a worker that offers places holds the lock of its offer. Before the
 * publication tries that, it takes its part in another lock, until its transaction ends. A worker that has ended its offer waits
 * for that lock, and then finds what was leased to it (`left_deliveries`).
 */
export const takeOffer = (schema: SchemaName, events: string, timestamps: string): string => `
  if p_token is null and p_notice is not null and pg_notification_queue_usage() <= ${MAX_QUEUE_USAGE}
    and ${RECENT_MILLIS} > all (
      select abs(extract(epoch from clock_timestamp()) * 1000 - o.at) from unnest(${timestamps}) as o (at)
    )
    and has_table_privilege('${schema}.webhook_workers', 'select') then
    for v_worker, v_lease_millis, v_places, v_full in
      select w.worker, w.lease_millis, w.offered_places, w.full_endpoints from ${schema}.webhook_workers w
      where w.offered_places >= ${events} and w.missed_at is null order by random() limit ${MAX_ASKED}
    loop
      continue when not pg_try_advisory_xact_lock_shared(${followersLockOf(schema, "v_worker")});
      continue when pg_try_advisory_xact_lock_shared(${offerLockNow(schema, "v_worker")});
      v_token := overlay(overlay(gen_random_uuid()::text placing v_worker from 1 for ${WORKER_LENGTH})
        placing '${VERSION}' from ${VERSION_PLACE} for 1)::uuid;
      v_until := clock_timestamp() + v_lease_millis * interval '1 millisecond';
      exit;
    end loop;
    if v_token is null then v_worker := null; end if;
  end if;
`

/**
 * The place of a row `w` of endpoints among those that are leased, from 1 on, in the order of `order`. Null for a delivery to
 * an endpoint that must get none.
 */
export const placeOf = (order: string): string =>
  `case when v_token is not null and not w.id = any (v_full)
        then count(*) filter (where not w.id = any (v_full)) over (order by ${order}) end`

/** The lease of a row `d` with a place, if there are as many places. `at` is SQL that gives when it is leased. */
export const leaseOf = (at: string): string =>
  `case when d.place <= v_places then ${offsetOf("v_token", "d.place - 1")} end,
      case when d.place <= v_places then ${at} end, case when d.place <= v_places then v_until end`

/**
 * What the caller's worker needs of the deliveries that were leased to it, as JSON: their rows, in the order of their places,
 * and the data of their endpoints, by id. Null when it was to get none. Then the other worker's deliveries and their places in the
 * table, and whether others are due. `queued` are the new rows.
 */
export const leased = (schema: SchemaName): string => `case when p_token is not null then (
    select json_build_object(
      'deliveries', coalesce(json_agg(json_build_array(q.id, q.event_id, q.endpoint_id, q.lease_token, q.tid)
        order by q.id) filter (where q.lease_token is not null), '[]'),
      'endpoints', (
        select coalesce(json_object_agg(w.id, ${endpointJson}), '{}') from ${schema}.webhook_endpoints w
        where w.account_id = p_account_id and w.mode = p_mode
          and w.id in (select q.endpoint_id from queued q where q.lease_token is not null)
      ))
    from queued q
  ) end, (
    select string_agg(q.id || ' ' || q.tid, ' ' order by q.id) from queued q
    where v_worker is not null and q.lease_token is not null
  ), exists (select from queued q where q.lease_token is null)`

/** What `leased` is stored in. */
export const LEASED_INTO = "v_leased, v_handed, v_has_due"

/** Notifies others of the commit: see `Notices`. A worker that got leases has to hear of them. */
export const NOTIFY = `
    if v_handed is not null or p_notice is not null and pg_notification_queue_usage() <= ${MAX_QUEUE_USAGE} then
      perform pg_notify('${CHANNEL}', concat_ws(' ', p_notice, case when v_has_due is false then 'events' else 'due' end,
        case when v_handed is not null then v_worker end, v_handed));
    end if;`
