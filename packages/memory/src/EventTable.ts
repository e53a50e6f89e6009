/**
 * Events in memory: by id, by idempotency key, in the orders of lists, and in the order of commits.
 */
import { Delivery, Event, type EventFilterQuery, Page, StorageError, Tenant } from "@billwright/core"
import { Exit, Option } from "effect"
import type { EventRow } from "./DeliveryRow.ts"
import { IdOrder, toPage } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"

interface Row extends EventRow {
  /** How many of its deliveries are in each status. */
  readonly counts: Record<Delivery.DeliveryStatus, number>
}

interface TenantEvents {
  readonly tenant: Tenant.Tenant
  readonly all: IdOrder<Row>
  readonly byType: Map<string, IdOrder<Row>>
  readonly byCustomer: Map<string, IdOrder<Row>>
  readonly byStatus: Readonly<Record<Delivery.DeliveryStatus, IdOrder<Row>>>
  readonly byKey: Map<string, Row>
  /** In the order of positions. */
  log: Array<Row>
}

/** Events of all tenants. Its methods are synchronous. */
export class EventTable {
  readonly #journal: Journal
  readonly #tenants = new Map<string, TenantEvents>()
  /** Never goes back, so that a position that was read in a failed transaction is not given to a later event. */
  #lastPosition = 0

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** Gives `undefined` when the id is taken. */
  insert(tenant: Tenant.Tenant, event: Event.Event): EventRow | undefined {
    const events = this.#of(tenant)
    const row: Row = {
      id: event.id,
      tenant: events.tenant,
      event: { ...event },
      isRedacted: false,
      position: ++this.#lastPosition,
      deliveries: new IdOrder(),
      counts: { Pending: 0, Delivered: 0, Failed: 0 },
    }
    if (!events.all.insert(row)) return undefined
    enlist(events, row)
    events.log.push(row)
    // Later writes are undone first, so this event is the last of the log when it is undone.
    this.#journal.wrote(() => {
      events.log.pop()
      unlist(events, row)
    })
    return row
  }

  rowOf(tenant: Tenant.Tenant, id: string): EventRow | undefined {
    return this.#of(tenant).all.find(id)
  }

  find(tenant: Tenant.Tenant, id: string): Option.Option<Event.Event> {
    return Option.map(Option.fromUndefinedOr(this.rowOf(tenant, id)), ({ event }) => ({ ...event }))
  }

  findByKey(tenant: Tenant.Tenant, key: string): EventRow | undefined {
    return this.#of(tenant).byKey.get(key)
  }

  /**
   * Reads the shortest order that contains all matching events. With a filter by time only, this is the order of all
   * events; it is read from the cursor on until the page is full.
   */
  list(
    tenant: Tenant.Tenant,
    filter: EventFilterQuery,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Event.Event>, Page.CursorNotFound> {
    const events = this.#of(tenant)
    if (query.cursor !== undefined && events.all.find(query.cursor.id) === undefined) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    const rows = shortest(ordersOf(events, filter)).sliceWhere(query, (row) => isAsked(row, filter))
    const limit = Math.min(query.limit, Event.countWithinPage(rows.map(({ event }) => event)))
    return Exit.succeed(toPage(rows, { ...query, limit }, ({ event }) => ({ ...event })))
  }

  /** How many of an event's deliveries are in each status. */
  countsOf(tenant: Tenant.Tenant, id: string): Delivery.DeliveryCounts {
    const { Delivered = 0, Failed = 0, Pending = 0 } = this.#of(tenant).all.find(id)?.counts ?? {}
    const upToLimit = (count: number): number => Math.min(count, Delivery.MAX_COUNTED)
    return { pending: upToLimit(Pending), delivered: upToLimit(Delivered), failed: upToLimit(Failed) }
  }

  /** All events of a tenant in the order of their ids. */
  all(tenant: Tenant.Tenant): Generator<EventRow> {
    return this.#of(tenant).all.values()
  }

  /** The position after an event, or after all events. */
  position(tenant: Tenant.Tenant, after: string | undefined): Option.Option<string> {
    const row = after === undefined ? this.#of(tenant).log.at(-1) : this.#of(tenant).all.find(after)
    if (row === undefined && after !== undefined) return Option.none()
    return Option.some(String(row?.position ?? 0))
  }

  /** The events after a position, and the position to read on from. */
  tail(
    tenant: Tenant.Tenant,
    position: string,
    types: ReadonlyArray<string>,
    limit: number,
  ): { readonly events: Array<Event.Event>; readonly position: string } {
    const { log } = this.#of(tenant)
    const rows: Array<Row> = []
    let last = Number(position)
    for (let index = firstBehind(log, last); index < log.length && rows.length < limit; index++) {
      const row = log[index]!
      if (types.length === 0 || types.includes(row.event.type)) rows.push(row)
      last = row.position
    }
    const count = Event.countWithinPage(rows.map(({ event }) => event))
    if (count < rows.length) last = rows[count - 1]!.position
    return { events: rows.slice(0, count).map(({ event }) => ({ ...event })), position: String(last) }
  }

  /**
   * Updates the counts when the status of a delivery changes. `undefined` stands for a delivery that doesn't exist. Call
   * it with the statuses exchanged to undo it.
   */
  delivered(
    row: EventRow,
    before: Delivery.DeliveryStatus | undefined,
    after: Delivery.DeliveryStatus | undefined,
  ): void {
    const { all, byStatus } = this.#of(row.tenant)
    const own = all.find(row.id)
    if (own === undefined || before === after) return
    if (before !== undefined && --own.counts[before] === 0) byStatus[before].remove(own)
    if (after !== undefined && own.counts[after]++ === 0) byStatus[after].insert(own)
  }

  /**
   * Up to `limit` events of any tenant that were published before an instant, after a cursor, and the cursor to read on
   * from. Without a cursor there are no more.
   */
  old(
    beforeMillis: number,
    after: string | undefined,
    limit: number,
  ): { readonly rows: ReadonlyArray<EventRow>; readonly next: string | undefined } {
    const [first = 0, position = 0] = (after ?? "").split(":").map(Number)
    const rows: Array<EventRow> = []
    for (const [index, { log }] of Array.from(this.#tenants.values()).entries()) {
      if (index < first) continue
      for (let at = index === first ? firstBehind(log, position) : 0; at < log.length; at++) {
        const row = log[at]!
        if (row.event.timestamp.epochMilliseconds >= beforeMillis) continue
        rows.push(row)
        if (rows.length === limit) return { rows, next: `${index}:${row.position}` }
      }
    }
    return { rows, next: undefined }
  }

  /** The oldest events about a customer, after one, that were not redacted yet, and whether there are more. */
  unredacted(
    tenant: Tenant.Tenant,
    customerId: string,
    after: string | undefined,
    limit: number,
  ): { readonly rows: ReadonlyArray<EventRow>; readonly hasMore: boolean } {
    const all = this.#of(tenant).byCustomer.get(customerId)?.values() ?? [].values()
    const rows = [
      ...all.filter((row) => !row.isRedacted && (after === undefined || row.id > after)).take(limit + 1),
    ]
    return { rows: rows.slice(0, limit), hasMore: rows.length > limit }
  }

  /** Replaces the payload of an event for good, and removes its key. */
  redact(row: EventRow, payload: string): void {
    const { byKey } = this.#of(row.tenant)
    const { event } = row
    const own = event.idempotencyKey === null ? undefined : byKey.get(event.idempotencyKey)
    if (event.idempotencyKey !== null) byKey.delete(event.idempotencyKey)
    row.event = { ...event, idempotencyKey: null, payload }
    row.isRedacted = true
    this.#journal.wrote(() => {
      row.event = event
      row.isRedacted = false
      if (event.idempotencyKey !== null && own !== undefined) byKey.set(event.idempotencyKey, own)
    })
  }

  /** Removes events. Their deliveries must have been removed before. */
  removeAll(rows: ReadonlyArray<EventRow>): void {
    for (const [tenant, own] of Map.groupBy(rows, (row) => row.tenant)) {
      const events = this.#of(tenant)
      const { log } = events
      const gone = own.flatMap(({ id }) => events.all.find(id) ?? [])
      const isGone = new Set(gone)
      events.log = log.filter((row) => !isGone.has(row))
      for (const row of gone) unlist(events, row)
      this.#journal.wrote(() => {
        for (const row of gone) {
          events.all.insert(row)
          enlist(events, row)
        }
        events.log = log
      })
    }
  }

  /** Every event of every tenant, in the order of commits by tenant. */
  *rows(): Generator<EventRow> {
    for (const { log } of this.#tenants.values()) yield* log
  }

  #of(tenant: Tenant.Tenant): TenantEvents {
    const key = Tenant.tenantKey(tenant)
    let events = this.#tenants.get(key)
    if (events === undefined) {
      events = {
        tenant: Object.freeze({ ...tenant }),
        all: new IdOrder(),
        byType: new Map(),
        byCustomer: new Map(),
        byStatus: { Pending: new IdOrder(), Delivered: new IdOrder(), Failed: new IdOrder() },
        byKey: new Map(),
        log: [],
      }
      this.#tenants.set(key, events)
    }
    return events
  }
}

