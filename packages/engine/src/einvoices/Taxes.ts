/**
 * The VAT breakdown of an e-invoice.
 */
import type { Tax, TaxCategory, TaxRate } from "../invoices/Tax.ts"
import * as Exact from "../money/Exact.ts"
import { rateOf } from "./Lines.ts"
import type { EnTax } from "./Model.ts"
import { amountWriter, type Missing, MOST_DECIMALS, textOf } from "./Source.ts"

/** Reasons of categories that mean one thing only. */
const CODES: Readonly<Partial<Record<TaxCategory, string>>> = {
  AE: "VATEX-EU-AE",
  K: "VATEX-EU-IC",
  G: "VATEX-EU-G",
  O: "VATEX-EU-O",
}

const CODE_PREFIX = "VATEX-"

/** What parts several reasons in one text. */
const BETWEEN_REASONS = "; "

/** Taxes of one category and rate are one part: the norm does not know the countries of rates. */
const partOf = (tax: TaxRate): string => `${tax.category} ${rateOf(tax) ?? ""}`

/** What taxes are written from. */
interface Taxed {
  readonly currency: string
  readonly lines: ReadonlyArray<{ readonly tax: TaxRate }>
  readonly taxes: ReadonlyArray<Tax>
}

type Reasons = ReadonlySet<string | null>

const NO_REASON: Reasons = new Set([null])

/**
 * The reasons of each part, from the document's own lines: the taxes keep only the first reason of a rate, and those of a
 * credit note even that of a line that it may not credit.
 */
const reasonsOfLines = (lines: Taxed["lines"]): ReadonlyMap<string, Reasons> => {
  const reasons = new Map<string, Set<string | null>>()
  for (const { tax } of lines) {
    const part = partOf(tax)
    const ofPart = reasons.get(part) ?? new Set()
    reasons.set(part, ofPart.add(textOf(tax.reason) ?? CODES[tax.category] ?? null))
  }
  return reasons
}

/** Why there is no tax, as a text or a code. Categories with a rate have none (BR-S-10, BR-Z-10). */
const reasonOf = (
  category: TaxCategory,
  reasons: Reasons,
  missing: Missing,
): { readonly reason: string | null; readonly reasonCode: string | null } => {
  if (category === "S" || category === "Z") return { reason: null, reasonCode: null }
  // A line without a reason must not pass under that of another one.
  if (reasons.has(null)) {
    missing("BT-120", "VAT exemption reason text", "taxes.reason", "is required in category E")
  }
  const text = [...reasons].join(BETWEEN_REASONS)
  // There is one code at most (BT-121), and it would speak for the whole amount: several are given as a text.
  const isCode = reasons.size === 1 && text.startsWith(CODE_PREFIX)
  return isCode ? { reason: null, reasonCode: text } : { reason: text, reasonCode: null }
}

const merge = (taxes: ReadonlyArray<Tax>): ReadonlyMap<string, Tax> => {
  const parts = new Map<string, Tax>()
  for (const tax of taxes) {
    const part = partOf(tax)
    const before = parts.get(part)
    parts.set(part, {
      ...(before ?? tax),
      taxable: (before?.taxable ?? 0n) + tax.taxable,
      amount: (before?.amount ?? 0n) + tax.amount,
    })
  }
  return parts
}

const PERCENT_DIGITS = 2

/**
 * Whether validators take a tax for that of its taxable amount: it is less than 1 whole unit of the currency from it
 * (BR-CO-17, BR-S-09). They round the exact tax to cents before they compare, so we do, too.
 */
const isNearRate = ({ amount, rate, taxable }: Tax, digits: number): boolean => {
  const exact = Exact.multiply(
    Exact.ofUnits(taxable, digits),
    Exact.shift(Exact.ofDecimal(rate), PERCENT_DIGITS),
  )
  const rounded = Exact.ofUnits(Exact.roundTo(exact, MOST_DECIMALS), MOST_DECIMALS)
  const off = Exact.subtract(Exact.ofUnits(amount, digits), rounded)
  return Exact.compare(Exact.maximum(off, Exact.negate(off)), Exact.one) < 0
}

/** Where the smallest unit of a currency is a whole one, a sum of roundings can be too far from the rate. */
const checkRates = (
  parts: ReadonlyArray<Tax>,
  currency: string,
  digits: number,
  write: (units: bigint) => string,
  missing: Missing,
): void => {
  for (const tax of parts) {
    if (isNearRate(tax, digits)) continue
    const { amount, rate, taxable } = tax
    missing(
      "BT-117",
      "VAT category tax amount",
      "taxes.amount",
      `is ${write(amount)}, which is 1 ${currency} or more from ${rate} percent of ${write(taxable)}: validators refuse that`,
    )
  }
}

/** One part for each category and rate. */
export const taxesOf = (
  { currency, lines, taxes }: Taxed,
  digits: number,
  missing: Missing,
): ReadonlyArray<EnTax> => {
  const write = amountWriter(digits)
  const merged = merge(taxes)
  const parts = [...merged.values()]
  if (parts.length > 1 && parts.some(({ category }) => category === "O")) {
    missing(
      "BT-118",
      "VAT category code",
      "taxes.category",
      "is O beside other categories, and the norm allows O only alone",
    )
  }
  checkRates(parts, currency, digits, write, missing)
  const reasons = reasonsOfLines(lines)
  return Array.from(merged, ([part, tax]) => ({
    taxable: write(tax.taxable),
    amount: write(tax.amount),
    category: tax.category,
    rate: rateOf(tax),
    ...reasonOf(tax.category, reasons.get(part) ?? NO_REASON, missing),
  }))
}
