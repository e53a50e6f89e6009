/**
 * Credit notes: they give back a part of an issued invoice, or all of it.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"
import type { InvoiceLineTax, InvoiceTax } from "./Invoices.ts"

/** Why money is given back. `usage_corrected`: less usage than was billed. */
export type CreditNoteReason =
  | "duplicate"
  | "fraudulent"
  | "order_change"
  | "unsatisfactory"
  | "usage_corrected"
  | "other"

/** What a credit note gives back of one line. */
export interface CreditNoteLine {
  readonly lineId: string
  /** As amounts of the invoice after discounts are: with tax if its taxes are inclusive, and without otherwise. */
  readonly amount: bigint
  readonly tax: InvoiceLineTax
}

/** A credit note. It never changes. Amounts are integers of the currency's minor unit. */
export interface CreditNote {
  /** `crn_…` */
  readonly id: string
  /** Numbers have no gap. */
  readonly number: string
  readonly invoiceId: string
  readonly customerId: string
  readonly currency: string
  readonly reason: CreditNoteReason
  readonly lines: ReadonlyArray<CreditNoteLine>
  readonly taxBehavior: "exclusive" | "inclusive"
  /** The sum of the taxable amounts, without tax. */
  readonly net: bigint
  readonly tax: bigint
  readonly taxes: ReadonlyArray<InvoiceTax>
  /** `waived`, `refund` and `toBalance` together. */
  readonly total: bigint
  /** What lowered the amount due of the invoice. */
  readonly waived: bigint
  /** What goes back by the way it was paid. */
  readonly refund: bigint
  /** What becomes paid credits of the customer, which pay later invoices. */
  readonly toBalance: bigint
  readonly issuedAt: Date
  readonly createdAt: Date
}

/** A new credit note. Without `lines` and `amount`, all that is left of the invoice is credited. */
export interface CreateCreditNote {
  readonly invoiceId: string
  /** No more than is left of each line after discounts, earlier credit notes and credits of later invoices. */
  readonly lines?: ReadonlyArray<{ readonly lineId: string; readonly amount: number | bigint }> | undefined
  /** One amount instead, as those of lines are. It is spread in proportion to what is left of each line. */
  readonly amount?: number | bigint | undefined
  readonly reason: CreditNoteReason
  /** How much of what was paid is refunded: its refunds are created with the note. The rest becomes paid credits. Default: 0. */
  readonly refund?: number | bigint | undefined
}

/** Selects credit notes, newest first. */
export interface ListCreditNotes extends PageQuery {
  readonly customerId?: string | undefined
  readonly invoiceId?: string | undefined
}

/**
 * Errors: `InvalidInputError`, `InvoiceNotFoundError`, `CreditNoteNotFoundError`,
 * `ActionUnavailableError` when the invoice does not allow it, and `InvoicingUnsupportedError` on a store without invoices.
 */
export interface CreditNotes {
  /** Never gives back more than is left, also when several are created at once. What is still due is waived first. */
  create(input: CreateCreditNote, options?: CallOptions): Promise<CreditNote>
  get(id: string, options?: CallOptions): Promise<CreditNote>
  /** The credit note as an HTML page for people, in the language of the customer. It has no script, and needs no other file. */
  html(id: string, options?: CallOptions): Promise<string>
  /** The same as PDF. Needs the package `@billwright/pdf`: without it, it rejects with the code `pdf_unavailable`. */
  pdf(id: string, options?: CallOptions): Promise<Uint8Array<ArrayBuffer>>
  /**
   * The credit note as an e-invoice by EN 16931, in UBL 2.1 (XML): as it was issued, and always with the same bytes. When something
   * that the norm wants is missing, it rejects with the code `einvoice_incomplete`, and the message names all of it.
   */
  ubl(id: string, options?: CallOptions): Promise<string>
  /** The same as a Cross Industry Invoice of UN/CEFACT (D16B), the XML of Factur-X and ZUGFeRD. */
  cii(id: string, options?: CallOptions): Promise<string>
  /**
   * The same as Factur-X or ZUGFeRD in the profile EN 16931: a PDF/A-3 with the CII as `factur-x.xml`. Needs the package
   * `@billwright/pdf`, as `pdf` does.
   */
  facturX(id: string, options?: CallOptions): Promise<Uint8Array<ArrayBuffer>>
  /** A page with many lines may be shorter than `limit`: it has at most 4 MiB of lines. */
  list(query?: ListCreditNotes, options?: CallOptions): Listing<CreditNote>
}
