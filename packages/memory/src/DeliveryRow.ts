/**
 * A delivery as it is stored in memory, and its changes.
 */
import type {
  ClaimedDelivery,
  ClaimedEndpoint,
  Delivery,
  Endpoint,
  Event,
  Settlement,
  Tenant,
} from "@billwright/core"
import { DateTime } from "effect"
import type { DueGroup, DueItem } from "./DueQueue.ts"
import type { EndpointRow } from "./EndpointTable.ts"
import type { IdOrder } from "./IdOrder.ts"
import type { StatusOrder } from "./StatusOrder.ts"

/** The row of an event. */
export interface EventRow {
  readonly id: Event.Event["id"]
  readonly tenant: Tenant.Tenant
  readonly event: Event.Event
  /** Its position in the order of commits. Transactions are serial, so this is also the order of writes. */
  readonly position: number
  readonly deliveries: IdOrder<DeliveryRow>
}

/** The lease of a worker. */
export interface Lease {
  readonly token: string
  readonly since: DateTime.Utc
}

/** The part of a delivery that changes. This object is never changed, only replaced. */
export interface DeliveryContent {
  readonly delivery: Delivery.Delivery
  readonly attempts: ReadonlyArray<Delivery.Attempt>
  /** Set from the claim to the settlement, also when the lease has ended, because its attempt may have been made. */
  readonly lease: Lease | undefined
}

/** The deliveries to one endpoint. */
export interface EndpointDeliveries {
  readonly endpoint: EndpointRow
  readonly order: StatusOrder<DeliveryRow>
  readonly due: DueGroup<DeliveryRow>
}

/** The row of a delivery. While it is pending, it is due when its next attempt is due or its lease ends. */
export interface DeliveryRow extends DueItem {
  readonly id: Delivery.DeliveryId
  readonly tenant: Tenant.Tenant
  readonly event: EventRow
  readonly group: EndpointDeliveries
  /** `undefined` before the delivery is inserted, and when its insertion was undone. */
  content: DeliveryContent | undefined
}

export const newRow = (id: Delivery.DeliveryId, event: EventRow, group: EndpointDeliveries): DeliveryRow => ({
  id,
  tenant: event.tenant,
  event,
  group,
  content: undefined,
  heapIndex: -1,
  dueAt: 0,
})

/** The content of a new delivery, which is due now. */
export const initialContent = ({ event, group, id }: DeliveryRow, now: DateTime.Utc): DeliveryContent => ({
  delivery: {
    id,
    eventId: event.id,
    eventType: event.event.type,
    endpointId: group.endpoint.id,
    status: "Pending",
    reason: null,
    attemptCount: 0,
    nextAttemptAt: now,
    lastResponseStatus: null,
    lastError: null,
    createdAt: now,
    finishedAt: null,
  },
  attempts: [],
  lease: undefined,
})

/** The content without its lease. If there was one, its attempt may have been made, so it is recorded and counted. */
const withoutLease = (content: DeliveryContent): DeliveryContent => {
  const { attempts, delivery, lease } = content
  if (lease === undefined) return content
  const attempt: Delivery.Attempt = {
    number: delivery.attemptCount + 1,
    startedAt: lease.since,
    durationMillis: null,
    requestHeaders: {},
    responseStatus: null,
    responseHeaders: null,
    responseBody: null,
    error: "unknown",
  }
  return {
    delivery: { ...delivery, attemptCount: attempt.number, lastError: attempt.error },
    attempts: [...attempts, attempt],
    lease: undefined,
  }
}

/** The content with a new lease. An earlier lease counts as lost. */
export const leased = (content: DeliveryContent, lease: Lease, until: DateTime.Utc): DeliveryContent => {
  const { attempts, delivery } = withoutLease(content)
  return { delivery: { ...delivery, nextAttemptAt: until }, attempts, lease }
}

/** The content after a settlement. */
export const settled = (content: DeliveryContent, { at, attempt, state }: Settlement): DeliveryContent => {
  const isPending = state.status === "Pending"
  const delivery: Delivery.Delivery = {
    ...content.delivery,
    status: state.status,
    reason: state.status === "Failed" ? state.reason : null,
    attemptCount: state.attemptCount,
    nextAttemptAt: isPending ? DateTime.makeUnsafe(state.dueAt) : null,
    finishedAt: isPending ? null : at,
  }
  if (attempt === undefined) return { delivery, attempts: content.attempts, lease: undefined }
  return {
    delivery: {
      ...delivery,
      lastResponseStatus: attempt.responseStatus ?? delivery.lastResponseStatus,
      lastError: attempt.error,
    },
    attempts: [...content.attempts, copyOfAttempt(attempt)],
    lease: undefined,
  }
}

/** The content of a delivery that ends because its endpoint was disabled or deleted. */
export const cancelled = (
  content: DeliveryContent,
  reason: Delivery.FailureReason,
  at: DateTime.Utc,
): DeliveryContent => {
  const { attempts, delivery } = withoutLease(content)
  return {
    delivery: { ...delivery, status: "Failed", reason, nextAttemptAt: null, finishedAt: at },
    attempts,
    lease: undefined,
  }
}

const copyOfAttempt = (attempt: Delivery.Attempt): Delivery.Attempt => ({
  ...attempt,
  requestHeaders: { ...attempt.requestHeaders },
  responseHeaders: attempt.responseHeaders && { ...attempt.responseHeaders },
})

/** A copy of a delivery and its attempts. */
export const copyOf = ({ attempts, delivery, lease }: DeliveryContent): Delivery.DeliveryWithAttempts => ({
  delivery: { ...delivery },
  attemptStartedAt: lease?.since ?? null,
  attempts: attempts.map(copyOfAttempt),
})

/** The claimed delivery for a worker. */
export const claimedOf = (
  { event, group, id, tenant }: DeliveryRow,
  token: string,
  attemptCount: number,
  wasLost: boolean,
): ClaimedDelivery => ({
  tenant: { ...tenant },
  id,
  eventId: event.id,
  eventType: event.event.type,
  payload: event.event.payload,
  attemptCount,
  wasLost,
  token,
  endpoint: claimedEndpoint(group.endpoint),
})

const claimedEndpoint = ({ id, stored }: EndpointRow): ClaimedEndpoint => {
  if (stored === undefined) return { ...NOTHING_IS_LEFT, id }
  const { failingSince, headers, signature, status, url } = stored.endpoint
  const secrets = stored.secrets.map((secret) => ({ ...secret }))
  return { id, status, url, headers: { ...headers }, signature, secrets, failingSince }
}

/** The fields of a deleted endpoint. */
const NOTHING_IS_LEFT = {
  status: "deleted",
  url: "",
  headers: {},
  signature: "hmac" satisfies Endpoint.SignatureScheme,
  secrets: [],
  failingSince: null,
} as const
