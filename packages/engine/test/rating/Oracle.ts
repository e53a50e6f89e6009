/**
 * What a charge costs, worked out another way: unit by unit ranges on fractions in lowest terms, without steps. For
 * tests to compare with.
 */
import type { Charge } from "../../src/rating/index.ts"
import { Rational } from "../Rational.ts"

const zero = Rational.of(0)
const hundred = Rational.of(100)

/** Digits of the minor unit of the currency that tests rate in. */
export const DIGITS = 2
export const CURRENCY = "EUR"

const price = (prices: Readonly<Record<string, string>> | undefined): Rational =>
  Rational.of(prices?.[CURRENCY] ?? 0)

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

const money = (minorUnits: Rational): Rational => minorUnits.over(Rational.of(10 ** DIGITS))
const percentOf = (minorUnits: Rational, rate: string | undefined): Rational =>
  money(minorUnits)
    .times(Rational.of(rate ?? 0))
    .over(hundred)

interface AnyTier {
  readonly up_to?: string
  readonly price?: Readonly<Record<string, string>>
  readonly flat?: Readonly<Record<string, string>>
  readonly size?: string
  readonly rate?: string
}

const slicePrice = (model: Charge["model"], tier: AnyTier, slice: Rational): Rational => {
  if (model === "graduated_percentage") return percentOf(slice, tier.rate)
  const units = tier.size === undefined ? slice : Rational.of(slice.over(Rational.of(tier.size)).ceiling())
  return units.times(price(tier.price))
}

const tiered = (model: Charge["model"], tiers: ReadonlyArray<AnyTier>, quantity: Rational): Rational => {
  const bounds = tiers.map(({ up_to }) => (up_to === undefined ? undefined : Rational.of(up_to)))
  if (model === "volume") {
    const tier = tiers[bounds.findIndex((bound) => bound === undefined || !bound.isLessThan(quantity))]!
    return quantity.times(price(tier.price)).plus(price(tier.flat))
  }
  return tiers.reduce((total, tier, index) => {
    const from = bounds[index - 1] ?? zero
    const isEntered = index === 0 || from.isLessThan(quantity)
    if (!isEntered) return total
    const slice = overlap(quantity, from, bounds[index])
    return total.plus(slicePrice(model, tier, slice)).plus(price(tier.flat))
  }, zero)
}

const recordPrice = (charge: Extract<Charge, { model: "percentage" }>, record: Rational): Rational => {
  let amount = percentOf(record, charge.rate).plus(price(charge.flat))
  if (charge.minimum_per_record !== undefined) amount = amount.max(price(charge.minimum_per_record))
  if (charge.maximum_per_record !== undefined) amount = amount.min(price(charge.maximum_per_record))
  return amount
}

const ofRecords = (
  charge: Extract<Charge, { model: "percentage" }>,
  records: ReadonlyArray<Rational>,
): Rational => {
  let free = Rational.of(charge.free ?? 0)
  let total = zero
  for (const record of records) {
    const quantity = converted(charge, record)
    const used = quantity.min(free)
    free = free.minus(used)
    const rest = quantity.minus(used)
    if (rest.equals(zero) && !used.equals(zero)) continue
    total = total.plus(recordPrice(charge, rest))
  }
  return total
}

const ofTotal = (charge: Charge, quantity: Rational): Rational => {
  const priced = converted(charge, quantity)
    .minus(Rational.of(charge.free ?? 0))
    .max(zero)
  switch (charge.model) {
    case "flat":
      return price(charge.price)
    case "unit":
      return priced.times(price(charge.price))
    case "package":
      return Rational.of(priced.over(Rational.of(charge.size)).ceiling()).times(price(charge.price))
    case "percentage":
      return percentOf(priced, charge.rate)
    default:
      return tiered(charge.model, charge.tiers, priced)
  }
}

/** The amount in the minor unit, before what was billed earlier. */
export const cost = (
  charge: Charge,
  quantity: Rational,
  share: readonly [bigint, bigint],
  discounts: ReadonlyArray<string>,
  records?: ReadonlyArray<Rational>,
): bigint => {
  const part = new Rational(...share)
  let amount =
    charge.model === "percentage" && records !== undefined
      ? ofRecords(charge, records)
      : ofTotal(charge, quantity)
  if (charge.model === "flat" || charge.timing === "advance" || charge.quantity !== undefined) {
    amount = amount.times(part)
  }
  for (const percent of discounts) amount = amount.times(hundred.minus(Rational.of(percent))).over(hundred)
  if (charge.maximum !== undefined) amount = amount.min(price(charge.maximum).times(part))
  if (charge.minimum !== undefined) amount = amount.max(price(charge.minimum).times(part))
  return amount.times(Rational.of(10 ** DIGITS)).nearest()
}
