/**
 * Reads the rows that a worker gets of the deliveries that are leased to it (`functions/ClaimedAnswer.ts`).
 */
import type { Claimed, ClaimedDelivery, ClaimedEndpoint, Tenant, UnreadableDelivery } from "@billwright/core"
import { integer, json, type Row, text, textOrNull } from "../Row.ts"
import { deliveryId } from "./DeliveryRow.ts"
import { claimedEndpoint } from "./EndpointRow.ts"
import { eventId } from "./EventRow.ts"
import * as LeaseToken from "./LeaseToken.ts"

/** Most endpoints that are kept as they were read. */
const MAX_KNOWN_ENDPOINTS = 1_000

export const columns = `account_id, mode, id::text as id, event_id::text as event_id, event_type,
  endpoint_id::text as endpoint_id, attempt_count::text as attempt_count, was_lost::text as was_lost, token::text as token,
  tid::text as tid, has_payload::text as has_payload, payload, endpoint::text as endpoint`

const endpointFromRow = (row: Row): ClaimedEndpoint => {
  const endpoint = json(row, "endpoint") as Row | null
  if (endpoint === null) throw new TypeError("the endpoint of a delivery is gone")
  return claimedEndpoint(text(row, "endpoint_id"), endpoint)
}

/** The key of a claimed delivery. It can always be read, because the columns' types guarantee that. */
const keyFromRow = (row: Row) => ({
  tenant: {
    accountId: text(row, "account_id") as Tenant.AccountId,
    mode: text(row, "mode") as Tenant.Mode,
  },
  id: deliveryId(text(row, "id")),
  token: LeaseToken.make(text(row, "token"), text(row, "tid")),
  attemptCount: integer(row, "attempt_count"),
})

const deliveryFromRow = (
  row: Row,
  payload: string | null,
  endpointOf: (row: Row) => ClaimedEndpoint,
): ClaimedDelivery => {
  if (payload === null) throw new TypeError("the event of a delivery is gone")
  return {
    ...keyFromRow(row),
    eventId: eventId(text(row, "event_id")),
    eventType: text(row, "event_type"),
    payload,
    wasLost: text(row, "was_lost") === "true",
    endpoint: endpointOf(row),
  }
}

/** Reads each endpoint once for many claims, for as long as its text stays the same. A damaged one is read each time, and fails. */
export const readingOnce = (): ((row: Row) => ClaimedEndpoint) => {
  const known = new Map<string, { readonly from: string | null; readonly endpoint: ClaimedEndpoint }>()
  return (row) => {
    const id = text(row, "endpoint_id")
    const from = textOrNull(row, "endpoint")
    const last = known.get(id)
    if (last?.from === from) return last.endpoint
    const endpoint = endpointFromRow(row)
    if (known.size >= MAX_KNOWN_ENDPOINTS) known.clear()
    known.set(id, { from, endpoint })
    return endpoint
  }
}

export const claimedFromRows = (
  rows: ReadonlyArray<Row>,
  endpointOf: (row: Row) => ClaimedEndpoint,
): Claimed => {
  const deliveries: Array<ClaimedDelivery> = []
  const unreadable: Array<UnreadableDelivery> = []
  let payload: string | null = null
  for (const row of rows) {
    if (row["id"] === null) continue
    // The rows of an event follow each other, and only the first of them has its payload.
    if (text(row, "has_payload") === "true") payload = textOrNull(row, "payload")
    try {
      deliveries.push(deliveryFromRow(row, payload, endpointOf))
    } catch (cause) {
      unreadable.push({ ...keyFromRow(row), cause })
    }
  }
  return { deliveries, unreadable }
}
