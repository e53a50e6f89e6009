/**
 * Checkers: rules that every stored document must keep. They compute the amounts from the document alone, and share
 * nothing with the code that assembled it but the rounding of one number. All give problems with their paths, and an
 * empty list when the rules hold.
 */
import { type Problem, Problems } from "../catalog/Problem.ts"
import * as Currency from "../money/Currency.ts"
import * as Exact from "../money/Exact.ts"
import { ExplanationError, fold, type Step } from "../rating/Step.ts"
import { percentOf } from "./Amounts.ts"
import type { CreditNoteAmounts } from "./CreditNote.ts"
import { dueOf, type Invoice } from "./Invoice.ts"
import { foldInvoice, InvoiceExplanationError } from "./InvoiceStep.ts"
import type { Burnt } from "./Line.ts"
import { readNumber } from "./Numbering.ts"
import { netOfGross, type TaxBehavior, taxKey } from "./Tax.ts"

/** The credits that steps end with, in the smallest part of the unit, and the decimals that they were rounded to. */
const burntBySteps = (
  steps: ReadonlyArray<Step>,
): { readonly amount: bigint; readonly decimals?: number } => {
  const last = steps.at(-1)
  if (last?.type !== "burn") return { amount: 0n }
  const decimals = steps.findLast((step) => step.type === "round")?.digits ?? 0
  return { amount: Exact.roundTo(Exact.ofText(last.credits), decimals), decimals }
}

/** What a line says to burn is what its steps give, in the same decimals. */
const checkBurnt = (at: Problems, burns: Burnt | null, burnt: ReturnType<typeof burntBySteps>): void => {
  const amount = burns?.amount ?? 0n
  if (amount !== burnt.amount) at.add(`is ${amount}, but its steps give ${burnt.amount}`)
  if (burns === null || burnt.decimals === undefined) return
  const { decimals = 0 } = burns
  if (decimals !== burnt.decimals) at.add(`has ${decimals} decimals, but its steps have ${burnt.decimals}`)
}

/**
 * J1: the amount of each line is the fold of its steps, so are the credits that it burns, and its quantity is what its receipt
 * says.
 */
export const problemsOfLines = ({
  currency,
  lines,
}: Pick<Invoice, "currency" | "lines">): ReadonlyArray<Problem> => {
  const at = new Problems("lines")
  const digits = Currency.exponentOf(currency)
  for (const [index, { amount, origin, quantity, receipt, steps }] of lines.entries()) {
    const here = at.in(index)
    if (receipt !== null && receipt.total !== quantity) {
      here.in("quantity").add(`is ${quantity}, but its receipt has a total of ${receipt.total}`)
    }
    try {
      const folded = fold(steps, digits ?? 0)
      if (folded !== amount) here.in("amount").add(`is ${amount}, but its steps give ${folded}`)
      checkBurnt(here.in("burns"), origin?.burns ?? null, burntBySteps(steps))
    } catch (error) {
      if (!(error instanceof ExplanationError)) throw error
      here.in("steps").add(`are not consistent: ${error.message}`)
    }
  }
  return at.found
}

const same = (at: Problems, stated: bigint, computed: bigint, what: string): void => {
  if (stated !== computed) at.add(`is ${stated}, but ${what} is ${computed}`)
}

const sumOf = <A>(values: ReadonlyArray<A>, amountOf: (value: A) => bigint): bigint =>
  values.reduce((sum, value) => sum + amountOf(value), 0n)

const checkDiscounts = (at: Problems, { discounts, lines }: Invoice): void => {
  const byLine = new Map<string, bigint>()
  for (const [index, { amount, parts }] of discounts.entries()) {
    same(
      at.in("discounts").in(index).in("amount"),
      amount,
      sumOf(parts, (part) => part.amount),
      "the sum of its parts",
    )
    for (const part of parts) byLine.set(part.lineId, (byLine.get(part.lineId) ?? 0n) + part.amount)
  }
  for (const [index, { discount, id }] of lines.entries()) {
    same(
      at.in("lines").in(index).in("discount"),
      discount,
      byLine.get(id) ?? 0n,
      "the sum of its parts of discounts",
    )
    byLine.delete(id)
  }
  for (const id of byLine.keys()) at.in("discounts").add(`have a part for ${id}, which is not a line`)
}

