/**
 * The life of a subscription, as two tables: what happens by itself, and what somebody may ask for.
 *
 * `step` is a pure function of a subscription, an input and an instant. A command first does everything that was due
 * before it, so amounts depend on the instants at which things are due, and never on when somebody looked.
 */
import type { Problem } from "../catalog/Problem.ts"
import { change } from "./Changes.ts"
import type { Effect } from "./Effect.ts"
import type { Cancel, Command, Create, Due } from "./Input.ts"
import { differing, problemsOfCommand, problemsOfCreate } from "./InputRules.ts"
import * as LocalTime from "./LocalTime.ts"
import { spanAt } from "./Periods.ts"
import type { Phase, Subscription } from "./Subscription.ts"
import { type Apply, Transition } from "./Transition.ts"
import * as Do from "./Transitions.ts"

const LIVE: ReadonlyArray<Phase> = ["scheduled", "trialing", "active", "paused"]

/** When a pending change is due. At the end of a period, the period has closed and the next one has not opened. */
const changeDueAt = ({ closed, pending, period }: Subscription): number | null => {
  if (pending === null) return null
  if (pending.at !== "period_end") return pending.at
  return period === null && closed !== null ? closed.at : null
}

/** When the next period opens. */
const opensAt = ({ closed, period }: Subscription): number | null =>
  period === null && closed !== null ? closed.at : null

/** What happens by itself. */
export type DueKind = "trial_ending" | "close" | "end" | "change" | "resume" | "start" | "open"

interface DueRow {
  readonly what: DueKind
  readonly in: ReadonlyArray<Phase>
  /** When it is due. `null`: never, as things are. */
  readonly at: (subscription: Subscription) => number | null
  readonly do: Apply
}

/** What happens by itself, in the order in which it happens at one instant. */
const DUE: ReadonlyArray<DueRow> = [
  { what: "trial_ending", in: ["trialing"], at: (s) => s.trialReminderAt, do: Do.remindOfTrialEnd },
  { what: "close", in: ["trialing", "active", "paused"], at: (s) => s.period?.end ?? null, do: Do.close },
  { what: "end", in: LIVE, at: (s) => s.endsAt, do: Do.end },
  { what: "change", in: LIVE, at: changeDueAt, do: Do.changePending },
  { what: "resume", in: ["paused"], at: (s) => s.resume?.at ?? null, do: Do.resumeAsPlanned },
  { what: "start", in: ["scheduled"], at: (s) => s.startAt, do: Do.start },
  { what: "open", in: ["trialing", "active"], at: opensAt, do: Do.open },
]

/** What can be asked of a subscription. */
export type Action = Command["type"]

interface CommandRow {
  readonly in: ReadonlyArray<Phase>
  /** It is done after this row of {@link DUE}, when both are at one instant. */
  readonly after: DueKind
  readonly if?: (subscription: Subscription) => boolean
}

/** What somebody may ask for, and when. */
const COMMANDS: Readonly<Record<Action, CommandRow>> = {
  change: { in: ["scheduled", "trialing", "active"], after: "change" },
  pause: { in: ["active"], after: "change" },
  resume: { in: ["paused"], after: "change" },
  cancel: { in: LIVE, after: "close" },
  uncancel: { in: LIVE, after: "close", if: (s) => s.endsAt !== null },
}

const ACTIONS: ReadonlyArray<Action> = ["change", "pause", "resume", "cancel", "uncancel"]

/** Most things that one step does by itself. A daily plan that started 10 years ago has 7,300. */
const MAX_DUE = 10_000

/** The input was refused, and nothing has changed. */
export interface Rejected {
  readonly problems: readonly [Problem, ...ReadonlyArray<Problem>]
}

/** The subscription after the step, and what to do in the same transaction, in this order. */
export interface Stepped {
  readonly subscription: Subscription
  readonly effects: ReadonlyArray<Effect>
}

