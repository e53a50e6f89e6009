/**
 * Which part of a period each charge is due for.
 *
 * A run is a part of a period in which a charge stayed the same: consecutive segments of one plan version and, for a
 * charge of a quantity, of one quantity. So a change of seats leaves the base fee alone.
 */
import type { Charge } from "../catalog/Charge.ts"
import type { PlanTerms } from "../catalog/Plan.ts"
import type { Span } from "./Periods.ts"
import { type Share, sharesOf } from "./Proration.ts"
import type { Period, PlanVersionRef, Segment } from "./Subscription.ts"

/** The terms of each plan version that the segments of a period name. */
export type TermsOf = (plan: PlanVersionRef) => PlanTerms

/** A part of a period in which a charge stayed the same. */
export interface Run extends Span {
  /** The index of its first segment. */
  readonly segment: number
  readonly plan: PlanVersionRef
  readonly terms: PlanTerms
  readonly charge: Charge
  /** The quantity of the subscription, for a charge that uses one. `null` for other charges. */
  readonly quantity: string | null
  /** Its part of the full period. */
  readonly share: Share
  /** How much of the period was served before it, in positions of `share`. */
  readonly served: number
}

interface Part {
  readonly index: number
  readonly segment: Segment
  readonly plan: PlanVersionRef
}

const isSamePlan = (a: PlanVersionRef, b: PlanVersionRef): boolean =>
  a.key === b.key && a.version === b.version

const quantityOf = ({ quantity }: Charge, { quantities }: Segment): string | null =>
  quantity === undefined ? null : (quantities[quantity] ?? "0")

/** The segments that were served, and where the one after each begins. */
const partsOf = ({ segments }: Period): ReadonlyArray<Part> =>
  segments.flatMap((segment, index) =>
    segment.plan === null ? [] : [{ index, segment, plan: segment.plan }],
  )

/** Whether a fee is not given back when its segment ends early. It is then due up to what comes next. */
const isKept = (charge: Charge, { unused }: Segment): boolean => unused === "none" && isAdvance(charge)

/** Whether a fee is charged before its period. */
export const isAdvance = (charge: Charge): boolean => isFee(charge) && charge.timing !== "arrears"

/** Finds where runs begin and end: `join` says whether a part goes on where the one before it ended. */
const grouped = (
  parts: ReadonlyArray<Part>,
  join: (before: Part, after: Part) => boolean,
): ReadonlyArray<ReadonlyArray<Part>> => {
  const groups: Array<Array<Part>> = []
  for (const part of parts) {
    const group = groups.at(-1)
    const before = group?.at(-1)
    if (group !== undefined && before !== undefined && join(before, part)) group.push(part)
    else groups.push([part])
  }
  return groups
}

/** Whether a period was never cut. Most are not, and their days need not be counted. */
export const isWhole = ({ end, segments, start }: Period): boolean =>
  segments.length === 1 && segments[0].start === start && segments[0].end === end

const WHOLE: Share = { from: 0, to: 1, of: 1 }

/**
 * The share of each segment of a period, in order. All have one measure, which is that of the plan that was served first.
 * If each plan had its own, the segments would not meet: a day could be billed twice, or by nobody.
 */
export const segmentShares = (period: Period, timezone: string, termsOf: TermsOf): ReadonlyArray<Share> => {
  const parts = partsOf(period)
  const first = parts.find(({ segment: { end, start } }) => end > start) ?? parts[0]
  return sharesOf(period, (first && termsOf(first.plan).policy?.proration) ?? "day", timezone)
}

/** The runs of every charge of a period, in the order of time, then of the plan. */
export const runsOf = (period: Period, timezone: string, termsOf: TermsOf): ReadonlyArray<Run> => {
  const [first] = period.segments
  const { plan } = first
  if (plan !== null && isWhole(period)) {
    const { end, start } = period
    const terms = termsOf(plan)
    return terms.charges.map((charge) => {
      const quantity = quantityOf(charge, first)
      return { segment: 0, plan, terms, charge, quantity, start, end, share: WHOLE, served: 0 }
    })
  }
  const parts = partsOf(period)
  const plans = grouped(parts, (before, after) => isSamePlan(before.plan, after.plan))
  const shares = segmentShares(period, timezone, termsOf)
  const runs = plans.flatMap((group) => {
    const { plan } = group[0]!
    const terms = termsOf(plan)
    return terms.charges.flatMap((charge) =>
      grouped(group, (before, after) => {
        const isNext = after.index === before.index + 1
        const isSame = quantityOf(charge, before.segment) === quantityOf(charge, after.segment)
        return isSame && (isNext || isKept(charge, before.segment))
      }).map((run) => runOf(run, { charge, parts, period, plan, shares, terms })),
    )
  })
  return runs.toSorted((a, b) => a.segment - b.segment)
}

interface Context {
  readonly period: Period
  readonly parts: ReadonlyArray<Part>
  readonly shares: ReadonlyArray<Share>
  readonly plan: PlanVersionRef
  readonly terms: PlanTerms
  readonly charge: Charge
}

const runOf = (run: ReadonlyArray<Part>, { charge, parts, period, plan, shares, terms }: Context): Run => {
  const [first, last] = [run[0]!, run.at(-1)!]
  const next = parts.find(({ index }) => index > last.index)
  const kept = isKept(charge, last.segment)
  const { from, of } = shares[first.index]!
  const to = !kept ? shares[last.index]!.to : next === undefined ? of : shares[next.index]!.from
  const served = parts
    .filter(({ index }) => index < first.index)
    .reduce((sum, { index }) => sum + shares[index]!.to - shares[index]!.from, 0)
  return {
    segment: first.index,
    plan,
    terms,
    charge,
    quantity: quantityOf(charge, first.segment),
    start: first.segment.start,
    end: !kept ? last.segment.end : next === undefined ? period.end : next.segment.start,
    share: { from, to, of },
    served,
  }
}

/** Whether a charge is a fee: flat, or of a quantity of the subscription. Other charges are of usage. */
export const isFee = (charge: Charge): boolean => charge.meter === undefined
