/**
 * A coupon that a customer has redeemed: what it takes off in each period, and what is left of it.
 */
import { type Problem, Problems } from "../catalog/Problem.ts"
import * as Currency from "../money/Currency.ts"
import * as Exact from "../money/Exact.ts"
import type { Coupon } from "./Coupon.ts"
import { InvoiceError, refuse } from "./InvoiceError.ts"

/** The state of a redeemed coupon. */
export interface Redemption {
  readonly id: string
  readonly coupon: Coupon
  /** The currency of the invoices that it applies to. */
  readonly currency: string
  /** How many periods it was used in. A period in which it took nothing off does not count. */
  readonly periods: number
  /** The last period that it was used in: a word of the caller's. `null` before the first. */
  readonly period: string | null
  /** What that period left of a fixed amount, in the minor unit. 0 for a percentage. */
  readonly left: bigint
}

/** What a coupon may take off an invoice. */
export type Allowance =
  | { readonly type: "percent"; readonly percent: string }
  | { readonly type: "fixed"; readonly amount: bigint }

/** What decides whether a coupon can be redeemed. */
export interface RedemptionContext {
  readonly at: number
  readonly currency: string
  /** How often it was redeemed before, by all customers and by this one. */
  readonly redemptions: number
  readonly redemptionsOfCustomer: number
}

/** Why a coupon can't be redeemed now: all reasons. Empty when it can. */
export const problemsOfRedemption = (
  coupon: Coupon,
  { at: instant, currency, redemptions, redemptionsOfCustomer }: RedemptionContext,
): ReadonlyArray<Problem> => {
  const at = new Problems("coupon")
  const { amount, maxRedemptions, maxRedemptionsPerCustomer, redeemBefore, redeemFrom } = coupon
  if (amount !== undefined && !Object.hasOwn(amount, currency)) at.add(`has no amount in ${currency}`)
  if (redeemFrom !== undefined && instant < redeemFrom) at.add("cannot be redeemed yet")
  if (redeemBefore !== undefined && instant >= redeemBefore) at.add("can no longer be redeemed")
  if (maxRedemptions !== undefined && redemptions >= maxRedemptions) {
    at.add(`was redeemed ${maxRedemptions} times, which is its limit`)
  }
  if (maxRedemptionsPerCustomer !== undefined && redemptionsOfCustomer >= maxRedemptionsPerCustomer) {
    at.add(`was redeemed ${maxRedemptionsPerCustomer} times by this customer, which is its limit`)
  }
  return at.found
}

/** Redeems a coupon. Throws an {@link InvoiceError} with the reasons of {@link problemsOfRedemption}. */
export const redeem = (id: string, coupon: Coupon, context: RedemptionContext): Redemption => {
  refuse(problemsOfRedemption(coupon, context))
  return { id, coupon, currency: context.currency, periods: 0, period: null, left: 0n }
}

const mostPeriods = ({ duration, periods }: Coupon): number =>
  duration === "once" ? 1 : duration === "forever" ? Number.POSITIVE_INFINITY : (periods ?? 0)

/** The fixed amount for each period, in the minor unit. */
const amountEach = ({ coupon, currency }: Redemption): bigint =>
  Exact.roundTo(Exact.ofDecimal(coupon.amount?.[currency] ?? "0"), Currency.exponentOf(currency) ?? 0)

/**
 * What a coupon may take off an invoice of a period. `undefined` when it has ended. A second invoice of a period gets
 * what the first left of a fixed amount, and the percentage again. A later period gets the amount anew, and with `carry`
 * also what was left. After the last period, `carry` keeps what is left until it is used up.
 */
export const allowanceOf = (redemption: Redemption, period: string): Allowance | undefined => {
  const { coupon, left } = redemption
  const isSame = period === redemption.period
  const isOver = !isSame && redemption.periods >= mostPeriods(coupon)
  if (coupon.percent !== undefined) return isOver ? undefined : { type: "percent", percent: coupon.percent }
  const carried = isSame || coupon.carry === true ? left : 0n
  const amount = isSame || isOver ? carried : carried + amountEach(redemption)
  return amount > 0n ? { type: "fixed", amount } : undefined
}

/** The redemption after it took an amount off an invoice of a period. Taking nothing leaves it as it is. */
export const afterUse = (redemption: Redemption, period: string, taken: bigint): Redemption => {
  if (taken === 0n) return redemption
  const allowance = allowanceOf(redemption, period)
  const most = allowance?.type === "fixed" ? allowance.amount : undefined
  if (allowance === undefined || taken < 0n || (most !== undefined && taken > most)) {
    throw new InvoiceError([
      { path: "taken", problem: `must be from 0 to ${most ?? 0n}: the coupon allows no more in this period` },
    ])
  }
  return {
    ...redemption,
    period,
    periods: redemption.periods + (period === redemption.period ? 0 : 1),
    left: most === undefined ? 0n : most - taken,
  }
}

/** Whether nothing more can come of it: no period is left, and nothing was carried over. */
export const isUsedUp = (redemption: Redemption): boolean =>
  redemption.periods >= mostPeriods(redemption.coupon) &&
  (redemption.coupon.carry !== true || redemption.left === 0n)
