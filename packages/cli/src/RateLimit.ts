/**
 * The limit on the requests of each API key: the flags that say it.
 */
import type { Server } from "@billwright/http"
import { Option, Schema } from "effect"
import { Flag } from "effect/cli"

const MAX_REQUESTS = 1_000_000

const requests = Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_REQUESTS })))

export const flags = {
  rateLimit: Flag.Int("rate-limit").pipe(
    Flag.withDescription(
      "Requests a second that an API key may send to this process for long. Beyond that it is answered 429. Default: no limit.",
    ),
    requests,
    Flag.optional,
  ),
  rateLimitBurst: Flag.Int("rate-limit-burst").pipe(
    Flag.withDescription(
      "With --rate-limit: requests that an API key may send at once. Default: those of a second.",
    ),
    requests,
    Flag.optional,
  ),
}

export interface RateLimitOptions {
  readonly rateLimit: Option.Option<number>
  readonly rateLimitBurst: Option.Option<number>
}

/** What is wrong with the flags together. */
export const problemOf = ({ rateLimit, rateLimitBurst }: RateLimitOptions): string | undefined =>
  Option.isSome(rateLimitBurst) && Option.isNone(rateLimit)
    ? "--rate-limit-burst says nothing without --rate-limit"
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
