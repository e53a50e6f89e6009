/**
 * Generated subscriptions, and scripts of what is asked of them.
 */
import {
  type Command,
  type Create,
  type Due,
  type Effect,
  isRejected,
  Periods,
  step,
  type Subscription,
} from "../../src/index.ts"
import { fc } from "../property.ts"
import { advance, at, basic, changeTo, done, plan, pro, yearly } from "./Subscriptions.ts"

export const DAY = 86_400_000
export const START = at("2026-01-01")
/** How long a script runs: some periods of every plan but the yearly one. */
export const END = START + 500 * DAY

const plans = fc.constantFrom(basic, pro, yearly, plan("weekly", { interval: { unit: "week", count: 2 } }))
/** Instants that often meet a boundary, and each other. */
export const instants = fc.oneof(
  fc.integer({ min: 0, max: 60 }).map((week) => START + week * 7 * DAY),
  fc.integer({ min: 0, max: 15 }).map((k) => Periods.boundary(monthly, k)),
  fc.integer({ min: START, max: END }),
)
const monthly: Periods.Periods = { anchor: "2026-01-01", timezone: "UTC", unit: "month", count: 1 }
const seats = fc.integer({ min: 0, max: 9 }).map((count) => ({ seats: `${count}` }))
const times = fc.oneof(fc.constantFrom("now" as const, "period_end" as const), instants)
const credits = fc.constantFrom("prorate" as const, "none" as const)
const anchorsOf = fc.constantFrom("keep" as const, "now" as const)

const commands: fc.Arbitrary<Command> = fc.oneof(
  fc
    .tuple(plans, times, fc.constantFrom("now" as const, "next_invoice" as const))
    .map(([to, when, bill]): Command => changeTo(to, { at: when, bill })),
  seats.map((quantities): Command => ({ type: "change", quantities })),
  fc.tuple(seats, times).map(([quantities, when]): Command => ({ type: "change", quantities, at: when })),
  fc.tuple(credits, anchorsOf).map(([credit, anchor]): Command => ({ type: "pause", credit, anchor })),
  fc.tuple(instants, credits).map(([resumeAt, credit]): Command => ({ type: "pause", resumeAt, credit })),
  anchorsOf.map((anchor): Command => ({ type: "resume", anchor })),
  // Fewer of them end the subscription, so that scripts go on.
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Command>({ type: "uncancel" }) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(times, credits)
        .map(([when, credit]): Command => ({ type: "cancel", at: when, credit })),
    },
  ),
)

export const creations: fc.Arbitrary<Create> = fc
  .record({
    plan: plans,
    quantities: seats,
    timezone: fc.constantFrom("UTC", "Europe/Berlin", "America/New_York"),
    trial: fc.oneof(
      fc.constant(null),
      fc.integer({ min: 1, max: 40 }).map((days) => ({ days })),
    ),
    startAt: fc.oneof(
      fc.constant(START),
      instants.map((instant) => instant - 60 * DAY),
    ),
    anchor: fc.constantFrom(undefined, "2026-01-01", "2025-12-31T10:30"),
  })
  .map(({ anchor, ...rest }) => ({ type: "create", ...rest, ...(anchor === undefined ? {} : { anchor }) }))

export interface Entry {
  readonly at: number
  readonly input: Command | Due
}

export const scripts = fc
  .array(fc.record({ at: instants, input: commands }), { maxLength: 12 })
  .map((entries): ReadonlyArray<Entry> => entries.toSorted((a, b) => a.at - b.at))

export interface Run {
  readonly subscription: Subscription
  readonly effects: ReadonlyArray<Effect>
}

/** Runs a script. Commands that are refused change nothing. */
export const run = (creation: Create, script: ReadonlyArray<Entry>): Run => {
  const made = done(null, creation, START)
  let { subscription } = made
  const effects = [...made.effects]
  const take = (after: Run) => {
    subscription = after.subscription
    effects.push(...after.effects)
  }
  for (const entry of script) {
    const outcome = step(subscription, entry.input, entry.at)
    if (!isRejected(outcome)) take(outcome)
  }
  take(advance(subscription, END))
  return { subscription, effects }
}
