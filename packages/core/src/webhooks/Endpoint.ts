/**
 * A webhook endpoint: the URL of a receiver, the event types that it gets, and the secrets that sign them.
 */
import { type DateTime, Schema } from "effect"
import { EndpointId } from "../events/EndpointId.ts"
import { EventTypeName, MAX_EVENT_TYPE_LENGTH, MAX_EVENT_TYPES } from "../events/EventType.ts"
import * as Metadata from "../shared/Metadata.ts"
import * as NotFound from "../shared/NotFound.ts"
import { pageFields } from "../shared/Page.ts"
import * as Text from "../shared/Text.ts"
import * as TooMany from "../shared/TooMany.ts"
import { MAX_URL_LENGTH } from "./EndpointUrl.ts"
import type { SealedSecret } from "./Keyring.ts"
import * as RequestHeaders from "./RequestHeaders.ts"

export { ENDPOINT_ID_PREFIX, EndpointId } from "../events/EndpointId.ts"

/** Most endpoints of a tenant, not counting deleted ones. Each event can make a delivery for each of them. */
export const MAX_ENDPOINTS = 500
/** Longest description, in code points. */
export const MAX_DESCRIPTION_LENGTH = 500
/** Most secrets of an endpoint that sign at the same time. */
export const MAX_LIVE_SECRETS = 5
/** How long the previous secret keeps signing after a rotation by default: a day. */
export const DEFAULT_ROTATION_OVERLAP_SECONDS = 86_400
/** Longest time that the previous secret keeps signing after a rotation: 7 days. */
export const MAX_ROTATION_OVERLAP_SECONDS = 604_800
/** An endpoint is disabled when all its attempts have failed for this long: 5 days. */
export const MAX_FAILING_MILLIS = 5 * 86_400_000

/** Whether a text has the form of an endpoint id. Other texts are treated as unknown ids. */
export const isEndpointId: (id: string) => id is EndpointId = Schema.is(EndpointId)

/** The entry of a filter that includes every event type, also types that are added later. */
export const ALL_TYPES = "*"

const typesMessage = { message: `must be ["*"] or 1 to ${MAX_EVENT_TYPES} different event types` }
const isTypes = (types: ReadonlyArray<string>): boolean =>
  new Set(types).size === types.length && (types.length === 1 || !types.includes(ALL_TYPES))

const filterItemMessage = {
  message: `must be "*" or an event type such as invoice.paid: lower-case words joined by dots, at most ${MAX_EVENT_TYPE_LENGTH} characters`,
}
const isEventTypeName = Schema.is(EventTypeName)
/** A string and not a union with the literal `*`, because generated clients make a class for such a union. */
const FilterItem = Schema.String.annotate(filterItemMessage).check(
  Schema.makeFilter<string>((text) => text === ALL_TYPES || isEventTypeName(text), {
    ...filterItemMessage,
    toJsonSchema: () => ({
      maxLength: MAX_EVENT_TYPE_LENGTH,
      pattern: String.raw`^(\*|[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+)$`,
    }),
  }),
)

/** The event types that an endpoint gets. Whether the types exist is checked against the catalogue. */
export const EventFilter = Schema.Array(FilterItem)
  .annotate({ message: 'must be a list of event types, or ["*"] for all of them' })
  .check(
    Schema.makeFilter<ReadonlyArray<string>>(isTypes, {
      ...typesMessage,
      toJsonSchema: () => ({ uniqueItems: true }),
    }),
    // The length check comes last, for the reason given in `Text.bounded`.
    Schema.isBetweenLength(1, MAX_EVENT_TYPES, typesMessage),
  )

/** Whether an event type matches a filter. */
export const matchesFilter = (filter: ReadonlyArray<string>, type: string): boolean =>
  filter[0] === ALL_TYPES || filter.includes(type)

/**
 * How requests are signed. `hmac` uses a shared secret (`v1`). With `ed25519` the sender has the private key and the
 * receiver the public key (`v1a`).
 */
export const SignatureScheme = Schema.Literals(["hmac", "ed25519"]).annotate({
  message: "must be hmac or ed25519",
})
export type SignatureScheme = typeof SignatureScheme.Type

