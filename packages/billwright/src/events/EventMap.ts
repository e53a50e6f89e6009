/**
 * The data of each event type: the built-in types and those that the host defines.
 *
 * Field names are in snake_case, because receivers get the data as it is. An amount of money is an integer in the
 * currency's minor unit, with an ISO 4217 code in a second field. Instants are RFC 3339 text.
 */
import type { Metadata } from "../Call.ts"
import type { CreditNoteReason } from "../invoices/CreditNotes.ts"
import type { PaymentAttention } from "../payments/Payments.ts"
import type { EventDefinition } from "./EventDefinition.ts"

/**
 * Data of events of invoices. In your events about your own invoices, the ids are your own. The library's events about
 * its invoices have `invoice`.
 */
export interface InvoiceData {
  readonly invoice_id: string
  readonly customer_id: string
  /** In the currency's minor unit: cents for EUR, yen for JPY. */
  readonly amount: number
  /** ISO 4217, such as `EUR`. */
  readonly currency: string
  /** The invoice number that is printed on the invoice. */
  readonly number?: string
  /** RFC 3339, like the other instants. */
  readonly due_at?: string
  readonly paid_at?: string
  /** The start of the billed period. */
  readonly period_start?: string
  /** The end of the billed period. */
  readonly period_end?: string
  readonly metadata?: Metadata
  /** The invoice as it was then. Only events of the library have it. */
  readonly invoice?: InvoiceSnapshot
}

/** An invoice in the data of an event. Amounts are integers of the currency's minor unit, and instants RFC 3339. */
export interface InvoiceSnapshot {
  readonly id: string
  readonly number: string | null
  readonly status: "draft" | "open" | "paid" | "void" | "uncollectible"
  readonly customer_id: string
  /** `null` for an invoice of several subscriptions, and of none. */
  readonly subscription_id: string | null
  readonly subscription_ids: ReadonlyArray<string>
  readonly currency: string
  readonly period_start: string | null
  readonly period_end: string | null
  /** The first 100 lines. */
  readonly lines: ReadonlyArray<InvoiceLineSnapshot>
  readonly line_count: number
  readonly subtotal: number | bigint
  readonly tax: number | bigint
  readonly total: number | bigint
  readonly amount_paid: number | bigint
  readonly amount_due: number | bigint
  readonly issued_at: string | null
  readonly due_at: string | null
  /** Rises with each change of the invoice. Drop an event whose number is not above the last one's. */
  readonly sequence: number
}

/** A line of an invoice in the data of an event. */
export interface InvoiceLineSnapshot {
  readonly id: string
  readonly kind: "advance" | "usage" | "credit" | "adjustment" | "item" | "true_up" | "top_up"
  readonly charge: string | null
  readonly description: string
  readonly subscription_id: string | null
  readonly period_start: string | null
  readonly period_end: string | null
  /** A decimal or a fraction, as text. */
  readonly quantity: string | null
  readonly amount: number | bigint
}

/** Data of `credit_note.created`. Amounts are integers of the currency's minor unit. */
export interface CreditNoteData {
  readonly credit_note_id: string
  readonly number: string
  readonly invoice_id: string
  readonly customer_id: string
  readonly reason:
    | "duplicate"
    | "fraudulent"
    | "order_change"
    | "unsatisfactory"
    | "usage_corrected"
    | "other"
  readonly currency: string
  /** What it credits of lines of the invoice: at most 100 of them. */
  readonly lines: ReadonlyArray<{ readonly line_id: string; readonly amount: number | bigint }>
  /** How many lines the credit note has. */
  readonly line_count: number
  readonly net: number | bigint
  readonly tax: number | bigint
  /** `waived` + `refund` + `to_balance`. */
  readonly total: number | bigint
  /** What lowered the amount due of the invoice. */
  readonly waived: number | bigint
  readonly refund: number | bigint
  /** What became paid credits of the customer. */
  readonly to_balance: number | bigint
  readonly issued_at: string
  /** The invoice after the credit note. */
  readonly invoice: {
    readonly status: "draft" | "open" | "paid" | "void" | "uncollectible"
    readonly amount_credited: number | bigint
    readonly amount_due: number | bigint
    /** Rises with each change of the invoice. */
    readonly sequence: number
  }
}

