/**
 * The error for an action that a subscription, an invoice, a payment or the like does not allow as it is.
 */
import { Schema } from "effect"

/**
 * The object does not allow the action now. Nothing has changed. The `availableActions` of a subscription or an invoice say
 * what it allows.
 */
export class ActionUnavailable extends Schema.TaggedError<ActionUnavailable>()(
  "ActionUnavailable",
  {
    object: Schema.Literals([
      "subscription",
      "invoice",
      "invoice item",
      "payment",
      "payment method",
      "payment provider",
      "refund",
      "credit grant",
      "hold",
      "token usage",
      "meter",
    ]),
    id: Schema.String,
    /** A sentence, such as `void is not possible: the invoice is draft`. */
    problem: Schema.String,
  },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `${this.id}: ${this.problem}`
  }
}
