/**
 * An account at the fake of Stripe, as a test sees it.
 */
import { AccountState, type FaultMatch, type SeenRequest, type StripeFault } from "./AccountState.ts"
import { answerBankOnPage, enterCardOnPage, expireSession } from "./CheckoutSessions.ts"
import { Params } from "./Params.ts"
import { complete } from "./PaymentIntents.ts"
import { attach, cancelSetup, completeSetup, confirmSetup } from "./PaymentMethods.ts"
import { closeDispute, completeRefund, disputeIntent } from "./Refunds.ts"
import type {
  StripeDispute,
  StripeEvent,
  StripeKinds,
  StripePaymentMethod,
  StripeSetupIntent,
} from "./StripeObjects.ts"
import type { CardBehaviour, StripeDecline } from "./TestCards.ts"

const isSession = (id: string): boolean => id.startsWith("cs_")

/** The account of an API key: what arrived, what happened, and levers. Accounts share nothing. */
export class StripeAccount {
  /** The state behind the API. */
  readonly state: AccountState

  /** `now` gives epoch milliseconds, `pageOf` the address of a page by the id of its checkout session. */
  constructor(now: () => number, pageOf: (session: string) => string) {
    this.state = new AccountState(now, pageOf)
  }

  /** The requests that arrived, oldest first. */
  get requests(): ReadonlyArray<SeenRequest> {
    return this.state.requests
  }

  /** The events that happened, oldest first. */
  get events(): ReadonlyArray<StripeEvent> {
    return this.state.all("event")
  }

  /** All objects of a kind, oldest first. */
  all<K extends keyof StripeKinds>(kind: K): ReadonlyArray<StripeKinds[K]> {
    return this.state.all(kind)
  }

  /** Makes the next requests that match go wrong. Several faults of the same request happen one after another. */
  fail(match: FaultMatch, fault: StripeFault, times = 1): void {
    this.state.fail(match, fault, times)
  }

  /** What happens at the next attempt of a payment or the next refund, instead of what the test card does. */
  next(behaviour: CardBehaviour): void {
    this.state.next(behaviour)
  }

  /** How often money was taken for a payment intent, and how much in all. */
  charged(paymentIntent: string): { readonly count: number; readonly amount: number } {
    const paid = this.all("charge").filter((one) => one.payment_intent === paymentIntent && one.paid)
    return { count: paid.length, amount: paid.reduce((sum, { amount }) => sum + amount, 0) }
  }

  /** How much of a payment intent was given back. */
  refunded(paymentIntent: string): number {
    const charges = this.all("charge").filter((one) => one.payment_intent === paymentIntent)
    return charges.reduce((sum, { amount_refunded }) => sum + amount_refunded, 0)
  }

  /** The customer confirms a payment that asks for it, or a bank answers. With a decline, the payment fails. */
  complete(paymentIntent: string, decline?: StripeDecline): void {
    complete(this.state, paymentIntent, decline)
  }

  /** Attaches a method such as `pm_card_visa` to a customer. */
  attach(method: string, customer: string): StripePaymentMethod {
    return attach(this.state, method, customer)
  }

  /**
   * The customer enters a card in the form of a setup, or on the page of a checkout session. Throws the answer of Stripe if
   * the card is refused.
   */
  enterCard(setup: string, method: string): StripeSetupIntent {
    return isSession(setup)
      ? enterCardOnPage(this.state, setup, method)
      : confirmSetup(this.state, method, setup)
  }

  /** The customer confirms the setup of a card that asks for it, or fails to. */
  completeSetup(setup: string, isConfirmed = true): StripeSetupIntent {
    return isSession(setup)
      ? answerBankOnPage(this.state, setup, isConfirmed)
      : completeSetup(this.state, setup, isConfirmed)
  }

  /** Gives up a setup, such as when the customer has gone away. The page of a checkout session expires. */
  cancelSetup(setup: string): void {
    if (isSession(setup)) expireSession(this.state, new Params({}, []), setup)
    else cancelSetup(this.state, setup, "abandoned")
  }

  /** The customer's bank disputes a payment that has succeeded. */
  dispute(paymentIntent: string, reason = "fraudulent"): StripeDispute {
    return disputeIntent(this.state, paymentIntent, reason)
  }

  /**
   * The bank decides a dispute. One that is `prevented` was settled before it began; by giving the money to the customer if
   * it is `refunded`, which Stripe calls `prevented`, too.
   */
  closeDispute(dispute: string, outcome: "won" | "lost" | "prevented" | "refunded"): void {
    closeDispute(this.state, dispute, outcome)
  }

  /** A bank answers to a refund. When it has failed, the money comes back. */
  completeRefund(refund: string, outcome: "succeeded" | "failed"): void {
    completeRefund(this.state, refund, outcome)
  }
}
