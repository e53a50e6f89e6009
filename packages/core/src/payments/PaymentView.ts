/**
 * A payment as the REST API and promises show it.
 */
import type { DateTime } from "effect"
import { ofMillis, ofMillisOrNull } from "../shared/Instant.ts"
import type { Payment, PaymentAttention } from "./Payment.ts"

/** Why a person has to look at a payment. */
interface AttentionView extends Omit<PaymentAttention, "since"> {
  readonly since: DateTime.Utc
}

export interface PaymentView extends Omit<Payment, "paidAt" | "attention"> {
  readonly paidAt: DateTime.Utc | null
  readonly attention: AttentionView | null
}

export const paymentView = (payment: Payment): PaymentView => ({
  ...payment,
  attention:
    payment.attention === null ? null : { ...payment.attention, since: ofMillis(payment.attention.since) },
  paidAt: ofMillisOrNull(payment.paidAt),
})
