/**
 * The use cases of events: publish, look up, follow, send again.
 */
import { Context, DateTime, Effect, Layer, Option, Schema, type Scope } from "effect"
import { CustomerNotFound } from "../customers/Customer.ts"
import * as Event from "../events/Event.ts"
import { EventId } from "../events/EventId.ts"
import { EventStore, type TailPosition } from "../events/EventStore.ts"
import { type EventType, EventTypes, problemOf, unknownProblem } from "../events/EventType.ts"
import { Outbox } from "../events/Outbox.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { Awaiting } from "../shared/Signal.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { type Delivery, DELIVERY_ID_PREFIX, type DeliveryCounts, DeliveryId } from "./Delivery.ts"
import { DeliveryStore, MAX_DELIVERIES_OF_EVENT } from "./DeliveryStore.ts"
import {
  matchesFilter,
  type EndpointId,
  EndpointIsDisabled,
  EndpointNotFound,
  EventNotAdmitted,
  isEndpointId,
  MAX_ENDPOINTS,
} from "./Endpoint.ts"
import { EndpointStore } from "./EndpointStore.ts"

const decodePublish = decoder(Event.PublishEvent)
const decodeList = decoder(Event.ListEvents)
const isEventId = Schema.is(EventId)

/** Most events of one step of a tail. */
const TAIL_LIMIT = 100

/** An event with its newest deliveries, newest first. */
export interface EventWithDeliveries {
  readonly event: Event.Event
  readonly deliveries: ReadonlyArray<Delivery>
}

/** An event of a list, and how its deliveries went. */
export interface ListedEvent extends Event.Event {
  readonly deliveryCounts: DeliveryCounts
}

/** A step along the tail: what came, and where to go on. */
export interface TailStep {
  readonly events: ReadonlyArray<Event.Event>
  readonly position: TailPosition
  /** There may be more right behind it. */
  readonly hasMore: boolean
}

/**
 * Publishes, reads, follows and replays the events of the current tenant.
 *
 * `publish` is a transactional outbox: the event and its deliveries are stored in the caller's transaction
 * (`Transactor.atomically`, or a host's own), so a change that is rolled back leaves no event, and one that is
 * committed can't lose it. Sending is the `Dispatcher`'s.
 */
export class Events extends Context.Service<
  Events,
  {
    /** The catalogue, in the order of the names. */
    readonly types: ReadonlyArray<EventType>

    /**
     * Publishes an event of a known type to every enabled endpoint that wants it. With an idempotency key, once,
     * until the event is pruned: the same content again gives the first event, other content fails with `EventKeyConflict`.
     */
    readonly publish: (
      input: Event.PublishEvent,
    ) => Effect.Effect<
      Event.Published,
      InvalidInput | CustomerNotFound | Event.EventKeyConflict | StorageError,
      CurrentTenant
    >

    readonly get: (
      id: string,
    ) => Effect.Effect<Event.Event, Event.EventNotFound | StorageError, CurrentTenant>

    /** With its newest deliveries, at most 100. */
    readonly getWithDeliveries: (
      id: string,
    ) => Effect.Effect<EventWithDeliveries, Event.EventNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: Event.ListEvents,
    ) => Effect.Effect<Page<ListedEvent>, InvalidInput | StorageError, CurrentTenant>

    /**
     * Sends an event again, with its id and bytes, on a fresh schedule: to one endpoint, or to all that are
     * enabled and admit its type now. One that was made for an endpoint goes there again, whatever the filter says;
     * naming another one is `InvalidInput` of `endpointId`. Gives the new deliveries.
     */
    readonly replay: (
      id: string,
      to?: { readonly endpointId?: string },
    ) => Effect.Effect<
      ReadonlyArray<Delivery>,
      | InvalidInput
      | Event.EventNotFound
      | EndpointNotFound
      | EndpointIsDisabled
      | EventNotAdmitted
      | StorageError,
      CurrentTenant
    >

    /** The place behind an event, or without an id the place behind all that are committed now. */
    readonly tailPosition: (
      after?: string,
    ) => Effect.Effect<TailPosition, Event.EventNotFound | StorageError, CurrentTenant>

    /**
     * What was committed behind a place, in the order of commits: none is missed, none comes twice. Events that were
     * made for an endpoint are left out, for who follows the stream is another receiver.
     */
    readonly tail: (
      position: TailPosition,
      types?: ReadonlyArray<string>,
    ) => Effect.Effect<TailStep, StorageError, CurrentTenant>

    /** Tells when it is worth reading the tail again. It may be late or without a reason: read once a second too. */
    readonly committed: Effect.Effect<Awaiting, never, Scope.Scope>
  }
