/**
 * Which periods have no new lines, found without rating them again.
 *
 * Most periods are billed once and never change afterwards, and each invoice looks at many of them.
 */
import { type Charge, pricesEachRecord } from "../catalog/Charge.ts"
import type { PeriodInput } from "./PeriodInput.ts"
import type { Documented } from "./PeriodLine.ts"
import { isFee, isWhole } from "./Runs.ts"
import { quantityText, type UsageTotal } from "./Usage.ts"

const isOf = ({ charge, group }: UsageTotal, one: Documented): boolean =>
  one.charge === charge && one.group === group

/** Whether a charge has its line. A draft whose lines all fell away keeps them, with amounts of 0. */
const isBilled = (charge: Charge, documented: ReadonlyArray<Documented>): boolean =>
  documented.some((one) => one.charge === charge.key && (one.gross !== 0n || !isFee(charge)))

/**
 * Whether documents bill all that a period costs, because each charge has one line, and that line is of the usage that
 * there is now. A price depends on nothing else in a period that was never cut. False says nothing: rate the period.
 */
export const isSettled = (input: PeriodInput): boolean => {
  const { currency, documented, isRestated = false, period, termsOf, totals, until } = input
  const [{ plan }] = period.segments
  if (plan === null || period.trial !== null || !isWhole(period) || period.end > until) return false
  if (isRestated) return false
  const { charges, minimum } = termsOf(plan)
  if (minimum?.[currency] !== undefined || charges.some(pricesEachRecord)) return false
  // The first line of a charge has its whole price. Later ones are adjustments and credits.
  if (documented.some(({ kind }) => kind !== "advance" && kind !== "usage")) return false
  return (
    documented.length === charges.filter(isFee).length + totals.length &&
    charges.every((charge) => charge.by !== undefined || isBilled(charge, documented)) &&
    totals.every((total) =>
      documented.some((one) => isOf(total, one) && one.quantity === quantityText(total.after)),
    )
  )
}
