/**
 * A typed client of the REST API for servers, workers and browsers. It needs only `fetch`.
 */
export { ApiError, ConnectionError } from "./ApiError.ts"
export type { ApiErrorCode } from "./ApiError.ts"
export { createClient } from "./Client.ts"
export type {
  BillingClient,
  ClientEvents,
  ClientEventTypeInfo,
  ClientUsage,
  RecordedUsageId,
  StreamedEvent,
} from "./BillingClient.ts"
export type { ClientOptions } from "./Connection.ts"
export type { FieldProblem } from "../errors/BillingError.ts"
export type * from "../catalog/Plans.ts"
export type { CallOptions, Instant, Metadata, MetadataPatch } from "../Call.ts"
export type * from "../events/EventMap.ts"
export type * from "../events/Events.ts"
export type { Listing, Page, PageQuery } from "../Listing.ts"
export type * from "../Resources.ts"
export type * from "../usage/Usage.ts"
export type * from "../webhooks/Deliveries.ts"
export type * from "../webhooks/Endpoints.ts"