/** A payment as it was when the event was published. Amounts are integers of the currency's minor unit. */
export interface PaymentSnapshot {
  readonly id: string
  readonly invoice_id: string
  readonly customer_id: string
  readonly currency: string
  /** Who takes the money. `manual`: a person recorded what came. */
  readonly provider: string
  readonly reference: string | null
  readonly status: "open" | "succeeded" | "closed"
  readonly amount: number | bigint
  /** The part that paid the invoice. */
  readonly applied: number | bigint
  /** The rest, which is more than was due. */
  readonly overpaid: number | bigint
  readonly paid_at: string | null
  /** Rises with each change of the payment. */
  readonly sequence: number
}

/**
 * Data of events of payments. In your events about your own payments, the ids are your own. The library's events about
 * its payments have `payment`.
 */
export interface PaymentData {
  readonly payment_id: string
  readonly customer_id: string
  /** In the currency's minor unit: cents for EUR, yen for JPY. */
  readonly amount: number
  /** ISO 4217, such as `EUR`. */
  readonly currency: string
  readonly invoice_id?: string
  readonly metadata?: Metadata
  readonly payment?: PaymentSnapshot
}

/** Data of `payment.failed`: the payment, and why it failed as a code for programs and a message for people. */
export interface FailedPaymentData extends PaymentData {
  readonly failure_code?: string
  readonly failure_message?: string
  /** Whether it is attempted again by itself, and when: in the library's events. */
  readonly will_retry?: boolean
  readonly next_attempt_at?: string | null
}

/** Data of `payment.needs_attention`: the payment, and why a person has to look, as a code. */
export interface PaymentAttentionData extends PaymentData {
  readonly attention_code?: PaymentAttention["code"]
}

/** Data of events of refunds. Amounts are integers of the currency's minor unit. */
export interface RefundData {
  readonly refund_id: string
  readonly payment_id: string
  readonly invoice_id: string
  readonly customer_id: string
  readonly credit_note_id: string | null
  readonly currency: string
  readonly amount: number | bigint
  /** The part that the invoice is not paid with any more. */
  readonly reversed: number | bigint
  readonly reason: CreditNoteReason
  readonly status: "pending" | "unresolved" | "succeeded" | "failed"
  readonly failure_code: string | null
  readonly provider: string
  /** Rises with each change of the refund. */
  readonly sequence: number
}

/** Data of `spend.alert`. Amounts are integers of the currency's minor unit. */
export interface SpendAlertData {
  readonly spend_alert_id: string
  readonly customer_id: string
  /** `null`: it is about all subscriptions of the customer. */
  readonly subscription_id: string | null
  readonly currency: string
  /** The amount that was reached: that of the alert, or a multiple of it. */
  readonly amount: number | bigint
  /** What the usage of the period cost when it was checked, before discounts and taxes. */
  readonly spent: number | bigint
  readonly action: "notify" | "block" | "invoice"
  readonly period_start: string
  readonly period_end: string
}

/** Data of events of disputes. Amounts are integers of the currency's minor unit. */
export interface DisputeData {
  readonly dispute_id: string
  readonly payment_id: string
  readonly invoice_id: string
  readonly customer_id: string
  readonly currency: string
  readonly amount: number | bigint
  /** The part that the invoice is not paid with any more. */
  readonly reversed: number | bigint
  readonly reason: string
  readonly status: "open" | "won" | "lost"
  readonly provider: string
  readonly respond_by: string | null
  /** Rises with each change of the dispute. */
  readonly sequence: number
}

/** Data of events of payment methods. No detail of a card is in it but when it expires. */
export interface PaymentMethodData {
  readonly payment_method_id: string
  readonly customer_id: string
  readonly provider: string
  readonly status: "pending" | "attached" | "failed" | "detached"
  readonly is_default: boolean
  readonly type: string | null
  readonly expiry: { readonly month: number; readonly year: number } | null
}

