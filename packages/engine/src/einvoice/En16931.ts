/**
 * An electronic invoice by the semantic model of EN 16931-1:2017: its fields (BT) and groups (BG). Amounts are exact
 * decimal texts in the currency's unit, such as `"119.5"`. Dates are local dates of the seller, such as `2026-11-26`.
 */
import type { TaxCategory } from "../invoices/Tax.ts"

/** Days, both included (BG-14, BG-26). */
export interface En16931Period {
  readonly start: string
  readonly end: string
}

/** The seller (BG-4) or the buyer (BG-7). */
export interface En16931Party {
  /** BT-27, BT-44. */
  readonly name: string
  /** BT-35, BT-50. */
  readonly street: string | null
  /** BT-36, BT-51. */
  readonly addition: string | null
  /** BT-37, BT-52. */
  readonly city: string | null
  /** BT-38, BT-53. */
  readonly postcode: string | null
  /** BT-39, BT-54. */
  readonly region: string | null
  /** ISO 3166-1 alpha-2: BT-40, BT-55. */
  readonly country: string
  /** A VAT id with the prefix of its country: BT-31, BT-48. */
  readonly vatId: string | null
  /** The seller's other tax id (BT-32). `null` for buyers. */
  readonly taxRegistration: string | null
  /** BT-30, BT-47. */
  readonly registration: string | null
}

/** The VAT category and rate of a line (BT-151, BT-152). */
export interface En16931Rate {
  readonly category: TaxCategory
  /** In percent. `null` for category `O`, which has none. */
  readonly rate: string | null
}

/** A line (BG-25). */
export interface En16931Line extends En16931Rate {
  /** BT-126: 1 and up. */
  readonly id: string
  /** BT-153. */
  readonly name: string
  /** What the line says beside its name, such as the quantity of tiers (BT-154). */
  readonly description: string | null
  /** BT-129. Below 0 for money back, because a price is never below 0. */
  readonly quantity: string
  /** BT-146: 0 or more. */
  readonly price: string
  /** What discounts take off (BT-136). `null`: nothing. */
  readonly allowance: string | null
  /** BT-131: `quantity × price`, rounded to the currency, less the allowance. */
  readonly net: string
  /** BG-26. */
  readonly period: En16931Period | null
}

/** The VAT of a category and rate (BG-23). */
export interface En16931Tax extends En16931Rate {
  /** BT-116: the sum of `net` of its lines. */
  readonly taxable: string
  /** BT-117. */
  readonly amount: string
  /** Why there is no VAT: a code of the list VATEX (BT-121), or a text (BT-120). */
  readonly reasonCode: string | null
  readonly reason: string | null
}

/** BG-22. */
export interface En16931Totals {
  /** BT-106. It is BT-109, too: discounts are in the lines. */
  readonly net: string
  /** BT-110. */
  readonly tax: string
  /** BT-112. */
  readonly gross: string
  /** What credits of the customer paid when it was issued (BT-113). */
  readonly prepaid: string
  /** BT-115. */
  readonly due: string
}

/** An invoice or credit note. */
export interface En16931Invoice {
  /** BT-3: 380 for an `invoice`, 381 for a `credit_note`. */
  readonly kind: "invoice" | "credit_note"
  /** BT-1. */
  readonly number: string
  /** BT-2. */
  readonly issueDate: string
  /** BT-9. `null` if nothing is due, or no date. */
  readonly dueDate: string | null
  /** BT-5. */
  readonly currency: string
  /** BT-20. */
  readonly terms: string | null
  /** BT-22. */
  readonly notes: ReadonlyArray<string>
  /** What a credit note is about (BG-3). */
  readonly preceding: { readonly number: string; readonly issueDate: string } | null
  /** BG-14. */
  readonly period: En16931Period | null
  readonly seller: En16931Party
  readonly buyer: En16931Party
  readonly lines: ReadonlyArray<En16931Line>
  readonly taxes: ReadonlyArray<En16931Tax>
  readonly totals: En16931Totals
}

/** What EN 16931 wants and a document lacks. */
export interface En16931Problem {
  /** The field or rule of EN 16931, such as `BT-55`. */
  readonly term: string
  /** The field of ours, such as `customer.country`. */
  readonly field: string
  readonly problem: string
}
