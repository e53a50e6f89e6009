/**
 * The use cases of token usage.
 */
import { chargeCredits } from "@billwright/engine"
import { Clock, Context, DateTime, Effect, Layer, Option } from "effect"
import type { RateCardNotFound } from "../catalog/RateCard.ts"
import type { CustomerNotFound } from "../customers/Customer.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { type AccountKey, CONSUMPTION_ID_PREFIX, ConsumptionId, type CreditKeyConflict } from "./Credit.ts"
import { type CreditFailure, makeCreditBook, sameAs } from "./CreditBook.ts"
import type { StoredLedger } from "./CreditStore.ts"
import { makeTokenBook } from "./TokenBook.ts"
import {
  CreateTokenUsage,
  isSameUse,
  ListTokenUsages,
  type Price,
  type TokenUsage,
  type TokenUsageNotFound,
  tokenUsages,
  WaiveTokenUsage,
} from "./TokenUsage.ts"

const decodeCreate = decoder(CreateTokenUsage)
const decodeList = decoder(ListTokenUsages)
const decodeWaive = decoder(WaiveTokenUsage)
const { knownId, orNotFound } = ById.of(tokenUsages)

/** An account that is locked, as it was at an instant. What is done to it is done at that instant. */
interface Locked {
  readonly ledger: StoredLedger
  readonly now: number
}

/** Charges, reads, lists, rates and waives the token usage of the current tenant. */
export class TokenUsages extends Context.Service<
  TokenUsages,
  {
    /**
     * Charges the tokens of a call that was made, by the version of the rate card that is in force. What is beyond the
     * available credits becomes debt, because the work is done. Without a price, it is recorded as `unrated` and nothing is
     * charged.
     *
     * With an `idempotencyKey`, the same again charges nothing and gives the token usage as it is now, whatever a card says
     * by then. Other content fails with `CreditKeyConflict`.
     */
    readonly create: (
      input: CreateTokenUsage,
    ) => Effect.Effect<
      TokenUsage,
      InvalidInput | CustomerNotFound | RateCardNotFound | CreditKeyConflict | CreditFailure,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<TokenUsage, TokenUsageNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListTokenUsages,
    ) => Effect.Effect<Page<TokenUsage>, InvalidInput | StorageError, CurrentTenant>

    /**
     * Rates what is `unrated` by the version of the card that is in force now, and charges it: what is beyond the available
     * credits becomes debt. What is rated already stays as it is, so of any number of callers one charges it. What still has
     * no price, or was waived, or is of an erased customer: `ActionUnavailable`.
     */
    readonly rate: (
      id: string,
    ) => Effect.Effect<
      TokenUsage,
      ActionUnavailable | InvalidInput | RateCardNotFound | TokenUsageNotFound | CreditFailure,
      CurrentTenant
    >

    /**
     * Says that what is `unrated` is not charged, who decided it and why. The same again changes nothing. What is rated, or
     * was waived with other words: `ActionUnavailable`.
     */
    readonly waive: (
      id: string,
      input: WaiveTokenUsage,
    ) => Effect.Effect<
      TokenUsage,
      ActionUnavailable | InvalidInput | TokenUsageNotFound | CreditFailure,
      CurrentTenant
    >
  }
