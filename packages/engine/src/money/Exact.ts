/**
 * Exact numbers: decimals and fractions on `bigint`. No floats are used, and a function rounds only if its name says so.
 *
 * A value is stored as `numerator / (10^scale × denominator)` and divided once, at the end. Sums and products of
 * decimals keep a denominator of 1, so they stay decimals.
 */

/** The number `numerator / (10^scale × denominator)`. `scale` is an integer ≥ 0, `denominator` is ≥ 1. */
export interface Exact {
  readonly numerator: bigint
  readonly scale: number
  readonly denominator: bigint
  /** What {@link text} wrote before: writing digits takes longer than arithmetic, and steps repeat values. */
  written?: string | undefined
}

/** Most digits before and after the point of a decimal in a plan: a price, a rate or the end of a tier. */
export const DECIMAL_LIMITS = { before: 18, after: 12 } as const

/** The form of decimals in plans and in REST, such as `"0.000015"`. Texts are checked with it before they are parsed. */
export const DECIMAL_PATTERN = /^-?\d{1,18}(?:\.\d{1,12})?$/

const DECIMAL_POINT = "."

/** Powers of ten that are needed often. */
const POWERS = Array.from({ length: 64 }, (_, exponent) => 10n ** BigInt(exponent))

/** Half of each of them, for rounding. That of 10^0 is not needed. */
const HALVES = POWERS.map((power) => power >> 1n)

/** 10^exponent, for an exponent ≥ 0. */
export const powerOfTen = (exponent: number): bigint => POWERS[exponent] ?? 10n ** BigInt(exponent)

/** The number `numerator / (10^scale × denominator)`. */
const make = (numerator: bigint, scale: number, denominator: bigint): Exact => ({
  numerator,
  scale,
  denominator,
  written: undefined,
})

export const zero: Exact = make(0n, 0, 1n)
export const one: Exact = make(1n, 0, 1n)

/** The exact number of an integer. */
export const ofInteger = (integer: bigint): Exact => make(integer, 0, 1n)

/** A number of units of 10^−scale: `ofUnits(1234n, 2)` is 12.34. */
export const ofUnits = (units: bigint, scale: number): Exact => make(units, scale, 1n)

/** The fraction `numerator / denominator`, for a denominator ≥ 1. */
export const ofFraction = (numerator: bigint, denominator: bigint): Exact => make(numerator, 0, denominator)

/**
 * Reads a decimal: an optional minus, digits, and optionally a point and more digits. The caller must have checked the
 * text with {@link DECIMAL_PATTERN} or a pattern that allows nothing else.
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
  make(
    a.numerator * b.numerator,
    a.scale + b.scale,
    b.denominator === 1n ? a.denominator : a.denominator * b.denominator,
  )

/** `value / 10^digits`. */
export const shift = (value: Exact, digits: number): Exact =>
  make(value.numerator, value.scale + digits, value.denominator)

/** The same number with a greater scale. Numbers of one scale are added and compared without more arithmetic. */
export const atScale = (value: Exact, scale: number): Exact =>
  make(value.numerator * powerOfTen(scale - value.scale), scale, value.denominator)

/** `a / b` for a `b` > 0, as a fraction. Nothing is rounded. */
export const quotient = (a: Exact, b: Exact): Exact =>
  a.scale >= b.scale
    ? make(a.numerator * b.denominator, a.scale - b.scale, a.denominator * b.numerator)
    : make(a.numerator * b.denominator * powerOfTen(b.scale - a.scale), 0, a.denominator * b.numerator)

/** −1, 0 or 1 when `a` is less than, equal to or greater than `b`. */
export const compare = (a: Exact, b: Exact): number => {
  if (a.scale === b.scale && a.denominator === b.denominator) {
    return a.numerator < b.numerator ? -1 : a.numerator > b.numerator ? 1 : 0
  }
  const [left, right] = aligned(a, b)
  return left < right ? -1 : left > right ? 1 : 0
}

