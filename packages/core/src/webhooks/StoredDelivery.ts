/**
 * A delivery as an adapter may store it, and how it changes. An adapter whose storage holds values uses these functions.
 * One that changes rows in place, such as Postgres, does the same by statements.
 */
import { DateTime } from "effect"
import type { Event } from "../events/Event.ts"
import type { Tenant } from "../shared/Tenant.ts"
import {
  type Attempt,
  type Delivery,
  type DeliveryId,
  type DeliveryWithAttempts,
  type FailureReason,
  isEndpointsFailure,
  lostAttempt,
} from "./Delivery.ts"
import type { ClaimedDelivery, ClaimedEndpoint, RangeReplay, Settlement } from "./DeliveryStore.ts"
import { type EndpointId, matchesFilter, type StoredEndpoint } from "./Endpoint.ts"
import type { Counts } from "./WebhookStatistics.ts"

/** The lease of a worker. */
export interface Lease {
  readonly token: string
  readonly since: DateTime.Utc
}

/** A delivery as it is stored. It is never changed, only replaced. */
export interface StoredDelivery {
  readonly delivery: Delivery
  /** Oldest first. */
  readonly attempts: ReadonlyArray<Attempt>
  /** Set from the claim to the settlement, also when the lease has ended, because its attempt may have been made. */
  readonly lease: Lease | null
}

/** A new delivery, which is due now. */
export const pending = (
  id: DeliveryId,
  event: Pick<Event, "id" | "type">,
  endpointId: EndpointId,
  now: DateTime.Utc,
): StoredDelivery => ({
  delivery: {
    id,
    eventId: event.id,
    eventType: event.type,
    endpointId,
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
  lease: null,
})

/** Without its lease. If there was one, its attempt may have been made, so it is recorded and counted. */
const withoutLease = (stored: StoredDelivery): StoredDelivery => {
  const { attempts, delivery, lease } = stored
  if (lease === null) return stored
  const attempt = lostAttempt(delivery.attemptCount, lease.since)
  return {
    delivery: { ...delivery, attemptCount: attempt.number, lastError: attempt.error },
    attempts: [...attempts, attempt],
    lease: null,
  }
}

/** With a new lease. An earlier lease counts as lost. */
export const leased = (stored: StoredDelivery, lease: Lease, until: DateTime.Utc): StoredDelivery => {
  const { attempts, delivery } = withoutLease(stored)
  return { delivery: { ...delivery, nextAttemptAt: until }, attempts, lease }
}

/** After a settlement. The caller has checked the token of the lease. */
export const settled = (
  { attempts, delivery }: StoredDelivery,
  { at, attempt, state }: Settlement,
): StoredDelivery => {
  const isPending = state.status === "Pending"
  return {
    delivery: {
      ...delivery,
      status: state.status,
      reason: state.status === "Failed" ? state.reason : null,
      attemptCount: state.attemptCount,
      nextAttemptAt: isPending ? DateTime.makeUnsafe(state.dueAt) : null,
      finishedAt: isPending ? null : at,
      lastResponseStatus: attempt?.responseStatus ?? delivery.lastResponseStatus,
      lastError: attempt === undefined ? delivery.lastError : attempt.error,
    },
    attempts: attempt === undefined ? attempts : [...attempts, attempt],
    lease: null,
  }
}

/** Failed because its endpoint was disabled or deleted. */
export const cancelled = (
  stored: StoredDelivery,
  reason: FailureReason,
  at: DateTime.Utc,
): StoredDelivery => {
  const { attempts, delivery, lease } = withoutLease(stored)
  return {
    delivery: { ...delivery, status: "Failed", reason, nextAttemptAt: null, finishedAt: at },
    attempts,
    lease,
  }
}

/**
 * Without what receivers answered, for an event that is redacted. A lease is over, and its worker can't settle it any more:
 * `token` is one that nobody knows.
 */
export const redacted = (stored: StoredDelivery, at: DateTime.Utc, token: string): StoredDelivery => {
  const { attempts, delivery, lease } = stored
  return {
    delivery: lease === null ? delivery : { ...delivery, nextAttemptAt: at },
    attempts: attempts.map((attempt) => ({ ...attempt, responseHeaders: null, responseBody: null })),
    lease: lease && { ...lease, token },
  }
}

/** What a settlement adds to the counts of its hour. */
export const countsOf = ({ attempt, state: { status } }: Settlement): Counts => ({
  delivered: status === "Delivered" ? 1 : 0,
  failed: status === "Failed" ? 1 : 0,
  failedAttempts: attempt !== undefined && status !== "Delivered" ? 1 : 0,
})

/** The `failingSince` of the endpoint after a settlement. A failure keeps that of an earlier failure. */
export const failingSince = (
  before: DateTime.Utc | null,
  { attempt, state }: Settlement,
): DateTime.Utc | null => {
  if (attempt === undefined) return before
  if (state.status === "Delivered") return null
  return isEndpointsFailure(attempt) ? (before ?? attempt.startedAt) : before
}

/** What `DeliveryStore.find` gives. */
export const withAttempts = ({ attempts, delivery, lease }: StoredDelivery): DeliveryWithAttempts => ({
  delivery,
  attemptStartedAt: lease?.since ?? null,
  attempts,
})

/** What a worker gets of a delivery that it has just leased. `endpoint` is `undefined` when it was deleted. */
export const claimed = (
  tenant: Tenant,
  { delivery, lease }: StoredDelivery & { readonly lease: Lease },
  event: Event,
  endpoint: StoredEndpoint | undefined,
  wasLost: boolean,
): ClaimedDelivery => ({
  tenant,
  id: delivery.id,
  eventId: event.id,
  eventType: event.type,
  payload: event.payload,
  attemptCount: delivery.attemptCount,
  wasLost,
  token: lease.token,
  endpoint: claimedEndpoint(delivery.endpointId, endpoint),
})

const claimedEndpoint = (id: EndpointId, stored: StoredEndpoint | undefined): ClaimedEndpoint => {
  if (stored === undefined) return { ...DELETED, id }
  const { failingSince: since, headers, signature, status, url } = stored.endpoint
  return { id, status, url, headers, signature, secrets: stored.secrets, failingSince: since }
}

const DELETED = {
  status: "deleted",
  url: "",
  headers: {},
  signature: "hmac",
  secrets: [],
  failingSince: null,
} as const

/**
 * Whether `DeliveryStore.replayRange` sends an event again. `filter` is that of the endpoint; `statuses` gives those of
 * the event's deliveries to it, oldest first.
 */
export const isReplayed = (
  { endpointId, timestamp, type }: Event,
  { endpointId: target, onlyFailed, since, types, until }: RangeReplay,
  filter: ReadonlyArray<string>,
  statuses: () => ReadonlyArray<Delivery["status"]>,
): boolean => {
  const at = timestamp.epochMilliseconds
  if (at < since.epochMilliseconds || at >= until.epochMilliseconds) return false
  if (endpointId !== null && endpointId !== target) return false
  if (!matchesFilter(filter, type) || (types.length > 0 && !types.includes(type))) return false
  const known = statuses()
  return !known.includes("Pending") && (!onlyFailed || known.at(-1) === "Failed")
}
