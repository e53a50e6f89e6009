/**
 * The books for finance: the journal of invoices, payments and credits.
 */
import type { CallOptions } from "../Call.ts"

/** See `docs/books.md` for what is booked on each. */
export type BookAccount =
  | "cash"
  | "receivable"
  | "clearing"
  | "contract_liability"
  | "refunds_payable"
  | "tax_payable"
  | "revenue"
  | "breakage"
  | "bad_debt"

/** What an entry books. */
export type JournalKind =
  | "invoice"
  | "credit_note"
  | "payment"
  | "refund"
  | "dispute"
  | "write_off"
  | "recognition"
  | "void"
  | "grant"
  | "credit_use"
  | "breakage"

/** A change of an account in the minor unit of the currency: a debit is above 0, and a credit is below 0. Never 0. */
export interface Posting {
  readonly account: BookAccount
  readonly amount: bigint
}

/** An entry. Its postings sum to 0. */
export interface JournalEntry {
  /** The UTC day, such as `2026-01-31`. */
  readonly day: string
  readonly kind: JournalKind
  /** The id of the invoice, credit note, payment, refund, dispute or grant of credits. */
  readonly documentId: string
  /** `null` for entries of credits. */
  readonly invoiceId: string | null
  readonly customerId: string
  readonly currency: string
  /** One for each account that changes. */
  readonly postings: ReadonlyArray<Posting>
}

/** The entries of some invoices and grants of credits. */
export interface JournalPage {
  /** Those of an invoice or of a grant are together, in the order of their days. */
  readonly entries: ReadonlyArray<JournalEntry>
  /** The last invoice or grant that was read: the next page starts after it. `null`: there is none. */
  readonly last: string | null
  readonly hasMore: boolean
}

/** Which days of the journal. */
export interface JournalDays {
  /** The first UTC day, `YYYY-MM-DD`. Default: the first that there is. */
  readonly startDate?: string
  /** The last UTC day, `YYYY-MM-DD`: it counts. Default: today. Later days have what will be recognized. */
  readonly endDate?: string
}

/** Which page of the journal. */
export interface JournalQuery extends JournalDays {
  /** The `last` of the page before. Default: begins with the newest invoice. */
  readonly startingAfter?: string
}

/** `csv`: a row for each posting. `hledger`: a journal of hledger. `json`: one entry a line. */
export type JournalFormat = "csv" | "hledger" | "json"

/** Which days of the journal, and how they are written. */
export interface JournalExport extends JournalDays {
  readonly format: JournalFormat
}

/**
 * The journal, derived from what is stored. Errors: `InvalidInputError`; `InvoicingUnsupportedError` on a store without
 * invoices.
 */
export interface JournalReader {
  /**
   * The entries of at most 20 invoices, newest first, and after the last invoice those of at most 20 grants of credits. A
   * page may have no entries and be followed by others.
   */
  journal(query?: JournalQuery, options?: CallOptions): Promise<JournalPage>
}

/** The same, and all of it as text. */
export interface Books extends JournalReader {
  /**
   * All entries of the days as text, page by page: each is read when the one before was taken. Amounts are decimals of the
   * currency's unit.
   */
  export(query: JournalExport, options?: CallOptions): AsyncIterable<string>
}
