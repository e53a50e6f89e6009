/**
 * A delivery: the sending of one event to one endpoint, in one or more attempts.
 */
import { type DateTime, Schema } from "effect"
import { DeliveryStatus } from "../events/DeliveryStatus.ts"
import { EventId } from "../events/EventId.ts"
import * as Id from "../shared/Id.ts"
import * as NotFound from "../shared/NotFound.ts"
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

/** How many deliveries of an event are in each status. Each count ends at `MAX_COUNTED`. */
export interface DeliveryCounts {
  readonly pending: number
  readonly delivered: number
  readonly failed: number
}

/** Most deliveries of an event that are counted in each status. */
export const MAX_COUNTED = 1_000

/** Why a delivery failed for good. */
export const failureReasons = [
  /** The last attempt of the schedule failed. */
  "exhausted",
  /** The receiver answered 410 Gone. */
  "gone",
  "endpoint_disabled",
  "endpoint_deleted",
  /** The stored row is damaged and can't be read. */
  "unreadable",
] as const
export type FailureReason = (typeof failureReasons)[number]

/** The reasons why an attempt has no answer. */
export const attemptErrors = [
  ...transportErrors,
  /** The process or its lease ended before the result was stored. The receiver may have got the request. */
  "unknown",
  /** The endpoint's secret can't be decrypted because a key of the keyring is missing. Nothing was sent. */
  "secret_unavailable",
  /** A bug in the sender. It is unknown whether anything was sent. */
  "internal_error",
] as const
export type AttemptError = (typeof attemptErrors)[number]

/** Errors on the sender's side. They don't count as failures of the endpoint. */
export const ownErrors: ReadonlyArray<AttemptError> = [
  "proxy_error",
  "unknown",
  "secret_unavailable",
  "internal_error",
]

/** Whether a failed attempt counts as a failure of the endpoint. */
export const isEndpointsFailure = ({ error }: Pick<Attempt, "error">): boolean =>
  error === null || !ownErrors.includes(error)

export interface Delivery {
  readonly id: DeliveryId
  readonly eventId: EventId
  readonly eventType: string
  readonly endpointId: EndpointId
  readonly status: DeliveryStatus
  /** Why the delivery failed. Set when its status is `Failed`. */
  readonly reason: FailureReason | null
  /** How many attempts have ended. */
  readonly attemptCount: number
  /**
   * When the next attempt is due. Set while the status is `Pending`. While an attempt is under way, this is the end of
   * its lease: if its result is not stored by then, another attempt is made.
   */
  readonly nextAttemptAt: DateTime.Utc | null
  /** The status code of the last answer. */
  readonly lastResponseStatus: number | null
  /** Why the last attempt had no answer. */
  readonly lastError: AttemptError | null
  readonly createdAt: DateTime.Utc
  /** When it became `Delivered` or `Failed`. */
  readonly finishedAt: DateTime.Utc | null
}

/** One request to a receiver and its result. */
export interface Attempt {
  /** The first attempt of a delivery is 1. */
  readonly number: number
  readonly startedAt: DateTime.Utc
  /** `null` when the end of the attempt is unknown. */
  readonly durationMillis: number | null
  /** The headers by lower-case name. The values of the signature and of the endpoint's own headers are masked. */
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly responseStatus: number | null
  /** When the answer repeats values of the endpoint's own headers, they are masked, here and in the body. */
  readonly responseHeaders: Readonly<Record<string, string>> | null
  /** The first 4 KiB of the answer's body. */
  readonly responseBody: string | null
  readonly error: AttemptError | null
}

/**
 * The record of an attempt that began but whose result was lost, because its process or lease ended. `attemptCount`
 * attempts ended before it.
 */
export const lostAttempt = (attemptCount: number, startedAt: DateTime.Utc): Attempt => ({
  number: attemptCount + 1,
  startedAt,
  durationMillis: null,
  requestHeaders: {},
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  error: "unknown",
})

export interface DeliveryWithAttempts {
  readonly delivery: Delivery
  /** When the attempt that is under way began; `null` when none is. `attempts` lists it once it has ended. */
  readonly attemptStartedAt: DateTime.Utc | null
  /** Oldest first. */
  readonly attempts: ReadonlyArray<Attempt>
}

/** The distance between the ids of a delivery's attempts. It is larger than the number of deliveries made at once. */
const ATTEMPT_STRIDE = 2 ** 24

/** The id of an attempt. It is computed from the delivery's id and the attempt's number. */
export const attemptId = (deliveryId: DeliveryId, number: number): string =>
  Id.offset(ATTEMPT_ID_PREFIX, deliveryId, number * ATTEMPT_STRIDE)

/**
 * The id of one of several deliveries that are made at once. It is computed from the first one's id and the index, so
 * that every adapter makes the same ids.
 */
export const deliveryId = (first: DeliveryId, index: number): DeliveryId =>
  DeliveryId.make(Id.offset(DELIVERY_ID_PREFIX, first, index), { disableChecks: true })

/** The id of the first delivery that is made when an event is published. */
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

/** The tenant has no delivery with this id. */
export class DeliveryNotFound extends NotFound.make("DeliveryNotFound", "delivery") {}
