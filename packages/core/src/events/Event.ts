/**
 * An event: a record of something that happened. Its payload is rendered once, and changes only when its customer is erased:
 * see `Redaction`.
 */
import { DateTime, Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as ExactJson from "../shared/ExactJson.ts"
import * as NotFound from "../shared/NotFound.ts"
import { countWithinBytes, MAX_PAGE_BYTES, pageFields } from "../shared/Page.ts"
import type { Mode } from "../shared/Tenant.ts"
import * as Text from "../shared/Text.ts"
import { DeliveryStatus } from "./DeliveryStatus.ts"
import { EndpointId } from "./EndpointId.ts"
import { EventId } from "./EventId.ts"
import { type EventType, EventTypeName } from "./EventType.ts"
import { isSameJson } from "./JsonText.ts"

/** Largest payload: 256 KiB of UTF-8. */
export const MAX_PAYLOAD_BYTES = 262_144
/**
 * Most bytes of payloads in one page of a list or one step of a stream: 4 MiB of UTF-8. A page that would have more ends
 * early, after at least one event.
 */
export const MAX_PAGE_PAYLOAD_BYTES = MAX_PAGE_BYTES
/** Deepest nesting of an event's data. */
export const MAX_DATA_DEPTH = 30
/** Most digits of a number in an event's data: what a reader makes of it costs no more than its length. */
export const MAX_NUMBER_DIGITS = 1_000
/** Longest idempotency key of an event, in code points. */
export const MAX_EVENT_KEY_LENGTH = 255

/** A published event. It never changes, except that personal data is taken out of it when its customer is erased. */
export const Event = Schema.Struct({
  id: EventId,
  type: EventTypeName,
  /** When it was published. */
  timestamp: Schema.DateTimeUtc,
  /** The customer that the event is about; `null` when none was given. */
  customerId: Schema.NullOr(CustomerId),
  /** A second publication with the same key gives this event. Unique in the tenant until the event is pruned. */
  idempotencyKey: Schema.NullOr(Schema.String),
  /**
   * For a test event, the only endpoint that it is sent to, whatever that endpoint's filter. `null` for all other
   * events: they go to every enabled endpoint whose filter includes the type.
   */
  endpointId: Schema.NullOr(EndpointId),
  /** The body of every attempt to deliver the event: JSON, rendered once (`render`). */
  payload: Schema.String,
})
export interface Event extends Schema.Schema.Type<typeof Event> {}

/** The input of `Events.publish`. `data` is JSON as it is sent, and is checked against the type's Schema. */
export const PublishEvent = Schema.Struct({
  type: EventTypeName,
  data: Schema.Unknown,
  customerId: Schema.optionalKey(CustomerId),
  idempotencyKey: Schema.optionalKey(Text.bounded(1, MAX_EVENT_KEY_LENGTH)),
})
export interface PublishEvent extends Schema.Schema.Type<typeof PublishEvent> {}

/** Which events to list. */
export const ListEvents = Schema.Struct({
  ...pageFields,
  type: Schema.optionalKey(EventTypeName),
  customerId: Schema.optionalKey(CustomerId),
  /** Published at this instant or later. */
  createdAfter: Schema.optionalKey(Schema.DateTimeUtc),
  /** Published before this instant. */
  createdBefore: Schema.optionalKey(Schema.DateTimeUtc),
  /** With at least one delivery in this status. */
  deliveryStatus: Schema.optionalKey(DeliveryStatus),
})
export interface ListEvents extends Schema.Schema.Type<typeof ListEvents> {}

/**
 * The result of a publication. `Published`: the call published the event. `Duplicate`: the idempotency key was used
 * before with the same content, and `event` is the event of the first call.
 */
export type Published =
  | { readonly _tag: "Published"; readonly event: Event }
  | { readonly _tag: "Duplicate"; readonly event: Event }

/** The tenant has no event with this id. */
export class EventNotFound extends NotFound.make("EventNotFound", "event") {}

/** The idempotency key was used before for an event with other content. Nothing was published. */
export class EventKeyConflict extends Schema.TaggedError<EventKeyConflict>()(
  "EventKeyConflict",
  { eventId: EventId },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `idempotencyKey was already used with other content, by ${this.eventId}`
  }
}

const TOO_LONG = 10n ** BigInt(MAX_NUMBER_DIGITS)

