/**
 * The REST definitions of deliveries.
 */
import {
  Delivery,
  Endpoint,
  EventId,
  EventType,
  MAX_KEPT_RESPONSE_BYTES,
  WebhookStatistics,
} from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

/** Most attempts of a delivery: for readers of the document. How many there are is the retry policy's. */
const MAX_ATTEMPTS = 1_000

/** Most webhook endpoints of the statistics: for readers of the document. */
const MAX_ENDPOINTS_SHOWN = 100_000

export const DeliveryStatusField = Delivery.DeliveryStatus.annotate({
  description: "`Pending` until it is `Delivered` or `Failed`, which are final.",
})

const ErrorField = (description: string) =>
  Schema.NullOr(Schema.Literals(Delivery.attemptErrors)).annotate({ description })

const ResponseStatusField = (description: string) =>
  Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 }))).annotate({ description })

const deliveryFields = {
  object: Schema.Literal("delivery"),
  id: Delivery.DeliveryId.annotate({ description: "The id of the delivery." }),
  event_id: EventId.annotate({ description: "The event that is delivered." }),
  event_type: EventType.EventTypeName.annotate({ description: "The type of the event." }),
  endpoint_id: Endpoint.EndpointId.annotate({ description: "The webhook endpoint that it goes to." }),
  status: DeliveryStatusField,
  reason: Schema.NullOr(Schema.Literals(Delivery.failureReasons)).annotate({
    description: "Why it failed for good.",
  }),
  attempt_count: Wire.Count.annotate({ description: "How many attempts have ended." }),
  next_attempt_at: Wire.instantOrNull(
    "While it is pending: when the next attempt is due; while an attempt is under way, when another one is made if nothing is heard of it.",
  ),
  last_response_status: ResponseStatusField("The status of the last answer that there was."),
  last_error: ErrorField("Why the last attempt had no answer."),
  finished_at: Wire.instantOrNull("When it was delivered, or failed for good."),
  livemode: Wire.Livemode,
  created_at: Wire.instant("When the delivery was made: by a publication or a replay."),
}

/** A delivery as it is answered. */
export const DeliveryBody = Schema.Struct(deliveryFields).annotate({
  identifier: "Delivery",
  description: "One event on its way to one webhook endpoint.",
})

/** An attempt as it is answered. */
export const AttemptBody = Schema.Struct({
  number: Wire.Count.annotate({ description: "1 for the first attempt of the delivery." }),
  started_at: Wire.instant("When it began."),
  duration_ms: Schema.NullOr(Wire.Count).annotate({
    description: "How long it took, in milliseconds. `null` when its end was not seen.",
  }),
  request_headers: Wire.sentHeaders(
    "The headers that were sent. The signature and the endpoint's own headers are masked.",
  ),
  response_status: ResponseStatusField("The status of the answer."),
  response_headers: Schema.NullOr(Wire.sentHeaders("The headers of the answer.")).annotate({
    description: "The headers of the answer.",
  }),
  response_body: Schema.NullOr(Wire.text(MAX_KEPT_RESPONSE_BYTES)).annotate({
    description: "The beginning of the answer's body: 4 KiB.",
  }),
  error: ErrorField("Why there was no answer."),
}).annotate({ identifier: "DeliveryAttempt", description: "One request to a receiver and what came of it." })

/** A delivery with its attempts. */
export const DeliveryWithAttemptsBody = Schema.Struct({
  ...deliveryFields,
  attempt_started_at: Wire.instantOrNull(
    "Since when an attempt is under way; `next_attempt_at` is then no time of one that is planned.",
  ),
  attempts: Schema.Array(AttemptBody)
    .check(Schema.isMaxLength(MAX_ATTEMPTS))
    .annotate({ description: "Its attempts, oldest first." }),
}).annotate({ identifier: "DeliveryWithAttempts", description: "A delivery and its attempts." })

const ListQuery = Schema.Struct({
  ...Wire.pageFields,
  status: Schema.optionalKey(
    DeliveryStatusField.annotate({ description: "Only deliveries in this status." }),
  ),
  endpointId: Schema.optionalKey(
    Endpoint.EndpointId.annotate({ description: "Only deliveries to this webhook endpoint." }),
  ),
  eventId: Schema.optionalKey(EventId.annotate({ description: "Only deliveries of this event." })),
}).pipe(Schema.encodeKeys({ ...Wire.pageKeys, endpointId: "endpoint_id", eventId: "event_id" }))

