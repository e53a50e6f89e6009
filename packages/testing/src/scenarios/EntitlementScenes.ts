/** What the contracts of entitlements do: customers with features, questions and uses. */
import {
  type CurrentTenant,
  type Customer,
  type Entitlement,
  Entitlements,
  EventStore,
  type Plan,
  Plans,
  type Subscription,
  Subscriptions,
  Usage,
  type UsageRecord,
} from "@billwright/core"
import { DateTime, Effect } from "effect"
import { firstPage } from "../contract/WebhookProbe.ts"
import { newCustomer } from "./Scenario.ts"

export type PlanDefinition = Plan.PushPlans["plans"][number]
export type Features = NonNullable<PlanDefinition["features"]>

/** How many call at the same time. */
export const CALLERS = 64

export const exportsOf = (included: string, limit: "hard" | "soft"): Features => ({
  exports: { type: "metered", meter: "calls", included, limit },
})

export const planOf = (
  key: string,
  features: Features,
  change: Partial<PlanDefinition> = {},
): PlanDefinition => ({
  key,
  name: key,
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [],
  features,
  ...change,
})

export const subscribe = (
  customerId: Customer.CustomerId,
  plan: string,
  fields: object = {},
): Effect.Effect<Subscription.Subscription, never, CurrentTenant | Subscriptions> =>
  Effect.flatMap(Subscriptions, ({ create }) => Effect.orDie(create({ customerId, plan, ...fields })))

/** A new customer with a subscription of a plan with these features. */
export const entitled = Effect.fnUntraced(function* (
  features: Features,
  change: Partial<PlanDefinition> = {},
) {
  yield* (yield* Plans).push({ plans: [planOf("exporter", features, change)] })
  const { id: customerId } = yield* newCustomer
  const { id } = yield* subscribe(customerId, "exporter")
  return { customerId, subscriptionId: id, feature: "exports" }
})

export type Asked = Pick<Entitlement.CheckEntitlement, "customerId" | "feature">

export const askedOf = ({ customerId, feature }: Asked): Asked => ({ customerId, feature })

export const checked = Effect.fnUntraced(function* (asked: Asked, quantity = 1) {
  const { allowed, balance, limit, overage, reason, resetsAt, used } = yield* (yield* Entitlements).check({
    ...askedOf(asked),
    quantity,
  })
  const day = resetsAt === null ? null : DateTime.formatIsoDateUtc(resetsAt)
  return [allowed, reason, limit, used, balance, overage, day]
})

export const consume = (
  asked: Asked,
  quantity = 1,
  fields: object = {},
): Effect.Effect<
  Entitlement.EntitlementConsumption,
  Effect.Error<ReturnType<Entitlements["Service"]["consume"]>>,
  CurrentTenant | Entitlements
> =>
  Effect.flatMap(Entitlements, (entitlements) =>
    entitlements.consume({ ...askedOf(asked), quantity, ...fields }),
  )

export const recordCall = (
  customerId: Customer.CustomerId,
  quantity: number,
): Effect.Effect<UsageRecord.UsageRecord, never, CurrentTenant | Usage> =>
  Effect.flatMap(Usage, ({ record }) =>
    Effect.orDie(record({ customerId, productId: "api", unit: "call", quantity })),
  ).pipe(Effect.map(({ record }) => record))

export const limitEvents = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
  const filter = {
    type: "entitlement.limit_reached",
    customerId,
    createdAfter: undefined,
    createdBefore: undefined,
    deliveryStatus: undefined,
  }
  const page = yield* Effect.orDie((yield* EventStore).list(filter, { ...firstPage, limit: 100 }))
  return page.data.map(({ payload }) => {
    const { feature, limit, limit_type, period_start, resets_at, used } = (
      JSON.parse(payload) as { readonly data: Record<string, unknown> }
    ).data
    return [feature, limit_type, limit, used, period_start, resets_at]
  })
})
