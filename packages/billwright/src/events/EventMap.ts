/**
 * The data of each event type: the built-in types and those that the host defines.
 *
 * Field names are in snake_case, because receivers get the data as it is. An amount of money is an integer in the
 * currency's minor unit, with an ISO 4217 code in a second field. Instants are RFC 3339 text.
 */
import type { Metadata } from "../Call.ts"
import type { EventDefinition } from "./EventDefinition.ts"

/** Data of `invoice.created` and `invoice.paid`. The ids are your own. */
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
}

/** Data of `payment.succeeded`. The ids are your own. */
export interface PaymentData {
  readonly payment_id: string
  readonly customer_id: string
  /** In the currency's minor unit: cents for EUR, yen for JPY. */
  readonly amount: number
  /** ISO 4217, such as `EUR`. */
  readonly currency: string
  readonly invoice_id?: string
  readonly metadata?: Metadata
}

/** Data of `payment.failed`: the payment, and why it failed as a code for programs and a message for people. */
export interface FailedPaymentData extends PaymentData {
  readonly failure_code?: string
  readonly failure_message?: string
}

/** Data of `subscription.created` and `subscription.activated`. The ids are your own. */
export interface SubscriptionData {
  readonly subscription_id: string
  readonly customer_id: string
  readonly product_id: string
  readonly current_period_start?: string
  readonly current_period_end?: string
  readonly metadata?: Metadata
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
 * The built-in event types. Your own definition of the same name replaces a built-in type, except
 * `usage.threshold`.
 */
export interface BuiltInEvents {
  readonly "invoice.created": InvoiceData
  readonly "invoice.paid": InvoiceData
  readonly "payment.succeeded": PaymentData
  readonly "payment.failed": FailedPaymentData
  readonly "subscription.created": SubscriptionData
  readonly "subscription.activated": SubscriptionData
  readonly "usage.threshold": UsageThresholdData
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
