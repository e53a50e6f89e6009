/**
 * The price models. Each computes an amount of money from a quantity, and records the steps of the computation.
 */
import type {
  Charge,
  GraduatedPercentageCharge,
  PackageCharge,
  PackageTier,
  PercentageTier,
  Prices,
  Tier,
  UnitCharge,
} from "../catalog/Charge.ts"
import * as Exact from "../money/Exact.ts"
import type { Step } from "./Step.ts"

/** Prices a quantity: adds its steps to `steps`, and gives the exact amount in the currency's unit. */
export type Model = (quantity: Exact.Exact, steps: Array<Step>) => Exact.Exact

/** The currency of a rating, and the digits of its minor unit. */
export interface Money {
  readonly currency: string
  readonly digits: number
}

/** A decimal of a plan, as a number and as its original text. */
export interface Figure {
  readonly value: Exact.Exact
  readonly text: string
}

export const figure = (text: string): Figure => ({ value: Exact.ofDecimal(text), text })

/** The price in the currency, or 0 when it was left out. The rules of charges make sure that required prices exist. */
export const priceIn = (prices: Prices | undefined, { currency }: Money): Figure =>
  figure(prices?.[currency] ?? "0")

/** The factor of a percentage: 2.9 percent is 0.029. */
export const factorOf = (percent: Exact.Exact): Exact.Exact => ({ ...percent, scale: percent.scale + 2 })

const flat = (prices: Prices, money: Money): Model => {
  const price = priceIn(prices, money)
  const step: Step = { type: "flat", amount: price.text }
  return (_, steps) => {
    steps.push(step)
    return price.value
  }
}

const unit = (charge: UnitCharge, money: Money): Model => {
  const price = priceIn(charge.price, money)
  return (quantity, steps) => {
    const amount = Exact.multiply(quantity, price.value)
    steps.push({
      type: "unit",
      quantity: Exact.text(quantity),
      price: price.text,
      amount: Exact.text(amount),
    })
    return amount
  }
}

const packages = (charge: PackageCharge, money: Money): Model => {
  const price = priceIn(charge.price, money)
  const size = figure(charge.size)
  return (quantity, steps) => {
    const count = Exact.ofInteger(Exact.ceiling(Exact.quotient(quantity, size.value)))
    const amount = Exact.multiply(count, price.value)
    steps.push({
      type: "package",
      quantity: Exact.text(quantity),
      size: size.text,
      packages: Exact.text(count),
      price: price.text,
      amount: Exact.text(amount),
    })
    return amount
  }
}

/** The range of a tier: greater than `from`, up to and including `upTo`. */
interface Range {
  readonly from: Figure
  readonly upTo: Figure | undefined
}

const rangesOf = (tiers: ReadonlyArray<{ readonly up_to?: string }>): ReadonlyArray<Range> => {
  const ends = tiers.map(({ up_to }) => (up_to === undefined ? undefined : figure(up_to)))
  return ends.map((upTo, index) => ({ from: ends[index - 1] ?? figure("0"), upTo }))
}

const isBeyond = (quantity: Exact.Exact, end: Figure | undefined): end is Figure =>
  end !== undefined && Exact.compare(quantity, end.value) > 0

const bounds = ({ from, upTo }: Range) => ({ from: from.text, up_to: upTo?.text ?? null })

/** Prices one tier's part of a quantity: adds its step to `steps`, and gives its amount. */
type Slice = (quantity: Exact.Exact, steps: Array<Step>) => Exact.Exact

/** Each tier prices its part. The first tier always applies. Others apply when the quantity is beyond the tier before. */
const graduated = (ranges: ReadonlyArray<Range>, slices: ReadonlyArray<Slice>): Model => {
  const { length } = ranges
  return (quantity, steps) => {
    let total = Exact.zero
    for (let index = 0; index < length; index++) {
      const { from, upTo } = ranges[index]!
      const reachesOn = isBeyond(quantity, upTo)
      const end = reachesOn ? upTo.value : quantity
      const amount = slices[index]!(index === 0 ? end : Exact.subtract(end, from.value), steps)
      total = index === 0 ? amount : Exact.add(total, amount)
      if (!reachesOn) break
    }
    return total
  }
}

