/**
 * Checkout sessions of the fake: pages of Stripe on which customers save a card. Those that take money are not there.
 */
import { randomBytes } from "node:crypto"
import type { AccountState } from "./AccountState.ts"
import type { Params } from "./Params.ts"
import { addCard, completeSetup, confirmSetup, createSetupOf } from "./PaymentMethods.ts"
import type { StripeCheckoutSession, StripeSetupIntent } from "./StripeObjects.ts"
import { StripeProblem } from "./StripeProblem.ts"

/** How long a page is there, in seconds. */
const SESSION_SECONDS = 86_400

export const createSession = (state: AccountState, params: Params): StripeCheckoutSession => {
  if (params.required("mode") !== "setup") {
    throw StripeProblem.invalid(
      "parameter_invalid",
      "The fake has checkout sessions of the mode setup.",
      "mode",
    )
  }
  const success = params.required("success_url")
  const types = Object.values(params.group("allowed_payment_method_types"))
  if (types.length !== 1 || types[0] !== "card") {
    const message = "The fake has checkout sessions for cards alone."
    throw StripeProblem.invalid("parameter_invalid", message, "allowed_payment_method_types")
  }
  const customer = params.text("customer") ?? null
  const setup = createSetupOf(state, {
    customer,
    usage: "off_session",
    metadata: params.metadataOf("setup_intent_data"),
  })
  const id = `cs_test_${randomBytes(24).toString("hex")}`
  const session = state.add("checkout.session", {
    ...state.head("checkout.session"),
    id,
    mode: "setup",
    automatic_tax: { enabled: false },
    custom_fields: [],
    custom_text: {},
    customer,
    expires_at: state.seconds() + SESSION_SECONDS,
    metadata: params.metadata(),
    allowed_payment_method_types: ["card"],
    payment_method_types: ["card"],
    payment_status: "no_payment_required",
    setup_intent: setup.id,
    shipping_options: [],
    status: "open",
    success_url: success,
    cancel_url: params.text("cancel_url") ?? null,
    url: state.pageOf(id),
  })
  return session
}

/** A session. One whose time is over has expired. */
export const getSession = (state: AccountState, _: Params | undefined, id: string): StripeCheckoutSession => {
  const session = state.get("checkout.session", id, "session")
  return session.status === "open" && session.expires_at <= state.seconds() ? expire(state, session) : session
}

const expire = (state: AccountState, session: StripeCheckoutSession): StripeCheckoutSession => {
  session.status = "expired"
  session.url = null
  state.emit("checkout.session.expired", session)
  return session
}

export const expireSession = (state: AccountState, params: Params, id: string): StripeCheckoutSession => {
  const session = getSession(state, params, id)
  if (session.status === "open") return expire(state, session)
  throw StripeProblem.invalid(
    "parameter_invalid",
    `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
    "session",
  )
}

/** A session that has a page. */
const openSession = (state: AccountState, id: string): StripeCheckoutSession => {
  const session = getSession(state, undefined, id)
  if (session.status === "open") return session
  throw new TypeError(`the checkout session is ${session.status}`)
}

const finish = (
  state: AccountState,
  session: StripeCheckoutSession,
  setup: StripeSetupIntent,
): StripeSetupIntent => {
  if (setup.status === "succeeded") {
    session.status = "complete"
    session.url = null
    state.emit("checkout.session.completed", session)
  }
  return setup
}

/**
 * The customer enters a card on the page: its number, or a name such as `pm_card_visa`. Throws the answer of Stripe if it is
 * refused.
 */
export const enterCardOnPage = (state: AccountState, id: string, card: string): StripeSetupIntent => {
  const session = openSession(state, id)
  const method = card.startsWith("pm_") ? card : addCard(state, card).id
  return finish(state, session, confirmSetup(state, method, session.setup_intent))
}

/** The customer confirms the card to the bank, or fails to. */
export const answerBankOnPage = (
  state: AccountState,
  id: string,
  isConfirmed: boolean,
): StripeSetupIntent => {
  const session = openSession(state, id)
  return finish(state, session, completeSetup(state, session.setup_intent, isConfirmed))
}
