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

/** Longest spelling of a secret or a public key, in characters. */
const MAX_KEY_LENGTH = 100

const UrlField = Text.bounded(1, EndpointUrl.MAX_URL_LENGTH)
  .check(
    // The domain judges the whole URL, by the mode. JSON Schema can say which schemes there are.
    Schema.makeFilter<string>(() => true, {
      toJsonSchema: () => ({ pattern: "^[Hh][Tt][Tt][Pp][Ss]?://" }),
    }),
  )
  .annotate({
    description:
      "Where events are sent. Live: https, port 443 or 8443. Test: also http, any port and this machine.",
  })
const EventTypesField = Endpoint.EventFilter.annotate({
  description: 'The types of events that it gets: `["*"]` for all, those that are added later included.',
})
const DescriptionText = Text.bounded(0, Endpoint.MAX_DESCRIPTION_LENGTH)
const MetadataField = Metadata.Metadata.annotate({ description: "Free-form key/value pairs of yours." })
const SignatureField = Endpoint.SignatureScheme.annotate({
  description:
    "How requests are signed, by the Standard Webhooks specification: `hmac` (`v1`, a shared secret) or `ed25519` (`v1a`, a key pair).",
})
const StatusField = Endpoint.EndpointStatus.annotate({ description: "Whether events are sent to it." })

// What is shown in place of a credential would replace it when it is sent back.
const isOwnValue = (headers: RequestHeaders.RequestHeaders): boolean =>
  !Object.values(headers).includes(RequestHeaders.MASK)
const HeadersInput = RequestHeaders.RequestHeaders.check(
  Schema.makeFilter(isOwnValue, {
    message: `must not have the value ${RequestHeaders.MASK}, which stands for one that is not shown`,
    // JSON Schema says nothing of it, but of the headers as a whole.
    toJsonSchema: () => ({}),
  }),
)

const endpointFields = {
  object: Schema.Literal("webhook_endpoint"),
  id: Endpoint.EndpointId.annotate({ description: "The id of the endpoint." }),
  url: UrlField,
  event_types: EventTypesField,
  description: Schema.NullOr(DescriptionText).annotate({ description: "A note of yours." }),
  headers: Wire.sentHeaders(
    `Sent along with every attempt. Any may hold a credential, so that values are shown as \`${RequestHeaders.MASK}\`.`,
  ),
  metadata: MetadataField,
  signature: SignatureField,
  public_key: Schema.NullOr(Wire.text(MAX_KEY_LENGTH)).annotate({
    description: "With `ed25519`: the public key, `whpk_…`, that verifies signatures.",
  }),
  status: StatusField,
  disabled_reason: Schema.NullOr(Schema.Literals(Endpoint.disabledReasons)).annotate({
    description:
      "Why it is disabled: `manual`, `gone` (it answered 410), `failing` (nothing but failures for 5 days).",
  }),
  disabled_at: Wire.instantOrNull("Since when it is disabled."),
  failing_since: Wire.instantOrNull("Since when all attempts have failed."),
  livemode: Wire.Livemode,
  created_at: Wire.instant("When the endpoint was created."),
  updated_at: Wire.instant("When the endpoint last changed."),
}

/** A webhook endpoint as it is answered. */
export const EndpointBody = Schema.Struct(endpointFields).annotate({
  identifier: "WebhookEndpoint",
  description: "Where events are sent, and which.",
})

/** A webhook endpoint with its new secret. */
export const EndpointWithSecretBody = Schema.Struct({
  ...endpointFields,
  secret: Schema.optionalKey(
    Wire.text(MAX_KEY_LENGTH).annotate({
      description: "With `hmac`: the secret, `whsec_…`, that verifies signatures. It is shown this once.",
    }),
  ),
}).annotate({
  identifier: "WebhookEndpointWithSecret",
  description: "A webhook endpoint with its new secret.",
})

/** What is left of a webhook endpoint that was deleted. */
export const DeletedEndpointBody = Schema.Struct({
  object: Schema.Literal("webhook_endpoint"),
  id: Endpoint.EndpointId.annotate({ description: "The id of the endpoint." }),
  deleted: Schema.Literal(true),
}).annotate({ identifier: "DeletedWebhookEndpoint", description: "A webhook endpoint that was deleted." })

const CreateBody = Schema.Struct({
  url: UrlField,
  eventTypes: EventTypesField,
  description: Schema.optionalKey(DescriptionText.annotate({ description: "A note of yours." })),
  headers: Schema.optionalKey(
    HeadersInput.annotate({ description: "Headers to send along with every attempt, by lower-case name." }),
  ),
  metadata: Schema.optionalKey(MetadataField),
  signature: Schema.optionalKey(SignatureField),
})
  .pipe(Schema.encodeKeys({ eventTypes: "event_types" }))
  .annotate({
    identifier: "CreateWebhookEndpoint",
    description: "What it takes to create a webhook endpoint.",
  })

