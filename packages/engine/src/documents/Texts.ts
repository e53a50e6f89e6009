/**
 * The words of documents. Each language has all of them: the compiler sees to that. `{name}` stands for a value, and a test
 * compares the values of all languages.
 */
import type { CreditNoteReason } from "../invoices/CreditNote.ts"
import type { LineKind } from "../invoices/Line.ts"
import type { TaxCategory } from "../invoices/Tax.ts"
import type { Step } from "../rating/Step.ts"

/** The words of one language. */
export interface Texts {
  readonly invoice: string
  readonly creditNote: string
  readonly draft: string
  readonly void: string
  readonly paid: string
  readonly number: string
  readonly issuedOn: string
  readonly dueOn: string
  readonly servicePeriod: string
  readonly ofInvoice: string
  readonly reason: string
  readonly reasons: Readonly<Record<CreditNoteReason, string>>
  readonly seller: string
  readonly customer: string
  /** The number by which a tax office knows a business: where the tax is VAT, and elsewhere. */
  readonly vatId: string
  readonly taxId: string
  readonly registration: string
  /** The tax itself, likewise. */
  readonly vat: string
  readonly tax: string
  readonly lines: string
  readonly description: string
  readonly quantity: string
  readonly unitPrice: string
  readonly amount: string
  /** What is noted at a line of a kind. An empty text: nothing. */
  readonly kinds: Readonly<Record<LineKind, string>>
  readonly minimum: string
  readonly subtotal: string
  readonly coupon: string
  readonly couponOfPercent: string
  readonly promotionalCredit: string
  readonly net: string
  readonly taxOn: string
  readonly included: string
  readonly total: string
  readonly creditBalance: string
  readonly paidCredit: string
  readonly credited: string
  readonly paidOn: string
  readonly returned: string
  readonly byCreditNote: string
  readonly amountDue: string
  readonly waived: string
  readonly refund: string
  readonly toBalance: string
  readonly taxes: string
  readonly rate: string
  readonly taxable: string
  readonly gross: string
  /** What a category of taxes is called in the table. Empty: the name of the tax. */
  readonly categories: Readonly<Record<TaxCategory, string>>
  /** What a document has to say about a category without tax. Empty: nothing. */
  readonly exemptions: Readonly<Record<TaxCategory, string>>
  readonly taxNotKnown: string
  readonly creditNotes: string
  readonly creditNoteOf: string
  readonly payment: string
  readonly payBy: string
  readonly reference: string
  readonly explanation: string
  readonly moreSteps: string
  readonly upTo: string
  readonly between: string
  readonly above: string
  readonly withFlat: string
  /** What is not part of a line: `already_billed` without an invoice. `{billed}`. */
  readonly notOfLine: string
  /** The same of a fee that begins within its period. `{billed}`. */
  readonly beforeLine: string
  /** What is left after a credit. `{period}`. */
  readonly staysCharged: string
  readonly steps: Readonly<Record<Step["type"], string>>
  readonly page: string
}

/** A text with its values. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? values[name]! : place,
  )
