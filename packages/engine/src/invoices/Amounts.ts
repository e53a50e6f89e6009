/**
 * Arithmetic of amounts of the minor unit.
 */
import * as Exact from "../money/Exact.ts"

/** The lesser of two amounts. */
export const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** The sum of the `amount` of each. */
export const sumOf = (values: ReadonlyArray<{ readonly amount: bigint }>): bigint =>
  values.reduce((sum, { amount }) => sum + amount, 0n)

/** `percent` of an amount, rounded once to the minor unit, halves away from zero. */
export const percentOf = (amount: bigint, percent: string): bigint =>
  Exact.roundTo(Exact.multiply(Exact.ofInteger(amount), Exact.shift(Exact.ofDecimal(percent), 2)), 0)
