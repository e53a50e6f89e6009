/** A language model on this machine, in place of a provider. It streams words, and says at its end what was used. */
import { setTimeout as pause } from "node:timers/promises"
import type { ChatCompletionsUsage } from "billwright"

/** What a model streams: pieces of its answer, and the usage as OpenAI states it. */
export type Piece = { readonly text: string } | { readonly usage: ChatCompletionsUsage }

export interface Ask {
  readonly prompt: string
  readonly maxTokens: number
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** Streams an answer. It throws when the model fails, or when it is aborted. */
export type Model = (ask: Ask) => AsyncIterable<Piece>

/** A token is a word here. */
export const countTokens = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length

const LENGTH = 40

/** Says the words of the prompt again, 40 of them, with a pause before each. */
export const parrot = (wordMillis: number): Model =>
  async function* ({ maxTokens, prompt, signal }) {
    const words = prompt.split(/\s+/).filter((word) => word !== "")
    const length = Math.min(LENGTH, maxTokens)
    for (let n = 0; n < length; n++) {
      await pause(wordMillis, undefined, { signal })
      yield { text: `${words[n % words.length]} ` }
    }
    yield { usage: { prompt_tokens: words.length, completion_tokens: length } }
  }