/**
 * Data of events of subscriptions. In your events about your own subscriptions, the ids are your own. The library's events
 * about its subscriptions have `subscription`, and `product_id` is the key of the plan.
 */
export interface SubscriptionData {
  readonly subscription_id: string
  readonly customer_id: string
  readonly product_id: string
  readonly current_period_start?: string
  readonly current_period_end?: string
  readonly metadata?: Metadata
  /** The subscription as it was then. Only events of the library have it. */
  readonly subscription?: SubscriptionSnapshot
  /** The values before of what somebody changed: in `subscription.updated`. */
  readonly previous?: Partial<Pick<SubscriptionSnapshot, "plan" | "quantities" | "pending" | "ends_at">>
}

/** A subscription in the data of an event. Instants are RFC 3339. */
export interface SubscriptionSnapshot {
  readonly id: string
  readonly customer_id: string
  readonly phase: "scheduled" | "trialing" | "active" | "paused" | "ended"
  readonly plan: { readonly key: string; readonly version: number }
  readonly currency: string
  readonly quantities: { readonly [name: string]: string }
  /** The change that waits. `at` is `period_end` or an instant. */
  readonly pending: {
    readonly plan: { readonly key: string; readonly version: number } | null
    readonly quantities: { readonly [name: string]: string }
    readonly at: string
  } | null
  readonly start_at: string
  readonly trial_end_at: string | null
  readonly current_period_start: string | null
  readonly current_period_end: string | null
  readonly ends_at: string | null
  readonly ended_at: string | null
  readonly metadata: Metadata
  /** Rises by one with each event of the subscription. Drop an event whose number is not above the last one's. */
  readonly sequence: number
}

/**
 * Data of `usage.threshold`. The library publishes it in the transaction of the record that reaches the threshold.
 */
export interface UsageThresholdData {
  readonly threshold_id: string
  readonly customer_id: string
  readonly product_id: string
  readonly unit: string
  readonly quantity: number | bigint
  readonly period: "day" | "month" | "lifetime"
  /** The period that the total belongs to: `2026-11-21`, `2026-11` or `lifetime`. */
  readonly period_key: string
  readonly total_quantity: number | bigint
}

/**
 * Data of `usage.unbilled`. Usage of a period was recorded or voided so late that invoices don't bill it by themselves.
 * `subscriptions.reconcile` bills it.
 */
export interface UsageUnbilledData {
  readonly customer_id: string
  readonly subscription_id: string
  readonly currency: string
  /** In the minor unit, before discounts and taxes. Below 0: too much was billed. */
  readonly amount: number | bigint
  readonly period_start: string
  readonly period_end: string
}

/** Data of `usage.unrated`. Tokens were used that the rate card has no price for: `tokenUsages.rate` or `.waive` them. */
export interface UsageUnratedData {
  readonly token_usage_id: string
  readonly customer_id: string
  /** The hold that was committed with it. */
  readonly hold_id: string | null
  /** The key of the rate card. */
  readonly rate_card: string
  /** The version of the rate card that was in force. */
  readonly version: number
  readonly model: string
  readonly unit: string
  /** The kinds that have no price. `null`: the card does not have the model. */
  readonly unpriced: ReadonlyArray<"input" | "cache_read" | "cache_write" | "output" | "reasoning"> | null
}

/** Data of `credit.exhausted`. Amounts are integers of the smallest unit, after the operation. */
export interface CreditData {
  readonly customer_id: string
  readonly unit: string
  readonly available: number | bigint
  readonly held: number | bigint
  readonly debt: number | bigint
  /** Rises with each change of the customer's credits in the unit. Events of one change may share it. Drop an older one. */
  readonly sequence: number
}

/** Data of `credit.granted` and `credit.expired`. `amount` is what began or ended. */
export interface CreditGrantData extends CreditData {
  readonly grant_id: string
  readonly amount: number | bigint
}

