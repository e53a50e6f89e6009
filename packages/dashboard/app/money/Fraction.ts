/**
 * Exact fractions of integers.
 */

export interface Fraction {
  readonly numerator: bigint
  /** Above 0. */
  readonly denominator: bigint
}

export const zero: Fraction = { numerator: 0n, denominator: 1n }

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b))

const reduced = ({ denominator, numerator }: Fraction): Fraction => {
  const common = gcd(numerator < 0n ? -numerator : numerator, denominator)
  return { numerator: numerator / common, denominator: denominator / common }
}

export const add = (a: Fraction, b: Fraction): Fraction =>
  reduced({
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  })

/** The nearest integer. Halves go away from 0. */
export const round = ({ denominator, numerator }: Fraction): bigint => {
  const half = numerator < 0n ? -denominator : denominator
  return (numerator * 2n + half) / (denominator * 2n)
}
