import type { Prices } from "../catalog/Charge.ts"
/**
 * Coupons: a percentage or a fixed amount off an invoice, or off some of its lines.
 */
import {
  checkKey,
  checkKnown,
  checkText,
  type Fields,
  integerIn,
  isFields,
  oneOf,
  positiveOf,
} from "../catalog/FieldRules.ts"
import { type Problem, Problems } from "../catalog/Problem.ts"
import * as Currency from "../money/Currency.ts"
import * as Exact from "../money/Exact.ts"
import type { Scope } from "./Line.ts"

/** How long a redeemed coupon applies: to one period, to `periods` of them, or to all. */
export type CouponDuration = "once" | "periods" | "forever"

/** The terms of a coupon. They never change: those who redeemed it keep what they were promised. */
export interface Coupon {
  /** Identifies the coupon: a lower-case letter, then lower-case letters, digits or underscores. At most 64 characters. */
  readonly key: string
  /** What the invoice says. 1 to 200 characters. */
  readonly name: string
  /** What customers type to redeem it: 3 to 40 upper-case letters, digits, `-` and `_`. */
  readonly code?: string
  /** A percentage above 0 and at most 100, such as `"20"`. A coupon has either this or `amount`. */
  readonly percent?: string
  /** A fixed amount for each period, by currency, in the currency's unit: `{"EUR": "5.00"}`. */
  readonly amount?: Prices
  readonly duration: CouponDuration
  /** How many periods, with the duration `periods`. */
  readonly periods?: number
  /** Which lines it covers. Default: the whole invoice. */
  readonly scope?: Scope
  /** Keeps what a period leaves of a fixed amount for later invoices. Without it, that lapses. */
  readonly carry?: boolean
  /** How often it can be redeemed, by all customers together and by one. Default: no limit. */
  readonly maxRedemptions?: number
  readonly maxRedemptionsPerCustomer?: number
  /** When it can be redeemed: from an instant, and before another. */
  readonly redeemFrom?: number
  readonly redeemBefore?: number
}

const COUPON_FIELDS = [
  "key",
  "name",
  "code",
  "percent",
  "amount",
  "duration",
  "periods",
  "scope",
  "carry",
  "maxRedemptions",
  "maxRedemptionsPerCustomer",
  "redeemFrom",
  "redeemBefore",
]

/** Longest name, in characters. */
const MAX_COUPON_NAME_LENGTH = 200
/** Most periods of a coupon: a hundred years of months. */
const MAX_COUPON_PERIODS = 1_200
/** Most plans and charges in a scope. */
const MAX_SCOPE_KEYS = 100
/** Largest limit on redemptions. */
const MAX_REDEMPTIONS = 1_000_000_000
/** The last instant of the year 9999. */
const MAX_INSTANT = 253_402_300_799_999
const CODE_PATTERN = /^[A-Z0-9][A-Z0-9_-]{2,39}$/
const DURATIONS: ReadonlyArray<CouponDuration> = ["once", "periods", "forever"]

const checkPercent = (at: Problems, percent: unknown): void => {
  const value = positiveOf(at, percent)
  if (value !== undefined && Exact.compare(value, Exact.ofInteger(100n)) > 0) at.add("must be at most 100")
}

const checkAmounts = (at: Problems, amounts: unknown): void => {
  if (!isFields(amounts) || Object.keys(amounts).length === 0) {
    at.add(`must give an amount for at least one currency, such as {"EUR": "5.00"}`)
    return
  }
  for (const [currency, amount] of Object.entries(amounts)) {
    const here = at.in(currency)
    const digits = Currency.exponentOf(currency)
    if (digits === undefined) {
      here.add(`must be for a code of ISO 4217, such as "EUR"`)
      continue
    }
    const value = positiveOf(here, amount)
    if (
      value !== undefined &&
      Exact.compare(Exact.ofUnits(Exact.roundTo(value, digits), digits), value) !== 0
    ) {
      here.add(`must have at most ${digits} digits after the point`)
    }
  }
}

