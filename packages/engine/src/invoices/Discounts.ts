/**
 * Takes coupons and credits off lines.
 */
import * as Allocate from "../money/Allocate.ts"
import { lesser, percentOf } from "./Amounts.ts"
import { type Cover, isCovered, isScoped, type LineInput, type Scope } from "./Line.ts"
import type { Allowance } from "./Redemption.ts"

/** A coupon to take off. Those on some lines come before those on the whole invoice. */
export interface CouponInput {
  /** The id of the redemption. */
  readonly id: string
  /** What the invoice says: the name of the coupon. */
  readonly name: string
  readonly scope?: Scope
  /** Covers only lines that bill this subscription: for an invoice of several. Default: all lines of the scope. */
  readonly subscriptionId?: string
  readonly allowance: Allowance
}

/** Credit to apply: promotional or paid. `available` is 0 or more, in the minor unit. */
export interface CreditInput {
  readonly id: string
  readonly available: bigint
  readonly scope?: Scope
}

/** The part of a discount that a line got. */
export interface DiscountPart {
  readonly lineId: string
  readonly amount: bigint
}

/** What a coupon or a promotional credit took off. */
export interface Discount {
  readonly type: "coupon" | "promotional_credit"
  /** The id of the redemption, or of the credit's grant. */
  readonly id: string
  readonly name: string | null
  readonly percent: string | null
  /** What the lines that it covers came to before. */
  readonly base: bigint
  /** Greater than 0. The sum of its parts. */
  readonly amount: bigint
  readonly parts: ReadonlyArray<DiscountPart>
}

/** Longest number of a line, in digits. It makes the order of keys that of the lines. */
const POSITION_DIGITS = 9

/**
 * What is left of each line. Lines below 0 are no base of a discount: a credit gives back what was paid after
 * discounts.
 */
export class Remaining {
  readonly #lines: ReadonlyArray<LineInput>
  readonly #left: Array<bigint>
  readonly #waiting: ReadonlySet<string>

  /** `waiting` are the ids of credits of which a part can wait for another invoice. */
  constructor(
    lines: ReadonlyArray<LineInput>,
    amounts: ReadonlyArray<bigint>,
    waiting: ReadonlySet<string> = new Set(),
  ) {
    this.#lines = lines
    this.#left = [...amounts]
    this.#waiting = waiting
  }

  /** What is left of all lines. */
  get total(): bigint {
    return this.#left.reduce((sum, amount) => sum + amount, 0n)
  }

  /** What is left of one line. */
  of(index: number): bigint {
    return this.#left[index] ?? 0n
  }

  /** What is left of the lines that are covered, as far as it can be discounted. */
  base(cover: Cover | undefined): bigint {
    return this.#weights(cover).reduce((sum, { weight }) => sum + weight, 0n)
  }

  /** The most that a means of payment can pay: neither the covered lines nor the sum of all lines get below 0. */
  payable(cover: Cover | undefined): bigint {
    return this.#most(cover, this.total)
  }

  /**
   * The most that a fixed amount can take off: neither the covered lines nor the sum of the lines get below 0. Credits that can
   * wait are left out of that sum. They lower what discounts leave, and what is left of them waits.
   */
  discountable(cover: Cover | undefined): bigint {
    const waiting = this.#lines.reduce(
      (sum, { id }, index) => (this.#waiting.has(id) && this.of(index) < 0n ? sum + this.of(index) : sum),
      0n,
    )
    return this.#most(cover, this.total - waiting)
  }

  #most(cover: Cover | undefined, total: bigint): bigint {
    return total > 0n ? lesser(this.base(cover), total) : 0n
  }

  /** Takes an amount off the covered lines, in proportion to what is left of each. Ties go to earlier lines. */
  take(amount: bigint, cover: Cover | undefined): ReadonlyArray<DiscountPart> {
    const parts = Allocate.allocate(amount, this.#weights(cover))
    return parts.flatMap((part, index) => {
      if (part === 0n) return []
      this.#left[index] = this.of(index) - part
      return [{ lineId: this.#lines[index]!.id, amount: part }]
    })
  }

  #weights(cover: Cover | undefined): ReadonlyArray<Allocate.Weight> {
    return this.#lines.map((line, index) => ({
      key: String(index).padStart(POSITION_DIGITS, "0"),
      weight: this.of(index) > 0n && isCovered(line, cover) ? this.of(index) : 0n,
    }))
  }
}

const coverOf = ({ scope, subscriptionId }: CouponInput): Cover | undefined =>
  subscriptionId === undefined ? scope : { ...scope, subscriptionId }

const couponDiscount = (coupon: CouponInput, remaining: Remaining): Discount => {
  const { allowance } = coupon
  const cover = coverOf(coupon)
  const base = remaining.base(cover)
  const amount =
    allowance.type === "percent"
      ? percentOf(base, allowance.percent)
      : lesser(allowance.amount, remaining.discountable(cover))
  return {
    type: "coupon",
    id: coupon.id,
    name: coupon.name,
    percent: allowance.type === "percent" ? allowance.percent : null,
    base,
    amount,
    parts: remaining.take(amount, cover),
  }
}

const creditDiscount = ({ available, id, scope }: CreditInput, remaining: Remaining): Discount => {
  const base = remaining.base(scope)
  const amount = lesser(available, remaining.discountable(scope))
  return {
    type: "promotional_credit",
    id,
    name: null,
    percent: null,
    base,
    amount,
    parts: remaining.take(amount, scope),
  }
}

/**
 * Takes coupons on some lines, then coupons on the invoice, then promotional credits off the lines, each off what the
 * ones before it left. The amount of each is rounded once, and spread over its lines by `allocate`. Those that take
 * nothing are left out.
 */
export const discount = (
  remaining: Remaining,
  coupons: ReadonlyArray<CouponInput>,
  promotional: ReadonlyArray<CreditInput>,
): ReadonlyArray<Discount> => {
  const ordered = [
    ...coupons.filter(({ scope }) => isScoped(scope)),
    ...coupons.filter(({ scope }) => !isScoped(scope)),
  ]
  return [
    ...ordered.map((coupon) => couponDiscount(coupon, remaining)),
    ...promotional.map((credit) => creditDiscount(credit, remaining)),
  ].filter(({ amount }) => amount > 0n)
}

/** Pays what is left with credits, in order. Those that pay nothing are left out. */
export const applyCredits = (
  remaining: Remaining,
  credits: ReadonlyArray<CreditInput>,
): ReadonlyArray<{ readonly id: string; readonly amount: bigint }> =>
  credits.flatMap(({ available, id, scope }) => {
    const amount = lesser(available, remaining.payable(scope))
    if (amount === 0n) return []
    remaining.take(amount, scope)
    return [{ id, amount }]
  })
