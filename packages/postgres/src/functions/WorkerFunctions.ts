/**
 * The functions of workers: how they notice that another one has died (docs/decisions/0037), and how they offer places to
 * publications of other processes (docs/decisions/0059).
 */
import type { SchemaName } from "../SchemaName.ts"
import { define } from "./SqlFunction.ts"

/** How long nobody may hold a worker's lock before its leases are over. In this time a living worker removes its row. */
const MISSED_MILLIS = 500
/** How long a dead worker is remembered: the longest lease that a worker can have. */
const REMEMBERED = "1 hour"
/** The most workers that one call looks at. Those that were not missed yet come first. */
const MAX_WORKERS = 1_000

/** How many characters of a lease's token name the worker. */
export const WORKER_LENGTH = 8

/** The number of a worker's advisory lock. `worker` is SQL that gives the worker. */
export const lockOf = (schema: SchemaName, worker: string): string =>
  `hashtextextended('billwright worker of ${schema}: ' || ${worker}, 0)`

/** Now in seconds, of the database. An offer is good for this second and the next. */
const SECOND = "floor(extract(epoch from clock_timestamp()))::bigint"

/** How far back the seconds are looked for whose locks a session may hold. */
const MAX_LOST_SECONDS = 60

/** The number of the advisory lock that a worker holds while it offers places in a second. `worker` is SQL that gives the worker. */
const offerLockOf = (schema: SchemaName, worker: string, second: string): string =>
  `hashtextextended('billwright offer of ${schema}: ' || ${worker} || ' ' || ${second}, 0)`

/** The same of this second. */
export const offerLockNow = (schema: SchemaName, worker: string): string =>
  offerLockOf(schema, worker, SECOND)

/** The number of the advisory lock that publications share which follow a worker's offer. `worker` is SQL that gives the worker. */
export const followersLockOf = (schema: SchemaName, worker: string): string =>
  `hashtextextended('billwright publications for ${schema}: ' || ${worker}, 0)`

/** The workers that are dead. `own` is SQL that gives the worker that asks, which lives. */
export const deadWorkers = (schema: SchemaName, own: string): string => `
    select array_agg(w.worker) from ${schema}.webhook_workers w
    where w.worker <> ${own} and w.missed_at <= clock_timestamp() - interval '${MISSED_MILLIS} milliseconds'`

/**
 * Notes when nobody holds a worker's lock, and forgets workers that died long ago. It takes the lock until the end of
 * its transaction. That stops no worker: each has entered its name once, and takes a new one for its next session.
 */
export const watchWorkers = define(
  "watch_workers",
  (schema) => `(p_own text) returns void language plpgsql as $$
declare
  v_worker text;
  v_missed_at timestamptz;
begin
  for v_worker, v_missed_at in
    select w.worker, w.missed_at from ${schema}.webhook_workers w where w.worker <> p_own
    order by w.missed_at nulls first limit ${MAX_WORKERS}
  loop
    continue when not pg_try_advisory_xact_lock(${lockOf(schema, "v_worker")});
    if v_missed_at is null then
      update ${schema}.webhook_workers w set missed_at = clock_timestamp()
      where w.worker = v_worker and w.missed_at is null;
    elsif v_missed_at <= clock_timestamp() - interval '${REMEMBERED}' then
      delete from ${schema}.webhook_workers w where w.worker = v_worker;
    end if;
  end loop;
end
$$`,
)

/**
 * Offers places for this second and the next, or ends the offer. It runs in the worker's session, which holds an advisory lock for
 * each second. So an offer ends with its session, and by itself when it is not renewed. No row is written for it: while
 * somebody's transaction is open for long, a row that is written each second has thousands of versions.
 *
 * `p_held` are the seconds whose locks the session holds, or null when that is not known because an answer was lost. Gives those
 * that it holds then.
 */
export const renewOffer = define(
  "renew_offer",
  (schema) => `(p_worker text, p_held bigint[], p_is_open boolean) returns bigint[] language plpgsql as $$
declare
  v_now bigint := ${SECOND};
  v_second bigint;
  v_known bigint[] := p_held;
  v_held bigint[] := '{}';
begin
  if v_known is null then
    select coalesce(array_agg(n), '{}') into v_known
    from generate_series(v_now - ${MAX_LOST_SECONDS}, v_now + 1) as n
    where exists (
      select from pg_locks l where l.pid = pg_backend_pid() and l.locktype = 'advisory' and l.granted
        and ((l.classid::bigint << 32) | l.objid::bigint) = ${offerLockOf(schema, "p_worker", "n")}
    );
  end if;
  foreach v_second in array v_known loop
    if p_is_open and v_second >= v_now then v_held := v_held || v_second;
    else perform pg_advisory_unlock(${offerLockOf(schema, "p_worker", "v_second")});
    end if;
  end loop;
  for v_second in select v_now + n from generate_series(0, 1) as n where p_is_open loop
    if not v_second = any (v_held) and pg_try_advisory_lock(${offerLockOf(schema, "p_worker", "v_second")}) then
      v_held := v_held || v_second;
    end if;
  end loop;
  return v_held;
end
$$`,
)
