/**
 * How a payment intent of Stripe stands, as Billwright reads it.
 */
import type { PaymentRead } from "@billwright/core"
import type { Stripe } from "stripe"
import { adviceOf, type DeclineCodes } from "./Declines.ts"

/** The names of our ids in Stripe's metadata. */
export const METADATA = {
  payment: "billwright_payment",
  invoice: "billwright_invoice",
  customer: "billwright_customer",
  attempt: "billwright_attempt",
  refund: "billwright_refund",
  setup: "billwright_setup",
} as const

const AUTHENTICATION_REQUIRED = "authentication_required"

/** A decline of an attempt. One that asks for the customer waits for the customer. */
export const declinedOf = (attemptId: string, codes: DeclineCodes, at: number): PaymentRead =>
  codes.code === AUTHENTICATION_REQUIRED || codes.declineCode === AUTHENTICATION_REQUIRED
    ? { status: "requires_action" }
    : {
        status: "declined",
        attemptId,
        code: codes.declineCode ?? codes.code ?? "card_declined",
        ...adviceOf(codes, at),
      }

const chargeOf = ({ latest_charge: charge }: Stripe.PaymentIntent): Stripe.Charge | null =>
  typeof charge === "object" ? charge : null

/** The attempt that the payment intent was made ready for. `undefined` before the first one. */
const announcedAttempt = ({ metadata }: Stripe.PaymentIntent): string | undefined =>
  metadata[METADATA.attempt]

/**
 * The attempt that made the last charge. Stripe copies the metadata of a payment intent to a charge when it is made, and
 * a charge that was declined is one, too. So this says for ever which attempts arrived.
 */
export const chargedAttempt = (intent: Stripe.PaymentIntent): string | undefined =>
  chargeOf(intent)?.metadata[METADATA.attempt]

/** What a charge says of its decline: the error of its payment intent goes with the next update of that. */
const codesOf = ({ failure_code: code, outcome }: Stripe.Charge): DeclineCodes => ({
  code,
  declineCode: outcome?.reason ?? null,
  adviceCode: outcome?.advice_code ?? null,
  networkAdviceCode: outcome?.network_advice_code ?? null,
})

/**
 * What is known of the announced attempt, if it was declined. An error without a charge is of that attempt: the announcement
 * has removed the error of the one before, because Stripe clears it with each update of a payment intent. So it is when the
 * customer fails to confirm. Then the last charge may be that of an attempt before.
 */
const lastDecline = (intent: Stripe.PaymentIntent): PaymentRead => {
  const attemptId = announcedAttempt(intent)
  const { last_payment_error: error } = intent
  const charge = chargeOf(intent)
  const own = chargedAttempt(intent) === attemptId ? charge : null
  if (attemptId === undefined) return { status: "open" }
  const at = (charge ?? intent).created * 1_000
  if (error !== null && (own !== null || error.charge === undefined)) {
    const codes = {
      code: error.code ?? null,
      declineCode: error.decline_code ?? null,
      adviceCode: error.advice_code ?? null,
      networkAdviceCode: error.network_advice_code ?? null,
    }
    return declinedOf(attemptId, codes, at)
  }
  return own?.status === "failed" ? declinedOf(attemptId, codesOf(own), at) : earlierDecline(intent)
}

/**
 * The decline of an attempt before the announced one, if its charge is the last one: such as that of a bank which took days,
 * while another attempt was announced. That it waited for the customer says nothing of the announced one.
 */
const earlierDecline = (intent: Stripe.PaymentIntent): PaymentRead => {
  const charge = chargeOf(intent)
  const attemptId = chargedAttempt(intent)
  if (charge?.status !== "failed" || attemptId === undefined) return { status: "open" }
  const read = declinedOf(attemptId, codesOf(charge), charge.created * 1_000)
  return read.status === "declined" ? read : { status: "open" }
}

/** How a payment stands. Its `latest_charge` has to be expanded. */
export const readOf = (intent: Stripe.PaymentIntent): PaymentRead => {
  switch (intent.status) {
    case "succeeded":
      return { status: "succeeded" }
    case "processing":
    case "requires_capture":
      return { status: "processing" }
    case "requires_action":
      return { status: "requires_action" }
    case "canceled":
      return { status: "closed" }
    default:
      return lastDecline(intent)
  }
}
