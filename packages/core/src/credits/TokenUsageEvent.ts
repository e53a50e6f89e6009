/**
 * The `usage.unrated` event: tokens were used that the rate card has no price for.
 */
import { TOKEN_KINDS } from "@billwright/engine"
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { HoldId } from "./Hold.ts"
import { type TokenUsage, TokenUsageId } from "./TokenUsage.ts"

/** It is published once for each token usage that is recorded without a price, in the same transaction. */
export const usageUnrated = EventType.make({
  name: "usage.unrated",
  description:
    "Tokens were used that the rate card has no price for. Push a price and rate them, or waive them.",
  data: Schema.Struct({
    token_usage_id: TokenUsageId,
    customer_id: CustomerId,
    /** The hold that was committed with it. */
    hold_id: Schema.NullOr(HoldId),
    /** The key of the rate card, and its version that was in force. */
    rate_card: Schema.String,
    version: Schema.Int,
    model: Schema.String,
    unit: Schema.String,
    /** The kinds that have no price. `null`: the card does not have the model. */
    unpriced: Schema.NullOr(Schema.Array(Schema.Literals(TOKEN_KINDS))),
  }),
  example: {
    token_usage_id: "tku_01kahd3kc8e0fsr8zknzqgf2h2",
    customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
    hold_id: "hld_01kahd3kc8e0fsr8zknzqgf2h3",
    rate_card: "llm",
    version: 3,
    model: "large-preview",
    unit: "credit",
    unpriced: null,
  },
})

/** The data of the event. */
export const unratedData = (usage: TokenUsage) => ({
  token_usage_id: usage.id,
  customer_id: usage.customerId,
  hold_id: usage.holdId,
  rate_card: usage.rateCard,
  version: usage.version,
  model: usage.model,
  unit: usage.unit,
  unpriced: usage.unpriced,
})
