/**
 * The REST definitions of the catalogue of event types.
 */
import { EventType } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { readErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

/** Longest description of an event type, in code points: for readers of the document. */
const MAX_DESCRIPTION_LENGTH = 10_000

/** A type of events as it is answered. */
export const EventTypeBody = Schema.Struct({
  object: Schema.Literal("event_type"),
  type: EventType.EventTypeName.annotate({ description: "The name of the type." }),
  description: Wire.text(MAX_DESCRIPTION_LENGTH).annotate({ description: "What such an event tells." }),
  schema: Wire.anyJson(
    "The JSON Schema (2020-12) of `data`. Publishing refuses fields that it doesn't name.",
  ),
  example: Wire.anyJson("An example of `data`: what a test event carries."),
}).annotate({ identifier: "EventType", description: "A type of events, and what their data looks like." })

/** The whole catalogue. */
export const EventTypeListBody = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(EventTypeBody)
    .check(Schema.isMaxLength(EventType.MAX_EVENT_TYPES))
    .annotate({ description: "In the order of their names." }),
  has_more: Schema.Literal(false),
}).annotate({ identifier: "EventTypeList", description: "All event types." })

export const EventTypesApi = HttpApiGroup.make("event_types")
  .add(
    HttpApiEndpoint.get("listEventTypes", "/event_types", {
      success: EventTypeListBody,
      error: readErrors(),
    })
      .annotate(RequiredPermission, "events:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List event types",
          description: "Lists the types of events that there are here, the host's own included.",
        }),
      ),
  )
  .annotateMerge(OpenApi.annotations({ title: "Event types", description: "What events may be called." }))
