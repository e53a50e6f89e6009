/**
 * The rules of a plan. All problems are found at once, each with its path.
 */
import * as Currency from "../money/Currency.ts"
import { checkCharge } from "./ChargeRules.ts"
import {
  checkChoice,
  checkKey,
  checkKnown,
  checkPrices,
  checkText,
  type Currencies,
  decimalOf,
  type Fields,
  integerIn,
  isFields,
  oneOf,
  positiveOf,
} from "./FieldRules.ts"
import type { PlanDefinition } from "./Plan.ts"
import { type Problem, Problems } from "./Problem.ts"

/**
 * Most charges, features, grants and currencies of a plan version; longest name and description, in characters; longest
 * trial, longest wait for late usage, and longest grace of features while a payment is late.
 */
export const PLAN_LIMITS = {
  charges: 100,
  features: 100,
  grants: 10,
  currencies: 30,
  name: 200,
  description: 1_000,
  trialDays: 730,
  graceHours: 720,
  pastDueGraceDays: 365,
} as const
/** Longest value of a `config` feature, in characters, and the kinds of limit of a `metered` one. */
export const FEATURE_LIMITS = { config: 500, limits: ["hard", "soft"] } as const

/** Largest `count` of each unit: a period is at most about three years long. */
export const MAX_COUNT = { day: 1_095, week: 156, month: 36, year: 3 } as const

const isUnit = (value: unknown): value is keyof typeof MAX_COUNT =>
  typeof value === "string" && Object.hasOwn(MAX_COUNT, value)

const checkInterval = (at: Problems, value: unknown): void => {
  if (!isFields(value)) {
    at.add(value === undefined ? "is required" : `must be an object, such as {"unit": "month", "count": 1}`)
    return
  }
  checkKnown(at, value, ["unit", "count"])
  const unit = value["unit"]
  if (!isUnit(unit)) at.in("unit").add(oneOf(Object.keys(MAX_COUNT)))
  else integerIn(at.in("count"), value["count"], 1, MAX_COUNT[unit])
}

/** The currencies that the plan's prices need. When the list has problems, prices in other currencies are not reported. */
const checkCurrencies = (at: Problems, value: unknown): Currencies => {
  if (!Array.isArray(value) || value.length === 0 || value.length > PLAN_LIMITS.currencies) {
    at.add(
      value === undefined ? "is required" : `must be a list of 1 to ${PLAN_LIMITS.currencies} currencies`,
    )
    return { required: [], areAll: false }
  }
  const before = at.found.length
  const currencies: Array<string> = []
  for (const [index, currency] of (value as ReadonlyArray<unknown>).entries()) {
    const here = at.in(index)
    if (typeof currency !== "string" || !Currency.isCurrency(currency)) {
      here.add(`must be a code of ISO 4217, such as "EUR"`)
    } else if (currencies.includes(currency)) here.add(`is listed twice: ${currency}`)
    else currencies.push(currency)
  }
  return { required: currencies, areAll: at.found.length === before }
}

const checkCharges = (at: Problems, value: unknown, currencies: Currencies): void => {
  if (!Array.isArray(value) || value.length > PLAN_LIMITS.charges) {
    at.add(value === undefined ? "is required" : `must be a list of at most ${PLAN_LIMITS.charges} charges`)
    return
  }
  const keys = new Set<string>()
  for (const [index, charge] of (value as ReadonlyArray<unknown>).entries()) {
    const key = isFields(charge) && typeof charge["key"] === "string" ? charge["key"] : undefined
    // The path uses the charge's key, which people know, if it is unique.
    const here = key === undefined || key === "" || keys.has(key) ? at.in(index) : at.in(key)
    if (key !== undefined && keys.has(key)) here.in("key").add(`is used twice: ${JSON.stringify(key)}`)
    if (key !== undefined) keys.add(key)
    checkCharge(here, charge, currencies)
  }
}

const checkRollover = (at: Problems, value: unknown): void => {
  if (value === undefined) return
  if (!isFields(value)) {
    at.add(`must be an object, such as {"maximum": "2000"}`)
    return
  }
  checkKnown(at, value, ["maximum", "expires_after"])
  decimalOf(at.in("maximum"), value["maximum"])
  if (value["expires_after"] !== undefined) checkInterval(at.in("expires_after"), value["expires_after"])
}

const checkFeature = (at: Problems, feature: unknown): void => {
  if (!isFields(feature)) {
    at.add(`must be an object, such as {"type": "boolean"}`)
    return
  }
  switch (feature["type"]) {
    case "boolean":
      return checkKnown(at, feature, ["type"])
    case "config":
      checkKnown(at, feature, ["type", "value"])
      return checkText(at.in("value"), feature["value"], FEATURE_LIMITS.config)
    case "metered": {
      checkKnown(at, feature, ["type", "meter", "included", "limit", "rollover"])
      checkKey(at.in("meter"), feature["meter"])
      decimalOf(at.in("included"), feature["included"])
      checkChoice(at.in("limit"), feature["limit"], FEATURE_LIMITS.limits)
      return checkRollover(at.in("rollover"), feature["rollover"])
    }
    default:
      return at.in("type").add(oneOf(["boolean", "config", "metered"]))
  }
}