/** Data of `credit.low`. */
export interface CreditLowData extends CreditData {
  readonly credit_alert_id: string
  /** The level of the alert: less than that is available. */
  readonly level: number | bigint
}

/** Data of `credit.top_up_suspended`. */
export interface TopUpSuspendedData {
  readonly auto_top_up_id: string
  readonly customer_id: string
  readonly unit: string
  /** The invoice whose payment was declined. */
  readonly invoice_id: string
  readonly currency: string
  /** In the minor unit of the currency, before taxes. */
  readonly price: number | bigint
}

/** Data of `entitlement.limit_reached`. */
export interface EntitlementLimitData {
  readonly customer_id: string
  readonly subscription_id: string
  /** The key of the feature. */
  readonly feature: string
  /** The key of its meter. */
  readonly meter: string
  readonly limit_type: "hard" | "soft"
  /** What the period includes, in whole units of the meter. */
  readonly limit: number | bigint
  /** What was used in the period. */
  readonly used: number | bigint
  /** Since when usage counts. */
  readonly period_start: string
  /** When the count begins again. */
  readonly resets_at: string
}

/**
 * The built-in event types. Your own definition of the same name replaces a built-in type, except
 * `usage.threshold`.
 */
export interface BuiltInEvents {
  readonly "credit.exhausted": CreditData
  readonly "credit.expired": CreditGrantData
  readonly "credit.granted": CreditGrantData
  readonly "credit.low": CreditLowData
  readonly "credit.top_up_suspended": TopUpSuspendedData
  readonly "credit_note.created": CreditNoteData
  readonly "entitlement.limit_reached": EntitlementLimitData
  readonly "invoice.collection_exhausted": InvoiceData
  readonly "invoice.created": InvoiceData
  readonly "invoice.deleted": InvoiceData
  readonly "invoice.finalized": InvoiceData
  readonly "invoice.marked_uncollectible": InvoiceData
  readonly "invoice.overdue": InvoiceData
  readonly "invoice.paid": InvoiceData
  readonly "invoice.reopened": InvoiceData
  readonly "invoice.voided": InvoiceData
  readonly "payment.succeeded": PaymentData
  readonly "payment.failed": FailedPaymentData
  readonly "payment.action_required": PaymentData
  readonly "payment_method.attached": PaymentMethodData
  readonly "payment_method.detached": PaymentMethodData
  readonly "payment_method.expiring": PaymentMethodData
  readonly "payment_method.updated": PaymentMethodData
  readonly "payment.needs_attention": PaymentAttentionData
  readonly "payment.overpaid": PaymentData
  readonly "payment.processing": PaymentData
  readonly "payment.unresolved": PaymentData
  readonly "refund.created": RefundData
  readonly "refund.failed": RefundData
  readonly "refund.succeeded": RefundData
  readonly "dispute.closed": DisputeData
  readonly "dispute.opened": DisputeData
  readonly "spend.alert": SpendAlertData
  readonly "subscription.activated": SubscriptionData
  readonly "subscription.canceled": SubscriptionData
  readonly "subscription.created": SubscriptionData
  readonly "subscription.ended": SubscriptionData
  readonly "subscription.paused": SubscriptionData
  readonly "subscription.renewed": SubscriptionData
  readonly "subscription.resumed": SubscriptionData
  readonly "subscription.trial_ending": SubscriptionData
  readonly "subscription.updated": SubscriptionData
  readonly "usage.threshold": UsageThresholdData
  readonly "usage.unbilled": UsageUnbilledData
  readonly "usage.unrated": UsageUnratedData
}

/** Maps the name of each event type to its data. */
export type EventMap = Readonly<Record<string, unknown>>

type DefinedEvents<Definitions extends ReadonlyArray<EventDefinition>> = {
  readonly [Definition in Definitions[number] as Definition["name"]]: Definition["example"]
}

/** The event map of a billing with these definitions. */
export type EventsOf<Definitions extends ReadonlyArray<EventDefinition>> = Omit<
  BuiltInEvents,
  keyof DefinedEvents<Definitions>
> &
  DefinedEvents<Definitions>