/** The error for an event id that was used before. */
export const idTaken = (operation: string, id: string): StorageError =>
  new StorageError({ operation, retryable: false, cause: new Error(`the event id ${id} is taken`) })

const orderOf = (orders: Map<string, IdOrder<Row>>, key: string): IdOrder<Row> => {
  let order = orders.get(key)
  if (order === undefined) {
    order = new IdOrder()
    orders.set(key, order)
  }
  return order
}

/** Adds an event to all orders except `all`, where it already is. */
const enlist = ({ byCustomer, byKey, byType }: TenantEvents, row: Row): void => {
  const { customerId, idempotencyKey, type } = row.event
  orderOf(byType, type).insert(row)
  if (customerId !== null) orderOf(byCustomer, customerId).insert(row)
  if (idempotencyKey !== null) byKey.set(idempotencyKey, row)
}

/** Removes an event from all orders. */
const unlist = ({ all, byCustomer, byKey, byType }: TenantEvents, row: Row): void => {
  const { customerId, idempotencyKey, type } = row.event
  if (idempotencyKey !== null) byKey.delete(idempotencyKey)
  if (customerId !== null) byCustomer.get(customerId)?.remove(row)
  byType.get(type)?.remove(row)
  all.remove(row)
}

const nothing = new IdOrder<Row>()

