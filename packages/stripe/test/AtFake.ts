/**
 * The adapter with the official SDK, at the fake of Stripe's API.
 */
import type { PaymentProvider, ProviderCall } from "@billwright/core"
import { StripeProvider } from "@billwright/stripe"
import type { PaymentProviderContract } from "@billwright/testing"
import { FakeStripe, type FaultMatch, type StripeAccount } from "@billwright/testing/stripe"
import { Redacted } from "effect"
import { Stripe } from "stripe"

/** The time of the fake, in epoch milliseconds. */
export const time = { now: Date.UTC(2026, 0, 15, 12) }

export const fake = await FakeStripe.start({ now: () => time.now })

/** The secrets that sign events: the one in use, and the one that it replaces. */
export const SECRETS = {
  current: ["whsec", "current"].join("_"),
  previous: ["whsec", "previous"].join("_"),
  unknown: ["whsec", "unknown"].join("_"),
}

export const keyOf = (name: string): string => ["sk", "test", name].join("_")

/** A client as a host makes it. */
export const clientOf = (key: string): Stripe =>
  new Stripe(key, { host: fake.host, port: fake.port, protocol: "http", telemetry: false })

let opened = 0

/** A new account, and the adapter with its key. */
export const open = (options: Partial<StripeProvider.StripeProviderOptions> = {}) => {
  opened += 1
  const key = keyOf(`adapter${opened}`)
  const client = clientOf(key)
  const account: StripeAccount = fake.account(key)
  const provider: PaymentProvider = StripeProvider.make({
    client,
    requestsPerSecond: 1_000,
    webhookSecrets: [SECRETS.current, SECRETS.previous].map((secret) => Redacted.make(secret)),
    ...options,
  })
  return { account, client, key, provider }
}

/** The request that counts of each call. */
const REQUESTS: Readonly<Record<ProviderCall, FaultMatch>> = {
  openPayment: { method: "POST", path: /payment_intents$/ },
  attemptPayment: { path: /payment_intents\/[^/]+\/confirm$/ },
  readPayment: { method: "GET", path: /payment_intents\// },
  closePayment: { path: /payment_intents\/[^/]+\/cancel$/ },
  ensureCustomer: { path: /customers/ },
  startSetup: { method: "POST", path: /(setup_intents|sessions)$/ },
  readSetup: { method: "GET", path: /(setup_intents|sessions)\// },
  detachMethod: { path: /detach$/ },
  forgetCustomer: { method: "POST", path: /customers\/[^/]+$/ },
  refund: { method: "POST", path: /refunds$/ },
  readRefund: { method: "GET", path: /refunds/ },
  readDispute: { path: /disputes/ },
}

/** Loses a request or a reply. The SDK sends a request again after a reset, and that one is lost, too. */
export const lose = (
  account: StripeAccount,
  call: ProviderCall,
  lever: PaymentProviderContract.ProviderLever,
): void =>
  lever === "lose_reply"
    ? account.fail(REQUESTS[call], "cut_body")
    : account.fail(REQUESTS[call], "lost_request", 2)
