/**
 * Who takes the money of invoices.
 */
import type { Chargeable, Money, PaymentRead } from "@billwright/engine"
import type { CustomerAction, MethodProvider, ProviderCallOptions } from "./MethodProvider.ts"
import type { NotifyingProvider } from "./ProviderNotices.ts"
import type { RefundingProvider } from "./ProviderRefunds.ts"

export type { DeclineAdvice, PaymentRead } from "@billwright/engine"

/** A payment to open. `amount` is an integer of the currency's minor unit. */
export interface OpenPayment extends Money {
  /** The key of the call: the same id always opens the same payment. */
  readonly paymentId: string
  /** Whether real money is meant. A provider whose account takes money of the other mode refuses the payment for good. */
  readonly mode: "live" | "test"
  readonly invoiceId: string
  readonly customerId: string
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
 * Takes money. Its calls happen outside of transactions, within 60 seconds. They may be repeated, and may be made by
 * several processes at once. A payment succeeds at most once, however many attempts are made of it.
 *
 * A call that rejects with a `PaymentProviderError` says whether something may have happened. For any other error that is
 * unknown, and the payment is read before anything else is tried.
 */
export interface PaymentProvider extends RefundingProvider, NotifyingProvider {
  /** The name by which payments remember it: 1 to 64 characters, and not `manual`. It must stay. */
  readonly name: string
  /** Whether it can take an amount. It asks nobody, and the answer for an amount stays. */
  chargeable(money: Money): Chargeable
  /**
   * How it saves payment methods of customers. Without it, the provider knows by itself how to charge a customer: each
   * attempt has the `method` `null`.
   */
  readonly methods?: MethodProvider | undefined
  /** Opens a payment, which moves no money. The same `paymentId` gives the same reference: 1 to 255 characters. */
  openPayment(payment: OpenPayment, options: ProviderCallOptions): Promise<{ readonly reference: string }>
  /**
   * Tries to take the money. Repeated with the same `attemptId`, it gives the same answer or a later one, and takes nothing
   * again.
   *
   * A method that needs the customer's confirmation is `requires_action` if the customer is there. If not, it may also be
   * declined as `authentication_required`.
   */
  attemptPayment(attempt: AttemptPayment, options: ProviderCallOptions): Promise<AttemptAnswer>
  /** How the payment stands now. An attempt whose answer was given or lost is seen. */
  readPayment(reference: string, options: ProviderCallOptions): Promise<PaymentRead>
  /** Closes a payment, so that it never succeeds any more; or says that it has. Closing it again is fine. */
  closePayment(reference: string, options: ProviderCallOptions): Promise<"closed" | "already_succeeded">
}
