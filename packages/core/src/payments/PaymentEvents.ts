/**
 * The events of payments.
 */
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { clampedAmount, hostPayment, paymentFields, WireInstant } from "../events/HostEvents.ts"
import { WireInteger } from "../events/WireInteger.ts"
import { InvoiceId } from "../invoices/Invoice.ts"
import * as Instant from "../shared/Instant.ts"
import { type Payment, PaymentId, PaymentStatus } from "./Payment.ts"

/** A payment as it was when the event was published. Amounts are integers of the currency's minor unit. */
const PaymentSnapshot = Schema.Struct({
  id: PaymentId,
  invoice_id: InvoiceId,
  customer_id: CustomerId,
  currency: Schema.String,
  provider: Schema.String,
  reference: Schema.NullOr(Schema.String),
  status: PaymentStatus,
  amount: WireInteger,
  applied: WireInteger,
  overpaid: WireInteger,
  paid_at: Schema.NullOr(WireInstant),
  /** Rises with each change of the payment. A receiver drops an event whose number is not above the last one's. */
  sequence: Schema.Int,
})

/** The library's own events have the payment. A host's events about its own payments don't. */
const Data = Schema.Struct({ ...paymentFields, payment: Schema.optionalKey(PaymentSnapshot) })

/** The data of an event of a payment. */
export const paymentData = (payment: Payment): typeof Data.Encoded => ({
  payment_id: payment.id,
  customer_id: payment.customerId,
  invoice_id: payment.invoiceId,
  amount: clampedAmount(payment.amount),
  currency: payment.currency,
  payment: {
    id: payment.id,
    invoice_id: payment.invoiceId,
    customer_id: payment.customerId,
    currency: payment.currency,
    provider: payment.provider,
    reference: payment.reference,
    status: payment.status,
    amount: payment.amount,
    applied: payment.applied,
    overpaid: payment.overpaid,
    paid_at: Instant.textOrNull(payment.paidAt),
    sequence: payment.sequence,
  },
})

/** The types of events of payments. */
export const paymentEvents = {
  "payment.succeeded": EventType.make({
    name: "payment.succeeded",
    description: "A payment succeeded.",
    data: Data,
    example: hostPayment,
  }),
  "payment.overpaid": EventType.make({
    name: "payment.overpaid",
    description: "A payment brought more than was due of its invoice. The rest is the customer's credit.",
    data: Data,
    example: hostPayment,
  }),
} satisfies Record<string, EventType.EventType>
