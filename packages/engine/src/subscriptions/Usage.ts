/**
 * Which usage of a period has to be totalled, and what it costs.
 *
 * Where the tiers of a meter continue over a change of plan, the new plan bills R(after) − R(before): its price of all
 * usage since the period began, less its price of the usage before the change. So old usage is not priced again, and
 * free units are not given twice. Where a price falls as usage grows, that can be below 0. Then the new plan bills nothing,
 * and the difference lowers what the runs before it cost: their documents are credited.
 */
import { type Charge, pricesEachRecord } from "../catalog/Charge.ts"
import { without } from "../catalog/FieldRules.ts"
import { lesser } from "../invoices/Amounts.ts"
import type { Receipt } from "../invoices/Line.ts"
import * as Exact from "../money/Exact.ts"
import type { Quantity } from "../rating/Quantity.ts"
import type { Rater, RaterContext } from "../rating/Rate.ts"
import { RatingError } from "../rating/RatingError.ts"
import { Explained } from "./Explained.ts"
import type { Span } from "./Periods.ts"
import { type Denomination, raterOf } from "./Raters.ts"
import { isFee, type Run, runsOf, type TermsOf } from "./Runs.ts"
import type { Period } from "./Subscription.ts"

/** Usage that has to be totalled, with the filters of the charge (`where`), and for each value of `by`. */
export interface UsageQuery {
  /** The first segment of the part of the period that is billed. */
  readonly segment: number
  readonly charge: Charge
  /** The usage that the plan continues. `null`: none. */
  readonly before: Span | null
  /** The usage up to the end of the part. It includes `before`. */
  readonly after: Span
  /** Whether the quantity of each record is needed. */
  readonly records: boolean
}

/** A total of usage, of any aggregation. */
export interface Total {
  /**
   * The exact total. For an average over time it is the integral over the span divided by the length of the full period,
   * so that totals of parts of a period can be added.
   */
  readonly quantity: Quantity
  /** How many records it is of. Without it, lines have no receipt. */
  readonly recordCount?: number
  /** The quantities one by one, if the query asks for records. */
  readonly records?: Iterable<Quantity>
}

/** The answer to a query. A charge with `by` has one for each value, and perhaps none. */
export interface UsageTotal {
  readonly segment: number
  /** The key of the charge. */
  readonly charge: string
  /** The value of the dimension. `null` for a charge without `by`. */
  readonly group: string | null
  /** Default: 0. */
  readonly before?: Total
  readonly after: Total
}

/** Whether a run goes on at the position in the tiers that usage has reached before it. In a trial, it never does. */
const continues = ({ segment, terms }: Run, { trial }: Period): boolean =>
  segment > 0 && trial === null && terms.policy?.usage_on_change !== "restart"

/** The usage that a run is priced by: with that of the runs before it, where it goes on. */
const spanOf = (run: Run, period: Period): Span => ({
  start: continues(run, period) ? period.segments[0].start : run.start,
  end: run.end,
})

/** The usage of a period that has to be totalled to bill the parts of it that are over at an instant. */
export const usageQueries = (
  period: Period,
  timezone: string,
  termsOf: TermsOf,
  until: number,
): ReadonlyArray<UsageQuery> =>
  runsOf(period, timezone, termsOf)
    .filter(({ charge, end }) => !isFee(charge) && end <= until)
    .map((run) => {
      const { charge, segment } = run
      const after = spanOf(run, period)
      return {
        segment,
        charge,
        before: continues(run, period) ? { start: after.start, end: run.start } : null,
        after,
        records: pricesEachRecord(charge),
      }
    })

const NOTHING: Total = { quantity: 0n, recordCount: 0 }

/** A total as an exact text: a decimal or a fraction. */
export const quantityText = ({ quantity }: Total): string =>
  typeof quantity === "object"
    ? Exact.text(Exact.ofFraction(quantity.numerator, quantity.denominator))
    : String(quantity)

/** What a line says about the usage behind it. `null` if the number of records is not known. */
export const receiptOf = (run: Run, { after, group }: UsageTotal, period: Period): Receipt | null => {
  const { by, meter, where = {} } = run.charge
  if (after.recordCount === undefined || meter === undefined) return null
  const { end, start } = spanOf(run, period)
  return {
    meter,
    where: by === undefined || group === null ? where : { ...where, [by]: [group] },
    periodStart: start,
    periodEnd: end,
    total: quantityText(after),
    recordCount: after.recordCount,
  }
}

