/**
 * The operations of token usage that other resources don't have (see `Operations`).
 */
import { TokenUsage, TokenUsages } from "@billwright/core"
import { Effect } from "effect"
import { ok } from "./HttpExchange.ts"
import type { OperationsOf } from "./Operation.ts"
import * as ResourceBody from "./ResourceBody.ts"

const body = ResourceBody.make<TokenUsage.TokenUsage>(TokenUsage.tokenUsages)

export const make: Effect.Effect<OperationsOf<"token_ratings">, never, TokenUsages> = Effect.map(
  TokenUsages,
  (usages) => ({
    rateTokenUsage: ({ params }, tenant) =>
      Effect.map(usages.rate(params.id), (usage) => ok(body(usage, tenant))),
    waiveTokenUsage: ({ params, payload }, tenant) =>
      Effect.map(usages.waive(params.id, payload), (usage) => ok(body(usage, tenant))),
  }),
)
