/**
 * Makes the `webhooks` section of the OpenAPI document: for each event type, the request that receivers get.
 */
import { EVENT_ID_PREFIX, type EventType } from "@billwright/core"
import { type Json, type JsonObject, ofData } from "./JsonSchema.ts"

/** The tag of the section's operations. */
export const WEBHOOKS_TAG = {
  name: "Webhooks",
  description:
    "The requests that receivers get: a POST for each event, signed following the Standard Webhooks specification (standardwebhooks.com). Answer with 2xx within 15 seconds to confirm that the event arrived. After any other answer, the request is sent again. The same event may arrive more than once, with the same `webhook-id`.",
}

const EXAMPLE_ID = "evt_01kb2s0c4ee9ysm1h4xqv0tz8d"
/** At most five secrets sign a request. */
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
  header(
    "webhook-id",
    "The event's id. Every attempt and replay carries the same id.",
    ID_SCHEMA,
    EXAMPLE_ID,
  ),
  header(
    "webhook-timestamp",
    "When this attempt was made, in seconds since 1970. Refuse requests that are older than five minutes.",
    { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    1795254000,
  ),
  header(
    "webhook-signature",
    "Signatures of `id.timestamp.body`, separated by spaces, one for each valid secret: `v1,<base64>` (HMAC-SHA256) or `v1a,<base64>` (Ed25519).",
    { type: "string", minLength: 1, maxLength: MAX_SIGNATURE_LENGTH },
    `v1,${"k".repeat(43)}=`,
  ),
]

const RESPONSES: Json = {
  "2XX": { description: "The event arrived. The body of the answer is ignored." },
  "410": { description: "The receiver wants no more events. The endpoint is disabled." },
  default: {
    description:
      "The event did not arrive. It is sent again, with growing delays. Redirects are not followed.",
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
      description: "When the event was published, in UTC, to the millisecond.",
    },
    livemode: { type: "boolean", description: "`true` in live mode, `false` in test mode." },
    data,
  },
  required: ["id", "type", "timestamp", "livemode", "data"],
  additionalProperties: false,
})

/** The name of a component. Characters that are not allowed in one are replaced. */
const componentName = (type: string, key: string): string =>
  `${type}.${key.replaceAll(/[^A-Za-z0-9._-]/g, "_")}`

const DEFINITION = "#/$defs/"

const renameIn = (type: string) => (reference: string) => {
  if (!reference.startsWith(DEFINITION)) return reference
  const key = decodeURIComponent(reference.slice(DEFINITION.length))
  return `#/components/schemas/${componentName(type, key.replaceAll("~1", "/").replaceAll("~0", "~"))}`
}

export interface WebhooksSection {
  /** The requests, by event type. */
  readonly webhooks: JsonObject
  /** The components that the payloads refer to. */
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
