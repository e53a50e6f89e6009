/**
 * The `webhooks` section of the OpenAPI document: the request that a receiver gets, for each type of events.
 */
import { EVENT_ID_PREFIX, type EventType } from "@billwright/core"
import { type Json, type JsonObject, ofData } from "./JsonSchema.ts"

/** The tag of the section's operations. */
export const WEBHOOKS_TAG = {
  name: "Webhooks",
  description:
    "What receivers get: a POST for each event, signed by the Standard Webhooks specification (standardwebhooks.com). An answer of 2xx within 15 seconds says that it arrived; anything else is tried again. The same event may come more than once: `webhook-id` tells.",
}

const EXAMPLE_ID = "evt_01kb2s0c4ee9ysm1h4xqv0tz8d"
/** Five secrets may sign at once. */
const MAX_SIGNATURE_LENGTH = 500

const ID_SCHEMA = { type: "string", pattern: `^${EVENT_ID_PREFIX}_[0-7][0-9a-hjkmnp-tv-z]{25}$` }

const header = (name: string, description: string, schema: JsonObject, example: Json): Json => ({
  name,
  in: "header",
  required: true,
  description,
  schema,
  example,
})

const HEADERS: Json = [
  header("webhook-id", "The event's id: the same in every attempt and replay.", ID_SCHEMA, EXAMPLE_ID),
  header(
    "webhook-timestamp",
    "When this attempt was made, in seconds since 1970. Refuse what is older than five minutes.",
    { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    1795254000,
  ),
  header(
    "webhook-signature",
    "Signatures of `id.timestamp.body` with spaces between them, one for each secret that is live: `v1,<base64>` (HMAC-SHA256) or `v1a,<base64>` (Ed25519).",
    { type: "string", minLength: 1, maxLength: MAX_SIGNATURE_LENGTH },
    `v1,${"k".repeat(43)}=`,
  ),
]

const RESPONSES: Json = {
  "2XX": { description: "It arrived. The body is not looked at." },
  "410": { description: "The receiver wants nothing more: the endpoint is disabled." },
  default: {
    description: "It did not arrive. It is sent again, later and later; redirects are not followed.",
  },
}

const payloadOf = (type: EventType.EventType, data: JsonObject): JsonObject => ({
  type: "object",
  properties: {
    id: { ...ID_SCHEMA, description: "The id of the event." },
    type: { type: "string", enum: [type.name], description: "The type of the event." },
    timestamp: {
      type: "string",
      format: "date-time",
      maxLength: 24,
      description: "When it was published: UTC, to the millisecond.",
    },
    livemode: { type: "boolean", description: "Whether it is live, or of the test mode." },
    data,
  },
  required: ["id", "type", "timestamp", "livemode", "data"],
  additionalProperties: false,
})

/** A component's name: identifiers may hold any character. */
const componentName = (type: string, key: string): string =>
  `${type}.${key.replaceAll(/[^A-Za-z0-9._-]/g, "_")}`

const DEFINITION = "#/$defs/"

const renameIn = (type: string) => (reference: string) => {
  if (!reference.startsWith(DEFINITION)) return reference
  const key = decodeURIComponent(reference.slice(DEFINITION.length))
  return `#/components/schemas/${componentName(type, key.replaceAll("~1", "/").replaceAll("~0", "~"))}`
}

export interface WebhooksSection {
  /** By the names of the types. */
  readonly webhooks: JsonObject
  /** Components that the payloads refer to. */
  readonly schemas: JsonObject
}

/** Makes the section for a catalogue. */
export const make = (types: ReadonlyArray<EventType.EventType>): WebhooksSection => {
  const webhooks: JsonObject = {}
  const schemas: JsonObject = {}
  for (const type of types) {
    const { definitions, schema } = ofData(type, renameIn(type.name))
    for (const [key, value] of Object.entries(definitions)) schemas[componentName(type.name, key)] = value
    const example = {
      id: EXAMPLE_ID,
      type: type.name,
      timestamp: "2026-11-21T09:40:00.000Z",
      livemode: false,
      data: type.example as Json,
    }
    webhooks[type.name] = {
      post: {
        operationId: `webhook.${type.name}`,
        summary: type.name,
        description: type.description,
        tags: [WEBHOOKS_TAG.name],
        security: [],
        parameters: HEADERS,
        requestBody: {
          required: true,
          content: { "application/json": { schema: payloadOf(type, schema), example } },
        },
        responses: RESPONSES,
      },
    }
  }
  return { webhooks, schemas }
}
