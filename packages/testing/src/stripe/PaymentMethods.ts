import type { AccountState } from "./AccountState.ts"
/**
 * Customers, their payment methods, and setup intents of the fake.
 */
import type { Params } from "./Params.ts"
import type { StripeCustomer, StripePaymentMethod, StripeSetupIntent } from "./StripeObjects.ts"
import { StripeProblem } from "./StripeProblem.ts"
import { type CardBehaviour, cardOfNumber, methodOfName } from "./TestCards.ts"

const CARD_DECLINED = "card_declined"
const VISA = "4242424242424242"
/** When the cards of `pm_card_…` expire. */
const EXPIRES = { exp_month: 12, exp_year: 2040 }

const addMethod = (
  state: AccountState,
  behaviour: CardBehaviour,
  number: string,
  { expires = EXPIRES, metadata = {} } = {},
): StripePaymentMethod => {
  const last4 = number.slice(-4)
  const method = state.add("payment_method", {
    ...state.head("payment_method"),
    billing_details: { name: null, email: null },
    customer: null,
    metadata,
    ...(behaviour.isDelayed === true
      ? { type: "us_bank_account", us_bank_account: { bank_name: "STRIPE TEST BANK", last4 } }
      : {
          type: "card",
          card: { brand: "visa", funding: "credit", last4, fingerprint: `fp_${number}`, ...expires },
        }),
  })
  state.behaviours.set(method.id, behaviour)
  return method
}

/** The method of an id. A name such as `pm_card_visa` makes a new one. */
export const methodOf = (state: AccountState, id: string, param: string): StripePaymentMethod => {
  const named = methodOfName(id)
  return named === undefined
    ? state.get("payment_method", id, param)
    : addMethod(state, named, named.number ?? VISA)
}

export const createMethod = (state: AccountState, params: Params): StripePaymentMethod => {
  if (params.required("type") !== "card") {
    throw StripeProblem.invalid("parameter_invalid", "The fake makes cards alone.", "type")
  }
  const { exp_month, exp_year, number } = params.group("card")
  const expires = { exp_month: Number(exp_month), exp_year: Number(exp_year) }
  return addCard(state, typeof number === "string" ? number : "", { expires, metadata: params.metadata() })
}

/** A new method of a card's number. */
export const addCard = (
  state: AccountState,
  number: string,
  options: Parameters<typeof addMethod>[3] = {},
): StripePaymentMethod => {
  const card = cardOfNumber(number)
  if (card === undefined) {
    throw new StripeProblem(
      402,
      {
        type: "card_error",
        code: "incorrect_number",
        message: "Your card number is incorrect.",
        param: "number",
      },
      false,
    )
  }
  return addMethod(state, card, card.number, options)
}

export const getMethod = (state: AccountState, _: Params, id: string): StripePaymentMethod =>
  state.get("payment_method", id, "payment_method")

/** Attaches a method. One that belongs to another customer stays with that one. */
export const attach = (state: AccountState, id: string, customer: string): StripePaymentMethod => {
  state.get("customer", customer, "customer")
  const method = methodOf(state, id, "payment_method")
  if (method.customer !== null && method.customer !== customer) {
    throw StripeProblem.refused(
      "payment_method_unexpected_state",
      "The payment method you provided has already been attached to a customer.",
    )
  }
  const { decline, isSavedFirst } = state.behaviours.get(method.id) ?? {}
  if (decline !== undefined && isSavedFirst !== true) {
    const { code = CARD_DECLINED, declineCode } = decline
    const message = "Your card was declined."
    const detail = declineCode === undefined ? {} : { decline_code: declineCode }
    throw new StripeProblem(402, { type: "card_error", code, ...detail, message }, true)
  }
  const isNew = method.customer === null
  method.customer = customer
  if (isNew) state.emit("payment_method.attached", method)
  return method
}

export const attachMethod = (state: AccountState, params: Params, id: string): StripePaymentMethod =>
  attach(state, id, params.required("customer"))

export const detachMethod = (state: AccountState, _: Params, id: string): StripePaymentMethod => {
  const method = state.get("payment_method", id, "payment_method")
  const customer = state.all("customer").find((one) => one.id === method.customer)
  if (customer === undefined) {
    throw StripeProblem.refused(
      "payment_method_not_attached",
      "The payment method you provided is not attached to a customer so detachment is impossible.",
    )
  }
  if (customer.invoice_settings.default_payment_method === id) {
    customer.invoice_settings = { default_payment_method: null }
  }
  method.customer = null
  // Stripe never lets it be used again.
  state.behaviours.delete(id)
  state.emit("payment_method.detached", method)
  return method
}

const applyToCustomer = (state: AccountState, customer: StripeCustomer, params: Params): void => {
  for (const field of ["name", "email"] as const) {
    if (params.has(field)) customer[field] = params.text(field) || null
  }
  customer.metadata = params.metadata(customer.metadata)
  const { default_payment_method: method } = params.group("invoice_settings")
  if (typeof method !== "string") return
  if (method !== "" && state.get("payment_method", method, "payment_method").customer !== customer.id) {
    throw StripeProblem.invalid(
      "resource_missing",
      "The payment method must be attached to the customer.",
      "invoice_settings[default_payment_method]",
    )
  }
  customer.invoice_settings = { default_payment_method: method === "" ? null : method }
}

export const createCustomer = (state: AccountState, params: Params): StripeCustomer => {
  const customer: StripeCustomer = {
    ...state.head("customer"),
    name: null,
    email: null,
    metadata: {},
    invoice_settings: { default_payment_method: null },
  }
  applyToCustomer(state, customer, params)
  state.add("customer", customer)
  const method = params.text("payment_method")
  if (method !== undefined) attach(state, method, customer.id)
  state.emit("customer.created", customer)
  return customer
}

