/**
 * Where events are kept: the storage port of the outbox.
 */
import type { DateTime, Effect, Option, Scope } from "effect"
import { Context } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { Awaiting } from "../shared/Signal.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { DeliveryStatus } from "./DeliveryStatus.ts"
import type { Event } from "./Event.ts"
import type { EventId } from "./EventId.ts"

/** What became of a publication. All but `Published` leave the storage as it was. */
export type PublishOutcome =
  | { readonly _tag: "Published"; readonly event: Event }
  /** The idempotency key exists with the same type, customer, endpoint and data; `event` is the first one. */
  | { readonly _tag: "Duplicate"; readonly event: Event }
  /** The idempotency key exists with other content. */
  | { readonly _tag: "KeyConflict"; readonly eventId: EventId }
  /** The customer is unknown or erased. */
  | { readonly _tag: "CustomerNotFound" }
  /** The endpoint that it was made for is unknown, deleted or disabled. */
  | { readonly _tag: "EndpointNotFound" }

/** Which events to list. */
export interface EventFilterQuery {
  readonly type: string | undefined
  readonly customerId: CustomerId | undefined
  /** At this instant or later. */
  readonly createdAfter: DateTime.Utc | undefined
  /** Before this instant. */
  readonly createdBefore: DateTime.Utc | undefined
  /** With at least one delivery in this status. */
  readonly deliveryStatus: DeliveryStatus | undefined
}

/** A place in the order in which events were committed. Opaque; one storage's says nothing to another. */
export type TailPosition = string

/** Every verb acts for the current tenant alone and joins the current transaction, if there is one. */
export class EventStore extends Context.Service<
  EventStore,
  {
    /**
     * Stores an event and, in one step with it, a `Pending` delivery due at the event's timestamp for each
     * endpoint that is enabled and admits its type: in the order of the endpoints' ids, with the ids
     * `Delivery.deliveryId(Delivery.firstDeliveryId(event.id), index)`. One that was made for an endpoint
     * (`endpointId`) goes to this one alone, whatever its filter. Of concurrent
     * publications with the same idempotency key exactly one stores an event, the others see it. Data counts
     * as the same when it is equal as JSON values. The customer is asked for before the key.
     */
    readonly publish: (event: Event) => Effect.Effect<PublishOutcome, StorageError, CurrentTenant>

    readonly find: (id: EventId) => Effect.Effect<Option.Option<Event>, StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      filter: EventFilterQuery,
      page: PageQuery,
    ) => Effect.Effect<Page<Event>, CursorNotFound | StorageError, CurrentTenant>

    /** The place behind an event, `none` when there is no such event; without an id the place behind all events. */
    readonly tailPosition: (
      after: EventId | undefined,
    ) => Effect.Effect<Option.Option<TailPosition>, StorageError, CurrentTenant>

    /**
     * Up to `limit` events behind a place, and the place behind the last one. An event that was committed before
     * another was published comes before it. Read on from place to place, no event is missed and none comes
     * twice, however long transactions take; one may be held back while an older transaction is open.
     * `types` filters; empty: all.
     */
    readonly tail: (
      position: TailPosition,
      types: ReadonlyArray<string>,
      limit: number,
    ) => Effect.Effect<
      { readonly events: ReadonlyArray<Event>; readonly position: TailPosition },
      StorageError,
      CurrentTenant
    >

    /**
     * Signals after events or deliveries of any tenant were committed in this process, and as soon as known in
     * others. Reading is the truth: a signal may be late, missing (from other processes) or without a reason.
     */
    readonly committed: Effect.Effect<Awaiting, never, Scope.Scope>
  }
>()("@billwright/core/events/EventStore") {}
