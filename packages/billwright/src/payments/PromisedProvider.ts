/**
 * Makes a provider with promises from one of core.
 */
import type { AttemptAnswer as CoreAnswer, PaymentProvider as Core, ProviderFailure } from "@billwright/core"
import { Customer, Invoice, Payment } from "@billwright/core"
import { Effect } from "effect"
import { PaymentProviderError } from "../errors/PaymentProviderError.ts"
import type { MethodProvider, ProviderCallOptions } from "./MethodProvider.ts"
import type { AttemptAnswer, PaymentProvider } from "./PaymentProvider.ts"
import { shown } from "./ProviderBridge.ts"

/** Calls a provider of core, which needs nothing. */
const promised = <A>(call: Effect.Effect<A, ProviderFailure>, { signal }: ProviderCallOptions): Promise<A> =>
  Effect.runPromise(
    Effect.mapError(call, ({ message, reason }) => new PaymentProviderError(reason, message)),
    { signal },
  )

const toMethodPromises = (methods: NonNullable<Core["methods"]>): MethodProvider => ({
  ensureCustomer: (customer, options) =>
    promised(
      methods.ensureCustomer({ ...customer, customerId: Customer.CustomerId.make(customer.customerId) }),
      options,
    ),
  startSetup: (setup, options) =>
    promised(
      Effect.map(methods.startSetup(setup), (started) => ({
        reference: started.reference,
        ...shown(started),
      })),
      options,
    ),
  readSetup: (reference, options) => promised(methods.readSetup(reference), options),
  detachMethod: (reference, options) => promised(methods.detachMethod(reference), options),
  forgetCustomer: (reference, options) =>
    promised(methods.forgetCustomer?.(reference) ?? Effect.void, options),
})

const toAnswer = (answer: CoreAnswer): AttemptAnswer => {
  if (answer.status !== "requires_action") return answer
  const { action, status } = answer
  return action === undefined ? { status } : { status, action: shown(action) }
}

/** Makes a provider with promises from one of core. */
export const toPromises = (provider: Core): PaymentProvider => ({
  name: provider.name,
  chargeable: (money) => provider.chargeable(money),
  methods: provider.methods && toMethodPromises(provider.methods),
  openPayment: (payment, options) =>
    promised(
      provider.openPayment({
        ...payment,
        paymentId: Payment.PaymentId.make(payment.paymentId),
        invoiceId: Invoice.InvoiceId.make(payment.invoiceId),
        customerId: Customer.CustomerId.make(payment.customerId),
      }),
      options,
    ),
  attemptPayment: (attempt, options) =>
    promised(Effect.map(provider.attemptPayment(attempt), toAnswer), options),
  readPayment: (reference, options) => promised(provider.readPayment(reference), options),
  closePayment: (reference, options) => promised(provider.closePayment(reference), options),
  refund: (refund, options) => promised(provider.refund(refund), options),
  readRefund: (query, options) => promised(provider.readRefund(query), options),
  readDispute: (reference, options) => promised(provider.readDispute(reference), options),
  receive: (request, now) => provider.receive(request, now),
})