/** The tax on amounts of one rate. */
const taxOn = (amount: bigint, rate: string, behavior: TaxBehavior): bigint =>
  behavior === "exclusive" ? percentOf(amount, rate) : amount - netOfGross(amount, rate)

/** The taxes by rate, each compared with the lines of the rate. */
const checkTaxes = (at: Problems, invoice: Pick<Invoice, "lines" | "taxBehavior" | "taxes">): void => {
  const taxes = new Map(invoice.taxes.map((tax) => [taxKey(tax), tax]))
  if (taxes.size !== invoice.taxes.length) at.add("has a rate twice")
  for (const [key, { amount, rate, taxable }] of taxes) {
    const lines = invoice.lines.filter((line) => taxKey(line.tax) === key)
    const here = at.in(key)
    same(
      here.in("taxable"),
      taxable,
      sumOf(lines, ({ net }) => net),
      "the sum of the net amounts of its lines",
    )
    const given = sumOf(lines, (line) => line.amount - line.discount)
    same(here.in("amount"), amount, taxOn(given, rate, invoice.taxBehavior), "the tax on its lines")
  }
  for (const { id, tax } of invoice.lines) {
    if (!taxes.has(taxKey(tax))) at.add(`has no rate ${taxKey(tax).trim()}, which line ${id} has`)
  }
}

const checkSteps = (at: Problems, { applied, steps, total, credited }: Invoice): void => {
  try {
    const folded = foldInvoice(steps)
    same(at.in("total"), total, folded.total, "what its steps give")
    const issuedDue = total + credited - sumOf(applied, ({ amount }) => amount)
    same(at.in("steps"), folded.due, issuedDue, "what is due after credits")
  } catch (error) {
    if (!(error instanceof InvoiceExplanationError)) throw error
    at.in("steps").add(`are not consistent: ${error.message}`)
  }
}

const checkDue = (at: Problems, invoice: Invoice): void => {
  const { amountDue, status, total } = invoice
  same(at.in("amountDue"), amountDue, status === "void" ? 0n : dueOf(invoice), "what is left to pay")
  same(at.in("credited"), invoice.credited, total < 0n ? -total : 0n, "what the total is below 0")
  for (const field of ["amountDue", "amountPaid", "amountCredited", "amountWaived"] as const) {
    if (invoice[field] < 0n) at.in(field).add("must be 0 or more")
  }
  if (status === "paid" && amountDue !== 0n) at.in("status").add("is paid, but something is due")
  if ((status === "open" || status === "uncollectible") && amountDue === 0n) {
    at.in("status").add(`is ${status}, but nothing is due`)
  }
}

/** J2: an invoice is the sum of its lines, discounts and taxes, and of what was paid of it. */
export const problemsOfSums = (invoice: Invoice): ReadonlyArray<Problem> => {
  const at = new Problems()
  const { lines, subtotal, tax, taxes, total } = invoice
  same(
    at.in("subtotal"),
    subtotal,
    sumOf(lines, ({ amount }) => amount),
    "the sum of the lines",
  )
  checkDiscounts(at, invoice)
  checkTaxes(at.in("taxes"), invoice)
  same(
    at.in("tax"),
    tax,
    sumOf(taxes, ({ amount }) => amount),
    "the sum of the taxes",
  )
  same(at.in("total"), total, sumOf(lines, ({ net }) => net) + tax, "the sum of net amounts and tax")
  checkSteps(at, invoice)
  checkDue(at, invoice)
  return at.found
}

/** Each note is the sum of its parts. */
const checkNotes = (at: Problems, notes: ReadonlyArray<CreditNoteAmounts>): void => {
  for (const [index, { net, refund, tax, taxes, toBalance, total, waived }] of notes.entries()) {
    const here = at.in(index)
    same(here.in("total"), total, net + tax, "net amount and tax")
    same(here.in("total"), total, waived + refund + toBalance, "what is waived, refunded and credited")
    same(
      here.in("tax"),
      tax,
      sumOf(taxes, ({ amount }) => amount),
      "the sum of the taxes",
    )
  }
}

