/**
 * Token usage over the API.
 */
import type { TokenUsage, TokenUsages } from "../credits/TokenUsages.ts"
import type { Connection } from "./Connection.ts"
import { withIntegers } from "./Integers.ts"
import { path, write } from "./Requests.ts"
import { makeResource } from "./ResourceRequests.ts"

const integers = { amount: true } as const

/** Token usage, whose amount arrives as a number. */
export const toTokenUsage = withIntegers<TokenUsage>(integers)

export const makeTokenUsages = (connection: Connection): TokenUsages => ({
  ...makeResource<Omit<TokenUsages, "rate" | "waive">>(connection, {
    path: "/token_usages",
    removal: null,
    isMutable: false,
    integers,
  }),
  rate: async (id, options) =>
    toTokenUsage(
      await write<TokenUsage>(connection, "POST", path`/token_usages/${id}/rate`, undefined, options),
    ),
  waive: async (id, input, options) =>
    toTokenUsage(
      await write<TokenUsage>(connection, "POST", path`/token_usages/${id}/waive`, input, options),
    ),
})
