/**
 * Rating: computes what a quantity costs under a charge, exactly, with every step of the computation.
 *
 * The order is fixed: aggregate → convert → free → model (× share) → percent discounts → maximum → minimum → round →
 * subtract what was billed before. Money is rounded once, to the minor unit, halves away from zero.
 */
import { type Charge, isProrated, pricesEachRecord } from "../catalog/Charge.ts"
import { checkPricing } from "../catalog/ChargeRules.ts"
import { Problems } from "../catalog/Problem.ts"
import * as Currency from "../money/Currency.ts"
import * as Exact from "../money/Exact.ts"
import { type Figure, figure, type Model, type Money, modelOf, priceIn, type Steps } from "./Models.ts"
import { exactOf, type Quantity } from "./Quantity.ts"
import { type Conversion, conversionOf, convert, convertStep, freeStep } from "./RatedQuantity.ts"
import { RatingError } from "./RatingError.ts"
import { type RecordModel, recordModelOf } from "./RecordModel.ts"
import type { Step } from "./Step.ts"
import { MAX_UNIT_DECIMALS } from "./Units.ts"

/** An amount that an earlier document billed for the same period. `amount` is an integer of the minor unit. */
export interface Billed {
  readonly invoice: string
  readonly line: string
  readonly amount: number | bigint
}

/** The input of a rating besides the charge and the quantity. */
export interface RateContext {
  /** The ISO 4217 code of the currency. The charge must have prices in it. */
  readonly currency: string
  /**
   * The part of the period that was served, as `[numerator, denominator]`: `[10, 31]` for 10 of 31 days. Default: the
   * whole period. It scales flat fees, charges of a subscription's quantities, and the minimum and maximum of charges.
   */
  readonly share?: readonly [numerator: number | bigint, denominator: number | bigint]
  /** Percent discounts, such as `["10"]`. Each applies to the amount after the ones before it. At most 20. */
  readonly discounts?: ReadonlyArray<string>
  /** What was billed before for the same period: a sum in the minor unit, or the amount of each document. */
  readonly billedBefore?: number | bigint | ReadonlyArray<Billed>
  /**
   * The quantity of each record, for models that price each record (`percentage` with `flat`, or with a minimum or
   * maximum per record). They must sum to the quantity. Without them, the quantity counts as one record.
   */
  readonly records?: Iterable<Quantity>
}

/** A rated amount. */
export interface Rated {
  /** An integer of the minor unit: 4200n is 42.00 EUR, or 4200 JPY. Negative when more was billed before. */
  readonly amount: bigint
  /**
   * The amount before rounding, and before what was billed earlier is subtracted, as a decimal in the currency's unit.
   * Infinitely many digits are cut after 15 and followed by `…`.
   */
  readonly exact: string
  /** The steps of the computation. `fold` computes `amount` from them. */
  readonly steps: ReadonlyArray<Step>
}

/** Most percent discounts of one rating. */
const MAX_DISCOUNTS = 20

/** The form of a percentage. A second check limits it to 100. */
const PERCENT_PATTERN = /^\d{1,3}(?:\.\d{1,12})?$/
const hundred = Exact.ofInteger(100n)

const refuse = (path: string, problem: string): never => {
  throw new RatingError([{ path, problem }])
}

interface Share {
  readonly numerator: bigint
  readonly denominator: bigint
  readonly value: Exact.Exact
}

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.iterator in value

const integerOf = (path: string, value: number | bigint): bigint =>
  typeof value === "bigint" || Number.isSafeInteger(value)
    ? BigInt(value)
    : refuse(path, "must be an integer")

const shareOf = (share: RateContext["share"]): Share | undefined => {
  if (share === undefined) return undefined
  if (!Array.isArray(share) || share.length !== 2) return refuse("share", "must be [numerator, denominator]")
  const numerator = integerOf("share[0]", share[0])
  const denominator = integerOf("share[1]", share[1])
  if (denominator <= 0n) refuse("share[1]", "must be greater than 0")
  if (numerator < 0n || numerator > denominator)
    refuse("share[0]", `must be from 0 to share[1], ${denominator}`)
  return numerator === denominator
    ? undefined
    : { numerator, denominator, value: Exact.ofFraction(numerator, denominator) }
}

const shareStep = ({ denominator, numerator }: Share, amount: Exact.Exact): Step => ({
  type: "share",
  numerator: numerator.toString(),
  denominator: denominator.toString(),
  amount: Exact.text(amount),
})

/** The context of a rating in the currency of a {@link Rater}. */
export type RaterContext = Omit<RateContext, "currency">

const NO_CONTEXT: RaterContext = {}