/** The tier that contains the quantity prices the whole quantity. */
const volume = (ranges: ReadonlyArray<Range>, slices: ReadonlyArray<Slice>): Model => {
  return (quantity, steps) => {
    const index = ranges.findIndex(({ upTo }) => !isBeyond(quantity, upTo))
    return slices[index]!(quantity, steps)
  }
}

const slice = (tier: Tier, range: Range, money: Money): Slice => {
  const price = priceIn(tier.price, money)
  const flat = priceIn(tier.flat, money)
  const { from, up_to } = bounds(range)
  return (quantity, steps) => {
    const product = Exact.multiply(quantity, price.value)
    const amount = flat.value.numerator === 0n ? product : Exact.add(product, flat.value)
    steps.push({
      type: "tier",
      from,
      up_to,
      quantity: Exact.text(quantity),
      price: price.text,
      flat: flat.text,
      amount: Exact.text(amount),
    })
    return amount
  }
}

const packageSlice = (tier: PackageTier, range: Range, money: Money): Slice => {
  const price = priceIn(tier.price, money)
  const flat = priceIn(tier.flat, money)
  const size = figure(tier.size)
  return (quantity, steps) => {
    const count = Exact.ofInteger(Exact.ceiling(Exact.quotient(quantity, size.value)))
    const amount = Exact.add(Exact.multiply(count, price.value), flat.value)
    steps.push({
      type: "package_tier",
      ...bounds(range),
      quantity: Exact.text(quantity),
      size: size.text,
      packages: Exact.text(count),
      price: price.text,
      flat: flat.text,
      amount: Exact.text(amount),
    })
    return amount
  }
}

const percentSlice = (tier: PercentageTier, range: Range, money: Money): Slice => {
  const rate = figure(tier.rate ?? "0")
  const factor = factorOf(rate.value)
  const flat = priceIn(tier.flat, money)
  return (quantity, steps) => {
    const inUnit = moneyOf(quantity, money)
    const amount = Exact.add(Exact.multiply(inUnit, factor), flat.value)
    steps.push({
      type: "percent_tier",
      ...bounds(range),
      money: Exact.text(inUnit),
      rate: rate.text,
      flat: flat.text,
      amount: Exact.text(amount),
    })
    return amount
  }
}

/** Converts a quantity of minor units to the currency's unit. */
export const moneyOf = (quantity: Exact.Exact, { digits }: Money): Exact.Exact => ({
  ...quantity,
  scale: quantity.scale + digits,
})

const percentTiers = (charge: GraduatedPercentageCharge, money: Money): Model => {
  const ranges = rangesOf(charge.tiers)
  return graduated(
    ranges,
    charge.tiers.map((tier, index) => percentSlice(tier, ranges[index]!, money)),
  )
}

const percentage = (percent: string): ((money: Money) => Model) => {
  const rate = figure(percent)
  const factor = factorOf(rate.value)
  return (money) => (quantity, steps) => {
    const inUnit = moneyOf(quantity, money)
    const amount = Exact.multiply(inUnit, factor)
    steps.push({
      type: "percent",
      money: Exact.text(inUnit),
      rate: rate.text,
      records: "0",
      flat: "0",
      amount: Exact.text(amount),
    })
    return amount
  }
}

/** Prepares the model of a charge that prices the total quantity. */
export const modelOf = (charge: Charge, money: Money): Model => {
  switch (charge.model) {
    case "flat":
      return flat(charge.price, money)
    case "unit":
      return unit(charge, money)
    case "package":
      return packages(charge, money)
    case "graduated":
    case "volume": {
      const ranges = rangesOf(charge.tiers)
      const slices = charge.tiers.map((tier, index) => slice(tier, ranges[index]!, money))
      return charge.model === "graduated" ? graduated(ranges, slices) : volume(ranges, slices)
    }
    case "graduated_package": {
      const ranges = rangesOf(charge.tiers)
      return graduated(
        ranges,
        charge.tiers.map((tier, index) => packageSlice(tier, ranges[index]!, money)),
      )
    }
    case "percentage":
      return percentage(charge.rate)(money)
    case "graduated_percentage":
      return percentTiers(charge, money)
  }
}