/** The totals of a run: one for each value of `by`, also of values that were billed before and have no usage any more. */
const totalsOf = (
  { charge, segment }: Run,
  totals: ReadonlyArray<UsageTotal>,
  billed: ReadonlyArray<string | null>,
): ReadonlyArray<UsageTotal> => {
  const found = totals.filter((total) => total.segment === segment && total.charge === charge.key)
  if (charge.by === undefined) {
    if (found.length === 1) return found
    const problem = `must have one total of the charge ${JSON.stringify(charge.key)} from segment ${segment}`
    throw new RatingError([{ path: "totals", problem }])
  }
  const gone = [...new Set(billed)].filter((group) => !found.some((total) => total.group === group))
  return [...found, ...gone.map((group) => ({ segment, charge: charge.key, group, after: NOTHING }))]
}

const rated = (rates: Rater, { quantity, records }: Total, context: RaterContext) =>
  rates.rate(quantity, records === undefined ? context : { ...context, records })

/**
 * What usage costs, with the share of a period's minimum and maximum for so much of the period. A part that is too short
 * to be counted has no minimum, and the maximum of the shortest part that is: a maximum of 0 would make its usage free.
 */
const priceUpTo = (
  { charge, share: { of } }: Run,
  total: Total,
  served: number,
  denomination: Denomination,
): Explained => {
  const bounded = served === 0 ? (without(charge, "minimum") as Charge) : charge
  const { digits, rates } = raterOf(bounded, denomination)
  return Explained.of(rated(rates, total, { share: [served === 0 ? 1 : served, of] }), digits)
}

/** What usage of a run costs, for each value of `by`. */
export interface RatedUsage {
  readonly run: Run
  readonly total: UsageTotal
  readonly explained: Explained
}

/** R(after) of a run that goes on, less R(before): what it costs, and what runs before it cost less, because prices fell. */
const priceOfRest = (run: Run, { after, before = NOTHING }: UsageTotal, denomination: Denomination) => {
  const { served, share } = run
  const whole = priceUpTo(run, after, served + share.to - share.from, denomination)
  const { amount } = priceUpTo(run, before, served, denomination)
  const fall = amount - whole.amount
  return fall > 0n
    ? { explained: whole.less(whole.amount), fall }
    : { explained: whole.less(amount), fall: 0n }
}

/** Whether a run before one cost something of the same meter, whatever plan and charge billed it. */
const isBefore = (one: RatedUsage, { charge, segment }: Run, group: string | null): boolean =>
  one.run.charge.meter === charge.meter &&
  one.run.charge.burns === charge.burns &&
  one.run.segment < segment &&
  one.total.group === group

/**
 * Lowers what runs before one cost, the newest first: those of the same charge, and then the others of the meter. It ends
 * when they cost nothing any more.
 */
const lower = (all: Array<RatedUsage>, run: Run, group: string | null, fall: bigint): void => {
  if (fall === 0n) return
  const found = all.flatMap((one, index) => (isBefore(one, run, group) ? [index] : [])).toReversed()
  const isSame = (index: number) => all[index]!.run.charge.key === run.charge.key
  let rest = fall
  for (const index of [...found.filter(isSame), ...found.filter((one) => !isSame(one))]) {
    const one = all[index]!
    const part = lesser(one.explained.amount, rest)
    all[index] = { ...one, explained: one.explained.less(part) }
    rest -= part
  }
}

/** What usage of a trial costs: nothing, or its price without the minimum and maximum of a period. */
const priceInTrial = (
  { charge }: Run,
  { after }: UsageTotal,
  isFree: boolean,
  denomination: Denomination,
): Explained => {
  const unbounded = without(charge, "minimum", "maximum") as Charge
  const { digits, rates } = raterOf(unbounded, denomination)
  return Explained.of(rated(rates, after, isFree ? { discounts: ["100"] } : {}), digits)
}

/** What usage of a run costs that does not go on. */
const priceOf = (run: Run, total: UsageTotal, { trial }: Period, denomination: Denomination): Explained => {
  if (trial !== null) return priceInTrial(run, total, trial === "free", denomination)
  return priceUpTo(run, total.after, run.share.to - run.share.from, denomination)
}

/** Rates all usage of a period that is over at an instant. No amount is below 0. */
export const rateUsage = (
  period: Period,
  runs: ReadonlyArray<Run>,
  totals: ReadonlyArray<UsageTotal>,
  billedGroups: (run: Run) => ReadonlyArray<string | null>,
  denomination: Denomination,
): ReadonlyArray<RatedUsage> => {
  const all: Array<RatedUsage> = []
  for (const run of runs) {
    for (const total of totalsOf(run, totals, billedGroups(run))) {
      const { explained, fall } = continues(run, period)
        ? priceOfRest(run, total, denomination)
        : { explained: priceOf(run, total, period, denomination), fall: 0n }
      all.push({ run, total, explained })
      lower(all, run, total.group, fall)
    }
  }
  return all
}
