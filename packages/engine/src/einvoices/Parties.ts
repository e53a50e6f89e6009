import type { PostalAddress, Seller } from "../documents/Seller.ts"
/**
 * The seller and the buyer of an e-invoice, and how to pay.
 */
import type { TaxCategory } from "../invoices/Tax.ts"
import { ibanIn } from "./Iban.ts"
import type { EnAddress, EnParty, EnPayment } from "./Model.ts"
import { type EInvoiceCustomer, type Missing, textOf } from "./Source.ts"

/** Prefixes of VAT identifiers that are not the code of the country. */
const PREFIXES: Readonly<Record<string, ReadonlyArray<string>>> = { GR: ["EL"], GB: ["XI"] }

/** A tax id that begins with its country is a VAT identifier (BR-CO-09). */
const isVatId = (taxId: string, country: string | null | undefined): boolean =>
  country !== null &&
  country !== undefined &&
  [country, ...(PREFIXES[country] ?? [])].includes(taxId.slice(0, 2))

const addressOf = (address: PostalAddress | null | undefined, country: string): EnAddress => ({
  line1: textOf(address?.line1),
  line2: textOf(address?.line2),
  city: textOf(address?.city),
  postcode: textOf(address?.postcode),
  region: textOf(address?.region),
  country,
})

/** Categories of goods that leave the country: the seller needs a VAT identifier. */
const NEED_VAT_ID: ReadonlySet<TaxCategory> = new Set(["K", "G"])

/** The seller. What identifies it must not be a VAT identifier where there is no VAT (BR-O-02). */
export const sellerOf = (
  seller: Seller | null,
  categories: ReadonlySet<TaxCategory>,
  missing: Missing,
): EnParty | undefined => {
  const name = textOf(seller?.name)
  if (seller === null || name === null) {
    missing("BT-27", "Seller name", "invoices.seller.name")
    return undefined
  }
  const { country } = seller
  if (country === undefined) missing("BT-40", "Seller country code", "invoices.seller.country")
  const taxId = textOf(seller.taxId)
  const registration = textOf(seller.registration)
  const isOutside = categories.has("O")
  const vatId = taxId !== null && isVatId(taxId, country) ? taxId : null
  if (isOutside && taxId === null && registration === null) {
    missing("BT-30", "Seller legal registration identifier", "invoices.seller.registration")
  } else if (!isOutside && taxId === null) {
    missing("BT-31", "Seller VAT identifier", "invoices.seller.taxId")
  } else if (vatId === null && country !== undefined && [...categories].some((one) => NEED_VAT_ID.has(one))) {
    missing(
      "BT-31",
      "Seller VAT identifier",
      "invoices.seller.taxId",
      "must begin with the seller's country in categories K and G",
    )
  }
  const isIdentified = registration !== null || (vatId !== null && !isOutside)
  return {
    name,
    identifier: isIdentified ? null : taxId,
    registration,
    vatId: isOutside ? null : vatId,
    taxRegistration: isOutside || vatId !== null ? null : taxId,
    address: addressOf(seller.address, country ?? ""),
  }
}

/** The buyer. */
export const buyerOf = (
  customer: EInvoiceCustomer,
  categories: ReadonlySet<TaxCategory>,
  missing: Missing,
): EnParty => {
  const { country } = customer
  const name = textOf(customer.name)
  if (name === null) missing("BT-44", "Buyer name", "customer.name")
  if (country === null) missing("BT-55", "Buyer country code", "customer.country")
  const taxId = textOf(customer.taxId)
  const isVat = taxId !== null && isVatId(taxId, country)
  if (taxId === null && (categories.has("AE") || categories.has("K"))) {
    missing("BT-48", "Buyer VAT identifier", "customer.taxId", "is required in categories AE and K")
  } else if (!isVat && country !== null && categories.has("K")) {
    missing(
      "BT-48",
      "Buyer VAT identifier",
      "customer.taxId",
      "must begin with the buyer's country in category K",
    )
  }
  const isOutside = categories.has("O")
  return {
    name: name ?? "",
    identifier: null,
    registration: isVat ? null : taxId,
    vatId: isVat && !isOutside ? taxId : null,
    taxRegistration: null,
    address: addressOf(customer.address, country ?? ""),
  }
}

const BIC = /\bBIC\W{0,3}([A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?)\b/

/** How to pay, as the seller says it. An account is only what has the check digits of an IBAN. */
export const paymentOf = (seller: Seller | null, currency: string, number: string): EnPayment | null => {
  const text = textOf(seller?.paymentInstructions)
  if (text === null) return null
  const iban = ibanIn(text)
  return {
    code: iban === null ? "1" : currency === "EUR" ? "58" : "30",
    text: text.replaceAll(/\s*\r?\n\s*/g, "; "),
    reference: number,
    iban,
    bic: iban === null ? null : (BIC.exec(text)?.[1] ?? null),
  }
}
