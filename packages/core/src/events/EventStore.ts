/**
 * The storage port for events, the outbox.
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

/** The result of a publication. Only `Published` changes the storage. */
export type PublishOutcome =
  | { readonly _tag: "Published"; readonly event: Event }
  /** The idempotency key exists with the same type, customer, endpoint and data; `event` is the first one. */
  | { readonly _tag: "Duplicate"; readonly event: Event }
  /** The idempotency key exists with other content. */
  | { readonly _tag: "KeyConflict"; readonly eventId: EventId }
  /** The customer is unknown or erased. */
  | { readonly _tag: "CustomerNotFound" }
  /** The event was made for one endpoint, and that endpoint is unknown, deleted or disabled. */
  | { readonly _tag: "EndpointNotFound" }

/** Which events to list. */
export interface EventFilterQuery {
  readonly type: string | undefined
  readonly customerId: CustomerId | undefined
  /** Events published at this instant or later. */
  readonly createdAfter: DateTime.Utc | undefined
  /** Events published before this instant. */
  readonly createdBefore: DateTime.Utc | undefined
  /** Events with at least one delivery in this status. */
  readonly deliveryStatus: DeliveryStatus | undefined
}

/** Most events of one `redact`. */
export const MAX_REDACTED = 100

/** A step through the events about a customer who is erased. */
export interface RedactStep {
  readonly customerId: CustomerId
  /** When the step is. Attempts that are under way end then. */
  readonly at: DateTime.Utc
  /** Where the last step ended; `undefined` to begin with the oldest event. */
  readonly after: EventId | undefined
}

/** A position in the order in which events were committed. Opaque, and valid only in the storage that gave it. */
export type TailPosition = string

/** Every verb acts for the current tenant alone and joins the current transaction, if there is one. */
export class EventStore extends Context.Service<
  EventStore,
  {
    /**
     * Stores an event and, in the same step, a `Pending` delivery for each enabled endpoint whose filter includes the
     * event's type. The deliveries are due at the event's timestamp. They are made in the order of the endpoints' ids,
     * with the ids `Delivery.deliveryId(Delivery.firstDeliveryId(event.id), index)`. An event with an `endpointId` goes
     * to this endpoint only, whatever its filter.
     *
     * Of concurrent publications with the same idempotency key exactly one stores an event, and the others find it.
     * Data is the same when it is equal as JSON values. The customer is checked before the key.
     */
    readonly publish: (event: Event) => Effect.Effect<PublishOutcome, StorageError, CurrentTenant>

    readonly find: (id: EventId) => Effect.Effect<Option.Option<Event>, StorageError, CurrentTenant>

    /**
     * Newest first. A page ends early, with `hasMore`, before an event that would make its payloads larger than
     * `Event.MAX_PAGE_PAYLOAD_BYTES`; it has one event at least, if there is one. Payloads beyond are not read.
     */
    readonly list: (
      filter: EventFilterQuery,
      page: PageQuery,
    ) => Effect.Effect<Page<Event>, CursorNotFound | StorageError, CurrentTenant>

    /**
     * The position after an event, or `none` when there is no such event. Without an id, the position after all
     * events.
     */
    readonly tailPosition: (
      after: EventId | undefined,
    ) => Effect.Effect<Option.Option<TailPosition>, StorageError, CurrentTenant>

    /**
     * Up to `limit` events after a position, and the position after the last of them. It ends early as a page of `list`
     * does. `types` filters by event type; an empty list means all types.
     *
     * An event that was committed before the transaction of another one wrote anything comes before it. Of transactions at
     * the same time, that which wrote first comes first, even if it is committed last. Reading on from each returned
     * position misses no event and gives none twice, however long transactions take. An event may come late while an older
     * transaction is open.
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
     * Takes personal data out of the oldest `MAX_REDACTED` events about an erased customer that were not redacted yet:
     * stores the payload that `redacted` gives, removes the idempotency key, and takes headers and bodies of answers out of the
     * attempts of their deliveries. A delivery whose attempt is under way loses its lease: what becomes of that attempt is not
     * stored, and the redacted payload is sent again. Gives the last of these events, and `undefined` when none is left after
     * them. Does nothing to events about a customer who is not erased.
     */
    readonly redact: (
      step: RedactStep,
      redacted: (event: Event) => string,
    ) => Effect.Effect<EventId | undefined, StorageError, CurrentTenant>

    /**
     * Signals that events or deliveries of any tenant were committed: at once in this process, and in others as soon as
     * this process learns of it. Read the store after a signal, and now and then without one: a signal may be late,
     * be missing (from other processes) or come without a reason.
     */
    readonly committed: Effect.Effect<Awaiting, never, Scope.Scope>
  }
>()("@billwright/core/events/EventStore") {}
