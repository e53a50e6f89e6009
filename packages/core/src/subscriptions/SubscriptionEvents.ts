/**
 * The events of subscriptions.
 */
import type { EventEffect, PendingChange, SubscriptionEventType } from "@billwright/engine"
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { subscriptionFields, WireInstant } from "../events/HostEvents.ts"
import { SubscriptionId } from "../invoices/SubscriptionId.ts"
import * as Instant from "../shared/Instant.ts"
import { Phase, type StoredSubscription } from "./Subscription.ts"

const PlanRef = Schema.Struct({ key: Schema.String, version: Schema.Int })
const Quantities = Schema.Record(Schema.String, Schema.String)

const Pending = Schema.Struct({
  plan: Schema.NullOr(PlanRef),
  quantities: Quantities,
  /** `period_end`, or an instant. */
  at: Schema.String,
})

/** A subscription as it was when the event was published. */
const SubscriptionSnapshot = Schema.Struct({
  id: SubscriptionId,
  customer_id: CustomerId,
  phase: Phase,
  plan: PlanRef,
  currency: Schema.String,
  quantities: Quantities,
  pending: Schema.NullOr(Pending),
  start_at: WireInstant,
  trial_end_at: Schema.NullOr(WireInstant),
  current_period_start: Schema.NullOr(WireInstant),
  current_period_end: Schema.NullOr(WireInstant),
  ends_at: Schema.NullOr(WireInstant),
  ended_at: Schema.NullOr(WireInstant),
  metadata: Schema.Record(Schema.String, Schema.String),
  /** Rises by one with each event of the subscription. A receiver drops an event whose number is not above the last one's. */
  sequence: Schema.Int,
})

/** The values before of what somebody changed. */
const Previous = Schema.Struct({
  plan: Schema.optionalKey(PlanRef),
  quantities: Schema.optionalKey(Quantities),
  pending: Schema.optionalKey(Schema.NullOr(Pending)),
  ends_at: Schema.optionalKey(Schema.NullOr(WireInstant)),
})

/** The library's own events have the subscription. A host's events about its own subscriptions don't. */
const Data = Schema.Struct({
  ...subscriptionFields,
  subscription: Schema.optionalKey(SubscriptionSnapshot),
  previous: Schema.optionalKey(Previous),
})

const pendingOf = (pending: PendingChange | null): typeof Pending.Encoded | null =>
  pending === null
    ? null
    : {
        plan: pending.plan,
        quantities: pending.quantities,
        at: typeof pending.at === "number" ? Instant.text(pending.at) : pending.at,
      }

const previousOf = ({
  endsAt,
  pending,
  plan,
  quantities,
}: EventEffect["previous"]): typeof Previous.Encoded => ({
  ...(plan === undefined ? {} : { plan }),
  ...(quantities === undefined ? {} : { quantities }),
  ...(pending === undefined ? {} : { pending: pendingOf(pending) }),
  ...(endsAt === undefined ? {} : { ends_at: Instant.textOrNull(endsAt) }),
})

/** The data of an event. `product_id` is the key of the plan. */
export const dataOf = (
  { customerId, id, metadata }: Pick<StoredSubscription, "id" | "customerId" | "metadata">,
  { previous, subscription: state, type }: EventEffect,
): typeof Data.Encoded => {
  const { period } = state
  return {
    subscription_id: id,
    customer_id: customerId,
    product_id: state.plan.key,
    ...(period === null
      ? {}
      : { current_period_start: Instant.text(period.start), current_period_end: Instant.text(period.end) }),
    subscription: {
      id,
      customer_id: customerId,
      phase: state.phase,
      plan: state.plan,
      currency: state.currency,
      quantities: state.quantities,
      pending: pendingOf(state.pending),
      start_at: Instant.text(state.startAt),
      trial_end_at: Instant.textOrNull(state.trialEndAt),
      current_period_start: Instant.textOrNull(period?.start ?? null),
      current_period_end: Instant.textOrNull(period?.end ?? null),
      ends_at: Instant.textOrNull(state.endsAt),
      ended_at: Instant.textOrNull(state.endedAt),
      metadata,
      sequence: state.sequence,
    },
    ...(type === "subscription.updated" ? { previous: previousOf(previous) } : {}),
  }
}

const example: typeof Data.Encoded = {
  subscription_id: "sub_5512",
  customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
  product_id: "api",
  current_period_start: "2026-11-01T00:00:00.000Z",
  current_period_end: "2026-12-01T00:00:00.000Z",
}

const typeOf = <const Name extends SubscriptionEventType>(name: Name, description: string) =>
  EventType.make({ name, description, data: Data, example })

/** The types of events of subscriptions. */
export const subscriptionEvents = {
  "subscription.created": typeOf("subscription.created", "A subscription was created; it is not active yet."),
  "subscription.activated": typeOf("subscription.activated", "A subscription became active."),
  "subscription.trial_ending": typeOf(
    "subscription.trial_ending",
    "The trial of a subscription ends in 3 days or less.",
  ),
  "subscription.renewed": typeOf("subscription.renewed", "The next period of a subscription began."),
  "subscription.updated": typeOf(
    "subscription.updated",
    "Somebody changed a subscription, or what is to happen to it. `previous` has the values before.",
  ),
  "subscription.paused": typeOf("subscription.paused", "A subscription was paused."),
  "subscription.resumed": typeOf("subscription.resumed", "A paused subscription goes on."),
  "subscription.canceled": typeOf(
    "subscription.canceled",
    "Somebody asked to end a subscription, now or later. `ends_at` says when.",
  ),
  "subscription.ended": typeOf("subscription.ended", "A subscription ended."),
} satisfies Record<SubscriptionEventType, EventType.EventType>
