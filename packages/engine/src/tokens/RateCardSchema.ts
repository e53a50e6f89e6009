/**
 * The JSON Schemas of rate cards, for documents of APIs. They are made of the limits of the rules, and the compiler compares
 * their fields with the types.
 */
import { KEY_PATTERN } from "../catalog/FieldRules.ts"
import {
  integerOf,
  type JsonSchema,
  mapOf,
  objectOf,
  optional,
  reference,
  textOf,
} from "../catalog/ObjectSchema.ts"
import { DECIMAL_PATTERN } from "../money/Exact.ts"
import { RATE_CARD_LIMITS, type RateCard, type TokenPrices } from "./RateCard.ts"

const decimal = (description: string): JsonSchema => ({
  type: "string",
  pattern: DECIMAL_PATTERN.source,
  description,
})

const price = (kind: string) => optional(decimal(`The price of 1,000,000 tokens ${kind}.`))

/** By name. `RateCardDefinition` is that of a rate card. */
export const rateCardSchemas: Readonly<Record<string, JsonSchema>> = {
  TokenPrices: objectOf<TokenPrices>(
    "What a model costs. A kind that is left out has no price: it is not free.",
    {
      input: price("that the model reads"),
      cache_read: price("that are read from the provider's cache"),
      cache_write: price("that are written to the cache"),
      output: price("that the model writes"),
      reasoning: price("of reasoning. Default: that of output"),
    },
  ),
  RateCardDefinition: objectOf<RateCard>("What the tokens of language models cost.", {
    key: {
      type: "string",
      pattern: KEY_PATTERN.source,
      description: "Identifies the card. It never changes.",
    },
    name: optional(textOf("The name of the card.", 1, RATE_CARD_LIMITS.name)),
    unit: {
      type: "string",
      pattern: `${KEY_PATTERN.source}|^[A-Z]{3}$`,
      maxLength: 64,
      description: "What prices are in: an ISO 4217 currency code, or a unit of yours such as `credit`.",
    },
    decimals: optional(
      integerOf("The decimals of amounts in a unit of yours. Default: 0.", 0, RATE_CARD_LIMITS.decimals),
    ),
    markup: optional(decimal("Percent that are added to the price.")),
    models: mapOf(
      "Prices by the name of the model, as the provider states it.",
      { type: "string", minLength: 1, maxLength: RATE_CARD_LIMITS.model },
      reference("TokenPrices"),
      RATE_CARD_LIMITS.models,
    ),
  }),
}
