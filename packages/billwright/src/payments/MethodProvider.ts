/**
 * The part of a payment provider that saves payment methods, and what amounts it takes.
 */
import type { SetupRead } from "@billwright/engine"

export type { CardExpiry, Chargeable, Money, SavedMethod, SetupRead } from "@billwright/engine"

/** What a call of a provider gets besides its input. The signal aborts when the answer comes too late. */
export interface ProviderCallOptions {
  readonly signal: AbortSignal
}

/** A customer as the provider may know it. */
export interface ProviderCustomer {
  /** The key of the call: the same id always gives the same customer of the provider. */
  readonly customerId: string
  readonly name: string
  readonly email: string
}

/** How a customer goes on by itself: with the client secret in the provider's own form, or on a page of the provider. */
export interface CustomerAction {
  /** For the provider's code in the customer's browser. It is given out once, and never stored or logged. */
  readonly clientSecret: string | null
  /** A page of the provider. Whoever has the address may act as the customer, so that it is never stored or logged. */
  readonly url: string | null
}

/** The setup of a payment method to start. */
export interface StartSetup {
  /** The key of the call: the same id always starts the same setup. */
  readonly setupId: string
  /** The reference that `ensureCustomer` gave. */
  readonly customer: string
  /** Where a page of the provider sends the customer afterwards. `null`: the customer stays on the host's page. */
  readonly returnUrl: string | null
}

/** A setup that was started. With a `returnUrl` it has a `url`, otherwise a `clientSecret`, if the provider offers both. */
export interface StartedSetup extends CustomerAction {
  /** How the provider names the setup: 1 to 255 characters. It is no secret. */
  readonly reference: string
}

/**
 * Saves payment methods. Its calls happen outside of transactions, within 60 seconds. They may be repeated, and may be made
 * by several processes at once.
 */
export interface MethodProvider {
  /** The provider's customer, which it makes if there is none. The same `customerId` gives the same reference. */
  ensureCustomer(
    customer: ProviderCustomer,
    options: ProviderCallOptions,
  ): Promise<{ readonly reference: string }>
  /** Starts to save a method of a customer. It takes no money. The same `setupId` gives the same setup. */
  startSetup(setup: StartSetup, options: ProviderCallOptions): Promise<StartedSetup>
  /** How a setup stands now. One that is saved gives the same method each time. */
  readSetup(reference: string, options: ProviderCallOptions): Promise<SetupRead>
  /** Forgets a saved method, so that it takes no money any more. Doing it again is fine. */
  detachMethod(reference: string, options: ProviderCallOptions): Promise<void>
  /**
   * Forgets the name and the e-mail address of a customer, by the reference that `ensureCustomer` gave. What was paid stays.
   * Doing it again is fine, and so is a customer that is there no more. Called after a customer was erased. Without it, the
   * provider is told nothing then.
   */
  forgetCustomer?(reference: string, options: ProviderCallOptions): Promise<void>
}
