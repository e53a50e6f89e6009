/**
 * Refunds of payments: money that goes back to customers. Their rules are those of `@billwright/engine`.
 */
import { CREDIT_NOTE_REASONS } from "@billwright/engine"
import { Schema } from "effect"
import { CUSTOMER_ID_PREFIX, CustomerId } from "../customers/Customer.ts"
import { CREDIT_NOTE_ID_PREFIX, CreditNoteId } from "../invoices/CreditNote.ts"
import { INVOICE_ID_PREFIX, InvoiceId } from "../invoices/Invoice.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as Text from "../shared/Text.ts"
import { MAX_PROVIDER_LENGTH, MAX_REFERENCE_LENGTH, PAYMENT_ID_PREFIX, PaymentId } from "./Payment.ts"
import { MAX_CODE_LENGTH } from "./ProviderAnswers.ts"

/** The prefix of the ids of refunds. */
export const REFUND_ID_PREFIX = "ref"
/** Most refunds of one payment, and most disputes of it. */
export const MAX_REFUNDS = 100

export const RefundId = Id.schema(REFUND_ID_PREFIX).pipe(Schema.brand("RefundId"))
export type RefundId = typeof RefundId.Type

export const RefundStatus = Schema.Literals(["pending", "unresolved", "succeeded", "failed"])
export type RefundStatus = typeof RefundStatus.Type

const MAX_AMOUNT = 10n ** 30n
const amountBounds = { minimum: 1n, maximum: MAX_AMOUNT }
const AMOUNT_PROBLEM = "must be an integer from 1 to 10^30"
const partBounds = { minimum: 0n, maximum: MAX_AMOUNT }
const PART_PROBLEM = "must be an integer from 0 to 10^30"

/** An amount greater than 0. */
export const amountField = (description: string) =>
  Field.integer(
    Schema.BigInt.check(Schema.isBetweenBigInt(amountBounds, { message: AMOUNT_PROBLEM })),
    { ...amountBounds, problem: AMOUNT_PROBLEM },
    description,
  )

/** A part of an amount. */
export const partField = (description: string) =>
  Field.integer(
    Schema.BigInt.check(Schema.isBetweenBigInt(partBounds, { message: PART_PROBLEM })),
    { ...partBounds, problem: PART_PROBLEM },
    description,
  )

/** Counts the changes of a value. */
export const sequenceField = Field.json(Schema.Int, "Rises with each change.")

const paymentId = Field.id(PaymentId, PAYMENT_ID_PREFIX, "The payment whose money goes back.")
const amount = amountField("What goes back: an integer of the minor unit, cents of EUR.")
const creditNoteId = Field.idOrNull(
  CreditNoteId,
  CREDIT_NOTE_ID_PREFIX,
  "The credit note that says why. Then the invoice stays paid. `null`: what goes back is due again.",
)
const reason = Field.text(Schema.Literals(CREDIT_NOTE_REASONS), "Why money goes back.")
const customerId = Field.id(CustomerId, CUSTOMER_ID_PREFIX, "The customer that gets it.")
const invoiceId = Field.id(InvoiceId, INVOICE_ID_PREFIX, "The invoice of the payment.")

