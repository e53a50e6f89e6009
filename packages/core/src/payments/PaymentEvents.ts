/**
 * The events of payments.
 */
import type { CollectionEvent, CollectionInput } from "@billwright/engine"
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { clampedAmount, hostPayment, paymentFields, WireInstant } from "../events/HostEvents.ts"
import { WireInteger } from "../events/WireInteger.ts"
import { InvoiceId } from "../invoices/Invoice.ts"
import { dueExample, InvoiceData } from "../invoices/InvoiceEvents.ts"
import * as Instant from "../shared/Instant.ts"
import * as Text from "../shared/Text.ts"
import {
  type Payment,
  PaymentAttentionCode,
  PaymentId,
  PaymentStatus,
  type StoredPayment,
} from "./Payment.ts"
import { MAX_CODE_LENGTH } from "./ProviderAnswers.ts"

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
export const paymentData = (payment: Omit<Payment, "attention">): typeof Data.Encoded => ({
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

const FailedData = Schema.Struct({
  ...Data.fields,
  failure_code: Schema.optionalKey(Text.bounded(1, MAX_CODE_LENGTH)),
  failure_message: Schema.optionalKey(Text.bounded(1, 500)),
  /** Whether it is attempted again by itself, and when. */
  will_retry: Schema.optionalKey(Schema.Boolean),
  next_attempt_at: Schema.optionalKey(Schema.NullOr(WireInstant)),
})

const AttentionData = Schema.Struct({
  ...Data.fields,
  /** Why a person has to look. The `attention` of the payment says what to do. */
  attention_code: Schema.optionalKey(PaymentAttentionCode),
})

/** The data of a payment that a person has to look at. What the provider said stays in the payment. */
export const attentionData = (payment: StoredPayment): typeof AttentionData.Encoded => {
  const code = payment.collection?.attention?.code
  return { ...paymentData(payment), ...(code === undefined ? {} : { attention_code: code }) }
}

const failureCodeOf = (input: CollectionInput): string | undefined => {
  if (input.type === "no_method") return "no_method"
  return input.type === "read" && input.read.status === "declined" ? input.read.code : undefined
}

/** The data of an attempt that was declined, or not made for want of a method. One of a payment that is not wanted any more is not followed by another. */
export const failedData = (
  payment: StoredPayment,
  input: CollectionInput,
  isWanted: boolean,
): typeof FailedData.Encoded => {
  const code = failureCodeOf(input)
  const willRetry = isWanted && payment.collection?.state === "retrying"
  const nextAt = willRetry ? (payment.collection?.nextAt ?? null) : null
  return {
    ...paymentData(payment),
    ...(code === undefined ? {} : { failure_code: code }),
    will_retry: nextAt !== null,
    next_attempt_at: Instant.textOrNull(nextAt),
  }
}

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
  "payment.processing": EventType.make({
    name: "payment.processing",
    description: "A bank works on a payment. That may take days.",
    data: Data,
    example: hostPayment,
  }),
  "payment.action_required": EventType.make({
    name: "payment.action_required",
    description: "The customer has to confirm a payment.",
    data: Data,
    example: hostPayment,
  }),
  "payment.unresolved": EventType.make({
    name: "payment.unresolved",
    description:
      "Nobody knows what came of an attempt to take a payment. It is read until the provider says so.",
    data: Data,
    example: hostPayment,
  }),
} satisfies Record<string, EventType.EventType>

/** The types of other events of collecting a payment. */
export const collectionEvents = {
  "payment.failed": EventType.make({
    name: "payment.failed",
    description: "A payment failed.",
    data: FailedData,
    example: { ...hostPayment, failure_code: "card_declined" },
  }),
  "payment.needs_attention": EventType.make({
    name: "payment.needs_attention",
    description:
      "A person has to look at a payment: nothing more happens to it by itself. The `attention` of the payment says why.",
    data: AttentionData,
    example: { ...hostPayment, attention_code: "outcome_unknown" },
  }),
  "invoice.collection_exhausted": EventType.make({
    name: "invoice.collection_exhausted",
    description: "The payment of an invoice is not attempted any more by itself.",
    data: InvoiceData,
    example: dueExample,
  }),
} satisfies Partial<Record<CollectionEvent, EventType.EventType>>
