/**
 * How many streams may be open at once: each costs a connection and a look into the storage every second.
 */
import type { ApiKey } from "@billwright/core"
import { Effect, type Scope } from "effect"
import { TooManyStreams } from "./ErrorAnswer.ts"

/** Streams that are open at once in this process, unless told otherwise. */
const DEFAULT_MAX_STREAMS = 500
/** Streams that one API key has open at once in this process, unless told otherwise. */
const DEFAULT_MAX_STREAMS_PER_KEY = 20

export interface StreamLimits {
  /** Streams that are open at once in this process. Default 500. */
  readonly maxStreams?: number
  /** Streams that one API key has open at once in this process. Default 20. */
  readonly maxStreamsPerKey?: number
}

export interface StreamSlots {
  /** Fails when a key can't open another stream now. */
  readonly check: (key: ApiKey.ApiKeyId) => Effect.Effect<void, TooManyStreams>
  /** Takes a place until the scope closes; false when there is none. */
  readonly take: (key: ApiKey.ApiKeyId) => Effect.Effect<boolean, never, Scope.Scope>
}

export const make = (limits: StreamLimits): StreamSlots => {
  const maxStreams = limits.maxStreams ?? DEFAULT_MAX_STREAMS
  const maxPerKey = limits.maxStreamsPerKey ?? DEFAULT_MAX_STREAMS_PER_KEY
  const byKey = new Map<ApiKey.ApiKeyId, number>()
  let size = 0

  const problem = (key: ApiKey.ApiKeyId): TooManyStreams | undefined => {
    if ((byKey.get(key) ?? 0) >= maxPerKey) return new TooManyStreams({ limit: maxPerKey, of: "key" })
    return size >= maxStreams ? new TooManyStreams({ limit: maxStreams, of: "server" }) : undefined
  }

  const add = (key: ApiKey.ApiKeyId, change: 1 | -1): void => {
    const count = (byKey.get(key) ?? 0) + change
    if (count === 0) byKey.delete(key)
    else byKey.set(key, count)
    size += change
  }

  const acquire = (key: ApiKey.ApiKeyId) =>
    Effect.sync(() => {
      const isFree = problem(key) === undefined
      if (isFree) add(key, 1)
      return isFree
    })

  return {
    check: (key) =>
      Effect.suspend(() => {
        const found = problem(key)
        return found === undefined ? Effect.void : Effect.fail(found)
      }),
    take: (key) =>
      Effect.acquireRelease(acquire(key), (isTaken) =>
        Effect.sync(() => {
          if (isTaken) add(key, -1)
        }),
      ),
  }
}
