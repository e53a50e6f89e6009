/**
 * Tokens of language models, and what they cost.
 */
export type {
  AiSdkUsage,
  ChatCompletionsUsage,
  GeminiUsage,
  MarkupStep,
  MessagesUsage,
  ProviderUsage,
  RateCard,
  RatedTokens,
  ResponsesUsage,
  TokenCounts,
  TokenKind,
  TokenPrices,
  TokenRater,
  TokenRating,
  TokenRatingStep,
  TokensOfModel,
  TokensRoundStep,
  TokensStep,
  UnratedTokens,
} from "@billwright/engine"
