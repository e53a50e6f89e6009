/**
 * A redemption: a subscription has a coupon.
 */
import type { Coupon as EngineCoupon } from "@billwright/engine"
import { Schema } from "effect"
import { CUSTOMER_ID_PREFIX, CustomerId } from "../customers/Customer.ts"
import { COUPON_ID_PREFIX, CouponId, TermFields } from "../invoices/Coupon.ts"
import { SUBSCRIPTION_ID_PREFIX, SubscriptionId } from "../invoices/SubscriptionId.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as Text from "../shared/Text.ts"

/** The prefix of the ids of redemptions. Discounts of invoices have these ids. */
export const REDEMPTION_ID_PREFIX = "red"
/** The most coupons that a subscription has at one time. */
export const MAX_COUPONS_OF_SUBSCRIPTION = 20

export const RedemptionId = Id.schema(REDEMPTION_ID_PREFIX).pipe(Schema.brand("RedemptionId"))
export type RedemptionId = typeof RedemptionId.Type

const { amount, duration, keys, name, percent, periods } = TermFields

const keysOf = (description: string) => Schema.optionalKey(keys.annotate({ description }))

/** The terms of the coupon when it was redeemed. They stay, whatever happens to the coupon. */
export const RedeemedTerms = Schema.Struct({
  name: name.annotate({ description: "What invoices call the discount." }),
  percent: Schema.optionalKey(percent.annotate({ description: "The percentage." })),
  amount: Schema.optionalKey(
    amount.annotate({ description: "A fixed amount for each period, by currency." }),
  ),
  duration: duration.annotate({ description: "How long it applies." }),
  periods: Schema.optionalKey(periods.annotate({ description: "How many periods it applies to." })),
  scope: Schema.optionalKey(
    Schema.Struct({
      plans: keysOf("The keys of the plans whose lines it covers."),
      charges: keysOf("The keys of the charges whose lines it covers."),
    }).annotate({ description: "Which lines it covers. Without it: all." }),
  ),
  carry: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Whether what a period leaves is kept for later invoices." }),
  ),
})
export interface RedeemedTerms extends Schema.Schema.Type<typeof RedeemedTerms> {}

const fields = {
  coupon: Field.text(Text.bounded(1, 40), "The code of the coupon."),
  couponId: Field.id(CouponId, COUPON_ID_PREFIX, "The coupon."),
  customerId: Field.id(CustomerId, CUSTOMER_ID_PREFIX, "The customer of the subscription."),
  subscriptionId: Field.id(
    SubscriptionId,
    SUBSCRIPTION_ID_PREFIX,
    "The subscription whose invoices it lowers: those that are made from then on.",
  ),
  currency: Field.text(Text.bounded(1, 3), "The currency of the subscription."),
  terms: Field.json(RedeemedTerms, "The terms of the coupon when it was redeemed. They stay."),
}

/** The definition of the resource; see `Resource`. */
export const redemptions = Resource.make({
  type: "Redemption",
  noun: "redemption",
  title: "Redemptions",
  description: "A coupon that a subscription has.",
  about: "Coupons of subscriptions.",
  path: "/redemptions",
  scope: "subscriptions",
  id: RedemptionId,
  prefix: REDEMPTION_ID_PREFIX,
  customer: "customerId",
  fields: { ...fields, endedAt: Field.instantOrNull("When somebody took the coupon off the subscription.") },
  times: { createdAt: Field.instant("When the coupon was redeemed.") },
  create: {
    coupon: Field.saying(fields.coupon, "The code or the id of a coupon."),
    subscriptionId: fields.subscriptionId,
  },
  filters: {
    couponId: Field.optional(Field.saying(fields.couponId, "Only redemptions of this coupon.")),
    customerId: Field.optional(Field.saying(fields.customerId, "Only redemptions by this customer.")),
    subscriptionId: Field.optional(Field.saying(fields.subscriptionId, "Only coupons of this subscription.")),
  },
  indexed: ["couponId", "customerId", "subscriptionId"],
  operations: {
    create:
      "Redeems a coupon for a subscription. It lowers the invoices that are made from then on. A subscription has at most 20 coupons, and each at most once.",
    remove: {
      verb: "End",
      past: "ended",
      description:
        "The coupon lowers no invoice that is made from then on. The redemption still counts. Ending again changes nothing.",
    },
  },
  example: {
    id: "red_01kb2r9d3vffx9qd6k4v2n1h7c",
    coupon: "PARTNER10",
    coupon_id: "cpn_01kb2r9d3vffx9qd6k4v2n1h7c",
    customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
    subscription_id: "sub_01kb2r6ghefxhs59czp23x4vmk",
    currency: "EUR",
    terms: { name: "Partners", percent: "10", duration: "periods", periods: 3, scope: { plans: ["pro"] } },
    ended_at: null,
    created_at: "2026-11-21T09:32:00.000Z",
  },
})

/** A coupon of a subscription. */
export const Redemption = redemptions.Value
export interface Redemption extends Schema.Schema.Type<typeof Redemption> {}

export const CreateRedemption = redemptions.Create
export interface CreateRedemption extends Schema.Schema.Type<typeof CreateRedemption> {}

/** Which redemptions to list. */
export const ListRedemptions = redemptions.List
export interface ListRedemptions extends Schema.Schema.Type<typeof ListRedemptions> {}

/** The tenant has no redemption with this id. */
export const RedemptionNotFound = redemptions.NotFound
export type RedemptionNotFound = InstanceType<typeof RedemptionNotFound>

/** The terms that a redemption keeps of a coupon. */
export const redeemedTerms = ({
  amount,
  carry,
  duration,
  name,
  percent,
  periods,
  scope,
}: EngineCoupon): RedeemedTerms => ({
  name,
  duration,
  ...(percent === undefined ? {} : { percent }),
  ...(amount === undefined ? {} : { amount }),
  ...(periods === undefined ? {} : { periods }),
  ...(scope === undefined ? {} : { scope }),
  ...(carry === true ? { carry } : {}),
})
