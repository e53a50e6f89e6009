/**
 * The REST definitions of the catalogue of event types.
 */
import { EventType } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { readErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

/** The longest description of an event type that the document allows, in code points. */
const MAX_DESCRIPTION_LENGTH = 10_000

/** An event type in an answer. */
export const EventTypeBody = Schema.Struct({
  object: Schema.Literal("event_type"),
  type: EventType.EventTypeName.annotate({ description: "The name of the type." }),
  description: Wire.text(MAX_DESCRIPTION_LENGTH).annotate({
    description: "What an event of this type means.",
  }),
  schema: Wire.anyJson("The JSON Schema (2020-12) of `data`. An event with other fields is refused."),
  example: Wire.anyJson("An example of `data`. Test events carry it."),
}).annotate({ identifier: "EventType", description: "An event type, with the schema of its data." })

/** The whole catalogue. */
export const EventTypeListBody = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(EventTypeBody)
    .check(Schema.isMaxLength(EventType.MAX_EVENT_TYPES))
    .annotate({ description: "The event types, sorted by name." }),
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
          description: "Lists all event types: the built-in ones and those that the app defines.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Event types", description: "The types that events can have." }),
  )
