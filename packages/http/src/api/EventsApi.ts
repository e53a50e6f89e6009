/**
 * The REST definitions of events.
 */
import {
  Customer,
  Delivery,
  Endpoint,
  Event,
  EventId,
  EventType,
  MAX_DELIVERIES_OF_EVENT,
  Text,
} from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { DeliveryBody, DeliveryStatusField } from "./DeliveriesApi.ts"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

const TypeField = EventType.EventTypeName.annotate({ description: "What happened, such as `invoice.paid`." })
const CustomerIdField = Customer.CustomerId.annotate({ description: "The customer that the event is about." })
const EventKey = Text.bounded(1, Event.MAX_EVENT_KEY_LENGTH)
const data = (more: string) =>
  Wire.anyJson(
    `The details of the event: JSON that matches the schema of the type in \`GET /event_types\`. ${more}`,
  )

const eventFields = {
  object: Schema.Literal("event"),
  id: EventId.annotate({ description: "The id of the event. Every attempt and replay carries the same id." }),
  type: TypeField,
  timestamp: Wire.instant("When the event was published."),
  customer_id: Schema.NullOr(Customer.CustomerId).annotate({
    description: "The customer that the event is about, if one was given.",
  }),
  idempotency_key: Schema.NullOr(EventKey).annotate({
    description:
      "A key that makes publishing idempotent: a second request with the same key and content does not publish again.",
  }),
  endpoint_id: Schema.NullOr(Endpoint.EndpointId).annotate({
    description:
      "For a test event, made by `POST /webhook_endpoints/{id}/test`: the only endpoint that it is sent to. `GET /events/stream` leaves test events out. `null` for all other events.",
  }),
  data: data("Integers are exact, even beyond 2^53."),
  livemode: Wire.Livemode,
  created_at: Wire.instant("When the event was published."),
}

/** An event in an answer. */
export const EventBody = Schema.Struct(eventFields).annotate({
  identifier: "Event",
  description: "An event. It never changes.",
})

const countField = (status: string) =>
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Delivery.MAX_COUNTED })).annotate({
    description: `The number of the event's deliveries that are ${status}. The count stops at ${Delivery.MAX_COUNTED}.`,
  })

/** An event of a list. */
export const ListedEventBody = Schema.Struct({
  ...eventFields,
  delivery_counts: Schema.Struct({
    pending: countField("`Pending`"),
    delivered: countField("`Delivered`"),
    failed: countField("`Failed`"),
  }).annotate({ description: "The number of the event's deliveries in each status." }),
}).annotate({ identifier: "ListedEvent", description: "An event, with the counts of its deliveries." })

/** An event with its deliveries. */
export const EventWithDeliveriesBody = Schema.Struct({
  ...eventFields,
  deliveries: Schema.Array(DeliveryBody).check(Schema.isMaxLength(MAX_DELIVERIES_OF_EVENT)).annotate({
    description: `The newest deliveries of the event, newest first. \`GET /deliveries?event_id=…\` lists all of them.`,
  }),
}).annotate({ identifier: "EventWithDeliveries", description: "An event and its deliveries." })

const PublishBody = Schema.Struct({
  type: TypeField,
  data: data(`At most ${Event.MAX_PAYLOAD_BYTES} bytes and ${Event.MAX_DATA_DEPTH} levels.`),
  customerId: Schema.optionalKey(CustomerIdField),
  idempotencyKey: Schema.optionalKey(
    EventKey.annotate({
      description:
        "Publishes the event only once. A second request with the same key and content returns the first event, until that is pruned.",
    }),
  ),
})
  .pipe(Schema.encodeKeys({ customerId: "customer_id", idempotencyKey: "idempotency_key" }))
  .annotate({ identifier: "PublishEvent", description: "An event to publish." })

const ListQuery = Schema.Struct({
  ...Wire.pageFields,
  type: Schema.optionalKey(EventType.EventTypeName.annotate({ description: "Only events of this type." })),
  customerId: Schema.optionalKey(
    Customer.CustomerId.annotate({ description: "Only events about this customer." }),
  ),
  createdAfter: Schema.optionalKey(Wire.instant("Only events published at this instant or later.")),
  createdBefore: Schema.optionalKey(Wire.instant("Only events published before this instant.")),
  deliveryStatus: Schema.optionalKey(
    DeliveryStatusField.annotate({ description: "Only events with a delivery in this status." }),
  ),
}).pipe(
  Schema.encodeKeys({
    ...Wire.pageKeys,
    customerId: "customer_id",
    createdAfter: "created_after",
    createdBefore: "created_before",
    deliveryStatus: "delivery_status",
  }),
)

