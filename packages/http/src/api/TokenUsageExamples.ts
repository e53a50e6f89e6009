/**
 * Examples of what is done about token usage without a price, for the document.
 */
import { Resources } from "@billwright/core"
import type { Example } from "./Example.ts"

const rated = {
  ...Resources.all.tokenUsages.definition.example,
  object: "token_usage",
  livemode: false,
} as const

export const tokenUsageExamples = {
  rateTokenUsage: { response: rated },
  waiveTokenUsage: {
    request: { by: "ada@example.com", reason: "The model was a test" },
    response: {
      ...rated,
      status: "waived",
      amount: null,
      exact: null,
      steps: [],
      consumption_id: null,
      waived_by: "ada@example.com",
      waive_reason: "The model was a test",
    },
  },
} as const satisfies Readonly<Record<string, Example>>
