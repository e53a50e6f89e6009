/**
 * Reads what the books know of an invoice.
 */
import type { InvoiceDocuments, MoneyBack } from "@billwright/engine"
import { Effect } from "effect"
import { CreditNoteStore } from "../invoices/CreditNoteStore.ts"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import { optionalPort } from "../invoices/InvoicingUnsupported.ts"
import type { Dispute } from "./Dispute.ts"
import { makeMoneyBack } from "./MoneyBack.ts"
import { PaymentStore } from "./PaymentStore.ts"
import type { Refund } from "./Refund.ts"

const ofRefund = ({ creditNoteId, status, succeededAt, updatedAt, ...refund }: Refund): MoneyBack => ({
  kind: "refund",
  id: refund.id,
  amount: refund.amount,
  reversed: refund.reversed,
  isCredited: creditNoteId !== null,
  at: succeededAt?.epochMilliseconds ?? null,
  returnedAt: status === "failed" ? updatedAt.epochMilliseconds : null,
})

/** One that was lost and is not any more may still have reversed something. Then the money went and came back. */
const ofDispute = ({ amount, closedAt, id, reversed, status, updatedAt }: Dispute): MoneyBack => {
  const at = (closedAt ?? updatedAt).epochMilliseconds
  const isLost = status === "lost"
  return {
    kind: "dispute",
    id,
    amount,
    reversed,
    isCredited: false,
    at: isLost || reversed !== 0n ? at : null,
    returnedAt: isLost ? null : at,
  }
}

/** When an invoice was voided and written off. One of an older release last changed then. */
const endingsOf = ({ state: { status }, updatedAt, voidedAt, writtenOffAt }: StoredInvoice) => ({
  voidedAt: status === "void" ? (voidedAt ?? updatedAt.epochMilliseconds) : null,
  writtenOffAt: status === "uncollectible" ? (writtenOffAt ?? updatedAt.epochMilliseconds) : writtenOffAt,
})

/** Gives the function that reads all that stands beside an invoice. */
export const makeInvoiceDocuments = Effect.gen(function* () {
  const notePort = yield* optionalPort(CreditNoteStore)
  const paymentPort = yield* optionalPort(PaymentStore)
  const moneyBackOf = yield* makeMoneyBack
  return Effect.fnUntraced(function* (stored: StoredInvoice) {
    const { id, state } = stored
    const notes = yield* (yield* notePort).ofInvoice(id)
    const payments = yield* (yield* paymentPort).ofInvoice(id)
    const { disputed, refunded } = yield* moneyBackOf(id)
    const documents: InvoiceDocuments = {
      invoice: state,
      ...endingsOf(stored),
      notes,
      payments,
      moneyBack: [...refunded.map(ofRefund), ...disputed.map(ofDispute)],
    }
    return documents
  })
})
