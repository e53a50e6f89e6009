/**
 * The events of invoices.
 */
import type { Invoice as EngineInvoice, InvoiceEvent, Line } from "@billwright/engine"
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { clampedAmount, invoiceFields, WireInstant } from "../events/HostEvents.ts"
import { WireInteger } from "../events/WireInteger.ts"
import * as Instant from "../shared/Instant.ts"
import { InvoiceId, InvoiceStatus, type StoredInvoice } from "./Invoice.ts"
import { SubscriptionId } from "./SubscriptionId.ts"

/** Most lines in the data of an event. The invoice itself has all of them. */
const MAX_EVENT_LINES = 100

const LineSnapshot = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["advance", "usage", "credit", "adjustment", "item", "true_up", "top_up"]),
  charge: Schema.NullOr(Schema.String),
  description: Schema.String,
  subscription_id: Schema.NullOr(Schema.String),
  period_start: Schema.NullOr(WireInstant),
  period_end: Schema.NullOr(WireInstant),
  quantity: Schema.NullOr(Schema.String),
  amount: WireInteger,
})

/** An invoice as it was when the event was published. Amounts are integers of the currency's minor unit. */
const InvoiceSnapshot = Schema.Struct({
  id: InvoiceId,
  number: Schema.NullOr(Schema.String),
  status: InvoiceStatus,
  customer_id: CustomerId,
  /** `null` for an invoice without a subscription, and for one of several. */
  subscription_id: Schema.NullOr(SubscriptionId),
  subscription_ids: Schema.Array(SubscriptionId),
  currency: Schema.String,
  period_start: Schema.NullOr(WireInstant),
  period_end: Schema.NullOr(WireInstant),
  /** The first `MAX_EVENT_LINES` lines, without the steps of their computation. */
  lines: Schema.Array(LineSnapshot),
  line_count: Schema.Int,
  subtotal: WireInteger,
  tax: WireInteger,
  total: WireInteger,
  amount_paid: WireInteger,
  amount_due: WireInteger,
  issued_at: Schema.NullOr(WireInstant),
  due_at: Schema.NullOr(WireInstant),
  /** Rises with each change of the invoice. A receiver drops an event whose number is not above the last one's. */
  sequence: Schema.Int,
})

/** The library's own events have the invoice. A host's events about its own invoices don't. */
export const InvoiceData = Schema.Struct({ ...invoiceFields, invoice: Schema.optionalKey(InvoiceSnapshot) })

const lineSnapshot = (line: Line): typeof LineSnapshot.Encoded => ({
  id: line.id,
  kind: line.kind,
  charge: line.charge,
  description: line.description,
  subscription_id: line.origin?.subscriptionId ?? null,
  period_start: Instant.textOrNull(line.periodStart),
  period_end: Instant.textOrNull(line.periodEnd),
  quantity: line.quantity,
  amount: line.amount,
})

const snapshotOf = (
  { causes, customerId, id, subscriptionId }: StoredInvoice,
  state: EngineInvoice,
): typeof InvoiceSnapshot.Encoded => ({
  id,
  number: state.number,
  status: state.status,
  customer_id: customerId,
  subscription_id: subscriptionId,
  subscription_ids: causes.map((cause) => cause.subscriptionId),
  currency: state.currency,
  period_start: Instant.textOrNull(state.periodStart),
  period_end: Instant.textOrNull(state.periodEnd),
  lines: state.lines.slice(0, MAX_EVENT_LINES).map(lineSnapshot),
  line_count: state.lines.length,
  subtotal: state.subtotal,
  tax: state.tax,
  total: state.total,
  amount_paid: state.amountPaid,
  amount_due: state.amountDue,
  issued_at: Instant.textOrNull(state.issuedAt),
  due_at: Instant.textOrNull(state.dueAt),
  sequence: state.sequence,
})

/** The data of an event of a stored invoice. `amount` is its total, or 0 where that is less. */
export const dataOf = (stored: StoredInvoice): typeof InvoiceData.Encoded => {
  const { state } = stored
  return {
    invoice_id: stored.id,
    customer_id: stored.customerId,
    amount: clampedAmount(state.total),
    currency: state.currency,
    ...(state.number === null ? {} : { number: state.number }),
    ...(state.dueAt === null ? {} : { due_at: Instant.text(state.dueAt) }),
    ...(state.periodStart === null ? {} : { period_start: Instant.text(state.periodStart) }),
    ...(state.periodEnd === null ? {} : { period_end: Instant.text(state.periodEnd) }),
    invoice: snapshotOf(stored, state),
  }
}

const example: typeof InvoiceData.Encoded = {
  invoice_id: "in_2026_0042",
  customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
  amount: 4200,
  currency: "EUR",
  number: "2026-0042",
}

/** An example of such data. */
export const dueExample = { ...example, due_at: "2026-12-21T00:00:00.000Z" }

/** The types of events of invoices. */
export const invoiceEvents = {
  "invoice.created": EventType.make({
    name: "invoice.created",
    description: "An invoice was created.",
    data: InvoiceData,
    example: dueExample,
  }),
  "invoice.deleted": EventType.make({
    name: "invoice.deleted",
    description: "A draft was deleted before it was issued.",
    data: InvoiceData,
    example: {
      invoice_id: example.invoice_id,
      customer_id: example.customer_id,
      amount: 4200,
      currency: "EUR",
      period_start: "2026-11-01T00:00:00.000Z",
      period_end: "2026-12-01T00:00:00.000Z",
    },
  }),
  "invoice.finalized": EventType.make({
    name: "invoice.finalized",
    description: "An invoice was issued: it has its number, and its lines never change again.",
    data: InvoiceData,
    example: dueExample,
  }),
  "invoice.paid": EventType.make({
    name: "invoice.paid",
    description: "An invoice was paid in full.",
    data: InvoiceData,
    example: { ...example, paid_at: "2026-11-21T09:30:00.000Z" },
  }),
  "invoice.voided": EventType.make({
    name: "invoice.voided",
    description: "An invoice was voided: nothing of it is due any more.",
    data: InvoiceData,
    example: dueExample,
  }),
  "invoice.marked_uncollectible": EventType.make({
    name: "invoice.marked_uncollectible",
    description: "An invoice was written off. It may still be paid.",
    data: InvoiceData,
    example: dueExample,
  }),
  "invoice.overdue": EventType.make({
    name: "invoice.overdue",
    description: "The due date of an invoice is over, and the invoice is not paid.",
    data: InvoiceData,
    example: dueExample,
  }),
} satisfies Record<
  InvoiceEvent | "invoice.created" | "invoice.deleted" | "invoice.overdue",
  EventType.EventType
>
