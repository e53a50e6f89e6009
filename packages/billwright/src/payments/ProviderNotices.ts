/**
 * What a payment provider tells by itself: notices, which it sends to a URL of yours. A notice is never the truth. It says
 * what to read again.
 */
import type { Mode } from "../Call.ts"

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
   * Checks a request with the secrets of the adapter, and says what to read again. It is pure, and never throws whatever
   * the request holds. `now` is in epoch milliseconds.
   *
   * While a secret is replaced, both the old and the new one are right. A signature that is more than 300 seconds away from
   * now is wrong, in both directions.
   */
  receive(request: NoticeRequest, now: number): Received
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