const checkKeys = (at: Problems, keys: unknown): void => {
  if (keys === undefined) return
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_SCOPE_KEYS) {
    at.add(`must be a list of 1 to ${MAX_SCOPE_KEYS} keys`)
    return
  }
  for (const [index, key] of (keys as ReadonlyArray<unknown>).entries()) {
    checkKey(at.in(index), key)
    if (keys.indexOf(key) < index) at.in(index).add(`is listed twice: ${JSON.stringify(key)}`)
  }
}

const checkScope = (at: Problems, scope: unknown): void => {
  if (scope === undefined) return
  if (!isFields(scope)) {
    at.add(`must be an object, such as {"plans": ["pro"]}`)
    return
  }
  checkKnown(at, scope, ["plans", "charges"])
  if (scope["plans"] === undefined && scope["charges"] === undefined) {
    at.add("must name plans or charges: leave it out for the whole invoice")
  }
  checkKeys(at.in("plans"), scope["plans"])
  checkKeys(at.in("charges"), scope["charges"])
}

/** Checks what is taken off: either a percentage or amounts. */
const checkValue = (at: Problems, { amount, carry, percent }: Fields): void => {
  if (percent === undefined && amount === undefined) {
    at.in("percent").add("is required (or amount): a coupon has one of them")
  } else if (percent !== undefined && amount !== undefined) {
    at.in("amount").add("must be left out: a coupon has either a percentage or an amount")
  }
  if (percent !== undefined) checkPercent(at.in("percent"), percent)
  if (amount !== undefined) checkAmounts(at.in("amount"), amount)
  if (carry === undefined) return
  if (typeof carry !== "boolean") at.in("carry").add("must be true or false")
  else if (carry && percent !== undefined)
    at.in("carry").add("needs an amount: a percentage leaves nothing over")
}

const checkDuration = (at: Problems, { duration, periods }: Fields): void => {
  if (!DURATIONS.some((one) => one === duration)) at.in("duration").add(oneOf(DURATIONS))
  if (duration === "periods") integerIn(at.in("periods"), periods, 1, MAX_COUPON_PERIODS)
  else if (periods !== undefined) at.in("periods").add("needs the duration periods")
}

const checkLimits = (at: Problems, coupon: Fields): void => {
  for (const field of ["maxRedemptions", "maxRedemptionsPerCustomer"]) {
    if (coupon[field] !== undefined) integerIn(at.in(field), coupon[field], 1, MAX_REDEMPTIONS)
  }
  for (const field of ["redeemFrom", "redeemBefore"]) {
    if (coupon[field] !== undefined) integerIn(at.in(field), coupon[field], 0, MAX_INSTANT)
  }
  const { redeemBefore, redeemFrom } = coupon
  if (typeof redeemFrom === "number" && typeof redeemBefore === "number" && redeemBefore <= redeemFrom) {
    at.in("redeemBefore").add("must be after redeemFrom")
  }
}

/** All problems of a coupon, each with its path: `amount.EUR must be greater than 0`. Empty when there are none. */
export const problemsOfCoupon = (coupon: unknown): ReadonlyArray<Problem> => {
  const at = new Problems()
  if (!isFields(coupon)) {
    at.in("coupon").add("must be an object")
    return at.found
  }
  checkKnown(at, coupon, COUPON_FIELDS)
  checkKey(at.in("key"), coupon["key"])
  checkText(at.in("name"), coupon["name"], MAX_COUPON_NAME_LENGTH)
  const code = coupon["code"]
  if (code !== undefined && (typeof code !== "string" || !CODE_PATTERN.test(code))) {
    at.in("code").add("must be 3 to 40 upper-case letters, digits, hyphens and underscores")
  }
  checkValue(at, coupon)
  checkDuration(at, coupon)
  checkScope(at.in("scope"), coupon["scope"])
  checkLimits(at, coupon)
  return at.found
}
