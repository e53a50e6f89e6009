/**
 * Events as rows, whether they come as columns of a query or as JSON of a function.
 */
import { Customer, type Event, EVENT_ID_PREFIX, type EventId, Id } from "@billwright/core"
import { Statement } from "effect/sql"
import { millisColumn } from "../Millis.ts"
import { instant, type Row, text, textOrNull } from "../Row.ts"
import { endpointId } from "./EndpointRow.ts"

/** The columns that `eventFromRow` reads. */
export const eventColumns = Statement.fragment([
  Statement.literal(
    `t.id::text as id, t.type, ${millisColumn("t.occurred_at")},
  t.customer_id::text as customer_id, t.idempotency_key, t.endpoint_id::text as endpoint_id, t.payload`,
  ),
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
