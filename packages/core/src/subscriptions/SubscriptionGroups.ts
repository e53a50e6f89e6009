/**
 * Moves subscriptions on together with those that they share invoices with. What is due of one at an instant is done
 * together with what is due of the others then, however late that is. So it does not matter who comes first.
 */
import { type Command, isRejected, nextDue, type Rejected, step, stepTogether } from "@billwright/engine"
import type { StoredSubscription } from "./Subscription.ts"
import type { Step } from "./SubscriptionBook.ts"

/** Most instants at which one command does what is due of the other subscriptions of its group. */
export const MAX_INSTANTS_OF_COMMAND = 1_000

type Group = ReadonlyArray<StoredSubscription>

/** Does what is due of a group by an instant, at no more than `most` instants. */
export const dueSteps = (group: Group, until: number, most: number): ReadonlyArray<Step> | Rejected => {
  const all = stepTogether(
    group.map(({ state }) => state),
    until,
    most,
  )
  if (isRejected(all)) return all
  return group.map((before, member) => {
    const stepped = all[member]!
    return { before, stepped: stepped.subscription === before.state ? null : stepped }
  })
}

const firstOf = (states: ReadonlyArray<StoredSubscription["state"]>): number | null => {
  const instants = states.flatMap((state) => nextDue(state)?.at ?? [])
  return instants.length === 0 ? null : Math.min(...instants)
}

/** When something is due first of a group, in epoch milliseconds. `null`: never. */
export const nextDueOf = (group: Group): number | null => firstOf(group.map(({ state }) => state))

/** The same after some steps. */
export const nextDueAfter = (steps: ReadonlyArray<Step>): number | null =>
  firstOf(steps.map(({ before, stepped }) => stepped?.subscription ?? before.state))

/** Applies a command to one subscription of a group, after the others did what was due of them by then. */
export const commandSteps = (
  group: Group,
  asked: StoredSubscription,
  input: Command,
  at: number,
): ReadonlyArray<Step> | Rejected => {
  const stepped = step(asked.state, input, at)
  if (isRejected(stepped)) return stepped
  const others = group.filter(({ id }) => id !== asked.id)
  const steps = dueSteps(others, at, MAX_INSTANTS_OF_COMMAND)
  if (isRejected(steps)) return steps
  const next = nextDueAfter(steps)
  if (next !== null && next <= at) {
    const problem = `is too late: at more than ${MAX_INSTANTS_OF_COMMAND} instants something is due before it`
    return { problems: [{ path: "at", problem }] }
  }
  const all: ReadonlyArray<Step> = [...steps, { before: asked, stepped }]
  return all.toSorted(({ before: a }, { before: b }) => (a.id < b.id ? -1 : 1))
}
