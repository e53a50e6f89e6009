/**
 * The taxes of a document.
 */
import { CUSTOMER_EXEMPT, NOT_TAXED, type Tax, TAX_NOT_KNOWN, type TaxRate } from "../invoices/Tax.ts"
import type { TaxSummary } from "./Document.ts"
import type { Format } from "./Format.ts"
import { isVat } from "./Parties.ts"
import type { Texts } from "./Texts.ts"

/** Reasons that are not the host's own words: documents have words of their own for them, in each language. */
const isOwn = (reason: string | null): boolean =>
  reason === null || reason === NOT_TAXED || reason === CUSTOMER_EXEMPT || reason.startsWith("VATEX-")

/** Whether the host taxes at all. */
const isTaxed = ({ category, reason }: TaxRate): boolean =>
  category !== "O" || (reason !== NOT_TAXED && reason !== TAX_NOT_KNOWN)

/** The name of the tax of a country. Without one it is that of the seller's country. */
export const taxName = ({ country }: TaxRate, seller: string | undefined, texts: Texts): string =>
  isVat(country ?? seller) ? texts.vat : texts.tax

/** A rate as a line shows it. `null` where nothing is taxed. */
export const rateText = (tax: TaxRate, format: Format): string | null =>
  isTaxed(tax) ? format.percent(tax.rate) : null

export const taxSummaryOf = (
  taxes: ReadonlyArray<Tax>,
  seller: string | undefined,
  texts: Texts,
  format: Format,
): TaxSummary | null => {
  const taxed = taxes.filter(isTaxed)
  if (taxed.length === 0) return null
  const countries = new Set(taxed.map(({ country }) => country))
  const nameOf = (tax: Tax): string => {
    const name = texts.categories[tax.category] || taxName(tax, seller, texts)
    return countries.size > 1 && tax.country !== null ? `${name}, ${format.country(tax.country)}` : name
  }
  return {
    caption: texts.taxes,
    columns: [texts.tax, texts.rate, texts.taxable, texts.tax, texts.gross],
    rows: taxed.map((tax) => [
      nameOf(tax),
      format.percent(tax.rate),
      format.money(tax.taxable),
      format.money(tax.amount),
      format.money(tax.taxable + tax.amount),
    ]),
  }
}

const noteOf = ({ category, reason }: TaxRate, texts: Texts): string => {
  if (reason === TAX_NOT_KNOWN) return texts.taxNotKnown
  const note = texts.exemptions[category]
  // The host's own words stand beside those that the law wants.
  return isOwn(reason) ? note : [note, reason].filter(Boolean).join(" ")
}

/**
 * What has to be said about taxes that are 0. It takes the rates of the document's own lines, because the sums of taxes keep
 * only the first reason of a rate.
 */
export const taxNotes = (rates: ReadonlyArray<TaxRate>, texts: Texts): ReadonlyArray<string> => {
  const said = rates
    .filter((tax) => isTaxed(tax) || tax.reason === TAX_NOT_KNOWN)
    .map((tax) => noteOf(tax, texts))
  return [...new Set(said)].filter((note) => note !== "")
}
