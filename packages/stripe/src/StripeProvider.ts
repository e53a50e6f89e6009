/**
 * Stripe as a payment provider.
 */
import type { PaymentProvider } from "@billwright/core"
import { Redacted } from "effect"
import type { Stripe } from "stripe"
import { chargeable } from "./StripeAmounts.ts"
import { StripeCalls } from "./StripeCalls.ts"
import { StripeMethods } from "./StripeMethods.ts"
import { receive } from "./StripeNotices.ts"
import { StripePayments } from "./StripePayments.ts"
import { StripeRefunds } from "./StripeRefunds.ts"

/** Calls a second that every account of Stripe may make, in test mode, too. */
const DEFAULT_REQUESTS_PER_SECOND = 25
const MAX_REQUESTS_PER_SECOND = 10_000

/** What Stripe is used with. */
export interface StripeProviderOptions {
  /** Your own client of the official SDK, with your secret key. Its options for retries and time-outs are not used. */
  readonly client: Stripe
  /**
   * Calls a second to Stripe from this process: 1 to 10,000. Default 25, which every account may make in test mode. More
   * wait for at most 10 seconds, and then count as not sent.
   */
  readonly requestsPerSecond?: number
  /** The signing secrets of the webhook endpoint (`whsec_…`): the one in use, and one that is being replaced. */
  readonly webhookSecrets?: ReadonlyArray<Redacted.Redacted<string>>
  /** The connected account (`acct_…`) that calls act for. Default: the account of the client. */
  readonly account?: string
  /** The name by which payments remember the provider: 1 to 64 characters. It must stay. Default `stripe`. */
  readonly name?: string
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== ""

/**
 * A payment provider that takes money with Stripe: a payment intent for each invoice.
 *
 * Throws a `TypeError` that names the option when one is wrong.
 */
export const make = (options: StripeProviderOptions): PaymentProvider => {
  const { account = null, client, name = "stripe", webhookSecrets = [] } = options
  const { requestsPerSecond = DEFAULT_REQUESTS_PER_SECOND } = options
  if (typeof client?.paymentIntents?.create !== "function") {
    throw new TypeError("client: must be a client of the package `stripe`: new Stripe(key)")
  }
  if (!(requestsPerSecond >= 1 && requestsPerSecond <= MAX_REQUESTS_PER_SECOND)) {
    throw new TypeError(`requestsPerSecond: must be from 1 to ${MAX_REQUESTS_PER_SECOND}`)
  }
  if (typeof name !== "string" || name.length === 0 || name.length > 64 || name === "manual") {
    throw new TypeError("name: must have 1 to 64 characters, and not be `manual`")
  }
  // Anybody can sign with a secret that is empty.
  if (!webhookSecrets.every((secret) => isText(Redacted.value(secret)))) {
    throw new TypeError("webhookSecrets: each must be the signing secret of an endpoint at Stripe: whsec_…")
  }
  const calls = new StripeCalls({ client, requestsPerSecond, account })
  const payments = new StripePayments(calls)
  const refunds = new StripeRefunds(calls)
  return {
    name,
    chargeable,
    methods: new StripeMethods(calls),
    openPayment: (payment) => payments.open(payment),
    attemptPayment: (attempt) => payments.attempt(attempt),
    readPayment: (reference) => payments.read(reference),
    closePayment: (reference) => payments.close(reference),
    refund: (refund) => refunds.refund(refund),
    readRefund: (query) => refunds.readRefund(query),
    readDispute: (reference) => refunds.readDispute(reference),
    receive: (request, now) => receive({ client, webhookSecrets, account }, request, now),
  }
}
