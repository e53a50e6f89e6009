/**
 * How a hold is committed: with an amount, or with the tokens that were used.
 */
import { Effect, Schema } from "effect"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { amountFrom } from "./Credit.ts"
import { type Hold, Overdraft } from "./Hold.ts"
import { type TokenUsage, UsedTokens } from "./TokenUsage.ts"

const { model, rateCard, tokens } = UsedTokens.fields

/** The input of `Holds.commit`: an amount, or a rate card with a model and its tokens, or neither. */
export const CommitHold = Schema.Struct({
  /** What was used, 0 or more. Default: what the tokens cost or, without tokens, all that is held. */
  amount: Schema.optionalKey(amountFrom(0n)),
  /** The key of the rate card that prices the tokens. It must be in the unit of the hold. */
  rateCard: Schema.optionalKey(rateCard),
  /** The model that used the tokens. */
  model: Schema.optionalKey(model),
  /** How many tokens of each kind were used. */
  tokens: Schema.optionalKey(tokens),
  /** What to do with more than is held and available. Default: `debt`. */
  overdraft: Schema.optionalKey(Overdraft),
})
export interface CommitHold extends Schema.Schema.Type<typeof CommitHold> {}

/** A hold after a commit, with the tokens that it was committed with. */
export interface CommittedHold extends Hold {
  /** `null`: it was committed with an amount. */
  readonly tokenUsage: TokenUsage | null
}

/** What was used: an amount, or tokens. `amount` is `null` for all that is held. */
export type Used =
  | { readonly amount: bigint | null; readonly tokens: null }
  | { readonly amount: null; readonly tokens: UsedTokens }

const decode = decoder(CommitHold)

const refuse = (field: string, problem: string) => Effect.fail(new InvalidInput({ field, problem }))

const TOGETHER = "the rate card, the model and its tokens belong together"

/** Checks the input of a commit. */
export const commitOf = Effect.fnUntraced(function* (input: CommitHold) {
  const {
    amount = null,
    model: asked,
    overdraft = "debt",
    rateCard: card,
    tokens: counts,
  } = yield* decode(input)
  if (card === undefined && asked === undefined && counts === undefined) {
    const used: Used = { amount, tokens: null }
    return { overdraft, used }
  }
  if (amount !== null) return yield* refuse("amount", "must be left out: the tokens say what was used")
  if (card === undefined) return yield* refuse("rateCard", `is required: ${TOGETHER}`)
  if (asked === undefined) return yield* refuse("model", `is required: ${TOGETHER}`)
  if (counts === undefined) return yield* refuse("tokens", `is required: ${TOGETHER}`)
  const used: Used = { amount: null, tokens: { rateCard: card, model: asked, tokens: counts } }
  return { overdraft, used }
})
