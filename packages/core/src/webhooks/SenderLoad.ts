/**
 * How much a dispatcher sends at once: in all, for each tenant, and to each endpoint.
 *
 * An attempt that has been waiting for its receiver for more than a second has stalled. It costs a socket and
 * no work, so it leaves its place in `maxInFlight` to others, and counts in `maxStalled` instead: receivers
 * that hang do not starve those that answer, however many they are, until there are `maxStalled` of them.
 *
 * Places for attempts that stall are shared by tenants. One may have `maxInFlight` attempts under way, and as many
 * more as half of the places for stalled ones that the others have left: whoever comes then finds places, too.
 */
import { type Tenant, tenantKey } from "../shared/Tenant.ts"
import type { TenantLimit } from "./DeliveryStore.ts"
import type { EndpointId } from "./Endpoint.ts"

/** Attempts that are under way and answered soon, in all. */
export const DEFAULT_MAX_IN_FLIGHT = 64
/** Attempts under way to one endpoint. */
export const DEFAULT_MAX_IN_FLIGHT_PER_ENDPOINT = 8
/** Attempts under way whose receivers don't answer soon, in all. */
export const DEFAULT_MAX_STALLED = 448
/** One tenant may take this part of the places for stalled attempts that the others have left. */
const MAX_TENANT_PART = 1 / 2
/** An attempt that takes longer has stalled. */
const STALLED_AFTER_MILLIS = 1_000
/** Longest time that an endpoint is left alone because it asked to (`Retry-After`). */
const MAX_PAUSE_MILLIS = 60_000
/** Most endpoints that something is remembered of. */
const MAX_KNOWN_ENDPOINTS = 10_000

export interface SenderLoadOptions {
  readonly maxInFlight: number
  readonly maxInFlightPerEndpoint: number
  readonly maxStalled: number
}

interface EndpointLoad {
  inFlight: number
  /** Halved by each sign of overload, one more after each success, from 1 to `maxInFlightPerEndpoint`. */
  limit: number
  pausedUntil: number
  /** The last claim took all that it might of this endpoint: there may be more. */
  mayHaveMore: boolean
}

/** What a tenant has under way. Forgotten with its last attempt. */
interface TenantLoad {
  readonly tenant: Tenant
  inFlight: number
  /** The last claim took all that it might of this tenant: there may be more. */
  mayHaveMore: boolean
}

/** One attempt under way. */
export interface Slot {
  readonly tenant: Tenant
  readonly endpointId: EndpointId
  readonly startedAt: number
}

/** Whom an attempt is for. */
export interface Sent {
  readonly tenant: Tenant
  readonly endpoint: { readonly id: EndpointId }
}

/** How many more attempts may begin. */
export interface Room {
  readonly limits: ReadonlyMap<EndpointId, number>
  readonly tenantLimits: ReadonlyArray<TenantLimit>
}

/** What a receiver's answer says of its load. */
export type LoadSign = "fine" | "overloaded" | "none"

/** Mutable and synchronous; one for a dispatcher. Instants are epoch milliseconds. */
export class SenderLoad {
  readonly #options: SenderLoadOptions
  readonly #endpoints = new Map<EndpointId, EndpointLoad>()
  readonly #tenants = new Map<string, TenantLoad>()
  readonly #slots = new Set<Slot>()

  constructor(options: SenderLoadOptions) {
    this.#options = options
  }

  get inFlight(): number {
    return this.#slots.size
  }