/** The definition of the resource; see `Resource`. */
export const refunds = Resource.make({
  type: "Refund",
  noun: "refund",
  title: "Refunds",
  description: "Money of a payment that goes back to the customer.",
  about:
    "Refunds give money of a payment back. They are made in the background: a new one is `pending` until the payment provider says what came of it.",
  path: "/refunds",
  scope: "payments",
  id: RefundId,
  prefix: REFUND_ID_PREFIX,
  customer: "customerId",
  fields: {
    customerId,
    invoiceId,
    paymentId,
    creditNoteId,
    amount,
    reversed: partField(
      "The part that the invoice is not paid with any more. It is 0 for a refund with a credit note and for one of the customer's credit, and until the refund has succeeded.",
    ),
    currency: Field.text(
      Schema.String.check(Schema.isPattern(/^[A-Z]{3}$/u)),
      "The ISO 4217 currency of the payment.",
    ),
    reason,
    status: Field.text(
      RefundStatus,
      "`pending` while it is on its way, `unresolved` while nobody knows what came of it, then `succeeded` or `failed`. One that has succeeded can still fail when the customer's bank sends the money back.",
    ),
    failureCode: Field.textOrNull(
      Text.bounded(1, MAX_CODE_LENGTH),
      "Why it has failed: a code of the provider, `refused_by_provider`, `payment_disputed`, or `resolved_by_person`.",
    ),
    provider: Field.text(
      Text.bounded(1, MAX_PROVIDER_LENGTH),
      "Who gives the money back: the provider of the payment. `manual`: a person has.",
    ),
    reference: Field.textOrNull(Text.bounded(1, MAX_REFERENCE_LENGTH), "How the provider names it."),
    sentAt: Field.instantOrNull("When it was first sent to the provider."),
    succeededAt: Field.instantOrNull("When it was known that the money went back."),
    sequence: sequenceField,
  },
  times: {
    createdAt: Field.instant("When it was created."),
    updatedAt: Field.instant("When something of it last changed."),
  },
  create: {
    paymentId,
    amount: Field.optional(
      Field.saying(
        amount,
        "What goes back: an integer of the minor unit. Default: all that can be refunded.",
      ),
    ),
    reason,
    creditNoteId: Field.optional(
      Field.saying(
        creditNoteId,
        "A credit note of the same invoice, which refunds at least as much. Without one, what goes back is due again.",
      ),
    ),
  },
  filters: {
    customerId: Field.optional(Field.saying(customerId, "Only refunds to this customer.")),
    invoiceId: Field.optional(Field.saying(invoiceId, "Only refunds of payments of this invoice.")),
    paymentId: Field.optional(Field.saying(paymentId, "Only refunds of this payment.")),
    status: Field.optional(Field.text(RefundStatus, "Only refunds with this status.")),
  },
  indexed: ["customerId", "invoiceId", "paymentId", "status"],
  operations: {
    create:
      "Gives money of a payment back, at most what is left of it after refunds that have not failed and disputes. The payment provider is called in the background. With a `credit_note_id`, the invoice stays paid. Without one, what goes back is due again once it has gone; it is not collected by itself. Of a recorded payment, this records that a person has given the money back.",
  },
  example: {
    id: "ref_01kb2r9d3vffx9qd6k4v2n1h7c",
    customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
    invoice_id: "inv_01kb2r7aqte0btqgq0m9ecz4n1",
    payment_id: "pay_01kb2r7f6yf8z9p6gx1yb9tpfp",
    credit_note_id: null,
    amount: 500,
    reversed: 0,
    currency: "EUR",
    reason: "unsatisfactory",
    status: "pending",
    failure_code: null,
    provider: "stripe",
    reference: null,
    sent_at: null,
    succeeded_at: null,
    sequence: 1,
    created_at: "2026-11-21T09:32:00.000Z",
    updated_at: "2026-11-21T09:32:00.000Z",
  },
})

/** A refund. */
export const Refund = refunds.Value
export interface Refund extends Schema.Schema.Type<typeof Refund> {}

/** The input of `Refunds.create`. */
export const CreateRefund = refunds.Create
export interface CreateRefund extends Schema.Schema.Type<typeof CreateRefund> {}

/** The input of `Refunds.resolve`. */
export const ResolveRefund = Schema.Struct({
  /** What came of it. `succeeded`: the customer has the money. `failed`: nothing was given back. */
  status: Schema.Literals(["succeeded", "failed"]),
  /** How the provider names it, if a person has made it there: 1 to 255 characters. */
  reference: Schema.optionalKey(Text.bounded(1, MAX_REFERENCE_LENGTH)),
})
export interface ResolveRefund extends Schema.Schema.Type<typeof ResolveRefund> {}

/** Which refunds to list. */
export const ListRefunds = refunds.List
export interface ListRefunds extends Schema.Schema.Type<typeof ListRefunds> {}

/** The tenant has no refund with this id. */
export const RefundNotFound = refunds.NotFound
export type RefundNotFound = InstanceType<typeof RefundNotFound>
