/**
 * Converts events, deliveries and webhook endpoints to bodies of the API (see `Render`).
 */
import {
  type CreatedEndpoint,
  type Delivery,
  type Endpoint,
  Event,
  type EventType,
  type EventWithDeliveries,
  ExactJson,
  type ListedEvent,
  RequestHeaders,
  type Tenant,
  type WebhookStatistics,
} from "@billwright/core"
import { DateTime, Redacted } from "effect"
import type {
  AttemptBody,
  DeliveryBody,
  DeliveryWithAttemptsBody,
  WebhookStatisticsBody,
} from "../api/DeliveriesApi.ts"
import type { EventBody, EventWithDeliveriesBody, ListedEventBody, ReplayedBody } from "../api/EventsApi.ts"
import type { EventTypeBody, EventTypeListBody } from "../api/EventTypesApi.ts"
import { documentOfData } from "../api/JsonSchema.ts"
import type {
  DeletedEndpointBody,
  EndpointBody,
  EndpointWithSecretBody,
  RangeReplayBody,
} from "../api/WebhookEndpointsApi.ts"

const instant = (value: DateTime.Utc): string => DateTime.formatIso(value)
const instantOrNull = (value: DateTime.Utc | null): string | null => (value === null ? null : instant(value))

const eventType = (value: EventType.EventType): typeof EventTypeBody.Encoded => ({
  object: "event_type",
  type: value.name,
  description: value.description,
  schema: documentOfData(value),
  example: value.example,
})

export const eventTypes = (types: ReadonlyArray<EventType.EventType>): typeof EventTypeListBody.Encoded => ({
  object: "list",
  data: types.map(eventType),
  has_more: false,
})

export const event = (value: Event.Event, tenant: Tenant.Tenant): typeof EventBody.Encoded => ({
  object: "event",
  id: value.id,
  type: value.type,
  timestamp: instant(value.timestamp),
  customer_id: value.customerId,
  idempotency_key: value.idempotencyKey,
  endpoint_id: value.endpointId,
  data: ExactJson.parseRaw(Event.dataText(value.payload)),
  livemode: tenant.mode === "live",
  created_at: instant(value.timestamp),
})

export const listedEvent = (value: ListedEvent, tenant: Tenant.Tenant): typeof ListedEventBody.Encoded => ({
  ...event(value, tenant),
  delivery_counts: value.deliveryCounts,
})

export const eventWithDeliveries = (
  { deliveries, event: value }: EventWithDeliveries,
  tenant: Tenant.Tenant,
): typeof EventWithDeliveriesBody.Encoded => ({
  ...event(value, tenant),
  deliveries: deliveries.map((each) => delivery(each, tenant)),
})

export const delivery = (value: Delivery.Delivery, tenant: Tenant.Tenant): typeof DeliveryBody.Encoded => ({
  object: "delivery",
  id: value.id,
  event_id: value.eventId,
  event_type: value.eventType,
  endpoint_id: value.endpointId,
  status: value.status,
  reason: value.reason,
  attempt_count: value.attemptCount,
  next_attempt_at: instantOrNull(value.nextAttemptAt),
  last_response_status: value.lastResponseStatus,
  last_error: value.lastError,
  finished_at: instantOrNull(value.finishedAt),
  livemode: tenant.mode === "live",
  created_at: instant(value.createdAt),
})

const attempt = (value: Delivery.Attempt): typeof AttemptBody.Encoded => ({
  number: value.number,
  started_at: instant(value.startedAt),
  duration_ms: value.durationMillis,
  request_headers: value.requestHeaders,
  response_status: value.responseStatus,
  response_headers: value.responseHeaders,
  response_body: value.responseBody,
  error: value.error,
})

export const deliveryWithAttempts = (
  { attempts, attemptStartedAt, delivery: value }: Delivery.DeliveryWithAttempts,
  tenant: Tenant.Tenant,
): typeof DeliveryWithAttemptsBody.Encoded => ({
  ...delivery(value, tenant),
  attempt_started_at: instantOrNull(attemptStartedAt),
  attempts: attempts.map(attempt),
})

const counts = (value: WebhookStatistics.Counts) => ({
  delivered: value.delivered,
  failed: value.failed,
  failed_attempts: value.failedAttempts,
})

const hour = (value: WebhookStatistics.HourStatistics) => ({ start: instant(value.start), ...counts(value) })

export const statistics = (
  value: WebhookStatistics.WebhookStatistics,
  tenant: Tenant.Tenant,
): typeof WebhookStatisticsBody.Encoded => ({
  object: "webhook_statistics",
  livemode: tenant.mode === "live",
  since: instant(value.since),
  until: instant(value.until),
  pending: value.pending,
  ...counts(value),
  hours: value.hours.map(hour),
  endpoints: value.endpoints.map((endpoint) => ({
    endpoint_id: endpoint.endpointId,
    pending: endpoint.pending,
    ...counts(endpoint),
    hours: endpoint.hours.map(hour),
  })),
})

export const replayed = (
  deliveries: ReadonlyArray<Delivery.Delivery>,
  tenant: Tenant.Tenant,
): typeof ReplayedBody.Encoded => ({
  object: "list",
  data: deliveries.map((each) => delivery(each, tenant)),
  has_more: false,
})

/** An endpoint's own headers may hold credentials of the receiver, so their values are masked, as in attempts. */
export const endpoint = (value: Endpoint.Endpoint, tenant: Tenant.Tenant): typeof EndpointBody.Encoded => ({
  object: "webhook_endpoint",
  id: value.id,
  url: value.url,
  event_types: value.eventTypes,
  description: value.description,
  headers: RequestHeaders.masked(value.headers),
  metadata: value.metadata,
  signature: value.signature,
  public_key: value.publicKey,
  status: value.status,
  disabled_reason: value.disabledReason,
  disabled_at: instantOrNull(value.disabledAt),
  failing_since: instantOrNull(value.failingSince),
  livemode: tenant.mode === "live",
  created_at: instant(value.createdAt),
  updated_at: instant(value.updatedAt),
})

/** The only body that shows a secret. */
export const endpointWithSecret = (
  { endpoint: value, secret }: CreatedEndpoint,
  tenant: Tenant.Tenant,
): typeof EndpointWithSecretBody.Encoded => ({
  ...endpoint(value, tenant),
  ...(secret === undefined ? {} : { secret: Redacted.value(secret) }),
})

export const deletedEndpoint = (id: string): typeof DeletedEndpointBody.Encoded => ({
  object: "webhook_endpoint",
  id,
  deleted: true,
})

export const rangeReplay = (
  endpointId: string,
  count: number,
  isDryRun: boolean,
): typeof RangeReplayBody.Encoded => ({
  object: "webhook_replay",
  endpoint_id: endpointId,
  count,
  dry_run: isDryRun,
})
