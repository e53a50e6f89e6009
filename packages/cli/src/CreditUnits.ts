/**
 * The flag that says how many decimals the host's units of credits have.
 */
import { creditUnitsOf } from "@billwright/core"
import { Config, Option } from "effect"
import { Flag } from "effect/cli"

const EXAMPLE = "credits=2,token=0"

export interface CreditUnitFlags {
  readonly creditUnits: NonNullable<Parameters<typeof creditUnitsOf>[0]["units"]>
}

/** Units such as `credits=2,token=0`. `None` if there is something wrong with them. */
const parse = (text: string): Option.Option<CreditUnitFlags["creditUnits"]> => {
  if (text.trim() === "") return Option.some({})
  const pairs = text.split(",").map((pair) => /^\s*([a-z0-9_]+)=(\d)\s*$/.exec(pair))
  const named = pairs.flatMap((match) =>
    match === null ? [] : [[match[1]!, { decimals: Number(match[2]) }] as const],
  )
  const units = Object.fromEntries(named)
  if (named.length < pairs.length || Object.keys(units).length < named.length) return Option.none()
  try {
    return Option.some(creditUnitsOf({ units }))
  } catch {
    return Option.none()
  }
}

export const flags = {
  creditUnits: Flag.String("credit-units").pipe(
    Flag.withDescription(
      `How many decimals your units of credits have, such as ${EXAMPLE}. Default: BILLWRIGHT_CREDIT_UNITS, or none.`,
    ),
    Flag.withFallbackConfig(Config.String("BILLWRIGHT_CREDIT_UNITS").pipe(Config.withDefault(""))),
    Flag.filterMap(
      parse,
      (text) =>
        `must name each unit once, with 0 to 6 decimals, such as ${EXAMPLE}. A currency can't be one. It is ${text}`,
    ),
  ),
}
