/**
 * The REST definitions of webhook endpoints.
 */
import {
  Endpoint,
  EndpointUrl,
  EventType,
  MAX_RANGE_REPLAY,
  Metadata,
  RequestHeaders,
  Text,
} from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { EventBody } from "./EventsApi.ts"
import { RequiredPermission } from "./Permission.ts"
import { SecretAnswer } from "./SecretAnswer.ts"
import * as Wire from "./Wire.ts"

/** The longest text of a secret or a public key, in characters. */
const MAX_KEY_LENGTH = 100

const UrlField = Text.bounded(1, EndpointUrl.MAX_URL_LENGTH)
  .check(
    // The domain checks the whole URL, depending on the mode. JSON Schema can express only the schemes.
    Schema.makeFilter<string>(() => true, {
      toJsonSchema: () => ({ pattern: "^[Hh][Tt][Tt][Pp][Ss]?://" }),
    }),
  )
  .annotate({
    description:
      "The URL that events are sent to. In live mode: https, port 443 or 8443. Test mode also allows http, any port, and this machine if the server allows it.",
  })
const EventTypesField = Endpoint.EventFilter.annotate({
  description:
    'The event types that the endpoint gets. `["*"]` for all types, including those that are added later.',
})
const DescriptionText = Text.bounded(0, Endpoint.MAX_DESCRIPTION_LENGTH)
const MetadataField = Metadata.Metadata.annotate({ description: "Your own free-form key/value pairs." })
const SignatureField = Endpoint.SignatureScheme.annotate({
  description:
    "How requests are signed, following the Standard Webhooks specification: `hmac` (`v1`, a shared secret) or `ed25519` (`v1a`, a key pair).",
})
const StatusField = Endpoint.EndpointStatus.annotate({
  description: "Whether events are sent to the endpoint.",
})

// Refuse the mask as a value: a client that sends back what it has read would replace the real value.
const isOwnValue = (headers: RequestHeaders.RequestHeaders): boolean =>
  !Object.values(headers).includes(RequestHeaders.MASK)
const HeadersInput = RequestHeaders.RequestHeaders.check(
  Schema.makeFilter(isOwnValue, {
    message: `must not have the value ${RequestHeaders.MASK}, which is only shown in place of the real value`,
    // JSON Schema doesn't express this rule.
    toJsonSchema: () => ({}),
  }),
)

const endpointFields = {
  object: Schema.Literal("webhook_endpoint"),
  id: Endpoint.EndpointId.annotate({ description: "The id of the endpoint." }),
  url: UrlField,
  event_types: EventTypesField,
  description: Schema.NullOr(DescriptionText).annotate({ description: "Your own note." }),
  headers: Wire.sentHeaders(
    `Headers that are sent with every attempt. A value may be a credential, so all values are shown as \`${RequestHeaders.MASK}\`.`,
  ),
  metadata: MetadataField,
  signature: SignatureField,
  public_key: Schema.NullOr(Wire.text(MAX_KEY_LENGTH)).annotate({
    description: "With `ed25519`: the public key (`whpk_…`) to verify signatures with.",
  }),
  status: StatusField,
  disabled_reason: Schema.NullOr(Schema.Literals(Endpoint.disabledReasons)).annotate({
    description:
      "Why the endpoint is disabled: `manual` (by a request), `gone` (it answered 410) or `failing` (all attempts failed for 5 days).",
  }),
  disabled_at: Wire.instantOrNull("When the endpoint was disabled."),
  failing_since: Wire.instantOrNull("Since when all attempts have failed."),
  livemode: Wire.Livemode,
  created_at: Wire.instant("When the endpoint was created."),
  updated_at: Wire.instant("When the endpoint last changed."),
}

/** A webhook endpoint in an answer. */
export const EndpointBody = Schema.Struct(endpointFields).annotate({
  identifier: "WebhookEndpoint",
  description: "A URL that events are sent to, and the event types that it gets.",
})

/** A webhook endpoint with its new secret. */
export const EndpointWithSecretBody = Schema.Struct({
  ...endpointFields,
  secret: Schema.optionalKey(
    Wire.text(MAX_KEY_LENGTH).annotate({
      description: "With `hmac`: the secret (`whsec_…`) to verify signatures with. No other answer shows it.",
    }),
  ),
}).annotate({
  identifier: "WebhookEndpointWithSecret",
  description: "A webhook endpoint with its new secret.",
})

