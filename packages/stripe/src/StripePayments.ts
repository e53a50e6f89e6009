/**
 * Payments of invoices as payment intents of Stripe, one each.
 */
import {
  type AttemptAnswer,
  type AttemptPayment,
  type OpenPayment,
  type PaymentRead,
  ProviderFailure,
} from "@billwright/core"
import { Clock, Effect, Redacted } from "effect"
import type { Stripe } from "stripe"
import { chargedAttempt, declinedOf, METADATA, readOf } from "./PaymentStates.ts"
import { toStripe } from "./StripeAmounts.ts"
import { orFail, type StripeCalls } from "./StripeCalls.ts"
import type { StripeRefusal } from "./StripeRefusal.ts"

const CHARGE = ["latest_charge"]

/** A method of payment that can't be used: it is not there, was detached, or belongs to somebody else. */
const METHOD_UNAVAILABLE = "method_unavailable"

/** The codes of Stripe for a state that does not allow the call. */
const UNEXPECTED_STATE = "payment_intent_unexpected_state"

/** The method that Stripe charges by itself. */
const defaultMethod = ({ customer }: Stripe.PaymentIntent): string | null => {
  if (typeof customer !== "object" || customer === null || customer.deleted === true) return null
  const { default_payment_method: method } = customer.invoice_settings
  return typeof method === "object" ? (method?.id ?? null) : method
}

/** What an attempt came to. A customer who is there gets something to go on with. */
const answerOf = (intent: Stripe.PaymentIntent, presence: AttemptPayment["presence"]): AttemptAnswer => {
  const read = readOf(intent)
  if (read.status !== "requires_action" || presence === "off_session") return read
  const url = intent.next_action?.redirect_to_url?.url ?? null
  return {
    status: "requires_action",
    action: {
      clientSecret: intent.client_secret === null ? null : Redacted.make(intent.client_secret),
      url: url === null ? null : Redacted.make(url),
    },
  }
}

const ofOtherMode = (mode: OpenPayment["mode"]): ProviderFailure =>
  new ProviderFailure({
    reason: "permanent",
    message: `Stripe: the API key is not of ${mode} mode, and the invoice is`,
  })

/** Opens, attempts, reads and closes payments. */
export class StripePayments {
  readonly #calls: StripeCalls

  constructor(calls: StripeCalls) {
    this.#calls = calls
  }

  open(payment: OpenPayment): Effect.Effect<{ readonly reference: string }, ProviderFailure> {
    const { currency, customer, customerId, invoiceId, mode, paymentId } = payment
    const params: Stripe.PaymentIntentCreateParams = {
      amount: toStripe(payment),
      currency: currency.toLowerCase(),
      ...(customer !== null && { customer }),
      automatic_payment_methods: { enabled: true, allow_redirects: "never" },
      metadata: {
        [METADATA.payment]: paymentId,
        [METADATA.invoice]: invoiceId,
        [METADATA.customer]: customerId,
      },
    }
    return this.#calls
      .sendOnce(paymentId, (client, options) => client.paymentIntents.create(params, options))
      .pipe(
        orFail,
        // Before any money moves: a live key must not take the money of tests, nor a test key pay real invoices.
        Effect.flatMap(({ id, livemode }) =>
          livemode === (mode === "live") ? Effect.succeed({ reference: id }) : Effect.fail(ofOtherMode(mode)),
        ),
      )
  }

  read(reference: string): Effect.Effect<PaymentRead, ProviderFailure> {
    return this.#retrieve(reference).pipe(Effect.map(readOf), orFail)
  }

