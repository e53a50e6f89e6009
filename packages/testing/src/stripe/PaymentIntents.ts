import type { AccountState } from "./AccountState.ts"
/**
 * Payment intents of the fake: they are opened, confirmed, completed by the customer or a bank, and canceled.
 */
import type { Params } from "./Params.ts"
import { methodOf } from "./PaymentMethods.ts"
import { openDispute } from "./Refunds.ts"
import type {
  StripeCharge,
  StripeFailure,
  StripePaymentIntent,
  StripePaymentMethod,
} from "./StripeObjects.ts"
import { StripeProblem } from "./StripeProblem.ts"
import type { CardBehaviour, StripeDecline } from "./TestCards.ts"

/** The largest amount, in the units that Stripe counts in. It is another one for some currencies. */
const MAX_AMOUNT = 99_999_999
const MAX_AMOUNTS: Readonly<Record<string, number>> = { idr: 999_999_999_999 }

const AUTHENTICATION_FAILURE = "payment_intent_authentication_failure"

const AUTHENTICATION: StripeDecline = {
  code: "authentication_required",
  declineCode: "authentication_required",
}

export const createIntent = (state: AccountState, params: Params): StripePaymentIntent => {
  params.required("amount")
  const amount = params.integer("amount") ?? 0
  if (amount < 1)
    throw StripeProblem.invalid("parameter_invalid_integer", "Invalid positive integer", "amount")
  const currency = params.required("currency")
  const most = MAX_AMOUNTS[currency] ?? MAX_AMOUNT
  if (amount > most) {
    throw StripeProblem.invalid("amount_too_large", `Amount must be no more than ${most}`, "amount")
  }
  if (!/^[a-z]{3}$/.test(currency)) {
    throw StripeProblem.invalid(
      "parameter_invalid_string_format",
      `Invalid currency: ${currency}`,
      "currency",
    )
  }
  const customer = params.text("customer") ?? null
  if (customer !== null) state.get("customer", customer, "customer")
  const head = state.head("payment_intent")
  const intent = state.add("payment_intent", {
    ...head,
    amount,
    currency,
    client_secret: state.secretOf(head.id),
    capture_method: "automatic",
    confirmation_method: "automatic",
    payment_method_types: ["card"],
    customer,
    description: params.text("description") ?? null,
    amount_received: 0,
    status: "requires_payment_method",
    metadata: params.metadata(),
    payment_method: null,
    latest_charge: null,
    last_payment_error: null,
    next_action: null,
    canceled_at: null,
    cancellation_reason: null,
  })
  state.emit("payment_intent.created", intent)
  useMethod(state, intent, params)
  return params.flag("confirm") ? confirm(state, params, intent) : intent
}

export const getIntent = (state: AccountState, _: Params, id: string): StripePaymentIntent =>
  state.get("payment_intent", id, "intent")

export const updateIntent = (state: AccountState, params: Params, id: string): StripePaymentIntent => {
  const intent = state.get("payment_intent", id, "intent")
  intent.metadata = params.metadata(intent.metadata)
  intent.last_payment_error = null // as the API reference says
  if (params.has("payment_method")) refuseUnlessOpen(intent, "update")
  useMethod(state, intent, params)
  return intent
}

export const listIntents = (state: AccountState, params: Params) => {
  const customer = params.text("customer")
  const all = state.all("payment_intent").filter((one) => customer === undefined || one.customer === customer)
  return [...all].reverse()
}

export const confirmIntent = (state: AccountState, params: Params, id: string): StripePaymentIntent =>
  confirm(state, params, state.get("payment_intent", id, "intent"))

export const cancelIntent = (state: AccountState, params: Params, id: string): StripePaymentIntent => {
  const intent = state.get("payment_intent", id, "intent")
  refuseUnlessOpen(intent, "cancel")
  intent.status = "canceled"
  intent.next_action = null
  intent.canceled_at = state.seconds()
  intent.cancellation_reason = params.text("cancellation_reason") ?? null
  state.emit("payment_intent.canceled", intent)
  return intent
}

/**
 * The customer confirms a payment that asks for it, or a bank answers. With a decline, it fails. With
 * `AUTHENTICATION_FAILURE` as its code, the customer has failed to confirm, and nothing is charged.
 */
export const complete = (state: AccountState, id: string, decline?: StripeDecline): void => {
  const intent = state.get("payment_intent", id)
  const method = state.get("payment_method", intent.payment_method ?? failedMethod(intent))
  if (intent.status === "processing") {
    const charge = state.get("charge", intent.latest_charge ?? "")
    if (decline === undefined) return paid(state, intent, charge)
    return void fail(state, intent, method, decline, charge)
  }
  refuseUnlessOpen(intent, "confirm")
  if (decline !== undefined) return void fail(state, intent, method, decline)
  intent.payment_method = method.id
  take(state, intent, method, { ...state.behaviours.get(method.id), isDelayed: false })
}

const failedMethod = (intent: StripePaymentIntent): string =>
  intent.last_payment_error?.payment_method.id ?? ""

const refuseUnlessOpen = (intent: StripePaymentIntent, verb: string): void => {
  const { status } = intent
  if (status !== "processing" && status !== "succeeded" && status !== "canceled") return
  throw StripeProblem.refused(
    "payment_intent_unexpected_state",
    `You cannot ${verb} this PaymentIntent because it has a status of ${status}.`,
    { payment_intent: intent },
  )
}

