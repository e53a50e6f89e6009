/**
 * The seller and the customer of a document.
 */
import { EU_COUNTRIES } from "../invoices/EuVat.ts"
import type { Fact, Party } from "./Document.ts"
import type { Format } from "./Format.ts"
import type { PostalAddress, Seller } from "./Seller.ts"
import type { Texts } from "./Texts.ts"

/** The customer, as documents show it. */
export interface Recipient {
  readonly name: string
  readonly address: PostalAddress | null
  readonly country: string | null
  readonly taxId: string | null
  /** The language tag of the customer. */
  readonly locale: string | null
  /** The time zone (IANA) whose days count for payment. `null`: the seller's. */
  readonly timezone: string | null
}

/** Countries whose tax is called VAT here. */
const VAT_COUNTRIES = new Set([...EU_COUNTRIES, "CH", "GB", "IS", "LI", "NO"])
/** Countries that write the postcode after the city. */
const POSTCODE_LAST = new Set(["AU", "CA", "GB", "IE", "IN", "NZ", "US"])

/** Countries whose paper is that of letters. */
const LETTER = new Set(["CA", "CL", "CO", "CR", "GT", "MX", "PA", "PH", "PR", "US"])

export const paperOf = (country: string | undefined): "A4" | "LETTER" =>
  country !== undefined && LETTER.has(country) ? "LETTER" : "A4"

export const isVat = (country: string | null | undefined): boolean =>
  country === null || country === undefined ? false : VAT_COUNTRIES.has(country)

const isText = (text: string | null | undefined): text is string =>
  text !== undefined && text !== null && text !== ""

/** The lines of a text. */
export const linesOfText = (text: string | undefined): ReadonlyArray<string> =>
  text === undefined ? [] : text.split(/\r?\n/)

const addressLines = (
  address: PostalAddress | null | undefined,
  country: string | null | undefined,
  format: Format,
): ReadonlyArray<string> => {
  const { city, line1, line2, postcode, region } = address ?? {}
  const isLast = isText(country) && POSTCODE_LAST.has(country)
  const place = isLast
    ? [[city, region].filter(isText).join(", "), postcode].filter(isText).join(" ")
    : [[postcode, city].filter(isText).join(" "), region].filter(isText).join(", ")
  return [line1, line2, place, isText(country) ? format.country(country) : undefined].filter(isText)
}

const taxFact = (
  taxId: string | null | undefined,
  country: string | null | undefined,
  texts: Texts,
): ReadonlyArray<Fact> =>
  isText(taxId) ? [{ label: isVat(country) ? texts.vatId : texts.taxId, value: taxId }] : []

export const sellerOf = (seller: Seller, texts: Texts, format: Format): Party => ({
  label: texts.seller,
  name: seller.name,
  lines: [...addressLines(seller.address, seller.country, format), ...linesOfText(seller.contact)],
  facts: [
    ...taxFact(seller.taxId, seller.country, texts),
    ...(isText(seller.registration) ? [{ label: texts.registration, value: seller.registration }] : []),
  ],
})

export const customerOf = (customer: Recipient, texts: Texts, format: Format): Party => ({
  label: texts.customer,
  name: customer.name,
  lines: addressLines(customer.address, customer.country, format),
  facts: taxFact(customer.taxId, customer.country, texts),
})
