/**
 * Rate cards: what the tokens of language models cost.
 */
import {
  checkKey,
  checkKnown,
  checkStorable,
  checkText,
  decimalOf,
  type Fields,
  integerIn,
  isFields,
  isKey,
} from "../catalog/FieldRules.ts"
import { type Problem, Problems } from "../catalog/Problem.ts"
import * as Currency from "../money/Currency.ts"
import { TOKEN_KINDS, type TokenKind } from "./Tokens.ts"

/** Most models of a rate card; longest name of a model or of the card, in characters; most decimals. */
export const RATE_CARD_LIMITS = { models: 1_000, model: 200, name: 200, decimals: 6 } as const

/**
 * Prices of 1,000,000 tokens of each kind, as decimals in strings. A kind that is left out has no price: a call that uses
 * it is unrated, not free. `reasoning` is the one exception. Without a price of its own it costs as much as `output`, as
 * providers charge it.
 */
export type TokenPrices = { readonly [Kind in TokenKind]?: string }

/** What the tokens of models cost. It is plain data, the same as JSON. */
export interface RateCard {
  /** Its name in code: a lower-case letter, then at most 63 lower-case letters, digits and underscores. */
  readonly key: string
  /** Its name for people. At most 200 characters. */
  readonly name?: string
  /**
   * What prices are in: an ISO 4217 code, or a unit of yours such as `credit`: a lower-case letter, then at most 63
   * lower-case letters, digits and underscores.
   */
  readonly unit: string
  /** The decimals of amounts in a unit of yours: 0 to 6, by default 0. Currencies have those of ISO 4217. */
  readonly decimals?: number
  /** Percent that are added to the price, such as `"20"`. */
  readonly markup?: string
  /** Prices by the name of the model, as the provider states it. At most 1,000 models. */
  readonly models: Readonly<Record<string, TokenPrices>>
}

const checkUnit = (at: Problems, card: Fields): void => {
  const unit = card["unit"]
  if (unit === undefined) at.in("unit").add("is required")
  else if (typeof unit !== "string" || !(isKey(unit) || Currency.isCurrency(unit))) {
    at.in("unit").add(
      "must be an ISO 4217 code such as EUR, or a unit of yours such as credit: a lower-case letter, then at most 63 lower-case letters, digits and underscores",
    )
  }
  if (card["decimals"] === undefined) return
  if (typeof unit === "string" && Currency.isCurrency(unit)) {
    at.in("decimals").add(`must be left out: ISO 4217 says how many ${unit} has`)
  } else integerIn(at.in("decimals"), card["decimals"], 0, RATE_CARD_LIMITS.decimals)
}

const checkModel = (at: Problems, model: string, prices: unknown): void => {
  if (model === "" || model.length > RATE_CARD_LIMITS.model) {
    at.add(`must be the name of a model, 1 to ${RATE_CARD_LIMITS.model} characters`)
  } else checkStorable(at, model)
  if (!isFields(prices) || Object.keys(prices).length === 0) {
    at.add(`must give prices of 1,000,000 tokens, such as {"input": "2.00", "output": "8.00"}`)
    return
  }
  checkKnown(at, prices, TOKEN_KINDS)
  for (const kind of TOKEN_KINDS) if (prices[kind] !== undefined) decimalOf(at.in(kind), prices[kind])
}

const checkModels = (at: Problems, models: unknown): void => {
  if (!isFields(models)) {
    at.add(
      models === undefined
        ? "is required"
        : `must give prices by model, such as {"small": {"input": "2.00"}}`,
    )
    return
  }
  const named = Object.entries(models)
  if (named.length === 0 || named.length > RATE_CARD_LIMITS.models) {
    at.add(`must have 1 to ${RATE_CARD_LIMITS.models} models`)
    return
  }
  for (const [model, prices] of named) checkModel(at.in(model), model, prices)
}

const FIELDS = ["key", "name", "unit", "decimals", "markup", "models"]

/** Everything that is wrong with a rate card. An empty list for a valid one. */
export const problemsOfRateCard = (card: unknown): ReadonlyArray<Problem> => {
  const at = new Problems("card")
  if (!isFields(card)) {
    at.add("must be an object")
    return at.found
  }
  checkKnown(at, card, FIELDS)
  checkKey(at.in("key"), card["key"])
  if (card["name"] !== undefined) checkText(at.in("name"), card["name"], RATE_CARD_LIMITS.name)
  checkUnit(at, card)
  if (card["markup"] !== undefined) decimalOf(at.in("markup"), card["markup"])
  checkModels(at.in("models"), card["models"])
  return at.found
}
