/**
 * Reads the quantity of a rating.
 */
import * as Exact from "../money/Exact.ts"
import { RatingError } from "./RatingError.ts"

/**
 * A quantity ≥ 0: a decimal in a string (`"10.5"`), a number, a bigint, or an exact fraction, such as an average over
 * time. A string has at most 60 digits before the point and 18 after it. A number counts as its shortest decimal: `0.1`
 * is exactly 0.1, and `1e-7` is 0.0000001. Integers beyond 2^53 − 1 must be strings or bigints.
 */
export type Quantity = string | number | bigint | { readonly numerator: bigint; readonly denominator: bigint }

/** Most digits of a quantity before and after the point. */
const QUANTITY_DIGITS = { before: 60, after: 18 } as const

const QUANTITY_PATTERN = /^-?\d{1,60}(?:\.\d{1,18})?$/
const LARGEST = 10n ** BigInt(QUANTITY_DIGITS.before)

const refuse = (path: string, problem: string): never => {
  throw new RatingError([{ path, problem }])
}

const tooLarge = (path: string): never => refuse(path, `must have at most ${QUANTITY_DIGITS.before} digits`)

const ofNumber = (path: string, value: number): Exact.Exact => {
  if (Number.isSafeInteger(value)) return Exact.ofInteger(BigInt(value))
  if (Number.isInteger(value)) return refuse(path, "is beyond 2^53 − 1: give it as a string or a bigint")
  if (!Number.isFinite(value)) return refuse(path, `must be a finite number: ${value} is none`)
  // A number with a fraction is below 2^53, so only a small one is written with an exponent, such as 1e-7.
  const [decimal, exponent] = String(value).split("e-")
  return Exact.shift(Exact.ofDecimal(decimal!), Number(exponent ?? 0))
}

const ofString = (path: string, value: string): Exact.Exact =>
  QUANTITY_PATTERN.test(value)
    ? Exact.ofDecimal(value)
    : refuse(
        path,
        `must be a decimal of at most ${QUANTITY_DIGITS.before} digits before and ${QUANTITY_DIGITS.after} after the point, such as "10.5"`,
      )

const ofFraction = (path: string, numerator: unknown, denominator: unknown): Exact.Exact => {
  if (typeof numerator !== "bigint" || typeof denominator !== "bigint" || denominator <= 0n) {
    return refuse(path, "must be a fraction of two bigints, with a denominator greater than 0")
  }
  return numerator < LARGEST && denominator < LARGEST
    ? Exact.ofFraction(numerator, denominator)
    : tooLarge(path)
}

const read = (path: string, value: Quantity): Exact.Exact => {
  switch (typeof value) {
    case "string":
      return ofString(path, value)
    case "number":
      return ofNumber(path, value)
    case "bigint":
      return Exact.ofInteger(value < LARGEST ? value : tooLarge(path))
    default:
      return typeof value === "object" && value !== null
        ? ofFraction(path, value.numerator, value.denominator)
        : refuse(path, "is required: a decimal in a string, a number or a bigint")
  }
}

/** The exact value of a quantity. Throws a {@link RatingError} of `path` when it is not valid. */
export const exactOf = (path: string, value: Quantity): Exact.Exact => {
  const exact = read(path, value)
  if (Exact.isNegative(exact)) refuse(path, "must be 0 or more")
  return exact
}
