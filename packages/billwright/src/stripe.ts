/**
 * Takes the payments of invoices with Stripe.
 */
import { StripeProvider } from "@billwright/stripe"
import { Redacted } from "effect"
import type { Stripe } from "stripe"
import { ConfigurationError } from "./errors/RuntimeError.ts"
import type { BuiltInProvider } from "./payments/BuiltInProvider.ts"
import { makeBuiltIn } from "./runtime/ProviderParts.ts"

export type { BuiltInProvider } from "./payments/BuiltInProvider.ts"

/** What Stripe is used with. */
export interface StripeOptions {
  /** Your own client of the package `stripe`, with your secret key. Its options for retries and time-outs are not used. */
  readonly client: Stripe
  /** The signing secrets of your webhook endpoint at Stripe (`whsec_…`): the one in use, and one that is being replaced. */
  readonly webhookSecrets?: ReadonlyArray<string>
  /**
   * Calls a second to Stripe from this process: 1 to 10,000. Default 25, which every account may make in test mode. More
   * wait for at most 10 seconds, and then count as not sent.
   */
  readonly requestsPerSecond?: number
  /** The connected account (`acct_…`) that calls act for. Default: the account of the client. */
  readonly account?: string
  /** The name by which payments remember the provider: 1 to 64 characters. It must stay. Default `stripe`. */
  readonly name?: string
}

/**
 * Stripe as the payment provider of `createBilling`. Throws a `ConfigurationError` that names the option when one is wrong.
 */
export const stripe = (options: StripeOptions): BuiltInProvider => {
  const { webhookSecrets = [], ...rest } = options
  try {
    const secrets = webhookSecrets.map((secret) => Redacted.make(secret))
    return makeBuiltIn("stripe", StripeProvider.make({ ...rest, webhookSecrets: secrets }))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ConfigurationError(`stripe: ${error.message}`)
  }
}
