/**
 * Makes the provider of core from one with promises.
 */
import {
  type AttemptAnswer as CoreAnswer,
  type CustomerAction as CoreAction,
  type PaymentProvider as Core,
  ProviderFailure,
} from "@billwright/core"
import { Effect, Redacted } from "effect"
import { PaymentProviderError } from "../errors/PaymentProviderError.ts"
import { coreOf } from "../runtime/ProviderParts.ts"
import type { BuiltInProvider } from "./BuiltInProvider.ts"
import type { CustomerAction, MethodProvider, ProviderCallOptions } from "./MethodProvider.ts"
import type { AttemptAnswer, PaymentProvider } from "./PaymentProvider.ts"

const failureOf = (error: unknown): ProviderFailure =>
  new ProviderFailure({
    reason: error instanceof PaymentProviderError ? error.reason : "unknown",
    message: error instanceof Error ? error.message : "the payment provider failed",
  })

const calling = <A>(call: (options: ProviderCallOptions) => Promise<A>): Effect.Effect<A, ProviderFailure> =>
  Effect.tryPromise({ try: async (signal) => call({ signal }), catch: failureOf })

/** What the customer goes on with, so that no log shows it. */
const hidden = ({ clientSecret, url }: CustomerAction) => ({
  clientSecret: clientSecret === null ? null : Redacted.make(clientSecret),
  url: url === null ? null : Redacted.make(url),
})

/** What the customer goes on with, for the host. */
export const shown = ({ clientSecret, url }: CoreAction): CustomerAction => ({
  clientSecret: clientSecret === null ? null : Redacted.value(clientSecret),
  url: url === null ? null : Redacted.value(url),
})

const toCoreAnswer = (answer: AttemptAnswer): CoreAnswer => {
  if (answer.status !== "requires_action") return answer
  const { action, status } = answer
  return action === undefined ? { status } : { status, action: hidden(action) }
}

const toCoreMethods = (methods: MethodProvider): NonNullable<Core["methods"]> => ({
  ensureCustomer: (customer) => calling((options) => methods.ensureCustomer(customer, options)),
  startSetup: (setup) =>
    Effect.map(
      calling((options) => methods.startSetup(setup, options)),
      (started) => ({ reference: started.reference, ...hidden(started) }),
    ),
  readSetup: (reference) => calling((options) => methods.readSetup(reference, options)),
  detachMethod: (reference) => calling((options) => methods.detachMethod(reference, options)),
  forgetCustomer: (reference) =>
    calling((options) => methods.forgetCustomer?.(reference, options) ?? Promise.resolve()),
})

/** The provider of core. One that comes with the library is one. */
export const toCoreProvider = (provider: BuiltInProvider | PaymentProvider): Core =>
  coreOf(provider) ?? toCore(provider as PaymentProvider)

const toCore = (provider: PaymentProvider): Core => ({
  name: provider.name,
  chargeable: (money) => provider.chargeable(money),
  methods: provider.methods && toCoreMethods(provider.methods),
  openPayment: (payment) => calling((options) => provider.openPayment(payment, options)),
  attemptPayment: (attempt) =>
    Effect.map(
      calling((options) => provider.attemptPayment(attempt, options)),
      toCoreAnswer,
    ),
  readPayment: (reference) => calling((options) => provider.readPayment(reference, options)),
  closePayment: (reference) => calling((options) => provider.closePayment(reference, options)),
  refund: (refund) => calling((options) => provider.refund(refund, options)),
  readRefund: (query) => calling((options) => provider.readRefund(query, options)),
  readDispute: (reference) => calling((options) => provider.readDispute(reference, options)),
  receive: (request, now) => provider.receive(request, now),
})
