/**
 * Grants credits with an API key that may grant up to a limit only.
 */
import {
  ApiKey,
  type Credit,
  Credits,
  type CurrentTenant,
  type StorageError,
  Transactor,
} from "@billwright/core"
import { Data, Effect, Schema } from "effect"

/** The span of time that a limit is for. */
const DAY_MILLIS = 86_400_000
/** Most grants of a customer and unit that are looked at. With more in a day, nothing more can be granted. */
const MAX_LOOKED_AT = 1_000
const PAGE = 100

/** The grant is more than the key may grant. Nothing was granted. */
class GrantLimitReached extends Schema.TaggedError<GrantLimitReached>()(
  "GrantLimitReached",
  { unit: Schema.String, limit: Schema.BigInt },
  { httpApiStatus: 403 },
) {
  override get message(): string {
    return this.limit === 0n
      ? `the API key may not grant ${this.unit}: that needs the scope credits:write`
      : `the API key may grant a customer ${this.limit} ${this.unit} in 24 hours: more needs the scope credits:write`
  }
}

/** The key may grant promotional credits only. */
class PromotionalOnly extends Schema.TaggedError<PromotionalOnly>()(
  "PromotionalOnly",
  {},
  { httpApiStatus: 403 },
) {
  override get message(): string {
    return "the API key may grant promotional credits only: others need the scope credits:write"
  }
}

/** With this grant the limit is passed. What the call has made is undone. */
class Beyond extends Data.TaggedError("Beyond")<{ readonly id: Credit.CreditGrantId }> {}

const isOfCall = ({ kind, source }: Credit.CreditGrant): boolean => kind === "promotional" && source === null

type Service = Credits["Service"]
type GrantLimited = (
  key: ApiKey.ApiKey,
  input: Credit.GrantCredits,
) => Effect.Effect<
  Credit.CreditGrant,
  | Effect.Error<ReturnType<Service["grant"]>>
  | Effect.Error<ReturnType<Service["listGrants"]>>
  | StorageError
  | GrantLimitReached
  | PromotionalOnly,
  CurrentTenant
>

/**
 * Makes the operation. A key with `credits:write` has no limit. For others, the grant and all promotional credits that calls
 * have granted to the customer in the last 24 hours, also voided ones, are at most the limit. Grants to a customer wait for
 * each other, so that this holds for grants at the same time too.
 *
 * A repeat with the same `idempotencyKey` gives the first grant, whatever was granted since.
 */
export const make: Effect.Effect<GrantLimited, never, Credits | Transactor> = Effect.gen(function* () {
  const credits = yield* Credits
  const { atomically } = yield* Transactor

  const grantedSince = Effect.fnUntraced(function* (account: Credit.AccountKey, since: number) {
    let granted = 0n
    let last: Credit.CreditGrantId | undefined
    for (let seen = 0; seen < MAX_LOOKED_AT; seen += PAGE) {
      const { customerId, unit } = account
      const cursor = last === undefined ? {} : { startingAfter: last }
      const page = yield* credits.listGrants({ customerId, unit, limit: PAGE, ...cursor })
      for (const each of page.data) {
        if (each.createdAt.epochMilliseconds <= since) return granted
        if (isOfCall(each)) granted += each.amount
        last = each.id
      }
      if (!page.hasMore) return granted
    }
    return undefined
  })

  return Effect.fnUntraced(function* (key: ApiKey.ApiKey, input: Credit.GrantCredits) {
    if (ApiKey.permits(key.scopes, "credits:write")) return yield* credits.grant(input)
    const { amount, kind, unit } = input
    if (kind !== "promotional") return yield* new PromotionalOnly()
    const limit = Object.hasOwn(key.creditLimits, unit) ? key.creditLimits[unit]! : 0n
    if (amount > limit) return yield* new GrantLimitReached({ unit, limit })
    const checked = atomically(
      Effect.gen(function* () {
        // The grant comes first: it holds the account until the transaction ends.
        const made = yield* credits.grant(input)
        // Both instants are in the time of the customer, which may be that of a test clock.
        const granted = yield* grantedSince(input, made.createdAt.epochMilliseconds - DAY_MILLIS)
        if (granted === undefined || granted > limit) return yield* new Beyond({ id: made.id })
        return made
      }),
    )
    // A grant of this call is gone now. So one that is there is from an earlier call, which this one repeats.
    return yield* Effect.catchTag(checked, "Beyond", ({ id }) =>
      Effect.catchTag(credits.getGrant(id), "CreditGrantNotFound", () =>
        Effect.fail(new GrantLimitReached({ unit, limit })),
      ),
    )
  })
})
