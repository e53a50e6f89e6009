/**
 * A limit on requests for each API key or account, or for what a link for payers is for: a token bucket in this process.
 *
 * It protects a process from one busy key or account. To limit requests to several processes together, use a gateway in front
 * of them.
 */
import { Clock, Effect } from "effect"
import { RateLimited } from "./ErrorResponse.ts"

export interface RateLimitOptions {
  /** The sustained number of requests per second of a key. */
  readonly requestsPerSecond: number
  /** The number of requests that a key may send at once. Default: `requestsPerSecond`, but at least 1. */
  readonly burst?: number
}

/**
 * The most keys with a bucket. When there are more, all buckets are dropped, so that every key has its full burst
 * again.
 */
const MAX_BUCKETS = 100_000

interface Bucket {
  tokens: number
  at: number
}

/** Counts a request of a key by its id. */
export type RateLimit<E = RateLimited> = (id: string) => Effect.Effect<void, E>

/** The error of a key that has sent too many requests. */
export const ofKey = (retryAfterSeconds: number): RateLimited => new RateLimited({ retryAfterSeconds })

/** Makes the limit, and what it fails with. Without options there is no limit. */
export const make = <E>(
  options: RateLimitOptions | undefined,
  refused: (retryAfterSeconds: number) => E,
): RateLimit<E> => {
  if (options === undefined) return () => Effect.void
  const perMilli = options.requestsPerSecond / 1000
  const burst = Math.max(1, options.burst ?? options.requestsPerSecond)
  const buckets = new Map<string, Bucket>()
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
      return Effect.fail(refused(retryAfterSeconds))
    })
}
