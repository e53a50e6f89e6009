/**
 * What a payment provider tells by itself: notices, which it sends to a URL of the host. A notice is never the truth. It
 * says what to read again.
 */
import type { Mode } from "../shared/Tenant.ts"

/** How far the instant of a signature may be from now, in seconds, into the past and into the future. */
export const NOTICE_TOLERANCE_SECONDS = 300

/** Largest body of a request, in bytes. */
export const MAX_NOTICE_BYTES = 1_048_576

/**
 * How long it is remembered that an event was received, in days. Providers send a notice again for days, and not for
 * months. One that comes later than that is read again, which changes nothing.
 */
export const EVENT_RETENTION_DAYS = 90

/** Most events that are forgotten when another one is noted, so that old ones don't pile up. */
export const MAX_FORGOTTEN_EVENTS = 10

/** A request to the URL, as it came. */
export interface NoticeRequest {
  /** The bytes of the body. Signatures are made of them, so they must not be parsed and written again. */
  readonly body: Uint8Array
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
}

/** Something has happened at the provider. */
export interface Notice {
  /** How the provider names it: 1 to 255 characters. It stays when the notice is sent again. */
  readonly eventId: string
  readonly mode: Mode
  /** What to read again. */
  readonly about: "payment" | "refund" | "dispute" | "setup"
  /** How the provider names that: 1 to 255 characters. */
  readonly reference: string
}

/**
 * What came of a request. `foreign`: it is signed, but it is not about anything that can be read again in this account at
 * the provider. `invalid`: it is not signed by the provider, or too long ago, or dated in the future.
 */
export type Received =
  | { readonly type: "notices"; readonly notices: ReadonlyArray<Notice> }
  | { readonly type: "foreign" }
  | { readonly type: "invalid" }

/** Tells what has happened. */
export interface NotifyingProvider {
  /**
   * Checks a request with the secrets of the adapter, and says what to read again. It is pure, and never fails whatever
   * the request holds. `now` is in epoch milliseconds.
   *
   * While a secret is replaced, both the old and the new one are right. A signature that is more than
   * `NOTICE_TOLERANCE_SECONDS` away from now is wrong, in both directions.
   */
  readonly receive: (request: NoticeRequest, now: number) => Received
}

/**
 * What came of a request of the provider, and the HTTP status with which to answer it.
 *
 * - `accepted`: what it is about was read and stored, now or before.
 * - `ignored`: it is about nothing of the account and mode.
 * - `refused`: it is not signed by the provider, or its instant is too far from now.
 * - `postponed`: the provider could not be read. It sends the request again.
 */
export interface NoticeReceipt {
  readonly outcome: "accepted" | "ignored" | "refused" | "postponed"
  readonly httpStatus: 200 | 400 | 503
}
