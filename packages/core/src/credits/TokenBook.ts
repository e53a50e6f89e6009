/**
 * Prices tokens by the rate card that is in force, and records what was used of them.
 */
import { type CreditUnits, declaredDecimals } from "@billwright/engine"
import { DateTime, Effect, Option } from "effect"
import { CreditSettings, decimalsOption } from "../catalog/CreditSettings.ts"
import { type RateCard, RateCardNotFound, rateCards } from "../catalog/RateCard.ts"
import { currentIn } from "../catalog/RateCards.ts"
import { Outbox } from "../events/Outbox.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import {
  countsOf,
  type Price,
  priced,
  TOKEN_USAGE_ID_PREFIX,
  type TokenUsage,
  TokenUsageId,
  tokenUsages,
  type UsedTokens,
} from "./TokenUsage.ts"
import { unratedData, usageUnrated } from "./TokenUsageEvent.ts"

/** A card that was pushed before its unit was defined may have other decimals than the balances that it would charge. */
const checkDecimals = (
  { decimals, reference, unit }: RateCard,
  units: CreditUnits,
): Effect.Effect<void, InvalidInput> => {
  const declared = declaredDecimals(units, unit)
  if (declared === undefined || declared === (decimals ?? 0)) return Effect.void
  const problem = `is ${reference} with ${decimals ?? 0} decimals, and ${decimalsOption(unit)} is ${declared}: push the card again`
  return Effect.fail(new InvalidInput({ field: "rateCard", problem }))
}

/** Gives the functions that price and record tokens in the current transaction. */
export const makeTokenBook = Effect.gen(function* () {
  const collections = yield* Collections
  const store = collections.of(tokenUsages)
  const current = currentIn(collections.of(rateCards))
  const outbox = yield* Outbox
  const ids = yield* IdGenerator
  const units = yield* CreditSettings

  /** What tokens cost by the version of the card that is in force. */
  const price = Effect.fnUntraced(function* (used: UsedTokens) {
    const card = Option.getOrUndefined(yield* current(used.rateCard))
    if (card === undefined) return yield* new RateCardNotFound({ id: used.rateCard, field: "rateCard" })
    yield* checkDecimals(card, units)
    return yield* priced(card, used)
  })

  /** Records tokens with their price, and says so if they have none. */
  const record = Effect.fnUntraced(function* (
    { model, rateCard, tokens }: UsedTokens,
    cost: Price,
    of: Pick<TokenUsage, "consumptionId" | "customerId" | "holdId" | "idempotencyKey">,
  ) {
    const createdAt = yield* DateTime.now
    const usage: TokenUsage = {
      id: TokenUsageId.make(yield* ids.next(TOKEN_USAGE_ID_PREFIX)),
      ...of,
      ...cost,
      rateCard,
      model,
      tokens: countsOf(tokens),
      waivedBy: null,
      waiveReason: null,
      settledAt: cost.status === "rated" ? createdAt : null,
      createdAt,
    }
    yield* store.insert(usage)
    if (usage.status === "unrated") {
      yield* outbox.publish(usageUnrated, unratedData(usage), { customerId: usage.customerId })
    }
    return usage
  })

  /** The token usage of a customer that has a key, in whatever unit the card was then. */
  const byKey = ({ customerId }: Pick<TokenUsage, "customerId">, idempotencyKey: string) =>
    first({ customerId, idempotencyKey })

  /** The token usage that a hold was committed with. */
  const ofHold = ({
    customerId,
    id: holdId,
  }: {
    readonly customerId: TokenUsage["customerId"]
    readonly id: TokenUsage["holdId"]
  }) => first({ customerId, holdId })

  const first = (filter: Partial<Pick<TokenUsage, "customerId" | "holdId" | "idempotencyKey">>) =>
    store.list(filter, { limit: 1, cursor: undefined }).pipe(
      Effect.catchTag("CursorNotFound", Effect.die),
      Effect.map(({ data }) => Option.fromUndefinedOr(data[0])),
    )

  return { byKey, ofHold, price, record, store }
})
