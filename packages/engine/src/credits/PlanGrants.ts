/**
 * What a plan grants for a period of a subscription, by the share of its fee. So a change of the plan moves its grants as it
 * moves its fees: each plan grants for the part of the period that it served.
 */
import type { Grant } from "../catalog/Plan.ts"
import * as Exact from "../money/Exact.ts"
import type { DecimalsOf } from "../rating/Units.ts"
import { instantAfter, type Periods, spanAt } from "../subscriptions/Periods.ts"
import type { Share } from "../subscriptions/Proration.ts"
import { segmentShares, type TermsOf } from "../subscriptions/Runs.ts"
import type { Period, PlanVersionRef } from "../subscriptions/Subscription.ts"
import { type Adjustment, Draft } from "./Draft.ts"
import type { CreditChange, CreditGrant, CreditLedger, GrantRollover } from "./Ledger.ts"
import { advance, grantAt } from "./Operations.ts"

/** What a plan grants for the part of a period that it served: from position `from` to `to`, of `of` positions. */
export interface PlanGrantStep extends Share {
  readonly plan: PlanVersionRef
  /** What it grants for a full period: a decimal. */
  readonly granted: string
  /** What that is for the part. The parts of a period sum to the amount of its grant. */
  readonly amount: bigint
}

/** What the plans of a period grant in one unit. */
export interface PlanGrant {
  readonly unit: string
  /** The sum of the steps. 0 or more. */
  readonly amount: bigint
  /** The end of the period. */
  readonly expiresAt: number
  readonly rollover: GrantRollover | null
  readonly steps: ReadonlyArray<PlanGrantStep>
}

/** A part of a period, and the plan that served it. */
interface Part extends Share {
  readonly plan: PlanVersionRef
  readonly grants: ReadonlyArray<Grant>
}

const partsOf = (period: Period, timezone: string, termsOf: TermsOf): ReadonlyArray<Part> => {
  const { segments } = period
  const shares = segmentShares(period, timezone, termsOf)
  return segments.flatMap(({ plan, unused }, index) => {
    if (plan === null) return []
    const share = shares[index]!
    // What was charged and is not given back when it ended early lasts until the next plan.
    const next = segments.findIndex((one, place) => place > index && one.plan !== null)
    const kept = next === -1 ? share.of : shares[next]!.from
    return [{ ...share, to: unused === "none" ? kept : share.to, plan, grants: termsOf(plan).grants ?? [] }]
  })
}

const isSamePlan = (a: PlanVersionRef, b: PlanVersionRef): boolean =>
  a.key === b.key && a.version === b.version

/** Parts of one plan that meet, as after a change of seats, are one. */
const joined = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> => {
  const all: Array<Part> = []
  for (const part of parts) {
    const before = all.at(-1)
    if (before !== undefined && isSamePlan(before.plan, part.plan) && before.to === part.from) {
      all[all.length - 1] = { ...before, to: part.to }
    } else all.push(part)
  }
  return all
}

/** Without `expires_after`, what is left stays for one more period. What is left of a trial doesn't stay. */
const rolloverOf = (
  { end, trial }: Period,
  periods: Periods,
  { rollover }: Grant,
  decimals: number,
): GrantRollover | null => {
  if (rollover === undefined || trial !== null) return null
  const { expires_after: interval, maximum } = rollover
  const expiresAt =
    interval === undefined ? spanAt(periods, end).end : instantAfter(end, interval, periods.timezone)
  return expiresAt > end ? { maximum: Exact.roundTo(Exact.ofDecimal(maximum), decimals), expiresAt } : null
}

/** By the one formula: rounded at the end of the part, less rounded at its start. */
const stepOf = ({ from, of, plan, to }: Part, granted: string, decimals: number): PlanGrantStep => {
  const until = (position: number) =>
    Exact.mulDivRound(Exact.ofDecimal(granted), BigInt(position), BigInt(of), decimals)
  return { plan, granted, from, to, of, amount: until(to) - until(from) }
}

/**
 * What the plans of a period grant as the period is by now, by unit. A trial is a period of its own, so it has all that the
 * plan grants. For time that is not served or is given back, as after a pause or a cancellation, nothing is granted.
 */
export const planGrantsOf = (
  period: Period,
  periods: Periods,
  termsOf: TermsOf,
  decimalsOf: DecimalsOf,
): ReadonlyArray<PlanGrant> => {
  const parts = joined(partsOf(period, periods.timezone, termsOf))
  const units = new Set(parts.flatMap(({ grants }) => grants.map(({ unit }) => unit)))
  return Array.from(units, (unit) => {
    const decimals = decimalsOf(unit)
    const own = parts.flatMap((part) => {
      const grant = part.grants.find((one) => one.unit === unit)
      return grant === undefined ? [] : [{ part, grant }]
    })
    const steps = own.map(({ grant, part }) => stepOf(part, grant.amount, decimals))
    return {
      unit,
      amount: steps.reduce((sum, { amount }) => sum + amount, 0n),
      expiresAt: period.end,
      rollover: rolloverOf(period, periods, own.at(-1)!.grant, decimals),
      steps,
    }
  })
}

/** A grant of a period, and how much it has to be of since an instant. */
export interface GrantTarget extends Adjustment {
  /** As it is stored. A new one is `pending`. */
  readonly grant: CreditGrant
}

/**
 * Begins grants of periods, and changes how much others are of. What a change takes beyond what is left of a grant is taken
 * from what is available, and is a debt then: it was used, and is not part of the plan any more.
 *
 * Each is done at its own instant, however late that is. Nobody has used anything yet of a grant that comes late, so it
 * begins with what the last change has made of it.
 */
export const adjustPlanGrants = (
  ledger: CreditLedger,
  targets: ReadonlyArray<GrantTarget>,
  now: number,
): CreditChange => {
  const draft = new Draft(ledger)
  const begun = new Set<string>()
  let reached = Number.NEGATIVE_INFINITY
  const moveTo = (at: number): void => {
    const until = Math.min(at, now)
    const since = reached
    advance(
      draft,
      ledger.holds.filter(({ expiresAt }) => expiresAt > since),
      until,
    )
    reached = Math.max(reached, until)
  }
  for (const { grant, ...target } of targets) {
    if (begun.has(grant.id)) continue
    const isKnown = draft.grant(grant.id) !== undefined
    if (!isKnown && grant.status === "pending") {
      const { amount, rollover } = targets.findLast((one) => one.grant.id === grant.id)!
      begun.add(grant.id)
      draft.putGrant({ ...grant, amount, rollover })
      moveTo(target.at)
    } else {
      moveTo(target.at)
      if (!isKnown) draft.putGrant(grantAt(grant, target.at))
      draft.adjust(grant.id, target)
    }
  }
  moveTo(now)
  return draft.change
}
