/**
 * Prepared charges. Terms of a plan version are read once and used for many periods, so each charge is prepared once.
 */
import type { Charge } from "../catalog/Charge.ts"
import * as Currency from "../money/Currency.ts"
import { creditRater, rater, type Rater } from "../rating/Rate.ts"
import { RatingError } from "../rating/RatingError.ts"
import { type DecimalsOf, decimalsIn } from "../rating/Units.ts"

/** Of units that nobody declared. */
const noDecimals: DecimalsOf = decimalsIn({})

/** In what amounts of charges are: in the currency of the subscription, or in the unit of credits that a charge burns. */
export interface Denomination {
  readonly currency: string
  readonly decimalsOf?: DecimalsOf | undefined
}

/** A charge that is prepared, and the digits of the amounts that it gives. */
export interface Prepared {
  readonly rates: Rater
  readonly digits: number
}

/** By the object of the charge, then by the currency or the decimals of the unit. A plan has at most 30 currencies. */
const prepared = new WeakMap<Charge, Map<string, Prepared>>()

/** How many digits the minor unit of a currency has. */
export const digitsOf = (currency: string): number => {
  const digits = Currency.exponentOf(currency)
  if (digits !== undefined) return digits
  throw new RatingError([
    { path: "currency", problem: `must be a code of ISO 4217: ${JSON.stringify(currency)}` },
  ])
}

const prepare = (charge: Charge, currency: string, digits: number): Prepared => ({
  rates: charge.burns === undefined ? rater(charge, currency) : creditRater(charge, digits),
  digits,
})

/** The charge, prepared for a currency or for the unit that it burns. Throws a `RatingError` with all problems of it. */
export const raterOf = (charge: Charge, { currency, decimalsOf = noDecimals }: Denomination): Prepared => {
  const { burns } = charge
  const digits = burns === undefined ? digitsOf(currency) : decimalsOf(burns)
  const name = burns === undefined ? currency : String(digits)
  const known = prepared.get(charge) ?? new Map<string, Prepared>()
  const made = known.get(name) ?? prepare(charge, currency, digits)
  known.set(name, made)
  prepared.set(charge, known)
  return made
}
