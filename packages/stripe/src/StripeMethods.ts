/**
 * Customers of Stripe, and the payment methods that it saves for them.
 */
import { createHash } from "node:crypto"
import type {
  MethodProvider,
  ProviderCustomer,
  ProviderFailure,
  SavedMethod,
  SetupRead,
  StartedSetup,
  StartSetup,
} from "@billwright/core"
import { Effect, Redacted } from "effect"
import type { Stripe } from "stripe"
import { METADATA } from "./PaymentStates.ts"
import { orFail, orMissing, type StripeCalls } from "./StripeCalls.ts"
import type { StripeRefusal } from "./StripeRefusal.ts"

const savedMethod = (method: Stripe.PaymentMethod): SavedMethod => {
  const { card, id, sepa_debit: sepa, type, us_bank_account: bank } = method
  return {
    reference: id,
    type,
    brand: card?.brand ?? null,
    last4: card?.last4 ?? sepa?.last4 ?? bank?.last4 ?? null,
    expiry: card === undefined ? null : { month: card.exp_month, year: card.exp_year },
  }
}

/** How a setup stands. While it is not canceled, a customer whose card was refused may enter another one. */
const setupRead = ({
  last_setup_error: error,
  payment_method: method,
  status,
}: Stripe.SetupIntent): SetupRead => {
  if (status === "canceled")
    return { status: "failed", code: error?.decline_code ?? error?.code ?? "canceled" }
  return status === "succeeded" && method !== null && typeof method === "object"
    ? { status: "saved", method: savedMethod(method) }
    : { status: "pending" }
}

const SESSION_PREFIX = "cs_"

/** How the setup of a page stands. The page is there for 24 hours. */
const sessionRead = ({ setup_intent: setup, status }: Stripe.Checkout.Session): SetupRead => {
  if (status === "expired") return { status: "failed", code: "expired" }
  return typeof setup === "object" && setup !== null ? setupRead(setup) : { status: "pending" }
}

/** Saves payment methods. */
export class StripeMethods implements MethodProvider {
  readonly #calls: StripeCalls

  constructor(calls: StripeCalls) {
    this.#calls = calls
  }

  /**
   * Stripe forgets keys after a day, and its search sees a customer after a minute. So the search finds a customer of
   * earlier, and the key finds one of now.
   */
  readonly ensureCustomer = (
    customer: ProviderCustomer,
  ): Effect.Effect<{ readonly reference: string }, ProviderFailure> => {
    const { customerId, email, name } = customer
    // The key stands for these parameters, so nothing is among them that may change.
    const params = { metadata: { [METADATA.customer]: customerId } }
    return this.#find(customerId).pipe(
      Effect.flatMap((found) =>
        found === undefined
          ? this.#calls.sendOnce(customerId, (client, options) => client.customers.create(params, options))
          : Effect.succeed(found),
      ),
      Effect.flatMap(({ id }) =>
        this.#calls.send((client, options) => client.customers.update(id, { name, email }, options)),
      ),
      Effect.map(({ id }) => ({ reference: id })),
      orFail,
    )
  }

  /** In the form of the host's page by a setup intent, or on a page of Stripe by a checkout session. */
  readonly startSetup = (setup: StartSetup): Effect.Effect<StartedSetup, ProviderFailure> =>
    setup.returnUrl === null ? this.#startForm(setup) : this.#startPage(setup, setup.returnUrl)

  readonly readSetup = (reference: string): Effect.Effect<SetupRead, ProviderFailure> =>
    reference.startsWith(SESSION_PREFIX)
      ? this.#calls
          .send((client, options) =>
            client.checkout.sessions.retrieve(
              reference,
              { expand: ["setup_intent.payment_method"] },
              options,
            ),
          )
          .pipe(Effect.map(sessionRead), orFail)
      : this.#calls
          .send((client, options) =>
            client.setupIntents.retrieve(reference, { expand: ["payment_method"] }, options),
          )
          .pipe(Effect.map(setupRead), orFail)

  #startForm({ customer, setupId }: StartSetup): Effect.Effect<StartedSetup, ProviderFailure> {
    const params: Stripe.SetupIntentCreateParams = {
      customer,
      usage: "off_session",
      automatic_payment_methods: { enabled: true, allow_redirects: "never" },
      metadata: { [METADATA.setup]: setupId },
    }
    return this.#calls
      .sendOnce(setupId, (client, options) => client.setupIntents.create(params, options))
      .pipe(
        Effect.map(({ client_secret: secret, id }) => ({
          reference: id,
          clientSecret: secret === null ? null : Redacted.make(secret),
          url: null,
        })),
        orFail,
      )
  }

  #startPage(
    { customer, setupId }: StartSetup,
    returnUrl: string,
  ): Effect.Effect<StartedSetup, ProviderFailure> {
    const metadata = { [METADATA.setup]: setupId }
    const params: Stripe.Checkout.SessionCreateParams = {
      mode: "setup",
      customer,
      // Other types need a currency, which nobody knows yet.
      allowed_payment_method_types: ["card"],
      success_url: returnUrl,
      cancel_url: returnUrl,
      metadata,
      setup_intent_data: { metadata },
    }
    // A page that returns to somewhere else is another one. The address itself may be longer than a key.
    const place = createHash("sha256").update(returnUrl).digest("hex").slice(0, 32)
    return this.#calls
      .sendOnce(`${setupId}:${place}`, (client, options) => client.checkout.sessions.create(params, options))
      .pipe(
        Effect.map(({ id, url }) => ({
          reference: id,
          clientSecret: null,
          url: url === null ? null : Redacted.make(url),
        })),
        orFail,
      )
  }

  readonly detachMethod = (reference: string): Effect.Effect<void, ProviderFailure> =>
    this.#calls
      .send((client, options) => client.paymentMethods.detach(reference, {}, options))
      .pipe(
        Effect.catchTag("StripeRefusal", (refusal) =>
          refusal.status === 400 || refusal.status === 404
            ? this.#requireDetached(reference, refusal)
            : Effect.fail(refusal),
        ),
        Effect.asVoid,
        orFail,
      )

  /** The customer stays, because refunds of its payments need it. A text that is empty is removed. */
  readonly forgetCustomer = (reference: string): Effect.Effect<void, ProviderFailure> =>
    orMissing(
      this.#calls.send((client, options) =>
        client.customers.update(reference, { name: "", email: "" }, options),
      ),
    ).pipe(Effect.asVoid, orFail)

  /** Stripe refuses to detach a method that is not attached. */
  #requireDetached(reference: string, refusal: StripeRefusal): Effect.Effect<void, StripeRefusal> {
    const read = this.#calls.send((client, options) => client.paymentMethods.retrieve(reference, {}, options))
    return Effect.flatMap(orMissing(read), (method) =>
      method === null || method.customer === null ? Effect.void : Effect.fail(refusal),
    )
  }

  #find(customerId: string): Effect.Effect<{ readonly id: string } | undefined, StripeRefusal> {
    const query = `metadata["${METADATA.customer}"]:"${customerId}"`
    return Effect.map(
      this.#calls.send((client, options) => client.customers.search({ query, limit: 1 }, options)),
      ({ data }) => data[0],
    )
  }
}
