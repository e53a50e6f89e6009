/**
 * What credit notes take off the net amounts of lines.
 */
import type { CreditNote } from "../invoices/CreditNote.ts"
import { taxKey } from "../invoices/Tax.ts"
import * as Exact from "../money/Exact.ts"

const share = (taxable: bigint, seen: bigint, whole: bigint): bigint =>
  whole === 0n
    ? 0n
    : whole < 0n
      ? Exact.roundTo(Exact.ofFraction(-taxable * seen, -whole), 0)
      : Exact.roundTo(Exact.ofFraction(taxable * seen, whole), 0)

/**
 * What a credit note takes off the net of each line. The net of a tax rate is shared out along its lines: each gets the
 * difference of two rounded sums, so that they sum to it.
 */
export const netsOfNote = (note: Pick<CreditNote, "lines" | "taxes">): ReadonlyMap<string, bigint> => {
  const nets = new Map<string, bigint>()
  const groups = Map.groupBy(note.lines, ({ tax }) => taxKey(tax))
  for (const tax of note.taxes) {
    const lines = groups.get(taxKey(tax)) ?? []
    const whole = lines.reduce((sum, { amount }) => sum + amount, 0n)
    let [seen, shared] = [0n, 0n]
    for (const { amount, lineId } of lines) {
      seen += amount
      const until = seen === whole ? tax.taxable : share(tax.taxable, seen, whole)
      nets.set(lineId, until - shared)
      shared = until
    }
  }
  return nets
}
