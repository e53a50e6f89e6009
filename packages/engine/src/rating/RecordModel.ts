/**
 * The model that prices each record by itself: a percentage with a fee, a minimum or a maximum per record.
 *
 * Records are read one by one, so millions of records need no more memory than ten. The explanation gives the number of
 * records that were priced by rate and fee, at the minimum, and at the maximum.
 */
import type { Charge, PercentageCharge } from "../catalog/Charge.ts"
import * as Exact from "../money/Exact.ts"
import { factorOf, type Figure, figure, type Money, moneyOf, priceIn, type Steps } from "./Models.ts"
import { type Conversion, conversionOf, convert, convertStep, freeStep } from "./RatedQuantity.ts"
import type { Step } from "./Step.ts"

/** The number of records of one kind, and the sum of their quantities. */
interface Kind {
  count: bigint
  quantity: Exact.Exact
}

const noRecords = (): Kind => ({ count: 0n, quantity: Exact.zero })

const take = (kind: Kind, quantity: Exact.Exact): void => {
  kind.count++
  kind.quantity = Exact.add(kind.quantity, quantity)
}

/** Prices records: adds its steps to `steps`, and gives the exact amount in the currency's unit. */
export type RecordModel = (records: Iterable<Exact.Exact>, steps: Steps) => Exact.Exact

interface Parts {
  readonly conversion: Conversion | undefined
  readonly free: Exact.Exact | undefined
  readonly rate: Figure
  readonly flat: Figure
  readonly least: Figure | undefined
  readonly most: Figure | undefined
  readonly money: Money
}

const partsOf = (charge: PercentageCharge, money: Money): Parts => ({
  conversion: conversionOf(charge),
  free: charge.free === undefined ? undefined : Exact.ofDecimal(charge.free),
  rate: figure(charge.rate),
  flat: priceIn(charge.flat, money),
  least: charge.minimum_per_record === undefined ? undefined : priceIn(charge.minimum_per_record, money),
  most: charge.maximum_per_record === undefined ? undefined : priceIn(charge.maximum_per_record, money),
  money,
})

/** Counts the records by how they are priced. */
class Tally {
  readonly byRate = noRecords()
  readonly atLeast = noRecords()
  readonly atMost = noRecords()
  aggregate: Exact.Exact = Exact.zero
  converted: Exact.Exact = Exact.zero
  usedFree: Exact.Exact = Exact.zero
  readonly #parts: Parts
  readonly #factor: Exact.Exact

  constructor(parts: Parts) {
    this.#parts = parts
    this.#factor = factorOf(parts.rate.value)
  }

  add(record: Exact.Exact): void {
    const { conversion, free } = this.#parts
    this.aggregate = Exact.add(this.aggregate, record)
    const quantity = conversion === undefined ? record : convert(conversion, record)
    this.converted = Exact.add(this.converted, quantity)
    if (free === undefined) return this.#price(quantity)
    const used = Exact.minimum(quantity, Exact.subtract(free, this.usedFree))
    this.usedFree = Exact.add(this.usedFree, used)
    const rest = Exact.subtract(quantity, used)
    // A record that is entirely free has no fee either. A record of quantity 0 is not free, so its fee is due.
    if (!Exact.isZero(rest) || Exact.isZero(used)) this.#price(rest)
  }

  #price(quantity: Exact.Exact): void {
    const { flat, least, money, most } = this.#parts
    const price = Exact.add(Exact.multiply(moneyOf(quantity, money), this.#factor), flat.value)
    if (least !== undefined && Exact.compare(price, least.value) < 0) take(this.atLeast, quantity)
    else if (most !== undefined && Exact.compare(price, most.value) > 0) take(this.atMost, quantity)
    else take(this.byRate, quantity)
  }
}

const boundStep = (type: "record_minimum" | "record_maximum", { count }: Kind, price: Figure): Step => ({
  type,
  records: count.toString(),
  price: price.text,
  amount: Exact.text(Exact.multiply(Exact.ofInteger(count), price.value)),
})

const explain = (
  { conversion, flat, free, least, money, most, rate }: Parts,
  tally: Tally,
): ReadonlyArray<Step> => {
  const steps: Array<Step> = [{ type: "aggregate", quantity: Exact.text(tally.aggregate) }]
  if (conversion !== undefined) steps.push(convertStep(conversion, tally.converted))
  if (free !== undefined) {
    steps.push(freeStep(tally.usedFree, Exact.subtract(tally.converted, tally.usedFree)))
  }
  const inUnit = moneyOf(tally.byRate.quantity, money)
  const count = Exact.ofInteger(tally.byRate.count)
  const amount = Exact.add(Exact.multiply(inUnit, factorOf(rate.value)), Exact.multiply(count, flat.value))
  steps.push({
    type: "percent",
    money: Exact.text(inUnit),
    rate: rate.text,
    records: Exact.text(count),
    flat: flat.text,
    amount: Exact.text(amount),
  })
  if (least !== undefined && tally.atLeast.count > 0n)
    steps.push(boundStep("record_minimum", tally.atLeast, least))
  if (most !== undefined && tally.atMost.count > 0n)
    steps.push(boundStep("record_maximum", tally.atMost, most))
  return steps
}

/** Prepares the model of a charge that prices each record. Gives `undefined` for other models. */
export const recordModelOf = (charge: Charge, money: Money): RecordModel | undefined => {
  if (charge.model !== "percentage") return undefined
  const parts = partsOf(charge, money)
  return (records, steps) => {
    const tally = new Tally(parts)
    for (const record of records) tally.add(record)
    const explained = explain(parts, tally)
    steps?.push(...explained)
    return explained.reduce(
      (sum, step) =>
        step.type === "percent" || step.type === "record_minimum" || step.type === "record_maximum"
          ? Exact.add(sum, Exact.ofText(step.amount))
          : sum,
      Exact.zero,
    )
  }
}
