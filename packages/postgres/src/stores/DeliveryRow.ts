/**
 * Deliveries and their attempts as rows.
 */
import { Delivery, Id } from "@billwright/core"
import { Statement } from "effect/sql"
import { millis, millisColumn } from "../Millis.ts"
import { instant, instantOrNull, integer, json, type Row, text, textOrNull } from "../Row.ts"
import { endpointId } from "./EndpointRow.ts"
import { eventId } from "./EventRow.ts"

/** The columns of `webhook_deliveries` that `deliveryFromRow` reads. */
export const deliveryColumns = Statement.fragment([
  Statement.literal(
    `t.id::text as id, t.event_id::text as event_id, t.event_type, t.endpoint_id::text as endpoint_id, t.status, t.reason,
  t.attempt_count::text as attempt_count, ${millisColumn("t.due_at")}, t.last_response_status::text as last_response_status,
  t.last_error, ${millisColumn("t.created_at")}, ${millisColumn("t.finished_at")}`,
  ),
])

const integerOrNull = (row: Row, column: string): number | null =>
  row[column] === null || row[column] === undefined ? null : integer(row, column)

export const deliveryId = (uuid: string): Delivery.DeliveryId =>
  Id.fromUuid(Delivery.DELIVERY_ID_PREFIX, uuid) as Delivery.DeliveryId

export const deliveryFromRow = (row: Row): Delivery.Delivery => ({
  id: deliveryId(text(row, "id")),
  eventId: eventId(text(row, "event_id")),
  eventType: text(row, "event_type"),
  endpointId: endpointId(text(row, "endpoint_id")),
  status: text(row, "status") as Delivery.DeliveryStatus,
  reason: textOrNull(row, "reason") as Delivery.FailureReason | null,
  attemptCount: integer(row, "attempt_count"),
  nextAttemptAt: instantOrNull(row, "due_at"),
  lastResponseStatus: integerOrNull(row, "last_response_status"),
  lastError: textOrNull(row, "last_error") as Delivery.AttemptError | null,
  createdAt: instant(row, "created_at"),
  finishedAt: instantOrNull(row, "finished_at"),
})

/** The attempts `a` of a delivery as a JSON array, oldest first. */
export const attemptsJson = Statement.fragment([
  Statement.literal(`coalesce(json_agg(json_build_object(
    'number', a.number, 'started_at', ${millis("a.started_at")}, 'duration_ms', a.duration_ms,
    'request_headers', a.request_headers, 'response_status', a.response_status,
    'response_headers', a.response_headers, 'response_body', a.response_body, 'error', a.error
  ) order by a.number), '[]')::text`),
])

type Headers = Readonly<Record<string, string>>

export const attemptFromRow = (row: Row): Delivery.Attempt => ({
  number: integer(row, "number"),
  startedAt: instant(row, "started_at"),
  durationMillis: integerOrNull(row, "duration_ms"),
  requestHeaders: json(row, "request_headers") as Headers,
  responseStatus: integerOrNull(row, "response_status"),
  responseHeaders: json(row, "response_headers") as Headers | null,
  responseBody: textOrNull(row, "response_body"),
  error: textOrNull(row, "error") as Delivery.AttemptError | null,
})
