/**
 * Plans, steps and short forms of effects, for tests of subscriptions.
 */
import { Temporal } from "temporal-polyfill"
import {
  type Change,
  type Create,
  type Command,
  type Due,
  type Effect,
  isRejected,
  nextDue,
  type PlanTerms,
  type PlanVersion,
  step,
  type Subscription,
} from "../../src/index.ts"

export const at = (text: string): number =>
  Temporal.Instant.from(text.includes("T") ? text : `${text}T00:00:00Z`).epochMilliseconds

const terms: PlanTerms = {
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", model: "flat", price: { EUR: "10.00" } },
    { key: "seats", model: "unit", quantity: "seats", price: { EUR: "5.00" } },
  ],
}

export const plan = (key: string, fields: Partial<PlanTerms> = {}, version = 1): PlanVersion => ({
  key,
  version,
  terms: { ...terms, ...fields },
})

export const basic = plan("basic")
export const pro = plan("pro")
export const yearly = plan("yearly", { interval: { unit: "year", count: 1 } })

export const creation: Create = {
  type: "create",
  plan: basic,
  quantities: { seats: "2" },
  trial: null,
}

export interface Done {
  readonly subscription: Subscription
  readonly effects: ReadonlyArray<Effect>
}

/** Does a step that must not be refused. */
export const done = (
  subscription: Subscription | null,
  input: Create | Command | Due,
  instant: number | string,
): Done => {
  const outcome = step(subscription, input, typeof instant === "string" ? at(instant) : instant)
  if (isRejected(outcome)) throw new Error(JSON.stringify(outcome.problems))
  return outcome
}

/** The problems of a step that must be refused, as sentences. */
export const refused = (
  subscription: Subscription | null,
  input: Create | Command | Due,
  instant: number | string,
): ReadonlyArray<string> => {
  const outcome = step(subscription, input, typeof instant === "string" ? at(instant) : instant)
  if (!isRejected(outcome)) throw new Error("was not refused")
  return outcome.problems.map(({ path, problem }) => `${path} ${problem}`)
}

/** Does everything that is due until an instant, one step after the other. */
export const advance = (from: Subscription, instant: number | string): Done => {
  const until = typeof instant === "string" ? at(instant) : instant
  let subscription = from
  const effects: Array<Effect> = []
  for (let next = nextDue(subscription); next !== null && next.at <= until; next = nextDue(subscription)) {
    const after = done(subscription, { type: "due" }, until)
    subscription = after.subscription
    effects.push(...after.effects)
  }
  return { subscription, effects }
}

/** A new subscription, at the start of 2026 unless said otherwise. */
export const started = (fields: Partial<Create> = {}, instant = "2026-01-01"): Subscription =>
  done(null, { ...creation, ...fields }, instant).subscription

/** A change of plan now. */
export const changeTo = (to: PlanVersion, fields: Partial<Change> = {}): Change => ({
  type: "change",
  plan: to,
  at: "now",
  ...fields,
})

/** An effect in a word or two: `close_period 0.1`, of period 0 and its segment 1. */
const short = (effect: Effect): string =>
  effect.kind === "event"
    ? effect.type.replace("subscription.", "")
    : `${effect.kind} ${effect.period.number}.${effect.segment}`

export const shorts = ({ effects }: Done): ReadonlyArray<string> => effects.map(short)

/** The dates of instants. */
export const dates = (...instants: ReadonlyArray<number | null | undefined>): ReadonlyArray<string | null> =>
  instants.map((one) =>
    one === null || one === undefined
      ? null
      : Temporal.Instant.fromEpochMilliseconds(one).toString().slice(0, 10),
  )
