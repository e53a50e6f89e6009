import type { AccountState } from "./AccountState.ts"
/**
 * Refunds and disputes of the fake.
 */
import type { Params } from "./Params.ts"
import type { StripeCharge, StripeDispute, StripeRefund, StripeWithdrawal } from "./StripeObjects.ts"
import { StripeProblem } from "./StripeProblem.ts"

/** The charge that took the money. */
const chargeToRefund = (state: AccountState, params: Params): StripeCharge => {
  const id = params.text("charge")
  const charge =
    id === undefined
      ? chargeOfIntent(state, params.required("payment_intent"))
      : state.get("charge", id, "charge")
  if (charge === undefined || !charge.paid) {
    throw StripeProblem.refused(
      "charge_not_refundable",
      "This PaymentIntent does not have a successful charge to refund.",
    )
  }
  return charge
}

const chargeOfIntent = (state: AccountState, id: string): StripeCharge | undefined => {
  const { latest_charge: charge } = state.get("payment_intent", id, "payment_intent")
  return charge === null ? undefined : state.get("charge", charge)
}

export const createRefund = (state: AccountState, params: Params): StripeRefund => {
  const charge = chargeToRefund(state, params)
  const left = charge.amount - charge.amount_refunded
  const amount = params.integer("amount") ?? left
  if (amount < 1)
    throw StripeProblem.invalid("parameter_invalid_integer", "Invalid positive integer", "amount")
  if (left === 0) {
    throw StripeProblem.refused("charge_already_refunded", `Charge ${charge.id} has already been refunded.`)
  }
  if (amount > left) {
    const message = `Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`
    throw new StripeProblem(400, { type: "invalid_request_error", message, param: "amount" }, true)
  }
  if (
    charge.disputed &&
    state.all("dispute").some((one) => one.charge === charge.id && !one.is_charge_refundable)
  ) {
    throw StripeProblem.refused("charge_disputed", `Charge ${charge.id} has been charged back.`)
  }
  const outcome = state.takeNext()?.refund ?? state.behaviours.get(charge.payment_method)?.refund
  const refund = state.add("refund", {
    ...state.head("refund"),
    amount,
    currency: charge.currency,
    charge: charge.id,
    payment_intent: charge.payment_intent,
    reason: params.text("reason") ?? null,
    metadata: params.metadata(),
    status: outcome === "pending" ? "pending" : "succeeded",
  })
  charge.amount_refunded += amount
  charge.refunded = charge.amount_refunded === charge.amount
  state.emit("refund.created", refund)
  state.emit("charge.refunded", charge)
  // Stripe says at first that it has succeeded.
  if (outcome === "failed") completeRefund(state, refund.id, "failed")
  return refund
}

export const getRefund = (state: AccountState, _: Params, id: string): StripeRefund =>
  state.get("refund", id, "refund")

export const listRefunds = (state: AccountState, params: Params) => {
  const intent = params.text("payment_intent")
  const charge = params.text("charge")
  const all = state
    .all("refund")
    .filter(
      (one) =>
        (intent === undefined || one.payment_intent === intent) &&
        (charge === undefined || one.charge === charge),
    )
  return [...all].reverse()
}

/** A bank answers. When a refund has failed, the money comes back. */
export const completeRefund = (state: AccountState, id: string, outcome: "succeeded" | "failed"): void => {
  const refund = state.get("refund", id)
  refund.status = outcome
  if (outcome === "failed") {
    refund.failure_reason = "lost_or_stolen_card"
    const charge = state.get("charge", refund.charge)
    charge.amount_refunded -= refund.amount
    charge.refunded = false
    state.emit("refund.failed", refund)
  }
  state.emit("refund.updated", refund)
}

/** The customer's bank takes the money of a charge back. */
export const openDispute = (state: AccountState, charge: StripeCharge, reason: string): StripeDispute => {
  charge.disputed = true
  const dispute = state.add("dispute", {
    ...state.head("dispute"),
    amount: charge.amount,
    currency: charge.currency,
    charge: charge.id,
    payment_intent: charge.payment_intent,
    reason,
    balance_transactions: [],
    enhanced_eligibility_types: [],
    evidence: { enhanced_evidence: {} },
    evidence_details: {
      due_by: state.seconds() + 7 * 86_400,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
    },
    is_charge_refundable: false,
    metadata: {},
    status: "needs_response",
  })
  state.emit("charge.dispute.created", dispute)
  return dispute
}

/** The money of a dispute that goes to the customer. */
const withdrawalOf = (state: AccountState, { amount, currency, id }: StripeDispute): StripeWithdrawal => ({
  id: `txn_${id}`,
  object: "balance_transaction",
  amount: -amount,
  available_on: state.seconds(),
  created: state.seconds(),
  currency,
  description: null,
  exchange_rate: null,
  fee: 0,
  fee_details: [],
  net: -amount,
  reporting_category: "dispute",
  source: id,
  status: "available",
  type: "adjustment",
})

export const disputeIntent = (state: AccountState, intent: string, reason: string): StripeDispute => {
  const charge = chargeOfIntent(state, intent)
  if (charge === undefined || !charge.paid) throw new TypeError(`the payment intent ${intent} took no money`)
  return openDispute(state, charge, reason)
}

export const getDispute = (state: AccountState, _: Params, id: string): StripeDispute =>
  state.get("dispute", id, "dispute")

/** A bank decides a dispute. One that is `refunded` was settled before it began, by giving the money to the customer. */
export const closeDispute = (
  state: AccountState,
  id: string,
  outcome: "won" | "lost" | "prevented" | "refunded",
): void => {
  const dispute = state.get("dispute", id)
  dispute.status = outcome === "refunded" ? "prevented" : outcome
  if (outcome === "refunded") dispute.balance_transactions = [withdrawalOf(state, dispute)]
  state.emit("charge.dispute.closed", dispute)
}
