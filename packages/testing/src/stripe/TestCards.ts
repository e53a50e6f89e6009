/**
 * Stripe's test cards, and what happens to them. They are the numbers and names of Stripe's documentation on testing.
 */

/** How an attempt is declined. */
export interface StripeDecline {
  /** The code of the error. Default: `card_declined`. */
  readonly code?: string
  /** Such as `insufficient_funds`. Declines of banks have one. */
  readonly declineCode?: string
  /** What Stripe advises, such as `do_not_try_again`. */
  readonly adviceCode?: string
  /** What the network advises: two digits of Mastercard. */
  readonly networkAdviceCode?: string
}

/** What happens when a method is used. */
export interface CardBehaviour {
  readonly decline?: StripeDecline
  /** Whether it can be saved nevertheless, and is declined only when it is charged. */
  readonly isSavedFirst?: boolean
  /** Whether the customer has to confirm each payment, or those with a method that was not set up before. */
  readonly authentication?: "always" | "unless_set_up"
  /** The money comes some days later, when the bank has answered. */
  readonly isDelayed?: boolean
  /** The payment is disputed for this reason once it has succeeded. */
  readonly dispute?: string
  /** What a refund comes to. Default: it succeeds at once. */
  readonly refund?: "pending" | "failed"
}

/** A method of payment that Stripe provides for tests. */
export interface TestCard extends CardBehaviour {
  /** Its name, which stands for a new method each time. */
  readonly name: string
  readonly number: string
}

const declined = (suffix: string, number: string, decline: StripeDecline): TestCard => ({
  name: `pm_card_${suffix}`,
  number,
  decline,
})

const TRY_AGAIN = "try_again_later"
const NOT_AGAIN = "do_not_try_again"

/** All test cards. */
export const TEST_CARDS: ReadonlyArray<TestCard> = [
  { name: "pm_card_visa", number: "4242424242424242" },
  declined("visa_chargeDeclined", "4000000000000002", {
    declineCode: "generic_decline",
    adviceCode: TRY_AGAIN,
  }),
  declined("visa_chargeDeclinedInsufficientFunds", "4000000000009995", {
    declineCode: "insufficient_funds",
    adviceCode: TRY_AGAIN,
  }),
  declined("visa_chargeDeclinedLostCard", "4000000000009987", {
    declineCode: "lost_card",
    adviceCode: NOT_AGAIN,
  }),
  declined("visa_chargeDeclinedStolenCard", "4000000000009979", {
    declineCode: "stolen_card",
    adviceCode: NOT_AGAIN,
  }),
  declined("chargeDeclinedExpiredCard", "4000000000000069", {
    code: "expired_card",
    declineCode: "expired_card",
  }),
  declined("chargeDeclinedIncorrectCvc", "4000000000000127", {
    code: "incorrect_cvc",
    declineCode: "incorrect_cvc",
    adviceCode: "confirm_card_data",
  }),
  declined("chargeDeclinedProcessingError", "4000000000000119", {
    code: "processing_error",
    declineCode: "processing_error",
    adviceCode: TRY_AGAIN,
  }),
  {
    ...declined("chargeCustomerFail", "4000000000000341", { declineCode: "generic_decline" }),
    isSavedFirst: true,
  },
  { name: "pm_card_authenticationRequired", number: "4000002760003184", authentication: "always" },
  {
    name: "pm_card_authenticationRequiredOnSetup",
    number: "4000002500003155",
    authentication: "unless_set_up",
  },
  { name: "pm_card_createDispute", number: "4000000000000259", dispute: "fraudulent" },
  { name: "pm_card_pendingRefund", number: "4000000000007726", refund: "pending" },
  { name: "pm_card_refundFail", number: "4000000000005126", refund: "failed" },
]

/** The bank account whose payments take days. It is no card. */
export const TEST_BANK_ACCOUNT: CardBehaviour & { readonly name: string } = {
  name: "pm_usBankAccount_processing",
  isDelayed: true,
}

/** The test card of a number. `undefined`: another number, which Stripe refuses in test mode. */
export const cardOfNumber = (number: string): TestCard | undefined =>
  TEST_CARDS.find((card) => card.number === number)

/** The method that a name stands for. */
export const methodOfName = (name: string): (CardBehaviour & { readonly number?: string }) | undefined =>
  name === TEST_BANK_ACCOUNT.name ? TEST_BANK_ACCOUNT : TEST_CARDS.find((card) => card.name === name)
