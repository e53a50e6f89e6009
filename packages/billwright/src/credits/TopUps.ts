/**
 * Top-ups: credits that customers buy.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** `pending` until its invoice is paid, then `granted`. `canceled`: the invoice was voided or deleted. */
export type TopUpStatus = "pending" | "granted" | "canceled"

/** Credits that a customer buys: an invoice that gives paid credits when it is paid, once. */
export interface TopUp {
  /** `ctu_…` */
  readonly id: string
  readonly customerId: string
  /** An ISO 4217 currency code, or a unit of yours. */
  readonly unit: string
  /** The credits, in the smallest unit. */
  readonly amount: bigint
  /** The currency of the price. */
  readonly currency: string
  /** What they cost, in the minor unit of the currency, before taxes. */
  readonly price: bigint
  /** What the tax rate depends on. `null`: `standard`. Credits in a currency are not taxed when they are bought. */
  readonly taxCode: string | null
  readonly status: TopUpStatus
  readonly invoiceId: string
  /** The grant of the credits. `null`: they are not paid yet. */
  readonly grantId: string | null
  /** The automatic top-up that made it. `null`: a call did. */
  readonly autoTopUpId: string | null
  readonly createdAt: Date
}

/** A new top-up. */
export interface CreateTopUp {
  readonly customerId: string
  readonly unit: string
  /** From 1 to 10^30. Beyond 2^53 − 1 it must be a `bigint`. */
  readonly amount: number | bigint
  /** Required for a unit of yours. Default: the unit. */
  readonly currency?: string | undefined
  /** Required for a unit of yours, from 1 to 10^15. Default: the amount. */
  readonly price?: number | bigint | undefined
  readonly taxCode?: string | null | undefined
}

/** Selects top-ups, newest first. */
export interface ListTopUps extends PageQuery {
  readonly customerId?: string | undefined
  readonly invoiceId?: string | undefined
  readonly autoTopUpId?: string | undefined
}

/** Errors: `InvalidInputError`, `CustomerNotFoundError`, `TopUpNotFoundError` and `InvoicingUnsupportedError`. */
export interface TopUps {
  /** Makes the invoice of the price and issues it. In your own transaction, the next billing run issues it. */
  create(input: CreateTopUp, options?: CallOptions): Promise<TopUp>
  get(id: string, options?: CallOptions): Promise<TopUp>
  list(query?: ListTopUps, options?: CallOptions): Listing<TopUp>
}
