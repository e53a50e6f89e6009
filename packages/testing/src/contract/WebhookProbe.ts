/**
 * Helpers to write and read events, endpoints and deliveries.
 */
import {
  type Claim,
  type Claimed,
  type ClaimedDelivery,
  type CurrentTenant,
  Delivery,
  DeliveryStore,
  type Endpoint,
  EndpointStore,
  type Event,
  EventStore,
  type EventFilterQuery,
  type IdGenerator,
  MAX_CLAIM,
  MAX_SETTLE,
  type Page,
  type PublishOutcome,
  type Settlement,
  type StorageError,
  Tenant,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import * as Sample from "../Sample.ts"
import { same } from "./ContractTest.ts"

/** An instant: this many minutes after `Sample.CREATED_AT`. */
export const minute = (minutes: number): DateTime.Utc => DateTime.add(Sample.CREATED_AT, { minutes })

export const firstPage: Page.PageQuery = { limit: 100, cursor: undefined }

/** Stores an endpoint. */
export const newEndpoint = Effect.fnUntraced(function* (
  fields: Partial<Endpoint.Endpoint> = {},
  secrets?: ReadonlyArray<Endpoint.EndpointSecret>,
) {
  const stored = yield* Sample.endpoint(fields, secrets)
  assert.isTrue(yield* (yield* EndpointStore).insert(stored))
  return stored.endpoint
})

/** Publishes an event, and returns the outcome. */
export const publishAs: (
  event: Event.Event,
) => Effect.Effect<PublishOutcome, StorageError, CurrentTenant | EventStore> = Effect.fnUntraced(
  function* (event) {
    return yield* (yield* EventStore).publish(event)
  },
)

/** Publishes an event, and returns it. */
export const publish: (
  fields?: Sample.EventFields,
) => Effect.Effect<Event.Event, StorageError, CurrentTenant | EventStore | IdGenerator> = Effect.fnUntraced(
  function* (fields) {
    const event = yield* Sample.event(fields)
    same(yield* publishAs(event), { _tag: "Published", event })
    return event
  },
)

const everyEvent: EventFilterQuery = {
  type: undefined,
  customerId: undefined,
  createdAfter: undefined,
  createdBefore: undefined,
  deliveryStatus: undefined,
}

/** The events of a list, up to one page. */
export const listEvents = (filter: Partial<EventFilterQuery> = {}, page: Page.PageQuery = firstPage) =>
  Effect.flatMap(EventStore, (store) => store.list({ ...everyEvent, ...filter }, page))

/** The ids of the newest events. */
export const eventIds = (filter: Partial<EventFilterQuery> = {}) =>
  Effect.map(listEvents(filter), ({ data }) => data.map(({ id }) => id))

const everyDelivery = { status: undefined, endpointId: undefined, eventId: undefined }

export const listDeliveries = (
  filter: {
    readonly status?: Delivery.DeliveryStatus
    readonly endpointId?: Endpoint.EndpointId
    readonly eventId?: Event.Event["id"]
  } = {},
  page: Page.PageQuery = firstPage,
) => Effect.flatMap(DeliveryStore, (store) => store.list({ ...everyDelivery, ...filter }, page))

/** The deliveries of an event, oldest first. */
export const deliveriesOf = (event: Event.Event) =>
  Effect.map(listDeliveries({ eventId: event.id }), ({ data }) => [...data].reverse())

/** The delivery that a publication makes for the endpoint with this index among those that get the event. */
export const expectedDelivery = (
  event: Event.Event,
  endpointId: Endpoint.EndpointId,
  index: number,
): Delivery.Delivery => ({
  id: Delivery.deliveryId(Delivery.firstDeliveryId(event.id), index),
  eventId: event.id,
  eventType: event.type,
  endpointId,
  status: "Pending",
  reason: null,
  attemptCount: 0,
  nextAttemptAt: event.timestamp,
  lastResponseStatus: null,
  lastError: null,
  createdAt: event.timestamp,
  finishedAt: null,
})

/** Replays an event to endpoints. */
export const replay = Effect.fnUntraced(function* (
  event: Event.Event,
  endpoints: ReadonlyArray<Endpoint.Endpoint>,
  now: DateTime.Utc,
) {
  const firstDeliveryId = yield* Sample.deliveryId
  const endpointIds = endpoints.map(({ id }) => id)
  const made = yield* (yield* DeliveryStore).insert({
    eventId: event.id,
    endpointIds,
    firstDeliveryId,
    now,
  })
  return { firstDeliveryId, made }
})

/** A delivery with its attempts. It must exist. */
export const delivery = (id: Delivery.DeliveryId) =>
  Effect.flatMap(DeliveryStore, (store) => Effect.map(store.find(id), Option.getOrThrow))

/** Claims deliveries. By default without limits. */
export const claim = (now: DateTime.Utc, options: Partial<Claim> = {}) =>
  Effect.flatMap(DeliveryStore, (store) =>
    store.claimDue({
      now,
      leaseUntil: DateTime.add(now, { seconds: 30 }),
      limit: MAX_CLAIM,
      limitPerEndpoint: MAX_CLAIM,
      limits: new Map(),
      tenantLimits: [],
      ...options,
    }),
  )

/** Claims exactly one delivery. */
export const claimOne = Effect.fnUntraced(function* (now: DateTime.Utc, options: Partial<Claim> = {}) {
  const { deliveries } = yield* claim(now, options)
  assert.strictEqual(deliveries.length, 1, "one delivery is due")
  return deliveries[0]!
})

/** The events of the claimed deliveries. */
export const eventIdsOf = ({ deliveries }: Claimed) => deliveries.map(({ eventId }) => eventId)

/** Publishes events that are due at some minutes. */
export const publishAt = (minutes: ReadonlyArray<number>) =>
  Effect.forEach(minutes, (at) => publish({ timestamp: minute(at) }))

/** Publishes an event for the tenant's one endpoint, and claims its delivery. */
export const claimNew = Effect.gen(function* () {
  const [before] = yield* deliveriesOf(yield* publish())
  return { before: before!, claimed: yield* claimOne(minute(0)) }
})

export const idsOf = <A extends { readonly id: string }>(items: ReadonlyArray<A>): ReadonlyArray<string> =>
  items.map(({ id }) => id)

/** The settlement of a claimed delivery. By default it was delivered at its next attempt. */
export const settlementOf = (
  claimed: ClaimedDelivery,
  fields: Partial<Settlement> = {},
  attempt: Partial<Delivery.Attempt> = {},
): Settlement => {
  const number = claimed.attemptCount + 1
  return {
    tenant: claimed.tenant,
    id: claimed.id,
    endpointId: claimed.endpoint.id,
    token: claimed.token,
    at: minute(1),
    state: { status: "Delivered", attemptCount: number },
    attempt: Sample.attempt({ number, ...attempt }),
    ...fields,
  }
}

/** The fields of a settlement whose attempt failed and whose next attempt is due at an instant. */
export const failedUntil = (claimed: { readonly attemptCount: number }, dueAt: DateTime.Utc) =>
  ({
    state: {
      status: "Pending",
      attemptCount: claimed.attemptCount + 1,
      dueAt: dueAt.epochMilliseconds,
    },
  }) satisfies Partial<Settlement>

/** An attempt that was answered 500. */
export const refused: Partial<Delivery.Attempt> = { responseStatus: 500, responseBody: "no" }

export const settle = (settlements: ReadonlyArray<Settlement>) =>
  Effect.flatMap(DeliveryStore, (store) => store.settle(settlements))

/** The attempt that is recorded when a lease ended without a result. */
export const unknownAttempt = (number: number, leasedAt: DateTime.Utc): Delivery.Attempt => ({
  number,
  startedAt: leasedAt,
  durationMillis: null,
  requestHeaders: {},
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  error: "unknown",
})

/** Later than every due time in these tests. */
const END_OF_TIME = Sample.instant("9999-12-31T00:00:00.000Z")

const ended = ({ deliveries, unreadable }: Claimed): ReadonlyArray<Settlement> =>
  [
    ...deliveries.map((claimed) => ({ ...claimed, endpointId: claimed.endpoint.id })),
    ...unreadable.map((claimed) => ({ ...claimed, endpointId: undefined })),
  ].map(({ attemptCount, endpointId, id, tenant, token }) => ({
    tenant,
    id,
    endpointId,
    token,
    at: END_OF_TIME,
    state: { status: "Failed", attemptCount, reason: "exhausted" },
    attempt: undefined,
  }))

/**
 * Ends every pending delivery of every tenant. All tenants share one queue, and a test of the queue begins with an
 * empty one.
 */
export const emptyQueue: Effect.Effect<void, StorageError, DeliveryStore> = Effect.gen(function* () {
  const store = yield* DeliveryStore
  for (;;) {
    const claimed = yield* claim(END_OF_TIME)
    const settlements = ended(claimed)
    if (settlements.length === 0) return
    for (let start = 0; start < settlements.length; start += MAX_SETTLE) {
      yield* store.settle(settlements.slice(start, start + MAX_SETTLE))
    }
  }
})

/** The pairs of tenants and ids, for comparisons. */
export const keyOf = ({ id, tenant }: { readonly id: string; readonly tenant: Tenant.Tenant }): string =>
  `${Tenant.tenantKey(tenant)} ${id}`
