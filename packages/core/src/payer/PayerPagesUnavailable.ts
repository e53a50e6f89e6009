/**
 * The error for links without pages that they lead to.
 */
import { Schema } from "effect"

/** The host has not said where its pages for payers are, and which key signs their links. */
export class PayerPagesUnavailable extends Schema.TaggedError<PayerPagesUnavailable>()(
  "PayerPagesUnavailable",
  {},
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return "links for payers need the address of their pages and a key: set payerPages first"
  }
}
