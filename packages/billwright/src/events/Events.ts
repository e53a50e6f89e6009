/**
 * Events: what happened, told once and for ever in the same bytes, and delivered to webhook endpoints.
 */
import type { CallOptions, Instant } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"
import type { Delivery, DeliveryStatus } from "../webhooks/Deliveries.ts"

/** One event; it never changes. */
export interface EventOf<Type extends string, Data> {
  /** `evt_…`, the same in every attempt and replay. */
  readonly id: string
  readonly type: Type
  /** When it was published. */
  readonly timestamp: Date
  /** The customer that it is about, if it was named. */
  readonly customerId: string | null
  readonly idempotencyKey: string | null
  /** The endpoint that it was made for, by `endpoints.test`: it is sent nowhere else. `null`: it is for all that want it. */
  readonly endpointId: string | null
  /** As receivers get it. Integers beyond 2^53 − 1 are `bigint`. */
  readonly data: Data
}

/** An event of any of the types, told apart by `type`. */
export type EventOfAny<Map> = {
  [Type in keyof Map & string]: EventOf<Type, Map[Type]>
}[keyof Map & string]

/** An event to publish. Its data is checked against its type. */
export interface PublishEvent<Type extends string, Data> {
  readonly type: Type
  /** JSON, at most 256 KiB and 30 levels deep. Integers may be `bigint`. */
  readonly data: Data
  /** The customer that it is about. It has to exist. */
  readonly customerId?: string | undefined
  /** Publishes the event once, until it is pruned: the same key and content again gives the first event. */
  readonly idempotencyKey?: string | undefined
}

/** An event, and whether it was there before. */
export interface PublishedEvent<Type extends string, Data> {
  readonly event: EventOf<Type, Data>
  readonly isDuplicate: boolean
}

/** An event with its newest deliveries, at most 100, newest first. */
export type EventWithDeliveries<Map> = EventOfAny<Map> & { readonly deliveries: ReadonlyArray<Delivery> }

/** How many deliveries of an event have each status, up to 1,000 each. */
export interface DeliveryCounts {
  readonly pending: number
  readonly delivered: number
  readonly failed: number
}

/** An event of a list, and how its deliveries went. */
export type ListedEvent<Map> = EventOfAny<Map> & { readonly deliveryCounts: DeliveryCounts }

/** Which events, newest first. Conditions are joined by "and". */
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

/** Which events to follow, and from where. */
export interface StreamEvents<Type extends string> {
  /** Default: all. */
  readonly types?: ReadonlyArray<Type> | undefined
  /** The id of the last event that was seen: goes on behind it. Default: what is published from now on. */
  readonly after?: string | undefined
}

/** A type of the catalogue. */
export interface EventTypeInfo {
  readonly name: string
  readonly description: string
  readonly example: unknown
}

/**
 * Publishing is a transactional outbox: in `billing.transaction` the event and its deliveries commit with
 * everything else, or never were.
 *
 * Errors: `InvalidInputError`, `CustomerNotFoundError`, `EventKeyConflictError`, `EventNotFoundError`,
 * `EndpointNotFoundError`, `EndpointDisabledError`, `EventNotAdmittedError`.
 */
export interface Events<Map> {
  /** The catalogue, in the order of the names. */
  types(options?: CallOptions): Promise<ReadonlyArray<EventTypeInfo>>
  /** Publishes to every enabled endpoint that wants the type. */
  publish<Type extends keyof Map & string>(
    input: PublishEvent<Type, Map[Type]>,
    options?: CallOptions,
  ): Promise<PublishedEvent<Type, Map[Type]>>
  get(id: string, options?: CallOptions): Promise<EventWithDeliveries<Map>>
  list(query?: ListEvents<keyof Map & string>, options?: CallOptions): Listing<ListedEvent<Map>>
  /**
   * Sends it again, with its id and bytes: to one endpoint, or to all that admit its type now. A test event goes to
   * its own endpoint; naming another one is an `InvalidInputError`.
   */
  replay(
    id: string,
    to?: { readonly endpointId?: string | undefined },
    options?: CallOptions,
  ): Promise<ReadonlyArray<Delivery>>
  /**
   * Follows the events as they are committed, in the order of commits, each once, until the loop is left, the
   * signal aborts (then it rejects) or billing is closed (then it ends; if it was closed before, it rejects with a
   * `ClosedError`). What is published after the call of `stream` comes, however late the loop begins. Other
   * processes' events arrive within a second. Test events, which are for one endpoint alone, are left out.
   */
  stream(query?: StreamEvents<keyof Map & string>, options?: CallOptions): AsyncIterable<EventOfAny<Map>>
}
