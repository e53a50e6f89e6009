/**
 * Invoices and credit notes of Billwright as PDF.
 */
export { documentPdf } from "./Pdf.ts"
