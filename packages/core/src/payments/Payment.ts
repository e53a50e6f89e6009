/**
 * A payment of an invoice. Its rules are those of `@billwright/engine`.
 */
import type { Attention, AttentionCode, Collection, Payment as EnginePayment } from "@billwright/engine"
import { Context, type DateTime, Schema, Struct } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import { InvoiceId } from "../invoices/Invoice.ts"
import { Currency } from "../shared/Currency.ts"
import type { Due } from "../shared/Due.ts"
import * as Id from "../shared/Id.ts"
import * as NotFound from "../shared/NotFound.ts"
import { pageFields } from "../shared/Page.ts"
import * as Text from "../shared/Text.ts"
import { PaymentFigure } from "./PaymentFigure.ts"

/** The prefix of the ids of payments. */
export const PAYMENT_ID_PREFIX = "pay"
/** The prefix of the ids of attempts. */
export const ATTEMPT_ID_PREFIX = "att"
/** Most payments of one invoice. Each new one is compared with all earlier ones. */
export const MAX_PAYMENTS = 100
/** Longest reference, in characters. */
export const MAX_REFERENCE_LENGTH = 255
/** Longest name of a provider, in characters. */
export const MAX_PROVIDER_LENGTH = 64
/** The provider of payments that a person records. */
export const MANUAL_PROVIDER = "manual"

export const PaymentId = Id.schema(PAYMENT_ID_PREFIX).pipe(Schema.brand("PaymentId"))
export type PaymentId = typeof PaymentId.Type

export const PaymentStatus = Schema.Literals(["open", "succeeded", "closed"])
export type PaymentStatus = typeof PaymentStatus.Type

export const PaymentAttentionCode = Schema.Literals([
  "provider_refused",
  "provider_unreachable",
  "outcome_unknown",
  "no_result",
  "closed_at_provider",
  "not_closed",
  "not_chargeable",
] satisfies ReadonlyArray<AttentionCode>)
/** Longest message of what a person has to look at, in code points: the words of the library, and those of the provider. */
export const MAX_ATTENTION_LENGTH = 1_000

/** Why a person has to look at a payment. */
export interface PaymentAttention {
  readonly code: AttentionCode
  /** What happened, and what to do: for people. */
  readonly message: string
  /** In epoch milliseconds. */
  readonly since: number
}

/** What happened, and what to do. The provider's own words follow. */
const MESSAGES: Readonly<Record<AttentionCode, string>> = {
  provider_refused: "the provider refused the call for good: mend the cause, and pay the invoice again",
  provider_unreachable: "the provider could not be reached: once it is there again, pay the invoice again",
  outcome_unknown:
    "nobody knows what came of the last attempt: look at the provider, and pay the invoice again, which first reads it",
  no_result:
    "the bank or the customer has done nothing for 30 days: pay the invoice again, or cancel the payment",
  not_chargeable:
    "the provider can't take this amount: record what comes by other means, credit the invoice, or write it off",
  not_closed:
    "its money is not wanted any more, and the provider does not close it: mend the cause, and cancel the payment",
  closed_at_provider: "somebody has closed it at the provider: pay the invoice again, or leave it",
}

const attentionOf = (attention: Attention | undefined): PaymentAttention | null => {
  if (attention === undefined) return null
  const { code, detail, since } = attention
  return { code, message: detail === null ? MESSAGES[code] : `${MESSAGES[code]} (${detail})`, since }
}

/** A payment. Amounts are integers of the currency's minor unit. A succeeded one never changes. */
export interface Payment extends Omit<EnginePayment, "id" | "customerId" | "invoiceId"> {
  readonly id: PaymentId
  readonly customerId: CustomerId
  readonly invoiceId: InvoiceId
  /** Why a person has to look at it. `null` if nobody has to. */
  readonly attention: PaymentAttention | null
  readonly createdAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
}

/** A payment as it is stored. `dueAt` is when something happens to it by itself. */
export interface StoredPayment extends Omit<Payment, "attention">, Due {
  /** How a provider collects it. `null` for a payment that a person recorded. */
  readonly collection: Collection | null
}

/** The payment as callers see it. */
export const toPayment = (stored: StoredPayment): Payment => ({
  ...Struct.omit(stored, ["collection", "dueAt", "failure"]),
  attention: attentionOf(stored.collection?.attention),
})

/** How far a call that pays an invoice has come. */
export interface PayProgress {
  /** Whether an attempt may be stored for the call. While it is false, surely none is, and none is made. */
  mayBeStored: boolean
}

/**
 * Who gives a call that pays an invoice a progress can find out after a failure, or an interruption, whether the call may be
 * repeated. By default nobody asks.
 */
export class CurrentPayProgress extends Context.Reference<PayProgress | undefined>(
  "@billwright/core/payments/Payment/CurrentPayProgress",
  { defaultValue: () => undefined },
) {}

const MAX_AMOUNT = 10n ** 30n
const amountMessage = { message: "must be an integer from 1 to 10^30" }

/** The input of `Payments.record`: money that came without a provider, such as by bank transfer, or in cash. */
export const RecordPayment = Schema.Struct({
  invoiceId: InvoiceId,
  /** What came, in the minor unit of the invoice's currency. Default: what is due. */
  amount: Schema.optionalKey(
    Schema.BigInt.annotate(amountMessage).check(
      Schema.isBetweenBigInt({ minimum: 1n, maximum: MAX_AMOUNT }, amountMessage),
    ),
  ),
  /** When it came: not in the future. Default: now. */
  paidAt: Schema.optionalKey(Schema.DateTimeUtc),
  /** How the bank names it. With a reference, recording the payment again gives the first one. */
  reference: Schema.optionalKey(Text.bounded(1, MAX_REFERENCE_LENGTH)),
  /** Takes an amount above what is due. The rest is the customer's credit. Default: false. */
  acceptOverpayment: Schema.optionalKey(Schema.Boolean),
})
export interface RecordPayment extends Schema.Schema.Type<typeof RecordPayment> {}

/** Which payments to list. */
export const ListPayments = Schema.Struct({
  ...pageFields,
  customerId: Schema.optionalKey(CustomerId),
  invoiceId: Schema.optionalKey(InvoiceId),
  status: Schema.optionalKey(PaymentStatus),
  /** The ISO 4217 code of a currency. */
  currency: Schema.optionalKey(Currency),
  /** Those that make a figure of the overview of money, now. */
  figure: Schema.optionalKey(PaymentFigure),
})
export interface ListPayments extends Schema.Schema.Type<typeof ListPayments> {}

/** The tenant has no payment with this id. */
export class PaymentNotFound extends NotFound.make("PaymentNotFound", "payment") {}
