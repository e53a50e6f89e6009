/**
 * The use cases of rate cards.
 */
import type { RateCard as RateCardDefinition } from "@billwright/engine"
import { isKey } from "@billwright/engine"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import * as ById from "../shared/ById.ts"
import { type CollectionOf, Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { CreditSettings } from "./CreditSettings.ts"
import { PlanStore } from "./PlanStore.ts"
import * as PushedPlans from "./PushedPlans.ts"
import {
  changeOf,
  hashOf,
  ListRateCards,
  type PushRateCards,
  RATE_CARD_ID_PREFIX,
  type RateCard,
  type RateCardChange,
  RateCardId,
  type RateCardNotFound,
  rateCards,
} from "./RateCard.ts"

const decodeList = decoder(ListRateCards)
const { knownId, orNotFound } = ById.of(rateCards)

/** Finds the version of the card with a key that is in force. */
export const currentIn = (store: CollectionOf<typeof rateCards>) =>
  Effect.fnUntraced(function* (key: string) {
    if (!isKey(key)) return Option.none<RateCard>()
    const page = store.list({ key, status: "current" }, { limit: 1, cursor: undefined })
    const { data } = yield* Effect.catchTag(page, "CursorNotFound", Effect.die)
    return Option.fromUndefinedOr(data[0])
  })

/** Pushes, compares, reads and lists the rate cards of the current tenant. */
export class RateCards extends Context.Service<
  RateCards,
  {
    /**
     * Stores rate cards: all of them, or none when one is wrong. A card with new terms gets the next version, and calls are
     * rated by it from then on. A new name changes the newest version. An equal card changes nothing. Concurrent pushes of
     * a tenant wait for each other, so versions have no gaps. `InvalidInput` has all problems of all cards.
     */
    readonly push: (
      input: PushRateCards,
    ) => Effect.Effect<ReadonlyArray<RateCardChange>, InvalidInput | StorageError, CurrentTenant>

    /** What `push` would do. Writes nothing. */
    readonly diff: (
      input: PushRateCards,
    ) => Effect.Effect<ReadonlyArray<RateCardChange>, InvalidInput | StorageError, CurrentTenant>

    /** A version by its id. */
    readonly get: (id: string) => Effect.Effect<RateCard, RateCardNotFound | StorageError, CurrentTenant>

    /** Versions, newest first. */
    readonly list: (
      query?: ListRateCards,
    ) => Effect.Effect<Page<RateCard>, InvalidInput | StorageError, CurrentTenant>

    /** The newest version of the card with a key. */
    readonly current: (key: string) => Effect.Effect<Option.Option<RateCard>, StorageError, CurrentTenant>
  }
>()("@billwright/core/catalog/RateCards") {
  static readonly layer = Layer.effect(
    RateCards,
    Effect.gen(function* () {
      const store = (yield* Collections).of(rateCards)
      const catalogue = yield* PlanStore
      const transactor = yield* Transactor
      const ids = yield* IdGenerator
      const units = yield* CreditSettings

      const current = currentIn(store)

      const compared = Effect.fnUntraced(function* (pushed: RateCardDefinition) {
        const before = Option.getOrUndefined(yield* current(pushed.key))
        return { pushed, before, change: changeOf(before, pushed) }
      })

      const write = Effect.fnUntraced(function* ({
        before,
        change,
        pushed,
      }: Effect.Success<ReturnType<typeof compared>>) {
        if (change.status === "unchanged") return
        const { decimals = null, key, markup = null, models, name = null, unit } = pushed
        const { version } = change
        if (before !== undefined) {
          const isSame = version === before.version
          yield* store.modify(before.id, (card) =>
            Effect.succeed(isSame ? { ...card, name } : { ...card, status: "superseded" as const }),
          )
          if (isSame) return
        }
        const card: RateCard = {
          id: RateCardId.make(yield* ids.next(RATE_CARD_ID_PREFIX)),
          name,
          key,
          version,
          reference: `${key}@${version}`,
          hash: hashOf(pushed),
          unit,
          decimals,
          markup,
          models,
          status: "current",
          createdAt: yield* DateTime.now,
        }
        if (yield* store.insert(card)) return
        // So it is only when somebody else pushed after this transaction had read.
        const cause = new Error(`the rate card ${card.reference} is already stored`)
        return yield* new StorageError({ operation: "RateCards.push", retryable: true, cause })
      })

      const push = Effect.fn("RateCards.push")(function* (input: PushRateCards) {
        const pushed = yield* PushedPlans.checkCards(input, units)
        return yield* transactor.atomically(
          Effect.gen(function* () {
            yield* catalogue.lock
            const all = yield* Effect.forEach(pushed, compared)
            yield* Effect.forEach(all, write, { discard: true })
            return all.map(({ change }) => change)
          }),
        )
      })

      const diff = Effect.fn("RateCards.diff")(function* (input: PushRateCards) {
        const all = yield* Effect.forEach(yield* PushedPlans.checkCards(input, units), compared)
        return all.map(({ change }) => change)
      })

      const get = Effect.fn("RateCards.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const list = Effect.fn("RateCards.list")(function* (query: ListRateCards = {}) {
        const request = yield* decodeList(query)
        return yield* store.list(filterOf(request), yield* toQuery(request)).pipe(nameCursor(request))
      })

      return RateCards.of({ push, diff, get, list, current })
    }),
  )
}
