/**
 * Makes the provider of core from one with promises.
 */
import { type PaymentProvider as Core, ProviderFailure } from "@billwright/core"
import { Effect } from "effect"
import { type PaymentProvider, PaymentProviderError, type ProviderCallOptions } from "./PaymentProvider.ts"

const failureOf = (error: unknown): ProviderFailure =>
  new ProviderFailure({
    reason: error instanceof PaymentProviderError ? error.reason : "unknown",
    message: error instanceof Error ? error.message : "the payment provider failed",
  })

const calling = <A>(call: (options: ProviderCallOptions) => Promise<A>): Effect.Effect<A, ProviderFailure> =>
  Effect.tryPromise({ try: async (signal) => call({ signal }), catch: failureOf })

export const toCoreProvider = (provider: PaymentProvider): Core => ({
  name: provider.name,
  openPayment: (payment) => calling((options) => provider.openPayment(payment, options)),
  attemptPayment: (attempt) => calling((options) => provider.attemptPayment(attempt, options)),
  readPayment: (reference) => calling((options) => provider.readPayment(reference, options)),
  closePayment: (reference) => calling((options) => provider.closePayment(reference, options)),
})
