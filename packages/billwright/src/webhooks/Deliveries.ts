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
  /** When the next attempt is due, while it is `Pending`. */
  readonly nextAttemptAt: Date | null
  readonly lastResponseStatus: number | null
  readonly lastError: AttemptError | null
  readonly createdAt: Date
  readonly finishedAt: Date | null
}

/** One request to a receiver, and what came of it. */
export interface Attempt {
  /** 1 for the first of its delivery. */
  readonly number: number
  readonly startedAt: Date
  /** `null` when its end was not seen. */
  readonly durationMillis: number | null
  /** The signature and what looks like a credential are masked. */
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly responseStatus: number | null
  readonly responseHeaders: Readonly<Record<string, string>> | null
  /** The first 4 KiB. */
  readonly responseBody: string | null
  readonly error: AttemptError | null
}

/** A delivery with its attempts, oldest first. */
export interface DeliveryWithAttempts extends Delivery {
  readonly attempts: ReadonlyArray<Attempt>
}

export interface ListDeliveries extends PageQuery {
  readonly status?: DeliveryStatus | undefined
  readonly endpointId?: string | undefined
  readonly eventId?: string | undefined
}

/** Errors: `InvalidInputError`, `DeliveryNotFoundError`, `EndpointNotFoundError`, `EndpointDisabledError`. */
export interface Deliveries {
  get(id: string, options?: CallOptions): Promise<DeliveryWithAttempts>
  list(query?: ListDeliveries, options?: CallOptions): Listing<Delivery>
  /** Sends the same event to the same endpoint again, as a new delivery. */
  replay(id: string, options?: CallOptions): Promise<Delivery>
}
