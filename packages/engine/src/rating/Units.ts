/**
 * Units of credits that a host defines, and how many decimals they have. A balance is an integer of the smallest part: 150 are
 * 1.50 credits with 2 decimals.
 */
import { checkKnown, integerIn, isFields, isKey } from "../catalog/FieldRules.ts"
import { type Problem, Problems } from "../catalog/Problem.ts"
import * as Currency from "../money/Currency.ts"

/** Most decimals of a unit of credits. */
export const MAX_UNIT_DECIMALS = 6

/** Most units that a host can define. */
const MAX_CREDIT_UNITS = 100

/** What a host says about a unit of credits. */
export interface CreditUnitSettings {
  /** How many decimals it has: 0 to 6. Default 0. */
  readonly decimals?: number
}

/** Units of credits by their names: `{ credits: { decimals: 2 } }`. A unit that is left out has no decimals. */
export type CreditUnits = Readonly<Record<string, CreditUnitSettings>>

/** How many decimals a unit has. */
export type DecimalsOf = (unit: string) => number

const checkUnit = (at: Problems, unit: string, settings: unknown): void => {
  if (Currency.isCurrency(unit)) at.add(`must be left out: ISO 4217 says how many decimals ${unit} has`)
  else if (!isKey(unit)) {
    at.add(
      "must be the name of a unit: a lower-case letter, then at most 63 lower-case letters, digits and underscores",
    )
  } else if (isFields(settings)) {
    checkKnown(at, settings, ["decimals"])
    if (settings["decimals"] !== undefined)
      integerIn(at.in("decimals"), settings["decimals"], 0, MAX_UNIT_DECIMALS)
  } else at.add(`must be an object, such as {"decimals": 2}`)
}

/** Everything that is wrong with units. An empty list for valid ones. */
export const problemsOfCreditUnits = (units: unknown): ReadonlyArray<Problem> => {
  const at = new Problems("units")
  if (!isFields(units)) at.add(`must be settings by unit, such as {"credits": {"decimals": 2}}`)
  else if (Object.keys(units).length > MAX_CREDIT_UNITS) at.add(`must be at most ${MAX_CREDIT_UNITS}`)
  else for (const [unit, settings] of Object.entries(units)) checkUnit(at.in(unit), unit, settings)
  return at.found
}

/** How many decimals are declared of a unit. `undefined`: it was left out. */
export const declaredDecimals = (units: CreditUnits, unit: string): number | undefined =>
  Object.hasOwn(units, unit) ? (units[unit]?.decimals ?? 0) : undefined

/** The decimals of a currency, or else of a unit: 0 unless they are declared. */
export const decimalsIn =
  (units: CreditUnits): DecimalsOf =>
  (unit) =>
    Currency.exponentOf(unit) ?? declaredDecimals(units, unit) ?? 0
