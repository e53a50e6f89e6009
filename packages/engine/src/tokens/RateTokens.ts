/**
 * What the tokens of one call cost under a rate card, exactly, with every step.
 */
import { isFields } from "../catalog/FieldRules.ts"
import { pathTo, type Problem } from "../catalog/Problem.ts"
import * as Currency from "../money/Currency.ts"
import * as Exact from "../money/Exact.ts"
import { RatingError } from "../rating/RatingError.ts"
import { problemsOfRateCard, type RateCard, type TokenPrices } from "./RateCard.ts"
import { isTokenCount, TOKEN_COUNT_RULE, TOKEN_KINDS, type TokenCounts, type TokenKind } from "./Tokens.ts"

/** The amount is `tokens × price / per`. Numbers are exact decimals in texts. */
export interface TokensStep {
  readonly type: "tokens"
  readonly kind: TokenKind
  readonly tokens: string
  /** The price of `per` tokens. */
  readonly price: string
  readonly per: string
  readonly amount: string
}

/** `percent` are added to the sum. `amount` is the new sum. */
export interface MarkupStep {
  readonly type: "markup"
  readonly percent: string
  readonly amount: string
}

/** The sum is rounded to `digits` after the point, halves away from zero. */
export interface TokensRoundStep {
  readonly type: "round"
  readonly digits: number
  readonly amount: string
}

export type TokenRatingStep = TokensStep | MarkupStep | TokensRoundStep

/** The card has prices for all of it. */
export interface RatedTokens {
  readonly status: "rated"
  readonly unit: string
  /** An integer of the smallest unit: cents of EUR, or millionths of a unit with 6 decimals. */
  readonly amount: bigint
  /** The amount before rounding, as a decimal in the unit. */
  readonly exact: string
  readonly steps: ReadonlyArray<TokenRatingStep>
}

/** The card does not say what it costs, so there is no amount. It is never 0. */
export interface UnratedTokens {
  readonly status: "unrated"
  readonly unit: string
  readonly model: string
  /** `null` if the card does not have the model. Otherwise the kinds that were used and have no price. */
  readonly unpriced: ReadonlyArray<TokenKind> | null
}

/** What a call costs, or that the card does not say it. */
export type TokenRating = RatedTokens | UnratedTokens

/** One call of a model. Kinds that are left out have no tokens. */
export interface TokensOfModel {
  /** The name of the model, as the card has it. */
  readonly model: string
  readonly tokens: Partial<TokenCounts>
}

/** Prices are of so many tokens, `10^6`. */
const PER_DIGITS = 6
const PER = (10n ** BigInt(PER_DIGITS)).toString()

const HUNDRED = Exact.ofInteger(100n)

const problemsOfCall = (call: TokensOfModel): ReadonlyArray<Problem> => {
  if (!isFields(call)) return [{ path: "call", problem: `must be an object with a model and its tokens` }]
  const { model, tokens } = call
  const problems: Array<Problem> = []
  if (typeof model !== "string") problems.push({ path: "model", problem: "must be the name of a model" })
  if (!isFields(tokens)) {
    return [...problems, { path: "tokens", problem: `must be counts, such as {"input": 1000}` }]
  }
  for (const [kind, count] of Object.entries(tokens)) {
    const path = pathTo("tokens", kind)
    if (!TOKEN_KINDS.some((one) => one === kind)) problems.push({ path, problem: "is not a kind of tokens" })
    else if (!isTokenCount(count)) problems.push({ path, problem: TOKEN_COUNT_RULE })
  }
  return problems
}

/** The price of a kind. Reasoning costs as much as output, if nothing else is said. */
const priceOf = (prices: TokenPrices, kind: TokenKind): string | undefined =>
  prices[kind] ?? (kind === "reasoning" ? prices.output : undefined)

const check = (problems: ReadonlyArray<Problem>): void => {
  const [first, ...others] = problems
  if (first !== undefined) throw new RatingError([first, ...others])
}

const tokensStep = (kind: TokenKind, count: number, price: string): [TokensStep, Exact.Exact] => {
  const [tokens, ofMillion] = [Exact.ofInteger(BigInt(count)), Exact.ofDecimal(price)]
  const amount = Exact.shift(Exact.multiply(tokens, ofMillion), PER_DIGITS)
  return [
    {
      type: "tokens",
      kind,
      tokens: Exact.text(tokens),
      price: Exact.text(ofMillion),
      per: PER,
      amount: Exact.text(amount),
    },
    amount,
  ]
}

/** What a call costs under a card that was checked before. Throws a {@link RatingError} with all problems of the counts. */
export const rateTokens = (card: RateCard, call: TokensOfModel): TokenRating => {
  check(problemsOfCall(call))
  const { decimals = 0, markup, models, unit } = card
  const { model, tokens } = call
  const digits = Currency.exponentOf(unit) ?? decimals
  // A model may be called `constructor`, which every object inherits.
  const prices = Object.hasOwn(models, model) ? models[model] : undefined
  if (prices === undefined) return { status: "unrated", unit, model, unpriced: null }
  const steps: Array<TokenRatingStep> = []
  const unpriced: Array<TokenKind> = []
  let exact = Exact.zero
  for (const kind of TOKEN_KINDS) {
    const count = tokens[kind] ?? 0
    if (count === 0) continue
    const price = priceOf(prices, kind)
    if (price === undefined) {
      unpriced.push(kind)
      continue
    }
    const [step, amount] = tokensStep(kind, count, price)
    steps.push(step)
    exact = Exact.add(exact, amount)
  }
  if (unpriced.length > 0) return { status: "unrated", unit, model, unpriced }
  if (markup !== undefined) {
    exact = Exact.multiply(exact, Exact.shift(Exact.add(HUNDRED, Exact.ofDecimal(markup)), 2))
    steps.push({ type: "markup", percent: markup, amount: Exact.text(exact) })
  }
  const amount = Exact.roundTo(exact, digits)
  steps.push({ type: "round", digits, amount: Exact.text(Exact.ofUnits(amount, digits)) })
  return { status: "rated", unit, amount, exact: Exact.text(exact), steps }
}

/** A rate card that is prepared to rate many calls. */
export interface TokenRater {
  /** What one call costs. Throws a {@link RatingError} with all problems of the counts. */
  readonly rate: (call: TokensOfModel) => TokenRating
}

/**
 * Prepares a rate card to rate many calls. Each costs `tokens × price / 1,000,000` of each kind, plus the markup, rounded
 * once to the smallest unit, halves away from zero. A model or a kind without a price makes a call `unrated`, so that
 * nothing is given away by a price that somebody forgot.
 *
 * It copies the card, so later changes of the object have no effect. Throws a {@link RatingError} with all problems of the
 * card.
 */
export const tokenRater = (card: RateCard): TokenRater => {
  check(problemsOfRateCard(card))
  const models = Object.fromEntries(
    Object.entries(card.models).map(([model, prices]) => [model, { ...prices }]),
  )
  const copy = { ...card, models }
  return { rate: (call) => rateTokens(copy, call) }
}
