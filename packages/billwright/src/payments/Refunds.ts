/**
 * Refunds: money of payments that goes back to customers.
 */
import type { CallOptions } from "../Call.ts"
import type { CreditNoteReason } from "../invoices/CreditNotes.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/**
 * `pending`: it is on its way. `unresolved`: nobody knows what came of it, and the provider is asked again. `failed`:
 * nothing went back, or it came back. That can also follow `succeeded`, when the customer's bank sends the money back.
 */
export type RefundStatus = "pending" | "unresolved" | "succeeded" | "failed"

/** Money of a payment that goes back to the customer. Amounts are integers of the currency's minor unit. */
export interface Refund {
  /** `ref_…` */
  readonly id: string
  readonly customerId: string
  /** The invoice of the payment. */
  readonly invoiceId: string
  readonly paymentId: string
  /** The credit note that says why. Then the invoice stays paid. `null`: what goes back is due again. */
  readonly creditNoteId: string | null
  readonly amount: bigint
  /**
   * The part that the invoice is not paid with any more. 0 for a refund with a credit note, for one of the customer's
   * credit, and until the refund has succeeded.
   */
  readonly reversed: bigint
  readonly currency: string
  readonly reason: CreditNoteReason
  readonly status: RefundStatus
  /** Why it has failed: a code of the provider, `refused_by_provider`, `payment_disputed`, or `resolved_by_person`. */
  readonly failureCode: string | null
  /** Who gives the money back: the provider of the payment. `manual`: a person has. */
  readonly provider: string
  /** How the provider names it. */
  readonly reference: string | null
  /** When it was first sent to the provider. */
  readonly sentAt: Date | null
  /** When it was known that the money went back. */
  readonly succeededAt: Date | null
  /** Rises with each change. The refund's events have the same number. */
  readonly sequence: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A new refund. */
export interface CreateRefund {
  readonly paymentId: string
  /** From 1 to what can be refunded, which is the default. Beyond 2^53 − 1 a `bigint`. */
  readonly amount?: number | bigint | undefined
  readonly reason: CreditNoteReason
  /** A credit note of the same invoice, which refunds at least as much. Default: what goes back is due again. */
  readonly creditNoteId?: string | null | undefined
}

/** What came of a refund. */
export interface ResolveRefund {
  /** `succeeded`: the customer has the money. `failed`: nothing was given back. */
  readonly status: "succeeded" | "failed"
  /** How the provider names it, if a person has made it there: 1 to 255 characters. */
  readonly reference?: string | undefined
}

/** Selects refunds, newest first. */
export interface ListRefunds extends PageQuery {
  readonly customerId?: string | undefined
  readonly invoiceId?: string | undefined
  readonly paymentId?: string | undefined
  readonly status?: RefundStatus | undefined
}

/**
 * Errors: `InvalidInputError`, `PaymentNotFoundError`, `CreditNoteNotFoundError`, `RefundNotFoundError`,
 * `ActionUnavailableError` when nothing of the payment is left to refund or the refund does not allow it as it is,
 * `PaymentProviderUnavailableError` when the provider does not answer, and `InvoicingUnsupportedError`.
 */
export interface Refunds {
  /**
   * Gives money of a payment back: at most its amount, less refunds that have not failed, and less disputes that are open or
   * lost. The payment provider is called in the background: the refund is `pending` until it answers. Of a recorded
   * payment, this records that a person has given the money back.
   *
   * With a credit note, the invoice stays paid. Without one, what goes back is due again once it has gone. It is not
   * collected by itself.
   */
  create(input: CreateRefund, options?: CallOptions): Promise<Refund>
  /**
   * Reads a refund at the payment provider now, and stores what it states. One that was not sent yet, that the provider does
   * not know, or of a recorded payment is given as it is. Not in a transaction.
   */
  refresh(id: string, options?: CallOptions): Promise<Refund>
  /**
   * Says what came of a refund that is `pending` or `unresolved`, because a person has found out. One that was not sent yet
   * is not sent any more. Otherwise the provider is read first, and what it states counts instead; while it works on the
   * refund, this is refused. Repeating it changes nothing. One that was sent is not resolved in a transaction.
   *
   * A refund that is said to have `failed` has succeeded after all when the provider tells so later.
   */
  resolve(id: string, input: ResolveRefund, options?: CallOptions): Promise<Refund>
  get(id: string, options?: CallOptions): Promise<Refund>
  list(query?: ListRefunds, options?: CallOptions): Listing<Refund>
}
