/**
 * The types of the API's answers, from its OpenAPI document.
 */
import type { components } from "./Schema.ts"

type Schemas = components["schemas"]

export type Attempt = Schemas["DeliveryAttempt"]
export type Customer = Schemas["Customer"]
export type Delivery = Schemas["Delivery"]
export type DeliveryWithAttempts = Schemas["DeliveryWithAttempts"]
export type Endpoint = Schemas["WebhookEndpoint"]
export type Event = Schemas["Event"]
export type ListedEvent = Schemas["ListedEvent"]
export type EventWithDeliveries = Schemas["EventWithDeliveries"]
export type Meter = Schemas["Meter"]
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