>()("@billwright/core/credits/TokenUsages") {
  static readonly layer = Layer.effect(
    TokenUsages,
    Effect.gen(function* () {
      const { holdCustomer, ids, port, within, write } = yield* makeCreditBook
      const { byKey, price, record, store } = yield* makeTokenBook

      /** Charges what tokens cost to an account that is locked. Nothing is charged for 0. */
      const charge = Effect.fnUntraced(function* (
        { customerId, unit }: AccountKey,
        { ledger, now }: Locked,
        { amount }: Pick<Price, "amount">,
        purpose: string | null,
      ) {
        if (amount === null || amount === 0n) return null
        const id = ConsumptionId.make(yield* ids.next(CONSUMPTION_ID_PREFIX))
        const key = { customerId, unit }
        const consumption = { ...key, id, amount, purpose, idempotencyKey: null, createdAt: now }
        const charged = chargeCredits(ledger, { amount, purpose, consumptionId: id }, now)
        yield* write(key, ledger, charged, { consumption })
        return id
      })

      /** Locks the account that is charged, so that callers at once take their turns. */
      const lock = Effect.fnUntraced(function* ({ customerId, unit }: AccountKey) {
        const now = yield* Clock.currentTimeMillis
        const ledger = yield* (yield* port).lock({ customerId, unit }, now, "open")
        return { ledger, now }
      })

      /** What was recorded with the key before. The customer is held, so that callers with a key at once take their turns. */
      const earlierOf = Effect.fnUntraced(function* (input: CreateTokenUsage) {
        const { idempotencyKey = null } = input
        if (idempotencyKey === null) return undefined
        return yield* sameAs(yield* byKey(input, idempotencyKey), (earlier) => isSameUse(earlier, input))
      })

      const add = Effect.fnUntraced(function* (input: CreateTokenUsage) {
        const { customerId, idempotencyKey = null } = input
        // The customer comes before the account, as for everybody.
        yield* holdCustomer(input)
        // Before the card is asked: it may have changed since, and a call is charged by what it said first.
        const earlier = yield* earlierOf(input)
        if (earlier !== undefined) return earlier
        const cost = yield* price(input)
        const key = { customerId, unit: cost.unit }
        const locked = yield* lock(key)
        const consumptionId = yield* charge(key, locked, cost, null)
        return yield* record(input, cost, { customerId, consumptionId, holdId: null, idempotencyKey })
      })

      const create = Effect.fn("TokenUsages.create")(function* (input: CreateTokenUsage) {
        const decoded = yield* decodeCreate(input)
        return yield* within(decoded, add(decoded))
      })

      const get = Effect.fn("TokenUsages.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const list = Effect.fn("TokenUsages.list")(function* (query: ListTokenUsages = {}) {
        const request = yield* decodeList(query)
        return yield* store.list(filterOf(request), yield* toQuery(request)).pipe(nameCursor(request))
      })

      /** The price of what is unrated by now. */
      const priceNow = Effect.fnUntraced(function* (usage: TokenUsage) {
        if (usage.status === "waived") return yield* unavailable(usage, "rate", "it is waived")
        const cost = yield* price(usage)
        const reference = `${usage.rateCard}@${cost.version}`
        if (cost.unit !== usage.unit) {
          return yield* unavailable(usage, "rate", `${reference} is in ${cost.unit}, not in ${usage.unit}`)
        }
        if (cost.status === "rated") return cost
        return yield* unavailable(usage, "rate", `${reference} has no price for it`)
      })

      /** What the hold was for that tokens were used of. */
      const purposeOf = Effect.fnUntraced(function* ({ holdId }: TokenUsage) {
        if (holdId === null) return null
        const hold = yield* (yield* port).findHold(holdId)
        return Option.getOrUndefined(hold)?.purpose ?? null
      })

      const rateNow = Effect.fnUntraced(function* ({ customerId, id, unit }: TokenUsage) {
        const key = { customerId, unit }
        const locked = yield* lock(key)
        // The row stays locked, so that nobody waives it meanwhile.
        const rated = yield* store.modify(id, (usage) =>
          Effect.gen(function* () {
            if (usage.status === "rated") return usage
            const cost = yield* priceNow(usage)
            const consumptionId = yield* charge(key, locked, cost, yield* purposeOf(usage))
            return { ...usage, ...cost, consumptionId, settledAt: yield* DateTime.now }
          }),
        )
        return yield* orNotFound(rated, id)
      })

      const rate = Effect.fn("TokenUsages.rate")(function* (id: string) {
        const found = yield* get(id)
        if (found.status === "rated") return found
        const held = Effect.catchTag(holdCustomer(found), "CustomerNotFound", () =>
          unavailable(found, "rate", "the customer is erased"),
        )
        return yield* within(found, Effect.andThen(held, rateNow(found)))
      })

      const waive = Effect.fn("TokenUsages.waive")(function* (id: string, input: WaiveTokenUsage) {
        const { by, reason } = yield* decodeWaive(input)
        const found = yield* get(id)
        const waived = Effect.gen(function* () {
          const settledAt = yield* DateTime.now
          return yield* store.modify(found.id, (usage) => {
            if (usage.status === "rated") return unavailable(usage, "waive", "it is rated")
            if (usage.status === "unrated") {
              return Effect.succeed({
                ...usage,
                status: "waived" as const,
                waivedBy: by,
                waiveReason: reason,
                settledAt,
              })
            }
            const isSame = usage.waivedBy === by && usage.waiveReason === reason
            return isSame
              ? Effect.succeed(usage)
              : unavailable(usage, "waive", `${usage.waivedBy} has waived it`)
          })
        })
        return yield* orNotFound(yield* within(found, waived), id)
      })

      return TokenUsages.of({ create, get, list, rate, waive })
    }),
  )
}

const unavailable = (
  { id }: TokenUsage,
  action: string,
  problem: string,
): Effect.Effect<never, ActionUnavailable> =>
  Effect.fail(
    new ActionUnavailable({ object: "token usage", id, problem: `${action} is not possible: ${problem}` }),
  )
