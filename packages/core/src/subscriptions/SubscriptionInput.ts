/**
 * Inputs of the service, as the engine takes them.
 */
import type { Cancel, Change, CommandTime, Create, Pause, PlanVersion, Problem } from "@billwright/engine"
import { Effect } from "effect"
import type { Customer } from "../customers/Customer.ts"
import { type InvalidInput, ofProblems } from "../shared/InvalidInput.ts"
import type {
  CancelSubscription,
  ChangeSubscription,
  CreateSubscription,
  PauseSubscription,
  Quantities,
} from "./Subscription.ts"

/** Fails with all problems of an input. */
export const invalid = ([first, ...others]: readonly [Problem, ...ReadonlyArray<Problem>]): Effect.Effect<
  never,
  InvalidInput
> => {
  const toField = ({ path, problem }: Problem) => ({ field: path, problem })
  return Effect.fail(ofProblems([toField(first), ...others.map(toField)]))
}

const timeOf = (at: CancelSubscription["at"]): CommandTime =>
  typeof at === "string" ? at : at.epochMilliseconds

const trialOf = (
  trial: NonNullable<CreateSubscription["trial"]> | null,
): NonNullable<Create["trial"]> | null => {
  if (trial === null) return null
  return "days" in trial ? { days: trial.days } : { endAt: trial.endAt.epochMilliseconds }
}

/** The quantities as decimals. */
const decimalsOf = (quantities: Quantities): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(quantities).map(([key, quantity]) => [key, String(quantity)]))

/** An input that takes from the customer what it leaves out. The plan may not have the customer's currency. */
export const withCustomer = (
  input: CreateSubscription,
  customer: Pick<Customer, "currency" | "timezone">,
  { terms }: PlanVersion,
): CreateSubscription => {
  const { currency = customer.currency, timezone = customer.timezone, ...rest } = input
  const isOffered = input.currency !== undefined || (currency !== null && terms.currencies.includes(currency))
  return {
    ...rest,
    ...(isOffered && currency !== null ? { currency } : {}),
    ...(timezone === null ? {} : { timezone }),
  }
}

export const toCreate = (
  { anchor, currency, quantities, startAt, timezone, trial, trialUsage }: CreateSubscription,
  plan: PlanVersion,
): Create => ({
  type: "create",
  plan,
  ...(currency === undefined ? {} : { currency }),
  ...(quantities === undefined ? {} : { quantities: decimalsOf(quantities) }),
  ...(startAt === undefined ? {} : { startAt: startAt.epochMilliseconds }),
  ...(anchor === undefined ? {} : { anchor }),
  ...(timezone === undefined ? {} : { timezone }),
  ...(trial === undefined ? {} : { trial: trialOf(trial) }),
  ...(trialUsage === undefined ? {} : { trialUsage }),
})

export const toChange = (
  { at, bill, quantities }: ChangeSubscription,
  plan: PlanVersion | undefined,
): Change => ({
  type: "change",
  ...(plan === undefined ? {} : { plan }),
  ...(quantities === undefined ? {} : { quantities: decimalsOf(quantities) }),
  ...(at === undefined ? {} : { at: timeOf(at) }),
  ...(bill === undefined ? {} : { bill }),
})

export const toCancel = ({ at, credit }: CancelSubscription): Cancel => ({
  type: "cancel",
  at: timeOf(at),
  ...(credit === undefined ? {} : { credit }),
})

export const toPause = ({ resumeAt, ...fields }: PauseSubscription): Pause => ({
  type: "pause",
  ...fields,
  ...(resumeAt === undefined ? {} : { resumeAt: resumeAt.epochMilliseconds }),
})
