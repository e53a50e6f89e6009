/**
 * Deliveries: whether a webhook arrived, why it failed, and how to send it again.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** The status of a delivery. `Delivered` and `Failed` are final. */
export type DeliveryStatus = "Pending" | "Delivered" | "Failed"

/** Why a delivery failed for good. */
export type DeliveryFailure = "exhausted" | "gone" | "endpoint_disabled" | "endpoint_deleted" | "unreadable"

/** Why an attempt got no answer. */
export type AttemptError =
  | "dns_error"
  | "blocked_address"
  | "connection_refused"
  | "tls_error"
  | "timeout"
  | "reset"
  | "bad_response"
  | "proxy_error"
  | "unknown"
  | "secret_unavailable"
  | "internal_error"

/** The delivery of one event to one endpoint. */
export interface Delivery {
  /** `dlv_…` */
  readonly id: string
  readonly eventId: string
  readonly eventType: string
  readonly endpointId: string
  readonly status: DeliveryStatus
  /** Why the delivery failed; `null` unless it is `Failed`. */
  readonly reason: DeliveryFailure | null
  /** The number of finished attempts. */
  readonly attemptCount: number
  /**
   * When the next attempt is due, while the delivery is `Pending`. While an attempt is running: when its lease
   * ends.
   */
  readonly nextAttemptAt: Date | null
  /** The HTTP status that answered the last attempt; `null` when there was no answer. */
  readonly lastResponseStatus: number | null
  /** Why the last attempt got no answer. */
  readonly lastError: AttemptError | null
  /** When the event was published, or when the replay was requested. */
  readonly createdAt: Date
  /** When the delivery became `Delivered` or `Failed`. */
  readonly finishedAt: Date | null
}

/** One request to a receiver, and its result. */
export interface Attempt {
  /** The number of the attempt within its delivery, from 1. */
  readonly number: number
  readonly startedAt: Date
  /** `null` when the process stopped before the attempt ended. */
  readonly durationMillis: number | null
  /** The signature and the endpoint's own headers are masked. */
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly responseStatus: number | null
  readonly responseHeaders: Readonly<Record<string, string>> | null
  /** The first 4 KiB. */
  readonly responseBody: string | null
  readonly error: AttemptError | null
}

/** A delivery with its attempts, oldest first. */
export interface DeliveryWithAttempts extends Delivery {
  /** When the running attempt started; `null` when no attempt is running. */
  readonly attemptStartedAt: Date | null
  readonly attempts: ReadonlyArray<Attempt>
}

/** Selects deliveries, newest first. A delivery must match all conditions. */
export interface ListDeliveries extends PageQuery {
  readonly status?: DeliveryStatus | undefined
  readonly endpointId?: string | undefined
  readonly eventId?: string | undefined
}

/** Counts of deliveries and attempts. */
export interface DeliveryOutcomes {
  /** Deliveries that became `Delivered`. */
  readonly delivered: number
  /** Deliveries that became `Failed`. */
  readonly failed: number
  /** Attempts that failed, including those whose result was lost. */
  readonly failedAttempts: number
}

/** The counts of the hour that begins at `start`. */
export interface HourStatistics extends DeliveryOutcomes {
  readonly start: Date
}

/** Delivery statistics, of all endpoints together or of one. */
interface Statistics extends DeliveryOutcomes {
  /** Deliveries that are pending now. At most 100,000 are counted for each endpoint. */
  readonly pending: number
  /** All hours, oldest first, including hours without any delivery. */
  readonly hours: ReadonlyArray<HourStatistics>
}

/** Delivery statistics of one endpoint. */
export interface EndpointStatistics extends Statistics {
  readonly endpointId: string
}

/** Delivery statistics of the last hours. */
export interface DeliveryStatistics extends Statistics {
  /** When the first hour begins. */
  readonly since: Date
  /** The time of the call. The last hour is not over yet. */
  readonly until: Date
  /** The endpoints with deliveries in these hours or with pending ones, including deleted endpoints, sorted by id. */
  readonly endpoints: ReadonlyArray<EndpointStatistics>
}

/** Errors: `InvalidInputError`, `DeliveryNotFoundError`, `EndpointNotFoundError`, `EndpointDisabledError`. */
export interface Deliveries {
  get(id: string, options?: CallOptions): Promise<DeliveryWithAttempts>
  list(query?: ListDeliveries, options?: CallOptions): Listing<Delivery>
  /** Sends the same event to the same endpoint again, as a new delivery. */
  replay(id: string, options?: CallOptions): Promise<Delivery>
  /** Delivery statistics of the last hours (UTC), including the current one. `hours` is 1 to 168, default 24. */
  statistics(
    query?: { readonly hours?: number | undefined },
    options?: CallOptions,
  ): Promise<DeliveryStatistics>
}