const Params = Schema.Struct({ id: Schema.String.annotate({ description: "The id of the delivery." }) })

const { MAX_STATISTICS_HOURS } = WebhookStatistics

const countFields = {
  delivered: Wire.Count.annotate({ description: "Deliveries that became `Delivered`." }),
  failed: Wire.Count.annotate({ description: "Deliveries that became `Failed`." }),
  failed_attempts: Wire.Count.annotate({ description: "Attempts that failed or whose result was lost." }),
}

const Hour = Schema.Struct({ start: Wire.instant("When the hour begins."), ...countFields }).annotate({
  identifier: "WebhookStatisticsHour",
  description: "What happened in one hour.",
})

const hoursOf = (description: string) =>
  Schema.Array(Hour).check(Schema.isBetweenLength(1, MAX_STATISTICS_HOURS)).annotate({ description })

const PendingField = Wire.Count.annotate({
  description: `Deliveries that are pending now, counted up to ${WebhookStatistics.MAX_PENDING_COUNT} for each endpoint.`,
})

/** How deliveries went. Deleted endpoints count, so there may be more of them than may exist at once. */
export const WebhookStatisticsBody = Schema.Struct({
  object: Schema.Literal("webhook_statistics"),
  livemode: Wire.Livemode,
  since: Wire.instant("When the first hour begins."),
  until: Wire.instant("Now: the last hour is not over."),
  pending: PendingField,
  ...countFields,
  hours: hoursOf("Each hour, oldest first, those without anything included."),
  endpoints: Schema.Array(
    Schema.Struct({
      endpoint_id: Endpoint.EndpointId.annotate({ description: "The webhook endpoint." }),
      pending: PendingField,
      ...countFields,
      hours: hoursOf("Each hour, oldest first, those without anything included."),
    }).annotate({
      identifier: "WebhookEndpointStatistics",
      description: "How deliveries to one webhook endpoint went.",
    }),
  )
    .check(Schema.isMaxLength(MAX_ENDPOINTS_SHOWN))
    .annotate({
      description: "The webhook endpoints that anything happened to, or that have pending deliveries.",
    }),
}).annotate({
  identifier: "WebhookStatistics",
  description: "How deliveries went in the last hours, in all and by webhook endpoint.",
})

const StatisticsQuery = Schema.Struct({
  hours: Schema.optionalKey(
    Wire.queryInteger(
      1,
      MAX_STATISTICS_HOURS,
      `How many hours of UTC, the current one included. Default ${WebhookStatistics.DEFAULT_STATISTICS_HOURS}.`,
    ),
  ),
})

export const DeliveriesApi = HttpApiGroup.make("deliveries")
  .add(
    HttpApiEndpoint.get("listDeliveries", "/deliveries", {
      query: ListQuery,
      success: Wire.list(DeliveryBody, "DeliveryList"),
      error: readErrors(),
    })
      .annotate(RequiredPermission, "webhooks:read")
      .annotateMerge(
        OpenApi.annotations({ summary: "List deliveries", description: "Lists deliveries, newest first." }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getDelivery", "/deliveries/:id", {
      params: Params,
      success: DeliveryWithAttemptsBody,
      error: readErrors("not_found"),
    })
      .annotate(RequiredPermission, "webhooks:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a delivery",
          description: "Gives one delivery with its attempts: what was sent, and what came back.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("replayDelivery", "/deliveries/:id/replay", {
      params: Params,
      success: DeliveryBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "webhooks:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Replay a delivery",
          description:
            "Sends the same event to the same webhook endpoint again, as a new delivery on a fresh schedule. The old one stays what it is. 409 when the endpoint is disabled, 404 when it was deleted.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getWebhookStatistics", "/webhook_statistics", {
      query: StatisticsQuery,
      success: WebhookStatisticsBody,
      error: readErrors(),
    })
      .annotate(RequiredPermission, "webhooks:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get webhook statistics",
          description:
            "Tells how deliveries went in the last hours, in all and by webhook endpoint. Counted as it happens, so it costs the same however much is delivered.",
        }),
      ),
  )
  .annotateMerge(OpenApi.annotations({ title: "Deliveries", description: "Did it arrive, and if not, why?" }))
