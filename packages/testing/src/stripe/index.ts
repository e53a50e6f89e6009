/**
 * A fake of Stripe's HTTP API for tests, on a port of this machine.
 */
export { FakeStripe, type FakeStripeOptions } from "./FakeStripe.ts"
export { KEY_MILLIS } from "./IdempotencyKeys.ts"
export { FAKE_API_VERSION, type FaultMatch, type SeenRequest, type StripeFault } from "./AccountState.ts"
export { StripeAccount } from "./StripeAccount.ts"
export type * from "./StripeObjects.ts"
export { type SignedEvent, signEvent } from "./StripeSignature.ts"
export {
  type CardBehaviour,
  type StripeDecline,
  TEST_BANK_ACCOUNT,
  TEST_CARDS,
  type TestCard,
} from "./TestCards.ts"
