/**
 * Coupons: a percentage or a fixed amount off the invoices of a subscription. Their rules are those of
 * `@billwright/engine`.
 */
import type { Coupon as EngineCoupon } from "@billwright/engine"
import { type DateTime, Schema } from "effect"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as Text from "../shared/Text.ts"

/** The prefix of the ids of coupons. */
export const COUPON_ID_PREFIX = "cpn"
/** The most redemptions of one coupon by one customer. */
export const MAX_REDEMPTIONS_OF_CUSTOMER = 100
const MAX_REDEMPTIONS = 1_000_000_000
const MAX_PERIODS = 1_200
const MAX_NAME_LENGTH = 200
const MAX_CODE_LENGTH = 40
const MAX_CURRENCIES = 100
const MAX_KEYS = 100

export const CouponId = Id.schema(COUPON_ID_PREFIX).pipe(Schema.brand("CouponId"))
export type CouponId = typeof CouponId.Type

const matching = (pattern: RegExp, message: string, maxLength: number) =>
  Schema.String.annotate({ message }).check(
    Schema.isPattern(pattern, { message, toJsonSchema: () => ({ pattern: pattern.source, maxLength }) }),
  )

const integerTo = (minimum: number, maximum: number) => {
  const message = { message: `must be an integer from ${minimum} to ${maximum}` }
  return Schema.Int.annotate(message).check(Schema.isBetween({ minimum, maximum }, message))
}

const Code = matching(
  /^[A-Z0-9][A-Z0-9_-]{2,39}$/,
  "must be 3 to 40 upper-case letters, digits, hyphens and underscores",
  MAX_CODE_LENGTH,
)
const Percent = matching(/^\d{1,3}(?:\.\d{1,12})?$/, 'must be a percentage in a string, such as "20"', 16)
const CurrencyCode = matching(/^[A-Z]{3}$/, 'must be a code of ISO 4217, such as "EUR"', 3)
const currenciesMessage = { message: `must have at most ${MAX_CURRENCIES} currencies` }
const Amount = matching(/^\d{1,18}(?:\.\d{1,12})?$/, 'must be an amount in a string, such as "5.00"', 31)
const Amounts = Schema.Record(CurrencyCode, Amount).check(
  Schema.isMaxProperties(MAX_CURRENCIES, currenciesMessage),
)
const keysMessage = { message: `must be a list of 1 to ${MAX_KEYS} keys` }
const Keys = Schema.Array(Text.bounded(1, 64)).check(Schema.isBetweenLength(1, MAX_KEYS, keysMessage))

const given = {
  name: Field.text(Text.bounded(1, MAX_NAME_LENGTH), "What invoices call the discount."),
  percent: Field.textOrNull(
    Percent,
    "The percentage: above 0, at most 100. A coupon has either this or `amount`.",
  ),
  amount: Field.jsonOrNull(
    Amounts,
    'A fixed amount for each period, by currency, in units of the currency: `{"EUR": "5.00"}`.',
  ),
  duration: Field.text(
    Schema.Literals(["once", "periods", "forever"]),
    "How long it applies after it was redeemed: to one period, to `periods` of them, or to all. A period in which it takes nothing off does not count.",
  ),
  periods: Field.jsonOrNull(
    integerTo(1, MAX_PERIODS),
    "How many periods, with the duration `periods`: 1 to 1200.",
  ),
  plans: Field.jsonOrNull(
    Keys,
    "The keys of the plans whose lines it covers. `null`: all. With `charges`, too, a line must match both.",
  ),
  charges: Field.jsonOrNull(Keys, "The keys of the charges whose lines it covers. `null`: all."),
  carry: Field.json(
    Schema.Boolean,
    "Keeps what a period leaves of a fixed amount for later invoices. Without it, that lapses.",
  ),
  maxRedemptions: Field.jsonOrNull(
    integerTo(1, MAX_REDEMPTIONS),
    "How often it can be redeemed, by all customers together. `null`: without a limit.",
  ),
  maxRedemptionsPerCustomer: Field.jsonOrNull(
    integerTo(1, MAX_REDEMPTIONS_OF_CUSTOMER),
    "How often one customer can redeem it: 1 to 100. `null`: 100 times.",
  ),
  redeemFrom: Field.instantOrNull("The instant from which it can be redeemed. `null`: from the beginning."),
  redeemBefore: Field.instantOrNull(
    "The instant from which it can no longer be redeemed. `null`: without an end.",
  ),
}

/** The Schemas of the terms that a redemption keeps. */
export const TermFields = {
  name: given.name.schema,
  percent: Percent,
  amount: Amounts,
  duration: given.duration.schema,
  periods: integerTo(1, MAX_PERIODS),
  keys: Keys,
}