/** No line is credited with more than it has. Gives what is left of the lines of each rate. */
const checkCreditedLines = (
  at: Problems,
  { lines }: Invoice,
  notes: ReadonlyArray<CreditNoteAmounts>,
): ReadonlyMap<string, bigint> => {
  const byLine = new Map<string, bigint>()
  for (const { amount, lineId } of notes.flatMap((note) => note.lines)) {
    byLine.set(lineId, (byLine.get(lineId) ?? 0n) + amount)
  }
  const left = new Map<string, bigint>()
  for (const { amount, discount, id, tax } of lines) {
    const credited = byLine.get(id) ?? 0n
    const most = amount - discount
    if (most >= 0n ? credited > most || credited < 0n : credited < most || credited > 0n) {
      at.in(id).add(`are ${credited} of a line of ${most}`)
    }
    left.set(taxKey(tax), (left.get(taxKey(tax)) ?? 0n) + most - credited)
    byLine.delete(id)
  }
  for (const id of byLine.keys()) at.in(id).add("are of a line that the invoice does not have")
  return left
}

/** The tax of the invoice, less that of its notes, is the tax on what is left of the lines. */
const checkTaxLeft = (
  at: Problems,
  { taxBehavior, taxes }: Invoice,
  notes: ReadonlyArray<CreditNoteAmounts>,
  left: ReadonlyMap<string, bigint>,
): void => {
  const credited = new Map<string, bigint>()
  for (const tax of notes.flatMap((note) => note.taxes)) {
    credited.set(taxKey(tax), (credited.get(taxKey(tax)) ?? 0n) + tax.amount)
  }
  for (const tax of taxes) {
    const key = taxKey(tax)
    const rest = taxOn(left.get(key) ?? 0n, tax.rate, taxBehavior)
    same(at.in(key), credited.get(key) ?? 0n, tax.amount - rest, "the tax less that on what is left")
  }
}

/**
 * The credit notes of an invoice: each is the sum of its parts, and together they never exceed the invoice, neither a
 * line nor the total. The tax that is left is right for what is left of the lines. `notes` are all of the invoice.
 */
export const problemsOfCreditNotes = (
  invoice: Invoice,
  notes: ReadonlyArray<CreditNoteAmounts>,
): ReadonlyArray<Problem> => {
  const at = new Problems("notes")
  checkNotes(at, notes)
  const left = checkCreditedLines(at, invoice, notes)
  checkTaxLeft(at, invoice, notes, left)
  const credited = sumOf(notes, ({ total }) => total)
  same(at.in("total"), invoice.amountCredited, credited, "the sum of the notes")
  if (credited > invoice.total && notes.length > 0) at.add(`are ${credited} of a total of ${invoice.total}`)
  return at.found
}

/** A document of a series, as it was issued. */
export interface NumberedDocument {
  readonly number: string
  readonly issuedAt: number
}

/**
 * J4: the numbers of a series are consecutive from 1, in each year if the format has one, and their instants never
 * fall. `documents` are all of the series, in the order of their numbers.
 */
export const problemsOfSeries = (
  format: string,
  documents: ReadonlyArray<NumberedDocument>,
): ReadonlyArray<Problem> => {
  const at = new Problems("documents")
  let last: { readonly year: number | null; readonly counter: number; readonly issuedAt: number } | undefined
  for (const [index, { issuedAt, number }] of documents.entries()) {
    const here = at.in(index)
    const read = readNumber(format, number)
    if (read === undefined) {
      here.in("number").add(`is ${number}, which is not in the format ${format}`)
      continue
    }
    const expected = last !== undefined && last.year === read.year ? last.counter + 1 : 1
    if (read.counter !== expected) here.in("number").add(`is ${number}, but ${expected} comes next`)
    if (last !== undefined && (read.year ?? 0) < (last.year ?? 0))
      here.in("number").add("is of an earlier year")
    if (last !== undefined && issuedAt < last.issuedAt)
      here.in("issuedAt").add("is before the document before")
    last = { ...read, issuedAt }
  }
  return at.found
}
