/**
 * The function by which workers notice that another one has died: see docs/decisions/0037.
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

/** The number of the advisory lock that publications share which follow a worker's offer. `worker` is SQL that gives the worker. */
export const offerLockOf = (schema: SchemaName, worker: string): string =>
  `hashtextextended('billwright offer of ${schema}: ' || ${worker}, 0)`

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