/** A charge in one currency that is prepared to rate many quantities. */
export interface Rater {
  /** Computes what a quantity costs. The context is that of {@link rate}, without the currency. */
  readonly rate: (quantity: Quantity, context?: RaterContext) => Rated
  /**
   * The `amount` of {@link Rater.rate} alone. It is several times as fast, because nothing is explained: for charts, and
   * to compare many amounts.
   */
  readonly amount: (quantity: Quantity, context?: RaterContext) => bigint
}

class PreparedCharge implements Rater {
  readonly #money: Money
  readonly #model: Model
  readonly #recordModel: RecordModel | undefined
  readonly #conversion: Conversion | undefined
  readonly #free: Exact.Exact | undefined
  readonly #isProrated: boolean
  readonly #hasQuantity: boolean
  readonly #minimum: Figure | undefined
  readonly #maximum: Figure | undefined
  /** Whether the model alone makes the amount, so that nothing else has to be asked for each quantity. */
  readonly #isPlain: boolean

  constructor(charge: Charge, money: Money) {
    this.#money = money
    this.#model = modelOf(charge, money)
    this.#recordModel = pricesEachRecord(charge) ? recordModelOf(charge, money) : undefined
    this.#conversion = conversionOf(charge)
    this.#free = charge.free === undefined ? undefined : figure(charge.free).value
    this.#isProrated = isProrated(charge)
    this.#hasQuantity = charge.model !== "flat"
    this.#minimum = charge.minimum === undefined ? undefined : priceIn(charge.minimum, money)
    this.#maximum = charge.maximum === undefined ? undefined : priceIn(charge.maximum, money)
    const others = [this.#recordModel, this.#conversion, this.#free, this.#minimum, this.#maximum]
    this.#isPlain = others.every((other) => other === undefined)
  }

  rate(quantity: Quantity, context: RaterContext = NO_CONTEXT): Rated {
    const steps: Array<Step> = []
    const exact = this.#exact(quantity, context, steps)
    const { digits } = this.#money
    let amount = Exact.roundTo(exact, digits)
    const textOf = (units: bigint) => Exact.text(Exact.ofUnits(units, digits))
    steps.push({ type: "round", digits, amount: textOf(amount) })
    if (context.billedBefore !== undefined) {
      for (const { amount: billed, invoice, line } of billedOf(context.billedBefore)) {
        amount -= billed
        steps.push({ type: "already_billed", invoice, line, billed: textOf(billed), amount: textOf(amount) })
      }
    }
    return { amount, exact: Exact.shown(exact), steps }
  }

  amount(quantity: Quantity, context: RaterContext = NO_CONTEXT): bigint {
    if (this.#isPlain && context === NO_CONTEXT) {
      return Exact.roundTo(this.#model(exactOf("quantity", quantity), undefined), this.#money.digits)
    }
    const amount = Exact.roundTo(this.#exact(quantity, context, undefined), this.#money.digits)
    return context.billedBefore === undefined
      ? amount
      : billedOf(context.billedBefore).reduce((left, { amount: billed }) => left - billed, amount)
  }

  /** The amount before rounding. */
  #exact(quantity: Quantity, context: RaterContext, steps: Steps): Exact.Exact {
    const given = exactOf("quantity", quantity)
    const share = shareOf(context.share)
    let amount =
      this.#recordModel === undefined
        ? this.#priceTotal(given, steps)
        : this.#priceRecords(this.#recordModel, given, context.records, steps)
    if (share !== undefined && this.#isProrated) {
      amount = Exact.multiply(amount, share.value)
      steps?.push(shareStep(share, amount))
    }
    if (context.discounts !== undefined) amount = discounted(context.discounts, amount, steps)
    amount = this.#bounded("maximum", this.#maximum, share, amount, steps)
    return this.#bounded("minimum", this.#minimum, share, amount, steps)
  }

  #priceTotal(given: Exact.Exact, steps: Steps): Exact.Exact {
    if (!this.#hasQuantity) return this.#model(given, steps)
    steps?.push({ type: "aggregate", quantity: Exact.text(given) })
    let quantity = given
    if (this.#conversion !== undefined) {
      quantity = convert(this.#conversion, quantity)
      steps?.push(convertStep(this.#conversion, quantity))
    }
    if (this.#free !== undefined) {
      const used = Exact.minimum(quantity, this.#free)
      quantity = Exact.subtract(quantity, used)
      steps?.push(freeStep(used, quantity))
    }
    return this.#model(quantity, steps)
  }

  #priceRecords(
    model: RecordModel,
    given: Exact.Exact,
    records: Iterable<Quantity> | undefined,
    steps: Steps,
  ): Exact.Exact {
    if (records === undefined) return model(Exact.isZero(given) ? [] : [given], steps)
    if (!isIterable(records)) return refuse("records", "must be a list of quantities")
    let sum = Exact.zero
    const taken = function* () {
      let index = 0
      for (const record of records) {
        const exact = exactOf(`records[${index++}]`, record)
        sum = Exact.add(sum, exact)
        yield exact
      }
    }
    const amount = model(taken(), steps)
    if (Exact.compare(sum, given) !== 0) {
      refuse("records", `must sum to the quantity, ${Exact.text(given)}: they sum to ${Exact.text(sum)}`)
    }
    return amount
  }

  #bounded(
    type: "maximum" | "minimum",
    bound: Figure | undefined,
    share: Share | undefined,
    amount: Exact.Exact,
    steps: Steps,
  ): Exact.Exact {
    if (bound === undefined) return amount
    const scaled = share === undefined ? bound.value : Exact.multiply(bound.value, share.value)
    const isWithin =
      type === "maximum" ? Exact.compare(amount, scaled) <= 0 : Exact.compare(amount, scaled) >= 0
    if (isWithin) return amount
    steps?.push({ type, per_period: bound.text, amount: Exact.text(scaled) })
    return scaled
  }
}

interface BilledPart {
  readonly invoice: string | null
  readonly line: string | null
  readonly amount: bigint
}

const billedOf = (before: NonNullable<RateContext["billedBefore"]>): ReadonlyArray<BilledPart> => {
  if (!Array.isArray(before)) {
    return [{ invoice: null, line: null, amount: integerOf("billedBefore", before as number | bigint) }]
  }
  return (before as ReadonlyArray<Billed>).map((billed, index) => {
    const path = `billedBefore[${index}]`
    if (typeof billed?.invoice !== "string" || typeof billed.line !== "string") {
      return refuse(path, "must have an invoice, a line and an amount")
    }
    return { invoice: billed.invoice, line: billed.line, amount: integerOf(`${path}.amount`, billed.amount) }
  })
}

const discounted = (discounts: ReadonlyArray<string>, amount: Exact.Exact, steps: Steps): Exact.Exact => {
  if (!Array.isArray(discounts) || discounts.length > MAX_DISCOUNTS)
    refuse("discounts", `must be a list of at most ${MAX_DISCOUNTS} discounts`)
  return discounts.reduce((left, percent, index) => {
    const isPercent = typeof percent === "string" && PERCENT_PATTERN.test(percent)
    const value = isPercent
      ? Exact.ofDecimal(percent)
      : refuse(`discounts[${index}]`, `must be a percentage, such as "10"`)
    if (Exact.compare(value, hundred) > 0) refuse(`discounts[${index}]`, "must be at most 100")
    const next = Exact.multiply(left, Exact.shift(Exact.subtract(hundred, value), 2))
    steps?.push({ type: "discount", percent, amount: Exact.text(next) })
    return next
  }, amount)
}

const moneyOf = ({ burns }: Pick<Charge, "burns">, currency: string): Money => {
  if (burns !== undefined)
    return refuse(
      "charge.burns",
      `must be left out: the charge has no price in money, and creditRater rates it`,
    )
  const digits = Currency.exponentOf(currency)
  return digits === undefined
    ? refuse("currency", `must be a code of ISO 4217, such as "EUR": ${JSON.stringify(currency)} is none`)
    : { currency, digits }
}

const prepared = (charge: Charge, money: Money): Rater => {
  const problems = new Problems("charge")
  checkPricing(problems, charge, { required: [money.currency], areAll: false })
  const [first, ...others] = problems.found
  if (first !== undefined) throw new RatingError([first, ...others])
  return new PreparedCharge(charge, money)
}

/**
 * Prepares a charge to rate many quantities in one currency. It reads the charge once, so later changes of the object
 * have no effect. Throws a {@link RatingError} with all problems of the charge.
 */
export const rater = (charge: Charge, currency: string): Rater => prepared(charge, moneyOf(charge, currency))

/**
 * The same for a charge that burns credits. Its amounts are integers of the smallest part of the unit, which has so many
 * decimals: 150n is 1.50 credits with 2, and 150 credits with 0. Throws a {@link RatingError}.
 */
export const creditRater = (charge: Charge, decimals = 0): Rater => {
  const { burns } = charge
  if (burns === undefined) return refuse("charge.burns", "is required: the unit of credits that usage burns")
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > MAX_UNIT_DECIMALS)
    refuse("decimals", `must be an integer from 0 to ${MAX_UNIT_DECIMALS}`)
  return prepared(charge, { currency: burns, digits: decimals })
}

/**
 * Computes what a quantity costs under a charge, with the steps of the computation. The same input always gives the same
 * result. Invoices use this function too.
 *
 * `quantity` is the usage of the whole period, or the number of seats. Flat fees ignore it. Throws a
 * {@link RatingError} with the problems of the charge, the quantity or the context.
 */
export const rate = (charge: Charge, quantity: Quantity, context: RateContext): Rated => {
  if (typeof context !== "object" || context === null)
    refuse("context", `must be an object, such as { currency: "EUR" }`)
  return rater(charge, context.currency).rate(quantity, context)
}
