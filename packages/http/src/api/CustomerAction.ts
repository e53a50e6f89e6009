/**
 * How a customer goes on with the payment provider, over REST. Answers with it are never stored.
 */
import { PaymentMethod } from "@billwright/core"
import { Schema } from "effect"
import * as Wire from "./Wire.ts"

/** The longest client secret, and the longest address of a page of the provider, in characters. */
const MAX_SECRET_LENGTH = 5_000

/** How a customer goes on by itself. */
export const actionFields = {
  client_secret: Schema.NullOr(Wire.text(MAX_SECRET_LENGTH)).annotate({
    description:
      "For the payment provider's code in the customer's browser. It is not stored, and no other answer shows it.",
  }),
  url: Schema.NullOr(Wire.text(MAX_SECRET_LENGTH)).annotate({
    description:
      "The page of the payment provider. Whoever has the address may act as the customer. It is not stored, and no other answer shows it.",
  }),
}

/** Where a customer who has gone on returns to. */
export const returnUrlField = Schema.optionalKey(
  Schema.NullOr(PaymentMethod.ReturnUrl).annotate({
    description:
      "Where a page of the payment provider sends the customer afterwards. Default: the customer stays on your page.",
  }),
)