  /**
   * Announces the attempt on the payment intent, and confirms it. The announcement moves no money. It is copied to the
   * charge, so that an attempt which arrived is seen for ever, also when Stripe has forgotten its key.
   */
  attempt(attempt: AttemptPayment): Effect.Effect<AttemptAnswer, ProviderFailure> {
    const { attemptId, presence } = attempt
    return this.#announce(attempt).pipe(
      Effect.flatMap((intent): Effect.Effect<AttemptAnswer, ProviderFailure> => {
        const { status } = readOf(intent)
        const isMade = status === "succeeded" || status === "processing" || status === "closed"
        if (isMade || chargedAttempt(intent) === attemptId) return Effect.succeed(answerOf(intent, presence))
        const method = attempt.method ?? defaultMethod(intent)
        return method === null
          ? Effect.succeed(declined(attemptId, "no_method"))
          : this.#confirm(attempt, method)
      }),
    )
  }

  close(reference: string): Effect.Effect<"closed" | "already_succeeded", ProviderFailure> {
    // Without a key: Stripe would keep a refusal with it. A payment intent is canceled once anyway.
    const cancel = this.#calls.send((client, options) => client.paymentIntents.cancel(reference, {}, options))
    return cancel.pipe(
      Effect.catchTag("StripeRefusal", (refusal) =>
        refusal.code === UNEXPECTED_STATE ? this.#retrieve(reference) : Effect.fail(refusal),
      ),
      orFail,
      Effect.flatMap(({ status }) => {
        if (status === "canceled") return Effect.succeed("closed" as const)
        if (status === "succeeded") return Effect.succeed("already_succeeded" as const)
        const message = `Stripe: the payment intent is ${status}, and can't be canceled now`
        return Effect.fail(new ProviderFailure({ reason: "transient", message }))
      }),
    )
  }

  #retrieve(reference: string): Effect.Effect<Stripe.PaymentIntent, StripeRefusal> {
    return this.#calls.send((client, options) =>
      client.paymentIntents.retrieve(reference, { expand: CHARGE }, options),
    )
  }

  #announce({ attemptId, reference }: AttemptPayment): Effect.Effect<Stripe.PaymentIntent, ProviderFailure> {
    const params = { metadata: { [METADATA.attempt]: attemptId }, expand: [...CHARGE, "customer"] }
    return this.#calls
      .send((client, options) => client.paymentIntents.update(reference, params, options))
      .pipe(
        // Nothing was charged, whatever came of the announcement.
        Effect.mapError((refusal) => (refusal.reason === "unknown" ? refusal.asTransient : refusal)),
        orFail,
      )
  }

  #confirm(attempt: AttemptPayment, method: string): Effect.Effect<AttemptAnswer, ProviderFailure> {
    const { attemptId, presence, reference, returnUrl } = attempt
    const params: Stripe.PaymentIntentConfirmParams = {
      payment_method: method,
      ...(presence === "off_session"
        ? { off_session: true }
        : returnUrl !== null && { return_url: returnUrl }),
      expand: CHARGE,
    }
    return this.#calls
      .sendOnce(attemptId, (client, options) => client.paymentIntents.confirm(reference, params, options))
      .pipe(
        Effect.map((intent) => answerOf(intent, presence)),
        Effect.catchTag("StripeRefusal", (refusal) => this.#refused(attempt, refusal)),
        orFail,
      )
  }

  /** What a refusal of a confirmation says about the attempt. */
  #refused(
    { attemptId, presence, reference }: AttemptPayment,
    refusal: StripeRefusal,
  ): Effect.Effect<AttemptAnswer, StripeRefusal> {
    if (refusal.status === 402) {
      return Effect.map(Clock.currentTimeMillis, (now) => declinedOf(attemptId, refusal, now))
    }
    // Somebody else was first: another process, the customer, or a person in Stripe's dashboard.
    if (refusal.code === UNEXPECTED_STATE) {
      return Effect.map(this.#retrieve(reference), (intent) => answerOf(intent, presence))
    }
    return refusal.reason === "permanent" && refusal.param === "payment_method"
      ? Effect.succeed(declined(attemptId, METHOD_UNAVAILABLE))
      : Effect.fail(refusal)
  }
}

const declined = (attemptId: string, code: string): AttemptAnswer => ({
  status: "declined",
  attemptId,
  code,
  advice: "new_method",
  notBefore: null,
})