  /** How many more attempts may begin. */
  free(now: number): number {
    const stalled = this.#stalled(now).length
    const excused = Math.min(stalled, this.#options.maxStalled)
    return Math.max(0, this.#options.maxInFlight - (this.#slots.size - excused))
  }

  /** How many more attempts may begin to the endpoints and tenants that are not free to take the usual number. */
  room(now: number): Room {
    const limits = new Map<EndpointId, number>()
    for (const [id, load] of this.#endpoints) {
      limits.set(id, now < load.pausedUntil ? 0 : Math.max(0, load.limit - load.inFlight))
    }
    return { limits, tenantLimits: this.#tenantLimits(now) }
  }

  /** Notes what a claim with this room took, before its attempts begin. */
  claimed(taken: ReadonlyArray<Sent>, { limits, tenantLimits }: Room): void {
    const counts = countBy(taken, ({ endpoint }) => endpoint.id)
    for (const [id, limit] of limits) {
      if (limit > 0) this.#of(id).mayHaveMore = (counts.get(id) ?? 0) >= limit
    }
    for (const [id, count] of counts) {
      if (!limits.has(id)) this.#of(id).mayHaveMore = count >= this.#options.maxInFlightPerEndpoint
    }
    const ofTenants = countBy(taken, ({ tenant }) => tenantKey(tenant))
    for (const load of this.#tenants.values()) load.mayHaveMore = false
    for (const { limit, tenant } of tenantLimits) {
      const key = tenantKey(tenant)
      const load = this.#tenants.get(key)
      if (load !== undefined) load.mayHaveMore = (ofTenants.get(key) ?? 0) >= limit
    }
  }

  begin({ endpoint, tenant }: Sent, now: number): Slot {
    const slot: Slot = { tenant, endpointId: endpoint.id, startedAt: now }
    this.#slots.add(slot)
    this.#of(endpoint.id).inFlight++
    const key = tenantKey(tenant)
    const load = this.#tenants.get(key)
    if (load === undefined) this.#tenants.set(key, { tenant, inFlight: 1, mayHaveMore: false })
    else load.inFlight++
    return slot
  }

  /** `pauseMillis`: how long the receiver asked to be left alone. Gives whether there may be more in its place. */
  end(slot: Slot, sign: LoadSign, now: number, pauseMillis = 0): boolean {
    if (!this.#slots.delete(slot)) return false
    const { maxInFlightPerEndpoint } = this.#options
    const load = this.#of(slot.endpointId)
    const mayHaveMore = load.mayHaveMore || this.#endOf(slot.tenant)
    load.inFlight--
    if (sign === "fine") load.limit = Math.min(maxInFlightPerEndpoint, load.limit + 1)
    if (sign === "overloaded") load.limit = Math.max(1, Math.floor(load.limit / 2))
    if (pauseMillis > 0) load.pausedUntil = now + Math.min(pauseMillis, MAX_PAUSE_MILLIS)
    const isUsual = load.limit === maxInFlightPerEndpoint && load.pausedUntil <= now
    if (load.inFlight === 0 && isUsual) this.#endpoints.delete(slot.endpointId)
    return mayHaveMore
  }

  /** One attempt of a tenant less. Gives whether there may be more of the tenant. */
  #endOf(tenant: Tenant): boolean {
    const key = tenantKey(tenant)
    const load = this.#tenants.get(key)!
    load.inFlight--
    if (load.inFlight === 0) this.#tenants.delete(key)
    return load.mayHaveMore
  }

  #stalled(now: number): ReadonlyArray<Slot> {
    const stalled: Array<Slot> = []
    for (const slot of this.#slots) {
      // In the order of their beginning: behind the first that has not stalled none has.
      if (now - slot.startedAt < STALLED_AFTER_MILLIS) break
      stalled.push(slot)
    }
    return stalled
  }

  /** Of tenants that have so much under way that they may have fewer more than any claim takes. */
  #tenantLimits(now: number): ReadonlyArray<TenantLimit> {
    const { maxInFlight, maxStalled } = this.#options
    const stalled = this.#stalled(now)
    const ofTenants = countBy(stalled, ({ tenant }) => tenantKey(tenant))
    return Array.from(this.#tenants, ([key, { inFlight, tenant }]) => {
      const left = Math.max(0, maxStalled - (stalled.length - (ofTenants.get(key) ?? 0)))
      return { tenant, limit: Math.max(0, maxInFlight + Math.floor(left * MAX_TENANT_PART) - inFlight) }
    }).filter(({ limit }) => limit < maxInFlight)
  }

  #of(endpointId: EndpointId): EndpointLoad {
    let load = this.#endpoints.get(endpointId)
    if (load === undefined) {
      if (this.#endpoints.size >= MAX_KNOWN_ENDPOINTS) this.#forgetIdle()
      load = { inFlight: 0, limit: this.#options.maxInFlightPerEndpoint, pausedUntil: 0, mayHaveMore: false }
      this.#endpoints.set(endpointId, load)
    }
    return load
  }

  #forgetIdle(): void {
    for (const [id, load] of this.#endpoints) if (load.inFlight === 0) this.#endpoints.delete(id)
  }
}

const countBy = <Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, number> => {
  const counts = new Map<Key, number>()
  for (const item of items) {
    const key = keyOf(item)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
