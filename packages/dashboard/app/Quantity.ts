/**
 * Exact quantities: integers of any size.
 */

const grouped = new Intl.NumberFormat("en-GB")

/** An integer in an answer of the API. Beyond 2^53 it is a `bigint`, although the generated types say `number`. */
export type WireInteger = number | bigint

export const sum = (quantities: ReadonlyArray<WireInteger>): bigint =>
  quantities.reduce<bigint>((total, quantity) => total + BigInt(quantity), 0n)

/** All digits, in groups of three. */
export const format = (quantity: WireInteger): string => grouped.format(quantity)

/** Digits after the point of a quotient. */
const FRACTION_DIGITS = 3
const FRACTION = 10n ** BigInt(FRACTION_DIGITS)

/** A quotient with up to three digits after the point, rounded down. `≈` says that there are more. */
export const quotient = (quantity: WireInteger, denominator: WireInteger): string => {
  const [total, by] = [BigInt(quantity), BigInt(denominator)]
  const scaled = (total * FRACTION) / by
  const fraction = String(scaled % FRACTION)
    .padStart(FRACTION_DIGITS, "0")
    .replace(/0+$/, "")
  const isExact = scaled * by === total * FRACTION
  return `${isExact ? "" : "≈ "}${format(scaled / FRACTION)}${fraction === "" ? "" : `.${fraction}`}`
}

const STEPS = [
  [1_000_000_000_000, "T"],
  [1_000_000_000, "B"],
  [1_000_000, "M"],
  [1_000, "k"],
] as const

/** From here on, a power of ten is used, because a number of trillions would have too many digits. */
const POWERS_FROM = 1e18

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"

const asPower = (quantity: number): string => {
  const [digits, exponent = ""] = Number(quantity.toPrecision(3)).toExponential().replace("+", "").split("e")
  return `${digits} × 10${[...exponent].map((digit) => SUPERSCRIPTS[Number(digit)]).join("")}`
}

/** For axes: `1.2 M`, `9,000 T`, `2 × 10²¹`. */
export const compact = (quantity: number): string => {
  const step = STEPS.find(([size]) => Math.abs(quantity) >= size)
  if (step === undefined) return String(quantity)
  if (Math.abs(quantity) >= POWERS_FROM) return asPower(quantity)
  return `${grouped.format(Number((quantity / step[0]).toPrecision(3)))} ${step[1]}`
}

/** The used part of a limit in percent, rounded down, so that 100 means that the limit is reached. */
export const percentOf = (quantity: WireInteger, limit: WireInteger): number =>
  BigInt(limit) === 0n ? 100 : Number((BigInt(quantity) * 100n) / BigInt(limit))
