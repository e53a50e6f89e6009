/**
 * Token usage: the tokens of a call of a language model that a customer made, and what was charged for them.
 *
 * The version of the rate card that is in force prices it. What that has no price for is `unrated`: it has no amount until
 * it is rated by a later version, or waived by a person.
 */
import {
  MAX_TOKENS,
  RATE_CARD_LIMITS,
  rateTokens,
  TOKEN_KINDS,
  type TokenCounts,
  type TokenKind,
  type TokenRating,
} from "@billwright/engine"
import { Effect, Schema } from "effect"
import { VersionNumber } from "../catalog/Plan.ts"
import { definitionOf, type RateCard } from "../catalog/RateCard.ts"
import { CUSTOMER_ID_PREFIX, CustomerId } from "../customers/Customer.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import * as Resource from "../shared/Resource.ts"
import * as Text from "../shared/Text.ts"
import { CONSUMPTION_ID_PREFIX, ConsumptionId, CreditKey, CreditUnit } from "./Credit.ts"
import { HOLD_ID_PREFIX, HoldId } from "./Hold.ts"

/** The prefix of the ids of token usage. */
export const TOKEN_USAGE_ID_PREFIX = "tku"
/** Longest name of who waives token usage, and longest reason, in characters. */
const MAX_NAME_LENGTH = 200
const MAX_REASON_LENGTH = 1_000
/** Longest key of a rate card, in characters. */
const MAX_KEY_LENGTH = 64
/** Longest exact amount, price or count, in characters. */
const MAX_EXACT_LENGTH = 100
/** Most steps: one for each kind of token, the markup and the rounding. */
const MAX_STEPS = TOKEN_KINDS.length + 2
const MAX_AMOUNT = 10n ** 30n

export const TokenUsageId = Id.schema(TOKEN_USAGE_ID_PREFIX).pipe(Schema.brand("TokenUsageId"))
export type TokenUsageId = typeof TokenUsageId.Type

/** `rated`: it was charged. `unrated`: the card has no price for it yet. `waived`: a person decided not to charge it. */
export const TokenUsageStatus = Schema.Literals(["rated", "unrated", "waived"])
export type TokenUsageStatus = typeof TokenUsageStatus.Type

const countMessage = { message: `must be an integer from 0 to ${MAX_TOKENS}` }
const countOf = (description: string) =>
  Schema.Int.annotate(countMessage)
    .check(Schema.isBetween({ minimum: 0, maximum: MAX_TOKENS }, countMessage))
    .annotate({ description })

const counts = {
  input: countOf("Read by the model, and in no cache."),
  cache_read: countOf("Read from the provider's cache."),
  cache_write: countOf("Read, and written to the cache."),
  output: countOf("Written by the model, except for reasoning."),
  reasoning: countOf("What the model thought, which is not shown."),
} satisfies Record<TokenKind, unknown>

/** How many tokens of each kind were used. Kinds that are left out have none. */
export const TokensUsed = Schema.Struct({
  input: Schema.optionalKey(counts.input),
  cache_read: Schema.optionalKey(counts.cache_read),
  cache_write: Schema.optionalKey(counts.cache_write),
  output: Schema.optionalKey(counts.output),
  reasoning: Schema.optionalKey(counts.reasoning),
} satisfies Record<TokenKind, unknown>)

const Counts = Schema.Struct(counts)

const Kind = Schema.Literals(TOKEN_KINDS)
const Exact = (description: string) =>
  Schema.String.check(Schema.isMaxCodePoints(MAX_EXACT_LENGTH)).annotate({ description })

const TokensStep = Schema.Struct({
  type: Schema.Literal("tokens").annotate({ description: "Tokens of one kind." }),
  kind: Kind.annotate({ description: "The kind of the tokens." }),
  tokens: Exact("How many tokens."),
  price: Exact("The price of `per` tokens: a decimal in the unit."),
  per: Exact("How many tokens the price is for: 1000000."),
  amount: Exact("`tokens` × `price` / `per`."),
})
const MarkupStep = Schema.Struct({
  type: Schema.Literal("markup").annotate({ description: "The markup of the rate card." }),
  percent: Exact("Percent that are added to the sum."),
  amount: Exact("The new sum."),
})
const RoundStep = Schema.Struct({
  type: Schema.Literal("round").annotate({ description: "The rounding to the smallest unit." }),
  digits: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: RATE_CARD_LIMITS.decimals })).annotate({
    description: "The decimals of the unit.",
  }),
  amount: Exact("The sum, rounded to `digits` after the point, halves away from zero."),
})
const Step = Schema.Union([TokensStep, MarkupStep, RoundStep])

