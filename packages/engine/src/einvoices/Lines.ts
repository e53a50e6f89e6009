/**
 * The lines of an e-invoice. A price is never below 0 (BR-27): money back has a quantity below 0.
 */
import { unitPriceOf } from "../documents/UnitPrice.ts"
import type { CreditNoteLine } from "../invoices/CreditNote.ts"
import { type Tax, type TaxBehavior, taxKey, taxParts, type TaxRate } from "../invoices/Tax.ts"
import * as Exact from "../money/Exact.ts"
import type { EnAllowance, EnLine, EnLineTax } from "./Model.ts"
import {
  type EInvoiceInput,
  type EInvoiceInvoice,
  type EInvoiceLine,
  type EInvoiceCreditNoteInput,
  periodOf,
  textOf,
} from "./Source.ts"

type Write = (units: bigint) => string

const DECIMAL = /^\d+(?:\.\d+)?$/

/** A rate, without zeros at its end. */
export const rateOf = ({ category, rate }: TaxRate): string | null =>
  category === "O" ? null : Exact.text(Exact.ofDecimal(rate))

const taxOf = (tax: TaxRate): EnLineTax => ({ category: tax.category, rate: rateOf(tax) })

interface Price {
  readonly quantity: string
  readonly price: string
  readonly baseQuantity: string | null
}

const absolute = (amount: bigint): bigint => (amount < 0n ? -amount : amount)

/**
 * A quantity and a price that come to the amount exactly. Where no price of one does, as in tiers, the price is that of
 * the whole quantity. A quantity that is no decimal above 0 can't have a price: it counts as one.
 */
const priceOf = (amount: bigint, quantity: string | null, write: Write): Price => {
  const sign = amount < 0n ? "-" : ""
  const price = write(absolute(amount))
  const size = quantity?.replace(/^-/, "") ?? "1"
  const isCounted = DECIMAL.test(size) && !Exact.isZero(Exact.ofDecimal(size)) && size !== "1"
  return isCounted
    ? { quantity: sign + size, price, baseQuantity: size }
    : { quantity: `${sign}1`, price, baseQuantity: null }
}

/** The price of one, if the line has only this one and it comes to the amount. */
const unitOf = (line: EInvoiceLine, digits: number): Price | undefined => {
  const { amount, quantity } = line
  const price = unitPriceOf(line)
  if (quantity === null || price === null || !DECIMAL.test(quantity) || !DECIMAL.test(price)) return undefined
  const comesTo = Exact.roundTo(Exact.multiply(Exact.ofDecimal(quantity), Exact.ofDecimal(price)), digits)
  return comesTo === amount ? { quantity, price, baseQuantity: null } : undefined
}

const nameOf = ({ charge, description, kind }: EInvoiceLine): string =>
  textOf(description) ?? textOf(charge) ?? kind

type Allowances = ReadonlyMap<string, ReadonlyArray<EnAllowance>>

/**
 * What each discount takes off the lines, by the ids of the lines. Every part is read once, because an invoice has up to
 * thousands of lines and of parts.
 */
const allowancesOf = ({ discounts }: EInvoiceInvoice, write: Write): Allowances => {
  const allowances = new Map<string, Array<EnAllowance>>()
  for (const { name, parts, type } of discounts) {
    const reason = textOf(name) ?? (type === "coupon" ? "Discount" : "Promotional credit")
    for (const { amount, lineId } of parts) {
      if (amount === 0n) continue
      const ofLine = allowances.get(lineId) ?? []
      ofLine.push({ amount: write(amount), reason })
      allowances.set(lineId, ofLine)
    }
  }
  return allowances
}

const invoiceLine = (
  line: EInvoiceLine,
  index: number,
  allowances: Allowances,
  input: EInvoiceInput,
  write: Write,
  digits: number,
): EnLine => {
  const { invoice } = input
  // Amounts that contain their tax are prices of no norm: the price is that of the net amount.
  const isExclusive = invoice.taxBehavior === "exclusive"
  return {
    id: String(index + 1),
    ...((isExclusive ? unitOf(line, digits) : undefined) ??
      priceOf(isExclusive ? line.amount : line.net, line.quantity, write)),
    net: write(line.net),
    period: periodOf(line, input),
    allowances: allowances.get(line.id) ?? [],
    tax: taxOf(line.tax),
    name: nameOf(line),
    sellerItemId: textOf(line.charge),
  }
}

/** The lines of an invoice. */
export const invoiceLines = (input: EInvoiceInput, write: Write, digits: number): ReadonlyArray<EnLine> => {
  const { invoice } = input
  // Amounts that contain their tax are given after discounts.
  const allowances: Allowances =
    invoice.taxBehavior === "exclusive" ? allowancesOf(invoice, write) : new Map()
  return invoice.lines.map((line, index) => invoiceLine(line, index, allowances, input, write, digits))
}

/**
 * The net amounts of a credit note's lines. They sum to the taxable amounts of the note: where those are the difference
 * of two rounded ones, the largest line takes what is over.
 */
export const creditNets = (
  lines: ReadonlyArray<CreditNoteLine>,
  taxes: ReadonlyArray<Tax>,
  behavior: TaxBehavior,
): ReadonlyArray<bigint> => {
  const nets = taxParts(lines, behavior).map(({ net }) => net)
  for (const tax of taxes) {
    const key = taxKey(tax)
    let largest = -1
    let over = tax.taxable
    for (const [index, line] of lines.entries()) {
      if (taxKey(line.tax) !== key) continue
      over -= nets[index]!
      if (largest === -1 || absolute(line.amount) > absolute(lines[largest]!.amount)) largest = index
    }
    if (largest !== -1) nets[largest]! += over
  }
  return nets
}

/** The lines of a credit note. */
export const creditLines = (input: EInvoiceCreditNoteInput, write: Write): ReadonlyArray<EnLine> => {
  const { lines, taxBehavior, taxes } = input.creditNote
  const nets = creditNets(lines, taxes, taxBehavior)
  const billed = new Map(input.invoice.lines.map((line) => [line.id, line]))
  return lines.map(({ lineId, tax }, index) => {
    const line = billed.get(lineId)
    const net = nets[index]!
    return {
      id: String(index + 1),
      ...priceOf(net, null, write),
      net: write(net),
      period: line === undefined ? null : periodOf(line, input),
      allowances: [],
      tax: taxOf(tax),
      name: line === undefined ? lineId : nameOf(line),
      sellerItemId: textOf(line?.charge),
    }
  })
}
