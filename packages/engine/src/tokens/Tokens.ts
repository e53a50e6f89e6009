/**
 * The tokens of one call of a language model, taken apart so that each token counts once.
 *
 * Providers count differently. OpenAI, Gemini and the AI SDK give totals: cached tokens are part of the input. Anthropic
 * gives the input without them. Gemini gives reasoning beside the output, the others as a part of it. The rules are from
 * the reference of each API: "usage" of OpenAI's Chat Completions and Responses, "usage" of Anthropic's Messages,
 * `UsageMetadata` of Gemini, and `LanguageModelUsage` of the AI SDK 6.
 */
import { type Fields, isFields } from "../catalog/FieldRules.ts"
import { pathTo } from "../catalog/Problem.ts"
import { RatingError } from "../rating/RatingError.ts"

/** Kinds of tokens. A token is of one kind. */
export const TOKEN_KINDS = ["input", "cache_read", "cache_write", "output", "reasoning"] as const

/**
 * The kind of a token.
 *
 * - `input`: read by the model, and in no cache.
 * - `cache_read`: read from the provider's cache.
 * - `cache_write`: read, and written to the cache.
 * - `output`: written by the model, except for reasoning.
 * - `reasoning`: what the model thought, which is not shown.
 */
export type TokenKind = (typeof TOKEN_KINDS)[number]

/** Most tokens of one kind in one call. */
export const MAX_TOKENS = 1_000_000_000_000

/** Whether a value is a count of tokens, and what a wrong one must be. */
export const isTokenCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS
export const TOKEN_COUNT_RULE = `must be an integer from 0 to ${MAX_TOKENS}`

/** How many tokens of each kind: integers from 0 to 10^12. */
export type TokenCounts = Readonly<Record<TokenKind, number>>

type Count = number | null | undefined
type Details<Name extends string> = { readonly [Key in Name]?: Count } | null | undefined

/** `usage` of OpenAI's Chat Completions, and of APIs that are compatible with it. */
export interface ChatCompletionsUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly prompt_tokens_details?: Details<"cached_tokens" | "cache_write_tokens">
  readonly completion_tokens_details?: Details<"reasoning_tokens">
}

/** `usage` of OpenAI's Responses. */
export interface ResponsesUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly input_tokens_details?: Details<"cached_tokens" | "cache_write_tokens">
  readonly output_tokens_details?: Details<"reasoning_tokens">
}

/** `usage` of Anthropic's Messages. */
export interface MessagesUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_input_tokens?: Count
  readonly cache_creation_input_tokens?: Count
}

/** `usageMetadata` of Gemini. */
export interface GeminiUsage {
  readonly promptTokenCount?: Count
  readonly candidatesTokenCount?: Count
  readonly cachedContentTokenCount?: Count
  readonly thoughtsTokenCount?: Count
  readonly toolUsePromptTokenCount?: Count
}

/** `usage` of `generateText` and `streamText` of the AI SDK from version 6 on. */
export interface AiSdkUsage {
  readonly inputTokens: Count
  readonly outputTokens: Count
  readonly inputTokenDetails: Details<"cacheReadTokens" | "cacheWriteTokens">
  readonly outputTokenDetails?: Details<"reasoningTokens">
}

/** What a provider states about one call. */
export type ProviderUsage = ChatCompletionsUsage | ResponsesUsage | MessagesUsage | GeminiUsage | AiSdkUsage

/** Where one API states a count: the name of a field, or of a list of details and of the field in it. */
type Place = string | readonly [details: string, field: string]

/** Where one API states its counts, and which of them are part of others. */
interface Shape {
  /** Fields that only this API has. The first shape of which one is there is taken. */
  readonly knownBy: ReadonlyArray<string>
  readonly input: Place
  /** Input beside it, which costs the same. */
  readonly moreInput?: Place
  readonly output: Place
  readonly cacheRead: Place
  readonly cacheWrite?: Place
  readonly reasoning?: Place
  /** Whether the input has the cached tokens in it, and the output those of reasoning. */
  readonly isCacheInInput: boolean
  readonly isReasoningInOutput: boolean
}

