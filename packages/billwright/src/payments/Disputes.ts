/**
 * Disputes: the bank of a customer takes money of a payment back, or asks about it.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** `open` until it is decided. `won`: you keep the money. `lost`: the customer has it. */
export type DisputeStatus = "open" | "won" | "lost"

/** A dispute of a payment. You answer it at the provider. Amounts are integers of the currency's minor unit. */
export interface Dispute {
  /** `dis_…` */
  readonly id: string
  readonly customerId: string
  /** The invoice of the payment. */
  readonly invoiceId: string
  readonly paymentId: string
  /** What is disputed. */
  readonly amount: bigint
  /** The part that the invoice is not paid with any more. 0 unless the dispute is lost. */
  readonly reversed: bigint
  readonly currency: string
  /** The provider's word for it, such as `fraudulent`. */
  readonly reason: string
  readonly status: DisputeStatus
  readonly provider: string
  /** How the provider names it. */
  readonly reference: string
  /** Until when the provider takes evidence. */
  readonly respondBy: Date | null
  /** When it was known that it is decided. */
  readonly closedAt: Date | null
  /** Rises with each change. The dispute's events have the same number. */
  readonly sequence: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Selects disputes, newest first. */
export interface ListDisputes extends PageQuery {
  readonly customerId?: string | undefined
  readonly invoiceId?: string | undefined
  readonly paymentId?: string | undefined
  readonly status?: DisputeStatus | undefined
}

/** Errors: `InvalidInputError`, `DisputeNotFoundError`. */
export interface Disputes {
  get(id: string, options?: CallOptions): Promise<Dispute>
  list(query?: ListDisputes, options?: CallOptions): Listing<Dispute>
}
