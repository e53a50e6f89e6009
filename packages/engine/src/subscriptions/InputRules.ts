/**
 * The rules of inputs. All problems of an input are found at once, each with its path.
 */
import { decimalOf, oneOf } from "../catalog/FieldRules.ts"
import type { PlanTerms } from "../catalog/Plan.ts"
import { Problems } from "../catalog/Problem.ts"
import * as Exact from "../money/Exact.ts"
import type { Change, Command, CommandTime, Create } from "./Input.ts"
import * as LocalTime from "./LocalTime.ts"
import type { Quantities, Subscription } from "./Subscription.ts"
import { waitingWith } from "./Waiting.ts"

/** Longest trial, in days. */
const MAX_TRIAL_DAYS = 730

/** Most quantities of a subscription. */
const MAX_QUANTITIES = 100

const isInstant = (value: unknown): boolean => Number.isSafeInteger(value)

const INSTANT_PROBLEM = "must be an instant in epoch milliseconds, an integer"

/** Each quantity that charges of a plan use, with the key of one of these charges. */
const usedBy = ({ charges }: PlanTerms): ReadonlyMap<string, string> =>
  new Map(charges.flatMap(({ key, quantity }) => (quantity === undefined ? [] : [[quantity, key] as const])))

/** Reports quantities that are no decimals. */
const checkQuantities = (at: Problems, quantities: Quantities): void => {
  if (Object.keys(quantities).length > MAX_QUANTITIES) at.add(`must be at most ${MAX_QUANTITIES} quantities`)
  for (const [key, quantity] of Object.entries(quantities)) decimalOf(at.in(key), quantity)
}

/** Reports given quantities that nothing uses, and used ones that are missing. */
const checkAgainstPlan = (at: Problems, terms: PlanTerms, given: Quantities, current: Quantities): void => {
  const used = usedBy(terms)
  for (const key of Object.keys(given)) {
    if (!used.has(key)) at.in(key).add("is not a quantity of the plan")
  }
  for (const [key, charge] of used) {
    const isGiven = Object.hasOwn(given, key) || Object.hasOwn(current, key)
    if (!isGiven) at.in(key).add(`is required: the charge ${JSON.stringify(charge)} uses it`)
  }
}

const checkCurrency = (at: Problems, { currencies }: PlanTerms, currency: string | undefined): void => {
  if (currency === undefined ? currencies.length > 1 : !currencies.includes(currency)) {
    at.add(`must be a currency of the plan: ${currencies.join(", ")}`)
  }
}

const checkTrial = (at: Problems, trial: Create["trial"], startAt: number): void => {
  if (trial === undefined || trial === null) return
  if ("days" in trial) {
    const isInRange = Number.isInteger(trial.days) && trial.days >= 1 && trial.days <= MAX_TRIAL_DAYS
    if (!isInRange) at.in("days").add(`must be an integer from 1 to ${MAX_TRIAL_DAYS}`)
  } else if (!isInstant(trial.endAt)) at.in("endAt").add(INSTANT_PROBLEM)
  else if (trial.endAt <= startAt) at.in("endAt").add("must be after the start")
  else if (trial.endAt > startAt + MAX_TRIAL_DAYS * LocalTime.DAY_MILLIS) {
    at.in("endAt").add(`must be at most ${MAX_TRIAL_DAYS} days after the start`)
  }
}

/** The problems of a new subscription. Empty when there are none. */
export const problemsOfCreate = (input: Create, now: number): Problems => {
  const at = new Problems()
  const { anchor, currency, plan, quantities = {}, startAt = now, timezone = "UTC", trial } = input
  checkCurrency(at.in("currency"), plan.terms, currency)
  checkQuantities(at.in("quantities"), quantities)
  checkAgainstPlan(at.in("quantities"), plan.terms, quantities, {})
  if (!isInstant(startAt)) at.in("startAt").add(INSTANT_PROBLEM)
  if (!LocalTime.isTimezone(timezone)) {
    at.in("timezone").add("must be an IANA time zone, such as Europe/Berlin")
  }
  if (anchor !== undefined && LocalTime.parse(anchor) === undefined) {
    at.in("anchor").add("must be a local date and time that exists, such as 2026-02-01T09:00")
  }
  checkTrial(at.in("trial"), trial, startAt)
  return at
}

/** The quantities that are there when a change is made: those of now, and those that wait and are changed together with it. */
const quantitiesWith = (subscription: Subscription, input: Change): Quantities => {
  const { at } = input
  const waiting = at === undefined || at === "now" ? null : waitingWith(subscription, input, at)
  return { ...subscription.quantities, ...waiting?.quantities }
}

/** Reports a time of a command that it can't have. */
const checkTime = (
  at: Problems,
  { phase }: Subscription,
  time: CommandTime | undefined,
  now: number,
): void => {
  if (time === undefined || time === "now") return
  if (time === "period_end") {
    if (phase === "scheduled") at.add("must not be period_end: the subscription has not started")
  } else if (typeof time !== "number") at.add(oneOf(["now", "period_end"]) + ", or an instant")
  else if (!isInstant(time)) at.add(INSTANT_PROBLEM)
  else if (time < now) at.add("must not be in the past")
}

/** The problems of a command at an instant. Empty when there are none. */
export const problemsOfCommand = (input: Command, subscription: Subscription, now: number): Problems => {
  const at = new Problems()
  switch (input.type) {
    case "change": {
      const { plan, quantities = {} } = input
      checkTime(at.in("at"), subscription, input.at, now)
      if (plan === undefined && input.quantities === undefined) {
        at.in("plan").add("is required (or quantities): a change needs one of them")
      }
      checkQuantities(at.in("quantities"), quantities)
      if (plan === undefined) {
        const known = quantitiesWith(subscription, input)
        for (const key of Object.keys(quantities)) {
          if (!Object.hasOwn(known, key)) at.in("quantities").in(key).add("is not a quantity of the plan")
        }
        break
      }
      if (input.at === undefined)
        at.in("at").add("is required for a change of plan: now, period_end or an instant")
      const { currency } = subscription
      if (!plan.terms.currencies.includes(currency)) {
        at.in("plan").add(`has no prices in ${currency}, the currency of the subscription`)
      }
      checkAgainstPlan(at.in("quantities"), plan.terms, quantities, quantitiesWith(subscription, input))
      break
    }
    case "cancel":
      if (input.at === undefined) at.in("at").add("is required: now, period_end or an instant")
      checkTime(at.in("at"), subscription, input.at, now)
      break
    case "pause": {
      const { resumeAt } = input
      if (resumeAt !== undefined && !isInstant(resumeAt)) at.in("resumeAt").add(INSTANT_PROBLEM)
      else if (resumeAt !== undefined && resumeAt <= now) at.in("resumeAt").add("must be in the future")
      break
    }
    case "uncancel":
    case "resume":
      break
  }
  return at
}

/** Whether one of the quantities is less than now. */
export const isLess = (after: Quantities, before: Quantities): boolean =>
  Object.entries(after).some(
    ([key, quantity]) => Exact.compare(Exact.ofDecimal(quantity), Exact.ofDecimal(before[key] ?? "0")) < 0,
  )

/** The quantities that differ, with their decimals written in one way: `5` for `5.00`. */
export const differing = (after: Quantities, before: Quantities): Quantities =>
  Object.fromEntries(
    Object.entries(after).flatMap(([key, quantity]) => {
      const text = Exact.text(Exact.ofDecimal(quantity))
      return before[key] === text ? [] : [[key, text] as const]
    }),
  )
