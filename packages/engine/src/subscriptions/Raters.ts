/**
 * Prepared charges. Terms of a plan version are read once and used for many periods, so each charge is prepared once.
 */
import type { Charge } from "../catalog/Charge.ts"
import { rater, type Rater } from "../rating/Rate.ts"

/** By the object of the charge, then by currency. A plan has at most 30 currencies. */
const prepared = new WeakMap<Charge, Map<string, Rater>>()

/** The charge, prepared for a currency. Throws a `RatingError` with all problems of the charge. */
export const raterOf = (charge: Charge, currency: string): Rater => {
  const known = prepared.get(charge) ?? new Map<string, Rater>()
  const made = known.get(currency) ?? rater(charge, currency)
  known.set(currency, made)
  prepared.set(charge, known)
  return made
}
