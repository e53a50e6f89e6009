/**
 * Amounts of credits. A unit that is the code of a currency counts its minor unit.
 */
import * as Money from "../Money.ts"
import * as Quantity from "../Quantity.ts"

const CURRENCY = /^[A-Z]{3}$/

export const isMoney = (unit: string): boolean => CURRENCY.test(unit)

/** `€12.50`, or `1,200 token`. */
export const format = (amount: Quantity.WireInteger, unit: string): string =>
  isMoney(unit) ? Money.format(amount, unit) : `${Quantity.format(amount)} ${unit}`

/** With a sign in any case: `+1,200 token`. */
export const formatChange = (amount: Quantity.WireInteger, unit: string): string =>
  `${BigInt(amount) > 0n ? "+" : ""}${format(amount, unit)}`
