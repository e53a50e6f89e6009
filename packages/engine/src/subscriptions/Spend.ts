/**
 * What the usage of a period has cost so far.
 */
import { isUsageForMoney } from "../catalog/Charge.ts"
import type { PeriodInput } from "./PeriodInput.ts"
import { runsOf } from "./Runs.ts"
import type { Period, Segment } from "./Subscription.ts"
import { rateUsage } from "./Usage.ts"

/** A period up to an instant. `undefined` if nothing of it was served before that. */
export const periodUntil = (period: Period, at: number): Period | undefined => {
  const [first, ...rest] = period.segments.flatMap((segment): ReadonlyArray<Segment> => {
    if (segment.start >= at) return []
    return [segment.end <= at ? segment : { ...segment, end: at }]
  })
  return first === undefined ? undefined : { ...period, segments: [first, ...rest] }
}

/**
 * What the usage of a period costs with some totals, in the minor unit of the currency: the sum of the lines that would bill
 * it, before discounts and taxes. Fees, the minimum of the plan and usage that burns credits are not part of it. `totals` answer the queries of
 * `usageQueries` for all of the period, also when it is not over yet.
 *
 * Throws a {@link RatingError} when a total is missing or is not valid.
 */
export const usageCost = ({
  currency,
  period,
  termsOf,
  timezone,
  totals,
}: Pick<PeriodInput, "currency" | "period" | "termsOf" | "timezone" | "totals">): bigint => {
  const runs = runsOf(period, timezone, termsOf).filter(({ charge }) => isUsageForMoney(charge))
  const rated = rateUsage(period, runs, totals, () => [], { currency })
  return rated.reduce((sum, { explained }) => sum + explained.amount, 0n)
}
