/**
 * E-invoices: invoices and credit notes in the model of EN 16931, and their XML. Pure, as all of the engine.
 */
export { ciiXml } from "./Cii.ts"
export type {
  EInvoiceProblem,
  EInvoiceResult,
  En16931Invoice,
  EnAddress,
  EnAllowance,
  EnLine,
  EnLineTax,
  EnParty,
  EnPayment,
  EnPeriod,
  EnTax,
  EnTotals,
} from "./Model.ts"
export type {
  EInvoiceCreditNote,
  EInvoiceCreditNoteInput,
  EInvoiceCustomer,
  EInvoiceInput,
  EInvoiceInstant,
  EInvoiceInvoice,
  EInvoiceLine,
} from "./Source.ts"
export { toEn16931 } from "./ToEn16931.ts"
export { ublXml } from "./Ubl.ts"
