/**
 * The units of credits that the host defines.
 */
import { type CreditUnits, problemsOfCreditUnits } from "@billwright/engine"
import { Context } from "effect"

/** What the host sets about credits. */
export interface CreditsOptions {
  /**
   * The units of its own, and how many decimals each has: `{ credits: { decimals: 2 } }`. 0 to 6, and 0 for a unit that is
   * left out. Balances are integers of the smallest part. So the decimals of a unit that is in use must stay.
   */
  readonly units?: CreditUnits
}

/** The units of credits of all tenants. */
export class CreditSettings extends Context.Reference<CreditUnits>(
  "@billwright/core/catalog/CreditSettings",
  {
    defaultValue: () => ({}),
  },
) {}

/** The field that errors name. */
export const decimalsOption = (unit: string): string => `credits.units.${unit}.decimals`

/** Completes options. Throws a `TypeError` that names the option, because wrong options are a bug in the program. */
export const creditUnitsOf = ({ units = {} }: CreditsOptions): CreditUnits => {
  const [problem] = problemsOfCreditUnits(units)
  if (problem !== undefined) throw new TypeError(`credits.${problem.path} ${problem.problem}`)
  return units
}
