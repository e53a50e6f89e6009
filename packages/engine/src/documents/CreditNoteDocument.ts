/**
 * A credit note as a document.
 */
import type { CreditNote } from "../invoices/CreditNote.ts"
import type { Invoice } from "../invoices/Invoice.ts"
import type { Amount, BillingDocument, DocumentLine } from "./Document.ts"
import {
  type DocumentSettings,
  frameOf,
  tableOf,
  taxAmounts,
  taxHeadingOf,
  type Writer,
  writerOf,
} from "./InvoiceDocument.ts"
import type { Recipient } from "./Parties.ts"
import { rateText, taxNotes, taxSummaryOf } from "./Taxes.ts"

/** What a credit note's document is made from. */
export interface CreditNoteDocumentInput {
  readonly creditNote: CreditNote
  /** The invoice that it credits. */
  readonly invoice: Pick<Invoice, "lines" | "number" | "issuedAt">
  readonly customer: Recipient
  readonly settings: DocumentSettings
}

const rowsOf = (
  { creditNote, invoice }: CreditNoteDocumentInput,
  { format, texts }: Writer,
): ReadonlyArray<DocumentLine> => {
  const lines = new Map(invoice.lines.map((line) => [line.id, line]))
  return creditNote.lines.map(({ amount, lineId, tax }) => {
    const line = lines.get(lineId)
    return {
      description: line === undefined || line.kind === "true_up" ? texts.minimum : line.description,
      details: [line?.origin?.group ?? ""].filter((detail) => detail !== ""),
      quantity: null,
      unitPrice: null,
      tax: rateText(tax, format),
      amount: format.money(amount),
      explanation: [],
    }
  })
}

/** The total, and where the money goes. */
const totalsOf = ({ creditNote }: CreditNoteDocumentInput, writer: Writer): ReadonlyArray<Amount> => {
  const { format, texts } = writer
  const taxes = taxAmounts(creditNote, writer)
  const isAdded = creditNote.taxBehavior === "exclusive"
  const rows = [
    { label: texts.waived, amount: creditNote.waived },
    { label: texts.refund, amount: creditNote.refund },
    { label: texts.toBalance, amount: creditNote.toBalance },
  ].filter(({ amount }) => amount !== 0n)
  return [
    ...(isAdded && taxes.length > 0
      ? [{ label: texts.net, value: format.money(creditNote.net), kind: "part" } as const]
      : []),
    ...(isAdded ? taxes : []),
    { label: texts.total, value: format.money(creditNote.total), kind: "due" },
    ...(isAdded ? [] : taxes),
    ...rows.map(({ amount, label }) => ({ label, value: format.money(amount), kind: "part" }) as const),
  ]
}

/** Writes a credit note. The same input always gives the same document, on the same release of Unicode's data. */
export const creditNoteDocument = (input: CreditNoteDocumentInput): BillingDocument => {
  const { creditNote, customer, invoice, settings } = input
  const { language, ...writer } = writerOf(creditNote.currency, customer, settings)
  const { format, texts } = writer
  const on = (instant: number) => format.date(instant, settings.timezone)
  return {
    ...frameOf(writer, customer),
    language,
    title: `${texts.creditNote} ${creditNote.number}`,
    heading: texts.creditNote,
    stamp: null,
    facts: [
      { label: texts.number, value: creditNote.number },
      { label: texts.issuedOn, value: on(creditNote.issuedAt) },
      {
        label: texts.ofInvoice,
        value: [invoice.number ?? "", invoice.issuedAt === null ? "" : on(invoice.issuedAt)]
          .filter(Boolean)
          .join(", "),
      },
      { label: texts.reason, value: texts.reasons[creditNote.reason] },
    ],
    lines: tableOf(rowsOf(input, writer), taxHeadingOf(creditNote.lines, writer), writer),
    totals: totalsOf(input, writer),
    taxes: taxSummaryOf(creditNote.taxes, settings.seller?.country, texts, format),
    notes: taxNotes(
      creditNote.lines.map(({ tax }) => tax),
      texts,
    ),
    creditNotes: null,
    payment: null,
    issuedAt: creditNote.issuedAt,
  }
}
