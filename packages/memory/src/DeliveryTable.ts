/**
 * Deliveries in memory: by tenant, in the orders of lists, and in the queue of due deliveries.
 */
import {
  type Claim,
  type Claimed,
  Delivery,
  type DeliveryFilterQuery,
  type Endpoint,
  MAX_CANCEL,
  Page,
  type PrunedCounts,
  type PruneStep,
  type RangeReplay,
  type Settlement,
  StorageError,
  StoredDelivery,
  Tenant,
  WebhookStatistics,
} from "@billwright/core"
import { DateTime, Exit, Option } from "effect"
import { DeliveryCounts } from "./DeliveryCounts.ts"
import {
  copyOf,
  copyOfClaimed,
  copyOfSettlement,
  type DeliveryRow,
  type EndpointDeliveries,
  type EventRow,
  newRow,
} from "./DeliveryRow.ts"
import { DueGroup, DueParty, DueQueue } from "./DueQueue.ts"
import type { EndpointRow, EndpointTable } from "./EndpointTable.ts"
import type { EventTable } from "./EventTable.ts"
import { IdOrder, pageOf, toPage } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"
import { StatusOrder } from "./StatusOrder.ts"

/** Deliveries of all tenants. Its methods are synchronous. */
export class DeliveryTable {
  readonly #journal: Journal
  readonly #events: EventTable
  readonly #endpoints: EndpointTable
  readonly #tenants = new Map<string, StatusOrder<DeliveryRow>>()
  readonly #byEndpoint = new WeakMap<EndpointRow, EndpointDeliveries>()
  readonly #due = new DueQueue<DeliveryRow>()
  readonly #parties = new Map<string, DueParty<DeliveryRow>>()
  readonly #counts: DeliveryCounts

  constructor(journal: Journal, events: EventTable, endpoints: EndpointTable) {
    this.#journal = journal
    this.#events = events
    this.#endpoints = endpoints
    this.#counts = new DeliveryCounts(journal)
  }

