/**
 * The built-in event types, and catalogues that contain them.
 */
import type { Layer } from "effect"
import { creditEvents } from "./credits/CreditEvents.ts"
import { usageUnrated } from "./credits/TokenUsageEvent.ts"
import { topUpSuspended } from "./credits/TopUpEvents.ts"
import { entitlementEvents } from "./entitlements/EntitlementEvents.ts"
import { type EventType, EventTypes } from "./events/EventType.ts"
import { creditNoteEvents } from "./invoices/CreditNoteEvents.ts"
import { invoiceEvents } from "./invoices/InvoiceEvents.ts"
import { apiKeyExpiring } from "./keys/KeyEvents.ts"
import { collectionEvents, paymentEvents } from "./payments/PaymentEvents.ts"
import { methodEvents } from "./payments/PaymentMethodEvents.ts"
import { disputeEvents, refundEvents, reopenedEvents } from "./payments/RefundEvents.ts"
import { spendAlert } from "./subscriptions/SpendEvents.ts"
import { subscriptionEvents } from "./subscriptions/SubscriptionEvents.ts"
import { usageUnbilled } from "./subscriptions/UnbilledEvent.ts"
import { bookCheckFailed } from "./time/BookCheckEvent.ts"
import { usageThreshold } from "./usage/ThresholdEvent.ts"

/** The fields of built-in types whose texts are ids, names of products and plans, words of a list, amounts or instants. */
const KEPT: ReadonlyArray<string> = [
  "id",
  "invoice_id",
  "payment_id",
  "subscription_id",
  "subscription_ids",
  "product_id",
  "line_id",
  "action",
  "attention_code",
  "failure_code",
  "limit_type",
  "phase",
  "reason",
  "status",
  "type",
  "unpriced",
  "night",
  "currency",
  "number",
  "provider",
  "charge",
  "kind",
  "key",
  "plan",
  "quantity",
  "quantities",
  "feature",
  "meter",
  "model",
  "rate_card",
  "unit",
  "period",
  "period_key",
  "period_start",
  "period_end",
  "at",
  "current_period_start",
  "current_period_end",
  "due_at",
  "ended_at",
  "ends_at",
  "issued_at",
  "next_attempt_at",
  "paid_at",
  "resets_at",
  "respond_by",
  "start_at",
  "trial_end_at",
]

const kept = (type: EventType): EventType => ({ kept: KEPT, ...type })

/** The event types in every catalogue. A host's type with the same name replaces a built-in one. */
export const builtIn: ReadonlyArray<EventType> = [
  ...Object.values(invoiceEvents),
  ...Object.values(creditNoteEvents),
  ...Object.values(paymentEvents),
  ...Object.values(collectionEvents),
  ...Object.values(methodEvents),
  ...Object.values(refundEvents),
  ...Object.values(disputeEvents),
  ...Object.values(reopenedEvents),
  ...Object.values(creditEvents),
  topUpSuspended,
  ...Object.values(entitlementEvents),
  ...Object.values(subscriptionEvents),
  apiKeyExpiring,
  bookCheckFailed,
  spendAlert,
  usageThreshold,
  usageUnbilled,
  usageUnrated,
].map(kept)

/** A catalogue of the built-in types and the host's own. */
export const layerWith = (own: ReadonlyArray<EventType>): Layer.Layer<EventTypes> =>
  EventTypes.layerWith([...builtIn, ...own])

/** A catalogue of the built-in types only. */
export const layer: Layer.Layer<EventTypes> = layerWith([])
