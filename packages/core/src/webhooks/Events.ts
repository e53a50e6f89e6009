/**
 * The use cases of events: publish, read, stream and replay them.
 */
import { Context, DateTime, Effect, Layer, Option, Schema, type Scope } from "effect"
import { type CustomerId, CustomerNotFound } from "../customers/Customer.ts"
import * as Event from "../events/Event.ts"
import { EventId } from "../events/EventId.ts"
import { EventStore, type PublishOutcome, type TailPosition } from "../events/EventStore.ts"
import { type EventType, EventTypes, problemOf, unknownProblem } from "../events/EventType.ts"
import { Outbox } from "../events/Outbox.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { traced } from "../shared/Operation.ts"
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

/** Most events that one step of a tail returns. */
const TAIL_LIMIT = 100

/** An event with its newest deliveries, newest first. */
export interface EventWithDeliveries {
  readonly event: Event.Event
  readonly deliveries: ReadonlyArray<Delivery>
}

/** An event of a list, with counts of its deliveries by status. */
export interface ListedEvent extends Event.Event {
  readonly deliveryCounts: DeliveryCounts
}

/** One step of a tail: the events, and the position to read on from. */
export interface TailStep {
  readonly events: ReadonlyArray<Event.Event>
  readonly position: TailPosition
  /** True when more events may follow at once. */
  readonly hasMore: boolean
}

/**
 * Publishes, reads, streams and replays the events of the current tenant.
 *
 * `publish` is a transactional outbox: the event and its deliveries are stored in the caller's transaction
 * (`Transactor.atomically`, or the host's own). They are rolled back or committed together with the caller's changes.
 * The `Dispatcher` sends them.
 */
export class Events extends Context.Service<
  Events,
  {
    /** The event types of the catalogue, sorted by name. */
    readonly types: ReadonlyArray<EventType>

    /**
     * Publishes an event of a known type to every enabled endpoint whose filter includes the type. With an idempotency
     * key it is published once, until the event is pruned: the same content again gives the first event, and other
     * content fails with `EventKeyConflict`.
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

    /** An event with its newest deliveries, at most 100. */
    readonly getWithDeliveries: (
      id: string,
    ) => Effect.Effect<EventWithDeliveries, Event.EventNotFound | StorageError, CurrentTenant>

    /**
     * Newest first. A page has 4 MiB of payloads at most (`Event.MAX_PAGE_PAYLOAD_BYTES`): it ends early, with `hasMore`.
     */
    readonly list: (
      query?: Event.ListEvents,
    ) => Effect.Effect<Page<ListedEvent>, InvalidInput | StorageError, CurrentTenant>

    /**
     * Sends an event again, with the same id and bytes, as new deliveries whose schedules start now. It goes to the
     * given endpoint, or to all enabled endpoints whose filters now include its type. Gives the new deliveries.
     *
     * An event that was made for one endpoint goes to this endpoint again, whatever its filter. Giving another one is
     * `InvalidInput` of `endpointId`.
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

    /** The position after an event. Without an id: the position after all events that are committed now. */
    readonly tailPosition: (
      after?: string,
    ) => Effect.Effect<TailPosition, Event.EventNotFound | StorageError, CurrentTenant>

    /**
     * The events that were committed after a position, in the order of commits. No event is missed or comes twice.
     * Events that were made for one endpoint are left out, because a reader of the stream is another receiver.
     */
    readonly tail: (
      position: TailPosition,
      types?: ReadonlyArray<string>,
    ) => Effect.Effect<TailStep, StorageError, CurrentTenant>

    /**
     * Signals that new events may be in the tail. A signal may be late or come without a reason, so also read once a
     * second without one.
     */
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

  const publish = traced("Events.publish", (input: Event.PublishEvent) =>
    Effect.flatMap(decodePublish(input), ({ customerId, data, idempotencyKey, type }): Publishing => {
      const known = catalogue.find(type)
      if (known === undefined) return unknownType(type)
      const problem = problemOfData(known, data)
      if (problem !== undefined) return Effect.fail(problem)
      const options = { customerId: customerId ?? null, idempotencyKey: idempotencyKey ?? null }
      return Effect.flatMap(outbox.publish(known, data, options), (outcome) =>
        publishedOf(outcome, options.customerId),
      )
    }),
  )

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
    // Ends, because a tenant has at most `MAX_ENDPOINTS`.
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
    const made = yield* deliveries.insert({
      eventId: event.id,
      endpointIds,
      firstDeliveryId,
      now: yield* DateTime.now,
    })
    // The event was removed meanwhile.
    if (endpointIds.length > 0 && made.length === 0) return yield* new Event.EventNotFound({ id })
    return made
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
        hasMore: step.events.length === TAIL_LIMIT || Event.mayHaveEndedEarly(step.events),
      })),
    committed: store.committed,
  })
})

/** How many endpoints are read in one step when an event is replayed to all of them. */
const PAGE = 100

type Publishing = ReturnType<Events["Service"]["publish"]>

const unknownType = (type: string) =>
  Effect.fail(new InvalidInput({ field: "type", problem: unknownProblem(type) }))

/** Checks data against its type. */
const problemOfData = (type: EventType, data: unknown): InvalidInput | undefined => {
  const problem = Event.problemOfJson(data)
  return problem === undefined ? problemOf(type, data) : new InvalidInput({ field: "data", problem })
}

/** What a publication to all endpoints came to. */
const publishedOf = (outcome: PublishOutcome, customerId: CustomerId | null): Publishing => {
  switch (outcome._tag) {
    case "Published":
    case "Duplicate":
      return Effect.succeed(outcome)
    case "KeyConflict":
      return Effect.fail(new Event.EventKeyConflict({ eventId: outcome.eventId }))
    case "CustomerNotFound":
      return Effect.fail(new CustomerNotFound({ id: customerId ?? "", field: "customerId" }))
    case "EndpointNotFound":
      return Effect.die(new TypeError("an event for no endpoint in particular missed one"))
  }
}