  /** Makes a pending delivery of an event for each endpoint, in the same order. */
  add(
    event: EventRow,
    endpoints: ReadonlyArray<EndpointRow>,
    first: Delivery.DeliveryId,
    now: DateTime.Utc,
  ): Array<Delivery.Delivery> {
    return endpoints.map((endpoint, index) => {
      const row = newRow(Delivery.deliveryId(first, index), event, this.#groupOf(endpoint))
      if (this.#of(event.tenant).of(undefined).find(row.id) !== undefined) {
        throw new TypeError(`the delivery id ${row.id} is taken`)
      }
      const content = StoredDelivery.pending(row.id, event.event, endpoint.id, now)
      this.#put(row, content)
      return { ...content.delivery }
    })
  }

  /** Makes deliveries of an event to existing endpoints. None if there is no such event. */
  insert(
    tenant: Tenant.Tenant,
    replay: {
      readonly eventId: string
      readonly endpointIds: ReadonlyArray<Endpoint.EndpointId>
      readonly firstDeliveryId: Delivery.DeliveryId
      readonly now: DateTime.Utc
    },
  ): Exit.Exit<Array<Delivery.Delivery>, StorageError> {
    const event = this.#events.rowOf(tenant, replay.eventId)
    if (event === undefined) return Exit.succeed([])
    const endpoints = replay.endpointIds.flatMap((id) => this.#endpoints.rowOf(tenant, id) ?? [])
    if (endpoints.length < replay.endpointIds.length) {
      const cause = new Error("there is no such endpoint")
      return Exit.fail(new StorageError({ operation: "DeliveryStore.insert", retryable: false, cause }))
    }
    return Exit.succeed(this.add(event, endpoints, replay.firstDeliveryId, replay.now))
  }

  find(tenant: Tenant.Tenant, id: string): Option.Option<Delivery.DeliveryWithAttempts> {
    return Option.map(Option.fromUndefinedOr(this.#rowOf(tenant, id)), ({ content }) => copyOf(content!))
  }

  list(
    tenant: Tenant.Tenant,
    { endpointId, eventId, status }: DeliveryFilterQuery,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Delivery.Delivery>, Page.CursorNotFound> {
    if (query.cursor !== undefined && this.#rowOf(tenant, query.cursor.id) === undefined) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    const deliveryOf = ({ content }: DeliveryRow) => ({ ...content!.delivery })
    if (eventId !== undefined) {
      const rows = this.#ofEvent(tenant, eventId).sliceWhere(query, ({ content, group }) => {
        const isTo = endpointId === undefined || group.endpoint.id === endpointId
        return isTo && (status === undefined || content!.delivery.status === status)
      })
      return Exit.succeed(toPage(rows, query, deliveryOf))
    }
    const orders = endpointId === undefined ? this.#of(tenant) : this.#ofEndpoint(tenant, endpointId)?.order
    return Exit.succeed(pageOf(orders === undefined ? [] : [orders.of(status)], query, deliveryOf))
  }

  /** Reads every event of the tenant, which is fast enough because replays of a range are rare. */
  replayRange(tenant: Tenant.Tenant, range: RangeReplay): number {
    const endpoint = this.#endpoints.rowOf(tenant, range.endpointId)
    if (endpoint === undefined) return 0
    const filter = endpoint.stored?.endpoint.eventTypes ?? []
    const events = Array.from(this.#events.all(tenant)).filter(({ deliveries, event }) =>
      StoredDelivery.isReplayed(event, range, filter, () =>
        Array.from(deliveries.values())
          .filter(({ group }) => group.endpoint === endpoint)
          .map(({ content }) => content!.delivery.status),
      ),
    )
    if (events.length > range.limit) return range.limit + 1
    if (range.isDryRun) return events.length
    for (const [index, event] of events.entries()) {
      this.add(event, [endpoint], Delivery.deliveryId(range.firstDeliveryId, index), range.now)
    }
    return events.length
  }

  cancel(
    tenant: Tenant.Tenant,
    endpointId: string,
    reason: "endpoint_disabled" | "endpoint_deleted",
    at: DateTime.Utc,
  ): number {
    const all = this.#ofEndpoint(tenant, endpointId)?.order.of("Pending").values()
    const pending = all === undefined ? [] : [...all.take(MAX_CANCEL)]
    for (const row of pending) {
      const wasLost = row.content!.lease !== null
      this.#put(row, StoredDelivery.cancelled(row.content!, reason, at))
      this.#counts.count(row, at, { failed: 1, failedAttempts: wasLost ? 1 : 0 })
    }
    return pending.length
  }

  claimDue({ leaseUntil, limit, limitPerEndpoint, limits, now, tenantLimits }: Claim): Claimed {
    const ofTenants = new Map(tenantLimits.map((one) => [Tenant.tenantKey(one.tenant), one.limit]))
    const rows = this.#due.due(now.epochMilliseconds, {
      inAll: limit,
      ofGroup: ({ group }) => limits.get(group.endpoint.id) ?? limitPerEndpoint,
      ofParty: ({ tenant }) => ofTenants.get(Tenant.tenantKey(tenant)) ?? limit,
    })
    const deliveries = rows.map((row) => {
      const wasLost = row.content!.lease !== null
      const lease = { token: crypto.randomUUID(), since: now }
      const content = { ...StoredDelivery.leased(row.content!, lease, leaseUntil), lease }
      this.#put(row, content)
      if (wasLost) this.#counts.count(row, now, { failedAttempts: 1 })
      const endpoint = row.group.endpoint.stored
      return copyOfClaimed(StoredDelivery.claimed(row.tenant, content, row.event.event, endpoint, wasLost))
    })
    return { deliveries, unreadable: [] }
  }

  /** Writes a settlement. Gives false when the delivery no longer has its lease. */
  settle(settlement: Settlement): boolean {
    const row = this.#rowOf(settlement.tenant, settlement.id)
    if (row?.content?.lease?.token !== settlement.token) return false
    this.#put(row, StoredDelivery.settled(row.content, copyOfSettlement(settlement)))
    this.#counts.count(row, settlement.at, StoredDelivery.countsOf(settlement))
    const { endpoint } = row.group
    if (endpoint.stored === undefined) return true
    const before = endpoint.stored.endpoint.failingSince
    const failingSince = StoredDelivery.failingSince(before, settlement)
    if (failingSince !== before) this.#endpoints.markFailing(endpoint, failingSince)
    return true
  }

  /** Removes all deliveries of an event. */
  removeAllOf(event: EventRow): void {
    for (const row of Array.from(event.deliveries.values())) this.#put(row, undefined)
  }

  /** Takes answers of receivers out of the deliveries of an event, and ends their leases. */
  redactAllOf(event: EventRow, at: DateTime.Utc): void {
    for (const row of Array.from(event.deliveries.values())) {
      this.#put(row, StoredDelivery.redacted(row.content!, at, crypto.randomUUID()))
    }
  }

  /** Removes the counts of all tenants for hours that began before an instant; see `DeliveryCounts.prune`. */
  pruneCounts(step: PruneStep): PrunedCounts {
    return this.#counts.prune(step)
  }

  counts(tenant: Tenant.Tenant, sinceHour: DateTime.Utc): WebhookStatistics.StoredCounts {
    const pending = new Map<Endpoint.EndpointId, number>()
    for (const endpoint of this.#endpoints.rowsOf(tenant)) {
      const count = this.#groupOf(endpoint).order.of("Pending").size
      if (count > 0) pending.set(endpoint.id, Math.min(count, WebhookStatistics.MAX_PENDING_COUNT))
    }
    return { hours: this.#counts.since(tenant, sinceHour.epochMilliseconds), pending }
  }

  nextDueAt(): Option.Option<DateTime.Utc> {
    return Option.map(Option.fromUndefinedOr(this.#due.earliest), (at) => DateTime.makeUnsafe(at))
  }

  /** Every delivery of every tenant. */
  *rows(): Generator<DeliveryRow> {
    for (const orders of this.#tenants.values()) yield* orders.of(undefined).values()
  }

  /** Sets a row and updates the orders and the queue. */
  #put(row: DeliveryRow, content: StoredDelivery.StoredDelivery | undefined): void {
    const before = row.content
    this.#set(row, content)
    this.#journal.wrote(() => this.#set(row, before))
  }

  #set(row: DeliveryRow, content: StoredDelivery.StoredDelivery | undefined): void {
    const { event, group } = row
    const [before, after] = [row.content?.delivery, content?.delivery]
    row.content = content
    if (before?.status === "Pending") this.#due.remove(group.due, row)
    const dueAt = after?.nextAttemptAt ?? undefined
    if (dueAt !== undefined) {
      row.dueAt = dueAt.epochMilliseconds
      this.#due.add(group.due, row)
    }
    this.#of(row.tenant).move(row, before?.status, after?.status)
    group.order.move(row, before?.status, after?.status)
    this.#events.delivered(event, before?.status, after?.status)
    if (before === undefined) event.deliveries.insert(row)
    if (after === undefined) event.deliveries.remove(row)
  }

  #rowOf(tenant: Tenant.Tenant, id: string): DeliveryRow | undefined {
    return this.#of(tenant).of(undefined).find(id)
  }

  #ofEvent(tenant: Tenant.Tenant, id: string): IdOrder<DeliveryRow> {
    return this.#events.rowOf(tenant, id)?.deliveries ?? new IdOrder()
  }

  #ofEndpoint(tenant: Tenant.Tenant, id: string): EndpointDeliveries | undefined {
    const endpoint = this.#endpoints.rowOf(tenant, id)
    return endpoint && this.#groupOf(endpoint)
  }

  #groupOf(endpoint: EndpointRow): EndpointDeliveries {
    let group = this.#byEndpoint.get(endpoint)
    if (group === undefined) {
      group = { endpoint, order: new StatusOrder(), due: new DueGroup(this.#partyOf(endpoint.tenant)) }
      this.#byEndpoint.set(endpoint, group)
    }
    return group
  }

  #partyOf(tenant: Tenant.Tenant): DueParty<DeliveryRow> {
    const key = Tenant.tenantKey(tenant)
    const party = this.#parties.get(key) ?? new DueParty()
    this.#parties.set(key, party)
    return party
  }

  #of(tenant: Tenant.Tenant): StatusOrder<DeliveryRow> {
    const key = Tenant.tenantKey(tenant)
    let orders = this.#tenants.get(key)
    if (orders === undefined) {
      orders = new StatusOrder()
      this.#tenants.set(key, orders)
    }
    return orders
  }
}
