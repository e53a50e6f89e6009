/**
 * What events about invoices, payments and subscriptions say. Hosts publish them about their own, and the library about
 * those that it keeps.
 */
import { Schema } from "effect"
import { Currency } from "../shared/Currency.ts"
import * as Instant from "../shared/Instant.ts"
import * as Metadata from "../shared/Metadata.ts"
import * as Text from "../shared/Text.ts"

/** An id that the host made: 1 to 255 characters. */
const ForeignId = Text.bounded(1, 255)
const amountMessage = {
  message: "must be an integer of the currency's minor unit, from 0 to 9007199254740991",
}
/** Money: an integer of the currency's minor unit (cents of EUR, yen of JPY), never a fraction. */
const Amount = Schema.Number.annotate(amountMessage).check(
  Schema.isInt(amountMessage),
  Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, amountMessage),
)
/** The problem to report for what is no instant, in a field of `INSTANT_FIELDS`. */
export const INSTANT_PROBLEM = "must be an RFC 3339 instant such as 2026-11-21T09:30:00Z"
const isWireInstant = (text: string): boolean =>
  Instant.parse(text) !== undefined && text === text.toUpperCase()
export const WireInstant = Schema.String.check(
  Schema.makeFilter<string>(isWireInstant, {
    message: INSTANT_PROBLEM,
    toJsonSchema: () => ({ format: "date-time", maxLength: Instant.MAX_INSTANT_LENGTH }),
  }),
)
/** The fields of these types that hold instants. No built-in type uses one of these names for anything else. */
export const INSTANT_FIELDS = [
  "due_at",
  "paid_at",
  "period_start",
  "period_end",
  "current_period_start",
  "current_period_end",
] as const
const metadata = Schema.optionalKey(Metadata.Metadata)
/** The fields of events about an invoice. */
export const invoiceFields = {
  invoice_id: ForeignId,
  customer_id: ForeignId,
  amount: Amount,
  currency: Currency,
  number: Schema.optionalKey(Text.bounded(1, 100)),
  due_at: Schema.optionalKey(WireInstant),
  paid_at: Schema.optionalKey(WireInstant),
  period_start: Schema.optionalKey(WireInstant),
  period_end: Schema.optionalKey(WireInstant),
  metadata,
}

/** The fields of events about a payment. */
export const paymentFields = {
  payment_id: ForeignId,
  customer_id: ForeignId,
  amount: Amount,
  currency: Currency,
  invoice_id: Schema.optionalKey(ForeignId),
  metadata,
}

/** The fields of events about a subscription. */
export const subscriptionFields = {
  subscription_id: ForeignId,
  customer_id: ForeignId,
  product_id: ForeignId,
  current_period_start: Schema.optionalKey(WireInstant),
  current_period_end: Schema.optionalKey(WireInstant),
  metadata,
}

/** An example of such fields. */
export const hostPayment = {
  payment_id: "pay_7f3a",
  customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
  invoice_id: "in_2026_0042",
  amount: 4200,
  currency: "EUR",
}

/** An amount in a field that holds 0 to 9007199254740991. What is beyond that is in the object of the event itself. */
export const clampedAmount = (amount: bigint): number =>
  Number(
    amount < 0n ? 0n : amount > BigInt(Number.MAX_SAFE_INTEGER) ? BigInt(Number.MAX_SAFE_INTEGER) : amount,
  )