/**
 * The reason why a value can't be stored and sent as JSON, to follow the word `data` in a sentence. `undefined` when it
 * can.
 */
export const problemOfJson = (value: unknown, depth = 0): string | undefined => {
  switch (typeof value) {
    case "string":
      return Text.isStorable(value) ? undefined : "must not contain NUL or a lone surrogate"
    case "number":
      return Number.isFinite(value) ? undefined : "must not contain a number that JSON can't hold"
    case "bigint":
      return value < TOO_LONG && -value < TOO_LONG
        ? undefined
        : `must not contain a number of more than ${MAX_NUMBER_DIGITS} digits`
    case "boolean":
      return undefined
    case "object":
      break
    default:
      return `must not contain a value of type ${typeof value}`
  }
  if (value === null) return undefined
  if (depth >= MAX_DATA_DEPTH) return `must not be nested deeper than ${MAX_DATA_DEPTH} levels`
  if (Array.isArray(value)) return firstProblem(value, depth)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return "must contain plain objects only"
  const keys = Object.keys(value)
  if (keys.includes("__proto__")) return "must not contain the key __proto__"
  return firstProblem(keys, depth) ?? firstProblem(Object.values(value), depth)
}

const firstProblem = (values: ReadonlyArray<unknown>, depth: number): string | undefined => {
  for (const value of values) {
    const problem = problemOfJson(value, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Renders the payload of an event: `{"id","type","timestamp","livemode","data"}`, in this order. */
export const render = (event: Pick<Event, "id" | "type" | "timestamp">, mode: Mode, data: unknown): string =>
  `{"id":"${event.id}","type":"${event.type}","timestamp":"${DateTime.formatIso(event.timestamp)}",` +
  `"livemode":${mode === "live"},"data":${ExactJson.stringify(data)}}`

/** Makes an event. By default it has no customer, no idempotency key, and is not for one endpoint only. */
export const make = (
  type: Pick<EventType, "name">,
  data: unknown,
  mode: Mode,
  fields: Pick<Event, "id" | "timestamp"> &
    Partial<Pick<Event, "customerId" | "idempotencyKey" | "endpointId">>,
): Event => {
  const { customerId = null, endpointId = null, id, idempotencyKey = null, timestamp } = fields
  const event = { id, type: type.name, timestamp }
  return { ...event, customerId, idempotencyKey, endpointId, payload: render(event, mode, data) }
}

/** What comes before the data in a payload. */
export const BEFORE_DATA = ',"data":'

/** The JSON text of an event's data. The fields before it in the payload can't contain `,"data":`. */
export const dataText = (payload: string): string =>
  payload.slice(payload.indexOf(BEFORE_DATA) + BEFORE_DATA.length, -1)

/** An event's data. Integers beyond 2^53 lose digits in `JSON.parse`; use `dataText` to keep them. */
export const dataOf = (event: Event): unknown => JSON.parse(dataText(event.payload))

const encoder = new TextEncoder()

/** Whether a payload is not larger than `MAX_PAYLOAD_BYTES`. */
export const isWithinPayload = (payload: string): boolean =>
  // A character takes at most 3 bytes, so the bytes of a short text need no counting.
  payload.length * 3 <= MAX_PAYLOAD_BYTES || encoder.encode(payload).length <= MAX_PAYLOAD_BYTES

/** How many of these events fit in one page: at least one, and at most `MAX_PAGE_PAYLOAD_BYTES` of payloads. */
export const countWithinPage = (events: ReadonlyArray<Event>): number =>
  countWithinBytes(events, ({ payload }) => encoder.encode(payload).length)

/** Whether a page of these events may have ended early, because the next one did not fit. */
export const mayHaveEndedEarly = (events: ReadonlyArray<Event>): boolean =>
  events.reduce((bytes, { payload }) => bytes + encoder.encode(payload).length, 0) >
  MAX_PAGE_PAYLOAD_BYTES - MAX_PAYLOAD_BYTES

/**
 * Whether two events with the same idempotency key have the same content: type, customer, endpoint, and data that is
 * equal as JSON.
 */
export const isSameContent = (first: Event, repeat: Event): boolean =>
  first.type === repeat.type &&
  first.customerId === repeat.customerId &&
  first.endpointId === repeat.endpointId &&
  isSameJson(dataText(first.payload), dataText(repeat.payload))
