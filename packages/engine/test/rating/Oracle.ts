/**
 * What a charge costs, worked out another way: unit by unit ranges on fractions in lowest terms, without steps. For
 * tests to compare with.
 */
import type { Charge } from "../../src/rating/index.ts"
import { Rational } from "../Rational.ts"

const zero = Rational.of(0)
const hundred = Rational.of(100)

/** A currency, and the digits of its minor unit. */
export interface Money {
  readonly currency: string
  readonly digits: number
}

/** The currency that tests rate in, where it does not matter which. */
export const CURRENCY = "EUR"
export const DIGITS = 2
const EURO: Money = { currency: CURRENCY, digits: DIGITS }

const price = (prices: Readonly<Record<string, string>> | undefined, { currency }: Money): Rational =>
  Rational.of(prices?.[currency] ?? 0)

/** How much of `quantity` lies between two bounds. */
const overlap = (quantity: Rational, from: Rational, to: Rational | undefined): Rational => {
  const end = to === undefined ? quantity : quantity.min(to)
  return end.minus(from).max(zero)
}

const converted = (charge: Charge, quantity: Rational): Rational => {
  if (charge.convert === undefined) return quantity
  const exact = quantity.over(Rational.of(charge.convert.divide_by))
  switch (charge.convert.round) {
    case "up":
      return Rational.of(exact.ceiling())
    case "down":
      return Rational.of(exact.floor())
    case "half_up":
      return Rational.of(exact.nearest())
    default:
      return exact
  }
}

const minorUnits = ({ digits }: Money): Rational => Rational.of(10 ** digits)
const percentOf = (units: Rational, rate: string | undefined, money: Money): Rational =>
  units
    .over(minorUnits(money))
    .times(Rational.of(rate ?? 0))
    .over(hundred)

interface AnyTier {
  readonly up_to?: string
  readonly price?: Readonly<Record<string, string>>
  readonly flat?: Readonly<Record<string, string>>
  readonly size?: string
  readonly rate?: string
}

const slicePrice = (model: Charge["model"], tier: AnyTier, slice: Rational, money: Money): Rational => {
  if (model === "graduated_percentage") return percentOf(slice, tier.rate, money)
  const units = tier.size === undefined ? slice : Rational.of(slice.over(Rational.of(tier.size)).ceiling())
  return units.times(price(tier.price, money))
}

const tiered = (
  model: Charge["model"],
  tiers: ReadonlyArray<AnyTier>,
  quantity: Rational,
  money: Money,
): Rational => {
  const bounds = tiers.map(({ up_to }) => (up_to === undefined ? undefined : Rational.of(up_to)))
  if (model === "volume") {
    const tier = tiers[bounds.findIndex((bound) => bound === undefined || !bound.isLessThan(quantity))]!
    return quantity.times(price(tier.price, money)).plus(price(tier.flat, money))
  }
  return tiers.reduce((total, tier, index) => {
    const from = bounds[index - 1] ?? zero
    const isEntered = index === 0 || from.isLessThan(quantity)
    if (!isEntered) return total
    const slice = overlap(quantity, from, bounds[index])
    return total.plus(slicePrice(model, tier, slice, money)).plus(price(tier.flat, money))
  }, zero)
}

type Percentage = Extract<Charge, { model: "percentage" }>

const recordPrice = (charge: Percentage, record: Rational, money: Money): Rational => {
  let amount = percentOf(record, charge.rate, money).plus(price(charge.flat, money))
  if (charge.minimum_per_record !== undefined) amount = amount.max(price(charge.minimum_per_record, money))
  if (charge.maximum_per_record !== undefined) amount = amount.min(price(charge.maximum_per_record, money))
  return amount
}

const ofRecords = (charge: Percentage, records: ReadonlyArray<Rational>, money: Money): Rational => {
  let free = Rational.of(charge.free ?? 0)
  let total = zero
  for (const record of records) {
    const quantity = converted(charge, record)
    const used = quantity.min(free)
    free = free.minus(used)
    const rest = quantity.minus(used)
    if (rest.equals(zero) && !used.equals(zero)) continue
    total = total.plus(recordPrice(charge, rest, money))
  }
  return total
}

const ofTotal = (charge: Charge, quantity: Rational, money: Money): Rational => {
  const priced = converted(charge, quantity)
    .minus(Rational.of(charge.free ?? 0))
    .max(zero)
  switch (charge.model) {
    case "flat":
      return price(charge.price, money)
    case "unit":
      return priced.times(price(charge.price, money))
    case "package":
      return Rational.of(priced.over(Rational.of(charge.size)).ceiling()).times(price(charge.price, money))
    case "percentage":
      return percentOf(priced, charge.rate, money)
    default:
      return tiered(charge.model, charge.tiers, priced, money)
  }
}

/** The amount before what was billed earlier: exact in the currency's unit, and rounded to the minor unit. */
export const costs = (
  charge: Charge,
  quantity: Rational,
  share: readonly [bigint, bigint],
  discounts: ReadonlyArray<string>,
  records: ReadonlyArray<Rational> | undefined,
  money: Money,
): { readonly exact: Rational; readonly amount: bigint } => {
  const part = new Rational(...share)
  let amount =
    charge.model === "percentage" && records !== undefined
      ? ofRecords(charge, records, money)
      : ofTotal(charge, quantity, money)
  if (charge.model === "flat" || charge.timing === "advance" || charge.quantity !== undefined) {
    amount = amount.times(part)
  }
  for (const percent of discounts) amount = amount.times(hundred.minus(Rational.of(percent))).over(hundred)
  if (charge.maximum !== undefined) amount = amount.min(price(charge.maximum, money).times(part))
  if (charge.minimum !== undefined) amount = amount.max(price(charge.minimum, money).times(part))
  return { exact: amount, amount: amount.times(minorUnits(money)).nearest() }
}

/** The amount in euro cents, before what was billed earlier. */
export const cost = (
  charge: Charge,
  quantity: Rational,
  share: readonly [bigint, bigint],
  discounts: ReadonlyArray<string>,
  records?: ReadonlyArray<Rational>,
): bigint => costs(charge, quantity, share, discounts, records, EURO).amount
