/**
 * Coupons: a percentage or a fixed amount off the invoices of those who redeem it.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** How long a coupon applies after it was redeemed: to one period, to `periods` of them, or to all. */
export type CouponDuration = "once" | "periods" | "forever"

/** A coupon. Its terms never change: those who redeemed it keep what they were promised. */
export interface Coupon {
  /** `cpn_…` */
  readonly id: string
  /** What customers type to redeem it. */
  readonly code: string
  /** What invoices call the discount. */
  readonly name: string
  /** A percentage such as `"20"`. A coupon has either this or `amount`. */
  readonly percent: string | null
  /** A fixed amount for each period, by currency, in units of the currency: `{ EUR: "5.00" }`. */
  readonly amount: Readonly<Record<string, string>> | null
  readonly duration: CouponDuration
  readonly periods: number | null
  /** The keys of the plans whose lines it covers. `null`: all. With `charges`, too, a line must match both. */
  readonly plans: ReadonlyArray<string> | null
  /** The keys of the charges whose lines it covers. `null`: all. */
  readonly charges: ReadonlyArray<string> | null
  /** Whether what a period leaves of a fixed amount is kept for later invoices. Otherwise it lapses. */
  readonly carry: boolean
  readonly maxRedemptions: number | null
  /** `null`: 100. */
  readonly maxRedemptionsPerCustomer: number | null
  readonly redeemFrom: Date | null
  readonly redeemBefore: Date | null
  /** How often it was redeemed. */
  readonly timesRedeemed: number
  readonly archivedAt: Date | null
  readonly createdAt: Date
}

/** A new coupon, with either `percent` or `amount`. */
export interface CreateCoupon {
  /** 3 to 40 upper-case letters, digits, hyphens and underscores. No other coupon ever has it. */
  readonly code: string
  /** 1 to 200 characters. */
  readonly name: string
  /** Above 0, at most 100. */
  readonly percent?: string | null | undefined
  readonly amount?: Readonly<Record<string, string>> | null | undefined
  readonly duration: CouponDuration
  /** Required with the duration `periods`: 1 to 1,200. A period in which it takes nothing off does not count. */
  readonly periods?: number | null | undefined
  /** At most 100. */
  readonly plans?: ReadonlyArray<string> | null | undefined
  /** At most 100. */
  readonly charges?: ReadonlyArray<string> | null | undefined
  /** Default: false. Only with `amount`. */
  readonly carry?: boolean | undefined
  /** How often it can be redeemed, by all customers together. Default: no limit. */
  readonly maxRedemptions?: number | null | undefined
  /** 1 to 100. Default: 100. */
  readonly maxRedemptionsPerCustomer?: number | null | undefined
  /** The instant from which it can be redeemed. */
  readonly redeemFrom?: Date | null | undefined
  /** The instant from which it can no longer be redeemed. */
  readonly redeemBefore?: Date | null | undefined
}

/** Selects coupons, newest first. */
export interface ListCoupons extends PageQuery {
  readonly code?: string | undefined
}

/** Errors: `InvalidInputError`, `NotFoundError` (`coupon_not_found`). */
export interface Coupons {
  create(input: CreateCoupon, options?: CallOptions): Promise<Coupon>
  get(id: string, options?: CallOptions): Promise<Coupon>
  /** Nobody can redeem it any more. Subscriptions that redeemed it keep it. */
  archive(id: string, options?: CallOptions): Promise<void>
  list(query?: ListCoupons, options?: CallOptions): Listing<Coupon>
}
