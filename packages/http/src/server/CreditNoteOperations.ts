/**
 * The operations of credit notes (see `Operations`).
 */
import {
  type CreditNote,
  CreditNotes,
  creditNoteView,
  Documents,
  ExactJson,
  type Tenant,
} from "@billwright/core"
import { Effect } from "effect"
import type { CreditNoteBody } from "../api/CreditNotesApi.ts"
import * as DocumentAnswer from "./DocumentAnswer.ts"
import { created, ok } from "./HttpExchange.ts"
import { taxRate } from "./InvoiceOperations.ts"
import type { OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"

const { integer } = ExactJson

const creditNote = (value: CreditNote.CreditNote, tenant: Tenant.Tenant): typeof CreditNoteBody.Encoded => {
  const view = creditNoteView(value)
  return {
    object: "credit_note",
    id: view.id,
    number: view.number,
    invoice_id: view.invoiceId,
    customer_id: view.customerId,
    currency: view.currency,
    reason: view.reason,
    lines: view.lines.map(({ amount, lineId, tax }) => ({
      line_id: lineId,
      amount: integer(amount),
      tax: taxRate(tax),
    })),
    tax_behavior: view.taxBehavior,
    net: integer(view.net),
    tax: integer(view.tax),
    taxes: view.taxes.map((tax) => ({
      ...taxRate(tax),
      taxable: integer(tax.taxable),
      amount: integer(tax.amount),
    })),
    total: integer(view.total),
    waived: integer(view.waived),
    refund: integer(view.refund),
    to_balance: integer(view.toBalance),
    issued_at: Render.instant(view.issuedAt),
    livemode: tenant.mode === "live",
    created_at: Render.instant(view.createdAt),
  }
}

export const make: Effect.Effect<OperationsOf<"creditNotes">, never, CreditNotes | Documents> = Effect.gen(
  function* () {
    const notes = yield* CreditNotes
    const documents = yield* Documents
    return {
      createCreditNote: ({ payload }, tenant) =>
        Effect.map(notes.create(payload), (note) => created(creditNote(note, tenant))),
      listCreditNotes: ({ query }, tenant) =>
        Effect.map(notes.list(query), (page) => ok(Render.list(page, tenant, creditNote))),
      getCreditNote: ({ params }, tenant) =>
        Effect.map(notes.get(params.id), (note) => ok(creditNote(note, tenant))),
      getCreditNotePdf: ({ params }) =>
        documents.creditNote(params.id).pipe(Effect.flatMap(documents.pdf), Effect.map(DocumentAnswer.pdf)),
      getCreditNoteHtml: ({ params }) =>
        documents.creditNote(params.id).pipe(Effect.flatMap(documents.page), Effect.map(DocumentAnswer.page)),
      getCreditNoteUbl: ({ params }) =>
        documents
          .creditNoteAsEInvoice(params.id)
          .pipe(Effect.flatMap(documents.ubl), Effect.map(DocumentAnswer.xml)),
      getCreditNoteCii: ({ params }) =>
        documents
          .creditNoteAsEInvoice(params.id)
          .pipe(Effect.flatMap(documents.cii), Effect.map(DocumentAnswer.xml)),
      getCreditNoteFacturX: ({ params }) =>
        documents
          .creditNoteAsEInvoice(params.id)
          .pipe(Effect.flatMap(documents.facturX), Effect.map(DocumentAnswer.pdf)),
    }
  },
)
