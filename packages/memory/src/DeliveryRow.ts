/**
 * A delivery as it is stored in memory, and its changes.
 */
import {
  type ClaimedDelivery,
  type Delivery,
  type Event,
  type Settlement,
  StoredDelivery,
  type Tenant,
} from "@billwright/core"
import type { DueGroup, DueItem } from "./DueQueue.ts"
import type { EndpointRow } from "./EndpointTable.ts"
import type { IdOrder } from "./IdOrder.ts"
import type { StatusOrder } from "./StatusOrder.ts"

/** The row of an event. */
export interface EventRow {
  readonly id: Event.Event["id"]
  readonly tenant: Tenant.Tenant
  /** Replaced when it is redacted. */
  event: Event.Event
  isRedacted: boolean
  /** Its position in the order of commits. Transactions are serial, so this is also the order of writes. */
  readonly position: number
  readonly deliveries: IdOrder<DeliveryRow>
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
  content: StoredDelivery.StoredDelivery | undefined
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

const copyOfAttempt = (attempt: Delivery.Attempt): Delivery.Attempt => ({
  ...attempt,
  requestHeaders: { ...attempt.requestHeaders },
  responseHeaders: attempt.responseHeaders && { ...attempt.responseHeaders },
})

/** A copy for a caller, who may change it. */
export const copyOf = (content: StoredDelivery.StoredDelivery): Delivery.DeliveryWithAttempts => {
  const { attempts, attemptStartedAt, delivery } = StoredDelivery.withAttempts(content)
  return { delivery: { ...delivery }, attemptStartedAt, attempts: attempts.map(copyOfAttempt) }
}

/** A copy of a settlement, whose attempt the caller may change later. */
export const copyOfSettlement = (settlement: Settlement): Settlement => ({
  ...settlement,
  attempt: settlement.attempt && copyOfAttempt(settlement.attempt),
})

/** A copy of a claimed delivery, which the worker may change. */
export const copyOfClaimed = (claimed: ClaimedDelivery): ClaimedDelivery => ({
  ...claimed,
  tenant: { ...claimed.tenant },
  endpoint: {
    ...claimed.endpoint,
    headers: { ...claimed.endpoint.headers },
    secrets: claimed.endpoint.secrets.map((secret) => ({ ...secret })),
  },
})