const checkFeatures = (at: Problems, value: unknown): void => {
  if (value === undefined) return
  if (!isFields(value) || Object.keys(value).length > PLAN_LIMITS.features) {
    at.add(`must be an object of at most ${PLAN_LIMITS.features} features`)
    return
  }
  for (const [key, feature] of Object.entries(value)) {
    checkKey(at.in(key), key)
    checkFeature(at.in(key), feature)
  }
}

const checkGrants = (at: Problems, value: unknown, currencies: Currencies): void => {
  if (value === undefined) return
  if (!Array.isArray(value) || value.length > PLAN_LIMITS.grants) {
    at.add(`must be a list of at most ${PLAN_LIMITS.grants} grants`)
    return
  }
  const units = new Set<unknown>()
  for (const [index, grant] of (value as ReadonlyArray<unknown>).entries()) {
    const here = at.in(index)
    if (!isFields(grant)) {
      here.add(`must be an object, such as {"unit": "credits", "amount": "1000"}`)
      continue
    }
    checkKnown(here, grant, ["unit", "amount", "rollover"])
    const unit = grant["unit"]
    if (typeof unit === "string" && Currency.isCurrency(unit)) {
      if (currencies.areAll && !currencies.required.includes(unit))
        here.in("unit").add("is not a currency of the plan")
    } else checkKey(here.in("unit"), unit)
    if (units.has(unit)) here.in("unit").add(`is used twice: ${JSON.stringify(unit)}`)
    units.add(unit)
    positiveOf(here.in("amount"), grant["amount"])
    checkRollover(here.in("rollover"), grant["rollover"])
  }
}

export const POLICY_CHOICES = {
  proration: ["day", "time", "none"],
  usage_on_change: ["continue", "restart"],
} as const

const checkPolicy = (at: Problems, value: unknown): void => {
  if (value === undefined) return
  if (!isFields(value)) {
    at.add(`must be an object, such as {"proration": "day"}`)
    return
  }
  checkKnown(at, value, [...Object.keys(POLICY_CHOICES), "grace_hours", "past_due_grace_days"])
  for (const [field, choices] of Object.entries(POLICY_CHOICES)) {
    if (value[field] !== undefined) checkChoice(at.in(field), value[field], choices)
  }
  if (value["grace_hours"] !== undefined)
    integerIn(at.in("grace_hours"), value["grace_hours"], 0, PLAN_LIMITS.graceHours)
  if (value["past_due_grace_days"] !== undefined)
    integerIn(at.in("past_due_grace_days"), value["past_due_grace_days"], 0, PLAN_LIMITS.pastDueGraceDays)
}

const checkTrial = (at: Problems, value: unknown): void => {
  if (value === undefined) return
  if (!isFields(value)) {
    at.add(`must be an object, such as {"days": 14}`)
    return
  }
  checkKnown(at, value, ["days"])
  integerIn(at.in("days"), value["days"], 1, PLAN_LIMITS.trialDays)
}

const FIELDS = [
  "key",
  "name",
  "description",
  "currencies",
  "interval",
  "trial",
  "charges",
  "features",
  "grants",
  "minimum",
  "policy",
]

/** Whether no usage costs money, so that a minimum of usage makes no sense. */
const hasNoUsage = (charges: unknown): boolean =>
  Array.isArray(charges) &&
  charges.every(
    (charge) => isFields(charge) && (charge["meter"] === undefined || charge["burns"] !== undefined),
  )

const checkMinimum = (at: Problems, plan: Fields, currencies: Currencies): void => {
  if (plan["minimum"] === undefined) return
  checkPrices(at, plan["minimum"], currencies)
  if (hasNoUsage(plan["charges"]))
    at.add("needs a charge with a meter whose usage costs money: it is the minimum of all of them together")
}

/**
 * All problems of a plan, each with its path in the plan:
 * `charges.calls.tiers[2].up_to must be greater than 1000`. Empty when there are none.
 */
export const problemsOfPlan = (plan: unknown): ReadonlyArray<Problem> => {
  const at = new Problems()
  if (!isFields(plan)) {
    at.in("plan").add("must be an object")
    return at.found
  }
  checkKnown(at, plan, FIELDS)
  checkKey(at.in("key"), plan["key"])
  checkText(at.in("name"), plan["name"], PLAN_LIMITS.name)
  if (plan["description"] !== undefined) {
    checkText(at.in("description"), plan["description"], PLAN_LIMITS.description)
  }
  const currencies = checkCurrencies(at.in("currencies"), plan["currencies"])
  checkInterval(at.in("interval"), plan["interval"])
  checkTrial(at.in("trial"), plan["trial"])
  checkCharges(at.in("charges"), plan["charges"], currencies)
  checkFeatures(at.in("features"), plan["features"])
  checkGrants(at.in("grants"), plan["grants"], currencies)
  checkMinimum(at.in("minimum"), plan, currencies)
  checkPolicy(at.in("policy"), plan["policy"])
  return at.found
}

/** Whether a value is a valid plan. */
export const isPlan = (plan: unknown): plan is PlanDefinition => problemsOfPlan(plan).length === 0
