/**
 * The explanation of a rated amount: the steps of its computation. `fold` computes the amount from the steps.
 *
 * Numbers are exact texts: decimals, or fractions in lowest terms (`"10/3"`) when no decimal is exact. Money is in the
 * currency's unit (`"12.5"`). Before a `burn` step, it is credits in their unit. Quantities are in the unit of the meter, and after a `convert` step in the converted unit.
 */
import * as Exact from "../money/Exact.ts"

/**
 * The range of a tier: greater than `from`, up to and including `up_to`. The first tier includes 0. The last tier has
 * `null` as `up_to`.
 */
interface TierRange {
  readonly from: string
  readonly up_to: string | null
}

/** The quantity of the meter or the subscription. */
export interface AggregateStep {
  readonly type: "aggregate"
  readonly quantity: string
}

/** The quantity is divided by `divide_by`, then rounded to an integer unless `round` is `none`. */
export interface ConvertStep {
  readonly type: "convert"
  readonly divide_by: string
  readonly round: "up" | "down" | "half_up" | "none"
  readonly quantity: string
}

/** `free` units of the quantity are free. `quantity` is left to be priced. */
export interface FreeStep {
  readonly type: "free"
  readonly free: string
  readonly quantity: string
}

/** A flat fee. */
export interface FlatStep {
  readonly type: "flat"
  readonly amount: string
}

/** The amount is `quantity × price`. */
export interface UnitStep {
  readonly type: "unit"
  readonly quantity: string
  readonly price: string
  readonly amount: string
}

/** The amount is `packages × price`. `packages` is `quantity / size`, rounded up. */
export interface PackageStep {
  readonly type: "package"
  readonly quantity: string
  readonly size: string
  readonly packages: string
  readonly price: string
  readonly amount: string
}

/** A tier's part of the quantity. The amount is `quantity × price + flat`. */
export interface TierStep extends TierRange {
  readonly type: "tier"
  readonly quantity: string
  readonly price: string
  readonly flat: string
  readonly amount: string
}

/** A tier's part of the quantity, in packages. The amount is `packages × price + flat`. */
export interface PackageTierStep extends TierRange {
  readonly type: "package_tier"
  readonly quantity: string
  readonly size: string
  readonly packages: string
  readonly price: string
  readonly flat: string
  readonly amount: string
}

/** The amount is `money × rate / 100 + records × flat`. `money` is the quantity in the currency's unit. */
export interface PercentStep {
  readonly type: "percent"
  readonly money: string
  readonly rate: string
  readonly records: string
  readonly flat: string
  readonly amount: string
}

/**
 * A tier's part of an amount of money. The amount is `money × rate / 100 + flat`. The range is in minor units, and
 * `money` is in the currency's unit.
 */
export interface PercentTierStep extends TierRange {
  readonly type: "percent_tier"
  readonly money: string
  readonly rate: string
  readonly flat: string
  readonly amount: string
}

/** Records whose price was below the minimum or above the maximum of a record. The amount is `records × price`. */
export interface RecordBoundStep {
  readonly type: "record_minimum" | "record_maximum"
  readonly records: string
  readonly price: string
  readonly amount: string
}

/** The amount so far × `numerator / denominator`, the part of the period that was served. */
export interface ShareStep {
  readonly type: "share"
  readonly numerator: string
  readonly denominator: string
  readonly amount: string
}

/** The amount so far minus `percent` of it. */
export interface DiscountStep {
  readonly type: "discount"
  readonly percent: string
  readonly amount: string
}

/**
 * The amount so far was above the maximum or below the minimum of the charge. `amount` replaces it: the part of
 * `per_period` for the served part of the period.
 */
export interface BoundStep {
  readonly type: "maximum" | "minimum"
  readonly per_period: string
  readonly amount: string
}

/** The amount so far, rounded to the minor unit, halves away from zero. Amounts are rounded only in this step. */
export interface RoundStep {
  readonly type: "round"
  readonly digits: number
  readonly amount: string
}

/** An amount that an earlier document billed for the same period is subtracted, or what is not part of the line. */
export interface AlreadyBilledStep {
  readonly type: "already_billed"
  readonly invoice: string | null
  readonly line: string | null
  readonly billed: string
  /** The amount that is left. */
  readonly amount: string
}

/** The amount so far is credits of a unit. They are burnt, and nothing of it is money: `amount` is 0. */
export interface BurnStep {
  readonly type: "burn"
  readonly unit: string
  /** The credits, in the unit. Below 0: they are given back. */
  readonly credits: string
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
  | BurnStep

/** The steps are not consistent: the amount of a step does not follow from the steps before it. */
export class ExplanationError extends Error {
  override readonly name = "ExplanationError"
}

const hundred = Exact.ofInteger(100n)

/** The amount after a step. */
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
    case "burn":
      return Exact.subtract(amount, Exact.ofText(step.credits))
  }
}

/** The `amount` that a step must state: the sum it adds, or for steps that change the whole amount, the new amount. */
const statedAmount = (step: Step, before: Exact.Exact, after: Exact.Exact): Exact.Exact => {
  switch (step.type) {
    case "share":
    case "discount":
    case "maximum":
    case "minimum":
    case "round":
    case "already_billed":
    case "burn":
      return after
    default:
      return Exact.subtract(after, before)
  }
}

/**
 * Computes the amount from the steps, as an integer of units of 10^−digits of the currency. It uses the numbers of each
 * {@link Step}. Throws an {@link ExplanationError} when the amount of a step does not follow from the steps before it,
 * or when the result is not an integer of the minor unit.
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
        `Step ${index + 1} (${step.type}) states ${step.amount}, but it must be ${Exact.text(statedAmount(step, amount, next))}.`,
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
