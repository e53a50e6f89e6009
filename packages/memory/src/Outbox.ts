/**
 * Publishes events in memory: stores an event and its deliveries in one step, and signals their commit.
 */
import {
  type Customer,
  Delivery,
  Event,
  MAX_REDACTED,
  type PublishOutcome,
  type RedactStep,
  Signal,
  type StorageError,
  type Tenant,
} from "@billwright/core"
import { Exit } from "effect"
import type { CollectionTable } from "./CollectionTable.ts"
import type { DeliveryTable } from "./DeliveryTable.ts"
import type { EndpointRow, EndpointTable } from "./EndpointTable.ts"
import { type EventTable, idTaken } from "./EventTable.ts"
import type { Journal } from "./Journal.ts"

interface Tables {
  readonly customers: CollectionTable<Customer.Customer>
  readonly events: EventTable
  readonly endpoints: EndpointTable
  readonly deliveries: DeliveryTable
}

/** Publishes events. Its methods are synchronous. */
export class Outbox {
  readonly #journal: Journal
  readonly #tables: Tables
  readonly #signal = Signal.make()
  /** How many writes of events and deliveries the open transaction has made. */
  #written = 0

  constructor(journal: Journal, tables: Tables) {
    this.#journal = journal
    this.#tables = tables
  }

  /** Signals commits of events and deliveries. */
  get committed() {
    return this.#signal.subscribe
  }

  publish(tenant: Tenant.Tenant, event: Event.Event): Exit.Exit<PublishOutcome, StorageError> {
    const { customers, endpoints } = this.#tables
    const { customerId, endpointId, idempotencyKey } = event
    if (customerId !== null && customers.status(tenant, customerId) !== "active") {
      return Exit.succeed({ _tag: "CustomerNotFound" })
    }
    const known = idempotencyKey === null ? undefined : this.#tables.events.findByKey(tenant, idempotencyKey)
    if (known !== undefined) return Exit.succeed(outcomeOfRepeat(known.event, event))
    if (endpointId === null) return this.#add(tenant, event, endpoints.subscribed(tenant, event.type))
    const target = endpoints.rowOf(tenant, endpointId)
    return target?.stored?.endpoint.status === "enabled"
      ? this.#add(tenant, event, [target])
      : Exit.succeed({ _tag: "EndpointNotFound" })
  }

  /** Publishes the library's own events, without the checks of `publish`. */
  announce(tenant: Tenant.Tenant, events: ReadonlyArray<Event.Event>): Exit.Exit<void, StorageError> {
    for (const event of events) {
      const exit = this.#add(tenant, event, this.#tables.endpoints.subscribed(tenant, event.type))
      if (Exit.isFailure(exit)) return exit
    }
    return Exit.void
  }

  /** Redacts events about an erased customer. Their deliveries whose leases it ends are due now. */
  redact(
    tenant: Tenant.Tenant,
    { after, at, customerId }: RedactStep,
    redacted: (event: Event.Event) => string,
  ): Event.Event["id"] | undefined {
    const { customers, deliveries, events } = this.#tables
    if (customers.status(tenant, customerId) !== "removed") return undefined
    const { hasMore, rows } = events.unredacted(tenant, customerId, after, MAX_REDACTED)
    for (const row of rows) {
      events.redact(row, redacted({ ...row.event }))
      deliveries.redactAllOf(row, at)
    }
    if (rows.length > 0) this.wrote()
    return hasMore ? rows.at(-1)?.id : undefined
  }

  /** Records that the open transaction has made deliveries. */
  wrote(): void {
    this.#written++
    this.#journal.wrote(() => this.#written--)
    if (this.#written === 1) this.#journal.whenEnded(() => this.#settle())
  }

  #add(
    tenant: Tenant.Tenant,
    event: Event.Event,
    endpoints: ReadonlyArray<EndpointRow>,
  ): Exit.Exit<PublishOutcome, StorageError> {
    const row = this.#tables.events.insert(tenant, event)
    if (row === undefined) return Exit.fail(idTaken("EventStore.publish", event.id))
    this.#tables.deliveries.add(row, endpoints, Delivery.firstDeliveryId(event.id), event.timestamp)
    this.wrote()
    return Exit.succeed({ _tag: "Published", event: { ...event } })
  }

  #settle(): void {
    if (this.#written === 0) return
    this.#written = 0
    this.#signal.notify()
  }
}

const outcomeOfRepeat = (first: Event.Event, again: Event.Event): PublishOutcome =>
  Event.isSameContent(first, again)
    ? { _tag: "Duplicate", event: { ...first } }
    : { _tag: "KeyConflict", eventId: first.id }
