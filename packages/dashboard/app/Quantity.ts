/**
 * Exact quantities: integers of any size.
 */

const grouped = new Intl.NumberFormat("en-GB")

/** What the API answers for an integer: `bigint` beyond 2^53, whatever the generated types say. */
export type WireInteger = number | bigint

export const sum = (quantities: ReadonlyArray<WireInteger>): bigint =>
  quantities.reduce<bigint>((total, quantity) => total + BigInt(quantity), 0n)

/** All digits, in groups of three. */
export const format = (quantity: WireInteger): string => grouped.format(quantity)

const STEPS = [
  [1_000_000_000_000, "T"],
  [1_000_000_000, "B"],
  [1_000_000, "M"],
  [1_000, "k"],
] as const

/** For axes: `1.2 M`. */
export const compact = (quantity: number): string => {
  const step = STEPS.find(([size]) => Math.abs(quantity) >= size)
  if (step === undefined) return String(quantity)
  const scaled = quantity / step[0]
  return `${scaled >= 1_000 ? scaled.toExponential(0) : Number(scaled.toPrecision(3))} ${step[1]}`
}

/** How much of a limit is used, in percent, rounded down: 100 is reached, not nearly. */
export const percentOf = (quantity: WireInteger, limit: WireInteger): number =>
  BigInt(limit) === 0n ? 100 : Number((BigInt(quantity) * 100n) / BigInt(limit))
