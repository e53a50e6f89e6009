/**
 * Invoices and credit notes as documents: texts in the customer's language, and HTML of them. Pure, as all of the engine.
 */
export { type CreditNoteDocumentInput, creditNoteDocument } from "./CreditNoteDocument.ts"
export type {
  Amount as DocumentAmount,
  BillingDocument,
  DocumentLine,
  ExplainedStep,
  Fact,
  LineTable,
  Paragraph,
  Party,
  TaxSummary,
} from "./Document.ts"
export { documentHtml } from "./Html.ts"
export {
  type DocumentCreditNote,
  type DocumentPayment,
  type DocumentSettings,
  invoiceDocument,
  type InvoiceDocumentInput,
} from "./InvoiceDocument.ts"
export type { Language } from "./Language.ts"
export type { Recipient } from "./Parties.ts"
export { DOCUMENT_POLICY, STYLE_HASH } from "./Style.ts"
