/**
 * The VAT breakdown of an e-invoice.
 */
import type { Tax, TaxCategory } from "../invoices/Tax.ts"
import { rateOf } from "./Lines.ts"
import type { EnTax } from "./Model.ts"
import { type Missing, textOf } from "./Source.ts"

/** Reasons of categories that mean one thing only. */
const CODES: Readonly<Partial<Record<TaxCategory, string>>> = {
  AE: "VATEX-EU-AE",
  K: "VATEX-EU-IC",
  G: "VATEX-EU-G",
  O: "VATEX-EU-O",
}

const CODE_PREFIX = "VATEX-"

/** Why there is no tax, as a text or a code. Categories with a rate have none (BR-S-10, BR-Z-10). */
const reasonOf = (
  { category, reason }: Tax,
  missing: Missing,
): { readonly reason: string | null; readonly reasonCode: string | null } => {
  if (category === "S" || category === "Z") return { reason: null, reasonCode: null }
  const text = textOf(reason)
  if (text?.startsWith(CODE_PREFIX)) return { reason: null, reasonCode: text }
  const reasonCode = CODES[category] ?? null
  if (text === null && reasonCode === null) {
    missing("BT-120", "VAT exemption reason text", "taxes.reason", "is required in category E")
  }
  return { reason: text, reasonCode: text === null ? reasonCode : null }
}

/** One part for each category and rate: the norm does not know the countries of rates. */
export const taxesOf = (
  taxes: ReadonlyArray<Tax>,
  write: (units: bigint) => string,
  missing: Missing,
): ReadonlyArray<EnTax> => {
  const groups = new Map<string, Tax>()
  for (const tax of taxes) {
    const key = `${tax.category} ${rateOf(tax) ?? ""}`
    const before = groups.get(key)
    groups.set(key, {
      ...(before ?? tax),
      taxable: (before?.taxable ?? 0n) + tax.taxable,
      amount: (before?.amount ?? 0n) + tax.amount,
    })
  }
  const merged = [...groups.values()]
  if (merged.length > 1 && merged.some(({ category }) => category === "O")) {
    missing(
      "BT-118",
      "VAT category code",
      "taxes.category",
      "is O beside other categories, and the norm allows O only alone",
    )
  }
  return merged.map((tax) => ({
    taxable: write(tax.taxable),
    amount: write(tax.amount),
    category: tax.category,
    rate: rateOf(tax),
    ...reasonOf(tax, missing),
  }))
}
