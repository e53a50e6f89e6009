/**
 * The error for subscriptions and invoices on a storage that has none.
 */
import { type Context, Effect, Option, Schema } from "effect"

/** The storage keeps usage and webhooks, but no subscriptions and invoices. */
export class InvoicingUnsupported extends Schema.TaggedError<InvoicingUnsupported>()(
  "InvoicingUnsupported",
  {},
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return "the storage has no subscriptions and invoices: its adapter lacks the ports of Billing.InvoicingStorage"
  }
}

/** A port that a storage may lack. Getting it fails when it does. */
export const optionalPort = <Id, Port>(
  key: Context.Key<Id, Port>,
): Effect.Effect<Effect.Effect<Port, InvoicingUnsupported>> =>
  Effect.map(Effect.serviceOption(key), (found) =>
    Option.isSome(found) ? Effect.succeed(found.value) : Effect.fail(new InvoicingUnsupported()),
  )
