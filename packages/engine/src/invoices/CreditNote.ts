/**
 * Credit notes: they restate what is left of an invoice. What a note credits is what was left before it, less what is
 * left after it, for each line and for each tax rate. So the notes of an invoice never exceed it, and sum to it exactly
 * when nothing is left.
 */
import { Problems } from "../catalog/Problem.ts"
import * as Allocate from "../money/Allocate.ts"
import { lesser, sumOf } from "./Amounts.ts"
import type { Invoice } from "./Invoice.ts"
import { InvoiceError, refuse } from "./InvoiceError.ts"
import { type Tax, type Taxed, type TaxBehavior, taxesOf, taxKey, type TaxRate } from "./Tax.ts"

/** Why money is given back. `usage_corrected`: less usage than was billed. */
export type CreditNoteReason =
  | "duplicate"
  | "fraudulent"
  | "order_change"
  | "unsatisfactory"
  | "usage_corrected"
  | "other"

export const CREDIT_NOTE_REASONS: ReadonlyArray<CreditNoteReason> = [
  "duplicate",
  "fraudulent",
  "order_change",
  "unsatisfactory",
  "usage_corrected",
  "other",
]

/** An amount of a line, after discounts: with its tax if the taxes of the invoice are inclusive, and without otherwise. */
export interface LineCredit {
  readonly lineId: string
  readonly amount: bigint
}

/** A line of a credit note. */
export interface CreditNoteLine extends LineCredit {
  readonly tax: TaxRate
}

/** The amounts of a credit note, in the minor unit of the invoice's currency. */
export interface CreditNoteAmounts {
  readonly lines: ReadonlyArray<CreditNoteLine>
  readonly taxBehavior: TaxBehavior
  /** The sum of the taxable amounts, without tax. */
  readonly net: bigint
  readonly tax: bigint
  readonly taxes: ReadonlyArray<Tax>
  /** Greater than 0. It is `waived` + `refund` + `toBalance`. */
  readonly total: bigint
  /** Lowers the amount due of the invoice. */
  readonly waived: bigint
  /** Goes back by the way it was paid. */
  readonly refund: bigint
  /** The customer gets it as paid credits, which pay later invoices. */
  readonly toBalance: bigint
}

/** A credit note. It never changes. */
export interface CreditNote extends CreditNoteAmounts {
  readonly id: string
  readonly number: string
  readonly invoiceId: string
  readonly customerId: string
  readonly currency: string
  readonly reason: CreditNoteReason
  readonly issuedAt: number
}

/** What to credit. */
export interface CreditRequest {
  /**
   * Amounts of lines; or `rest`: all that is left of all lines; or one amount, as those of lines are, which is spread over
   * the lines in proportion to what is left of each. Ties go to earlier lines.
   */
  readonly lines: ReadonlyArray<LineCredit> | "rest" | bigint
  /** How much of what the customer paid is refunded. The rest becomes paid credits. Default: 0. */
  readonly refund?: bigint
  /** What credit lines of later invoices gave back of these lines. It can't be credited again. */
  readonly givenBack?: ReadonlyArray<LineCredit>
}

type Note = Pick<CreditNoteAmounts, "lines" | "refund">

/** Adds credits up by line. */
const sumsByLine = (credits: ReadonlyArray<LineCredit>): ReadonlyMap<string, bigint> => {
  const sums = new Map<string, bigint>()
  for (const { amount, lineId } of credits) sums.set(lineId, (sums.get(lineId) ?? 0n) + amount)
  return sums
}

/** What is left of each line after some credits, with its tax rate. */
const leftAfter = (
  invoice: Pick<Invoice, "lines">,
  credits: ReadonlyArray<LineCredit>,
): ReadonlyArray<Taxed & { readonly lineId: string }> => {
  const credited = sumsByLine(credits)
  return invoice.lines.map(({ amount, discount, id, tax }) => ({
    lineId: id,
    amount: amount - discount - (credited.get(id) ?? 0n),
    tax,
  }))
}

/**
 * What is left of each line of an invoice after discounts, credit notes, and what credit lines of later invoices gave
 * back: the most that can still be given back of it.
 */
export const leftOfLines = (
  invoice: Pick<Invoice, "lines">,
  notes: ReadonlyArray<Pick<Note, "lines">>,
  givenBack: ReadonlyArray<LineCredit> = [],
): ReadonlyMap<string, bigint> =>
  new Map(
    leftAfter(invoice, [...notes.flatMap(({ lines }) => lines), ...givenBack]).map(({ amount, lineId }) => [
      lineId,
      amount,
    ]),
  )

/** Amounts of lines are greater than 0, of lines of the invoice, and no more than is left. */
const checkLines = (
  at: Problems,
  credits: ReadonlyArray<LineCredit>,
  left: ReadonlyMap<string, bigint>,
): void => {
  const seen = new Set<string>()
  for (const { amount, lineId } of credits) {
    const here = at.in(lineId)
    const most = left.get(lineId)
    if (most === undefined) here.add("is not a line of the invoice")
    else if (seen.has(lineId)) here.add("is listed twice")
    else if (most <= 0n) here.add("has nothing left to credit")
    else if (amount <= 0n || amount > most) here.add(`must be from 1 to ${most}, which is left of the line`)
    seen.add(lineId)
  }
}

