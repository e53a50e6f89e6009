/**
 * The flags that limit the requests of each API key and of each account.
 */
import type { Server } from "@billwright/http"
import { Option, Schema } from "effect"
import { Flag } from "effect/cli"

const MAX_REQUESTS = 1_000_000
const DEFAULT_HEAVY_READS = 1

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
  accountRateLimit: Flag.Int("account-rate-limit").pipe(
    Flag.withDescription(
      "The same for an account, its test mode included: the sustained number of requests per second of all its keys. Default: no limit.",
    ),
    requests,
    Flag.optional,
  ),
  heavyReads: Flag.Int("heavy-reads").pipe(
    Flag.withDescription(
      `Most lists, sums, exports, documents and previews of an account at once while other accounts send requests, too. Others of it wait, up to 10 seconds. Default: ${DEFAULT_HEAVY_READS}.`,
    ),
    requests,
    Flag.withDefault(DEFAULT_HEAVY_READS),
  ),
}

export interface RateLimitOptions {
  readonly rateLimit: Option.Option<number>
  readonly rateLimitBurst: Option.Option<number>
  readonly accountRateLimit: Option.Option<number>
  readonly heavyReads: number
}

/** Checks flags that are valid alone but not together. */
export const problemOf = ({ rateLimit, rateLimitBurst }: RateLimitOptions): string | undefined =>
  Option.isSome(rateLimitBurst) && Option.isNone(rateLimit)
    ? "--rate-limit-burst needs --rate-limit"
    : undefined

/** The options of the server. */
export const serverOptions = (options: RateLimitOptions): Server.ServerOptions => {
  const { accountRateLimit, heavyReads, rateLimit, rateLimitBurst } = options
  const burst = Option.isSome(rateLimitBurst) ? { burst: rateLimitBurst.value } : {}
  return {
    ...(Option.isNone(rateLimit) ? {} : { rateLimit: { requestsPerSecond: rateLimit.value, ...burst } }),
    accounts: {
      heavyReads,
      ...(Option.isNone(accountRateLimit)
        ? {}
        : { rateLimit: { requestsPerSecond: accountRateLimit.value } }),
    },
  }
}
