import { assert, describe, it } from "vitest"
import { RatingError } from "../../src/rating/index.ts"
import { TOKEN_KINDS, type TokenCounts, tokens } from "../../src/tokens/Tokens.ts"
import { fc, holds } from "../property.ts"

const count = fc.integer({ min: 0, max: 10_000_000 })
const counts = fc.record({
  input: count,
  cache_read: count,
  cache_write: count,
  output: count,
  reasoning: count,
})

/** How each API states the same call, by the rules of its reference. */
const STATED = {
  "Chat Completions": (of: TokenCounts) => ({
    prompt_tokens: of.input + of.cache_read,
    completion_tokens: of.output + of.reasoning,
    total_tokens: of.input + of.cache_read + of.output + of.reasoning,
    prompt_tokens_details: { cached_tokens: of.cache_read, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: of.reasoning },
  }),
  Responses: (of: TokenCounts) => ({
    input_tokens: of.input + of.cache_read,
    input_tokens_details: { cached_tokens: of.cache_read },
    output_tokens: of.output + of.reasoning,
    output_tokens_details: { reasoning_tokens: of.reasoning },
    total_tokens: of.input + of.cache_read + of.output + of.reasoning,
  }),
  Messages: (of: TokenCounts) => ({
    input_tokens: of.input,
    cache_creation_input_tokens: of.cache_write,
    cache_read_input_tokens: of.cache_read,
    output_tokens: of.output + of.reasoning,
    service_tier: "standard",
  }),
  Gemini: (of: TokenCounts) => ({
    promptTokenCount: of.input + of.cache_read,
    cachedContentTokenCount: of.cache_read,
    candidatesTokenCount: of.output,
    thoughtsTokenCount: of.reasoning,
    totalTokenCount: of.input + of.cache_read + of.output + of.reasoning,
  }),
  "the AI SDK": (of: TokenCounts) => ({
    inputTokens: of.input + of.cache_read + of.cache_write,
    inputTokenDetails: {
      noCacheTokens: of.input,
      cacheReadTokens: of.cache_read,
      cacheWriteTokens: of.cache_write,
    },
    outputTokens: of.output + of.reasoning,
    outputTokenDetails: { textTokens: of.output, reasoningTokens: of.reasoning },
    totalTokens: 0,
  }),
} as const

/** Kinds that an API does not tell apart, and what they are counted as. */
const JOINED: Readonly<
  Record<keyof typeof STATED, Partial<Record<keyof TokenCounts, keyof TokenCounts | null>>>
> = {
  "Chat Completions": { cache_write: null },
  Responses: { cache_write: null },
  Messages: { reasoning: "output" },
  Gemini: { cache_write: null },
  "the AI SDK": {},
}

describe("tokens", () => {
  for (const [api, state] of Object.entries(STATED)) {
    it(`takes the totals of ${api} apart`, () => {
      holds([counts], (made) => {
        const expected = { ...made }
        for (const [kind, other] of Object.entries(JOINED[api as keyof typeof STATED])) {
          if (other !== null) expected[other] += expected[kind as keyof TokenCounts]
          expected[kind as keyof TokenCounts] = 0
        }
        assert.deepStrictEqual(tokens(state(made)), expected)
      })
    })
  }

  it("takes counts that a provider leaves out or states as null for 0", () => {
    const of = { input: 10, cache_read: 0, cache_write: 0, output: 5, reasoning: 0 }
    assert.deepStrictEqual(tokens({ input_tokens: 10, output_tokens: 5 }), of)
    assert.deepStrictEqual(
      tokens({ prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: null }),
      of,
    )
    assert.deepStrictEqual(tokens({ input_tokens: 10, output_tokens: 5, cache_read_input_tokens: null }), of)
    assert.deepStrictEqual(
      tokens({ promptTokenCount: 7, toolUsePromptTokenCount: 3, candidatesTokenCount: 5 }),
      of,
    )
  })

  it("counts each kind once", () => {
    assert.sameMembers(Object.keys(tokens({ input_tokens: 1, output_tokens: 1 })), [...TOKEN_KINDS])
  })

  const refusals = [
    [
      { prompt_tokens: 1.5, completion_tokens: 0 },
      "usage.prompt_tokens must be an integer from 0 to 1000000000000",
    ],
    [
      { prompt_tokens: -1, completion_tokens: 0 },
      "usage.prompt_tokens must be an integer from 0 to 1000000000000",
    ],
    [
      { prompt_tokens: 5, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 6 } },
      "usage.prompt_tokens must be at least its cached tokens, 6: it is 5",
    ],
    [
      { input_tokens: 5, output_tokens: 1, output_tokens_details: { reasoning_tokens: 2 } },
      "usage.output_tokens must be at least its tokens of reasoning, 2: it is 1",
    ],
    // The AI SDK 5: nobody can tell whether the cached tokens are in the input.
    [
      { inputTokens: 5, outputTokens: 1, cachedInputTokens: 4 },
      "usage must be the usage of OpenAI, Anthropic, Gemini (usageMetadata) or the AI SDK 6: count the kinds yourself for others",
    ],
    [undefined, "usage must be the object that the provider gives"],
  ] as const
  for (const [usage, message] of refusals) {
    it(`refuses ${JSON.stringify(usage)}`, () => {
      // @ts-expect-error some of them don't compile
      const take = (): unknown => tokens(usage)
      assert.throws(take, RatingError, message)
    })
  }
})
