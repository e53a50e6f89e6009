/**
 * Payments: what customers paid of their invoices.
 */
import type { CallOptions, Instant } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"
import type { NoticeReceipt, NoticeRequest } from "./ProviderNotices.ts"

/**
 * `open`: it waits for its money. `succeeded`: it has it, and never changes again. `closed`: it is not waited for any
 * more.
 */
export type PaymentStatus = "open" | "succeeded" | "closed"

/** Why a person has to look at a payment. */
export interface PaymentAttention {
  /**
   * - `provider_refused`: the provider refused a call for good, such as for a wrong key. Surely nothing happened.
   * - `provider_unreachable`: no call got through, as often as it was tried. Surely nothing happened.
   * - `outcome_unknown`: nobody knows what came of the last attempt.
   * - `no_result`: the bank or the customer has done nothing for 30 days.
   * - `closed_at_provider`: somebody has closed it at the provider.
   * - `not_chargeable`: the provider takes no such amount, or not this currency. Nothing was sent.
   * - `not_closed`: its money is not wanted any more, and the provider does not close it.
   */
  readonly code:
    | "provider_refused"
    | "provider_unreachable"
    | "outcome_unknown"
    | "no_result"
    | "closed_at_provider"
    | "not_closed"
    | "not_chargeable"
  /** What happened, and what to do, for people. */
  readonly message: string
  readonly since: Date
}

/** A payment of an invoice. Amounts are integers of the currency's minor unit. */
export interface Payment {
  /** `pay_…` */
  readonly id: string
  readonly invoiceId: string
  readonly customerId: string
  readonly currency: string
  /** Who takes the money. `manual`: a person recorded what came. */
  readonly provider: string
  /** How the provider names the payment; for a manual one, how the bank does. */
  readonly reference: string | null
  readonly status: PaymentStatus
  /** Greater than 0. It is `applied` + `overpaid` once the payment has succeeded. */
  readonly amount: bigint
  /** The part that paid the invoice. */
  readonly applied: bigint
  /** The rest, which is more than was due: the customer's credit. */
  readonly overpaid: bigint
  /** When the money came. `null` until then. */
  readonly paidAt: Date | null
  /** Why a person has to look at it. `null` if nobody has to. */
  readonly attention: PaymentAttention | null
  /** Rises with each change. The payment's events have the same number. */
  readonly sequence: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Money that came without a provider, such as by bank transfer. */
export interface RecordPayment {
  readonly invoiceId: string
  /** What came: 1 to 10^30. Default: what is due. */
  readonly amount?: number | bigint | undefined
  /** When it came, not in the future. Default: now. */
  readonly paidAt?: Instant | undefined
  /** How the bank names it: 1 to 255 characters. With it, recording the payment again gives the first one. */
  readonly reference?: string | undefined
  /** Takes an amount above what is due. The rest is the customer's credit. Default: false. */
  readonly acceptOverpayment?: boolean | undefined
}

/** Selects payments, newest first. */
export interface ListPayments extends PageQuery {
  readonly customerId?: string | undefined
  readonly invoiceId?: string | undefined
  readonly status?: PaymentStatus | undefined
  /** The ISO 4217 code of a currency. */
  readonly currency?: string | undefined
  /**
   * `collected`: only payments that succeeded in the last 30 days. `attention`: only those that a person has to look at.
   */
  readonly figure?: "collected" | "attention" | undefined
}

/**
 * Errors: `InvalidInputError`, `InvoiceNotFoundError`, `PaymentNotFoundError`, `ActionUnavailableError` when the invoice
 * or the payment does not allow it, `PaymentProviderUnavailableError` when the provider does not answer, and
 * `InvoicingUnsupportedError` on a store without invoices.
 */
export interface Payments {
  /**
   * Records money that came for an open invoice, or for one that was written off. The invoice is `paid` once nothing of it
   * is due. An invoice takes at most 100 payments.
   *
   * Without a `reference`, a payment that is recorded twice counts twice.
   */
  record(input: RecordPayment, options?: CallOptions): Promise<Payment>
  /**
   * Receives a request that the payment provider has sent to a route of yours: the bytes of its body as they came, at most
   * 1 MiB, and its headers by lower-case name. Answer it with the `httpStatus`. What it tells is read again from the
   * provider, and stored before the promise resolves. Repeats change nothing. Not in a transaction.
   *
   * `POST /payment_providers/{name}/webhook` of the REST API does the same.
   */
  receive(request: NoticeRequest, options?: CallOptions): Promise<NoticeReceipt>
  /**
   * Closes an open payment at its provider, for good. Nothing is attempted for its invoice any more by itself: its
   * `collection` is `stopped` until `invoices.pay` is called. If the provider has taken the money before, the payment has
   * succeeded instead. Canceling it again changes nothing. Not in a transaction.
   */
  cancel(id: string, options?: CallOptions): Promise<Payment>
  get(id: string, options?: CallOptions): Promise<Payment>
  list(query?: ListPayments, options?: CallOptions): Listing<Payment>
}
