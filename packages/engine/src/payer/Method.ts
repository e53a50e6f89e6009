/**
 * A saved payment method as payers see it: its brand and its last digits, and nothing else of its number.
 */
import { fill } from "../documents/Texts.ts"
import type { PayerTexts } from "./Texts.ts"

export interface MethodView {
  /** What the provider calls it, such as `visa`. */
  readonly brand: string | null
  readonly last4: string | null
}

/** Brands that are not written as they are called. */
const BRANDS: Readonly<Record<string, string>> = {
  amex: "American Express",
  jcb: "JCB",
  mastercard: "Mastercard",
  sepa_debit: "SEPA",
  unionpay: "UnionPay",
  visa: "Visa",
}

const brandName = (brand: string): string =>
  Object.hasOwn(BRANDS, brand) ? BRANDS[brand]! : `${brand.slice(0, 1).toUpperCase()}${brand.slice(1)}`

export const methodName = ({ brand, last4 }: MethodView, texts: PayerTexts): string => {
  if (last4 === null) return brand === null ? texts.unknownMethod : brandName(brand)
  return fill(texts.method, { brand: brand === null ? "" : brandName(brand), last4 }).trim()
}
