/**
 * The port of a payment provider: who takes money for invoices. Without one, nobody is charged.
 */
import type { PaymentRead } from "@billwright/engine"
import { Context, Data, type Effect } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { InvoiceId } from "../invoices/Invoice.ts"
import type { PaymentId } from "./Payment.ts"

export type { PaymentRead } from "@billwright/engine"

/** How long a provider may take for one call, in milliseconds. Then the outcome of the call is unknown. */
export const PROVIDER_MILLIS = 60_000

/**
 * A call of a provider failed. `transient`: surely nothing happened, and the same call may work later. `permanent`: surely
 * nothing happened, and a person has to change something. `unknown`: it may have happened.
 */
export class ProviderFailure extends Data.TaggedError("ProviderFailure")<{
  readonly reason: "transient" | "permanent" | "unknown"
  /** What went wrong, for people. It must have no secret and no detail of a card. */
  readonly message: string
}> {}

/** A payment to open. Amounts are integers of the currency's minor unit. */
export interface OpenPayment {
  /** The key of the call: the same id always opens the same payment. */
  readonly paymentId: PaymentId
  readonly invoiceId: InvoiceId
  readonly customerId: CustomerId
  readonly amount: bigint
  readonly currency: string
}

/** An attempt to take the money of an open payment. */
export interface AttemptPayment {
  readonly reference: string
  /** The key of the call: however often it is sent, it is one attempt. */
  readonly attemptId: string
  /** `null`: the default method that the provider has of the customer. Without one, it is declined as `no_method`. */
  readonly method: string | null
}

/**
 * Takes money. All calls happen outside of transactions, may be repeated, and may be made by several processes at once.
 *
 * A payment succeeds at most once, however many attempts are made of it: whoever charges twice for one reference breaks
 * the contract. `FakeProvider` is one for tests, and the suite `PaymentProviderContract` of `@billwright/testing` tests
 * the rules below.
 */
export interface PaymentProvider {
  /** The name by which payments remember it: 1 to 64 characters, and not `manual`. It must stay. */
  readonly name: string

  /** Opens a payment, which moves no money. The same `paymentId` gives the same reference. */
  readonly openPayment: (
    payment: OpenPayment,
  ) => Effect.Effect<{ readonly reference: string }, ProviderFailure>

  /**
   * Tries to take the money, while the customer is not there. Repeated with the same `attemptId`, it gives the same answer
   * or a later one, and takes nothing again.
   */
  readonly attemptPayment: (attempt: AttemptPayment) => Effect.Effect<PaymentRead, ProviderFailure>

  /** How the payment stands now. An attempt whose answer was given or lost is seen. */
  readonly readPayment: (reference: string) => Effect.Effect<PaymentRead, ProviderFailure>

  /** Closes a payment, so that it never succeeds any more; or says that it has. Closing it again is fine. */
  readonly closePayment: (reference: string) => Effect.Effect<"closed" | "already_succeeded", ProviderFailure>
}

/** The provider that takes the money of all invoices. `null`: nobody is charged. */
export class CurrentProvider extends Context.Reference<PaymentProvider | null>(
  "@billwright/core/payments/CurrentProvider",
  { defaultValue: () => null },
) {}
