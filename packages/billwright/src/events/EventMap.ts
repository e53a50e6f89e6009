/**
 * The data of each type of events: the built-in ones and those that the host defined.
 *
 * Field names are those of the wire, since data is what receivers get. Money is an integer of the currency's minor
 * unit with an ISO 4217 code beside it; instants are RFC 3339 text.
 */
import type { Metadata } from "../Call.ts"
import type { EventDefinition } from "./EventDefinition.ts"

/** Data of `invoice.created` and `invoice.paid`. Ids are yours. */
export interface InvoiceData {
  readonly invoice_id: string
  readonly customer_id: string
  /** Of the currency's minor unit: cents of EUR, yen of JPY. */
  readonly amount: number
  /** ISO 4217: `EUR`. */
  readonly currency: string
  /** The one that is printed on it. */
  readonly number?: string
  /** RFC 3339, as are the others. */
  readonly due_at?: string
  readonly paid_at?: string
  /** What it bills: from this instant … */
  readonly period_start?: string
  /** … up to this one. */
  readonly period_end?: string
  readonly metadata?: Metadata
}

/** Data of `payment.succeeded`. Ids are yours. */
export interface PaymentData {
  readonly payment_id: string
  readonly customer_id: string
  /** Of the currency's minor unit: cents of EUR, yen of JPY. */
  readonly amount: number
  /** ISO 4217: `EUR`. */
  readonly currency: string
  readonly invoice_id?: string
  readonly metadata?: Metadata
}

/** Data of `payment.failed`: a payment, and why it failed, for programs and for people. */
export interface FailedPaymentData extends PaymentData {
  readonly failure_code?: string
  readonly failure_message?: string
}

/** Data of `subscription.created` and `subscription.activated`. Ids are yours. */
export interface SubscriptionData {
  readonly subscription_id: string
  readonly customer_id: string
  readonly product_id: string
  readonly current_period_start?: string
  readonly current_period_end?: string
  readonly metadata?: Metadata
}

/** Published by the library itself, with the record that reaches a threshold. */
export interface UsageThresholdData {
  readonly threshold_id: string
  readonly customer_id: string
  readonly product_id: string
  readonly unit: string
  readonly quantity: number | bigint
  readonly period: "day" | "month" | "lifetime"
  /** Which period: `2026-11-21`, `2026-11` or `lifetime`. */
  readonly period_key: string
  readonly total_quantity: number | bigint
}

/**
 * The types that there are without defining any. A definition of the same name takes the place of one, but not of
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

/** From the name of a type to its data. */
export type EventMap = Readonly<Record<string, unknown>>

type DefinedEvents<Definitions extends ReadonlyArray<EventDefinition>> = {
  readonly [Definition in Definitions[number] as Definition["name"]]: Definition["example"]
}

/** The events of a billing with these definitions. */
export type EventsOf<Definitions extends ReadonlyArray<EventDefinition>> = Omit<
  BuiltInEvents,
  keyof DefinedEvents<Definitions>
> &
  DefinedEvents<Definitions>
