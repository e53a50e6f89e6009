/**
 * The events of credit notes.
 */
import type { Invoice as EngineInvoice } from "@billwright/engine"
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { WireInstant } from "../events/HostEvents.ts"
import { WireInteger } from "../events/WireInteger.ts"
import * as Instant from "../shared/Instant.ts"
import { type CreditNote, CreditNoteId, CreditNoteReason } from "./CreditNote.ts"
import { InvoiceId, InvoiceStatus } from "./Invoice.ts"

/** Most lines in the data of an event. The credit note itself has all of them. */
const MAX_EVENT_LINES = 100

/** A credit note. Amounts are integers of the currency's minor unit. */
const Data = Schema.Struct({
  credit_note_id: CreditNoteId,
  number: Schema.String,
  invoice_id: InvoiceId,
  customer_id: CustomerId,
  reason: CreditNoteReason,
  currency: Schema.String,
  /** The first `MAX_EVENT_LINES` lines. */
  lines: Schema.Array(Schema.Struct({ line_id: Schema.String, amount: WireInteger })),
  line_count: Schema.Int,
  net: WireInteger,
  tax: WireInteger,
  total: WireInteger,
  waived: WireInteger,
  refund: WireInteger,
  to_balance: WireInteger,
  issued_at: WireInstant,
  /** The invoice after the credit note. `sequence` rises with each change of it. */
  invoice: Schema.Struct({
    status: InvoiceStatus,
    amount_credited: WireInteger,
    amount_due: WireInteger,
    sequence: Schema.Int,
  }),
})

/** The data of an event of a credit note, with its invoice as it is afterwards. */
export const creditNoteData = (
  note: CreditNote,
  invoice: Pick<EngineInvoice, "status" | "amountCredited" | "amountDue" | "sequence">,
): typeof Data.Encoded => ({
  credit_note_id: note.id,
  number: note.number,
  invoice_id: note.invoiceId,
  customer_id: note.customerId,
  reason: note.reason,
  currency: note.currency,
  lines: note.lines.slice(0, MAX_EVENT_LINES).map(({ amount, lineId }) => ({ line_id: lineId, amount })),
  line_count: note.lines.length,
  net: note.net,
  tax: note.tax,
  total: note.total,
  waived: note.waived,
  refund: note.refund,
  to_balance: note.toBalance,
  issued_at: Instant.text(note.issuedAt),
  invoice: {
    status: invoice.status,
    amount_credited: invoice.amountCredited,
    amount_due: invoice.amountDue,
    sequence: invoice.sequence,
  },
})

const example: typeof Data.Encoded = {
  credit_note_id: "crn_01kb2r9d3vffx9qd6k4v2n1h7c",
  number: "CN-2026-0007",
  invoice_id: "inv_01kb2r6ghefxhs59czp23x4vmk",
  customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
  reason: "order_change",
  currency: "EUR",
  lines: [{ line_id: "0.0.base", amount: 1000 }],
  line_count: 1,
  net: 1000,
  tax: 190,
  total: 1190,
  waived: 1190,
  refund: 0,
  to_balance: 0,
  issued_at: "2026-11-21T09:30:00.000Z",
  invoice: { status: "open", amount_credited: 1190, amount_due: 1190, sequence: 3 },
}

/** The types of events of credit notes. */
export const creditNoteEvents = {
  "credit_note.created": EventType.make({
    name: "credit_note.created",
    description: "A credit note was issued: a part of an invoice, or all of it, is given back.",
    data: Data,
    example,
  }),
} satisfies Record<string, EventType.EventType>
