/**
 * The flags that limit the requests of each API key.
 */
import type { Server } from "@billwright/http"
import { Option, Schema } from "effect"
import { Flag } from "effect/cli"

const MAX_REQUESTS = 1_000_000

const requests = Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_REQUESTS })))

export const flags = {
  rateLimit: Flag.Int("rate-limit").pipe(
    Flag.withDescription(
      "The sustained number of requests per second that an API key may send to this process. More are answered with 429. Default: no limit.",
    ),
    requests,
    Flag.optional,
  ),
  rateLimitBurst: Flag.Int("rate-limit-burst").pipe(
    Flag.withDescription(
      "With --rate-limit: how many requests an API key may send at once. Default: the value of --rate-limit.",
    ),
    requests,
    Flag.optional,
  ),
}

export interface RateLimitOptions {
  readonly rateLimit: Option.Option<number>
  readonly rateLimitBurst: Option.Option<number>
}

/** Checks flags that are valid alone but not together. */
export const problemOf = ({ rateLimit, rateLimitBurst }: RateLimitOptions): string | undefined =>
  Option.isSome(rateLimitBurst) && Option.isNone(rateLimit)
    ? "--rate-limit-burst needs --rate-limit"
    : undefined

/** The options of the server. */
export const serverOptions = ({ rateLimit, rateLimitBurst }: RateLimitOptions): Server.ServerOptions =>
  Option.match(rateLimit, {
    onNone: () => ({}),
    onSome: (requestsPerSecond) => ({
      rateLimit: {
        requestsPerSecond,
        ...(Option.isSome(rateLimitBurst) ? { burst: rateLimitBurst.value } : {}),
      },
    }),
  })
