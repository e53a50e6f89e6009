/**
 * Since when usage counts against what a subscription includes, and when the count begins again.
 */
import type { PlanTerms } from "../catalog/Plan.ts"
import { isRejected, nextDue, step } from "../subscriptions/Machine.ts"
import type { Period, PlanVersionRef, Subscription } from "../subscriptions/Subscription.ts"

/** Most instants at which something is due that are looked at. A daily plan that nobody has billed for 13 years has more. */
const MAX_INSTANTS = 5_000

/** The time in which usage counts, in epoch milliseconds: from `start` up to but not including `end`. */
export interface CountedTime {
  readonly start: number
  /** The end of the period. The count begins again at it, if the subscription goes on. */
  readonly end: number
}

/** A subscription as it is at an instant, and the periods that closed on the way to it. */
interface Reached {
  readonly current: Subscription
  readonly closed: ReadonlyArray<Period>
}

/** The subscription as it is at an instant, also if what was due until then has not been done. */
const at = (subscription: Subscription, now: number): Reached | undefined => {
  let current = subscription
  const closed: Array<Period> = []
  for (let instants = 0; instants < MAX_INSTANTS; instants++) {
    const due = nextDue(current)
    if (due === null || due.at > now) return { current, closed }
    const stepped = step(current, { type: "due" }, now)
    if (isRejected(stepped)) return undefined
    for (const effect of stepped.effects) if (effect.kind === "close_period") closed.push(effect.period)
    current = stepped.subscription
  }
  return undefined
}

const isSame = (a: PlanVersionRef | null, b: PlanVersionRef): boolean =>
  a?.key === b.key && a.version === b.version

/** When the plan began within a period, the last time. */
const planStart = ({ segments }: Period, plan: PlanVersionRef): number => {
  const others = segments.findLastIndex((segment) => !isSame(segment.plan, plan))
  return (segments[others + 1] ?? segments[0]).start
}

/** What a subscription gives at an instant. */
export interface Entitled {
  /** The plan version whose features it gives. */
  readonly plan: PlanVersionRef
  /** The period that is open. */
  readonly period: Period
  /** Periods that closed by then, and that the subscription does not say are closed. They follow one another. */
  readonly closed: ReadonlyArray<Period>
}

/**
 * The plan version whose features a subscription gives at an instant, with the period that is open then. `undefined` if it
 * gives none: it has not started, is paused or has ended.
 *
 * What is due until then counts as done. So the answer is that of the instant, also if the runner is late.
 */
export const entitledAt = (subscription: Subscription, now: number): Entitled | undefined => {
  const reached = at(subscription, now)
  if (reached === undefined) return undefined
  const { closed, current } = reached
  if (current.period === null) return undefined
  if (current.phase !== "active" && current.phase !== "trialing") return undefined
  return { plan: current.plan, period: current.period, closed }
}

const DAY_MILLIS = 86_400_000

/**
 * Whether a plan gives its features no more because a payment is late: since an instant, or `null` if none is. Without a
 * grace in the plan, they stay.
 */
export const isPastGrace = ({ policy }: PlanTerms, pastDueSince: number | null, now: number): boolean => {
  const days = policy?.past_due_grace_days
  return days !== undefined && pastDueSince !== null && now >= pastDueSince + days * DAY_MILLIS
}

/**
 * The time in which usage counts: the period, as far as it is served. Where the plan restarts usage when it changes
 * (`usage_on_change`), from when the plan began in the period.
 */
export const countedTime = (period: Period, plan: PlanVersionRef, { policy }: PlanTerms): CountedTime => ({
  start: policy?.usage_on_change === "restart" ? planStart(period, plan) : period.segments[0].start,
  end: period.end,
})
