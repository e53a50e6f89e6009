/**
 * The part of a payment provider that saves payment methods, so that customers can be charged while they are not there.
 */
import type { SetupRead } from "@billwright/engine"
import type { Effect, Redacted } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { ProviderFailure } from "./ProviderFailure.ts"

export type { SavedMethod, SetupRead } from "@billwright/engine"

/** A customer as the provider may know it. */
export interface ProviderCustomer {
  /** The key of the call: the same id always gives the same customer of the provider. */
  readonly customerId: CustomerId
  readonly name: string
  readonly email: string
}

/** How a customer goes on by itself: with the client secret in the provider's own form, or on a page of the provider. */
export interface CustomerAction {
  /** For the provider's code in the customer's browser. It is given to the caller once, and never stored or logged. */
  readonly clientSecret: Redacted.Redacted<string> | null
  /** A page of the provider. Whoever has the address may act as the customer, so that it is never stored or logged. */
  readonly url: Redacted.Redacted<string> | null
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
 * Saves payment methods. All calls happen outside of transactions, may be repeated, and may be made by several processes
 * at once.
 */
export interface MethodProvider {
  /** The provider's customer, which it makes if there is none. The same `customerId` gives the same reference. */
  readonly ensureCustomer: (
    customer: ProviderCustomer,
  ) => Effect.Effect<{ readonly reference: string }, ProviderFailure>

  /** Starts to save a method of a customer. It takes no money. The same `setupId` gives the same setup. */
  readonly startSetup: (setup: StartSetup) => Effect.Effect<StartedSetup, ProviderFailure>

  /** How a setup stands now. One that is saved gives the same method each time. */
  readonly readSetup: (reference: string) => Effect.Effect<SetupRead, ProviderFailure>

  /** Forgets a saved method, so that it takes no money any more. Doing it again is fine. */
  readonly detachMethod: (reference: string) => Effect.Effect<void, ProviderFailure>

  /**
   * Forgets the name and the e-mail address of a customer, by the reference that `ensureCustomer` gave. What was paid stays.
   * Doing it again is fine, and so is a customer that is there no more. Called after a customer was erased. A provider without
   * it is told nothing then.
   */
  readonly forgetCustomer?: ((reference: string) => Effect.Effect<void, ProviderFailure>) | undefined
}