export const isRejected = <A extends object>(outcome: A | Rejected): outcome is Rejected =>
  "problems" in outcome

const reject = (path: string, problem: string): Rejected => ({ problems: [{ path, problem }] })

interface DueAt {
  readonly row: DueRow
  readonly at: number
  /** The place of the row in {@link DUE}. */
  readonly order: number
}

/** What is due first. Of several things at one instant, the first in {@link DUE}. */
const firstDue = (subscription: Subscription): DueAt | undefined => {
  let first: DueAt | undefined
  for (const [order, row] of DUE.entries()) {
    const at = row.in.includes(subscription.phase) ? row.at(subscription) : null
    if (at !== null && (first === undefined || at < first.at)) first = { row, at, order }
  }
  return first
}

/** What happens next by itself, and when. `null` if nothing ever will. */
export const nextDue = (
  subscription: Subscription,
): { readonly at: number; readonly what: DueKind } | null => {
  const due = firstDue(subscription)
  return due === undefined ? null : { at: due.at, what: due.row.what }
}

/** What can be asked of a subscription as it is. */
export const availableActions = (subscription: Subscription): ReadonlyArray<Action> =>
  ACTIONS.filter((action) => isAvailable(COMMANDS[action], subscription))

const isAvailable = (row: CommandRow, subscription: Subscription): boolean =>
  row.in.includes(subscription.phase) && (row.if?.(subscription) ?? true)

/** Does what is due before an instant, and at the instant, the rows up to `order`. `undefined`: more than {@link MAX_DUE}. */
const runDue = (from: Stepped, until: number, order = DUE.length): Stepped | undefined => {
  const effects = [...from.effects]
  let { subscription } = from
  for (let done = 0; done <= MAX_DUE; done++) {
    const due = firstDue(subscription)
    if (due === undefined || due.at > until || (due.at === until && due.order > order)) {
      return { subscription, effects }
    }
    const step = new Transition(subscription, due.at)
    due.row.do(step)
    subscription = step.subscription
    for (const effect of step.effects) effects.push(effect)
  }
  return undefined
}

const applied = ({ effects, subscription }: Stepped, at: number, apply: Apply): Stepped => {
  const step = new Transition(subscription, at)
  apply(step)
  return { subscription: step.subscription, effects: [...effects, ...step.effects] }
}

/** Makes a subscription that has not started. */
const created = (input: Create, now: number): Subscription => {
  const { plan, quantities = {}, startAt = now, timezone = "UTC", trialUsage = "free" } = input
  const inDays = (from: number, days: number) =>
    LocalTime.toInstant(LocalTime.ofInstant(from, timezone) + days * LocalTime.DAY_MILLIS, timezone)
  const trial = input.trial === undefined ? (plan.terms.trial ?? null) : input.trial
  const trialEndAt = trial === null ? null : "days" in trial ? inDays(startAt, trial.days) : trial.endAt
  const anchor = input.anchor === undefined ? undefined : LocalTime.parse(input.anchor)
  return {
    phase: "scheduled",
    plan: { key: plan.key, version: plan.version },
    currency: input.currency ?? plan.terms.currencies[0]!,
    quantities: differing(quantities, {}),
    periods: {
      anchor: LocalTime.format(anchor ?? LocalTime.ofInstant(trialEndAt ?? startAt, timezone)),
      timezone,
      ...plan.terms.interval,
    },
    startAt,
    trialEndAt,
    trialUsage,
    trialReminderAt: trialEndAt === null ? null : Math.max(startAt, inDays(trialEndAt, -REMINDER_DAYS)),
    activatedAt: null,
    period: null,
    opened: 0,
    closed: null,
    pending: null,
    pausedAt: null,
    resume: null,
    canceledAt: null,
    endsAt: null,
    endCredit: "prorate",
    endedAt: null,
    asOf: now,
    sequence: 0,
  }
}

/** How many days before its end the reminder of a trial is due. A shorter trial is reminded of when it starts. */
const REMINDER_DAYS = 3

