/**
 * Exact numbers: decimals and fractions on `bigint`. Nothing here is ever a float, and nothing is rounded unless the
 * name of the function says so.
 *
 * A value is carried as `numerator / (10^scale × denominator)` and divided once, at the end. Sums and products of
 * decimals keep a denominator of 1, so they stay decimals.
 */

/** The number `numerator / (10^scale × denominator)`. `scale` is an integer ≥ 0, `denominator` is ≥ 1. */
export interface Exact {
  readonly numerator: bigint
  readonly scale: number
  readonly denominator: bigint
}

/** Most digits before and after the point of a decimal of a plan: of a price, a rate or the bound of a tier. */
export const DECIMAL_LIMITS = { before: 18, after: 12 } as const

/** Decimals of plans and of the wire: `"0.000015"`. Checked before anything parses them. */
export const DECIMAL_PATTERN = /^-?\d{1,18}(?:\.\d{1,12})?$/

const DECIMAL_POINT = "."

/** Powers of ten that are needed again and again. */
const POWERS = Array.from({ length: 64 }, (_, exponent) => 10n ** BigInt(exponent))

/** 10^exponent, for an exponent ≥ 0. */
export const powerOfTen = (exponent: number): bigint => POWERS[exponent] ?? 10n ** BigInt(exponent)

/** The exact number of a `numerator`, a `scale` and a `denominator`. */
const make = (numerator: bigint, scale: number, denominator: bigint): Exact => ({
  numerator,
  scale,
  denominator,
})

export const zero: Exact = make(0n, 0, 1n)
export const one: Exact = make(1n, 0, 1n)

/** An integer. */
export const ofInteger = (integer: bigint): Exact => make(integer, 0, 1n)

/** An integer of units of 10^−scale: `ofUnits(1234n, 2)` is 12.34. */
export const ofUnits = (units: bigint, scale: number): Exact => make(units, scale, 1n)

/** The fraction `numerator / denominator`, for a denominator ≥ 1. */
export const ofFraction = (numerator: bigint, denominator: bigint): Exact => make(numerator, 0, denominator)

/**
 * A decimal: digits, optionally a point and more digits, optionally a sign before. The caller has checked the text by
 * {@link DECIMAL_PATTERN} or by a pattern of its own that allows nothing else.
 */
export const ofDecimal = (text: string): Exact => {
  const point = text.indexOf(DECIMAL_POINT)
  if (point === -1) return make(BigInt(text), 0, 1n)
  return make(BigInt(text.slice(0, point) + text.slice(point + 1)), text.length - point - 1, 1n)
}

export const isZero = (value: Exact): boolean => value.numerator === 0n

export const isNegative = (value: Exact): boolean => value.numerator < 0n

/** The numerators of two values over one scale and one denominator. */
const aligned = (a: Exact, b: Exact): readonly [a: bigint, b: bigint, scale: number, denominator: bigint] => {
  let left = a.numerator
  let right = b.numerator
  const scale = a.scale > b.scale ? a.scale : b.scale
  if (a.scale < scale) left *= powerOfTen(scale - a.scale)
  if (b.scale < scale) right *= powerOfTen(scale - b.scale)
  if (a.denominator === b.denominator) return [left, right, scale, a.denominator]
  return [left * b.denominator, right * a.denominator, scale, a.denominator * b.denominator]
}

export const add = (a: Exact, b: Exact): Exact => {
  if (a.scale === b.scale && a.denominator === b.denominator) {
    return make(a.numerator + b.numerator, a.scale, a.denominator)
  }
  const [left, right, scale, denominator] = aligned(a, b)
  return make(left + right, scale, denominator)
}

export const negate = (value: Exact): Exact => make(-value.numerator, value.scale, value.denominator)

export const subtract = (a: Exact, b: Exact): Exact => {
  if (a.scale === b.scale && a.denominator === b.denominator) {
    return make(a.numerator - b.numerator, a.scale, a.denominator)
  }
  const [left, right, scale, denominator] = aligned(a, b)
  return make(left - right, scale, denominator)
}

export const multiply = (a: Exact, b: Exact): Exact =>
  make(a.numerator * b.numerator, a.scale + b.scale, a.denominator * b.denominator)

/** `a / b`, exactly, for a `b` > 0: the quotient is a fraction, nothing is rounded. */
export const quotient = (a: Exact, b: Exact): Exact =>
  a.scale >= b.scale
    ? make(a.numerator * b.denominator, a.scale - b.scale, a.denominator * b.numerator)
    : make(a.numerator * b.denominator * powerOfTen(b.scale - a.scale), 0, a.denominator * b.numerator)

/** Negative, 0 or positive, as `a` is less than, equal to or greater than `b`. */
export const compare = (a: Exact, b: Exact): number => {
  if (a.scale === b.scale && a.denominator === b.denominator) {
    return a.numerator < b.numerator ? -1 : a.numerator > b.numerator ? 1 : 0
  }
  const [left, right] = aligned(a, b)
  return left < right ? -1 : left > right ? 1 : 0
}

export const minimum = (a: Exact, b: Exact): Exact => (compare(a, b) <= 0 ? a : b)

export const maximum = (a: Exact, b: Exact): Exact => (compare(a, b) >= 0 ? a : b)

