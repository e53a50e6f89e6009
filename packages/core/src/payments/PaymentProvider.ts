/**
 * The port of a payment provider: who takes money for invoices. Without one, nobody is charged.
 */
import type { Chargeable, Money, PaymentRead } from "@billwright/engine"
import { Context, type Effect } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { InvoiceId } from "../invoices/Invoice.ts"
import type { Mode } from "../shared/Tenant.ts"
import type { CustomerAction, MethodProvider } from "./MethodProvider.ts"
import type { PaymentId } from "./Payment.ts"
import type { ProviderFailure } from "./ProviderFailure.ts"
import type { NotifyingProvider } from "./ProviderNotices.ts"
import type { RefundingProvider } from "./ProviderRefunds.ts"

export type { Chargeable, Money, PaymentRead } from "@billwright/engine"

/** How long a provider may take for one call, in milliseconds. Then the outcome of the call is unknown. */
export const PROVIDER_MILLIS = 60_000

/** A payment to open. Amounts are integers of the currency's minor unit. */
export interface OpenPayment extends Money {
  /** The key of the call: the same id always opens the same payment. */
  readonly paymentId: PaymentId
  /** Whether real money is meant. A provider whose account takes money of the other mode refuses the payment for good. */
  readonly mode: Mode
  readonly invoiceId: InvoiceId
  readonly customerId: CustomerId
  /** The reference that `ensureCustomer` gave. `null` if the provider saves no methods. */
  readonly customer: string | null
}

/** Whether the customer is there to confirm a payment. */
export type Presence = "on_session" | "off_session"

/** An attempt to take the money of an open payment. */
export interface AttemptPayment {
  readonly reference: string
  /** The key of the call: however often it is sent, it is one attempt. */
  readonly attemptId: string
  /**
   * The reference of a saved payment method. `null`: the method that the provider has of the customer by itself. Without
   * one, the attempt is declined as `no_method`.
   */
  readonly method: string | null
  readonly presence: Presence
  /** Where a page of the provider sends the customer after the confirmation. `null`: there is no such page. */
  readonly returnUrl: string | null
}

/**
 * What an attempt came to. When the customer has to confirm it and is there (`on_session`), the answer says how. An attempt
 * while the customer is not there has no `action`.
 */
export type AttemptAnswer =
  | Exclude<PaymentRead, { readonly status: "requires_action" }>
  | { readonly status: "requires_action"; readonly action?: CustomerAction }

/**
 * Takes money. All calls happen outside of transactions, may be repeated, and may be made by several processes at once.
 *
 * A payment succeeds at most once, however many attempts are made of it: whoever charges twice for one reference breaks
 * the contract. `FakeProvider` is one for tests, and the suite `PaymentProviderContract` of `@billwright/testing` tests
 * the rules below.
 */
export interface PaymentProvider extends RefundingProvider, NotifyingProvider {
  /** The name by which payments remember it: 1 to 64 characters, and not `manual`. It must stay. */
  readonly name: string

  /** Whether it can take an amount. It asks nobody, and the answer for an amount stays. */
  readonly chargeable: (money: Money) => Chargeable

  /**
   * How it saves payment methods of customers. Without it, the provider knows by itself how to charge a customer: each
   * attempt has the `method` `null`.
   */
  readonly methods?: MethodProvider | undefined

  /** Opens a payment, which moves no money. The same `paymentId` gives the same reference. */
  readonly openPayment: (
    payment: OpenPayment,
  ) => Effect.Effect<{ readonly reference: string }, ProviderFailure>

  /**
   * Tries to take the money. Repeated with the same `attemptId`, it gives the same answer or a later one, and takes nothing
   * again.
   *
   * A method that needs the customer's confirmation is `requires_action` if the customer is there. If not, it may also be
   * declined as `authentication_required`. Another attempt takes the place of one that waits for the customer: what was asked
   * before is void, and the payment is read as the newest attempt left it.
   */
  readonly attemptPayment: (attempt: AttemptPayment) => Effect.Effect<AttemptAnswer, ProviderFailure>

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
