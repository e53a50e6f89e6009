/**
 * How many streams may be open at once: each costs a connection and a look into the storage every second.
 */
import type { ApiKey } from "@billwright/core"
import { Clock, Effect, type Scope } from "effect"
import { TooManyStreams } from "./ErrorAnswer.ts"

/** Streams that are open at once in this process, unless told otherwise. */
const DEFAULT_MAX_STREAMS = 500
/** Streams that one API key has open at once in this process, unless told otherwise. */
const DEFAULT_MAX_STREAMS_PER_KEY = 20
/** How long a slot is kept for a stream that was answered and is not run. */
const RESERVATION_MILLIS = 10_000

export interface StreamLimits {
  /** Streams that are open at once in this process. Default 500. */
  readonly maxStreams?: number
  /** Streams that one API key has open at once in this process. Default 20. */
  readonly maxStreamsPerKey?: number
}

/**
 * Holds a slot until the scope closes: the one that was reserved, or another one when that has run out. Fails when
 * there is none any more.
 */
export type Slot = Effect.Effect<void, TooManyStreams, Scope.Scope>

export interface StreamSlots {
  /** Fails when a key can't open another stream now. Takes nothing. */
  readonly check: (key: ApiKey.ApiKeyId) => Effect.Effect<void, TooManyStreams>
  /**
   * Takes a slot for a stream that is about to be run, or fails when there is none. One that isn't run (its client
   * went away, or never reads its answer) gives the slot back by itself 10 seconds later.
   */
  readonly reserve: (key: ApiKey.ApiKeyId) => Effect.Effect<Slot, TooManyStreams>
  /** How many slots are taken. */
  readonly taken: () => number
}

interface Reservation {
  readonly key: ApiKey.ApiKeyId
  readonly expiresAt: number
}

export const make = (limits: StreamLimits): StreamSlots => {
  const maxStreams = limits.maxStreams ?? DEFAULT_MAX_STREAMS
  const maxPerKey = limits.maxStreamsPerKey ?? DEFAULT_MAX_STREAMS_PER_KEY
  const byKey = new Map<ApiKey.ApiKeyId, number>()
  /** In the order in which they run out. */
  const reserved = new Set<Reservation>()
  let size = 0

  const add = (key: ApiKey.ApiKeyId, change: 1 | -1): void => {
    const count = (byKey.get(key) ?? 0) + change
    if (count === 0) byKey.delete(key)
    else byKey.set(key, count)
    size += change
  }

  const dropExpired = (now: number): void => {
    for (const reservation of reserved) {
      if (now < reservation.expiresAt) return
      reserved.delete(reservation)
      add(reservation.key, -1)
    }
  }

  const check = (key: ApiKey.ApiKeyId): Effect.Effect<void, TooManyStreams> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      dropExpired(now)
      if ((byKey.get(key) ?? 0) >= maxPerKey) {
        return Effect.fail(new TooManyStreams({ limit: maxPerKey, of: "key" }))
      }
      return size >= maxStreams
        ? Effect.fail(new TooManyStreams({ limit: maxStreams, of: "server" }))
        : Effect.void
    })

  const take = (key: ApiKey.ApiKeyId) => Effect.map(check(key), () => add(key, 1))

  const hold = (reservation: Reservation): Slot =>
    Effect.acquireRelease(
      Effect.suspend(() => (reserved.delete(reservation) ? Effect.void : take(reservation.key))),
      () => Effect.sync(() => add(reservation.key, -1)),
    )

  const reserve = (key: ApiKey.ApiKeyId): Effect.Effect<Slot, TooManyStreams> =>
    Effect.map(Effect.andThen(take(key), Clock.currentTimeMillis), (now) => {
      const reservation = { key, expiresAt: now + RESERVATION_MILLIS }
      reserved.add(reservation)
      return hold(reservation)
    })

  return { check, reserve, taken: () => size }
}
