/**
 * Amounts of credits. A unit that is the code of a currency counts its minor unit, another one the smallest part of it.
 */
import * as Money from "../Money.ts"
import type * as Quantity from "../Quantity.ts"

const CURRENCY = /^[A-Z]{3}$/

export const isMoney = (unit: string): boolean => CURRENCY.test(unit)

/** `1,200.50`, with the decimals of the unit. */
const numberOf = (amount: Quantity.WireInteger, decimals: number): string => {
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
  // A decimal is formatted exactly when it is a text.
  return new Intl.NumberFormat("en-GB", digits).format(Money.decimalWith(amount, decimals) as `${number}`)
}

/** `€12.50`, or `1,200 token`. `decimals` are those of a unit that is no currency. */
export const format = (amount: Quantity.WireInteger, unit: string, decimals: number): string =>
  isMoney(unit) ? Money.format(amount, unit) : `${numberOf(amount, decimals)} ${unit}`

/** With a sign in any case: `+1,200 token`. */
export const formatChange = (amount: Quantity.WireInteger, unit: string, decimals: number): string =>
  `${BigInt(amount) > 0n ? "+" : ""}${format(amount, unit, decimals)}`