export const EndpointStatus = Schema.Literals(["enabled", "disabled"]).annotate({
  message: "must be enabled or disabled",
})
export type EndpointStatus = typeof EndpointStatus.Type

/**
 * Why an endpoint is disabled. `manual`: by an update. `gone`: it answered 410. `failing`: all its attempts failed
 * for `MAX_FAILING_MILLIS`.
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
  /** Headers that are sent with every attempt, by lower-case name. Values are stored sealed: see `StoredEndpoint`. */
  readonly headers: RequestHeaders.RequestHeaders
  readonly metadata: Metadata.Metadata
  readonly signature: SignatureScheme
  /** With `ed25519`: the newest public key, `whpk_…`. */
  readonly publicKey: string | null
  readonly status: EndpointStatus
  readonly disabledReason: DisabledReason | null
  readonly disabledAt: DateTime.Utc | null
  /** The start of the first failed attempt since the last success; `null` after a success. */
  readonly failingSince: DateTime.Utc | null
  readonly createdAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
}

/** A secret as it is stored: sealed by the `Keyring`. */
export interface EndpointSecret {
  readonly sealed: SealedSecret
  readonly createdAt: DateTime.Utc
  /** The secret does not sign from this instant on. `null` for the newest secret. */
  readonly expiresAt: DateTime.Utc | null
}

/** An endpoint with its secrets, which never leave the library. The values of its headers are sealed by the `Keyring`. */
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

/** The input of `Endpoints.create`. */
export const CreateEndpoint = Schema.Struct({
  url: Url,
  eventTypes: EventFilter,
  description: Schema.optionalKey(Description),
  headers: Schema.optionalKey(RequestHeaders.RequestHeaders),
  metadata: Schema.optionalKey(Metadata.Metadata),
  signature: Schema.optionalKey(SignatureScheme),
})
export interface CreateEndpoint extends Schema.Schema.Type<typeof CreateEndpoint> {}

/** The input of `Endpoints.update`. Fields left out stay as they are. `null` removes description, headers or metadata. */
export const UpdateEndpoint = Schema.Struct({
  /** When the new URL has another origin (scheme, host, port) and the endpoint has headers, give `headers` too. */
  url: Schema.optionalKey(Url),
  eventTypes: Schema.optionalKey(EventFilter),
  description: Schema.optionalKey(Schema.NullOr(Description)),
  /** Replaces all headers. */
  headers: Schema.optionalKey(Schema.NullOr(RequestHeaders.RequestHeaders)),
  metadata: Schema.optionalKey(Schema.NullOr(Metadata.MetadataPatch)),
  /** `disabled` ends the pending deliveries. `enabled` does not resend anything. */
  status: Schema.optionalKey(EndpointStatus),
})
export interface UpdateEndpoint extends Schema.Schema.Type<typeof UpdateEndpoint> {}

const overlapMessage = { message: `must be an integer from 0 to ${MAX_ROTATION_OVERLAP_SECONDS}` }
export const RotateSecret = Schema.Struct({
  /** How long both the previous and the new secret sign, in seconds: 0 to 604,800, default 86,400. */
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
  /** `Failed` (default): events whose newest delivery to the endpoint failed. `all`: all whose type its filter includes. */
  status: Schema.optionalKey(
    Schema.Literals(["Failed", "all"]).annotate({ message: "must be Failed or all" }),
  ),
  /** Only events of these types. */
  types: Schema.optionalKey(EventFilter),
  /** Sends nothing, and gives how many events would be sent. */
  dryRun: Schema.optionalKey(Schema.Boolean),
})
export interface ReplayRange extends Schema.Schema.Type<typeof ReplayRange> {}

/** The tenant has no endpoint with this id, or it was deleted. */
export class EndpointNotFound extends NotFound.make("EndpointNotFound", "webhook endpoint") {}

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

/** The endpoint's filter does not include the event's type. */
export class EventNotAdmitted extends Schema.TaggedError<EventNotAdmitted>()(
  "EventNotAdmitted",
  { id: EndpointId, type: Schema.String },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `the event types of the webhook endpoint ${this.id} do not include ${this.type}`
  }
}

/** The tenant already has `MAX_ENDPOINTS` endpoints. */
export class TooManyEndpoints extends TooMany.make("TooManyEndpoints", MAX_ENDPOINTS, "webhook endpoints") {}
