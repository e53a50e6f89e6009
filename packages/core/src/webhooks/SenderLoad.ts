/**
 * Limits how many attempts a dispatcher makes at once: in total, for each tenant, and to each endpoint.
 *
 * An attempt that has waited for its receiver for a second or more has stalled. It costs a socket but no work. So it no
 * longer counts in `maxInFlight`, and counts in `maxStalled` instead. Receivers that hang therefore don't hold up those
 * that answer, as long as no more than `maxStalled` attempts have stalled. The next attempt to such a receiver is expected
 * to stall, too, and counts as stalled from its beginning, until one to that receiver ends sooner.
 *
 * A busy dispatcher leases deliveries before it has places for them, so that places that become free are not empty until the
 * next claim has ended: see docs/decisions/0054. These wait, in turn. To endpoints and tenants they count like attempts.
 *
 * Tenants share the places for stalled attempts. A tenant may have `maxInFlight` attempts under way, plus half of the
 * places for stalled attempts that other tenants don't use. So a tenant that comes later finds places, too.
 *
 * What is known of an endpoint lapses after a while in which nothing was sent to it. Otherwise endpoints that were deleted after
 * a bad attempt would be named in each claim for ever, and enough of them would end all offers.
 */
import { type Tenant, tenantKey } from "../shared/Tenant.ts"
import type { TenantLimit } from "./DeliveryStore.ts"
import type { EndpointId } from "./Endpoint.ts"

/** Most attempts under way that have not stalled, in total. */
export const DEFAULT_MAX_IN_FLIGHT = 64
/** Most attempts under way to one endpoint. */
export const DEFAULT_MAX_IN_FLIGHT_PER_ENDPOINT = 8
/** Most attempts under way that have stalled, in total. */
export const DEFAULT_MAX_STALLED = 448
/** The part that one tenant may take of the places for stalled attempts that other tenants don't use. */
const MAX_TENANT_PART = 1 / 2
/** An attempt that takes this long has stalled. */
const STALLED_AFTER_MILLIS = 1_000
/** Longest pause of an endpoint that asked to wait (`Retry-After`). */
const MAX_PAUSE_MILLIS = 60_000
/**
 * How many deliveries are leased ahead for each attempt that ended while the last claim was under way: one for the time of the
 * next claim, and one because larger claims take the storage less time for each delivery.
 */
const AHEAD = 2
/** A claim is made when at least this part of what may be leased is free: for less it is not worth a round trip. */
const WORTHWHILE_PART = 1 / 2
/** How many places each event of a publication is offered: more than most events have endpoints. */
const PLACES_OF_EVENT = 8
/** Most endpoints that a standing offer leaves out. When more have no room, nothing is offered. */
const MAX_FULL_OF_OFFER = 100
/** The part of an endpoint's places below which it has little room. */
const LITTLE_ROOM_PART = 1 / 2
/** Most endpoints whose load is remembered. */
const MAX_KNOWN_ENDPOINTS = 10_000
/** How long the load of an endpoint is remembered to which nothing is sent. */
const REMEMBERED_MILLIS = 10 * 60_000

export interface SenderLoadOptions {
  readonly maxInFlight: number
  /** Most deliveries that wait for a place. */
  readonly maxAhead: number
  readonly maxInFlightPerEndpoint: number
  readonly maxStalled: number
}

interface EndpointLoad {
  inFlight: number
  /** 1 to `maxInFlightPerEndpoint`: each sign of overload halves it, and each success adds 1. */
  limit: number
  pausedUntil: number
  /** True when the last claim took as many as it was allowed of this endpoint, so that more may be due. */
  mayHaveMore: boolean
  /** True when an attempt has stalled, until one ends sooner. The next ones are expected to stall. */
  isSlow: boolean
}

/** The attempts that a tenant has under way. Removed when the last of them ends. */
interface TenantLoad {
  readonly tenant: Tenant
  inFlight: number
  /** True when the last claim took as many as it was allowed of this tenant, so that more may be due. */
  mayHaveMore: boolean
}

/** A leased delivery: it waits for its place, or its attempt is under way. */
export interface Slot {
  readonly tenant: Tenant
  readonly endpointId: EndpointId
  /** When its attempt began. `begin` sets it. */
  startedAt: number | undefined
  /** Whether it counts as stalled from its beginning. `begin` sets it. */
  isExpectedToStall: boolean
}

/** The tenant and endpoint of an attempt. */
export interface Sent {
  readonly tenant: Tenant
  readonly endpoint: { readonly id: EndpointId }
}

