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
const CustomerIdField = Customer.CustomerId.annotate({ description: "The customer that it is about." })
const EventKey = Text.bounded(1, Event.MAX_EVENT_KEY_LENGTH)
const data = (more: string) =>
  Wire.anyJson(`What happened, in detail: JSON as the type's Schema in \`GET /event_types\` says. ${more}`)

const eventFields = {
  object: Schema.Literal("event"),
  id: EventId.annotate({ description: "The id of the event: the same in every attempt and replay." }),
  type: TypeField,
  timestamp: Wire.instant("When it was published."),
  customer_id: Schema.NullOr(Customer.CustomerId).annotate({
    description: "The customer that it is about, if it was named.",
  }),
  idempotency_key: Schema.NullOr(EventKey).annotate({
    description: "What makes a second publication the same event.",
  }),
  endpoint_id: Schema.NullOr(Endpoint.EndpointId).annotate({
    description:
      "The endpoint that it was made for, by `POST /webhook_endpoints/{id}/test`: it is sent nowhere else, nor is it in `GET /events/stream`. `null`: it is for all that want it.",
  }),
  data: data("Integers are exact, beyond 2^53 too."),
  livemode: Wire.Livemode,
  created_at: Wire.instant("When it was published."),
}

/** An event as it is answered. */
export const EventBody = Schema.Struct(eventFields).annotate({
  identifier: "Event",
  description: "Something that happened. It never changes.",
})

const countField = (status: string) =>
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Delivery.MAX_COUNTED })).annotate({
    description: `How many deliveries of it are ${status}, counted up to ${Delivery.MAX_COUNTED}.`,
  })

/** An event of a list. */
export const ListedEventBody = Schema.Struct({
  ...eventFields,
  delivery_counts: Schema.Struct({
    pending: countField("`Pending`"),
    delivered: countField("`Delivered`"),
    failed: countField("`Failed`"),
  }).annotate({ description: "How its deliveries went." }),
}).annotate({ identifier: "ListedEvent", description: "An event, and how its deliveries went." })

/** An event with what became of it. */
export const EventWithDeliveriesBody = Schema.Struct({
  ...eventFields,
  deliveries: Schema.Array(DeliveryBody).check(Schema.isMaxLength(MAX_DELIVERIES_OF_EVENT)).annotate({
    description: `Its newest deliveries, newest first: \`GET /deliveries?event_id=…\` lists all of them.`,
  }),
}).annotate({ identifier: "EventWithDeliveries", description: "An event and its deliveries." })

const PublishBody = Schema.Struct({
  type: TypeField,
  data: data(`At most ${Event.MAX_PAYLOAD_BYTES} bytes and ${Event.MAX_DATA_DEPTH} levels.`),
  customerId: Schema.optionalKey(CustomerIdField),
  idempotencyKey: Schema.optionalKey(
    EventKey.annotate({
      description:
        "Publishes the event once: the same key and content again gives the first event, until that is pruned.",
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
        "The endpoint to send it to. All that are enabled and admit its type when left out. An event with an `endpoint_id` of its own takes no other.",
    }),
  ),
})
  .pipe(Schema.encodeKeys({ endpointId: "endpoint_id" }))
  .annotate({ identifier: "ReplayEvent", description: "Where to send an event again." })

/** The deliveries that a replay made. */
export const ReplayedBody = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(DeliveryBody)
    .check(Schema.isMaxLength(Endpoint.MAX_ENDPOINTS))
    .annotate({ description: "The new deliveries, one for each endpoint." }),
  has_more: Schema.Literal(false),
}).annotate({ identifier: "ReplayedDeliveries", description: "The deliveries that a replay made." })

/** What a stream is documented to hold at most, in code points: more than lasts for a connection. */
const MAX_STREAM_LENGTH = Number.MAX_SAFE_INTEGER
/** Longest list of types of a stream, in characters. */
const MAX_TYPES_LENGTH = 4_096
const StreamQuery = Schema.Struct({
  types: Schema.optionalKey(
    Schema.String.check(
      Schema.isBetweenLength(1, MAX_TYPES_LENGTH, {
        message: `must be 1 to ${MAX_TYPES_LENGTH} characters`,
      }),
    ).annotate({ description: "Only events of these types: names with commas between them." }),
  ),
})

const StreamHeaders = Schema.Struct({
  "Last-Event-ID": Schema.optionalKey(
    EventId.annotate({
      description:
        "The id of the last event that was received: the stream goes on behind it. Without it, it begins with what is published from now on.",
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
            "Publishes an event of a known type to every enabled endpoint that wants it. 201: published, and its deliveries exist. 200: an event with this idempotency_key and content was there already.",
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
            "Lists events, newest first, each with how many of its deliveries are in which status.",
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
            "Sends each event as it is published, as a server-sent event: `id` is the event's id, `event` its type, `data` the payload as receivers get it, on one line.",
            "Test events, which are for one endpoint alone, are left out. Comments keep the connection alive. A client that lost it sends the last id it got as `Last-Event-ID` and misses nothing; an id of no event is refused with 400.",
            "The stream ends when the API key does. How many a key may have open at once is limited: 429 says that it has.",
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
          description: "Gives one event with its deliveries.",
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
      .annotate(RequiredPermission, "events:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Replay an event",
          description:
            "Sends an event again, with its id and its bytes, on a fresh schedule. Its earlier deliveries stay what they are. An event that was made for an endpoint (`endpoint_id`) goes there again, whatever the endpoint's filter says: 404 when it was deleted, 400 when another one is named. 409 when the endpoint is disabled or does not admit the type.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Events",
      description: "What happened. Each is delivered to the webhook endpoints that want it.",
    }),
  )
