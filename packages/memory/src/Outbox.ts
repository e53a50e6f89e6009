/**
 * Publishes events in memory: stores an event and its deliveries in one step, and signals their commit.
 */
import {
  type Customer,
  Delivery,
  Event,
  type PublishOutcome,
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
