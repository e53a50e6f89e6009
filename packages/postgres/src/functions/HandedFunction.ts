/**
 * What a worker reads of deliveries that publications of other processes leased to it (docs/decisions/0059): `handed_deliveries`
 * when it was notified of them, and `left_deliveries` to find those of which it was not.
 */
import { millisText } from "../Millis.ts"
import type { SchemaName } from "../SchemaName.ts"
import { answer, COLUMNS } from "./ClaimedAnswer.ts"
import { isHanded } from "./PublishLeases.ts"
import { define } from "./SqlFunction.ts"
import { followersLockOf, WORKER_LENGTH } from "./WorkerFunctions.ts"

/** How far the timestamps of events may be from the time of the database for `left_deliveries`. */
const LOOKED_AT = "1 minute"
/** The most deliveries that `left_deliveries` gives. */
const MAX_LEFT = 10_000

/**
 * The rows with the ids `p_ids` that are at `p_tids` in the table and leased to `p_workers`. A row is where its publication has
 * put it for as long as it has that lease.
 */
const leasedRows = (schema: SchemaName): string => `
    select q.*, false as was_lost, n.place
    from unnest(p_workers, p_ids, p_tids) with ordinality as n (worker, id, tid, place) cross join lateral (
      select q.*, q.ctid as tid from ${schema}.webhook_pending q
      where q.ctid = n.tid and q.id is not distinct from n.id and q.leased_until is not null
        and ${isHanded("q.lease_token")} and left(q.lease_token::text, ${WORKER_LENGTH}) = n.worker
      offset 0
    ) as q
  `

/** In the order of `p_ids`. Leaves out what a worker does not have any more. It also gives when each lease ends. */
export const handedDeliveries = define(
  "handed_deliveries",
  (schema) => `(p_workers text[], p_ids uuid[], p_tids tid[])
returns table (${COLUMNS}, leased_until text) language plpgsql stable as $$
#variable_conflict use_column
begin${answer(schema, leasedRows(schema), millisText("l.leased_until"))}
end
$$`,
  { isByIndex: true },
)

/**
 * The ids and places of all deliveries that publications of the last minute leased to a worker, as JSON. Null while a publication
 * is under way that may still lease some. So a worker that has ended its offer finds everything.
 */
export const leftDeliveries = define(
  "left_deliveries",
  (schema) => `(p_worker text) returns json language plpgsql as $$
declare
  v_now timestamptz;
begin
  if not pg_try_advisory_xact_lock(${followersLockOf(schema, "p_worker")}) then return null; end if;
  v_now := clock_timestamp();
  return (
    select coalesce(json_agg(json_build_array(q.id, q.tid)), '[]') from (
      select q.id, q.ctid as tid from ${schema}.webhook_pending q
      where q.due_at >= v_now - interval '${LOOKED_AT}' and q.due_at <= v_now + interval '${LOOKED_AT}'
        and q.leased_until is not null and ${isHanded("q.lease_token")}
        and left(q.lease_token::text, ${WORKER_LENGTH}) = p_worker
      order by q.due_at, q.id limit ${MAX_LEFT}
    ) as q
  );
end
$$`,
  { isByIndex: true },
)
