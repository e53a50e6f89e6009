/**
 * Examples of credit notes for the document.
 */
import type { Example } from "./Example.ts"

const tax = { category: "S", rate: "19", country: "DE", reason: null } as const

const note = {
  object: "credit_note",
  id: "crn_01kb2r9d3vffx9qd6k4v2n1h7c",
  number: "CN-2026-0007",
  invoice_id: "inv_01kb2r9d3vffx9qd6k4v2n1h7c",
  customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
  currency: "EUR",
  reason: "order_change",
  lines: [{ line_id: "0.0.base", amount: 1000, tax }],
  tax_behavior: "exclusive",
  net: 1000,
  tax: 190,
  taxes: [{ ...tax, taxable: 1000, amount: 190 }],
  total: 1190,
  waived: 1190,
  refund: 0,
  to_balance: 0,
  issued_at: "2026-12-22T10:00:00.000Z",
  livemode: false,
  created_at: "2026-12-22T10:00:00.000Z",
} as const

export const creditNoteExamples = {
  createCreditNote: {
    request: { invoice_id: note.invoice_id, amount: 1000, reason: "order_change" },
    response: note,
  },
  listCreditNotes: { response: { object: "list", data: [note], has_more: false } },
  getCreditNote: { response: note },
  getCreditNotePdf: { response: "%PDF-1.7 …" },
  getCreditNoteUbl: { response: `<?xml version="1.0" encoding="UTF-8"?>\n<CreditNote>…</CreditNote>\n` },
  getCreditNoteCii: {
    response: `<?xml version="1.0" encoding="UTF-8"?>\n<rsm:CrossIndustryInvoice>…</rsm:CrossIndustryInvoice>\n`,
  },
  getCreditNoteFacturX: { response: "%PDF-1.7 …" },
  getCreditNoteHtml: { response: `<!doctype html>\n<html lang="en">…</html>\n` },
} as const satisfies Readonly<Record<string, Example>>