export const minimum = (a: Exact, b: Exact): Exact => (compare(a, b) <= 0 ? a : b)

export const maximum = (a: Exact, b: Exact): Exact => (compare(a, b) >= 0 ? a : b)

/** `numerator / denominator` to the nearest integer, halves away from zero. `half` is half of the denominator, which is > 0. */
const divideHalfAway = (numerator: bigint, denominator: bigint, half: bigint = denominator >> 1n): bigint =>
  numerator < 0n ? -((half - numerator) / denominator) : (numerator + half) / denominator

/**
 * `value` in units of 10^−exponent, rounded to the nearest integer, halves away from zero: `roundTo(12.345, 2)` is
 * 1235. All rounding of money uses this function.
 */
export const roundTo = ({ denominator, numerator, scale }: Exact, exponent: number): bigint => {
  const digits = scale - exponent
  if (denominator === 1n) {
    return digits > 0
      ? divideHalfAway(numerator, powerOfTen(digits), HALVES[digits])
      : numerator * powerOfTen(-digits)
  }
  return digits >= 0
    ? divideHalfAway(numerator, denominator * powerOfTen(digits))
    : divideHalfAway(numerator * powerOfTen(-digits), denominator)
}

/**
 * `value × numerator / denominator` in units of 10^−exponent, divided and rounded once to the nearest integer, halves
 * away from zero. `denominator` is > 0.
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

/** The text of a decimal, without zeros at its end. */
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

/** The value as a decimal, or `undefined` when it would have infinitely many digits. */
const asDecimal = (value: Exact): { readonly numerator: bigint; readonly scale: number } | undefined => {
  if (value.denominator === 1n) return value
  const divisor = greatestCommonDivisor(value.numerator, value.denominator)
  let numerator = value.numerator / divisor
  let rest = value.denominator / divisor
  let scale = value.scale
  // Each factor 2 or 5 of the denominator needs one more digit. Any other factor needs infinitely many.
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

/** The exact value as text: a decimal (`"12.5"`), or a fraction in lowest terms (`"10/3"`) when no decimal is exact. */
export const text = (value: Exact): string => (value.written ??= write(value))

const write = (value: Exact): string => {
  if (value.denominator === 1n) return decimalText(value.numerator, value.scale)
  const decimal = asDecimal(value)
  if (decimal !== undefined) return decimalText(decimal.numerator, decimal.scale)
  const divisor = value.denominator * powerOfTen(value.scale)
  const common = greatestCommonDivisor(value.numerator, divisor)
  return `${value.numerator / common}/${divisor / common}`
}

/** Reads a value that {@link text} wrote. */
export const ofText = (written: string): Exact => {
  const slash = written.indexOf("/")
  return slash === -1
    ? ofDecimal(written)
    : ofFraction(BigInt(written.slice(0, slash)), BigInt(written.slice(slash + 1)))
}

/** Digits after the point that {@link shown} keeps of a fraction with infinitely many digits. */
export const SHOWN_DIGITS = 15

/** Follows digits that were cut. */
export const MORE_DIGITS = "…"

/** The value as a decimal for people: exact, or cut after {@link SHOWN_DIGITS} digits and followed by {@link MORE_DIGITS}. */
export const shown = (value: Exact): string => {
  if (value.denominator === 1n) return text(value)
  const decimal = asDecimal(value)
  if (decimal !== undefined) return decimalText(decimal.numerator, decimal.scale)
  const cut = (value.numerator * powerOfTen(SHOWN_DIGITS)) / (value.denominator * powerOfTen(value.scale))
  const sign = value.numerator < 0n ? "-" : ""
  const digits = (cut < 0n ? -cut : cut).toString().padStart(SHOWN_DIGITS + 1, "0")
  return `${sign}${digits.slice(0, -SHOWN_DIGITS)}.${digits.slice(-SHOWN_DIGITS)}${MORE_DIGITS}`
}
