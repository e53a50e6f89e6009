/**
 * A payment provider for the tests of your app, with what customers, banks and networks do to it.
 */
import type { Instant } from "../Call.ts"
import type { CardExpiry } from "../payments/MethodProvider.ts"
import type { PaymentMethod } from "../payments/PaymentMethods.ts"
import type { DeclineAdvice, PaymentProvider, PaymentRead } from "../payments/PaymentProvider.ts"
import type { NoticeRequest } from "../payments/ProviderNotices.ts"
import type { ProviderDispute, ProviderRefund } from "../payments/ProviderRefunds.ts"

/** A decline. `code` is what the provider says, such as `insufficient_funds` or `expired_card`. */
export interface FakeDecline {
  readonly code: string
  /** What the network advises. Default: nothing, so that the code decides. */
  readonly advice?: DeclineAdvice | null
  /** The provider takes no attempt before this instant. Default: any. */
  readonly notBefore?: Instant | null
}

/** What an attempt comes to. `processing`: a bank works on it. `requires_action`: the customer has to confirm it. */
export type FakeOutcome = "succeeded" | "processing" | "requires_action" | FakeDecline

/**
 * What goes wrong with a call.
 *
 * - `lose_request`: the request never arrives, and nobody knows that.
 * - `lose_reply`: it is done, and the answer is lost.
 * - `refuse`: the provider is busy; surely nothing happened.
 * - `break`: it refuses for good, such as for a wrong key; surely nothing happened.
 * - `twice`: the request arrives twice.
 */
export type FakeFault = "lose_request" | "lose_reply" | "refuse" | "break" | "twice"

/** A call of the provider. */
export type FakeCall =
  | "ensureCustomer"
  | "startSetup"
  | "readSetup"
  | "detachMethod"
  | "forgetCustomer"
  | "openPayment"
  | "attemptPayment"
  | "readPayment"
  | "closePayment"
  | "refund"
  | "readRefund"
  | "readDispute"

/** The card that a customer enters. */
export interface FakeCard {
  /**
   * `works`: it pays. `needs_confirmation`: the customer has to confirm each payment (SCA). Otherwise each attempt is
   * declined with the code. Default `works`.
   */
  readonly behaviour?: "works" | "needs_confirmation" | { readonly code: string }
  /** Default `visa`. */
  readonly brand?: string
  /** Default `4242`. */
  readonly last4?: string
  /** Default: December 2034. */
  readonly expiry?: CardExpiry | null
}

/** A payment, as the provider has it. */
export interface FakePayment {
  /** As `reference` of the payment. */
  readonly reference: string
  readonly paymentId: string
  readonly invoiceId: string
  readonly customerId: string
  /** An integer of the currency's minor unit. */
  readonly amount: bigint
  readonly currency: string
  readonly status: PaymentRead["status"]
  /** How many attempts arrived. */
  readonly attempts: number
  /** How often money was taken: 0 or 1. */
  readonly charges: number
}

/** Options of `fakePayments`. */
export interface FakePaymentsOptions {
  /** Whether it saves payment methods. `false`: it charges every customer without one. Default `true`. */
  readonly savesMethods?: boolean
}

/**
 * A payment provider with levers, for `createTestBilling({ payments })`. Attempts are made as ever: by `testing.advance`, or
 * by `runDue`.
 *
 * What a lever changes at the provider, the provider tells the test billing at once, as by its webhook. The promise of the
 * lever resolves when that is stored. A lever throws an `InvalidInputError` when there is nothing to change.
 */
export interface FakePayments extends PaymentProvider {
  /** All payments that were opened, oldest first. */
  readonly payments: ReadonlyArray<FakePayment>
  /** All refunds that were made, oldest first. */
  readonly refunds: ReadonlyArray<ProviderRefund>
  /** All disputes, oldest first. */
  readonly disputes: ReadonlyArray<ProviderDispute>
  /**
   * The requests that it sends to your webhook, one for each change, oldest first, each signed at the time of the test.
   * Hand them to your route to test it.
   */
  readonly notices: ReadonlyArray<NoticeRequest>

  /** What the next attempts come to, in this order. After them, and at first, an attempt does what the card does. */
  next(first: FakeOutcome, ...rest: ReadonlyArray<FakeOutcome>): void
  /** What goes wrong with the next calls of a kind. Repeating it adds more. Default: the next attempt. */
  fail(fault: FakeFault, call?: FakeCall, times?: number): void

  /** The customer enters a card, and it is saved as a payment method: all that your page does. Gives the method. */
  saveCard(customerId: string, card?: FakeCard): Promise<PaymentMethod>
  /** The customer enters a card for a payment method that your code has begun. Then your code calls `refresh`. */
  enterCard(paymentMethodId: string, card?: FakeCard): void
  /** The customer enters a card that is refused for a payment method that your code has begun. */
  refuseCard(paymentMethodId: string, code?: string): void

  /** The customer confirms the payment of an invoice that waits for it, or the bank says that the money came. */
  confirm(invoiceId: string): Promise<void>
  /** The customer refuses to confirm it, or the bank declines it. Default code `authentication_failed`. */
  refuse(invoiceId: string, code?: string): Promise<void>
  /** The customer disputes the payment of an invoice. Default: all of it. Gives the dispute's reference. */
  dispute(invoiceId: string, amount?: bigint): Promise<string>
  /** The bank decides a dispute. */
  closeDispute(reference: string, status: "won" | "lost"): Promise<void>
  /** A person refunds the payment of an invoice at the provider. Gives the refund's reference. */
  refundByHand(invoiceId: string, amount: bigint): Promise<string>
  /** What the next refunds come to, in this order. After them, and at first, a refund succeeds. */
  nextRefund(
    first: "succeeded" | "pending" | { readonly code: string },
    ...rest: ReadonlyArray<"succeeded" | "pending" | { readonly code: string }>
  ): void
  /** The bank says what came of a refund. */
  settleRefund(reference: string, outcome: "succeeded" | { readonly code: string }): Promise<void>
  /** Tells the test billing of every change again, as when the webhook is faster than the answer. Repeats change nothing. */
  tell(): Promise<void>
}