/** The answer to deleting a webhook endpoint. */
export const DeletedEndpointBody = Schema.Struct({
  object: Schema.Literal("webhook_endpoint"),
  id: Endpoint.EndpointId.annotate({ description: "The id of the endpoint." }),
  deleted: Schema.Literal(true),
}).annotate({ identifier: "DeletedWebhookEndpoint", description: "A webhook endpoint that was deleted." })

const CreateBody = Schema.Struct({
  url: UrlField,
  eventTypes: EventTypesField,
  description: Schema.optionalKey(DescriptionText.annotate({ description: "Your own note." })),
  headers: Schema.optionalKey(
    HeadersInput.annotate({ description: "Headers to send with every attempt, by lower-case name." }),
  ),
  metadata: Schema.optionalKey(MetadataField),
  signature: Schema.optionalKey(SignatureField),
})
  .pipe(Schema.encodeKeys({ eventTypes: "event_types" }))
  .annotate({
    identifier: "CreateWebhookEndpoint",
    description: "A new webhook endpoint.",
  })

const UpdateBody = Schema.Struct({
  url: Schema.optionalKey(UrlField),
  eventTypes: Schema.optionalKey(EventTypesField),
  description: Schema.optionalKey(
    Schema.NullOr(DescriptionText).annotate({ description: "Your own note. `null` removes it." }),
  ),
  headers: Schema.optionalKey(
    Schema.NullOr(HeadersInput).annotate({
      description:
        "Replaces all headers. `null` removes them. Required when you change `url` to another origin (scheme, host, port) and the endpoint has headers.",
    }),
  ),
  metadata: Schema.optionalKey(
    Schema.NullOr(Metadata.MetadataPatch).annotate({
      description:
        "Keys to set. A key with the value `null` is removed. Other keys stay as they are. `null` instead of an object removes all keys.",
    }),
  ),
  status: Schema.optionalKey(
    Endpoint.EndpointStatus.annotate({
      description:
        "`disabled` ends the endpoint's pending deliveries. `enabled` does not send missed events again.",
    }),
  ),
})
  .pipe(Schema.encodeKeys({ eventTypes: "event_types" }))
  .annotate({
    identifier: "UpdateWebhookEndpoint",
    description: "The fields to change. Other fields stay as they are.",
  })

const RotateBody = Schema.Struct({
  expirePreviousAfterSeconds: Endpoint.RotateSecret.fields.expirePreviousAfterSeconds.pipe(
    Schema.annotateKey({
      description: `How long webhooks are signed with the previous secret too, in seconds. Default ${Endpoint.DEFAULT_ROTATION_OVERLAP_SECONDS} (a day).`,
    }),
  ),
})
  .pipe(Schema.encodeKeys({ expirePreviousAfterSeconds: "expire_previous_after_seconds" }))
  .annotate({ identifier: "RotateWebhookSecret", description: "Options for rotating a secret." })

const TestBody = Schema.Struct({
  type: EventType.EventTypeName.annotate({ description: "The type of the event to send." }),
}).annotate({ identifier: "TestWebhookEndpoint", description: "The test event to send." })

const ReplayBody = Schema.Struct({
  since: Wire.instant("Events published at this instant or later."),
  until: Schema.optionalKey(Wire.instant("Events published before this instant. Default: now.")),
  status: Schema.optionalKey(
    Schema.Literals(["Failed", "all"]).annotate({
      message: "must be Failed or all",
      description:
        "`Failed` (default): events whose newest delivery to the endpoint failed. `all`: all events of the types that it subscribes to.",
    }),
  ),
  types: Schema.optionalKey(Endpoint.EventFilter.annotate({ description: "Only events of these types." })),
  dryRun: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "If `true`, nothing is sent, and `count` is the number of events that would be sent.",
    }),
  ),
})
  .pipe(Schema.encodeKeys({ dryRun: "dry_run" }))
  .annotate({ identifier: "ReplayWebhookEvents", description: "Selects the past events to send again." })

