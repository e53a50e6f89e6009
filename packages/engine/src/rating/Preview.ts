/**
 * What a plan costs for given quantities, line by line.
 */
import { type Charge, isUsageForMoney } from "../catalog/Charge.ts"
import { isFields } from "../catalog/FieldRules.ts"
import type { PlanTerms } from "../catalog/Plan.ts"
import { pathTo, type Problem, Problems } from "../catalog/Problem.ts"
import type { Quantity } from "./Quantity.ts"
import { creditRater, rate, type Rated } from "./Rate.ts"
import { RatingError } from "./RatingError.ts"
import { type CreditUnits, type DecimalsOf, decimalsIn, problemsOfCreditUnits } from "./Units.ts"

/** What to rate. */
export interface PreviewInput<ChargeKey extends string = string> {
  /** The ISO 4217 code of a currency of the plan. Default: the only currency of the plan. */
  readonly currency?: string
  /**
   * The quantity of a full period by the key of the charge. Charges that are left out have 0. Flat fees take none. A
   * charge that prices each record takes the quantity as one record.
   */
  readonly quantities?: { readonly [Key in ChargeKey]?: Quantity }
  /** The units of credits that charges burn, as `createBilling` has them. Default: they have no decimals. */
  readonly units?: CreditUnits
}

/** What one charge costs. */
export interface PreviewLine extends Rated {
  /** The key of the charge. `null` on the line that raises all usage charges to the plan's minimum. */
  readonly charge: string | null
  /** The name of the charge, or else its key. */
  readonly name: string
}

/** What a plan costs for a full period. */
export interface PlanPreview {
  readonly currency: string
  /** A line for each charge, in the order of the plan, and one for the plan's minimum if usage is below it. */
  readonly lines: ReadonlyArray<PreviewLine>
  /** The sum of the lines, in the minor unit of the currency. */
  readonly total: bigint
}

const currencyOf = (at: Problems, { currencies }: PlanTerms, asked: string | undefined): string => {
  const [only] = currencies
  if (asked === undefined && currencies.length === 1 && only !== undefined) return only
  if (asked === undefined)
    at.in("currency").add(`is required: the plan has prices in ${currencies.join(", ")}`)
  else if (!currencies.includes(asked)) {
    at.in("currency").add(`must be a currency of the plan: ${currencies.join(", ")}`)
  }
  return asked ?? ""
}

/** Reports quantities that belong to no charge. */
const checkQuantities = (at: Problems, { charges }: PlanTerms, quantities: unknown): void => {
  if (!isFields(quantities)) {
    at.add(`must be an object of quantities by the keys of charges, such as {"seats": 5}`)
    return
  }
  for (const key of Object.keys(quantities)) {
    const charge = charges.find((one) => one.key === key)
    if (charge === undefined) at.in(key).add("is not a charge of the plan")
    else if (charge.model === "flat") at.in(key).add("must be left out: a flat fee has no quantity")
  }
}

/** Rates a charge. Adds the problems of its quantity to `found`, so that those of all charges are reported at once. */
const lineOf = (
  charge: Charge,
  quantities: NonNullable<PreviewInput["quantities"]>,
  currency: string,
  decimalsOf: DecimalsOf,
  found: Array<Problem>,
): PreviewLine | undefined => {
  const { key, name = key } = charge
  const quantity = Object.hasOwn(quantities, key) ? quantities[key] : undefined
  try {
    const rated =
      charge.burns === undefined
        ? rate(charge, quantity ?? 0n, { currency })
        : burnt(charge.burns, creditRater(charge, decimalsOf(charge.burns)).rate(quantity ?? 0n))
    return { charge: key, name, ...rated }
  } catch (error) {
    if (!(error instanceof RatingError)) throw error
    for (const { path, problem } of error.problems) {
      found.push({ path: path.replace(/^quantity/, pathTo("quantities", key)), problem })
    }
    return undefined
  }
}

/** What burns credits costs no money. Its last step says how many credits. */
const burnt = (unit: string, { steps }: Pick<Rated, "steps">): Rated => {
  const last = steps.at(-1)
  const credits = last?.type === "round" ? last.amount : "0"
  return { amount: 0n, exact: "0", steps: [...steps, { type: "burn", unit, credits, amount: "0" }] }
}

const sumOf = (lines: ReadonlyArray<Rated>): bigint => lines.reduce((sum, { amount }) => sum + amount, 0n)

/** The line that raises usage to the plan's minimum; none if usage costs as much or more. */
const minimumLine = (
  { minimum }: PlanTerms,
  currency: string,
  usage: ReadonlyArray<Rated>,
): ReadonlyArray<PreviewLine> => {
  if (minimum === undefined) return []
  const charge: Charge = { key: "minimum", model: "flat", price: minimum }
  const rated = rate(charge, 0n, { currency, billedBefore: sumOf(usage) })
  return rated.amount > 0n ? [{ charge: null, name: "Minimum", ...rated }] : []
}

/**
 * Computes what a valid plan costs for the quantities of a full period, with the function that invoices use
 * ({@link rate}). Throws a {@link RatingError} with all problems of the input: `quantities.seats must be 0 or more`.
 */
export const previewPlan = (
  plan: PlanTerms,
  { currency: asked, quantities = {}, units = {} }: PreviewInput = {},
): PlanPreview => {
  const at = new Problems()
  const currency = currencyOf(at, plan, asked)
  checkQuantities(at.in("quantities"), plan, quantities)
  at.found.push(...problemsOfCreditUnits(units))
  const [first, ...others] = at.found
  if (first !== undefined) throw new RatingError([first, ...others])
  const decimalsOf = decimalsIn(units)
  const found: Array<Problem> = []
  const lines = plan.charges.flatMap((charge) => {
    const line = lineOf(charge, quantities, currency, decimalsOf, found)
    return line === undefined ? [] : [{ charge, line }]
  })
  const [wrong, ...more] = found
  if (wrong !== undefined) throw new RatingError([wrong, ...more])
  const usage = lines.filter(({ charge }) => isUsageForMoney(charge)).map(({ line }) => line)
  const all = [...lines.map(({ line }) => line), ...minimumLine(plan, currency, usage)]
  return { currency, lines: all, total: sumOf(all) }
}
