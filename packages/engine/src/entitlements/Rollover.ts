/**
 * How much of a metered feature rolled over from earlier periods of a subscription.
 *
 * It is computed from what each period included and what was used in it, and nothing of it is stored. So usage that is
 * recorded late, or voided, counts as if it had been there in time.
 *
 * - What is left of what a period includes stays, at most `maximum` of it, for the next period. With `expires_after` it stays
 *   for each period that begins before that much time is over.
 * - What rolled over is used before what the period includes, the oldest first.
 * - The plan at the end of a period says how much of it stays, and for how long. Another plan later does not change that. But
 *   a plan that has the feature without a rollover, with another meter, or not at all, ends all that rolled over.
 * - A trial leaves nothing. Nor does a period that was not served until its end: it ended in a pause, or was cut short.
 */
import type { Interval, MeteredFeature, PlanTerms } from "../catalog/Plan.ts"
import * as Exact from "../money/Exact.ts"
import { instantAfter } from "../subscriptions/Periods.ts"
import type { TermsOf } from "../subscriptions/Runs.ts"
import type { Period, PlanVersionRef, Segments } from "../subscriptions/Subscription.ts"
import { type CountedTime, countedTime } from "./Allowance.ts"
import { featureOf, limitOf } from "./Decide.ts"

/** Most earlier periods that are looked at, the last ones. What was left of older ones counts as gone. */
export const MAX_ROLLOVER_PERIODS = 100

/** The beginning of a period. */
type Opening = Pick<Period, "number"> & { readonly openedAt: number }

/** The time of an earlier period, or of a part of one, in which usage counted against what was included. */
export interface CountedPeriod extends CountedTime, Opening {
  /** In whole units. */
  readonly included: bigint
  /** The most of it that stays, in whole units. */
  readonly maximum: bigint
  /** When what stays expires: it is there in periods that begin before. `null`: it is there in the next period. */
  readonly expiresAt: number | null
}

/** The periods of a subscription for one feature of its plan. */
export interface PeriodsOfFeature {
  readonly key: string
  readonly feature: MeteredFeature
  /** The earlier periods, in their order. */
  readonly earlier: ReadonlyArray<Period>
  readonly open: Period
  readonly timezone: string
}

/** A part of a period in which usage counted by itself, and the plan at its end. */
interface Part extends CountedTime {
  readonly plan: PlanVersionRef
}

const isServed = ({ plan }: Segments[number]): boolean => plan !== null

/** One part, or several where a plan restarts usage when it begins. */
const partsOf = (period: Period, termsOf: TermsOf): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  let rest = period.segments as ReadonlyArray<Segments[number]>
  for (;;) {
    const [first, ...others] = rest.slice(0, rest.findLastIndex(isServed) + 1)
    const plan = (others.at(-1) ?? first)?.plan ?? null
    if (first === undefined || plan === null) return parts.toReversed()
    const { start } = countedTime({ ...period, segments: [first, ...others] }, plan, termsOf(plan))
    parts.push({ plan, start, end: rest.at(-1)!.end })
    rest = rest.filter((segment) => segment.start < start)
  }
}

/** The feature of a plan, if it rolls over and is the same. */
const rollingOf = (terms: PlanTerms, { feature: { meter }, key }: PeriodsOfFeature) => {
  const found = featureOf(terms, key)
  if (found?.type !== "metered" || found.meter !== meter || found.rollover === undefined) return undefined
  return { included: limitOf(found, 0n) ?? 0n, ...found.rollover }
}

const isServedUntilEnd = ({ end, segments, trial }: Period): boolean => {
  const last = segments.at(-1)!
  return trial === null && isServed(last) && last.end === end
}

const expiryOf = (end: number, interval: Interval | undefined, timezone: string): number | null =>
  interval === undefined ? null : instantAfter(end, interval, timezone)

/** Since what rolled over last ended, the times before the current count in which the feature was counted, in their order. */
export const countedPeriods = (asked: PeriodsOfFeature, termsOf: TermsOf): ReadonlyArray<CountedPeriod> => {
  let counted: Array<CountedPeriod> = []
  for (const period of [...asked.earlier.slice(-MAX_ROLLOVER_PERIODS), asked.open]) {
    const parts = partsOf(period, termsOf)
    // The last part of the open period is what is counted now.
    for (const part of period === asked.open ? parts.slice(0, -1) : parts) {
      const { end, start } = part
      const rolling = rollingOf(termsOf(part.plan), asked)
      if (rolling === undefined) {
        counted = []
        continue
      }
      const stays = part === parts.at(-1) && isServedUntilEnd(period)
      counted.push({
        start,
        end,
        number: period.number,
        openedAt: period.segments[0].start,
        included: rolling.included,
        maximum: stays ? Exact.floor(Exact.ofDecimal(rolling.maximum)) : 0n,
        expiresAt: expiryOf(end, rolling.expires_after, asked.timezone),
      })
    }
  }
  return counted
}

/** What is left of what a period included. */
interface Left extends Pick<CountedPeriod, "expiresAt" | "number"> {
  readonly amount: bigint
}

const isThere = ({ expiresAt, number }: Left, opening: Opening): boolean =>
  expiresAt === null ? opening.number <= number + 1 : opening.openedAt < expiresAt

/** Uses an amount of what is left, the oldest first. Gives what is left then, and what of the amount is still to be used. */
const useOldest = (
  left: ReadonlyArray<Left>,
  used: bigint,
): { readonly left: ReadonlyArray<Left>; readonly rest: bigint } => {
  let rest = used
  const after = left.map((one) => {
    const taken = one.amount < rest ? one.amount : rest
    rest -= taken
    return { ...one, amount: one.amount - taken }
  })
  return { left: after.filter(({ amount }) => amount > 0n), rest }
}

/**
 * How many units rolled over into the open period. `used` says what was used in each of the times, in whole units. A part of a
 * unit counts as used.
 */
export const rolledOver = (
  counted: ReadonlyArray<CountedPeriod>,
  used: ReadonlyArray<bigint>,
  open: Period,
): bigint => {
  let left: ReadonlyArray<Left> = []
  for (const [index, period] of counted.entries()) {
    const { expiresAt, included, maximum, number } = period
    const after = useOldest(
      left.filter((one) => isThere(one, period)),
      used[index] ?? 0n,
    )
    const unused = included > after.rest ? included - after.rest : 0n
    const amount = unused < maximum ? unused : maximum
    left = amount > 0n ? [...after.left, { amount, number, expiresAt }] : after.left
  }
  const opening = { number: open.number, openedAt: open.segments[0].start }
  return left.filter((one) => isThere(one, opening)).reduce((sum, { amount }) => sum + amount, 0n)
}
