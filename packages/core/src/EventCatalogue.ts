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
import { collectionEvents, paymentEvents } from "./payments/PaymentEvents.ts"
import { methodEvents } from "./payments/PaymentMethodEvents.ts"
import { disputeEvents, refundEvents, reopenedEvents } from "./payments/RefundEvents.ts"
import { spendAlert } from "./subscriptions/SpendEvents.ts"
import { subscriptionEvents } from "./subscriptions/SubscriptionEvents.ts"
import { usageUnbilled } from "./subscriptions/UnbilledEvent.ts"
import { usageThreshold } from "./usage/ThresholdEvent.ts"

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
  spendAlert,
  usageThreshold,
  usageUnbilled,
  usageUnrated,
]

/** A catalogue of the built-in types and the host's own. */
export const layerWith = (own: ReadonlyArray<EventType>): Layer.Layer<EventTypes> =>
  EventTypes.layerWith([...builtIn, ...own])

/** A catalogue of the built-in types only. */
export const layer: Layer.Layer<EventTypes> = layerWith([])
