/**
 * A webhook endpoint: an address of a receiver, what it wants to hear of, and how it knows us.
 */
import { type DateTime, Schema } from "effect"
import { EndpointId } from "../events/EndpointId.ts"
import { EventTypeName, MAX_EVENT_TYPE_LENGTH, MAX_EVENT_TYPES } from "../events/EventType.ts"
import * as Metadata from "../shared/Metadata.ts"
import { pageFields } from "../shared/Page.ts"
import * as Text from "../shared/Text.ts"
import { MAX_URL_LENGTH } from "./EndpointUrl.ts"
import type { SealedSecret } from "./Keyring.ts"
import * as RequestHeaders from "./RequestHeaders.ts"

export { ENDPOINT_ID_PREFIX, EndpointId } from "../events/EndpointId.ts"

/** Most endpoints of a tenant that are not deleted: each event may make a delivery for each. */
export const MAX_ENDPOINTS = 500
/** Longest description, in code points. */
export const MAX_DESCRIPTION_LENGTH = 500
/** Most secrets of an endpoint that sign at the same time. */
export const MAX_LIVE_SECRETS = 5
/** How long the previous secret goes on signing after a rotation, unless told otherwise: a day. */
export const DEFAULT_ROTATION_OVERLAP_SECONDS = 86_400
/** Longest time that a previous secret goes on signing: 7 days. */
export const MAX_ROTATION_OVERLAP_SECONDS = 604_800
/** An endpoint with nothing but failures for so long is disabled: 5 days. */
export const MAX_FAILING_MILLIS = 5 * 86_400_000

/** Text that is none is an unknown id. */
export const isEndpointId: (id: string) => id is EndpointId = Schema.is(EndpointId)

/** The filter that admits every type, those included that are added later. */
export const ALL_TYPES = "*"

const typesMessage = { message: `must be ["*"] or 1 to ${MAX_EVENT_TYPES} different event types` }
const isTypes = (types: ReadonlyArray<string>): boolean =>
  new Set(types).size === types.length && (types.length === 1 || !types.includes(ALL_TYPES))

const filterItemMessage = { message: 'must be an event type such as invoice.paid, or "*"' }
const isEventTypeName = Schema.is(EventTypeName)
/** A string, and no union with the literal: generated clients make a class of their own for that. */
const FilterItem = Schema.String.annotate(filterItemMessage).check(
  Schema.makeFilter<string>((text) => text === ALL_TYPES || isEventTypeName(text), {
    ...filterItemMessage,
    toJsonSchema: () => ({
      maxLength: MAX_EVENT_TYPE_LENGTH,
      pattern: String.raw`^(\*|[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+)$`,
    }),
  }),
)

/** Which events an endpoint hears of. Whether the types are known is for the catalogue to say. */
export const EventFilter = Schema.Array(FilterItem)
  .annotate({ message: 'must be a list of event types, or ["*"] for all of them' })
  .check(
    Schema.makeFilter<ReadonlyArray<string>>(isTypes, {
      ...typesMessage,
      toJsonSchema: () => ({ uniqueItems: true }),
    }),
    // Last, as in `Text.bounded`.
    Schema.isBetweenLength(1, MAX_EVENT_TYPES, typesMessage),
  )

/** Whether an event type matches a filter. */
export const matchesFilter = (filter: ReadonlyArray<string>, type: string): boolean =>
  filter[0] === ALL_TYPES || filter.includes(type)

/** `hmac`: a shared secret (`v1`). `ed25519`: we hold the private key, the receiver the public one (`v1a`). */
export const SignatureScheme = Schema.Literals(["hmac", "ed25519"]).annotate({
  message: "must be hmac or ed25519",
})
export type SignatureScheme = typeof SignatureScheme.Type

export const EndpointStatus = Schema.Literals(["enabled", "disabled"]).annotate({
  message: "must be enabled or disabled",
})
export type EndpointStatus = typeof EndpointStatus.Type

/**
 * Why an endpoint is disabled. `manual`: somebody did it. `gone`: it answered 410. `failing`: nothing but
 * failures for `MAX_FAILING_MILLIS`.
 */
export const disabledReasons = ["manual", "gone", "failing"] as const
export type DisabledReason = (typeof disabledReasons)[number]

const Url = Text.bounded(1, MAX_URL_LENGTH)
const Description = Text.bounded(0, MAX_DESCRIPTION_LENGTH)

export interface Endpoint {
  readonly id: EndpointId
  readonly url: string
  /** `["*"]` or a list of types. */
  readonly eventTypes: ReadonlyArray<string>
  readonly description: string | null
  /** Sent with every attempt, by lower-case name. */
  readonly headers: RequestHeaders.RequestHeaders
  readonly metadata: Metadata.Metadata
  readonly signature: SignatureScheme
  /** `whpk_…` of the newest key, with `ed25519`. */
  readonly publicKey: string | null
  readonly status: EndpointStatus
  readonly disabledReason: DisabledReason | null
  readonly disabledAt: DateTime.Utc | null
  /** Since when all attempts have failed; `null` after a success. */
  readonly failingSince: DateTime.Utc | null
  readonly createdAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
}