/** How many more attempts may begin to endpoints and for tenants that are limited. */
export interface Room {
  /** When it was asked for. */
  readonly at: number
  /** How many attempts had ended before they stalled. */
  readonly ended: number
  readonly limits: ReadonlyMap<EndpointId, number>
  readonly tenantLimits: ReadonlyArray<TenantLimit>
}

/** Places that are offered to a publication. */
export interface Offer {
  readonly places: number
  /** Endpoints without room for its deliveries. */
  readonly full: ReadonlyArray<EndpointId>
}

/** What becomes of a delivery that waits for its place. */
export type Turn = "begins" | "waits" | "is given back"

/** What a receiver's answer says about its load. */
export type LoadSign = "fine" | "overloaded" | "none"

/** The load of one dispatcher. It is mutable and synchronous. Instants are epoch milliseconds. */
export class SenderLoad {
  readonly #options: SenderLoadOptions
  readonly #endpoints = new Map<EndpointId, EndpointLoad>()
  /** The known endpoints without deliveries, and since when they have none: those that have none for the longest time first. */
  readonly #idle = new Map<EndpointId, number>()
  readonly #tenants = new Map<string, TenantLoad>()
  readonly #slots = new Set<Slot>()
  /** How many slots wait. */
  #waiting = 0
  /** How many attempts have ended before they stalled. */
  #ended = 0
  /** How many deliveries may be leased that have no place yet. */
  #ahead = 0
  /** How many the last claim might lease. */
  #wasAhead = 0
  /** The places that are offered and were not taken yet. Nothing but other offers depends on them. */
  #offered = 0

  constructor(options: SenderLoadOptions) {
    this.#options = options
  }

  get inFlight(): number {
    return this.#slots.size - this.#waiting
  }