const ReplayBody = Schema.Struct({
  endpointId: Schema.optionalKey(
    Endpoint.EndpointId.annotate({
      description:
        "The endpoint to send the event to. Default: all enabled endpoints that subscribe to its type. A test event can be sent only to its own `endpoint_id`.",
    }),
  ),
})
  .pipe(Schema.encodeKeys({ endpointId: "endpoint_id" }))
  .annotate({ identifier: "ReplayEvent", description: "Where to send the event again." })

/** The deliveries of a replay. */
export const ReplayedBody = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(DeliveryBody)
    .check(Schema.isMaxLength(Endpoint.MAX_ENDPOINTS))
    .annotate({ description: "The new deliveries, one for each endpoint." }),
  has_more: Schema.Literal(false),
}).annotate({ identifier: "ReplayedDeliveries", description: "The deliveries of a replay." })

/** The longest stream that the document allows, in code points. No connection reaches it. */
const MAX_STREAM_LENGTH = Number.MAX_SAFE_INTEGER
/** The longest list of types for a stream, in characters. */
const MAX_TYPES_LENGTH = 4_096
const StreamQuery = Schema.Struct({
  types: Schema.optionalKey(
    Schema.String.check(
      Schema.isBetweenLength(1, MAX_TYPES_LENGTH, {
        message: `must be 1 to ${MAX_TYPES_LENGTH} characters`,
      }),
    ).annotate({ description: "Only events of these types. Separate the names with commas." }),
  ),
})

const StreamHeaders = Schema.Struct({
  "Last-Event-ID": Schema.optionalKey(
    EventId.annotate({
      description:
        "The id of the last event that you have received. The stream continues after it. Default: only events that are published from now on.",
    }),
  ),
})

const Params = Schema.Struct({ id: Schema.String.annotate({ description: "The id of the event." }) })

export const EventsApi = HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.post("publishEvent", "/events", {
      payload: PublishBody,
      success: [EventBody.pipe(HttpApiSchema.status(201)), EventBody],
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "events:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Publish an event",
          description:
            "Publishes an event of a known type to every enabled endpoint that subscribes to it. 201: the event and its deliveries are stored. 200: an event with this `idempotency_key` and content already existed.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listEvents", "/events", {
      query: ListQuery,
      success: Wire.list(ListedEventBody, "EventList"),
      error: readErrors(),
    })
      .annotate(RequiredPermission, "events:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List events",
          description:
            "Lists events, newest first. Each has the number of its deliveries in each status. A page holds at most 4 MiB of event bodies. With large events it may be shorter than `limit`, and `has_more` is then true.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("streamEvents", "/events/stream", {
      query: StreamQuery,
      headers: StreamHeaders,
      success: Wire.text(MAX_STREAM_LENGTH).pipe(HttpApiSchema.asText({ contentType: "text/event-stream" })),
      error: readErrors(),
    })
      .annotate(RequiredPermission, "events:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Follow events",
          description: [
            "Sends each event as a server-sent event when it is published. `id` is the event's id, `event` its type, and `data` the payload that webhook receivers get, on one line.",
            "Test events are left out. Comments keep the connection alive. After a lost connection, send the last id that you received as `Last-Event-ID`, and you miss no event. An id that doesn't exist is refused with 400.",
            "The stream ends when the API key expires or is revoked. The number of open streams of a key is limited. One more gets 429.",
          ].join("\n\n"),
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getEvent", "/events/:id", {
      params: Params,
      success: EventWithDeliveriesBody,
      error: readErrors("not_found"),
    })
      .annotate(RequiredPermission, "events:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an event",
          description: "Returns one event with its deliveries.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("replayEvent", "/events/:id/replay", {
      params: Params,
      payload: ReplayBody,
      success: ReplayedBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "events:replay")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Replay an event",
          description:
            "Sends an event again, with the same id and bytes, as new deliveries with their own retries. Its earlier deliveries do not change. 409 when the given endpoint is disabled or does not subscribe to the type. A test event goes to its own `endpoint_id` again, whatever types that endpoint subscribes to: 404 when the endpoint was deleted, 400 when another one is given.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Events",
      description:
        "Events are published by your app or by Billwright. Each is delivered to the webhook endpoints that subscribe to its type.",
    }),
  )
