/**
 * What each row of the machine's table does. `Machine.ts` says when.
 */
import type { Interval } from "../catalog/Plan.ts"
import type { Cancel, Pause, Resume } from "./Input.ts"
import * as LocalTime from "./LocalTime.ts"
import type { PendingChange, PlanChange, Subscription } from "./Subscription.ts"
import type { Transition } from "./Transition.ts"

/** Starts: with the trial, or with the first period. */
export const start = (step: Transition): void => {
  const { trialEndAt } = step.subscription
  if (trialEndAt === null) return activate(step)
  step.set({ phase: "trialing" })
  step.openTrial(trialEndAt)
}

const activate = (step: Transition): void => {
  step.set({ phase: "active", activatedAt: step.at })
  step.openPeriod()
  step.publish("subscription.activated")
}

export const remindOfTrialEnd = (step: Transition): void => {
  step.set({ trialReminderAt: null })
  step.publish("subscription.trial_ending")
}

/** Closes the open period at its end. While paused, no other period follows, so it is invoiced at once. */
export const close = (step: Transition): void => {
  step.closePeriod()
  if (step.subscription.phase === "paused") step.invoiceClosed()
}

/** Opens the period after the one that closed: the first one after a trial, or the next. */
export const open = (step: Transition): void => {
  if (step.subscription.activatedAt === null) return activate(step)
  step.openPeriod()
  step.publish("subscription.renewed")
}

/** Ends. A period that is open is cut: the day was served. */
export const end = (step: Transition): void => {
  const { endCredit, period, phase } = step.subscription
  if (period !== null) {
    step.cut("up", endCredit, true)
    step.regrant()
    step.closePeriod()
    step.invoiceClosed()
  } else if (phase !== "paused") step.invoiceClosed()
  step.set({ phase: "ended", endedAt: step.at, pending: null, resume: null, trialReminderAt: null })
  step.publish("subscription.ended")
}

export const cancel =
  (at: number, { credit = "prorate" }: Cancel) =>
  (step: Transition): void => {
    step.set({ endsAt: at, endCredit: credit, canceledAt: step.at })
    step.publish("subscription.canceled")
  }

export const uncancel = (step: Transition): void => {
  const { endsAt } = step.subscription
  step.set({ endsAt: null, endCredit: "prorate", canceledAt: null })
  step.publish("subscription.updated", { endsAt })
}

export const pause =
  ({ anchor = "keep", credit = "prorate", resumeAt }: Pause) =>
  (step: Transition): void => {
    step.set({
      phase: "paused",
      pausedAt: step.at,
      resume: resumeAt === undefined ? null : { at: resumeAt, anchor },
    })
    if (step.subscription.period === null) step.invoiceClosed()
    else {
      step.cut("up", credit, true)
      step.suspend()
    }
    step.publish("subscription.paused")
  }

/** Resumes in the period that contains this instant, or with the first period of a new anchor. */
export const resume =
  ({ anchor = "keep" }: Pick<Resume, "anchor">) =>
  (step: Transition): void => {
    step.set({ phase: "active", pausedAt: null, resume: null })
    if (step.subscription.period !== null) {
      step.cut("down", "prorate", false)
      if (anchor === "now") step.closePeriod()
    }
    if (anchor === "now") anchorNow(step)
    if (step.subscription.period === null) step.openPeriod()
    else step.continue("charge_advance", "grant", "invoice")
    step.publish("subscription.resumed")
  }

export const resumeAsPlanned = (step: Transition): void => {
  const { resume: planned } = step.subscription
  resume({ anchor: planned?.anchor ?? "keep" })(step)
}

const anchorNow = (step: Transition, interval?: Interval): void => {
  const { periods } = step.subscription
  const anchor = LocalTime.format(LocalTime.ofInstant(step.at, periods.timezone))
  step.set({ periods: { ...periods, ...interval, anchor } })
}

/** The plan and the quantities after a change. */
const changed = (
  { plan, quantities }: Subscription,
  change: PlanChange,
): Pick<Subscription, "plan" | "quantities"> => ({
  plan: change.plan ?? plan,
  quantities: { ...quantities, ...change.quantities },
})

const isSameInterval = ({ periods }: Subscription, { count, unit }: Interval): boolean =>
  unit === periods.unit && count === periods.count

/** Takes over the interval of the new plan. Once periods have begun, that ends the open one and sets a new anchor. */
const changeInterval = (step: Transition, interval: Interval): void => {
  const { activatedAt, period, periods, phase } = step.subscription
  if (activatedAt === null) return step.set({ periods: { ...periods, ...interval } })
  if (phase === "paused" && period !== null) {
    step.cut("down", "prorate", false)
    step.closePeriod()
    step.invoiceClosed()
  } else {
    step.regrant()
    step.closePeriod()
  }
  anchorNow(step, interval)
}

/** Goes on in the open period, or in a new one if the interval has changed. */
const goOn = (step: Transition, { bill, plan }: PlanChange): void => {
  const { period, phase } = step.subscription
  if (phase === "paused") return
  if (period === null) return step.openPeriod()
  const grant = plan === null ? [] : (["grant"] as const)
  if (phase === "trialing") return step.continue(...grant)
  step.continue("charge_advance", ...grant, ...(bill === "now" ? (["invoice"] as const) : []))
}

/** Changes plan and quantities now. `left` waits from then on, unless there is a new plan, which replaces what waits. */
export const change =
  (planChange: PlanChange, left: PendingChange | null) =>
  (step: Transition): void => {
    const before = step.subscription
    const { pending, period, phase, plan, quantities } = before
    const isNewPlan = planChange.plan !== null
    const after = isNewPlan ? null : left
    const replaced = after === pending ? {} : { pending }
    if (phase !== "paused") step.cut("down", "prorate", isNewPlan)
    step.set({ ...changed(before, planChange), pending: after })
    if (planChange.interval !== null && !isSameInterval(before, planChange.interval)) {
      changeInterval(step, planChange.interval)
    }
    if (period !== null) goOn(step, planChange)
    step.publish("subscription.updated", { plan, quantities, ...replaced })
  }

/** Makes the change that waited. */
export const changePending = (step: Transition): void => {
  const { pending } = step.subscription
  if (pending === null) return
  step.set({ pending: null })
  change(pending, null)(step)
}

/** Lets a change wait, or nothing (`null`). It replaces the one that waits, which the event says. */
export const postpone =
  (pending: PendingChange | null) =>
  (step: Transition): void => {
    const { pending: before } = step.subscription
    step.set({ pending })
    step.publish("subscription.updated", { pending: before })
  }