const amountBounds = { minimum: 0n, maximum: MAX_AMOUNT }
const AMOUNT_PROBLEM = "must be an integer from 0 to 10^30"
const Amount = Schema.BigInt.check(Schema.isBetweenBigInt(amountBounds, { message: AMOUNT_PROBLEM }))

const customerId = Field.id(CustomerId, CUSTOMER_ID_PREFIX, "The customer who used the tokens.")
const rateCard = Field.text(Text.bounded(1, MAX_KEY_LENGTH), "The key of the rate card.")
const model = Field.text(
  Text.bounded(1, RATE_CARD_LIMITS.model),
  "The model, as the rate card names it. 1 to 200 characters.",
)
const holdId = Field.idOrNull(
  HoldId,
  HOLD_ID_PREFIX,
  "The hold that was committed with it. `null`: none was.",
)
const status = Field.text(
  TokenUsageStatus,
  "`rated`: it was charged. `unrated`: the rate card has no price for it yet, and nothing was charged. `waived`: a person decided not to charge it.",
)
const idempotencyKey = Field.textOrNull(
  CreditKey,
  "The key that it was recorded with. 1 to 255 characters, unique for the customer, and for ever.",
)

/** The definition of the resource; see `Resource`. */
export const tokenUsages = Resource.make({
  type: "TokenUsage",
  noun: "token usage",
  title: "Token usage",
  description: "The tokens of one call of a language model, and what a customer was charged for them.",
  about:
    "Tokens of language models that customers used, priced by a rate card and charged to their credits. What a card has no price for waits until it is rated or waived.",
  path: "/token_usages",
  scope: "credits",
  id: TokenUsageId,
  prefix: TOKEN_USAGE_ID_PREFIX,
  customer: "customerId",
  isReferring: true,
  isLedger: true,
  fields: {
    customerId,
    rateCard,
    version: Field.json(
      VersionNumber,
      "The version of the rate card that priced it. Of what is not rated, the version that had no price for it.",
    ),
    model,
    tokens: Field.json(Counts, "How many tokens of each kind were used. A token is of one kind."),
    unit: Field.text(
      CreditUnit,
      "The unit of the rate card, whose credits are charged: a currency, or a unit of yours.",
    ),
    status,
    amount: Field.integerOrNull(
      Amount,
      { ...amountBounds, problem: AMOUNT_PROBLEM },
      "What it costs: an integer of the smallest unit. `null` unless it is rated.",
    ),
    exact: Field.textOrNull(
      Text.bounded(1, MAX_EXACT_LENGTH),
      "The amount before it was rounded: a decimal in the unit. `null` unless it is rated.",
    ),
    steps: Field.json(
      Schema.Array(Step).check(Schema.isMaxLength(MAX_STEPS)),
      "How the amount comes about, step by step. Empty unless it is rated.",
    ),
    unpriced: Field.jsonOrNull(
      Schema.Array(Kind).check(Schema.isMaxLength(TOKEN_KINDS.length)),
      "The kinds that were used and have no price. `null`: it is rated, or the rate card does not have the model.",
    ),
    holdId,
    consumptionId: Field.idOrNull(
      ConsumptionId,
      CONSUMPTION_ID_PREFIX,
      "The consumption of credits that charged it. `null`: nothing was charged, or the hold was.",
    ),
    idempotencyKey,
    waivedBy: Field.textOrNull(
      Text.bounded(1, MAX_NAME_LENGTH),
      "Who waived it. `null` unless it is waived.",
    ),
    waiveReason: Field.textOrNull(
      Text.bounded(1, MAX_REASON_LENGTH),
      "Why it was waived. `null` unless it is waived.",
    ),
    settledAt: Field.instantOrNull("When it was rated or waived. `null` while it is unrated."),
  },
  times: { createdAt: Field.instant("When it was recorded.") },
  create: {
    customerId,
    rateCard,
    model,
    tokens: Field.json(
      TokensUsed,
      "How many tokens of each kind were used. Kinds that are left out have none.",
    ),
    idempotencyKey: Field.optional(
      Field.saying(
        idempotencyKey,
        "With a key, the same again charges nothing and gives the first answer, for ever. Other content is a `conflict`. Unique for the customer.",
      ),
    ),
  },
  filters: {
    customerId: Field.optional(Field.saying(customerId, "Only token usage of this customer.")),
    holdId: Field.optional(
      Field.id(HoldId, HOLD_ID_PREFIX, "Only the token usage that this hold was committed with."),
    ),
    status: Field.optional(Field.saying(status, "Only token usage with this status.")),
    model: Field.optional(Field.saying(model, "Only token usage of this model.")),
  },
  indexed: ["customerId", "unit", "idempotencyKey", "holdId", "status", "model"],
  operations: {
    create:
      "Charges the tokens of a call that was made, by the version of the rate card that is in force. What is beyond the available credits becomes debt, because the work is done. If the card has no price for it, it is recorded as `unrated`, and nothing is charged. To be sure of credits before the call, reserve a hold and commit it with the tokens.",
  },
  example: {
    id: "tku_01kb2r9d3vffx9qd6k4v2n1h7c",
    customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
    rate_card: "llm",
    version: 3,
    model: "large",
    tokens: { input: 1000, cache_read: 9000, cache_write: 0, output: 500, reasoning: 0 },
    unit: "credit",
    status: "rated",
    amount: 78,
    exact: "0.0078",
    steps: [
      { type: "tokens", kind: "input", tokens: "1000", price: "2", per: "1000000", amount: "0.002" },
      { type: "tokens", kind: "cache_read", tokens: "9000", price: "0.2", per: "1000000", amount: "0.0018" },
      { type: "tokens", kind: "output", tokens: "500", price: "8", per: "1000000", amount: "0.004" },
      { type: "round", digits: 4, amount: "0.0078" },
    ],
    unpriced: null,
    hold_id: null,
    consumption_id: "ccn_01kb2r9d3vffx9qd6k4v2n1h7d",
    idempotency_key: null,
    waived_by: null,
    waive_reason: null,
    settled_at: "2026-11-21T09:32:00.000Z",
    created_at: "2026-11-21T09:32:00.000Z",
  },
})

