/**
 * An invoice or a credit note in the semantic model of EN 16931-1. Amounts, prices, quantities and rates are exact decimals
 * in texts, and dates are days such as `2026-11-22`. Each field names its business term.
 */
import type { TaxCategory } from "../invoices/Tax.ts"

/** BG-5, BG-8: a postal address. */
export interface EnAddress {
  /** BT-35, BT-50. */
  readonly line1: string | null
  /** BT-36, BT-51. */
  readonly line2: string | null
  /** BT-37, BT-52. */
  readonly city: string | null
  /** BT-38, BT-53. */
  readonly postcode: string | null
  /** BT-39, BT-54. */
  readonly region: string | null
  /** BT-40, BT-55: ISO 3166-1, two upper-case letters. */
  readonly country: string
}

/** BG-4, BG-7: the seller or the buyer. */
export interface EnParty {
  /** BT-27, BT-44. */
  readonly name: string
  /** BT-29: only of a seller that neither a registration nor a VAT identifier identifies. */
  readonly identifier: string | null
  /** BT-30, BT-47: the legal registration. */
  readonly registration: string | null
  /** BT-31, BT-48: the VAT identifier, with the prefix of its country. */
  readonly vatId: string | null
  /** BT-32: the tax registration of a seller that is no VAT identifier. */
  readonly taxRegistration: string | null
  readonly address: EnAddress
}

/** BG-14, BG-26: the first and the last day of a service. */
export interface EnPeriod {
  /** BT-73, BT-134. */
  readonly start: string
  /** BT-74, BT-135. */
  readonly end: string
}

/** BG-16: how to pay. */
export interface EnPayment {
  /** BT-81 (UNCL 4461): `58` is a SEPA credit transfer, `30` another one, and `1` is said in words. */
  readonly code: "58" | "30" | "1"
  /** BT-82: the words. */
  readonly text: string
  /** BT-83: what to name in the payment. */
  readonly reference: string
  /** BT-84. */
  readonly iban: string | null
  /** BT-86. */
  readonly bic: string | null
}

/** BG-30: the tax of a line. */
export interface EnLineTax {
  /** BT-151. */
  readonly category: TaxCategory
  /** BT-152, in percent. `null` in category `O`. */
  readonly rate: string | null
}

/** BG-27: what a discount takes off a line. */
export interface EnAllowance {
  /** BT-136. */
  readonly amount: string
  /** BT-139. */
  readonly reason: string
}

/** BG-25: a line. */
export interface EnLine {
  /** BT-126: the number of the line, from 1. */
  readonly id: string
  /** BT-129: below 0 for money back. */
  readonly quantity: string
  /** BT-131: after discounts, without tax. */
  readonly net: string
  readonly period: EnPeriod | null
  readonly allowances: ReadonlyArray<EnAllowance>
  /** BT-146: the price of `baseQuantity`, without tax: 0 or more. */
  readonly price: string
  /** BT-149. `null`: the price is that of one. */
  readonly baseQuantity: string | null
  readonly tax: EnLineTax
  /** BT-153. */
  readonly name: string
  /** BT-155: the key of the charge. */
  readonly sellerItemId: string | null
}

/** BG-23: the tax of one category and rate. */
export interface EnTax {
  /** BT-116. */
  readonly taxable: string
  /** BT-117. */
  readonly amount: string
  /** BT-118. */
  readonly category: TaxCategory
  /** BT-119, in percent. `null` in category `O`. */
  readonly rate: string | null
  /** BT-120: why there is no tax. Where lines have several reasons it is all of them, with semicolons between. */
  readonly reason: string | null
  /** BT-121: the same as a code, such as `VATEX-EU-AE`. */
  readonly reasonCode: string | null
}

/** BG-22: the totals. */
export interface EnTotals {
  /** BT-106: the sum of the lines. */
  readonly lines: string
  /** BT-109: without tax. */
  readonly net: string
  /** BT-110. */
  readonly tax: string
  /** BT-112: with tax. */
  readonly gross: string
  /** BT-113: what was settled when the document was issued. */
  readonly paid: string
  /** BT-115. */
  readonly due: string
}

/** An invoice (BT-3 is `380`) or a credit note (`381`). */
export interface En16931Invoice {
  /** BT-1. */
  readonly number: string
  /** BT-2. */
  readonly issueDate: string
  /** BT-3 (UNCL 1001). */
  readonly typeCode: "380" | "381"
  /** BT-5. */
  readonly currency: string
  /** BT-9. */
  readonly dueDate: string | null
  /** BT-20. */
  readonly terms: string | null
  /** BT-22, each of a BG-1. */
  readonly notes: ReadonlyArray<string>
  /** BG-3: the invoice that a credit note credits (BT-25 and BT-26). */
  readonly preceding: { readonly number: string; readonly issueDate: string } | null
  readonly seller: EnParty
  readonly buyer: EnParty
  readonly period: EnPeriod | null
  /** BT-80: where goods go within the EU (category `K`). */
  readonly deliveryCountry: string | null
  readonly payment: EnPayment | null
  readonly totals: EnTotals
  readonly taxes: ReadonlyArray<EnTax>
  readonly lines: ReadonlyArray<EnLine>
}

/** BT-24: what a document keeps to. */
export const EN16931_SPECIFICATION = "urn:cen.eu:en16931:2017"

/** Why a document can't be an e-invoice: a term that is missing or wrong, and what to fill in. */
export interface EInvoiceProblem {
  /** The business term, such as `BT-40`. */
  readonly term: string
  /** The name of the term in the norm: `Seller country code`. */
  readonly name: string
  /** Our field: `invoices.seller.country` is an option of `createBilling`, and `customer.taxId` one of the customer. */
  readonly field: string
  readonly problem: string
}

/** The document, or all that is missing. It is never half of a document. */
export type EInvoiceResult =
  | { readonly type: "document"; readonly document: En16931Invoice }
  | { readonly type: "problems"; readonly problems: ReadonlyArray<EInvoiceProblem> }
