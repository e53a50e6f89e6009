/**
 * The expected behaviour of one tenant's events, endpoints and deliveries: lists of values, and loops over them. As
 * in `ReferenceStorage`, the state is never changed, only replaced.
 */
import {
  type IdStatus,
  Delivery,
  Endpoint,
  Event,
  type EventFilterQuery,
  type Page,
  type PublishOutcome,
  type RangeReplay,
  type Settlement,
} from "@billwright/core"
import { DateTime, Option } from "effect"
import { pageOf } from "./ReferenceStorage.ts"

/** A delivery with its attempts, and the lease that a worker has or has lost. */
export interface ReferenceDelivery extends Omit<Delivery.DeliveryWithAttempts, "attemptStartedAt"> {
  readonly id: string
  /** `dueAt`: if the lease is lost, when the delivery was due before it was leased. */
  readonly lease:
    | { readonly token: string; readonly since: DateTime.Utc; readonly dueAt: DateTime.Utc }
    | undefined
}

interface State {
  /** `stored` is `undefined` after it was deleted. */
  readonly endpoints: ReadonlyArray<{
    readonly id: Endpoint.EndpointId
    readonly stored: Endpoint.StoredEndpoint | undefined
  }>
  readonly events: ReadonlyArray<Event.Event>
  readonly deliveries: ReadonlyArray<ReferenceDelivery>
}

const millis = (at: DateTime.Utc | null | undefined): number => at?.epochMilliseconds ?? Number.NaN

const isWithin = (at: DateTime.Utc, from: DateTime.Utc | undefined, before: DateTime.Utc | undefined) =>
  !(millis(at) < millis(from)) && !(millis(at) >= millis(before))

/** The attempt that is recorded for a lost lease. */
const unknownAttempt = (number: number, startedAt: DateTime.Utc): Delivery.Attempt => ({
  number,
  startedAt,
  durationMillis: null,
  requestHeaders: {},
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  error: "unknown",
})

/** One tenant's events, endpoints and deliveries. */
export class ReferenceWebhooks {
  state: State = { endpoints: [], events: [], deliveries: [] }
  readonly #statusOf: (customerId: string) => IdStatus

  constructor(statusOf: (customerId: string) => IdStatus) {
    this.#statusOf = statusOf
  }

  insertEndpoint(stored: Endpoint.StoredEndpoint): boolean {
    const row = { id: stored.endpoint.id, stored }
    this.state = { ...this.state, endpoints: [...this.state.endpoints, row] }
    return true
  }

  stored(id: string): Endpoint.StoredEndpoint | undefined {
    return this.state.endpoints.find((row) => row.id === id)?.stored
  }

  isEnabled(id: string): boolean {
    return this.stored(id)?.endpoint.status === "enabled"
  }

  setEndpoint(id: string, stored: Endpoint.StoredEndpoint | undefined): void {
    const endpoints = this.state.endpoints.map((row) => (row.id === id ? { id: row.id, stored } : row))
    this.state = { ...this.state, endpoints }
  }

  listEndpoints(status: Endpoint.EndpointStatus | undefined, page: Page.PageQuery) {
    const live = this.state.endpoints.flatMap(({ stored }) => (stored === undefined ? [] : [stored.endpoint]))
    const chosen = status === undefined ? live : live.filter((endpoint) => endpoint.status === status)
    return pageOf(chosen, this.state.endpoints, page)
  }

  publish(event: Event.Event): PublishOutcome {
    if (event.customerId !== null && this.#statusOf(event.customerId) !== "active") {
      return { _tag: "CustomerNotFound" }
    }
    const first = this.state.events.find(
      ({ idempotencyKey }) => idempotencyKey !== null && idempotencyKey === event.idempotencyKey,
    )
    if (first !== undefined) {
      const content = ({ customerId, type, ...rest }: Event.Event) =>
        JSON.stringify([type, customerId, Event.dataOf({ customerId, type, ...rest })])
      return content(first) === content(event)
        ? { _tag: "Duplicate", event: first }
        : { _tag: "KeyConflict", eventId: first.id }
    }
    if (event.endpointId !== null && !this.isEnabled(event.endpointId)) return { _tag: "EndpointNotFound" }
    this.add(event)
    return { _tag: "Published", event }
  }

