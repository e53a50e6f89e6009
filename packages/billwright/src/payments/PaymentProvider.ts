/**
 * Who takes the money of invoices.
 */
import type { PaymentRead } from "@billwright/engine"

export type { DeclineAdvice, PaymentRead } from "@billwright/engine"

/** A payment to open. `amount` is an integer of the currency's minor unit. */
export interface OpenPayment {
  /** The key of the call: the same id always opens the same payment. */
  readonly paymentId: string
  readonly invoiceId: string
  readonly customerId: string
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

/** What a call of a provider gets besides its input. The signal aborts when the answer comes too late. */
export interface ProviderCallOptions {
  readonly signal: AbortSignal
}

/**
 * Takes money. Its calls happen outside of transactions, within 60 seconds. They may be repeated, and may be made by
 * several processes at once. A payment succeeds at most once, however many attempts are made of it.
 *
 * A call that rejects with a `PaymentProviderError` says whether something may have happened. For any other error that is
 * unknown, and the payment is read before anything else is tried.
 */
export interface PaymentProvider {
  /** The name by which payments remember it: 1 to 64 characters, and not `manual`. It must stay. */
  readonly name: string
  /** Opens a payment, which moves no money. The same `paymentId` gives the same reference: 1 to 255 characters. */
  openPayment(payment: OpenPayment, options: ProviderCallOptions): Promise<{ readonly reference: string }>
  /**
   * Tries to take the money, while the customer is not there. Repeated with the same `attemptId`, it gives the same answer
   * or a later one, and takes nothing again.
   */
  attemptPayment(attempt: AttemptPayment, options: ProviderCallOptions): Promise<PaymentRead>
  /** How the payment stands now. An attempt whose answer was given or lost is seen. */
  readPayment(reference: string, options: ProviderCallOptions): Promise<PaymentRead>
  /** Closes a payment, so that it never succeeds any more; or says that it has. Closing it again is fine. */
  closePayment(reference: string, options: ProviderCallOptions): Promise<"closed" | "already_succeeded">
}

/**
 * What a call of a provider rejects with. `transient`: surely nothing happened, and the same call may work later.
 * `permanent`: surely nothing happened, and a person has to change something. `unknown`: it may have happened.
 *
 * The message is for people, and must have no secret and no detail of a card.
 */
export class PaymentProviderError extends Error {
  override readonly name = "PaymentProviderError"
  readonly reason: "transient" | "permanent" | "unknown"

  constructor(reason: "transient" | "permanent" | "unknown", message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
