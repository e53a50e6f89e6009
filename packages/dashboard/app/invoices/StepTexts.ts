/**
 * The steps of a computation, in words.
 */
import type { RatingStep } from "../api/Types.ts"
import * as Exact from "../Exact.ts"
import * as Money from "../Money.ts"

/** A step: what is done, and the amount that comes of it, if it is money. */
export interface StepText {
  readonly text: string
  /** What the step adds, or what it comes to so far. */
  readonly amount: string | undefined
  /** Whether it is what it comes to so far. */
  readonly isSoFar: boolean
}

type Step<T extends RatingStep["type"]> = Extract<RatingStep, { readonly type: T }>
type Texts = { readonly [T in RatingStep["type"]]: (step: Step<T>, currency: string) => string }

const ROUNDINGS: Readonly<Record<Step<"convert">["round"], string>> = {
  up: ", rounded up",
  down: ", rounded down",
  half_up: ", rounded",
  none: "",
}

/** `Above 1,000, up to 2,000`. The first tier includes 0. */
const rangeOf = (
  { from, up_to: upTo }: { readonly from: string; readonly up_to: string | null },
  write: (end: string) => string = Exact.format,
): string => {
  if (from === "0" && upTo === null) return "All"
  if (upTo === null) return `Above ${write(from)}`
  return from === "0" ? `Up to ${write(upTo)}` : `Above ${write(from)}, up to ${write(upTo)}`
}

const isNothing = (amount: string): boolean => /^0(?:\.0*)?$/.test(amount)
const plusFlat = (flat: string, currency: string): string =>
  isNothing(flat) ? "" : ` + ${Money.formatExact(flat, currency)}`

type Packages = Pick<Step<"package">, "packages" | "price" | "quantity" | "size">

const packageText = (step: Packages, currency: string) =>
  `${Exact.format(step.quantity)} in packages of ${Exact.format(step.size)}: ${Exact.format(step.packages)} × ${Money.formatExact(step.price, currency)}`

/** An end of a tier of money, which is in the minor unit. */
const endOf = (minor: string, currency: string): string =>
  /^\d+$/.test(minor) ? Money.format(BigInt(minor), currency) : `${minor} of the minor unit`

const TEXTS: Texts = {
  aggregate: ({ quantity }) => `Quantity: ${Exact.format(quantity)}`,
  convert: ({ divide_by: by, quantity, round }) =>
    `Divided by ${Exact.format(by)}${ROUNDINGS[round]}: ${Exact.format(quantity)}`,
  free: ({ free, quantity }) => `${Exact.format(free)} free: ${Exact.format(quantity)} left`,
  flat: () => "Flat fee",
  unit: ({ price, quantity }, currency) =>
    `${Exact.format(quantity)} × ${Money.formatExact(price, currency)}`,
  package: packageText,
  tier: (step, currency) =>
    `${rangeOf(step)}: ${Exact.format(step.quantity)} × ${Money.formatExact(step.price, currency)}${plusFlat(step.flat, currency)}`,
  package_tier: (step, currency) =>
    `${rangeOf(step)}: ${packageText(step, currency)}${plusFlat(step.flat, currency)}`,
  percent: ({ flat, money, rate, records }, currency) =>
    `${rate} % of ${Money.formatExact(money, currency)}${isNothing(flat) ? "" : ` + ${Exact.format(records)} × ${Money.formatExact(flat, currency)}`}`,
  percent_tier: (step, currency) =>
    `${rangeOf(step, (end) => endOf(end, currency))}: ${step.rate} % of ${Money.formatExact(step.money, currency)}${plusFlat(step.flat, currency)}`,
  record_minimum: ({ price, records }, currency) =>
    `Records below the minimum: ${Exact.format(records)} × ${Money.formatExact(price, currency)}`,
  record_maximum: ({ price, records }, currency) =>
    `Records above the maximum: ${Exact.format(records)} × ${Money.formatExact(price, currency)}`,
  share: ({ denominator, numerator }) =>
    `Share of the period: ${Exact.format(numerator)} / ${Exact.format(denominator)}`,
  discount: ({ percent }) => `Discount of ${percent} %`,
  maximum: ({ per_period: limit }, currency) => `At most ${Money.formatExact(limit, currency)} a period`,
  minimum: ({ per_period: limit }, currency) => `At least ${Money.formatExact(limit, currency)} a period`,
  round: ({ digits }) => `Rounded to ${digits} ${digits === 1 ? "digit" : "digits"}`,
  already_billed: ({ billed, invoice }, currency) =>
    `Less ${Money.formatExact(billed, currency)}, ${invoice === null ? "which is not part of this line" : "which is billed already"}`,
  burn: ({ credits, unit }) => `Taken from the credits: ${Exact.format(credits)} ${unit}`,
}

/** Steps that change the amount so far. The others add to it. */
const SO_FAR: ReadonlySet<RatingStep["type"]> = new Set([
  "share",
  "discount",
  "maximum",
  "minimum",
  "round",
  "already_billed",
  "burn",
])

/** In what the amounts of steps are: in the currency, or in the unit of the credits that they burn at the end. */
const unitOf = (steps: ReadonlyArray<RatingStep>, currency: string): string => {
  const burn = steps.find(({ type }) => type === "burn")
  return burn?.type === "burn" ? burn.unit : currency
}

/** The steps of a computation. */
export const textsOf = (steps: ReadonlyArray<RatingStep>, currency: string): ReadonlyArray<StepText> => {
  const unit = unitOf(steps, currency)
  return steps.map((step) => textOf(step, step.type === "burn" ? currency : unit))
}

export const textOf = (step: RatingStep, currency: string): StepText => ({
  text: (TEXTS[step.type] as (step: RatingStep, currency: string) => string)(step, currency),
  amount: "amount" in step ? Money.formatExact(step.amount, currency) : undefined,
  isSoFar: SO_FAR.has(step.type),
})