  /** Stores an event and its deliveries. */
  add(event: Event.Event): void {
    this.state = { ...this.state, events: [...this.state.events, event] }
    const targets = this.state.endpoints
      .filter(({ id, stored }) =>
        event.endpointId === null
          ? this.isEnabled(id) && Endpoint.matchesFilter(stored!.endpoint.eventTypes, event.type)
          : id === event.endpointId,
      )
      .map(({ id }) => id)
      .sort()
    this.#addDeliveries(
      targets.map((id) => [event, id]),
      Delivery.firstDeliveryId(event.id),
      event.timestamp,
    )
  }

  listEvents(filter: EventFilterQuery, page: Page.PageQuery) {
    const chosen = this.state.events.filter(
      ({ customerId, id, timestamp, type }) =>
        (filter.type === undefined || type === filter.type) &&
        (filter.customerId === undefined || customerId === filter.customerId) &&
        isWithin(timestamp, filter.createdAfter, filter.createdBefore) &&
        (filter.deliveryStatus === undefined ||
          this.state.deliveries.some(
            ({ delivery }) => delivery.eventId === id && delivery.status === filter.deliveryStatus,
          )),
    )
    return pageOf(chosen, this.state.events, page)
  }

  find(id: string): Option.Option<Delivery.DeliveryWithAttempts> {
    const found = this.state.deliveries.find((row) => row.id === id)
    return Option.map(Option.fromUndefinedOr(found), ({ attempts, delivery, lease }) => ({
      delivery,
      attemptStartedAt: lease?.since ?? null,
      attempts,
    }))
  }

  listDeliveries(
    filter: {
      readonly status: string | undefined
      readonly endpointId: string | undefined
      readonly eventId: string | undefined
    },
    page: Page.PageQuery,
  ) {
    const all = this.state.deliveries.map(({ delivery }) => delivery)
    const chosen = all.filter(
      ({ endpointId, eventId, status }) =>
        (filter.status === undefined || status === filter.status) &&
        (filter.endpointId === undefined || endpointId === filter.endpointId) &&
        (filter.eventId === undefined || eventId === filter.eventId),
    )
    return pageOf(chosen, all, page)
  }

  insert(
    event: Event.Event,
    endpointIds: ReadonlyArray<Endpoint.EndpointId>,
    first: Delivery.DeliveryId,
    now: DateTime.Utc,
  ): ReadonlyArray<Delivery.Delivery> {
    return this.#addDeliveries(
      endpointIds.map((id) => [event, id]),
      first,
      now,
    )
  }

  countByStatus(eventIds: ReadonlyArray<string>): ReadonlyArray<Delivery.DeliveryCounts> {
    return eventIds.map((id) => {
      const own = this.state.deliveries.filter(({ delivery }) => delivery.eventId === id)
      const count = (status: Delivery.DeliveryStatus) =>
        own.filter(({ delivery }) => delivery.status === status).length
      return { pending: count("Pending"), delivered: count("Delivered"), failed: count("Failed") }
    })
  }

  replayRange(range: RangeReplay): number {
    const filter = this.stored(range.endpointId)?.endpoint.eventTypes ?? []
    const events = this.state.events
      .filter(({ endpointId, id, timestamp, type }) => {
        const own = this.state.deliveries
          .filter(({ delivery }) => delivery.eventId === id && delivery.endpointId === range.endpointId)
          .sort((a, b) => (a.id < b.id ? -1 : 1))
        return (
          isWithin(timestamp, range.since, range.until) &&
          (endpointId === null || endpointId === range.endpointId) &&
          Endpoint.matchesFilter(filter, type) &&
          (range.types.length === 0 || range.types.includes(type)) &&
          own.every(({ delivery }) => delivery.status !== "Pending") &&
          (!range.onlyFailed || own.at(-1)?.delivery.status === "Failed")
        )
      })
      .sort((a, b) => (a.id < b.id ? -1 : 1))
    if (events.length > range.limit) return range.limit + 1
    if (range.isDryRun) return events.length
    this.#addDeliveries(
      events.map((event) => [event, range.endpointId]),
      range.firstDeliveryId,
      range.now,
    )
    return events.length
  }

  cancel(endpointId: string, reason: "endpoint_disabled" | "endpoint_deleted", at: DateTime.Utc): number {
    const pending = this.state.deliveries.filter(
      ({ delivery }) => delivery.endpointId === endpointId && delivery.status === "Pending",
    )
    for (const { id } of pending) {
      this.#change(id, (row) => {
        const { attempts, delivery } = this.#withLostAttempt(row)
        const ended = { ...delivery, status: "Failed" as const, reason, nextAttemptAt: null, finishedAt: at }
        return { delivery: ended, attempts, lease: undefined }
      })
    }
    return pending.length
  }

  /** How a claim changes a delivery that it takes. */
  lease(id: string, token: string, now: DateTime.Utc, until: DateTime.Utc): void {
    this.#change(id, (row) => {
      const { attempts, delivery } = this.#withLostAttempt(row)
      const dueAt = row.lease?.dueAt ?? delivery.nextAttemptAt!
      return {
        delivery: { ...delivery, nextAttemptAt: until },
        attempts,
        lease: { token, since: now, dueAt },
      }
    })
  }

  settle({ at, attempt, id, state, token }: Settlement): boolean {
    const row = this.state.deliveries.find((other) => other.id === id)
    if (row?.lease?.token !== token) return false
    this.#change(id, ({ attempts, delivery }) => ({
      lease: undefined,
      attempts: attempt === undefined ? attempts : [...attempts, attempt],
      delivery: {
        ...delivery,
        status: state.status,
        reason: state.status === "Failed" ? state.reason : null,
        attemptCount: state.attemptCount,
        nextAttemptAt: state.status === "Pending" ? DateTime.makeUnsafe(state.dueAt) : null,
        finishedAt: state.status === "Pending" ? null : at,
        lastResponseStatus: attempt?.responseStatus ?? delivery.lastResponseStatus,
        lastError: attempt === undefined ? delivery.lastError : attempt.error,
      },
    }))
    const { endpointId } = row.delivery
    const stored = this.stored(endpointId)
    if (attempt === undefined || stored === undefined) return true
    if (state.status !== "Delivered" && !Delivery.isEndpointsFailure(attempt)) return true
    const { failingSince } = stored.endpoint
    const since = state.status === "Delivered" ? null : (failingSince ?? attempt.startedAt)
    this.setEndpoint(endpointId, { ...stored, endpoint: { ...stored.endpoint, failingSince: since } })
    return true
  }

  #withLostAttempt({
    attempts,
    delivery,
    lease,
  }: ReferenceDelivery): Pick<ReferenceDelivery, "attempts" | "delivery"> {
    if (lease === undefined) return { attempts, delivery }
    const number = delivery.attemptCount + 1
    return {
      attempts: [...attempts, unknownAttempt(number, lease.since)],
      delivery: { ...delivery, attemptCount: number, lastError: "unknown" },
    }
  }

  #change(id: string, change: (row: ReferenceDelivery) => Omit<ReferenceDelivery, "id">): void {
    const deliveries = this.state.deliveries.map((row) => (row.id === id ? { id, ...change(row) } : row))
    this.state = { ...this.state, deliveries }
  }

  #addDeliveries(
    targets: ReadonlyArray<readonly [Event.Event, Endpoint.EndpointId]>,
    first: Delivery.DeliveryId,
    now: DateTime.Utc,
  ): ReadonlyArray<Delivery.Delivery> {
    const made = targets.map(([event, endpointId], index): Delivery.Delivery => ({
      id: Delivery.deliveryId(first, index),
      eventId: event.id,
      eventType: event.type,
      endpointId,
      status: "Pending",
      reason: null,
      attemptCount: 0,
      nextAttemptAt: now,
      lastResponseStatus: null,
      lastError: null,
      createdAt: now,
      finishedAt: null,
    }))
    const rows = made.map((delivery) => ({ id: delivery.id, delivery, attempts: [], lease: undefined }))
    this.state = { ...this.state, deliveries: [...this.state.deliveries, ...rows] }
    return made
  }
}
