/**
 * What the usage of customers costs, in periods of subscriptions and in UTC months.
 */
import { type Period, periodUntil, usageCost, usageQueries } from "@billwright/engine"
import { DateTime, Effect, Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { ChargeUsage } from "./ChargeUsage.ts"
import type { Spend } from "./SpendAlert.ts"
import type { StoredSubscription } from "./Subscription.ts"
import type { SubscriptionStore } from "./SubscriptionStore.ts"
import type { VersionTerms } from "./VersionTerms.ts"

/** Most subscriptions of a customer that count in a month: the newest ones. */
const MAX_SUBSCRIPTIONS = 100
/** Most periods of a subscription that are looked at for two months, the open one aside. The shortest is a day. */
const MAX_PERIODS = 62

interface Parts {
  readonly store: SubscriptionStore["Service"]
  readonly terms: VersionTerms
  readonly usage: ChargeUsage
}

type Read<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>
type Span = Pick<Spend, "start" | "end">

const endOf = ({ segments }: Period): number => segments.at(-1)!.end

/** The UTC month that an instant is in, and the one before it. */
const monthsUntil = (now: DateTime.Utc): readonly [Span, Span] => {
  const start = DateTime.startOf(now, "month")
  const before = DateTime.subtract(start, { months: 1 })
  const end = DateTime.add(start, { months: 1 })
  return [
    { start: before.epochMilliseconds, end: start.epochMilliseconds },
    { start: start.epochMilliseconds, end: end.epochMilliseconds },
  ]
}

/** Computes spends within one check. What it has computed is not computed again. */
export class Spending {
  readonly #parts: Parts
  readonly #now: DateTime.Utc
  readonly #costs = new Map<string, bigint>()

  constructor(parts: Parts, now: DateTime.Utc) {
    this.#parts = parts
    this.#now = now
  }

  /** What the period of a subscription that closed last costs, and the one that is open. */
  ofSubscription(id: SubscriptionId): Read<ReadonlyArray<Spend>> {
    return Effect.gen({ self: this }, function* () {
      const found = yield* this.#parts.store.find(id)
      if (Option.isNone(found)) return []
      const { closed, period } = found.value.state
      const periods = [closed?.period ?? null, period].filter((one) => one !== null)
      return yield* Effect.forEach(periods, (one) =>
        Effect.map(this.#costOf(found.value, one), (amount) => ({
          start: one.segments[0].start,
          end: endOf(one),
          amount,
        })),
      )
    })
  }

  /**
   * What the subscriptions of a customer in a currency cost in the last UTC month and in this one. Of a period that is only
   * partly in a month, it is what the period costs up to the end of the month, less what it costs up to its start.
   */
  ofCustomer(customerId: CustomerId, currency: string): Read<ReadonlyArray<Spend>> {
    return Effect.gen({ self: this }, function* () {
      const page = { limit: MAX_SUBSCRIPTIONS, cursor: undefined }
      const { data } = yield* this.#parts.store
        .list({ customerId }, page)
        .pipe(Effect.catchTag("CursorNotFound", Effect.die))
      const own = data.filter(({ state }) => state.currency === currency)
      const months = monthsUntil(this.#now)
      const amounts = months.map(() => 0n)
      for (const subscription of own) {
        const periods = yield* this.#periodsSince(subscription, months[0].start)
        for (const [index, month] of months.entries())
          for (const period of periods) amounts[index]! += yield* this.#costIn(subscription, period, month)
      }
      return months.map((month, index) => ({ ...month, amount: amounts[index]! }))
    })
  }

  #periodsSince({ id, state }: StoredSubscription, since: number): Read<ReadonlyArray<Period>> {
    const { closed, opened, period } = state
    const last = period ?? closed?.period ?? null
    if (last === null || endOf(last) <= since) return Effect.succeed([])
    if (last.segments[0].start <= since) return Effect.succeed([last])
    return Effect.map(
      this.#parts.store.periodsBefore(id, Math.min(opened, last.number), MAX_PERIODS),
      (earlier) => [...earlier.filter((one) => endOf(one) > since), last],
    )
  }

  #costIn(subscription: StoredSubscription, period: Period, { end, start }: Span): Read<bigint> {
    if (endOf(period) <= start || period.segments[0].start >= end) return Effect.succeed(0n)
    return Effect.zipWith(
      this.#costUntil(subscription, period, end),
      this.#costUntil(subscription, period, start),
      (after, before) => after - before,
    )
  }

  #costUntil(subscription: StoredSubscription, period: Period, at: number): Read<bigint> {
    const part = periodUntil(period, at)
    return part === undefined ? Effect.succeed(0n) : this.#costOf(subscription, part)
  }

  #costOf({ customerId, id, state }: StoredSubscription, period: Period): Read<bigint> {
    const { terms, usage } = this.#parts
    const key = `${id} ${period.number} ${endOf(period)}`
    return Effect.gen({ self: this }, function* () {
      const known = this.#costs.get(key)
      if (known !== undefined) return known
      const { timezone } = state.periods
      const termsOf = yield* terms.of([period])
      const queries = usageQueries(period, timezone, termsOf, endOf(period))
      const [totals = []] = yield* usage.totals(customerId, [{ period, queries }])
      const cost = usageCost({ period, timezone, currency: state.currency, termsOf, totals })
      this.#costs.set(key, cost)
      return cost
    })
  }
}
