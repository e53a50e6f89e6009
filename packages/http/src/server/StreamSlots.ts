/**
 * Limits how many streams are open at once. Each uses a connection and reads from the storage every second.
 */
import type { VerifiedApiKey } from "@billwright/core"
import { Clock, Effect, type Scope } from "effect"
import { TooManyStreams } from "./ErrorResponse.ts"

/** The default of `maxStreams`. */
const DEFAULT_MAX_STREAMS = 500
/** The default of `maxStreamsPerKey`. */
const DEFAULT_MAX_STREAMS_PER_KEY = 20
/** How long a slot is reserved for a stream that has not started to run, in milliseconds. */
const RESERVATION_MILLIS = 10_000

export interface StreamLimits {
  /** The most streams open at once in this process. Default 500. */
  readonly maxStreams?: number
  /** The most streams of one API key, or of one operator, open at once in this process. Default 20. */
  readonly maxStreamsPerKey?: number
}

/** Whose streams are counted together: those of an operator, or of a key. All operators of a dashboard have the same key. */
export const holderOf = ({ key, operator }: VerifiedApiKey): string =>
  operator === undefined ? key.id : `${key.id} ${operator.id}`

/**
 * Holds a slot until the scope closes: the reserved one, or a new one when the reservation has expired. Fails when
 * no slot is free.
 */
export type Slot = Effect.Effect<void, TooManyStreams, Scope.Scope>

export interface StreamSlots {
  /** Fails when a holder can't open another stream now. It takes no slot. */
  readonly check: (holder: string) => Effect.Effect<void, TooManyStreams>
  /**
   * Reserves a slot for a stream that is about to run, or fails when no slot is free. If the stream is not run
   * within 10 seconds, because its client has disconnected or doesn't read, the slot becomes free again.
   */
  readonly reserve: (holder: string) => Effect.Effect<Slot, TooManyStreams>
  /** The number of slots in use. */
  readonly taken: () => number
}

interface Reservation {
  readonly holder: string
  readonly expiresAt: number
}

export const make = (limits: StreamLimits): StreamSlots => {
  const maxStreams = limits.maxStreams ?? DEFAULT_MAX_STREAMS
  const maxPerKey = limits.maxStreamsPerKey ?? DEFAULT_MAX_STREAMS_PER_KEY
  const byHolder = new Map<string, number>()
  /** Reservations in the order in which they expire. */
  const reserved = new Set<Reservation>()
  let size = 0

  const add = (holder: string, change: 1 | -1): void => {
    const count = (byHolder.get(holder) ?? 0) + change
    if (count === 0) byHolder.delete(holder)
    else byHolder.set(holder, count)
    size += change
  }

  const dropExpired = (now: number): void => {
    for (const reservation of reserved) {
      if (now < reservation.expiresAt) return
      reserved.delete(reservation)
      add(reservation.holder, -1)
    }
  }

  const check = (holder: string): Effect.Effect<void, TooManyStreams> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      dropExpired(now)
      if ((byHolder.get(holder) ?? 0) >= maxPerKey) {
        return Effect.fail(new TooManyStreams({ limit: maxPerKey, of: "key" }))
      }
      return size >= maxStreams
        ? Effect.fail(new TooManyStreams({ limit: maxStreams, of: "server" }))
        : Effect.void
    })

  const take = (holder: string) => Effect.map(check(holder), () => add(holder, 1))

  const hold = (reservation: Reservation): Slot =>
    Effect.acquireRelease(
      Effect.suspend(() => (reserved.delete(reservation) ? Effect.void : take(reservation.holder))),
      () => Effect.sync(() => add(reservation.holder, -1)),
    )

  const reserve = (holder: string): Effect.Effect<Slot, TooManyStreams> =>
    Effect.map(Effect.andThen(take(holder), Clock.currentTimeMillis), (now) => {
      const reservation = { holder, expiresAt: now + RESERVATION_MILLIS }
      reserved.add(reservation)
      return hold(reservation)
    })

  return { check, reserve, taken: () => size }
}