/** What was taxed before, less what is taxed after: rates with a difference. */
const differenceOf = (before: ReadonlyArray<Tax>, after: ReadonlyArray<Tax>): ReadonlyArray<Tax> => {
  const rest = new Map(after.map((tax) => [taxKey(tax), tax]))
  return before
    .map((tax) => {
      const left = rest.get(taxKey(tax))
      return {
        ...tax,
        taxable: tax.taxable - (left?.taxable ?? 0n),
        amount: tax.amount - (left?.amount ?? 0n),
      }
    })
    .filter(({ amount, taxable }) => amount !== 0n || taxable !== 0n)
}

/** Splits the total of a note: off what is due, refunded, and as paid credits. */
const settle = (
  invoice: Invoice,
  notes: ReadonlyArray<Note>,
  total: bigint,
  refund: bigint,
): Pick<CreditNoteAmounts, "waived" | "refund" | "toBalance"> => {
  const waived = lesser(total, invoice.amountDue)
  const refunded = notes.reduce((sum, note) => sum + note.refund, 0n)
  const most = lesser(total - waived, invoice.amountPaid - refunded)
  if (refund < 0n || refund > most) {
    throw new InvoiceError([
      {
        path: "refund",
        problem: `must be from 0 to ${most}: no more than was paid, and not what is still due`,
      },
    ])
  }
  return { waived, refund, toBalance: total - waived - refund }
}

const withAmounts = (
  left: ReadonlyMap<string, bigint>,
  amounts: ReadonlyArray<bigint>,
): ReadonlyArray<LineCredit> =>
  Array.from(left.keys(), (lineId, index) => ({ lineId, amount: amounts[index]! })).filter(
    ({ amount }) => amount !== 0n,
  )

/** Longest position of a line, in digits. It makes the order of keys that of the lines. */
const POSITION_DIGITS = 9

/** Spreads an amount over what is left of the lines. Lines below 0 get nothing. */
const spread = (amount: bigint, left: ReadonlyMap<string, bigint>): ReadonlyArray<LineCredit> => {
  const weights = Array.from(left.values(), (each, index) => ({
    key: String(index).padStart(POSITION_DIGITS, "0"),
    weight: each > 0n ? each : 0n,
  }))
  const most = weights.reduce((sum, { weight }) => sum + weight, 0n)
  if (amount <= 0n || amount > most) {
    throw new InvoiceError([
      { path: "amount", problem: `must be from 1 to ${most}, which is left of the lines` },
    ])
  }
  return withAmounts(left, Allocate.allocate(amount, weights))
}

/** The lines to credit: as asked, spread, or all that is left. */
const creditsOf = (
  { lines }: CreditRequest,
  left: ReadonlyMap<string, bigint>,
): ReadonlyArray<LineCredit> => {
  if (typeof lines === "bigint") return spread(lines, left)
  return lines === "rest" ? withAmounts(left, [...left.values()]) : lines
}

/**
 * Computes the amounts of the next credit note of an issued invoice. `notes` are its earlier ones.
 *
 * The total lowers what is due first. What was paid already is refunded as far as the request says; the rest
 * becomes paid credits of the customer. Throws an {@link InvoiceError} when the invoice does not allow it, when a line gets
 * more than is left of it, when the total would not be greater than 0 or would exceed what is left of the invoice, or
 * when more would be refunded than was paid.
 */
export const creditNoteAmounts = (
  invoice: Invoice,
  notes: ReadonlyArray<Note>,
  request: CreditRequest,
): CreditNoteAmounts => {
  const at = new Problems("lines")
  if (!invoice.availableActions.includes("credit")) {
    throw new InvoiceError([{ path: "invoice", problem: `can't be credited: it is ${invoice.status}` }])
  }
  const left = leftOfLines(invoice, notes, request.givenBack)
  const credits = creditsOf(request, left)
  if (typeof request.lines === "object") checkLines(at, credits, left)
  refuse(at.found)
  const earlier = notes.flatMap(({ lines }) => lines)
  const behavior = invoice.taxBehavior
  const before = taxesOf(leftAfter(invoice, earlier), behavior)
  const after = taxesOf(leftAfter(invoice, [...earlier, ...credits]), behavior)
  const taxes = differenceOf(before, after)
  const net = taxes.reduce((sum, { taxable }) => sum + taxable, 0n)
  const tax = sumOf(taxes)
  const total = net + tax
  const most = invoice.total - invoice.amountCredited
  if (total <= 0n) at.add("must come to more than 0")
  else if (total > most)
    at.add(`must come to at most ${most}, which is left of the invoice: they come to ${total}`)
  refuse(at.found)
  const rates = new Map(invoice.lines.map((line) => [line.id, line.tax]))
  return {
    lines: credits.map(({ amount, lineId }) => ({ lineId, amount, tax: rates.get(lineId)! })),
    taxBehavior: behavior,
    net,
    tax,
    taxes,
    total,
    ...settle(invoice, notes, total, request.refund ?? 0n),
  }
}
