/**
 * What a worker gets of the rows that are leased to it.
 */
import type { SchemaName } from "../SchemaName.ts"
import { claimedEndpointJson } from "./DeliveryFunctions.ts"

/** The columns of a function that gives leased rows. */
export const COLUMNS = `account_id text, mode text, id uuid, event_id uuid, event_type text, endpoint_id uuid,
  attempt_count integer, was_lost boolean, token uuid, tid tid, has_payload boolean, payload text, endpoint jsonb`

/**
 * Returns these columns, and `more`. `rows` selects rows of the queue with their `tid` and `place`. The deliveries of an event
 * follow each other, and only the first of them has its payload.
 */
export const answer = (schema: SchemaName, rows: string, more: string): string => `
  return query with leased as (${rows}), placed as (
    select l.*, l.event_id is distinct from lag(l.event_id) over o or l.account_id <> lag(l.account_id) over o
      or l.mode <> lag(l.mode) over o as has_payload
    from leased l window o as (order by l.place)
  )
  select l.account_id, l.mode, l.id, l.event_id, l.event_type, l.endpoint_id, l.attempt_count, l.was_lost, l.lease_token,
    l.tid, l.has_payload, e.payload, w.endpoint, ${more}
  from placed l
  left join lateral (
    select e.payload from ${schema}.events e
    where l.has_payload and e.account_id = l.account_id and e.mode = l.mode and e.id = l.event_id limit 1
  ) as e on true
  left join lateral (
    select ${claimedEndpointJson} as endpoint
    from ${schema}.webhook_endpoints w
    where w.account_id = l.account_id and w.mode = l.mode and w.id = l.endpoint_id limit 1
  ) as w on true
  order by l.place;`