export const getCustomer = (state: AccountState, _: Params, id: string): StripeCustomer =>
  state.get("customer", id, "customer")

export const updateCustomer = (state: AccountState, params: Params, id: string): StripeCustomer => {
  const customer = state.get("customer", id, "customer")
  applyToCustomer(state, customer, params)
  state.emit("customer.updated", customer)
  return customer
}

/** Searches by one field of the metadata, as `metadata["field"]:"value"`. */
export const searchCustomers = (state: AccountState, params: Params) => {
  const [, field, value] = /^metadata\["([^"]+)"\]:"([^"]*)"$/.exec(params.required("query")) ?? []
  if (field === undefined) {
    throw StripeProblem.invalid("parameter_invalid", "The fake searches by metadata alone.", "query")
  }
  const data = state.all("customer").filter((customer) => customer.metadata[field] === value)
  const limit = params.integer("limit") ?? data.length
  return {
    object: "search_result",
    url: "/v1/customers/search",
    has_more: data.length > limit,
    next_page: null,
    data: data.slice(0, limit),
  }
}

export const methodsOfCustomer = (state: AccountState, params: Params, id: string) => {
  state.get("customer", id, "customer")
  const type = params.text("type")
  return state
    .all("payment_method")
    .filter((method) => method.customer === id && (type === undefined || method.type === type))
}

export const createSetup = (state: AccountState, params: Params): StripeSetupIntent =>
  createSetupOf(state, {
    customer: params.text("customer") ?? null,
    usage: params.text("usage") ?? "off_session",
    metadata: params.metadata(),
  })

export const createSetupOf = (
  state: AccountState,
  { customer, metadata, usage }: Pick<StripeSetupIntent, "customer" | "metadata" | "usage">,
): StripeSetupIntent => {
  if (customer !== null) state.get("customer", customer, "customer")
  const head = state.head("setup_intent")
  const setup = state.add("setup_intent", {
    ...head,
    client_secret: state.secretOf(head.id),
    payment_method_types: ["card"],
    usage,
    customer,
    status: "requires_payment_method",
    metadata,
    payment_method: null,
    last_setup_error: null,
    next_action: null,
    cancellation_reason: null,
  })
  state.emit("setup_intent.created", setup)
  return setup
}

export const getSetup = (state: AccountState, _: Params, id: string): StripeSetupIntent =>
  state.get("setup_intent", id, "intent")

const succeed = (state: AccountState, setup: StripeSetupIntent): StripeSetupIntent => {
  const { customer, payment_method: method } = setup
  if (method !== null) {
    state.setUp.add(method)
    if (customer !== null) attach(state, method, customer)
  }
  setup.status = "succeeded"
  setup.next_action = null
  state.emit("setup_intent.succeeded", setup)
  return setup
}

/** Refuses a card, and gives the answer that says so. */
const fail = (
  state: AccountState,
  setup: StripeSetupIntent,
  code: string,
  message: string,
): StripeProblem => {
  const method = state.get("payment_method", setup.payment_method ?? "")
  setup.last_setup_error = { type: "card_error", code, message, payment_method: { ...method } }
  setup.status = "requires_payment_method"
  setup.payment_method = null
  setup.next_action = null
  state.emit("setup_intent.setup_failed", setup)
  const about = { payment_method: { ...method }, setup_intent: structuredClone(setup) }
  return new StripeProblem(402, { type: "card_error", code, message, ...about }, true)
}

const refuseUnlessOpen = (setup: StripeSetupIntent, verb: string): void => {
  const { status } = setup
  if (status !== "succeeded" && status !== "canceled") return
  throw StripeProblem.refused(
    "setup_intent_unexpected_state",
    `You cannot ${verb} this SetupIntent because it has a status of ${status}.`,
    { setup_intent: setup },
  )
}

/** The customer gives a method. Some cards have to be confirmed by the customer as well. */
export const confirmSetup = (state: AccountState, method: string, id: string): StripeSetupIntent => {
  const setup = state.get("setup_intent", id, "intent")
  refuseUnlessOpen(setup, "confirm")
  setup.payment_method = methodOf(state, method, "payment_method").id
  const { authentication, decline, isSavedFirst } = state.behaviours.get(setup.payment_method) ?? {}
  if (decline !== undefined && isSavedFirst !== true)
    throw fail(state, setup, decline.code ?? CARD_DECLINED, "Your card was declined.")
  if (authentication === undefined) return succeed(state, setup)
  setup.status = "requires_action"
  setup.next_action = { type: "use_stripe_sdk", use_stripe_sdk: { type: "three_d_secure_redirect" } }
  state.emit("setup_intent.requires_action", setup)
  return setup
}

/** The customer confirms a setup, or fails to. */
export const completeSetup = (state: AccountState, id: string, isConfirmed: boolean): StripeSetupIntent => {
  const setup = state.get("setup_intent", id, "intent")
  if (setup.status !== "requires_action") throw new TypeError(`the setup intent ${id} waits for nobody`)
  if (isConfirmed) return succeed(state, setup)
  const code = "setup_intent_authentication_failure"
  fail(state, setup, code, "The provided PaymentMethod has failed authentication.")
  return setup
}

export const cancelSetup = (state: AccountState, id: string, reason: string | null): StripeSetupIntent => {
  const setup = state.get("setup_intent", id, "intent")
  refuseUnlessOpen(setup, "cancel")
  setup.status = "canceled"
  setup.cancellation_reason = reason
  state.emit("setup_intent.canceled", setup)
  return setup
}
