/**
 * A limit on requests for each API key: a token bucket in this process.
 *
 * It protects a process from one noisy key. A limit over many processes is the work of what stands before them.
 */
import type { ApiKey } from "@billwright/core"
import { Clock, Effect } from "effect"
import { RateLimited } from "./ErrorAnswer.ts"

export interface RateLimitOptions {
  /** Requests a second that a key may send for long. */
  readonly requestsPerSecond: number
  /** Requests that it may send at once. Default: those of a second, at least 1. */
  readonly burst?: number
}

/** Most keys whose bucket is remembered; when there are more, all buckets are full again. */
const MAX_BUCKETS = 100_000

interface Bucket {
  tokens: number
  at: number
}

export type RateLimit = (id: ApiKey.ApiKeyId) => Effect.Effect<void, RateLimited>

/** Makes the limit; without options there is none. */
export const make = (options: RateLimitOptions | undefined): RateLimit => {
  if (options === undefined) return () => Effect.void
  const perMilli = options.requestsPerSecond / 1000
  const burst = Math.max(1, options.burst ?? options.requestsPerSecond)
  const buckets = new Map<ApiKey.ApiKeyId, Bucket>()
  return (id) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (buckets.size >= MAX_BUCKETS) buckets.clear()
      const bucket = buckets.get(id) ?? { tokens: burst, at: now }
      buckets.set(id, bucket)
      bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, now - bucket.at) * perMilli)
      bucket.at = now
      if (bucket.tokens >= 1) {
        bucket.tokens -= 1
        return Effect.void
      }
      const retryAfterSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perMilli / 1000))
      return Effect.fail(new RateLimited({ retryAfterSeconds }))
    })
}