/** Tokens of one call. */
export const TokenUsage = tokenUsages.Value
export interface TokenUsage extends Schema.Schema.Type<typeof TokenUsage> {}

/** The input of `TokenUsages.create`. */
export const CreateTokenUsage = tokenUsages.Create
export interface CreateTokenUsage extends Schema.Schema.Type<typeof CreateTokenUsage> {}

/** Which token usage to list. */
export const ListTokenUsages = tokenUsages.List
export interface ListTokenUsages extends Schema.Schema.Type<typeof ListTokenUsages> {}

/** The input of `TokenUsages.waive`. */
export const WaiveTokenUsage = Schema.Struct({
  /** Who decided it: a name or an id of yours. 1 to 200 characters. */
  by: Text.bounded(1, MAX_NAME_LENGTH),
  /** 1 to 1,000 characters. */
  reason: Text.bounded(1, MAX_REASON_LENGTH),
})
export interface WaiveTokenUsage extends Schema.Schema.Type<typeof WaiveTokenUsage> {}

/** Tokens that were used, and the card that prices them. */
export const UsedTokens = Schema.Struct({
  rateCard: rateCard.schema,
  model: model.schema,
  tokens: TokensUsed,
})
export interface UsedTokens extends Schema.Schema.Type<typeof UsedTokens> {}

/** The tenant has no token usage with this id. */
export const TokenUsageNotFound = tokenUsages.NotFound
export type TokenUsageNotFound = InstanceType<typeof TokenUsageNotFound>

/** Counts of all kinds: those that are left out are 0. */
export const countsOf = (tokens: UsedTokens["tokens"]): TokenCounts => ({
  input: tokens.input ?? 0,
  cache_read: tokens.cache_read ?? 0,
  cache_write: tokens.cache_write ?? 0,
  output: tokens.output ?? 0,
  reasoning: tokens.reasoning ?? 0,
})

/** Whether token usage is what is recorded again. */
export const isSameUse = (
  usage: TokenUsage,
  { model: asked, rateCard: card, tokens }: UsedTokens,
): boolean => {
  const all = countsOf(tokens)
  return (
    usage.model === asked &&
    usage.rateCard === card &&
    TOKEN_KINDS.every((kind) => usage.tokens[kind] === all[kind])
  )
}

/** The price of tokens, in the fields of token usage. */
export type Price = Pick<
  TokenUsage,
  "amount" | "exact" | "status" | "steps" | "unit" | "unpriced" | "version"
>

const priceOf = (rating: TokenRating, version: number): Price => {
  const { unit } = rating
  return rating.status === "rated"
    ? {
        version,
        unit,
        status: "rated",
        amount: rating.amount,
        exact: rating.exact,
        steps: rating.steps,
        unpriced: null,
      }
    : { version, unit, status: "unrated", amount: null, exact: null, steps: [], unpriced: rating.unpriced }
}

/** What tokens cost by a version of a card. */
export const priced = (
  card: RateCard,
  { model: asked, tokens }: Pick<UsedTokens, "model" | "tokens">,
): Effect.Effect<Price, InvalidInput> => {
  const price = priceOf(
    rateTokens(definitionOf(card), { model: asked, tokens: countsOf(tokens) }),
    card.version,
  )
  if (price.amount === null || price.amount <= MAX_AMOUNT) return Effect.succeed(price)
  const problem = `cost more than 10^30 of ${card.unit} by ${card.reference}`
  return Effect.fail(new InvalidInput({ field: "tokens", problem }))
}