  /** How many more attempts may begin, after those that wait. */
  free(now: number): number {
    return Math.max(0, this.#places(now) - this.#waiting)
  }

  /** How many deliveries may be leased: for each free place one, and some ahead. */
  leasable(now: number): number {
    return Math.max(0, this.#places(now) - this.#waiting + this.#ahead)
  }

  /** Whether too few deliveries may be leased to make a claim. */
  isBusy(now: number): boolean {
    return this.leasable(now) < (this.#options.maxInFlight + this.#ahead) * WORTHWHILE_PART
  }

  /** The places that no attempt has. */
  #places(now: number): number {
    const excused = Math.min(this.#stalledCount(now), this.#options.maxStalled)
    return this.#options.maxInFlight - (this.inFlight - excused)
  }

  #stalledCount(now: number): number {
    let count = 0
    for (const slot of this.#slots) if (isStalled(slot, now)) count++
    return count
  }

  /** How many more attempts may begin to the endpoints and for the tenants that have less than the usual room. */
  room(now: number): Room {
    this.#forgetLapsed(now)
    this.#noteSlow(now)
    const limits = new Map<EndpointId, number>()
    for (const [id, load] of this.#endpoints) {
      const limit = roomOf(load, now)
      // Those that are only known to be slow are not named: they may be thousands.
      if (limit < this.#options.maxInFlightPerEndpoint) limits.set(id, limit)
    }
    return { at: now, limits, tenantLimits: this.#tenantLimits(now), ended: this.#ended }
  }

  /**
   * Offers places to so many events of a tenant that are published now. Half of all places are left to claims. Offers nothing
   * for a tenant whose deliveries wait for a place. Endpoints with waiting deliveries are full. `takeBack` ends the offer.
   */
  offer(tenant: Tenant, events: number, now: number): Offer | undefined {
    if (events > this.#options.maxInFlightPerEndpoint) return undefined
    const places = Math.min(this.#spare(now), events * PLACES_OF_EVENT)
    if (places <= 0 || this.#tenants.get(tenantKey(tenant))?.mayHaveMore === true) return undefined
    this.#forgetLapsed(now)
    const full: Array<EndpointId> = []
    for (const [id, load] of this.#endpoints) {
      if (load.mayHaveMore || roomOf(load, now) < events) full.push(id)
    }
    this.#offered += places
    return { places, full }
  }

  /**
   * Offers places to each publication of other processes in the next second. They are not kept, so all that is limited or slow
   * is left out: nothing is offered while a tenant is, and endpoints are full that are, or that have little room. It may have
   * as many events as there are places, so there are no more than an endpoint gets at once.
   */
  standingOffer(now: number): Offer | undefined {
    const spare = this.#spare(now)
    if (spare <= 0 || this.#tenantLimits(now).length > 0) return undefined
    for (const { mayHaveMore } of this.#tenants.values()) if (mayHaveMore) return undefined
    this.#forgetLapsed(now)
    this.#noteSlow(now)
    const little = this.#options.maxInFlightPerEndpoint * LITTLE_ROOM_PART
    const full: Array<EndpointId> = []
    for (const [id, load] of this.#endpoints) {
      if (load.mayHaveMore || load.isSlow || roomOf(load, now) < little) full.push(id)
      if (full.length > MAX_FULL_OF_OFFER) return undefined
    }
    return { places: Math.min(spare, PLACES_OF_EVENT, this.#options.maxInFlightPerEndpoint), full }
  }

  /** How many places may be offered: half of all places are left to claims. */
  #spare(now: number): number {
    return this.free(now) - Math.ceil(this.#options.maxInFlight / 2) - this.#offered
  }

  /** Ends an offer. Call it once for each. */
  takeBack({ places }: Offer): void {
    this.#offered -= places
  }

  /** Whether a delivery may wait for its place, or have one now. */
  hasRoom({ endpoint, tenant }: Sent, now: number): boolean {
    // What the last claim leased may wait, also when it may lease fewer by now.
    if (this.#places(now) - this.#waiting + Math.max(this.#ahead, this.#wasAhead) <= 0) return false
    const load = this.#endpoints.get(endpoint.id)
    if (load !== undefined && roomOf(load, now) === 0) return false
    const key = tenantKey(tenant)
    return this.#tenantLimits(now).every((its) => its.limit > 0 || tenantKey(its.tenant) !== key)
  }

  /** Records what a claim with this room took. Call it before the attempts begin. */
  claimed(taken: ReadonlyArray<Sent>, { at, ended, limits, tenantLimits }: Room): void {
    this.#wasAhead = this.#ahead
    this.#ahead = Math.min((this.#ended - ended) * AHEAD, this.#options.maxAhead)
    const counts = countBy(taken, ({ endpoint }) => endpoint.id)
    for (const [id, limit] of limits) {
      // Nothing is known of an endpoint that was left out.
      this.#claimedOf(id, (counts.get(id) ?? 0) >= limit, at)
    }
    for (const [id, count] of counts) {
      if (!limits.has(id)) this.#claimedOf(id, count >= this.#options.maxInFlightPerEndpoint, at)
    }
    const ofTenants = countBy(taken, ({ tenant }) => tenantKey(tenant))
    for (const load of this.#tenants.values()) load.mayHaveMore = false
    for (const { limit, tenant } of tenantLimits) {
      const key = tenantKey(tenant)
      const load = this.#tenants.get(key)
      if (load !== undefined) load.mayHaveMore = (ofTenants.get(key) ?? 0) >= limit
    }
  }

  /** Records what a claim says of an endpoint. Its deliveries may be given back before they wait, so it may stay idle. */
  #claimedOf(endpointId: EndpointId, mayHaveMore: boolean, at: number): void {
    const load = this.#of(endpointId)
    load.mayHaveMore = mayHaveMore
    if (load.inFlight === 0 && !this.#idle.has(endpointId)) this.#idle.set(endpointId, at)
  }

  /** Forgets an endpoint that is disabled or deleted, unless attempts to it are still under way. */
  forget(endpointId: EndpointId): void {
    if (this.#endpoints.get(endpointId)?.inFlight !== 0) return
    this.#endpoints.delete(endpointId)
    this.#idle.delete(endpointId)
  }

  /** Counts a delivery that was leased. It waits until `begin`, or until `end`. */
  wait({ endpoint, tenant }: Sent): Slot {
    const own = this.#of(endpoint.id)
    own.inFlight++
    this.#idle.delete(endpoint.id)
    const slot: Slot = {
      tenant,
      endpointId: endpoint.id,
      startedAt: undefined,
      isExpectedToStall: false,
    }
    this.#slots.add(slot)
    this.#waiting++
    const key = tenantKey(tenant)
    const load = this.#tenants.get(key)
    if (load === undefined) this.#tenants.set(key, { tenant, inFlight: 1, mayHaveMore: false })
    else load.inFlight++
    return slot
  }

  /**
   * What becomes of a delivery that waits. It is given back when its endpoint has asked to wait, or was overloaded, since it was
   * leased.
   */
  turnOf({ endpointId }: Slot, now: number): Turn {
    const { inFlight, isSlow, limit, pausedUntil } = this.#of(endpointId)
    if (now < pausedUntil || inFlight > limit) return "is given back"
    const mayStall = isSlow && this.#stalledCount(now) < this.#options.maxStalled
    return mayStall || this.#places(now) > 0 ? "begins" : "waits"
  }

  /** Begins the attempt of a delivery that waited. */
  begin(slot: Slot, now: number): void {
    slot.startedAt = now
    slot.isExpectedToStall = this.#of(slot.endpointId).isSlow
    this.#waiting--
  }

  /**
   * Ends an attempt, or a delivery that waits. `pauseMillis` is the wait that the receiver asked for. Gives whether more may be
   * due for its place.
   */
  end(slot: Slot, sign: LoadSign, now: number, pauseMillis = 0): boolean {
    if (!this.#slots.delete(slot)) return false
    if (slot.startedAt === undefined) this.#waiting--
    else if (!isStalled(slot, now)) this.#ended++
    const { maxInFlightPerEndpoint } = this.#options
    const load = this.#of(slot.endpointId)
    // Asked in any case, because it counts the tenant's attempts.
    const ofTenant = this.#endOf(slot.tenant)
    const mayHaveMore = load.mayHaveMore || ofTenant
    load.inFlight--
    if (slot.startedAt !== undefined) load.isSlow = hasStalled(slot, now)
    if (sign === "fine") load.limit = Math.min(maxInFlightPerEndpoint, load.limit + 1)
    if (sign === "overloaded") load.limit = Math.max(1, Math.floor(load.limit / 2))
    if (pauseMillis > 0) load.pausedUntil = now + Math.min(pauseMillis, MAX_PAUSE_MILLIS)
    const isUsual = load.limit === maxInFlightPerEndpoint && load.pausedUntil <= now && !load.isSlow
    if (load.inFlight > 0) return mayHaveMore
    if (isUsual) this.#endpoints.delete(slot.endpointId)
    else this.#idle.set(slot.endpointId, now)
    return mayHaveMore
  }

  /** Counts one attempt of a tenant less. Gives whether more of the tenant may be due. */
  #endOf(tenant: Tenant): boolean {
    const key = tenantKey(tenant)
    const load = this.#tenants.get(key)!
    load.inFlight--
    if (load.inFlight === 0) this.#tenants.delete(key)
    return load.mayHaveMore
  }

  /** Expects that attempts to endpoints stall to which one has. */
  #noteSlow(now: number): void {
    for (const slot of this.#slots) if (hasStalled(slot, now)) this.#of(slot.endpointId).isSlow = true
  }

  /** The attempts that have stalled, or are expected to. */
  #stalled(now: number): ReadonlyArray<Slot> {
    return Array.from(this.#slots).filter((slot) => isStalled(slot, now))
  }

  /** The limits of tenants that may begin fewer attempts than a claim can take. */
  #tenantLimits(now: number): ReadonlyArray<TenantLimit> {
    const { maxInFlight, maxStalled } = this.#options
    const most = maxInFlight + this.#ahead
    const stalled = this.#stalled(now)
    const ofTenants = countBy(stalled, ({ tenant }) => tenantKey(tenant))
    return Array.from(this.#tenants, ([key, { inFlight, tenant }]) => {
      const left = Math.max(0, maxStalled - (stalled.length - (ofTenants.get(key) ?? 0)))
      return { tenant, limit: Math.max(0, most + Math.floor(left * MAX_TENANT_PART) - inFlight) }
    }).filter(({ limit }) => limit < most)
  }

  #of(endpointId: EndpointId): EndpointLoad {
    let load = this.#endpoints.get(endpointId)
    if (load === undefined) {
      if (this.#endpoints.size >= MAX_KNOWN_ENDPOINTS) this.#forgetIdle()
      load = {
        inFlight: 0,
        limit: this.#options.maxInFlightPerEndpoint,
        pausedUntil: 0,
        mayHaveMore: false,
        isSlow: false,
      }
      this.#endpoints.set(endpointId, load)
    }
    return load
  }

  #forgetIdle(): void {
    for (const id of this.#idle.keys()) this.#endpoints.delete(id)
    this.#idle.clear()
  }

  /** It looks at no more than it forgets, and one. */
  #forgetLapsed(now: number): void {
    for (const [id, since] of this.#idle) {
      if (now - since < REMEMBERED_MILLIS) return
      this.#endpoints.delete(id)
      this.#idle.delete(id)
    }
  }
}

/** How many more attempts may begin to an endpoint. */
const roomOf = ({ inFlight, limit, pausedUntil }: EndpointLoad, now: number): number =>
  now < pausedUntil ? 0 : Math.max(0, limit - inFlight)

const hasStalled = ({ startedAt }: Slot, now: number): boolean =>
  startedAt !== undefined && now - startedAt >= STALLED_AFTER_MILLIS

/** Whether an attempt counts as stalled. A delivery that waits does not. */
const isStalled = (slot: Slot, now: number): boolean => slot.isExpectedToStall || hasStalled(slot, now)

const countBy = <Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, number> => {
  const counts = new Map<Key, number>()
  for (const item of items) {
    const key = keyOf(item)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