/** The orders that each contain all matching events. */
const ordersOf = (
  { all, byCustomer, byStatus, byType }: TenantEvents,
  { customerId, deliveryStatus, type }: EventFilterQuery,
): ReadonlyArray<IdOrder<Row>> => [
  all,
  ...(type === undefined ? [] : [byType.get(type) ?? nothing]),
  ...(customerId === undefined ? [] : [byCustomer.get(customerId) ?? nothing]),
  ...(deliveryStatus === undefined ? [] : [byStatus[deliveryStatus]]),
]

const shortest = (orders: ReadonlyArray<IdOrder<Row>>): IdOrder<Row> =>
  orders.reduce((a, b) => (b.size < a.size ? b : a))

const isAsked = ({ counts, event }: Row, filter: EventFilterQuery): boolean => {
  const at = event.timestamp.epochMilliseconds
  return (
    (filter.type === undefined || event.type === filter.type) &&
    (filter.customerId === undefined || event.customerId === filter.customerId) &&
    (filter.deliveryStatus === undefined || counts[filter.deliveryStatus] > 0) &&
    (filter.createdAfter === undefined || at >= filter.createdAfter.epochMilliseconds) &&
    (filter.createdBefore === undefined || at < filter.createdBefore.epochMilliseconds)
  )
}

/** The index of the first row after a position. */
const firstBehind = (log: ReadonlyArray<Row>, position: number): number => {
  let low = 0
  let high = log.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (log[middle]!.position <= position) low = middle + 1
    else high = middle
  }
  return low
}