/** `numerator / denominator` to the nearest integer, halves away from zero. `denominator` is > 0. */
const divideHalfAway = (numerator: bigint, denominator: bigint): bigint => {
  const whole = numerator / denominator
  const rest = numerator % denominator
  if (rest === 0n) return whole
  return (rest < 0n ? -rest : rest) * 2n < denominator ? whole : numerator < 0n ? whole - 1n : whole + 1n
}

/**
 * The integer of units of 10^−exponent that is nearest to `value`, halves away from zero: `roundTo(12.345, 2)` is
 * 1235. It is the only place where money is rounded.
 */
export const roundTo = (value: Exact, exponent: number): bigint => {
  if (value.denominator === 1n && value.scale <= exponent) {
    return value.numerator * powerOfTen(exponent - value.scale)
  }
  return value.scale >= exponent
    ? divideHalfAway(value.numerator, value.denominator * powerOfTen(value.scale - exponent))
    : divideHalfAway(value.numerator * powerOfTen(exponent - value.scale), value.denominator)
}

/**
 * `value × numerator / denominator` as an integer of units of 10^−exponent, divided and rounded once, halves away from
 * zero. `denominator` is > 0.
 */
export const mulDivRound = (value: Exact, numerator: bigint, denominator: bigint, exponent: number): bigint =>
  roundTo(multiply(value, ofFraction(numerator, denominator)), exponent)

/** The greatest integer that is not greater than `value`. */
export const floor = (value: Exact): bigint => {
  const divisor = value.denominator * powerOfTen(value.scale)
  const whole = value.numerator / divisor
  return value.numerator % divisor < 0n ? whole - 1n : whole
}

/** The least integer that is not less than `value`. */
export const ceiling = (value: Exact): bigint => -floor(negate(value))

const greatestCommonDivisor = (a: bigint, b: bigint): bigint => {
  let [x, y] = [a < 0n ? -a : a, b]
  while (y !== 0n) [x, y] = [y, x % y]
  return x
}

const ZERO_DIGIT = 48

/** A decimal's digits with its point, without zeros at the end. */
const decimalText = (numerator: bigint, scale: number): string => {
  if (scale === 0) return numerator.toString()
  if (numerator === 0n) return "0"
  if (numerator < 0n) return `-${decimalText(-numerator, scale)}`
  let digits = numerator.toString()
  if (digits.length <= scale) digits = digits.padStart(scale + 1, "0")
  const point = digits.length - scale
  let end = digits.length
  while (end > point && digits.charCodeAt(end - 1) === ZERO_DIGIT) end--
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`
}

/** The value as a decimal, or `undefined` when its digits have no end. */
const asDecimal = (value: Exact): { readonly numerator: bigint; readonly scale: number } | undefined => {
  if (value.denominator === 1n) return value
  const divisor = greatestCommonDivisor(value.numerator, value.denominator)
  let numerator = value.numerator / divisor
  let rest = value.denominator / divisor
  let scale = value.scale
  // Each factor 2 or 5 of the denominator is one more digit; any other factor has no end.
  for (const [factor, other] of [
    [2n, 5n],
    [5n, 2n],
  ] as const) {
    while (rest % factor === 0n) {
      rest /= factor
      numerator *= other
      scale++
    }
  }
  return rest === 1n ? { numerator, scale } : undefined
}

/** The value, exactly: a decimal (`"12.5"`), or a fraction in lowest terms where digits have no end (`"10/3"`). */
export const text = (value: Exact): string => {
  if (value.denominator === 1n) return decimalText(value.numerator, value.scale)
  const decimal = asDecimal(value)
  if (decimal !== undefined) return decimalText(decimal.numerator, decimal.scale)
  const divisor = value.denominator * powerOfTen(value.scale)
  const common = greatestCommonDivisor(value.numerator, divisor)
  return `${value.numerator / common}/${divisor / common}`
}

/** The value that {@link text} wrote. */
export const ofText = (written: string): Exact => {
  const slash = written.indexOf("/")
  return slash === -1
    ? ofDecimal(written)
    : ofFraction(BigInt(written.slice(0, slash)), BigInt(written.slice(slash + 1)))
}

/** Digits after the point that are shown of a fraction whose digits have no end. */
export const SHOWN_DIGITS = 15

/** Stands behind digits that go on. */
export const MORE_DIGITS = "…"

/** The value as a decimal for people: exact, or cut after {@link SHOWN_DIGITS} digits and marked by {@link MORE_DIGITS}. */
export const shown = (value: Exact): string => {
  if (value.denominator === 1n) return decimalText(value.numerator, value.scale)
  const decimal = asDecimal(value)
  if (decimal !== undefined) return decimalText(decimal.numerator, decimal.scale)
  const cut = (value.numerator * powerOfTen(SHOWN_DIGITS)) / (value.denominator * powerOfTen(value.scale))
  const sign = value.numerator < 0n ? "-" : ""
  const digits = (cut < 0n ? -cut : cut).toString().padStart(SHOWN_DIGITS + 1, "0")
  return `${sign}${digits.slice(0, -SHOWN_DIGITS)}.${digits.slice(-SHOWN_DIGITS)}${MORE_DIGITS}`
}
