/**
 * Changes of plan and quantities that somebody asks for, and what becomes of the change that waits already. See
 * docs/decisions/0060.
 */
import type { Change } from "./Input.ts"
import { differing, isLess } from "./InputRules.ts"
import type { PendingChange, PlanChange, Quantities, Subscription } from "./Subscription.ts"
import type { Apply } from "./Transition.ts"
import * as Do from "./Transitions.ts"
import { isSamePlan, waitingWith } from "./Waiting.ts"

/** What waits still when some quantities are decided now. */
const without = (pending: PendingChange | null, decided: Quantities): PendingChange | null => {
  if (pending === null) return null
  const all = Object.entries(pending.quantities)
  const left = all.filter(([key]) => !Object.hasOwn(decided, key))
  if (left.length === all.length) return pending
  return pending.plan === null && left.length === 0
    ? null
    : { ...pending, quantities: Object.fromEntries(left) }
}

const isNothing = ({ plan, quantities }: PlanChange): boolean =>
  plan === null && Object.keys(quantities).length === 0

/** The change that is asked for, beside what is there, and together with what waits. */
const planChangeOf = (
  { plan, quantities }: Subscription,
  input: Change,
  waiting: PendingChange | null,
): PlanChange => {
  const { plan: asked } = input
  const other =
    asked === undefined || isSamePlan(plan, asked)
      ? { plan: waiting?.plan ?? null, interval: waiting?.interval ?? null }
      : { plan: { key: asked.key, version: asked.version }, interval: asked.terms.interval }
  return {
    ...other,
    quantities: differing({ ...waiting?.quantities, ...input.quantities }, quantities),
    bill: input.bill ?? waiting?.bill ?? "now",
  }
}

/** A change now. Quantities that it names don't wait any more, also when they are those that are there already. */
const changeNow = (subscription: Subscription, input: Change): Apply | undefined => {
  const planChange = planChangeOf(subscription, input, null)
  const { pending } = subscription
  const left = without(pending, input.quantities ?? {})
  if (!isNothing(planChange)) return Do.change(planChange, left)
  return left === pending ? undefined : Do.postpone(left)
}

/** What a change does: now, or later. `undefined`: nothing, because everything is so already. */
export const change = (subscription: Subscription, input: Change, now: number): Apply | undefined => {
  const { pending, phase, quantities } = subscription
  const asked = differing(input.quantities ?? {}, quantities)
  const usual = phase !== "scheduled" && isLess(asked, quantities) ? "period_end" : "now"
  const { at = usual } = input
  if (at === "now" || at === now) return changeNow(subscription, input)
  const waiting = waitingWith(subscription, input, at)
  const planChange = planChangeOf(subscription, input, waiting)
  if (!isNothing(planChange)) return Do.postpone({ ...planChange, at: waiting?.at ?? at })
  return pending === null ? undefined : Do.postpone(null)
}