/** Sets the method that a call names. Each customer uses its own methods alone. */
const useMethod = (state: AccountState, intent: StripePaymentIntent, params: Params): void => {
  const given = params.text("payment_method")
  if (given === undefined) return
  const method = methodOf(state, given, "payment_method")
  if (method.customer !== null && method.customer !== intent.customer) {
    throw StripeProblem.invalid(
      "parameter_invalid",
      "The PaymentMethod belongs to another Customer. Please include the Customer in the PaymentIntent.",
      "payment_method",
    )
  }
  if (!state.behaviours.has(method.id)) {
    throw StripeProblem.invalid(
      "payment_method_unactivated",
      "The provided PaymentMethod was detached from a Customer. It may not be used again.",
      "payment_method",
    )
  }
  intent.payment_method = method.id
  intent.status = "requires_confirmation"
}

const confirm = (state: AccountState, params: Params, intent: StripePaymentIntent): StripePaymentIntent => {
  refuseUnlessOpen(intent, "confirm")
  useMethod(state, intent, params)
  if (intent.payment_method === null) {
    throw StripeProblem.refused(
      "payment_intent_unexpected_state",
      "You cannot confirm this PaymentIntent because it's missing a payment method.",
      { payment_intent: intent },
    )
  }
  const method = state.get("payment_method", intent.payment_method)
  const behaviour = state.takeNext() ?? state.behaviours.get(method.id) ?? {}
  const { authentication, decline } = behaviour
  const isAsked =
    authentication === "always" || (authentication === "unless_set_up" && !state.setUp.has(method.id))
  if (isAsked && params.flag("off_session")) throw fail(state, intent, method, AUTHENTICATION)
  if (isAsked) {
    intent.status = "requires_action"
    intent.next_action = { type: "use_stripe_sdk", use_stripe_sdk: { type: "three_d_secure_redirect" } }
    state.emit("payment_intent.requires_action", intent)
    return intent
  }
  if (decline !== undefined) throw fail(state, intent, method, decline)
  take(state, intent, method, behaviour)
  return intent
}

/** A charge whose outcome is not known yet. */
const chargeOf = (
  state: AccountState,
  intent: StripePaymentIntent,
  method: StripePaymentMethod,
): StripeCharge => {
  const charge = state.add("charge", {
    ...state.head("charge"),
    amount: intent.amount,
    currency: intent.currency,
    customer: intent.customer,
    payment_intent: intent.id,
    payment_method: method.id,
    // What the payment intent has now: later changes are not copied.
    metadata: { ...intent.metadata },
    billing_details: method.billing_details,
    failure_code: null,
    failure_message: null,
    outcome: { type: "authorized" },
    status: "pending",
    paid: false,
    captured: false,
    amount_captured: 0,
    amount_refunded: 0,
    refunded: false,
    disputed: false,
  })
  intent.latest_charge = charge.id
  return charge
}

const failed = (
  charge: StripeCharge,
  code: string,
  message: string,
  decline: StripeDecline,
): StripeCharge => {
  const { adviceCode, declineCode, networkAdviceCode } = decline
  charge.status = "failed"
  charge.failure_code = code
  charge.failure_message = message
  charge.outcome = {
    type: "issuer_declined",
    ...(declineCode !== undefined && { reason: declineCode }),
    ...(adviceCode !== undefined && { advice_code: adviceCode }),
    ...(networkAdviceCode !== undefined && { network_advice_code: networkAdviceCode }),
  }
  return charge
}

const take = (
  state: AccountState,
  intent: StripePaymentIntent,
  method: StripePaymentMethod,
  { dispute, isDelayed }: CardBehaviour,
): void => {
  intent.next_action = null
  intent.last_payment_error = null
  const charge = chargeOf(state, intent, method)
  if (isDelayed !== true) return paid(state, intent, charge, dispute)
  intent.status = "processing"
  state.emit("charge.pending", charge)
  state.emit("payment_intent.processing", intent)
}

const paid = (
  state: AccountState,
  intent: StripePaymentIntent,
  charge: StripeCharge,
  dispute?: string,
): void => {
  charge.status = "succeeded"
  charge.paid = true
  charge.captured = true
  charge.amount_captured = charge.amount
  intent.status = "succeeded"
  intent.amount_received = intent.amount
  state.emit("charge.succeeded", charge)
  state.emit("payment_intent.succeeded", intent)
  if (dispute !== undefined) openDispute(state, charge, dispute)
}

/** Declines an attempt, and gives the answer that says so. A bank that took its time declines the charge that is `known`. */
const fail = (
  state: AccountState,
  intent: StripePaymentIntent,
  method: StripePaymentMethod,
  decline: StripeDecline,
  known?: StripeCharge,
): StripeProblem => {
  const { adviceCode, code = "card_declined", declineCode, networkAdviceCode } = decline
  const message = "Your card was declined."
  const charge =
    code === AUTHENTICATION_FAILURE
      ? null
      : failed(known ?? chargeOf(state, intent, method), code, message, decline)
  const failure: StripeFailure = {
    type: "card_error",
    code,
    message,
    ...(declineCode !== undefined && { decline_code: declineCode }),
    ...(adviceCode !== undefined && { advice_code: adviceCode }),
    ...(networkAdviceCode !== undefined && { network_advice_code: networkAdviceCode }),
    ...(charge !== null && { charge: charge.id }),
    payment_method: { ...method },
  }
  intent.status = "requires_payment_method"
  intent.payment_method = null
  intent.next_action = null
  intent.last_payment_error = failure
  if (charge !== null) state.emit("charge.failed", charge)
  state.emit("payment_intent.payment_failed", intent)
  return new StripeProblem(402, { ...failure, payment_intent: structuredClone(intent) }, true)
}
