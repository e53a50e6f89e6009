/**
 * Commands to a subscription.
 */
import { type Billing, type CurrentTenant, type Subscription, Subscriptions } from "@billwright/core"
import { DateTime, Effect } from "effect"
import type { Choice } from "../world/Choice.ts"

/** Sends a command to a subscription, at the time of its customer. */
export type Sent = (
  id: string,
  now: DateTime.Utc,
) => Effect.Effect<unknown, unknown, Billing.Services | CurrentTenant>

/** After how many days a cancellation takes effect later, and a pause ends by itself. */
const LATER_DAYS = 17
const PAUSES_DAYS = [undefined, 6, 45]

export const change = (choice: Choice): Sent => {
  const at = choice.pick(["now", "now", "period_end"] as const)
  const bill = choice.pick(["now", "next_invoice"] as const)
  const isOfPlan = choice.chance(0.5)
  const plan = choice.pick(["pro", "team", "weekly"])
  const quantities = { seats: String(choice.int(0, 12)) }
  const input: Subscription.ChangeSubscription = isOfPlan
    ? { plan, at, bill, ...(plan === "team" ? { quantities } : {}) }
    : { quantities, ...(choice.chance(0.5) ? { at } : {}), bill }
  return (id) => Effect.flatMap(Subscriptions, (all) => all.change(id, input))
}

export const cancel = (choice: Choice): Sent => {
  const when = choice.pick(["now", "period_end", "later"] as const)
  const credit = choice.pick(["prorate", "none"] as const)
  return (id, now) => {
    const at = when === "later" ? DateTime.add(now, { days: LATER_DAYS }) : when
    return Effect.flatMap(Subscriptions, (all) => all.cancel(id, { at, credit }))
  }
}

export const uncancel: Sent = (id) => Effect.flatMap(Subscriptions, (all) => all.uncancel(id))

export const pause = (choice: Choice): Sent => {
  const credit = choice.pick(["prorate", "none"] as const)
  const anchor = choice.pick(["keep", "now"] as const)
  const days = choice.pick(PAUSES_DAYS)
  return (id, now) => {
    const date = days === undefined ? {} : { resumeAt: DateTime.add(now, { days }), anchor }
    return Effect.flatMap(Subscriptions, (all) => all.pause(id, { credit, ...date }))
  }
}

export const resume = (choice: Choice): Sent => {
  const anchor = choice.pick(["keep", "now"] as const)
  return (id) => Effect.flatMap(Subscriptions, (all) => all.resume(id, { anchor }))
}
