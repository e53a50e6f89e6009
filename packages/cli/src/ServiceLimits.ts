/**
 * The flags that limit how old things may be, and whom the server believes: the options of `createBilling` of the same names.
 */
import type { Billing } from "@billwright/core"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { parseNetworks } from "./Dispatch.ts"
import * as Moment from "./Moment.ts"
import type { Misconfigured } from "./Store.ts"

const age = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(`${description} Such as 12h or 90d.`), Flag.optional)

const MAX_KEY_AGE = "max-key-age"
const IDEMPOTENCY_RETENTION = "idempotency-retention"
const USAGE_MAX_PAST = "usage-max-past"

export const flags = {
  maxKeyAge: age(
    MAX_KEY_AGE,
    "How long an API key may be valid at most. Older keys are refused, also those that were issued before. Default: no limit.",
  ),
  idempotencyRetention: age(
    IDEMPOTENCY_RETENTION,
    "How long the answers to requests with an Idempotency-Key are kept. Default: 7d.",
  ),
  usageMaxPast: age(
    USAGE_MAX_PAST,
    "How far back the timestamp of a usage record may lie. Default: no limit.",
  ),
  trustedProxies: Flag.String("trusted-proxies").pipe(
    Flag.withDescription(
      "The networks of your own proxies, such as 10.20.0.0/16,fd00:7::/64. The client's address is then read from x-forwarded-for, for API keys with networks. Default: none, and the header is not read.",
    ),
    Flag.withDefault(""),
    Flag.filterMap(
      parseNetworks,
      (text) =>
        `must be networks such as 10.20.0.0/16,fd00:7::/64, without bits set after the prefix. It is ${text}`,
    ),
  ),
}

export interface LimitFlags {
  readonly maxKeyAge: Option.Option<string>
  readonly idempotencyRetention: Option.Option<string>
  readonly usageMaxPast: Option.Option<string>
}

/** An option in milliseconds, if its flag is given. */
const millisOf = <Name extends string>(
  name: Name,
  flag: string,
  given: Option.Option<string>,
): Effect.Effect<{ readonly [Key in Name]?: number }, Misconfigured> =>
  Option.match(given, {
    onNone: () => Effect.succeed({}),
    onSome: (text) =>
      Effect.map(Moment.duration(flag, text), (millis) => ({ [name]: millis }) as { [Key in Name]: number }),
  })

/** The options of the services. Those of keys are merged with others of keys. */
export const billingOptions = Effect.fnUntraced(function* (
  options: LimitFlags,
  keys: Billing.BillingOptions["keys"],
): Effect.fn.Return<Pick<Billing.BillingOptions, "idempotency" | "keys" | "usage">, Misconfigured> {
  return {
    keys: { ...keys, ...(yield* millisOf("maxAgeMillis", MAX_KEY_AGE, options.maxKeyAge)) },
    idempotency: yield* millisOf("retentionMillis", IDEMPOTENCY_RETENTION, options.idempotencyRetention),
    usage: yield* millisOf("maxPastMillis", USAGE_MAX_PAST, options.usageMaxPast),
  }
})
