/**
 * An invoice or a credit note as it is shown: texts in the customer's language, in the order of the page. HTML and PDF are
 * made from the same document, so they say the same.
 */

/** A name and its value. */
export interface Fact {
  readonly label: string
  readonly value: string
}

/** The seller or the customer. */
export interface Party {
  readonly label: string
  readonly name: string
  /** The address and how to reach it, one line each. */
  readonly lines: ReadonlyArray<string>
  readonly facts: ReadonlyArray<Fact>
}

/** A step of the computation of a line. */
export interface ExplainedStep {
  readonly text: string
  /** `null` for a step that changes no amount. */
  readonly amount: string | null
}

export interface DocumentLine {
  readonly description: string
  /** The service period, what it is about, and the like. */
  readonly details: ReadonlyArray<string>
  readonly quantity: string | null
  readonly unitPrice: string | null
  readonly tax: string | null
  readonly amount: string
  /** Empty if nothing has to be explained. */
  readonly explanation: ReadonlyArray<ExplainedStep>
}

/** A row below the lines. A `sum` is set off, and `due` is what counts. `info` is part of the row above. */
export interface Amount {
  readonly label: string
  readonly value: string
  readonly kind: "part" | "sum" | "due" | "info"
}

/** The lines, with the headings of their columns. A column that no line uses has no heading. */
export interface LineTable {
  readonly caption: string
  readonly description: string
  readonly quantity: string | null
  readonly unitPrice: string | null
  readonly tax: string | null
  readonly amount: string
  readonly rows: ReadonlyArray<DocumentLine>
}

/** The taxes, by category and rate. The first column is text, and the others are amounts. */
export interface TaxSummary {
  readonly caption: string
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}

/** A paragraph with a heading. */
export interface Paragraph {
  readonly heading: string
  readonly lines: ReadonlyArray<string>
}

export interface BillingDocument {
  /** The language tag (BCP 47) of the words. */
  readonly language: string
  /** The kind and the number: `Invoice 2026-0042`. */
  readonly title: string
  /** The kind: `Invoice`. */
  readonly heading: string
  /** What has to be seen first: that it is a draft, void or paid. */
  readonly stamp: { readonly text: string; readonly kind: "draft" | "void" | "paid" } | null
  readonly color: string
  /** The size of paper in the seller's country. */
  readonly paper: "A4" | "LETTER"
  /** A `data:` URL. */
  readonly logo: string | null
  /** `null`: the host has not said who it is. */
  readonly seller: Party | null
  readonly customer: Party
  readonly facts: ReadonlyArray<Fact>
  readonly lines: LineTable
  readonly totals: ReadonlyArray<Amount>
  /** `null`: nothing is taxed. */
  readonly taxes: TaxSummary | null
  readonly notes: ReadonlyArray<string>
  readonly creditNotes: Paragraph | null
  readonly payment: Paragraph | null
  readonly footer: ReadonlyArray<string>
  /** How a computation is headed. */
  readonly explanation: string
  /** `Page {page} of {pages}`. */
  readonly page: string
  /** The time zone (IANA) whose days count for payment. */
  readonly customerTimezone: string
  /** When the document was issued, in epoch milliseconds. `null` for a draft. */
  readonly issuedAt: number | null
}
