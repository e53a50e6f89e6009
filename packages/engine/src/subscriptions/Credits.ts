/**
 * Credits: gives back of earlier lines what is not owed any more.
 */
import type { Explained } from "./Explained.ts"
import type { Documented, LineSubject, PeriodLine } from "./PeriodLine.ts"

/** `amount × part / whole`, halves away from zero, for amounts ≥ 0. */
const scaled = (amount: bigint, part: bigint, whole: bigint): bigint =>
  whole === 0n ? 0n : (2n * amount * part + whole) / (2n * whole)

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

interface Left {
  readonly line: Documented
  readonly amount: bigint
}

/** What is left of each line that charged something, the newest first. */
const leftOf = (documented: ReadonlyArray<Documented>): ReadonlyArray<Left> =>
  documented
    .filter(({ creditOf }) => creditOf === null)
    .map((line) => {
      const credited = documented
        .filter(({ creditOf }) => creditOf?.invoiceId === line.invoiceId && creditOf.lineId === line.lineId)
        .reduce((sum, { net }) => sum + net, 0n)
      return { line, amount: line.net + credited - line.forgiven }
    })
    .filter(({ amount }) => amount > 0n)
    .reverse()

/**
 * The credits that bring what was documented down to `target`. `change` is the difference, below 0, with its steps.
 *
 * A credit is net: of a line that had a discount, the same part of the discount is taken back. It is never more than is
 * left of the line after earlier credits and credit notes. Several lines of one run get a credit each, the newest first.
 *
 * Where too little is left, the credits document only the part of the change that they give back. So what a credit note
 * or a void invoice gave back is not billed again when there is more usage later.
 */
export const creditLines = (
  subject: LineSubject,
  target: bigint,
  change: Explained,
  documented: ReadonlyArray<Documented>,
): ReadonlyArray<PeriodLine> => {
  const gross = documented.reduce((sum, one) => sum + one.gross, 0n)
  const net = documented.reduce((sum, one) => sum + one.net, 0n)
  const fall = -change.amount
  const owed = target - scaled(gross - net, target, gross)
  const left = leftOf(documented)
  const most = left.reduce((sum, { amount }) => sum + amount, 0n)
  let rest = smaller(net - owed, most)
  const stated = scaled(fall, rest, net - owed)
  const lines: Array<PeriodLine> = []
  for (const { amount: available, line } of left) {
    const amount = -smaller(rest, available)
    if (amount >= 0n) break
    rest += amount
    const { steps } = change.less(change.amount - amount)
    lines.push({
      ...subject,
      kind: "credit",
      amount,
      gross: lines.length === 0 ? -stated : 0n,
      steps,
      creditOf: { invoiceId: line.invoiceId, lineId: line.lineId },
      burns: null,
    })
  }
  return lines
}
