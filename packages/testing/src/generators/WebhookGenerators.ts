/**
 * Generators of events, endpoints, deliveries and attempts.
 */
import {
  Delivery,
  Endpoint,
  Event,
  EVENT_ID_PREFIX,
  EventCatalogue,
  EventId,
  EventType,
  MAX_KEPT_HEADER_LENGTH,
  RequestHeaders,
} from "@billwright/core"
import * as fc from "fast-check"
import { customerId, idOf, metadata, metadataPatch } from "./CustomerGenerators.ts"
import { text } from "./TextGenerators.ts"
import { instant } from "./TimeGenerators.ts"

export const eventId = idOf(EVENT_ID_PREFIX).map((id) => EventId.make(id))
export const endpointId = idOf(Endpoint.ENDPOINT_ID_PREFIX).map((id) => Endpoint.EndpointId.make(id))
export const deliveryId = idOf(Delivery.DELIVERY_ID_PREFIX).map((id) => Delivery.DeliveryId.make(id))

// Events

const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,9}$/)

/** Mostly a built-in type, sometimes another one or the longest possible. */
export const eventType: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...EventCatalogue.builtIn.map(({ name }) => name)) },
  {
    weight: 2,
    arbitrary: fc.array(word, { minLength: 2, maxLength: 5 }).map((words) => words.join(".")),
  },
  { weight: 1, arbitrary: fc.constant(`a.${"b".repeat(EventType.MAX_EVENT_TYPE_LENGTH - 2)}`) },
)

const jsonKey = text(0, 20).filter((key) => key !== "__proto__")
const jsonNumber = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom<number | bigint>(0, -0, 1e21, 5e-324, Number.MAX_VALUE, 2n ** 53n + 1n, -(10n ** 30n)),
)

/** JSON of any shape, sometimes deep, with integers that no double can represent. */
export const eventData: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown; data: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(fc.constant(null), fc.boolean(), jsonNumber, text(0, 30)),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("data"),
  ),
  data: fc
    .array(fc.tuple(jsonKey, tie("value")), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries)),
})).data

const eventKey = text(1, Event.MAX_EVENT_KEY_LENGTH)

export const publishEvent: fc.Arbitrary<Event.PublishEvent> = fc.record(
  { type: eventType, data: eventData, customerId, idempotencyKey: eventKey },
  { requiredKeys: ["type", "data"] },
)

/** For all endpoints with a matching filter. Its payload is rendered for live mode. */
export const event: fc.Arbitrary<Event.Event> = fc
  .record({
    id: eventId,
    type: eventType,
    timestamp: instant,
    customerId: fc.option(customerId),
    idempotencyKey: fc.option(eventKey),
    data: eventData,
  })
  .map(({ data, ...fields }) => ({
    ...fields,
    endpointId: null,
    payload: Event.render(fields, "live", data),
  }))

// Endpoints

export const eventFilter: fc.Arbitrary<ReadonlyArray<string>> = fc.oneof(
  fc.constant([Endpoint.ALL_TYPES]),
  fc.uniqueArray(eventType, { minLength: 1, maxLength: 5 }),
)

const headerName = fc.stringMatching(/^[a-z0-9!#$%&'*+.^_`|~-]{1,20}$/).map((name) => `x-${name}`)
const headerValue = fc
  .string({ unit: "grapheme-ascii", minLength: 1, maxLength: 50 })
  .map((value) => value.trim())
  .filter((value) => value !== "" && !/\bsk_(live|test)_/.test(value))

export const requestHeaders: fc.Arbitrary<RequestHeaders.RequestHeaders> = fc
  .array(
    fc.tuple(fc.oneof({ weight: 4, arbitrary: headerName }, fc.constant("authorization")), headerValue),
    { maxLength: RequestHeaders.MAX_HEADERS },
  )
  .map((entries) => Object.fromEntries(entries))

const url = fc
  .webUrl({ validSchemes: ["https"], withQueryParameters: true })
  .filter((made) => made.length <= 2_048)
const description = text(0, Endpoint.MAX_DESCRIPTION_LENGTH)
const signature = fc.constantFrom<Endpoint.SignatureScheme>("hmac", "ed25519")
const endpointStatus = fc.constantFrom<Endpoint.EndpointStatus>("enabled", "disabled")

export const createEndpoint: fc.Arbitrary<Endpoint.CreateEndpoint> = fc.record(
  { url, eventTypes: eventFilter, description, headers: requestHeaders, metadata, signature },
  { requiredKeys: ["url", "eventTypes"] },
)

export const updateEndpoint: fc.Arbitrary<Endpoint.UpdateEndpoint> = fc.record(
  {
    url,
    eventTypes: eventFilter,
    description: fc.option(description),
    headers: fc.option(requestHeaders),
    metadata: fc.option(metadataPatch),
    status: endpointStatus,
  },
  { requiredKeys: [] },
)

const disabling = fc.record({
  disabledReason: fc.constantFrom(...Endpoint.disabledReasons),
  disabledAt: instant,
})

export const endpoint: fc.Arbitrary<Endpoint.Endpoint> = fc
  .record({
    id: endpointId,
    url,
    eventTypes: eventFilter,
    description: fc.option(description),
    headers: requestHeaders,
    metadata,
    signature,
    publicKey: fc.option(fc.constant("whpk_AAAA")),
    failingSince: fc.option(instant),
    createdAt: instant,
    updatedAt: instant,
    disabling: fc.option(disabling),
  })
  .map(({ disabling: how, ...fields }) =>
    how === null
      ? { ...fields, status: "enabled", disabledReason: null, disabledAt: null }
      : { ...fields, status: "disabled", ...how },
  )

const sealed = fc
  .tuple(fc.constantFrom("k1", "k2", "2026-03", "plain"), fc.base64String({ minLength: 4, maxLength: 200 }))
  .map(([keyId, content]) => `${keyId}.${content}`)

export const endpointSecret: fc.Arbitrary<Endpoint.EndpointSecret> = fc.record({
  sealed,
  createdAt: instant,
  expiresAt: fc.option(instant),
})

export const storedEndpoint: fc.Arbitrary<Endpoint.StoredEndpoint> = fc.record({
  endpoint,
  secrets: fc.array(endpointSecret, { minLength: 1, maxLength: Endpoint.MAX_LIVE_SECRETS }),
})

// Attempts

/** As a hostile receiver might cause them. */
const responseHeaders: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .array(
    fc.tuple(
      fc.oneof(headerName, fc.constantFrom("__proto__", "constructor", "tostring", "0", "-")),
      fc.oneof(text(0, 50), fc.constant("v".repeat(MAX_KEPT_HEADER_LENGTH))),
    ),
    { maxLength: 8 },
  )
  .map((entries) => Object.fromEntries(entries))

/** The first attempt of a delivery, with any outcome. */
export const attempt: fc.Arbitrary<Delivery.Attempt> = fc.record({
  number: fc.constant(1),
  startedAt: instant,
  durationMillis: fc.option(fc.nat({ max: 15_000 })),
  requestHeaders,
  responseStatus: fc.option(fc.integer({ min: 100, max: 599 })),
  responseHeaders: fc.option(responseHeaders),
  responseBody: fc.option(text(0, 4_096)),
  error: fc.option(fc.constantFrom(...Delivery.attemptErrors)),
})