/** The definition of the resource; see `Resource`. */
export const coupons = Resource.make({
  type: "Coupon",
  noun: "coupon",
  title: "Coupons",
  description:
    "A percentage or a fixed amount off the invoices of those who redeem it. Its terms never change: those who redeemed it keep what they were promised.",
  about: "Discounts that subscriptions redeem.",
  path: "/coupons",
  scope: "catalog",
  id: CouponId,
  prefix: COUPON_ID_PREFIX,
  fields: {
    code: Field.text(Text.bounded(1, MAX_CODE_LENGTH), "What customers type to redeem it."),
    ...given,
    timesRedeemed: Field.json(integerTo(0, MAX_REDEMPTIONS), "How often it was redeemed."),
    archivedAt: Field.instantOrNull("When the coupon was archived. It can't be redeemed any more."),
  },
  times: { createdAt: Field.instant("When the coupon was created.") },
  create: {
    code: Field.text(
      Code,
      "What customers type to redeem it: 3 to 40 upper-case letters, digits, hyphens and underscores. No other coupon ever has it, even when this one is archived.",
    ),
    name: given.name,
    percent: Field.optional(given.percent),
    amount: Field.optional(given.amount),
    duration: given.duration,
    periods: Field.optional(given.periods),
    plans: Field.optional(given.plans),
    charges: Field.optional(given.charges),
    carry: Field.optional(given.carry),
    maxRedemptions: Field.optional(given.maxRedemptions),
    maxRedemptionsPerCustomer: Field.optional(given.maxRedemptionsPerCustomer),
    redeemFrom: Field.optional(given.redeemFrom),
    redeemBefore: Field.optional(given.redeemBefore),
  },
  filters: { code: Field.optional(Field.text(Code, "Only the coupon with this code.")) },
  indexed: ["code"],
  unique: ["code"],
  operations: {
    create: "Creates a coupon. It has either a percentage or amounts.",
    remove: {
      verb: "Archive",
      past: "archived",
      description:
        "It can't be redeemed any more, and its code can't be used again. Subscriptions that redeemed it keep it. Archiving again changes nothing.",
    },
  },
  example: {
    id: "cpn_01kb2r9d3vffx9qd6k4v2n1h7c",
    code: "WELCOME20",
    name: "Welcome",
    percent: "20",
    amount: null,
    duration: "periods",
    periods: 3,
    plans: ["pro"],
    charges: null,
    carry: false,
    max_redemptions: 1000,
    max_redemptions_per_customer: 1,
    redeem_from: null,
    redeem_before: "2027-01-01T00:00:00.000Z",
    times_redeemed: 41,
    archived_at: null,
    created_at: "2026-11-21T09:32:00.000Z",
  },
})

/** A coupon. */
export const Coupon = coupons.Value
export interface Coupon extends Schema.Schema.Type<typeof Coupon> {}

/** The input of `Coupons.create`. Defaults: all lines, no limits, what is left of an amount lapses. */
export const CreateCoupon = coupons.Create
export interface CreateCoupon extends Schema.Schema.Type<typeof CreateCoupon> {}

/** Which coupons to list. */
export const ListCoupons = coupons.List
export interface ListCoupons extends Schema.Schema.Type<typeof ListCoupons> {}

/** The tenant has no coupon with this id or code. */
export const CouponNotFound = coupons.NotFound
export type CouponNotFound = InstanceType<typeof CouponNotFound>

/** The fields that are not `null`. */
const withoutNulls = <A extends object>(fields: A) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [Name in keyof A]?: Exclude<A[Name], null>
  }

const millisOf = (instant: DateTime.Utc | null): number | null => instant?.epochMilliseconds ?? null

/** The terms of a coupon, as the engine has them. Its key is the id. */
export const termsOf = (coupon: Coupon): EngineCoupon => {
  const { amount, carry, charges, code, duration, id, maxRedemptions, name, percent, periods, plans } = coupon
  const { maxRedemptionsPerCustomer } = coupon
  const [redeemBefore, redeemFrom] = [millisOf(coupon.redeemBefore), millisOf(coupon.redeemFrom)]
  const limits = { maxRedemptions, maxRedemptionsPerCustomer, redeemBefore, redeemFrom }
  return {
    key: id,
    name,
    code,
    duration,
    carry,
    ...withoutNulls({ amount, percent, periods, ...limits }),
    ...(plans === null && charges === null ? {} : { scope: withoutNulls({ plans, charges }) }),
  }
}
