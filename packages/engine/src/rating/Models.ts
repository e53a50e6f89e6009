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

/** Collects the steps of a computation. Without it, nothing is explained, which is several times as fast. */
export type Steps = Array<Step> | undefined

/** Prices a quantity: adds its steps to `steps`, and gives the exact amount in the currency's unit. */
export type Model = (quantity: Exact.Exact, steps: Steps) => Exact.Exact

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
export const factorOf = (percent: Exact.Exact): Exact.Exact => Exact.shift(percent, 2)

const flat = (prices: Prices, money: Money): Model => {
  const price = priceIn(prices, money)
  const step: Step = { type: "flat", amount: price.text }
  return (_, steps) => {
    steps?.push(step)
    return price.value
  }
}

const unit = (charge: UnitCharge, money: Money): Model => {
  const price = priceIn(charge.price, money)
  return (quantity, steps) => {
    const amount = Exact.multiply(quantity, price.value)
    steps?.push({
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
    steps?.push({
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
  end !== undefined && Exact.compare(end.value, quantity) < 0

const bounds = ({ from, upTo }: Range) => ({ from: from.text, up_to: upTo?.text ?? null })

/** Prices one tier's part of a quantity: adds its step to `steps`, and gives its amount. */
type Slice = (quantity: Exact.Exact, steps: Steps) => Exact.Exact

/** A tier that the quantity is beyond: its step, and the amount of it and the tiers before it. */
interface FullTier {
  readonly step: Step
  readonly total: Exact.Exact
}

/** The tiers that have an end, in full. They cost the same for all quantities beyond them. */
const fullTiers = (ranges: ReadonlyArray<Range>, slices: ReadonlyArray<Slice>): ReadonlyArray<FullTier> => {
  const full: Array<FullTier> = []
  let total = Exact.zero
  for (const [index, { from, upTo }] of ranges.entries()) {
    if (upTo === undefined) break
    const steps: Array<Step> = []
    total = Exact.add(total, slices[index]!(Exact.subtract(upTo.value, from.value), steps))
    full.push({ step: Object.freeze(steps[0]!), total })
  }
  return full
}

/** Each tier prices its part. The first tier always applies. Others apply when the quantity is beyond the tier before. */
const graduated = (ranges: ReadonlyArray<Range>, slices: ReadonlyArray<Slice>): Model => {
  const full = fullTiers(ranges, slices)
  return (quantity, steps) => {
    let index = 0
    while (isBeyond(quantity, ranges[index]!.upTo)) {
      steps?.push(full[index]!.step)
      index++
    }
    if (index === 0) return slices[0]!(quantity, steps)
    const rest = Exact.subtract(quantity, ranges[index]!.from.value)
    return Exact.add(full[index - 1]!.total, slices[index]!(rest, steps))
  }
}

/** The tier that contains the quantity prices the whole quantity. */
const volume = (ranges: ReadonlyArray<Range>, slices: ReadonlyArray<Slice>): Model => {
  return (quantity, steps) => {
    const index = ranges.findIndex(({ upTo }) => !isBeyond(quantity, upTo))
    return slices[index]!(quantity, steps)
  }
}

/** The prices of tiers, all with the same scale. */
const tierPrices = (tiers: ReadonlyArray<Tier>, money: Money) => {
  const figures = tiers.map((tier) => ({
    price: priceIn(tier.price, money),
    flat: priceIn(tier.flat, money),
  }))
  const scale = Math.max(...figures.flatMap(({ flat, price }) => [flat.value.scale, price.value.scale]))
  const scaled = ({ text, value }: Figure): Figure => ({ text, value: Exact.atScale(value, scale) })
  return figures.map(({ flat, price }) => ({ price: scaled(price), flat: scaled(flat) }))
}

const slice = ({ flat, price }: { readonly price: Figure; readonly flat: Figure }, range: Range): Slice => {
  const { from, up_to } = bounds(range)
  return (quantity, steps) => {
    const product = Exact.multiply(quantity, price.value)
    const amount = flat.value.numerator === 0n ? product : Exact.add(product, flat.value)
    steps?.push({
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
    steps?.push({
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
    steps?.push({
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
export const moneyOf = (quantity: Exact.Exact, { digits }: Money): Exact.Exact =>
  Exact.shift(quantity, digits)

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
    steps?.push({
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
      const slices = tierPrices(charge.tiers, money).map((prices, index) => slice(prices, ranges[index]!))
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