const SHAPES: ReadonlyArray<Shape> = [
  {
    knownBy: ["prompt_tokens", "completion_tokens"],
    input: "prompt_tokens",
    output: "completion_tokens",
    cacheRead: ["prompt_tokens_details", "cached_tokens"],
    cacheWrite: ["prompt_tokens_details", "cache_write_tokens"],
    reasoning: ["completion_tokens_details", "reasoning_tokens"],
    isCacheInInput: true,
    isReasoningInOutput: true,
  },
  {
    knownBy: ["cache_read_input_tokens", "cache_creation_input_tokens"],
    input: "input_tokens",
    output: "output_tokens",
    cacheRead: "cache_read_input_tokens",
    cacheWrite: "cache_creation_input_tokens",
    isCacheInInput: false,
    isReasoningInOutput: true,
  },
  {
    knownBy: ["input_tokens", "output_tokens"],
    input: "input_tokens",
    output: "output_tokens",
    cacheRead: ["input_tokens_details", "cached_tokens"],
    cacheWrite: ["input_tokens_details", "cache_write_tokens"],
    reasoning: ["output_tokens_details", "reasoning_tokens"],
    isCacheInInput: true,
    isReasoningInOutput: true,
  },
  {
    knownBy: ["promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount"],
    input: "promptTokenCount",
    moreInput: "toolUsePromptTokenCount",
    output: "candidatesTokenCount",
    cacheRead: "cachedContentTokenCount",
    reasoning: "thoughtsTokenCount",
    isCacheInInput: true,
    isReasoningInOutput: false,
  },
  {
    // Before version 6, whether cached tokens are in the input depended on the provider. So those counts are refused.
    knownBy: ["inputTokenDetails"],
    input: "inputTokens",
    output: "outputTokens",
    cacheRead: ["inputTokenDetails", "cacheReadTokens"],
    cacheWrite: ["inputTokenDetails", "cacheWriteTokens"],
    reasoning: ["outputTokenDetails", "reasoningTokens"],
    isCacheInInput: true,
    isReasoningInOutput: true,
  },
]

const refuse = (path: string, problem: string): never => {
  throw new RatingError([{ path, problem }])
}

const pathOf = (place: Place): string =>
  typeof place === "string" ? pathTo("usage", place) : pathTo(pathTo("usage", place[0]), place[1])

const valueAt = (usage: Fields, place: Place): unknown => {
  if (typeof place === "string") return usage[place]
  const details = usage[place[0]]
  return isFields(details) ? details[place[1]] : undefined
}

/** A count of tokens. Providers leave out what they don't count, or state `null`. */
const countAt = (usage: Fields, place: Place | undefined): number => {
  if (place === undefined) return 0
  const value = valueAt(usage, place) ?? 0
  return isTokenCount(value) ? value : refuse(pathOf(place), TOKEN_COUNT_RULE)
}

const withoutPart = (total: number, part: number, place: Place, name: string): number =>
  part <= total
    ? total - part
    : refuse(pathOf(place), `must be at least its ${name}, ${part}: it is ${total}`)

/**
 * Takes apart what a provider states about one call. It takes `usage` of OpenAI (Chat Completions and Responses),
 * Anthropic and the AI SDK 6, and `usageMetadata` of Gemini. For others, count the kinds yourself: {@link TokenCounts}.
 *
 * Throws a {@link RatingError} that names the field if the counts contradict each other, or are of none of these APIs.
 */
export const tokens = (usage: ProviderUsage): TokenCounts => {
  const fields: unknown = usage
  if (!isFields(fields)) return refuse("usage", "must be the object that the provider gives")
  const shape = SHAPES.find(({ knownBy }) => knownBy.some((field) => fields[field] !== undefined))
  if (shape === undefined) {
    return refuse(
      "usage",
      "must be the usage of OpenAI, Anthropic, Gemini (usageMetadata) or the AI SDK 6: count the kinds yourself for others",
    )
  }
  const [cacheRead, cacheWrite] = [countAt(fields, shape.cacheRead), countAt(fields, shape.cacheWrite)]
  const reasoning = countAt(fields, shape.reasoning)
  const [input, output] = [countAt(fields, shape.input), countAt(fields, shape.output)]
  const cached = cacheRead + cacheWrite
  return {
    input:
      (shape.isCacheInInput ? withoutPart(input, cached, shape.input, "cached tokens") : input) +
      countAt(fields, shape.moreInput),
    cache_read: cacheRead,
    cache_write: cacheWrite,
    output: shape.isReasoningInOutput
      ? withoutPart(output, reasoning, shape.output, "tokens of reasoning")
      : output,
    reasoning,
  }
}