/** The result of replaying past events. */
export const RangeReplayBody = Schema.Struct({
  object: Schema.Literal("webhook_replay"),
  endpoint_id: Endpoint.EndpointId.annotate({ description: "The endpoint that the events are sent to." }),
  count: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_RANGE_REPLAY })).annotate({
    description: "The number of deliveries that were made. In a dry run: that would be made.",
  }),
  dry_run: Schema.Boolean.annotate({ description: "Whether this was a dry run, which sends nothing." }),
}).annotate({ identifier: "WebhookReplay", description: "The result of replaying past events." })

const ListQuery = Schema.Struct({
  ...Wire.pageFields,
  status: Schema.optionalKey(
    Endpoint.EndpointStatus.annotate({ description: "Only endpoints in this status." }),
  ),
}).pipe(Schema.encodeKeys(Wire.pageKeys))

const Params = Schema.Struct({ id: Schema.String.annotate({ description: "The id of the endpoint." }) })

export const WebhookEndpointsApi = HttpApiGroup.make("webhook_endpoints")
  .add(
    HttpApiEndpoint.post("createWebhookEndpoint", "/webhook_endpoints", {
      payload: CreateBody,
      success: EndpointWithSecretBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors(),
    })
      .annotate(RequiredPermission, "webhooks:write")
      .annotate(SecretAnswer, true)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a webhook endpoint",
          description: `Creates an endpoint. Only this answer shows its secret. 409 when there are already ${Endpoint.MAX_ENDPOINTS} endpoints. In live mode, also 409 when the server has no key to encrypt secrets with.`,
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listWebhookEndpoints", "/webhook_endpoints", {
      query: ListQuery,
      success: Wire.list(EndpointBody, "WebhookEndpointList"),
      error: readErrors(),
    })
      .annotate(RequiredPermission, "webhooks:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List webhook endpoints",
          description: "Lists endpoints, newest first.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getWebhookEndpoint", "/webhook_endpoints/:id", {
      params: Params,
      success: EndpointBody,
      error: readErrors("not_found"),
    })
      .annotate(RequiredPermission, "webhooks:read")
      .annotateMerge(
        OpenApi.annotations({ summary: "Get a webhook endpoint", description: "Returns one endpoint." }),
      ),
  )
  .add(
    HttpApiEndpoint.patch("updateWebhookEndpoint", "/webhook_endpoints/:id", {
      params: Params,
      payload: UpdateBody,
      success: EndpointBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "webhooks:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Change a webhook endpoint",
          description: "Changes the given fields. Other fields stay as they are.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.delete("deleteWebhookEndpoint", "/webhook_endpoints/:id", {
      params: Params,
      success: DeletedEndpointBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "webhooks:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Delete a webhook endpoint",
          description:
            "Deletes an endpoint and its secrets. Its pending deliveries become `Failed`. Its delivery history is kept.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("rotateWebhookSecret", "/webhook_endpoints/:id/rotate_secret", {
      params: Params,
      payload: RotateBody,
      success: EndpointWithSecretBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "webhooks:write")
      .annotate(SecretAnswer, true)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Rotate a webhook secret",
          description:
            "Gives the endpoint a new secret. Only this answer shows it. For a while, webhooks are signed with both the new and the previous secret, so that receivers can switch.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("testWebhookEndpoint", "/webhook_endpoints/:id/test", {
      params: Params,
      payload: TestBody,
      success: EventBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "webhooks:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Test a webhook endpoint",
          description:
            "Sends the example of an event type to this endpoint only, as a real event. The endpoint need not subscribe to the type. 409 when it is disabled.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("replayWebhookEvents", "/webhook_endpoints/:id/replay", {
      params: Params,
      payload: ReplayBody,
      success: RangeReplayBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "webhooks:replay")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Replay past events",
          description: `Sends the events of a period to an endpoint again, in one transaction: those that failed, or all. Events that have a pending delivery to the endpoint are left out. More than ${MAX_RANGE_REPLAY} events are refused. 409 when the endpoint is disabled.`,
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Webhook endpoints",
      description:
        "The URLs that events are sent to. Requests are signed following the Standard Webhooks specification.",
    }),
  )