>()("@billwright/core/webhooks/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.suspend(() => make()),
  ).pipe(Layer.provide(Outbox.layer))
}

const make = Effect.fnUntraced(function* () {
  const store = yield* EventStore
  const endpoints = yield* EndpointStore
  const deliveries = yield* DeliveryStore
  const catalogue = yield* EventTypes
  const outbox = yield* Outbox
  const ids = yield* IdGenerator

  const publish = Effect.fn("Events.publish")(function* (input: Event.PublishEvent) {
    const { customerId, data, idempotencyKey, type } = yield* decodePublish(input)
    const known = yield* knownType(catalogue, type)
    yield* checkData(known, data)
    const outcome = yield* outbox.publish(known, data, {
      customerId: customerId ?? null,
      idempotencyKey: idempotencyKey ?? null,
    })
    switch (outcome._tag) {
      case "Published":
      case "Duplicate":
        return outcome as Event.Published
      case "KeyConflict":
        return yield* new Event.EventKeyConflict({ eventId: outcome.eventId })
      case "CustomerNotFound":
        return yield* new CustomerNotFound({ id: customerId ?? "", field: "customerId" })
      case "EndpointNotFound":
        return yield* Effect.die(new TypeError("an event for no endpoint in particular missed one"))
    }
  })

  const get = Effect.fn("Events.get")(function* (id: string) {
    if (!isEventId(id)) return yield* new Event.EventNotFound({ id })
    return yield* Option.match(yield* store.find(id), {
      onNone: () => Effect.fail(new Event.EventNotFound({ id })),
      onSome: Effect.succeed,
    })
  })

  const deliveriesOf = (eventId: EventId) =>
    deliveries
      .list(
        { eventId, status: undefined, endpointId: undefined },
        { limit: MAX_DELIVERIES_OF_EVENT, cursor: undefined },
      )
      .pipe(
        Effect.map(({ data }) => data),
        Effect.catchTag("CursorNotFound", Effect.die),
      )

  const getWithDeliveries = Effect.fn("Events.getWithDeliveries")(function* (id: string) {
    const event = yield* get(id)
    const found: EventWithDeliveries = { event, deliveries: yield* deliveriesOf(event.id) }
    return found
  })

  const list = Effect.fn("Events.list")(function* (query: Event.ListEvents = {}) {
    const request = yield* decodeList(query)
    const page = yield* toQuery(request)
    const filter = {
      type: request.type,
      customerId: request.customerId,
      createdAfter: request.createdAfter,
      createdBefore: request.createdBefore,
      deliveryStatus: request.deliveryStatus,
    }
    const { data, hasMore } = yield* store.list(filter, page).pipe(nameCursor(request))
    const counts = yield* deliveries.countByStatus(data.map(({ id }) => id))
    const listed: Page<ListedEvent> = {
      data: data.map((event, index) => ({ ...event, deliveryCounts: counts[index]! })),
      hasMore,
    }
    return listed
  })

  const enabled = Effect.fnUntraced(function* (endpointId: string) {
    const found = isEndpointId(endpointId) ? yield* endpoints.find(endpointId) : Option.none()
    if (Option.isNone(found)) return yield* new EndpointNotFound({ id: endpointId })
    const { id, status } = found.value
    if (status === "disabled") return yield* new EndpointIsDisabled({ id })
    return found.value
  })

  const allTargets = Effect.fnUntraced(function* (type: string) {
    const targets: Array<EndpointId> = []
    let cursor: { readonly direction: "older"; readonly id: string } | undefined
    // Bounded by how many endpoints a tenant may have.
    while (targets.length < MAX_ENDPOINTS) {
      const page = yield* endpoints
        .list({ status: "enabled" }, { limit: PAGE, cursor })
        .pipe(Effect.catchTag("CursorNotFound", Effect.die))
      for (const { eventTypes, id } of page.data) if (matchesFilter(eventTypes, type)) targets.push(id)
      const last = page.data.at(-1)
      if (!page.hasMore || last === undefined) break
      cursor = { direction: "older", id: last.id }
    }
    return targets.sort()
  })

  const targets = Effect.fnUntraced(function* (event: Event.Event, asked: string | undefined) {
    const { endpointId, type } = event
    if (endpointId !== null) {
      if (asked === undefined || asked === endpointId) return [(yield* enabled(endpointId)).id]
      const problem = `must be ${endpointId}, the endpoint that the event was made for`
      return yield* new InvalidInput({ field: "endpointId", problem })
    }
    if (asked === undefined) return yield* allTargets(type)
    const { eventTypes, id } = yield* enabled(asked)
    if (!matchesFilter(eventTypes, type)) return yield* new EventNotAdmitted({ id, type })
    return [id]
  })

  const replay = Effect.fn("Events.replay")(function* (
    id: string,
    to: { readonly endpointId?: string } = {},
  ) {
    const event = yield* get(id)
    const endpointIds = yield* targets(event, to.endpointId)
    const firstDeliveryId = DeliveryId.make(yield* ids.next(DELIVERY_ID_PREFIX), { disableChecks: true })
    return yield* deliveries.insert({
      eventId: event.id,
      endpointIds,
      firstDeliveryId,
      now: yield* DateTime.now,
    })
  })

  const tailPosition = Effect.fnUntraced(function* (after?: string) {
    const id = after ?? ""
    if (after !== undefined && !isEventId(after)) return yield* new Event.EventNotFound({ id })
    return yield* Option.match(yield* store.tailPosition(after as EventId | undefined), {
      onNone: () => Effect.fail(new Event.EventNotFound({ id })),
      onSome: Effect.succeed,
    })
  })

  return Events.of({
    types: catalogue.all,
    publish,
    get,
    getWithDeliveries,
    list,
    replay,
    tailPosition,
    tail: (position, types = []) =>
      Effect.map(store.tail(position, types, TAIL_LIMIT), (step) => ({
        position: step.position,
        events: step.events.filter(({ endpointId }) => endpointId === null),
        hasMore: step.events.length === TAIL_LIMIT,
      })),
    committed: store.committed,
  })
})

/** Endpoints that are looked at in one step when an event is replayed to all of them. */
const PAGE = 100

/** Refuses a type that is not of the catalogue. */
const knownType = (
  catalogue: EventTypes["Service"],
  type: string,
): Effect.Effect<EventType, InvalidInput> => {
  const known = catalogue.find(type)
  return known === undefined
    ? Effect.fail(new InvalidInput({ field: "type", problem: unknownProblem(type) }))
    : Effect.succeed(known)
}

/** Checks data against its type. */
const checkData = (type: EventType, data: unknown): Effect.Effect<void, InvalidInput> => {
  const problem = Event.problemOfJson(data)
  if (problem !== undefined) return Effect.fail(new InvalidInput({ field: "data", problem }))
  const broken = problemOf(type, data)
  return broken === undefined ? Effect.void : Effect.fail(broken)
}
