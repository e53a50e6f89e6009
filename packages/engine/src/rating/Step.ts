/**
 * The explanation of a rated amount: the computation itself, step by step. Folding the steps gives the amount.
 *
 * Numbers are exact texts: decimals, or fractions in lowest terms where digits have no end (`"10/3"`). Money is in the
 * currency's unit (`"12.5"`), quantities are in the unit of the meter, or of `convert` once that is applied.
 */
import * as Exact from "../money/Exact.ts"

/** The range of a tier: more than `from` (at least 0 for the first) up to and with `up_to`, `null` for the last. */
interface TierRange {
  readonly from: string
  readonly up_to: string | null
}

/** The quantity that is rated, as the meter or the subscription gives it. */
export interface AggregateStep {
  readonly type: "aggregate"
  readonly quantity: string
}

/** The quantity is divided, then rounded to an integer or kept. */
export interface ConvertStep {
  readonly type: "convert"
  readonly divide_by: string
  readonly round: "up" | "down" | "half_up" | "none"
  readonly quantity: string
}

/** `free` of the units that are not priced were used; `quantity` is left to be priced. */
export interface FreeStep {
  readonly type: "free"
  readonly free: string
  readonly quantity: string
}

/** A fee: `amount` is `price`. */
export interface FlatStep {
  readonly type: "flat"
  readonly amount: string
}

/** `quantity × price`. */
export interface UnitStep {
  readonly type: "unit"
  readonly quantity: string
  readonly price: string
  readonly amount: string
}

/** `packages × price`, where `packages` is `quantity / size` rounded up. */
export interface PackageStep {
  readonly type: "package"
  readonly quantity: string
  readonly size: string
  readonly packages: string
  readonly price: string
  readonly amount: string
}

/** The slice of a tier: `quantity × price + flat`. */
export interface TierStep extends TierRange {
  readonly type: "tier"
  readonly quantity: string
  readonly price: string
  readonly flat: string
  readonly amount: string
}

/** The slice of a tier in packages: `packages × price + flat`. */
export interface PackageTierStep extends TierRange {
  readonly type: "package_tier"
  readonly quantity: string
  readonly size: string
  readonly packages: string
  readonly price: string
  readonly flat: string
  readonly amount: string
}

/** `money × rate / 100 + records × flat`, where `money` is the quantity in the currency's unit. */
export interface PercentStep {
  readonly type: "percent"
  readonly money: string
  readonly rate: string
  readonly records: string
  readonly flat: string
  readonly amount: string
}

/** The slice of a tier of money: `money × rate / 100 + flat`. The range is in minor units, `money` in the currency's unit. */
export interface PercentTierStep extends TierRange {
  readonly type: "percent_tier"
  readonly money: string
  readonly rate: string
  readonly flat: string
  readonly amount: string
}

/** Records whose price was below the least or above the most of a record: `records × price`. */
export interface RecordBoundStep {
  readonly type: "record_minimum" | "record_maximum"
  readonly records: string
  readonly price: string
  readonly amount: string
}

/** The amount so far × `numerator / denominator`: the part of the period that was served. */
export interface ShareStep {
  readonly type: "share"
  readonly numerator: string
  readonly denominator: string
  readonly amount: string
}

/** The amount so far, less `percent` of it. */
export interface DiscountStep {
  readonly type: "discount"
  readonly percent: string
  readonly amount: string
}

/**
 * The amount so far was more than the most that the charge costs, or less than the least. `amount` takes its place:
 * the served share of `per_period`.
 */
export interface BoundStep {
  readonly type: "maximum" | "minimum"
  readonly per_period: string
  readonly amount: string
}

/** The amount so far, rounded to the minor unit, halves away from zero: the only rounding. */
export interface RoundStep {
  readonly type: "round"
  readonly digits: number
  readonly amount: string
}

/** What earlier documents billed of the same period is taken off. */
export interface AlreadyBilledStep {
  readonly type: "already_billed"
  readonly invoice: string | null
  readonly line: string | null
  readonly billed: string
  /** What is left. */
  readonly amount: string
}

