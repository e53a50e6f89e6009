/**
 * The `usage.unbilled` event: usage came too late for an invoice to bill it by itself.
 */
import type { Period } from "@billwright/engine"
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { WireInstant } from "../events/HostEvents.ts"
import { WireInteger } from "../events/WireInteger.ts"
import { SubscriptionId } from "../invoices/SubscriptionId.ts"
import * as Instant from "../shared/Instant.ts"
import type { StoredSubscription } from "./Subscription.ts"

/** What is not billed of a period. */
export interface Unbilled {
  readonly subscription: StoredSubscription
  readonly period: Period
  /** What the period costs by now, less what invoices billed of it. Not 0. Below 0: too much was billed. */
  readonly amount: bigint
}

/** It is published once for a period: with the invoice that does not look at it any more. */
export const usageUnbilled = EventType.make({
  name: "usage.unbilled",
  description: "Usage came or was voided too late for invoices. Reconcile the subscription to bill it.",
  data: Schema.Struct({
    customer_id: CustomerId,
    subscription_id: SubscriptionId,
    currency: Schema.String,
    /** In the minor unit, before discounts and taxes. Below 0: too much was billed. */
    amount: WireInteger,
    period_start: WireInstant,
    period_end: WireInstant,
  }),
  example: {
    customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
    subscription_id: "sub_01kahd3kc8e0fsr8zknzqgf2h2",
    currency: "EUR",
    amount: 1250,
    period_start: "2025-09-01T00:00:00.000Z",
    period_end: "2025-10-01T00:00:00.000Z",
  },
})

export const unbilledData = ({ amount, period, subscription }: Unbilled) => ({
  customer_id: subscription.customerId,
  subscription_id: subscription.id,
  currency: subscription.state.currency,
  amount,
  period_start: Instant.text(period.start),
  period_end: Instant.text(period.end),
})
