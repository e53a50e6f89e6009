/**
 * Subscriptions that are billed together: what is invoiced of several of them at one instant is on one invoice.
 */
import type { BillingEffect, Effect, EventEffect } from "./Effect.ts"
import { isRejected, nextDue, type Rejected, step, type Stepped } from "./Machine.ts"
import type { Subscription } from "./Subscription.ts"

/** An effect that makes an invoice, and the place of its subscription among those that are billed together. */
export interface Cause {
  readonly member: number
  readonly effect: BillingEffect
}

/** What to do for subscriptions that are billed together. */
export type SharedEffect =
  | { readonly kind: "event"; readonly member: number; readonly effect: EventEffect }
  | { readonly kind: "invoice"; readonly causes: readonly [Cause, ...ReadonlyArray<Cause>] }

const isInvoice = (effect: Effect): effect is BillingEffect => effect.kind === "invoice"

/** The events and the invoices of the step of one subscription, as the step has them. */
const alone = ({ effects }: Pick<Stepped, "effects">): ReadonlyArray<SharedEffect> =>
  effects.flatMap((effect): ReadonlyArray<SharedEffect> => {
    if (effect.kind === "event") return [{ kind: "event", member: 0, effect }]
    return isInvoice(effect) ? [{ kind: "invoice", causes: [{ member: 0, effect }] }] : []
  })

/**
 * The events and the invoices of steps of several subscriptions: by instant, then by subscription, then as each step has
 * them. The first `invoice` of each subscription at an instant is on one invoice, which comes where the first of them is.
 * A further one, of a command at the very instant, is on an invoice of its own.
 */
export const togetherOf = (members: ReadonlyArray<Pick<Stepped, "effects">>): ReadonlyArray<SharedEffect> => {
  const [only] = members
  if (only !== undefined && members.length === 1) return alone(only)
  const instants = new Set(members.flatMap(({ effects }) => effects.map(({ at }) => at)))
  return [...instants]
    .toSorted((a, b) => a - b)
    .flatMap((at) => effectsAt(members.map(({ effects }) => effects.filter((effect) => effect.at === at))))
}

/** What to do at one instant. */
const effectsAt = (members: ReadonlyArray<ReadonlyArray<Effect>>): ReadonlyArray<SharedEffect> => {
  const [first, ...others] = members.flatMap((effects, member): ReadonlyArray<Cause> => {
    const effect = effects.find(isInvoice)
    return effect === undefined ? [] : [{ member, effect }]
  })
  return members.flatMap((effects, member) => {
    let isShared = first !== undefined
    return effects.flatMap((effect): ReadonlyArray<SharedEffect> => {
      if (effect.kind === "event") return [{ kind: "event", member, effect }]
      if (!isInvoice(effect)) return []
      if (!isShared || first === undefined) return [{ kind: "invoice", causes: [{ member, effect }] }]
      isShared = false
      return member === first.member ? [{ kind: "invoice", causes: [first, ...others] }] : []
    })
  })
}

/**
 * Does what is due of several subscriptions by an instant, at no more than `most` instants: at each of them, for all that
 * have something to do then. Gives their steps in the order of the subscriptions.
 */
export const stepTogether = (
  subscriptions: ReadonlyArray<Subscription>,
  until: number,
  most: number,
): ReadonlyArray<Stepped> | Rejected => {
  const steps: Array<Stepped> = subscriptions.map((subscription) => ({ subscription, effects: [] }))
  for (let instants = 0; instants < most; instants++) {
    const due = steps.map(({ subscription }) => nextDue(subscription)?.at ?? Number.POSITIVE_INFINITY)
    const at = Math.min(...due)
    if (at > until || at === Number.POSITIVE_INFINITY) break
    for (const [member, { effects, subscription }] of steps.entries()) {
      if (due[member] !== at) continue
      const stepped = step(subscription, { type: "due" }, at)
      if (isRejected(stepped)) return stepped
      steps[member] = { ...stepped, effects: [...effects, ...stepped.effects] }
    }
  }
  return steps
}