const create = (input: Create, now: number): Stepped | Rejected => {
  const [first, ...others] = problemsOfCreate(input, now).found
  if (first !== undefined) return { problems: [first, ...others] }
  const subscription = created(input, now)
  const made = applied({ subscription, effects: [] }, now, (step) => step.publish("subscription.created"))
  return (
    runDue(made, now) ??
    reject("startAt", `is too long ago: more than ${MAX_DUE} things would be due since then`)
  )
}

/** The end of the open period. While paused between periods, the next boundary. */
const periodEnd = ({ period, periods }: Subscription, now: number): number =>
  period?.end ?? spanAt(periods, now).end

const cancel = (subscription: Subscription, input: Cancel, now: number): Apply => {
  const at = input.at === "now" ? now : input.at === "period_end" ? periodEnd(subscription, now) : input.at
  return Do.cancel(at, input)
}

/** What a command does. `undefined`: nothing, because everything is so already. */
const applyOf = (subscription: Subscription, input: Command, now: number): Apply | undefined => {
  switch (input.type) {
    case "change":
      return change(subscription, input, now)
    case "cancel":
      return cancel(subscription, input, now)
    case "uncancel":
      return Do.uncancel
    case "pause":
      return Do.pause(input)
    case "resume":
      return Do.resume(input)
  }
}

const unavailable = ({ type }: Command, { phase }: Subscription): Rejected => {
  const row = COMMANDS[type]
  return row.in.includes(phase)
    ? reject(type, "is not possible: no end is set")
    : reject(type, `is not possible while ${phase}: the subscription must be ${row.in.join(", ")}`)
}

const command = (subscription: Subscription, input: Command, now: number): Stepped | Rejected => {
  const { after } = COMMANDS[input.type]
  const order = DUE.findIndex(({ what }) => what === after)
  const before = runDue({ subscription, effects: [] }, now, order)
  if (before === undefined) return reject("at", `is too late: more than ${MAX_DUE} things are due before it`)
  if (!isAvailable(COMMANDS[input.type], before.subscription)) return unavailable(input, before.subscription)
  const [first, ...others] = problemsOfCommand(input, before.subscription, now).found
  if (first !== undefined) return { problems: [first, ...others] }
  const apply = applyOf(before.subscription, input, now)
  const done = apply === undefined ? before : applied(before, now, apply)
  return runDue(done, now) ?? reject("at", `is too late: more than ${MAX_DUE} things are due before it`)
}

/** Does what is due at the earliest due instant. */
const due = (subscription: Subscription, now: number): Stepped | Rejected => {
  const first = firstDue(subscription)
  const nothing = { subscription, effects: [] }
  if (first === undefined || first.at > now) return nothing
  return runDue(nothing, first.at) ?? reject("at", `has more than ${MAX_DUE} things to do`)
}

/**
 * Does one step of a subscription at an instant, in epoch milliseconds.
 *
 * - `create` takes `null` as the subscription. It does everything that is due since `startAt`.
 * - `due` does what is due at the earliest due instant, and nothing when that is after `at`.
 * - A command does everything that is due until `at`, and itself at its place among it. A command that changes nothing
 *   has no effects.
 *
 * An instant before that of an earlier step counts as that instant. A rejection names every problem, and changes
 * nothing: what was due before the command is still due.
 */
export const step = (
  subscription: Subscription | null,
  input: Create | Command | Due,
  at: number,
): Stepped | Rejected => {
  if (!Number.isSafeInteger(at)) return reject("at", "must be an instant in epoch milliseconds, an integer")
  if (input.type === "create") {
    return subscription === null
      ? create(input, at)
      : reject("create", "is not possible: the subscription exists")
  }
  if (subscription === null) return reject(input.type, "is not possible: the subscription does not exist")
  const now = Math.max(at, subscription.asOf)
  return input.type === "due" ? due(subscription, now) : command(subscription, input, now)
}
