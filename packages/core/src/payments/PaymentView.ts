/**
 * A payment as the REST API and promises show it.
 */
import type { DateTime } from "effect"
import { ofMillisOrNull } from "../shared/Instant.ts"
import type { Payment } from "./Payment.ts"

export interface PaymentView extends Omit<Payment, "paidAt"> {
  readonly paidAt: DateTime.Utc | null
}

export const paymentView = (payment: Payment): PaymentView => ({
  ...payment,
  paidAt: ofMillisOrNull(payment.paidAt),
})
