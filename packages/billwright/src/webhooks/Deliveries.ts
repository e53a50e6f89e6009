/**
 * Deliveries: did it arrive, why not, send it again.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** `Delivered` and `Failed` are final. */
export type DeliveryStatus = "Pending" | "Delivered" | "Failed"

/** Why a delivery failed for good. */
export type DeliveryFailure = "exhausted" | "gone" | "endpoint_disabled" | "endpoint_deleted" | "unreadable"

/** Why an attempt has no answer. */
export type AttemptError =
  | "dns_error"
  | "blocked_address"
  | "connection_refused"
  | "tls_error"
  | "timeout"
  | "reset"
  | "bad_response"
  | "unknown"
  | "secret_unavailable"
  | "internal_error"

/** One event on its way to one endpoint. */
export interface Delivery {
  /** `dlv_…` */
  readonly id: string
  readonly eventId: string
  readonly eventType: string
  readonly endpointId: string
  readonly status: DeliveryStatus
  /** Set when it is `Failed`. */
  readonly reason: DeliveryFailure | null
  /** Attempts that ended. */
  readonly attemptCount: number
  /** While it is `Pending`: when the next attempt is due; while one is under way, when its lease ends. */
  readonly nextAttemptAt: Date | null
  /** The status that the last attempt was answered with; `null` when it had no answer. */
  readonly lastResponseStatus: number | null
  /** Why the last attempt had no answer. */
  readonly lastError: AttemptError | null
  /** When the event was published, or the replay asked for. */
  readonly createdAt: Date
  /** When it became `Delivered` or `Failed`. */
  readonly finishedAt: Date | null
}

/** One request to a receiver, and what came of it. */
export interface Attempt {
  /** 1 for the first of its delivery. */
  readonly number: number
  readonly startedAt: Date
  /** `null` when its end was not seen. */
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
  /** Since when an attempt is under way; `null` when none is. */
  readonly attemptStartedAt: Date | null
  readonly attempts: ReadonlyArray<Attempt>
}

/** Which deliveries, newest first. Conditions are joined by "and". */
export interface ListDeliveries extends PageQuery {
  readonly status?: DeliveryStatus | undefined
  readonly endpointId?: string | undefined
  readonly eventId?: string | undefined
}

/** What is counted of deliveries. */
export interface DeliveryOutcomes {
  /** Deliveries that became `Delivered`. */
  readonly delivered: number
  /** Deliveries that became `Failed`. */
  readonly failed: number
  /** Attempts that failed, those whose result was lost included. */
  readonly failedAttempts: number
}

/** What happened in the hour from `start` on. */
export interface HourStatistics extends DeliveryOutcomes {
  readonly start: Date
}

/** How deliveries went, in all or to one endpoint. */
interface Statistics extends DeliveryOutcomes {
  /** Deliveries that are pending now; up to 100,000 of each endpoint are counted. */
  readonly pending: number
  /** Each hour, oldest first, those without anything included. */
  readonly hours: ReadonlyArray<HourStatistics>
}

/** How deliveries to one endpoint went. */
export interface EndpointStatistics extends Statistics {
  readonly endpointId: string
}

/** How deliveries went in the last hours. */
export interface DeliveryStatistics extends Statistics {
  /** When the first hour begins. */
  readonly since: Date
  /** Now: the last hour is not over. */
  readonly until: Date
  /** The endpoints that anything happened to or that have pending deliveries, deleted ones included, by id. */
  readonly endpoints: ReadonlyArray<EndpointStatistics>
}

/** Errors: `InvalidInputError`, `DeliveryNotFoundError`, `EndpointNotFoundError`, `EndpointDisabledError`. */
export interface Deliveries {
  get(id: string, options?: CallOptions): Promise<DeliveryWithAttempts>
  list(query?: ListDeliveries, options?: CallOptions): Listing<Delivery>
  /** Sends the same event to the same endpoint again, as a new delivery. */
  replay(id: string, options?: CallOptions): Promise<Delivery>
  /** How deliveries went in the last hours of UTC, the current one included: 1 to 168, default 24. */
  statistics(
    query?: { readonly hours?: number | undefined },
    options?: CallOptions,
  ): Promise<DeliveryStatistics>
}
