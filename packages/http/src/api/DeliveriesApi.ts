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

/** The most attempts of a delivery that the document allows. The retry policy sets the real number. */
const MAX_ATTEMPTS = 1_000

/** The most webhook endpoints in the statistics that the document allows. */
const MAX_ENDPOINTS_SHOWN = 100_000

export const DeliveryStatusField = Delivery.DeliveryStatus.annotate({
  description: "A delivery is `Pending` until it becomes `Delivered` or `Failed`. Those two are final.",
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
  endpoint_id: Endpoint.EndpointId.annotate({
    description: "The webhook endpoint that the event is sent to.",
  }),
  status: DeliveryStatusField,
  reason: Schema.NullOr(Schema.Literals(Delivery.failureReasons)).annotate({
    description: "Why the delivery failed; `null` unless it is `Failed`.",
  }),
  attempt_count: Wire.Count.annotate({ description: "The number of finished attempts." }),
  next_attempt_at: Wire.instantOrNull(
    "When the next attempt is due, while the delivery is `Pending`. While an attempt is running: when the delivery is tried again if that attempt's result is lost.",
  ),
  last_response_status: ResponseStatusField(
    "The HTTP status that answered the last attempt; `null` when there was no answer.",
  ),
  last_error: ErrorField("Why the last attempt got no answer."),
  finished_at: Wire.instantOrNull("When the delivery became `Delivered` or `Failed`."),
  livemode: Wire.Livemode,
  created_at: Wire.instant("When the event was published, or when the replay was requested."),
}

/** A delivery in an answer. */
export const DeliveryBody = Schema.Struct(deliveryFields).annotate({
  identifier: "Delivery",
  description: "The delivery of one event to one webhook endpoint.",
})

/** An attempt in an answer. */
export const AttemptBody = Schema.Struct({
  number: Wire.Count.annotate({ description: "The number of the attempt within its delivery, from 1." }),
  started_at: Wire.instant("When the attempt started."),
  duration_ms: Schema.NullOr(Wire.Count).annotate({
    description: "How long the attempt took, in milliseconds; `null` when its result was lost.",
  }),
  request_headers: Wire.sentHeaders(
    "The headers that were sent. The signature and the endpoint's own headers are masked.",
  ),
  response_status: ResponseStatusField("The HTTP status of the answer; `null` when there was none."),
  response_headers: Schema.NullOr(Wire.sentHeaders("The headers of the answer.")).annotate({
    description: "The headers of the answer.",
  }),
  response_body: Schema.NullOr(Wire.text(MAX_KEPT_RESPONSE_BYTES)).annotate({
    description: "The first 4 KiB of the answer's body.",
  }),
  error: ErrorField("Why there was no answer."),
}).annotate({ identifier: "DeliveryAttempt", description: "One request to a receiver, and its result." })

/** A delivery with its attempts. */
export const DeliveryWithAttemptsBody = Schema.Struct({
  ...deliveryFields,
  attempt_started_at: Wire.instantOrNull(
    "When the running attempt started; `null` when no attempt is running. While one is running, `next_attempt_at` is not the time of a planned attempt.",
  ),
  attempts: Schema.Array(AttemptBody)
    .check(Schema.isMaxLength(MAX_ATTEMPTS))
    .annotate({ description: "The attempts of the delivery, oldest first." }),
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

const Hour = Schema.Struct({ start: Wire.instant("When the hour starts."), ...countFields }).annotate({
  identifier: "WebhookStatisticsHour",
  description: "The counts of one hour.",
})

const hoursOf = (description: string) =>
  Schema.Array(Hour).check(Schema.isBetweenLength(1, MAX_STATISTICS_HOURS)).annotate({ description })

const PendingField = Wire.Count.annotate({
  description: `Deliveries that are pending now. At most ${WebhookStatistics.MAX_PENDING_COUNT} are counted for each endpoint.`,
})

/** Delivery statistics. They include deleted endpoints, so there may be more endpoints than can exist at once. */
export const WebhookStatisticsBody = Schema.Struct({
  object: Schema.Literal("webhook_statistics"),
  livemode: Wire.Livemode,
  since: Wire.instant("When the first hour starts."),
  until: Wire.instant("The time of the request. The last hour is not over yet."),
  pending: PendingField,
  ...countFields,
  hours: hoursOf("All hours, oldest first, including hours without any delivery."),
  endpoints: Schema.Array(
    Schema.Struct({
      endpoint_id: Endpoint.EndpointId.annotate({ description: "The webhook endpoint." }),
      pending: PendingField,
      ...countFields,
      hours: hoursOf("All hours, oldest first, including hours without any delivery."),
    }).annotate({
      identifier: "WebhookEndpointStatistics",
      description: "Delivery statistics of one webhook endpoint.",
    }),
  )
    .check(Schema.isMaxLength(MAX_ENDPOINTS_SHOWN))
    .annotate({
      description:
        "The webhook endpoints with deliveries in these hours or with pending ones, including deleted endpoints.",
    }),
}).annotate({
  identifier: "WebhookStatistics",
  description: "Delivery statistics of the last hours, in total and by webhook endpoint.",
})

const StatisticsQuery = Schema.Struct({
  hours: Schema.optionalKey(
    Wire.queryInteger(
      1,
      MAX_STATISTICS_HOURS,
      `The number of hours (UTC), including the current one. Default ${WebhookStatistics.DEFAULT_STATISTICS_HOURS}.`,
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
          description:
            "Returns one delivery with its attempts: the requests that were sent, and their answers.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("replayDelivery", "/deliveries/:id/replay", {
      params: Params,
      success: DeliveryBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "webhooks:replay")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Replay a delivery",
          description:
            "Sends the same event to the same webhook endpoint again, as a new delivery with its own retries. The old delivery does not change. 409 when the endpoint is disabled, 404 when it was deleted.",
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
            "Returns delivery statistics of the last hours, in total and by webhook endpoint. The counts are kept up to date with each delivery, so this request stays fast at any volume.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Deliveries",
      description: "Whether each webhook arrived, and if not, why.",
    }),
  )
