/**
 * Disputes of payments: a customer's bank takes money back, or asks about it. Their rules are those of
 * `@billwright/engine`.
 */
import { Schema } from "effect"
import { CUSTOMER_ID_PREFIX, CustomerId } from "../customers/Customer.ts"
import { INVOICE_ID_PREFIX, InvoiceId } from "../invoices/Invoice.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as Text from "../shared/Text.ts"
import { MAX_PROVIDER_LENGTH, MAX_REFERENCE_LENGTH, PAYMENT_ID_PREFIX, PaymentId } from "./Payment.ts"
import { MAX_CODE_LENGTH } from "./ProviderAnswers.ts"
import { amountField, partField, sequenceField } from "./Refund.ts"

/** The prefix of the ids of disputes. */
export const DISPUTE_ID_PREFIX = "dis"

export const DisputeId = Id.schema(DISPUTE_ID_PREFIX).pipe(Schema.brand("DisputeId"))
export type DisputeId = typeof DisputeId.Type

export const DisputeStatus = Schema.Literals(["open", "won", "lost"])
export type DisputeStatus = typeof DisputeStatus.Type

const customerId = Field.id(CustomerId, CUSTOMER_ID_PREFIX, "The customer whose bank disputes it.")
const invoiceId = Field.id(InvoiceId, INVOICE_ID_PREFIX, "The invoice of the payment.")
const paymentId = Field.id(PaymentId, PAYMENT_ID_PREFIX, "The payment that is disputed.")

/** The definition of the resource; see `Resource`. */
export const disputes = Resource.make({
  type: "Dispute",
  noun: "dispute",
  title: "Disputes",
  description: "The bank of a customer takes money of a payment back, or asks about it.",
  about:
    "Disputes come from the payment provider, where you also answer them. An open one stops the collection of its invoice.",
  path: "/disputes",
  scope: "payments",
  id: DisputeId,
  prefix: DISPUTE_ID_PREFIX,
  customer: "customerId",
  fields: {
    customerId,
    invoiceId,
    paymentId,
    amount: amountField("What is disputed: an integer of the minor unit, cents of EUR."),
    reversed: partField(
      "The part that the invoice is not paid with any more. It is 0 unless the dispute is lost.",
    ),
    currency: Field.text(
      Schema.String.check(Schema.isPattern(/^[A-Z]{3}$/u)),
      "The ISO 4217 currency of the payment.",
    ),
    reason: Field.text(Text.bounded(1, MAX_CODE_LENGTH), "The provider's word for it, such as `fraudulent`."),
    status: Field.text(
      DisputeStatus,
      "`open` until it is decided. `won`: you keep the money. `lost`: the customer has it.",
    ),
    provider: Field.text(Text.bounded(1, MAX_PROVIDER_LENGTH), "The provider of the payment."),
    reference: Field.text(Text.bounded(1, MAX_REFERENCE_LENGTH), "How the provider names it."),
    respondBy: Field.instantOrNull("Until when the provider takes evidence."),
    closedAt: Field.instantOrNull("When it was known that it is decided."),
    sequence: sequenceField,
  },
  times: {
    createdAt: Field.instant("When it was created here."),
    updatedAt: Field.instant("When something of it last changed."),
  },
  create: {},
  filters: {
    customerId: Field.optional(Field.saying(customerId, "Only disputes of this customer.")),
    invoiceId: Field.optional(Field.saying(invoiceId, "Only disputes of payments of this invoice.")),
    paymentId: Field.optional(Field.saying(paymentId, "Only disputes of this payment.")),
    status: Field.optional(Field.text(DisputeStatus, "Only disputes with this status.")),
  },
  indexed: ["customerId", "invoiceId", "paymentId", "status"],
  unique: ["reference"],
  operations: {},
  example: {
    id: "dis_01kb2r9d3vffx9qd6k4v2n1h7c",
    customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
    invoice_id: "inv_01kb2r7aqte0btqgq0m9ecz4n1",
    payment_id: "pay_01kb2r7f6yf8z9p6gx1yb9tpfp",
    amount: 2000,
    reversed: 0,
    currency: "EUR",
    reason: "fraudulent",
    status: "open",
    provider: "stripe",
    reference: "du_1QYxQ2LkdIwHu7ix",
    respond_by: "2026-12-01T00:00:00.000Z",
    closed_at: null,
    sequence: 1,
    created_at: "2026-11-21T09:32:00.000Z",
    updated_at: "2026-11-21T09:32:00.000Z",
  },
})

/** A dispute. */
export const Dispute = disputes.Value
export interface Dispute extends Schema.Schema.Type<typeof Dispute> {}

/** Which disputes to list. */
export const ListDisputes = disputes.List
export interface ListDisputes extends Schema.Schema.Type<typeof ListDisputes> {}

/** The tenant has no dispute with this id. */
export const DisputeNotFound = disputes.NotFound
export type DisputeNotFound = InstanceType<typeof DisputeNotFound>
