/**
 * The events of refunds and disputes.
 */
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { WireInstant } from "../events/HostEvents.ts"
import { WireInteger } from "../events/WireInteger.ts"
import { CreditNoteId, CreditNoteReason } from "../invoices/CreditNote.ts"
import { InvoiceId } from "../invoices/Invoice.ts"
import { dueExample, InvoiceData } from "../invoices/InvoiceEvents.ts"
import * as Instant from "../shared/Instant.ts"
import { type Dispute, DisputeId, DisputeStatus } from "./Dispute.ts"
import { PaymentId } from "./Payment.ts"
import { type Refund, RefundId, RefundStatus } from "./Refund.ts"

/** A refund as it was when the event was published. Amounts are integers of the currency's minor unit. */
const RefundData = Schema.Struct({
  refund_id: RefundId,
  payment_id: PaymentId,
  invoice_id: InvoiceId,
  customer_id: CustomerId,
  credit_note_id: Schema.NullOr(CreditNoteId),
  currency: Schema.String,
  amount: WireInteger,
  reversed: WireInteger,
  reason: CreditNoteReason,
  status: RefundStatus,
  failure_code: Schema.NullOr(Schema.String),
  provider: Schema.String,
  /** Rises with each change of the refund. A receiver drops an event whose number is not above the last one's. */
  sequence: Schema.Int,
})

/** The data of an event of a refund. */
export const refundData = (refund: Refund): typeof RefundData.Encoded => ({
  refund_id: refund.id,
  payment_id: refund.paymentId,
  invoice_id: refund.invoiceId,
  customer_id: refund.customerId,
  credit_note_id: refund.creditNoteId,
  currency: refund.currency,
  amount: refund.amount,
  reversed: refund.reversed,
  reason: refund.reason,
  status: refund.status,
  failure_code: refund.failureCode,
  provider: refund.provider,
  sequence: refund.sequence,
})

/** A dispute as it was when the event was published. Amounts are integers of the currency's minor unit. */
const DisputeData = Schema.Struct({
  dispute_id: DisputeId,
  payment_id: PaymentId,
  invoice_id: InvoiceId,
  customer_id: CustomerId,
  currency: Schema.String,
  amount: WireInteger,
  reversed: WireInteger,
  reason: Schema.String,
  status: DisputeStatus,
  provider: Schema.String,
  respond_by: Schema.NullOr(WireInstant),
  /** Rises with each change of the dispute. A receiver drops an event whose number is not above the last one's. */
  sequence: Schema.Int,
})

/** The data of an event of a dispute. */
export const disputeData = (dispute: Dispute): typeof DisputeData.Encoded => ({
  dispute_id: dispute.id,
  payment_id: dispute.paymentId,
  invoice_id: dispute.invoiceId,
  customer_id: dispute.customerId,
  currency: dispute.currency,
  amount: dispute.amount,
  reversed: dispute.reversed,
  reason: dispute.reason,
  status: dispute.status,
  provider: dispute.provider,
  respond_by: Instant.textOrNull(dispute.respondBy?.epochMilliseconds ?? null),
  sequence: dispute.sequence,
})

const ids = {
  payment_id: "pay_01kahd3kc8e0fsr8zknzqgf2h3",
  invoice_id: "inv_01kahd3kc8e0fsr8zknzqgf2h2",
  customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
  currency: "EUR",
  amount: 500,
  provider: "stripe",
} as const

const refundExample = {
  ...ids,
  refund_id: "ref_01kahd3kc8e0fsr8zknzqgf2h4",
  credit_note_id: null,
  reversed: 0,
  reason: "unsatisfactory",
  status: "pending",
  failure_code: null,
  sequence: 1,
} as const

const disputeExample = {
  ...ids,
  dispute_id: "dis_01kahd3kc8e0fsr8zknzqgf2h4",
  reversed: 0,
  reason: "fraudulent",
  status: "open",
  respond_by: "2026-12-01T00:00:00.000Z",
  sequence: 1,
} as const

const refundEvent = <const Name extends string>(name: Name, description: string, changed: object = {}) =>
  EventType.make({ name, description, data: RefundData, example: { ...refundExample, ...changed } })

const disputeEvent = <const Name extends string>(name: Name, description: string, changed: object = {}) =>
  EventType.make({ name, description, data: DisputeData, example: { ...disputeExample, ...changed } })

/** The types of events of refunds. */
export const refundEvents = {
  "refund.created": refundEvent("refund.created", "A refund was created. It is on its way."),
  "refund.succeeded": refundEvent("refund.succeeded", "Money of a payment went back to the customer.", {
    status: "succeeded",
    reversed: 500,
    sequence: 2,
  }),
  "refund.failed": refundEvent("refund.failed", "A refund has failed, or its money came back.", {
    status: "failed",
    failure_code: "amount_too_large",
    sequence: 2,
  }),
} satisfies Record<string, EventType.EventType>

/** The types of events of disputes. */
export const disputeEvents = {
  "dispute.opened": disputeEvent("dispute.opened", "The bank of a customer disputes a payment."),
  "dispute.closed": disputeEvent("dispute.closed", "A dispute is decided: won or lost.", {
    status: "lost",
    reversed: 500,
    sequence: 2,
  }),
} satisfies Record<string, EventType.EventType>

/** The type of the event of an invoice whose money went back. */
export const reopenedEvents = {
  "invoice.reopened": EventType.make({
    name: "invoice.reopened",
    description:
      "Something of a paid invoice is due again, because money went back without a credit note. It is not collected by itself.",
    data: InvoiceData,
    example: dueExample,
  }),
} satisfies Record<string, EventType.EventType>
