/**
 * What a payment provider does about money that goes back: refunds, and disputes.
 */
import type { Effect } from "effect"
import type { ProviderFailure } from "./ProviderFailure.ts"

/** A refund to make. `amount` is an integer of the currency's minor unit. */
export interface RefundPayment {
  /** The key of the call: however often it is sent, it is one refund. */
  readonly refundId: string
  /** How the provider names the payment. */
  readonly paymentReference: string
  readonly amount: bigint
  readonly currency: string
}

/** Which refund to read: by the provider's name of it; or by ours, while an answer that named it is lost. */
export type RefundQuery =
  | { readonly reference: string }
  | { readonly paymentReference: string; readonly refundId: string }

/** A refund, as the provider states it. Amounts are integers of the currency's minor unit. */
export interface ProviderRefund {
  /** How the provider names it. `null` for one that it refused to make. */
  readonly reference: string | null
  readonly paymentReference: string
  /** The id that `refund` was called with. `null` for one that somebody made at the provider. */
  readonly refundId: string | null
  readonly amount: bigint
  readonly currency: string
  /** `pending`: a bank works on it. `failed`: no money went, or it came back. That can also follow `succeeded`. */
  readonly status: "pending" | "succeeded" | "failed"
  /** Why it failed, such as `amount_too_large`. `null` unless it has. */
  readonly code: string | null
}

/** A dispute, as the provider states it: the customer's bank takes the money back, or asks about it. */
export interface ProviderDispute {
  readonly reference: string
  readonly paymentReference: string
  /** What is disputed, as an integer of the currency's minor unit. */
  readonly amount: bigint
  readonly currency: string
  /** `lost`: the customer has the money back for good. `won`: it stays, or was only asked about. */
  readonly status: "open" | "won" | "lost"
  /** The provider's word for it, such as `fraudulent`. */
  readonly reason: string
  /** Until when evidence is taken, in epoch milliseconds. `null` if there is no such instant. */
  readonly respondBy: number | null
}

/** Gives money back. */
export interface RefundingProvider {
  /**
   * Gives back a part of a payment that has succeeded, or all of it. Refunds of a payment with different ids add up, also
   * when their amounts are the same. Never more than was taken: what is too large is `failed`, as `amount_too_large`.
   */
  readonly refund: (refund: RefundPayment) => Effect.Effect<ProviderRefund, ProviderFailure>

  /** How a refund stands now. `null`: there is none. A refund whose answer was given or lost is seen, for ever. */
  readonly readRefund: (query: RefundQuery) => Effect.Effect<ProviderRefund | null, ProviderFailure>

  /** How a dispute stands now. `null`: there is none. */
  readonly readDispute: (reference: string) => Effect.Effect<ProviderDispute | null, ProviderFailure>
}
