/**
 * What customers may use: the features of the plans of their subscriptions. The rules are those of `@billwright/engine`.
 */
import {
  type EntitlementReason as DecisionReason,
  type Feature,
  FEATURE_LIMITS,
  PLAN_LIMITS,
} from "@billwright/engine"
import { type DateTime, Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import * as Dimensions from "../usage/Dimensions.ts"
import { MeterKey } from "../usage/MeterFields.ts"
import { MAX_QUANTITY, UsageKey, type UsageRecordId } from "../usage/UsageRecord.ts"

/** Most subscriptions of a customer whose features are looked at: the newest ones that have not ended. */
export const MAX_ENTITLING_SUBSCRIPTIONS = 100
/** Most entitlements of a customer. */
export const MAX_ENTITLEMENTS = PLAN_LIMITS.features * MAX_ENTITLING_SUBSCRIPTIONS
/** Longest value of a `config` feature, in characters. */
export const MAX_CONFIG_LENGTH = FEATURE_LIMITS.config

const REASONS = [
  "included",
  "overage",
  "limit_reached",
  "spend_limit",
  "not_included",
  "past_due",
  "no_subscription",
] as const
/**
 * `included`: a plan includes it. `overage`: it is beyond a soft limit. `limit_reached`: it would be beyond a hard limit.
 * `spend_limit`: it is beyond a soft limit, and a spend alert blocks. `not_included`: no plan of the customer has the
 * feature. `past_due`: one has, but a payment is late, and the plan's grace is over. `no_subscription`: the customer has no
 * subscription that is active or in a trial.
 */
export const EntitlementReason = Schema.Literals(REASONS)
export type EntitlementReason = DecisionReason | "past_due" | "no_subscription" | "spend_limit"

export const FeatureType = Schema.Literals(["boolean", "config", "metered"])
export const LimitType = Schema.Literals(["hard", "soft"])

const quantityMessage = { message: `must be an integer from 1 to ${MAX_QUANTITY}` }
/** How much of a feature is asked for. */
export const EntitlementQuantity = Schema.Int.annotate(quantityMessage).check(
  Schema.isBetween({ minimum: 1, maximum: MAX_QUANTITY }, quantityMessage),
)
/** The key of a feature in plans. It has the form of the key of a meter. */
export const FeatureKey = MeterKey

const featureFields = { customerId: CustomerId, feature: FeatureKey }

/** Oldest answer that `Entitlements.check` can be asked to accept, in milliseconds. */
export const MAX_STALENESS_MILLIS = 60_000
const stalenessMessage = { message: `must be an integer from 0 to ${MAX_STALENESS_MILLIS}` }
const StalenessMillis = Schema.Int.annotate(stalenessMessage).check(
  Schema.isBetween({ minimum: 0, maximum: MAX_STALENESS_MILLIS }, stalenessMessage),
)

/** The input of `Entitlements.check`. */
export const CheckEntitlement = Schema.Struct({
  ...featureFields,
  /** How much more of a metered feature is asked for. Default: 1. */
  quantity: Schema.optionalKey(EntitlementQuantity),
  /**
   * How old the answer may be, in milliseconds: 0 to 60,000. A process that has a younger one gives it, and asks no storage.
   * Default: 0, which always reads.
   */
  maxStalenessMillis: Schema.optionalKey(StalenessMillis),
})
export interface CheckEntitlement extends Schema.Schema.Type<typeof CheckEntitlement> {}

/** The input of `Entitlements.consume`. */
export const ConsumeEntitlement = Schema.Struct({
  ...featureFields,
  /** How much of the feature is used. Default: 1. */
  quantity: Schema.optionalKey(EntitlementQuantity),
  /** The dimensions of the usage record. */
  dimensions: Schema.optionalKey(Dimensions.Dimensions),
  /**
   * With a key, consuming the same again gives the first answer. It is the idempotency key of the usage record, too, so it
   * is unique for the customer, and for ever.
   */
  idempotencyKey: Schema.optionalKey(UsageKey),
})
export interface ConsumeEntitlement extends Schema.Schema.Type<typeof ConsumeEntitlement> {}

/** The input of `Entitlements.list`. */
export const ListEntitlements = Schema.Struct({ customerId: CustomerId })
export interface ListEntitlements extends Schema.Schema.Type<typeof ListEntitlements> {}

/** Whether a customer may use a feature, and what is left of it. */
export interface Entitlement {
  readonly customerId: CustomerId
  readonly feature: string
  /** `null` if no plan of the customer has the feature. */
  readonly type: Feature["type"] | null
  readonly allowed: boolean
  readonly reason: EntitlementReason
  /** The value of a `config` feature. Otherwise `null`. */
  readonly value: string | null
  /** The subscription that decides. `null` if there is none. */
  readonly subscriptionId: SubscriptionId | null
  /** All of these are `null` unless the feature is metered. */
  readonly meter: string | null
  readonly limitType: "hard" | "soft" | null
  /** What the period includes, with what rolled over, in whole units of the meter. */
  readonly limit: bigint | null
  /** How much of the limit rolled over from earlier periods. It is used first. */
  readonly rolledOver: bigint | null
  /** What was used of it in the period: the value of the meter, in whole units. */
  readonly used: bigint | null
  /** What is left: at least 0. */
  readonly balance: bigint | null
  /** What was used beyond the limit. */
  readonly overage: bigint | null
  /** Since when usage counts. */
  readonly periodStart: DateTime.Utc | null
  /** When the count begins again. */
  readonly resetsAt: DateTime.Utc | null
}

/** What came of `Entitlements.consume`. Its amounts are those after it. What rolled over is part of its limit. */
export interface EntitlementConsumption extends Omit<Entitlement, "rolledOver"> {
  readonly quantity: number
  /** The usage record that was made. `null` if it was not allowed. */
  readonly usageRecordId: UsageRecordId | null
  readonly idempotencyKey: string | null
}

/** A consumption with a key, as it is stored. It never changes. Instants are epoch milliseconds. */
export interface StoredEntitlementConsumption {
  readonly customerId: CustomerId
  readonly idempotencyKey: string
  readonly feature: string
  readonly quantity: number
  readonly dimensions: Dimensions.Dimensions
  readonly usageRecordId: UsageRecordId
  readonly subscriptionId: SubscriptionId
  readonly meter: string
  readonly reason: "included" | "overage"
  readonly limitType: "hard" | "soft"
  readonly limit: bigint
  /** After it. */
  readonly used: bigint
  readonly periodStart: number
  readonly resetsAt: number
  readonly createdAt: number
}

/** That a customer reached a limit, which is told once. */
export interface ReachedLimit {
  readonly customerId: CustomerId
  readonly feature: string
  readonly subscriptionId: SubscriptionId
  readonly periodStart: number
  readonly limit: bigint
  readonly reachedAt: number
}
