/**
 * The types of the API's answers, from its OpenAPI document.
 */
import type { components } from "./Schema.ts"

type Schemas = components["schemas"]

export type AuditRecord = Schemas["AuditRecord"]
export type Attempt = Schemas["DeliveryAttempt"]
export type CreditEntry = Schemas["CreditEntry"]
export type CreditGrant = Schemas["CreditGrant"]
export type CreditNote = Schemas["CreditNote"]
export type Customer = Schemas["Customer"]
export type Delivery = Schemas["Delivery"]
export type DeliveryWithAttempts = Schemas["DeliveryWithAttempts"]
export type Endpoint = Schemas["WebhookEndpoint"]
export type Dispute = Schemas["Dispute"]
export type DueFailure = Schemas["DueFailure"]
export type Entitlement = Schemas["Entitlement"]
export type Event = Schemas["Event"]
export type ListedEvent = Schemas["ListedEvent"]
export type EventWithDeliveries = Schemas["EventWithDeliveries"]
export type Hold = Schemas["Hold"]
export type Invoice = Schemas["Invoice"]
export type InvoiceLine = Schemas["InvoiceLine"]
export type MoneyOverview = Schemas["MoneyOverview"]
export type Meter = Schemas["Meter"]
export type Payment = Schemas["Payment"]
export type PaymentMethod = Schemas["PaymentMethod"]
export type Plan = Schemas["Plan"]
export type PlanVersion = Schemas["PlanVersion"]
export type RatingStep = Schemas["RatingStep"]
export type Refund = Schemas["Refund"]
export type SpendAlert = Schemas["SpendAlert"]
export type Subscription = Schemas["Subscription"]
export type SubscriptionPreview = Schemas["SubscriptionPreview"]
export type TestClock = Schemas["TestClock"]
export type Threshold = Schemas["UsageThreshold"]
export type UsageRecord = Schemas["UsageRecord"]

export type Statistics = Schemas["WebhookStatistics"]
/** The delivery statistics of one endpoint. */
export type EndpointStatistics = Statistics["endpoints"][number]
/** The delivery statistics of one hour. */
export type HourOfDeliveries = Statistics["hours"][number]

export type DeliveryStatus = Delivery["status"]

/** A page of a list, newest first. */
export interface ListPage<A> {
  readonly data: ReadonlyArray<A>
  readonly has_more: boolean
}
