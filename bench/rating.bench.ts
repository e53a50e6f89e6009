/**
 * B12: rating one line at a time, against a hand-written loop on `bigint`.
 *
 * All sides rate the same quantities under the same prices, in turns on one core. In each round the sums of their
 * amounts are compared. `rate` returns the amount, the exact value and the steps. `amount` returns only the amount,
 * like the loop. The loop supports only prices of six digits, and no other feature of a charge.
 */
import { type Charge, rate, rater } from "@billwright/engine"
import { compare } from "./Comparison.ts"

const CURRENCY = "EUR"
const QUANTITIES = 20_000
const LARGEST = 40_000_000
const LINES_OF_ROUND = { unit: 1_000_000, graduated: 400_000 } as const
/** `rate` reads and checks the charge each time. */
const UNPREPARED_LINES = 100_000

const unit: Charge = { key: "calls", model: "unit", meter: "calls", price: { EUR: "0.000015" } }
const graduated: Charge = {
  key: "calls",
  model: "graduated",
  meter: "calls",
  tiers: [
    { up_to: "10000", price: { EUR: "0.001" }, flat: { EUR: "5" } },
    { up_to: "100000", price: { EUR: "0.0008" } },
    { up_to: "1000000", price: { EUR: "0.0005" } },
    { up_to: "10000000", price: { EUR: "0.0002" }, flat: { EUR: "20" } },
    { price: { EUR: "0.000075" } },
  ],
}

/** Quantities of all sizes, the same in each run, from a 32-bit xorshift. */
const quantities = (() => {
  let state = 20_261_122
  const next = (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  return Array.from({ length: QUANTITIES }, () => BigInt(Math.floor(LARGEST ** next())))
})()

/** Rounds millionths of a euro to cents, halves up. */
const toCents = (millionths: bigint): bigint => (millionths + 5_000n) / 10_000n

const PRICE = 15n
const handWrittenUnit = (quantity: bigint): bigint => toCents(quantity * PRICE)

const TIERS = [
  { from: 0n, upTo: 10_000n, price: 1_000n, flat: 5_000_000n },
  { from: 10_000n, upTo: 100_000n, price: 800n, flat: 0n },
  { from: 100_000n, upTo: 1_000_000n, price: 500n, flat: 0n },
  { from: 1_000_000n, upTo: 10_000_000n, price: 200n, flat: 20_000_000n },
  { from: 10_000_000n, upTo: undefined, price: 75n, flat: 0n },
] as const

const handWrittenGraduated = (quantity: bigint): bigint => {
  let total = 0n
  for (const { flat, from, price, upTo } of TIERS) {
    if (upTo === undefined || quantity <= upTo) return toCents(total + (quantity - from) * price + flat)
    total += (upTo - from) * price + flat
  }
  throw new Error("the last tier has no end")
}

const sumOf = (lines: number, amountOf: (quantity: bigint) => bigint): bigint => {
  let sum = 0n
  for (let line = 0; line < lines; line++) sum += amountOf(quantities[line % QUANTITIES]!)
  return sum
}

/** Lines rated in a second. The sum must equal the expected one, so that both sides do the same work. */
const measure = (lines: number, expected: bigint, amountOf: (quantity: bigint) => bigint): number => {
  const started = performance.now()
  const sum = sumOf(lines, amountOf)
  const seconds = (performance.now() - started) / 1000
  if (sum !== expected) throw new Error(`the amounts sum to ${sum}, not ${expected}`)
  return lines / seconds
}

const MODELS = [
  { model: "unit", charge: unit, handWritten: handWrittenUnit },
  { model: "graduated", charge: graduated, handWritten: handWrittenGraduated },
] as const

const contendersOf = ({ charge, handWritten, model }: (typeof MODELS)[number]) => {
  const ready = rater(charge, CURRENCY)
  const lines = LINES_OF_ROUND[model]
  const expected = sumOf(lines, handWritten)
  return [
    {
      name: `rate, ${model}`,
      round: async () => measure(lines, expected, (quantity) => ready.rate(quantity).amount),
    },
    {
      name: `amount, ${model}`,
      round: async () => measure(lines, expected, (quantity) => ready.amount(quantity)),
    },
    { name: `a bigint loop, ${model}`, round: async () => measure(lines, expected, handWritten) },
  ]
}

/** Each side, with the loop of its model. */
const pairs = MODELS.flatMap(({ model }) =>
  ["amount", "rate"].map((call) => [`${call}, ${model}`, `a bigint loop, ${model}`] as const),
)

/** Lines in a second when the charge is read each time. */
const measureUnprepared = () =>
  MODELS.map(({ charge, handWritten, model }) => {
    const linesPerSecond = measure(
      UNPREPARED_LINES,
      sumOf(UNPREPARED_LINES, handWritten),
      (quantity) => rate(charge, quantity, { currency: CURRENCY }).amount,
    )
    console.log(`${model}, with the charge read each time: ${Math.round(linesPerSecond)} lines/s`)
    return { name: model, linesPerSecond }
  })

/** Runs the benchmark. */
export const run = (): Promise<void> =>
  compare({
    name: "rating",
    title: `B12: lines rated on one core, ${LINES_OF_ROUND.unit} of unit and ${LINES_OF_ROUND.graduated} of five-tier graduated a round`,
    unit: "lines/s",
    isRate: true,
    pairs,
    contenders: MODELS.flatMap(contendersOf),
    details: () => ({ unprepared: measureUnprepared() }),
  })
