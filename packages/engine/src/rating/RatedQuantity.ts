/**
 * Converts a quantity and subtracts free units, before the model prices it. Both are steps of the explanation.
 */
import type { Charge, ConvertRounding } from "../catalog/Charge.ts"
import * as Exact from "../money/Exact.ts"
import type { Step } from "./Step.ts"

/** The prepared `convert` of a charge. */
export interface Conversion {
  readonly divideBy: Exact.Exact
  readonly divideByText: string
  readonly round: ConvertRounding
}

/** Prepares the `convert` of a charge. Gives `undefined` when it has none. */
export const conversionOf = (charge: Charge): Conversion | undefined =>
  charge.convert === undefined
    ? undefined
    : {
        divideBy: Exact.ofDecimal(charge.convert.divide_by),
        divideByText: charge.convert.divide_by,
        round: charge.convert.round ?? "none",
      }

const half = Exact.ofUnits(5n, 1)

/** Converts a quantity to the units that are priced. */
export const convert = ({ divideBy, round }: Conversion, quantity: Exact.Exact): Exact.Exact => {
  const exact = Exact.quotient(quantity, divideBy)
  switch (round) {
    case "up":
      return Exact.ofInteger(Exact.ceiling(exact))
    case "down":
      return Exact.ofInteger(Exact.floor(exact))
    case "half_up":
      return Exact.ofInteger(Exact.floor(Exact.add(exact, half)))
    case "none":
      return exact
  }
}

/** The step that converts a quantity to `quantity`. */
export const convertStep = ({ divideByText, round }: Conversion, quantity: Exact.Exact): Step => ({
  type: "convert",
  divide_by: divideByText,
  round,
  quantity: Exact.text(quantity),
})

/** The step that subtracts `used` free units and leaves `quantity`. */
export const freeStep = (used: Exact.Exact, quantity: Exact.Exact): Step => ({
  type: "free",
  free: Exact.text(used),
  quantity: Exact.text(quantity),
})
