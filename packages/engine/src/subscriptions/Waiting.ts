/**
 * Which change that waits already is made together with another one. See docs/decisions/0060.
 */
import type { Change } from "./Input.ts"
import type { PendingChange, PlanVersionRef, Subscription } from "./Subscription.ts"

/** Whether two times of changes are one: the end of the period may be given as an instant. */
const isSameTime = (
  { period }: Subscription,
  one: number | "period_end",
  other: number | "period_end",
): boolean => {
  const instantOf = (time: number | "period_end") => (time === "period_end" ? (period?.end ?? time) : time)
  return instantOf(one) === instantOf(other)
}

export const isSamePlan = (one: PlanVersionRef | null, other: PlanVersionRef): boolean =>
  one !== null && one.key === other.key && one.version === other.version

/**
 * What waits for the same time, if a change is made together with it. A change that names a plan replaces another plan that waits,
 * and the plan that is there already takes everything back that waits.
 */
export const waitingWith = (
  subscription: Subscription,
  { plan }: Change,
  at: number | "period_end",
): PendingChange | null => {
  const { pending } = subscription
  if (pending === null || !isSameTime(subscription, pending.at, at)) return null
  if (plan === undefined) return pending
  const isOther = !isSamePlan(subscription.plan, plan)
  return isOther && (pending.plan === null || isSamePlan(pending.plan, plan)) ? pending : null
}
