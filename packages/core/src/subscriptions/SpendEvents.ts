/**
 * The event of spend alerts.
 */
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { WireInstant } from "../events/HostEvents.ts"
import { WireInteger } from "../events/WireInteger.ts"
import { SubscriptionId } from "../invoices/SubscriptionId.ts"
import * as Instant from "../shared/Instant.ts"
import { SpendAlertAction, SpendAlertId, type SpendFiring } from "./SpendAlert.ts"

/** The type of the event of a spend alert that fires. It commits with the firing. */
export const spendAlert = EventType.make({
  name: "spend.alert",
  description: "What a customer's usage costs in a period reached the amount of a spend alert.",
  data: Schema.Struct({
    spend_alert_id: SpendAlertId,
    customer_id: CustomerId,
    /** `null`: it is about all subscriptions of the customer. */
    subscription_id: Schema.NullOr(SubscriptionId),
    currency: Schema.String,
    /** The amount that was reached, in the minor unit: that of the alert, or a multiple of it. */
    amount: WireInteger,
    /** What the usage of the period cost when it was checked, in the minor unit, before discounts and taxes. */
    spent: WireInteger,
    action: SpendAlertAction,
    period_start: WireInstant,
    period_end: WireInstant,
  }),
  example: {
    spend_alert_id: "spa_01kahd3kc8e0fsr8zknzqgf2h2",
    customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
    subscription_id: "sub_01kahd3kc8e0fsr8zknzqgf2h3",
    currency: "EUR",
    amount: 10000,
    spent: 10250,
    action: "notify",
    period_start: "2026-11-01T00:00:00.000Z",
    period_end: "2026-12-01T00:00:00.000Z",
  },
})

/** The data of the event of a firing. */
export const spendAlertData = ({ alert, spend }: SpendFiring) => ({
  spend_alert_id: alert.id,
  customer_id: alert.customerId,
  subscription_id: alert.subscriptionId,
  currency: alert.currency,
  amount: alert.firedAmount,
  spent: spend.amount,
  action: alert.action,
  period_start: Instant.text(spend.start),
  period_end: Instant.text(spend.end),
})
