/**
 * How much a dispatcher sends at once: in all, and to each endpoint.
 *
 * An attempt that has been waiting for its receiver for more than a second has stalled. It costs a socket and
 * no work, so it leaves its place in `maxInFlight` to others, and counts in `maxStalled` instead: receivers
 * that hang do not starve those that answer, however many they are, until there are `maxStalled` of them.
 */
import type { EndpointId } from "./Endpoint.ts"

/** Attempts that are under way and answered soon, in all. */
export const DEFAULT_MAX_IN_FLIGHT = 64
/** Attempts under way to one endpoint. */
export const DEFAULT_MAX_IN_FLIGHT_PER_ENDPOINT = 8
/** Attempts under way whose receivers don't answer soon, in all. */
export const DEFAULT_MAX_STALLED = 448
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

/** One attempt under way. */
export interface Slot {
  readonly endpointId: EndpointId
  readonly startedAt: number
}

/** What a receiver's answer says of its load. */
export type LoadSign = "fine" | "overloaded" | "none"

/** Mutable and synchronous; one for a dispatcher. Instants are epoch milliseconds. */
export class SenderLoad {
  readonly #options: SenderLoadOptions
  readonly #endpoints = new Map<EndpointId, EndpointLoad>()
  readonly #slots = new Set<Slot>()

  constructor(options: SenderLoadOptions) {
    this.#options = options
  }

  get inFlight(): number {
    return this.#slots.size
  }

  /** How many more attempts may begin. */
  free(now: number): number {
    let stalled = 0
    for (const slot of this.#slots) {
      // In the order of their beginning: behind the first that has not stalled none has.
      if (now - slot.startedAt < STALLED_AFTER_MILLIS) break
      stalled++
    }
    const excused = Math.min(stalled, this.#options.maxStalled)
    return Math.max(0, this.#options.maxInFlight - (this.#slots.size - excused))
  }

  /** How many more attempts may begin to the endpoints that are not free to take the usual number. */
  limits(now: number): ReadonlyMap<EndpointId, number> {
    const limits = new Map<EndpointId, number>()
    for (const [id, load] of this.#endpoints) {
      limits.set(id, now < load.pausedUntil ? 0 : Math.max(0, load.limit - load.inFlight))
    }
    return limits
  }

  /** Notes what a claim with these `limits` took, before its attempts begin. */
  claimed(endpointIds: Iterable<EndpointId>, limits: ReadonlyMap<EndpointId, number>): void {
    const counts = new Map<EndpointId, number>()
    for (const id of endpointIds) counts.set(id, (counts.get(id) ?? 0) + 1)
    for (const [id, limit] of limits) {
      if (limit > 0) this.#of(id).mayHaveMore = (counts.get(id) ?? 0) >= limit
    }
    for (const [id, count] of counts) {
      if (!limits.has(id)) this.#of(id).mayHaveMore = count >= this.#options.maxInFlightPerEndpoint
    }
  }

  begin(endpointId: EndpointId, now: number): Slot {
    const slot: Slot = { endpointId, startedAt: now }
    this.#slots.add(slot)
    this.#of(endpointId).inFlight++
    return slot
  }

  /** `pauseMillis`: how long the receiver asked to be left alone. Gives whether there may be more for it. */
  end(slot: Slot, sign: LoadSign, now: number, pauseMillis = 0): boolean {
    if (!this.#slots.delete(slot)) return false
    const { maxInFlightPerEndpoint } = this.#options
    const load = this.#of(slot.endpointId)
    const { mayHaveMore } = load
    load.inFlight--
    if (sign === "fine") load.limit = Math.min(maxInFlightPerEndpoint, load.limit + 1)
    if (sign === "overloaded") load.limit = Math.max(1, Math.floor(load.limit / 2))
    if (pauseMillis > 0) load.pausedUntil = now + Math.min(pauseMillis, MAX_PAUSE_MILLIS)
    const isUsual = load.limit === maxInFlightPerEndpoint && load.pausedUntil <= now
    if (load.inFlight === 0 && isUsual) this.#endpoints.delete(slot.endpointId)
    return mayHaveMore
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