export type Step =
  | AggregateStep
  | ConvertStep
  | FreeStep
  | FlatStep
  | UnitStep
  | PackageStep
  | TierStep
  | PackageTierStep
  | PercentStep
  | PercentTierStep
  | RecordBoundStep
  | ShareStep
  | DiscountStep
  | BoundStep
  | RoundStep
  | AlreadyBilledStep

/** The steps do not add up: what a step says is not what follows from the steps before it. */
export class ExplanationError extends Error {
  override readonly name = "ExplanationError"
}

const hundred = Exact.ofInteger(100n)

/** What a step makes of the amount so far. */
const follow = (step: Step, amount: Exact.Exact): Exact.Exact => {
  const times = (a: string, b: string) => Exact.multiply(Exact.ofText(a), Exact.ofText(b))
  const percentOf = (money: Exact.Exact, percent: string) =>
    Exact.quotient(Exact.multiply(money, Exact.ofText(percent)), hundred)
  switch (step.type) {
    case "aggregate":
    case "convert":
    case "free":
      return amount
    case "flat":
      return Exact.add(amount, Exact.ofText(step.amount))
    case "unit":
      return Exact.add(amount, times(step.quantity, step.price))
    case "package":
      return Exact.add(amount, times(step.packages, step.price))
    case "tier":
      return Exact.add(amount, Exact.add(times(step.quantity, step.price), Exact.ofText(step.flat)))
    case "package_tier":
      return Exact.add(amount, Exact.add(times(step.packages, step.price), Exact.ofText(step.flat)))
    case "percent":
      return Exact.add(
        amount,
        Exact.add(percentOf(Exact.ofText(step.money), step.rate), times(step.records, step.flat)),
      )
    case "percent_tier":
      return Exact.add(
        amount,
        Exact.add(percentOf(Exact.ofText(step.money), step.rate), Exact.ofText(step.flat)),
      )
    case "record_minimum":
    case "record_maximum":
      return Exact.add(amount, times(step.records, step.price))
    case "share":
      return Exact.multiply(amount, Exact.ofFraction(BigInt(step.numerator), BigInt(step.denominator)))
    case "discount":
      return Exact.subtract(amount, percentOf(amount, step.percent))
    case "maximum":
      return Exact.minimum(amount, Exact.ofText(step.amount))
    case "minimum":
      return Exact.maximum(amount, Exact.ofText(step.amount))
    case "round":
      return Exact.ofUnits(Exact.roundTo(amount, step.digits), step.digits)
    case "already_billed":
      return Exact.subtract(amount, Exact.ofText(step.billed))
  }
}

/** Whether `stated` is what the step makes of the amount: of steps that add to it, what they add. */
const statedAmount = (step: Step, before: Exact.Exact, after: Exact.Exact): Exact.Exact => {
  switch (step.type) {
    case "share":
    case "discount":
    case "maximum":
    case "minimum":
    case "round":
    case "already_billed":
      return after
    default:
      return Exact.subtract(after, before)
  }
}

/**
 * The amount that the steps come to, as an integer of units of 10^−digits of the currency: {@link Step} by step, from
 * the numbers that each states. Throws an {@link ExplanationError} at a step whose stated amount does not follow from
 * those before it, and when the amount is not an integer of the minor unit.
 */
export const fold = (steps: ReadonlyArray<Step>, digits: number): bigint => {
  let amount = Exact.zero
  for (const [index, step] of steps.entries()) {
    const next = follow(step, amount)
    if (
      "amount" in step &&
      Exact.compare(Exact.ofText(step.amount), statedAmount(step, amount, next)) !== 0
    ) {
      throw new ExplanationError(
        `Step ${index + 1} (${step.type}) states ${step.amount}, but ${Exact.text(statedAmount(step, amount, next))} follows.`,
      )
    }
    amount = next
  }
  const units = Exact.roundTo(amount, digits)
  if (Exact.compare(Exact.ofUnits(units, digits), amount) !== 0) {
    throw new ExplanationError(
      `The steps end with ${Exact.text(amount)}, which is not rounded to ${digits} digits.`,
    )
  }
  return units
}