/** A secret as it is stored: encrypted. */
export interface EndpointSecret {
  readonly sealed: SealedSecret
  readonly createdAt: DateTime.Utc
  /** From then on it signs no more. The newest has no end. */
  readonly expiresAt: DateTime.Utc | null
}

/** An endpoint with what never leaves the library. */
export interface StoredEndpoint {
  readonly endpoint: Endpoint
  /** Newest first; at most `MAX_LIVE_SECRETS`. */
  readonly secrets: ReadonlyArray<EndpointSecret>
}

/** The secrets that sign at an instant, newest first. */
export const liveSecrets = (
  secrets: ReadonlyArray<EndpointSecret>,
  nowMillis: number,
): ReadonlyArray<EndpointSecret> =>
  secrets.filter(({ expiresAt }) => expiresAt === null || nowMillis < expiresAt.epochMilliseconds)

/** What it takes to create an endpoint. */
export const CreateEndpoint = Schema.Struct({
  url: Url,
  eventTypes: EventFilter,
  description: Schema.optionalKey(Description),
  headers: Schema.optionalKey(RequestHeaders.RequestHeaders),
  metadata: Schema.optionalKey(Metadata.Metadata),
  signature: Schema.optionalKey(SignatureScheme),
})
export interface CreateEndpoint extends Schema.Schema.Type<typeof CreateEndpoint> {}

/** A change: what is left out stays. `null` removes description, headers or metadata. */
export const UpdateEndpoint = Schema.Struct({
  /** One of another origin (scheme, host, port) needs the headers anew, where there are any. */
  url: Schema.optionalKey(Url),
  eventTypes: Schema.optionalKey(EventFilter),
  description: Schema.optionalKey(Schema.NullOr(Description)),
  /** Replaces all of them. */
  headers: Schema.optionalKey(Schema.NullOr(RequestHeaders.RequestHeaders)),
  metadata: Schema.optionalKey(Schema.NullOr(Metadata.MetadataPatch)),
  /** `disabled` ends its pending deliveries; `enabled` resends nothing by itself. */
  status: Schema.optionalKey(EndpointStatus),
})
export interface UpdateEndpoint extends Schema.Schema.Type<typeof UpdateEndpoint> {}

const overlapMessage = { message: `must be an integer from 0 to ${MAX_ROTATION_OVERLAP_SECONDS}` }
export const RotateSecret = Schema.Struct({
  /** How long the previous secret signs along with the new one, in seconds: 0 to 604,800, default 86,400. */
  expirePreviousAfterSeconds: Schema.optionalKey(
    Schema.Int.annotate(overlapMessage).check(
      Schema.isBetween({ minimum: 0, maximum: MAX_ROTATION_OVERLAP_SECONDS }, overlapMessage),
    ),
  ),
})
export interface RotateSecret extends Schema.Schema.Type<typeof RotateSecret> {}

/** Which endpoints to list. */
export const ListEndpoints = Schema.Struct({
  ...pageFields,
  status: Schema.optionalKey(EndpointStatus),
})
export interface ListEndpoints extends Schema.Schema.Type<typeof ListEndpoints> {}

/** Which of an endpoint's past events to send again. */
export const ReplayRange = Schema.Struct({
  /** Events published at this instant or later. */
  since: Schema.DateTimeUtc,
  /** Events published before this instant. Default: now. */
  until: Schema.optionalKey(Schema.DateTimeUtc),
  /** `Failed` (default): events whose newest delivery to the endpoint failed. `all`: all that its filter admits. */
  status: Schema.optionalKey(
    Schema.Literals(["Failed", "all"]).annotate({ message: "must be Failed or all" }),
  ),
  /** Only events of these types. */
  types: Schema.optionalKey(EventFilter),
  /** Sends nothing, and gives how many it would send. */
  dryRun: Schema.optionalKey(Schema.Boolean),
})
export interface ReplayRange extends Schema.Schema.Type<typeof ReplayRange> {}

/** There is no such endpoint for this tenant, or it was deleted. */
export class EndpointNotFound extends Schema.TaggedError<EndpointNotFound>()(
  "EndpointNotFound",
  { id: Schema.String },
  { httpApiStatus: 404 },
) {
  override get message(): string {
    return `no webhook endpoint has the id ${this.id}`
  }
}

/** Nothing can be sent to the endpoint now. Enable it first. */
export class EndpointIsDisabled extends Schema.TaggedError<EndpointIsDisabled>()(
  "EndpointIsDisabled",
  { id: EndpointId },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `the webhook endpoint ${this.id} is disabled`
  }
}

/** The endpoint's filter does not admit the event's type. */
export class EventNotAdmitted extends Schema.TaggedError<EventNotAdmitted>()(
  "EventNotAdmitted",
  { id: EndpointId, type: Schema.String },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `the event types of the webhook endpoint ${this.id} do not include ${this.type}`
  }
}

/** The tenant has as many endpoints as it may have. */
export class TooManyEndpoints extends Schema.TaggedError<TooManyEndpoints>()(
  "TooManyEndpoints",
  {},
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `there are already ${MAX_ENDPOINTS} webhook endpoints`
  }
}
