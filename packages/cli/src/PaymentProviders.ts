/**
 * Who takes the money of invoices: Stripe, or a provider for trials that takes none.
 */
import {
  type Billing,
  FakeProvider,
  type OpenPayment,
  type PaymentProvider,
  ProviderFailure,
} from "@billwright/core"
import { Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import * as SecretVariable from "./SecretVariable.ts"
import { Misconfigured } from "./Store.ts"

const KINDS = ["none", "stripe", "fake"] as const
export type PaymentKind = (typeof KINDS)[number]

const SECRET_KEY = "STRIPE_SECRET_KEY"
const WEBHOOK_SECRETS = "STRIPE_WEBHOOK_SECRETS"
const API_BASE = "STRIPE_API_BASE"

export const flags = {
  payments: Flag.Literals("payments", KINDS).pipe(
    Flag.withDescription(
      `Who takes the money of invoices. stripe: with the key in ${SECRET_KEY}, and the package stripe installed beside this one. fake: for trials in test mode, takes no money, and every payment succeeds. none: payments are recorded. Default: none.`,
    ),
    Flag.withDefault<PaymentKind>("none"),
  ),
}

export interface PaymentFlags {
  readonly payments: PaymentKind
}

/** Takes no money, and only in test mode: a payment of live mode that nobody made must not look paid. */
class TrialProvider extends FakeProvider {
  override openPayment(payment: OpenPayment) {
    return payment.mode === "test"
      ? super.openPayment(payment)
      : Effect.fail(
          new ProviderFailure({
            reason: "permanent",
            message: "--payments fake is for trials in test mode, and the invoice is of live mode",
          }),
        )
  }
}

const loadStripe = Effect.tryPromise({
  try: () => Promise.all([import("stripe"), import("@billwright/stripe")]),
  catch: () =>
    new Misconfigured({
      message:
        "--payments stripe needs Stripe's own package beside this one: npm install stripe, or npx -p stripe -p @billwright/cli billwright serve",
    }),
})

/** Where Stripe is. Another address is for a stand-in. */
const addressOf = (base: string): Effect.Effect<object, Misconfigured> => {
  const url = URL.parse(base)
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    const message = `${API_BASE} must be an address such as http://127.0.0.1:12111. It is ${base}`
    return Effect.fail(new Misconfigured({ message }))
  }
  const protocol = url.protocol === "http:" ? "http" : "https"
  return Effect.succeed({ host: url.hostname, port: url.port || (protocol === "http" ? 80 : 443), protocol })
}

const stripe = Effect.gen(function* () {
  const key = yield* SecretVariable.read(SECRET_KEY)
  if (Option.isNone(key)) {
    const message = `--payments stripe needs the environment variable ${SECRET_KEY}: a secret or restricted key of Stripe (sk_… or rk_…)`
    return yield* new Misconfigured({ message })
  }
  const secrets = yield* SecretVariable.read(WEBHOOK_SECRETS)
  const base = yield* SecretVariable.read(API_BASE)
  const address = Option.isSome(base) ? yield* addressOf(Redacted.value(base.value).trim()) : {}
  const [{ Stripe }, { StripeProvider }] = yield* loadStripe
  const client = new Stripe(Redacted.value(key.value).trim(), { ...address, telemetry: false })
  const webhookSecrets = Option.match(secrets, {
    onNone: () => [],
    // The one in use, and one that is being replaced.
    onSome: (text) =>
      Redacted.value(text)
        .split(",")
        .map((secret) => Redacted.make(secret.trim())),
  })
  return yield* Effect.try({
    try: (): PaymentProvider => StripeProvider.make({ client, webhookSecrets }),
    catch: (cause) => new Misconfigured({ message: `${WEBHOOK_SECRETS}: ${(cause as Error).message}` }),
  })
})

/** The options of services that take payments. */
export const billingOptions = Effect.fnUntraced(function* ({
  payments,
}: PaymentFlags): Effect.fn.Return<Pick<Billing.BillingOptions, "payments">, Misconfigured> {
  if (payments === "none") return {}
  return { payments: payments === "fake" ? new TrialProvider({ hasMethods: false }) : yield* stripe }
})

/** What the start says of it. */
export const announce = (kind: PaymentKind): ReadonlyArray<string> => {
  if (kind === "none") return []
  return kind === "stripe"
    ? ["Payments:      by Stripe, whose webhook is POST /payment_providers/stripe/webhook"]
    : ["Payments:      made up, for trials in test mode (--payments fake)"]
}
