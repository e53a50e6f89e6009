/**
 * Answers about features, from what the subscriptions of a customer include of them.
 */
import { decideEntitlement, isAllowed, limitOf } from "@billwright/engine"
import type { CustomerId } from "../customers/Customer.ts"
import { ofMillis, text } from "../shared/Instant.ts"
import * as Dimensions from "../usage/Dimensions.ts"
import type { UsageRecordId } from "../usage/UsageRecord.ts"
import type {
  ConsumeEntitlement,
  Entitlement,
  EntitlementConsumption,
  StoredEntitlementConsumption,
} from "./Entitlement.ts"
import type { LimitReachedData } from "./EntitlementEvents.ts"
import { type Entitling, type Metered, type Source, whyNothing } from "./FeatureSources.ts"

/** Whose feature is asked for. */
export interface Asked {
  readonly customerId: CustomerId
  readonly feature: string
}

/** What is asked for of a metered feature, and the source that decides. */
export interface Taking {
  readonly source: Source
  readonly metered: Metered
}

type Counted = Pick<EntitlementConsumption, "limit" | "used" | "balance" | "overage">

/** What is left of a limit. */
const countedOf = (limit: bigint, used: bigint): Counted => ({
  limit,
  used,
  balance: used < limit ? limit - used : 0n,
  overage: used > limit ? used - limit : 0n,
})

const NOT_METERED = {
  meter: null,
  limitType: null,
  limit: null,
  rolledOver: null,
  used: null,
  balance: null,
  overage: null,
  periodStart: null,
  resetsAt: null,
} as const

const meteredFields = ({ feature, metered, rolledOver, time: { end, start }, used }: Source) =>
  metered === null
    ? NOT_METERED
    : {
        meter: metered.feature.meter,
        limitType: metered.feature.limit,
        ...countedOf(limitOf(feature, rolledOver) ?? 0n, used),
        rolledOver,
        periodStart: ofMillis(start),
        resetsAt: ofMillis(end),
      }

/** The answer for a feature of which `quantity` more is asked for, of what subscriptions give, and the source that decides. */
export const answerOf = (
  { customerId, feature }: Asked,
  all: ReadonlyArray<Entitling>,
  sources: ReadonlyArray<Source>,
  quantity: number,
): { readonly answer: Entitlement; readonly source: Source | undefined } => {
  const decision = decideEntitlement(sources, BigInt(quantity))
  const source = decision.source === null ? undefined : sources[decision.source]
  const answer = {
    customerId,
    feature,
    type: source?.feature.type ?? null,
    allowed: isAllowed(decision.reason),
    reason: source === undefined ? whyNothing(all, feature) : decision.reason,
    value: decision.value,
    subscriptionId: source?.subscriptionId ?? null,
    ...(source === undefined ? NOT_METERED : meteredFields(source)),
  }
  return { answer, source }
}

type Consumed = Omit<StoredEntitlementConsumption, "idempotencyKey">

/** What is kept of a consumption. `source` is as it is after it. */
export const consumedOf = (
  { customerId, dimensions, feature, quantity }: ConsumeEntitlement & { readonly quantity: number },
  { metered, source: { feature: included, rolledOver, subscriptionId, time, used } }: Taking,
  usageRecordId: UsageRecordId,
  reason: StoredEntitlementConsumption["reason"],
  createdAt: number,
): Consumed => ({
  customerId,
  feature,
  quantity,
  dimensions: Dimensions.orNone(dimensions),
  usageRecordId,
  subscriptionId,
  meter: metered.feature.meter,
  reason,
  limitType: metered.feature.limit,
  limit: limitOf(included, rolledOver) ?? 0n,
  used,
  periodStart: time.start,
  resetsAt: time.end,
  createdAt,
})

/** The answer of a consumption. */
export const answerOfConsumed = (
  consumed: Consumed,
  idempotencyKey: string | null,
): EntitlementConsumption => {
  const { createdAt: _, dimensions: __, limit, periodStart, resetsAt, used, ...same } = consumed
  return {
    ...same,
    type: "metered",
    allowed: true,
    value: null,
    ...countedOf(limit, used),
    periodStart: ofMillis(periodStart),
    resetsAt: ofMillis(resetsAt),
    idempotencyKey,
  }
}

/** Whether a consumption is what is asked for again. */
export const isSameConsumption = (
  { dimensions, feature, quantity }: StoredEntitlementConsumption,
  asked: ConsumeEntitlement & { readonly quantity: number },
): boolean =>
  feature === asked.feature &&
  quantity === asked.quantity &&
  Dimensions.isSame(dimensions, Dimensions.orNone(asked.dimensions))

/** The data of the event that a limit was reached. */
export const limitReachedData = (
  { customerId, feature }: Asked,
  { metered, source: { subscriptionId, time, used } }: Taking,
  limit: bigint,
): LimitReachedData => ({
  customer_id: customerId,
  subscription_id: subscriptionId,
  feature,
  meter: metered.feature.meter,
  limit_type: metered.feature.limit,
  limit,
  used,
  period_start: text(time.start),
  resets_at: text(time.end),
})
