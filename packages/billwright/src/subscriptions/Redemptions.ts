/**
 * Redemptions: coupons that subscriptions have.
 */
import type { CallOptions } from "../Call.ts"
import type { CouponDuration } from "../invoices/Coupons.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** A coupon that a subscription has. Discounts of its invoices have the id of the redemption. */
export interface Redemption {
  /** `red_…` */
  readonly id: string
  /** The code of the coupon. */
  readonly coupon: string
  readonly couponId: string
  readonly customerId: string
  readonly subscriptionId: string
  /** The currency of the subscription. */
  readonly currency: string
  /** The terms of the coupon when it was redeemed. They stay, whatever happens to the coupon. */
  readonly terms: {
    readonly name: string
    readonly percent?: string
    readonly amount?: Readonly<Record<string, string>>
    readonly duration: CouponDuration
    readonly periods?: number
    readonly scope?: { readonly plans?: ReadonlyArray<string>; readonly charges?: ReadonlyArray<string> }
    readonly carry?: boolean
  }
  /** When somebody took the coupon off the subscription. */
  readonly endedAt: Date | null
  readonly createdAt: Date
}

/** Redeems a coupon for a subscription that has not ended. */
export interface CreateRedemption {
  /** The code or the id of a coupon. */
  readonly coupon: string
  readonly subscriptionId: string
}

/** Selects redemptions, newest first. */
export interface ListRedemptions extends PageQuery {
  readonly couponId?: string | undefined
  readonly customerId?: string | undefined
  readonly subscriptionId?: string | undefined
}

/**
 * Errors: `InvalidInputError` (on `coupon`, with all reasons why it can't be redeemed, or on `subscriptionId`, if that has
 * ended), `NotFoundError` (`coupon_not_found`, `subscription_not_found`, `redemption_not_found`).
 */
export interface Redemptions {
  /** The coupon lowers the invoices that are made from then on. */
  create(input: CreateRedemption, options?: CallOptions): Promise<Redemption>
  get(id: string, options?: CallOptions): Promise<Redemption>
  /** Takes the coupon off the subscription: it lowers no invoice that is made from now on. */
  end(id: string, options?: CallOptions): Promise<void>
  list(query?: ListRedemptions, options?: CallOptions): Listing<Redemption>
}