const UpdateBody = Schema.Struct({
  url: Schema.optionalKey(UrlField),
  eventTypes: Schema.optionalKey(EventTypesField),
  description: Schema.optionalKey(
    Schema.NullOr(DescriptionText).annotate({ description: "A note of yours; `null` removes it." }),
  ),
  headers: Schema.optionalKey(
    Schema.NullOr(HeadersInput).annotate({
      description:
        "Replaces all of its headers; `null` removes them. Required, while it has some, with a `url` of another origin.",
    }),
  ),
  metadata: Schema.optionalKey(
    Schema.NullOr(Metadata.MetadataPatch).annotate({
      description: "Keys to set; a key set to null is removed, others stay. `null` removes all of them.",
    }),
  ),
  status: Schema.optionalKey(
    Endpoint.EndpointStatus.annotate({
      description: "`disabled` ends its pending deliveries; `enabled` sends nothing again by itself.",
    }),
  ),
})
  .pipe(Schema.encodeKeys({ eventTypes: "event_types" }))
  .annotate({ identifier: "UpdateWebhookEndpoint", description: "What to change. What is left out stays." })

const RotateBody = Schema.Struct({
  expirePreviousAfterSeconds: Endpoint.RotateSecret.fields.expirePreviousAfterSeconds.pipe(
    Schema.annotateKey({
      description: `How long the previous secret signs along with the new one, in seconds. Default ${Endpoint.DEFAULT_ROTATION_OVERLAP_SECONDS}, a day.`,
    }),
  ),
})
  .pipe(Schema.encodeKeys({ expirePreviousAfterSeconds: "expire_previous_after_seconds" }))
  .annotate({ identifier: "RotateWebhookSecret", description: "How to change over to a new secret." })

const TestBody = Schema.Struct({
  type: EventType.EventTypeName.annotate({ description: "The type of the event to send." }),
}).annotate({ identifier: "TestWebhookEndpoint", description: "Which event to send." })

const ReplayBody = Schema.Struct({
  since: Wire.instant("Events published at this instant or later."),
  until: Schema.optionalKey(Wire.instant("Events published before this instant: now when left out.")),
  status: Schema.optionalKey(
    Schema.Literals(["Failed", "all"]).annotate({
      message: "must be Failed or all",
      description:
        "`Failed`, the default: events whose newest delivery to the endpoint failed. `all`: all that it admits.",
    }),
  ),
  types: Schema.optionalKey(Endpoint.EventFilter.annotate({ description: "Only events of these types." })),
  dryRun: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Sends nothing, and tells how many would be sent." }),
  ),
})
  .pipe(Schema.encodeKeys({ dryRun: "dry_run" }))
  .annotate({ identifier: "ReplayWebhookEvents", description: "Which past events to send again." })

/** What a range replay made. */
export const RangeReplayBody = Schema.Struct({
  object: Schema.Literal("webhook_replay"),
  endpoint_id: Endpoint.EndpointId.annotate({ description: "The endpoint that they go to." }),
  count: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_RANGE_REPLAY })).annotate({
    description: "How many deliveries were made, or would be.",
  }),
  dry_run: Schema.Boolean.annotate({ description: "Whether nothing was sent." }),
}).annotate({ identifier: "WebhookReplay", description: "Past events that are sent again." })

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
          description: `Creates an endpoint. The answer shows its secret, this once. 409 when there are ${Endpoint.MAX_ENDPOINTS} already, or, in live mode, when the host has configured no key to encrypt secrets with.`,
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
        OpenApi.annotations({ summary: "Get a webhook endpoint", description: "Gives one endpoint." }),
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
          description: "Changes the fields that are named and leaves the others as they are.",
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
            "Deletes an endpoint and its secrets. Its pending deliveries fail; what was delivered stays on record.",
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
            "Gives the endpoint a new secret, shown this once. The previous one signs along with it for a while, so that receivers can change over.",
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
            "Sends the example of a type to this endpoint alone, as a real event, whatever types it admits. 409 when it is disabled.",
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
      .annotate(RequiredPermission, "webhooks:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Replay past events",
          description: `Sends an endpoint the events of a time again, in one step: what it missed, or all. At most ${MAX_RANGE_REPLAY} events; those with a pending delivery to it are left out. 409 when it is disabled.`,
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Webhook endpoints",
      description: "Where events are sent, signed by the Standard Webhooks specification.",
    }),
  )
