/**
 * A delivery: one event on its way to one endpoint, and its attempts.
 */
import { type DateTime, Schema } from "effect"
import { DeliveryStatus } from "../events/DeliveryStatus.ts"
import { EventId } from "../events/EventId.ts"
import * as Id from "../shared/Id.ts"
import { pageFields } from "../shared/Page.ts"
import { EndpointId } from "./Endpoint.ts"
import { transportErrors } from "./WebhookTransport.ts"

export { DeliveryStatus } from "../events/DeliveryStatus.ts"

/** The prefix of delivery ids. */
export const DELIVERY_ID_PREFIX = "dlv"
/** The prefix of attempt ids. */
export const ATTEMPT_ID_PREFIX = "att"

export const DeliveryId = Id.schema(DELIVERY_ID_PREFIX).pipe(Schema.brand("DeliveryId"))
export type DeliveryId = typeof DeliveryId.Type

/** How many deliveries of an event have each status, up to `MAX_COUNTED` each. */
export interface DeliveryCounts {
  readonly pending: number
  readonly delivered: number
  readonly failed: number
}

/** Deliveries of an event are counted up to here in each status. */
export const MAX_COUNTED = 1_000

/** Why a delivery failed for good. */
export const failureReasons = [
  /** The last attempt of the schedule failed. */
  "exhausted",
  /** The receiver answered 410 Gone. */
  "gone",
  "endpoint_disabled",
  "endpoint_deleted",
  /** What is stored of it can't be read: a damaged row. */
  "unreadable",
] as const
export type FailureReason = (typeof failureReasons)[number]

/** Why an attempt has no answer. */
export const attemptErrors = [
  ...transportErrors,
  /** The process ended, or its lease, before the result was stored: the receiver may have had the request. */
  "unknown",
  /** The endpoint's secret can't be decrypted: a key of the keyring is missing. Nothing was sent. */
  "secret_unavailable",
  /** A bug. Whether something was sent is not known. */
  "internal_error",
] as const
export type AttemptError = (typeof attemptErrors)[number]

/** Errors of ours: an attempt that ended so says nothing of its endpoint. */
export const ownErrors: ReadonlyArray<AttemptError> = ["unknown", "secret_unavailable", "internal_error"]

/** Whether an attempt that did not succeed is a failure of the endpoint. */
export const isEndpointsFailure = ({ error }: Pick<Attempt, "error">): boolean =>
  error === null || !ownErrors.includes(error)

export interface Delivery {
  readonly id: DeliveryId
  readonly eventId: EventId
  readonly eventType: string
  readonly endpointId: EndpointId
  readonly status: DeliveryStatus
  /** Set when it is `Failed`. */
  readonly reason: FailureReason | null
  /** Attempts that ended. */
  readonly attemptCount: number
  /**
   * When the next attempt is due; set while it is `Pending`. While one is under way: when its lease ends, and another
   * one is made if nothing was heard of it.
   */
  readonly nextAttemptAt: DateTime.Utc | null
  /** The answer to the last attempt that had one. */
  readonly lastResponseStatus: number | null
  /** Why the last attempt had no answer. */
  readonly lastError: AttemptError | null
  readonly createdAt: DateTime.Utc
  /** When it became `Delivered` or `Failed`. */
  readonly finishedAt: DateTime.Utc | null
}

/** One request to a receiver, and what came of it. */
export interface Attempt {
  /** 1 for the first of its delivery. */
  readonly number: number
  readonly startedAt: DateTime.Utc
  /** `null` when the end was not seen. */
  readonly durationMillis: number | null
  /** By lower-case name; the signature and the endpoint's own headers are masked. */
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly responseStatus: number | null
  /** Values of the endpoint's own headers that it repeats are masked, here and in the body. */
  readonly responseHeaders: Readonly<Record<string, string>> | null
  /** The first 4 KiB. */
  readonly responseBody: string | null
  readonly error: AttemptError | null
}

export interface DeliveryWithAttempts {
  readonly delivery: Delivery
  /** Since when an attempt is under way; when none is, `null`. It is none of `attempts` before it has ended. */
  readonly attemptStartedAt: DateTime.Utc | null
  /** Oldest first. */
  readonly attempts: ReadonlyArray<Attempt>
}

/** Attempts of a delivery lie 2^24 apart: fewer deliveries than that are made at once. */
const ATTEMPT_STRIDE = 2 ** 24

/** The id of an attempt follows from its delivery's. */
export const attemptId = (deliveryId: DeliveryId, number: number): string =>
  Id.offset(ATTEMPT_ID_PREFIX, deliveryId, number * ATTEMPT_STRIDE)

/**
 * The id of one of the deliveries that are made at once follows from the first one's and its place, so that
 * one id decides all of them, in every adapter alike.
 */
export const deliveryId = (first: DeliveryId, index: number): DeliveryId =>
  DeliveryId.make(Id.offset(DELIVERY_ID_PREFIX, first, index), { disableChecks: true })

/** The id of the first delivery that an event's publication makes. */
export const firstDeliveryId = (eventId: EventId): DeliveryId =>
  DeliveryId.make(Id.offset(DELIVERY_ID_PREFIX, eventId, 0), { disableChecks: true })

/** Which deliveries to list. */
export const ListDeliveries = Schema.Struct({
  ...pageFields,
  status: Schema.optionalKey(DeliveryStatus),
  endpointId: Schema.optionalKey(EndpointId),
  eventId: Schema.optionalKey(EventId),
})
export interface ListDeliveries extends Schema.Schema.Type<typeof ListDeliveries> {}

/** There is no such delivery for this tenant. */
export class DeliveryNotFound extends Schema.TaggedError<DeliveryNotFound>()(
  "DeliveryNotFound",
  { id: Schema.String },
  { httpApiStatus: 404 },
) {
  override get message(): string {
    return `no delivery has the id ${this.id}`
  }
}
