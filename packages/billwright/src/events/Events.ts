/**
 * Events. An event never changes, and every delivery of it to a webhook endpoint carries the same bytes.
 */
import type { CallOptions, Instant } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"
import type { Delivery, DeliveryStatus } from "../webhooks/Deliveries.ts"

/** An event. It never changes. */
export interface EventOf<Type extends string, Data> {
  /** `evt_…`. Every attempt and replay carries the same id. */
  readonly id: string
  readonly type: Type
  /** When it was published. */
  readonly timestamp: Date
  /** The customer that the event is about, if one was given. */
  readonly customerId: string | null
  readonly idempotencyKey: string | null
  /** For a test event, made by `endpoints.test`: the only endpoint that it is sent to. Otherwise `null`. */
  readonly endpointId: string | null
  /** The data that receivers get. Integers beyond 2^53 − 1 are `bigint`. */
  readonly data: Data
}

/** An event of any type: a union by `type`. */
export type EventOfAny<Map> = {
  [Type in keyof Map & string]: EventOf<Type, Map[Type]>
}[keyof Map & string]

/** An event to publish. Its data is checked against its type. */
export interface PublishEvent<Type extends string, Data> {
  readonly type: Type
  /** JSON, at most 256 KiB and 30 levels deep. Integers may be `bigint`. */
  readonly data: Data
  /** The customer that the event is about. The customer must exist. */
  readonly customerId?: string | undefined
  /**
   * Publishes the event only once. A second call with the same key and content returns the first event, until that
   * is pruned.
   */
  readonly idempotencyKey?: string | undefined
}

/** An event, and whether an earlier call had already published it. */
export interface PublishedEvent<Type extends string, Data> {
  readonly event: EventOf<Type, Data>
  readonly isDuplicate: boolean
}

/** An event with at most 100 of its deliveries, newest first. */
export type EventWithDeliveries<Map> = EventOfAny<Map> & { readonly deliveries: ReadonlyArray<Delivery> }

/** The number of an event's deliveries in each status. Each count stops at 1,000. */
export interface DeliveryCounts {
  readonly pending: number
  readonly delivered: number
  readonly failed: number
}

/** An event of a list, with the counts of its deliveries. */
export type ListedEvent<Map> = EventOfAny<Map> & { readonly deliveryCounts: DeliveryCounts }

/** Selects events, newest first. An event must match all conditions. */
export interface ListEvents<Type extends string> extends PageQuery {
  readonly type?: Type | undefined
  readonly customerId?: string | undefined
  /** Published at this instant or later. */
  readonly createdAfter?: Instant | undefined
  /** Published before this instant. */
  readonly createdBefore?: Instant | undefined
  /** With at least one delivery in this status. */
  readonly deliveryStatus?: DeliveryStatus | undefined
}

/** Selects the events of a stream, and where it starts. */
export interface StreamEvents<Type extends string> {
  /** Default: all. */
  readonly types?: ReadonlyArray<Type> | undefined
  /**
   * The id of the last event that you have seen: the stream continues after it. Default: only events published from
   * now on.
   */
  readonly after?: string | undefined
}

/** An event type of the catalogue. */
export interface EventTypeInfo {
  readonly name: string
  readonly description: string
  readonly example: unknown
}

/**
 * Publishing uses a transactional outbox. Inside `billing.transaction`, the event and its deliveries commit or roll
 * back with everything else.
 *
 * Errors: `InvalidInputError`, `CustomerNotFoundError`, `EventKeyConflictError`, `EventNotFoundError`,
 * `EndpointNotFoundError`, `EndpointDisabledError`, `EventNotAdmittedError`.
 */
export interface Events<Map> {
  /** The event types of the catalogue, sorted by name. */
  types(options?: CallOptions): Promise<ReadonlyArray<EventTypeInfo>>
  /** Publishes an event to every enabled endpoint that subscribes to its type. */
  publish<Type extends keyof Map & string>(
    input: PublishEvent<Type, Map[Type]>,
    options?: CallOptions,
  ): Promise<PublishedEvent<Type, Map[Type]>>
  get(id: string, options?: CallOptions): Promise<EventWithDeliveries<Map>>
  list(query?: ListEvents<keyof Map & string>, options?: CallOptions): Listing<ListedEvent<Map>>
  /**
   * Sends an event again, with the same id and bytes: to one endpoint, or to all that subscribe to its type now. A
   * test event goes to its own endpoint. Giving another endpoint for it is an `InvalidInputError`.
   */
  replay(
    id: string,
    to?: { readonly endpointId?: string | undefined },
    options?: CallOptions,
  ): Promise<ReadonlyArray<Delivery>>
  /**
   * Yields events as they are committed, each once. One that was committed before the transaction of another wrote
   * anything comes first. Of transactions at the same time, that which wrote first comes first: for the order of what
   * happened to one object, compare the `sequence` in the data of its events. It starts with the first event published after the call of `stream`, even when the loop begins later. Events of other processes arrive within
   * a second. Test events are left out.
   *
   * The stream runs until you leave the loop. It rejects when the signal aborts, and ends when billing is closed.
   * If billing was already closed, it rejects with a `ClosedError`.
   */
  stream(query?: StreamEvents<keyof Map & string>, options?: CallOptions): AsyncIterable<EventOfAny<Map>>
}
