/**
 * Events as rows, whether from the columns of a query or from the JSON of a function.
 */
import { Customer, type Event, EVENT_ID_PREFIX, type EventId, Id } from "@billwright/core"
import { Statement } from "effect/sql"
import { millisColumn } from "../Millis.ts"
import { withinBytes } from "../Paging.ts"
import { instant, type Row, text, textOrNull } from "../Row.ts"
import { endpointId } from "./EndpointRow.ts"

/** The columns that `eventFromRow` reads. */
export const eventColumns = Statement.fragment([
  Statement.literal(
    `t.id::text as id, t.type, ${millisColumn("t.occurred_at")},
  t.customer_id::text as customer_id, t.idempotency_key, t.endpoint_id::text as endpoint_id, t.payload`,
  ),
])

/**
 * Events in an order. Those beyond the byte limit of a page have `is_shown` false and an empty payload. Postgres
 * knows the length of a payload without reading it, so their payloads are not read.
 */
export const withinPage = (events: Statement.Fragment, order: Statement.Fragment) =>
  Statement.fragment([
    Statement.literal(`(
  select p.id, p.xid, p.type, p.occurred_at, p.customer_id, p.idempotency_key, p.endpoint_id, p.is_shown,
    case when p.is_shown then p.payload else '' end as payload
  from `),
    ...withinBytes(events, "octet_length(t.payload)", order).segments,
    Statement.literal(` as p
) as t`),
  ])

export const eventId = (uuid: string): EventId => Id.fromUuid(EVENT_ID_PREFIX, uuid) as EventId

export const eventFromRow = (row: Row): Event.Event => {
  const customer = textOrNull(row, "customer_id")
  const endpoint = textOrNull(row, "endpoint_id")
  return {
    id: eventId(text(row, "id")),
    type: text(row, "type"),
    timestamp: instant(row, "occurred_at"),
    customerId:
      customer === null ? null : (Id.fromUuid(Customer.CUSTOMER_ID_PREFIX, customer) as Customer.CustomerId),
    idempotencyKey: textOrNull(row, "idempotency_key"),
    endpointId: endpoint === null ? null : endpointId(endpoint),
    payload: text(row, "payload"),
  }
}
