/**
 * The use cases of holds.
 */
import {
  commitHold,
  type CreditChange,
  extendHold,
  holdAt,
  releaseHold,
  reserveCredits,
  type SettledHold,
} from "@billwright/engine"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import type { RateCardNotFound } from "../catalog/RateCard.ts"
import type { CustomerNotFound } from "../customers/Customer.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { traced } from "../shared/Operation.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { type CommitHold, commitOf, type CommittedHold } from "./CommitHold.ts"
import { type CreditKeyConflict, InsufficientCredits } from "./Credit.ts"
import { type CreditFailure, makeCreditBook, sameAs } from "./CreditBook.ts"
import type { StoredLedger } from "./CreditStore.ts"
import {
  DEFAULT_TTL_SECONDS,
  ExtendHold,
  type Hold,
  HOLD_ID_PREFIX,
  HoldId,
  HoldNotFound,
  ListHolds,
  MAX_OPEN_HOLDS,
  type Overdraft,
  ReserveCredits,
  type StoredHold,
  toHold,
  TooManyHolds,
} from "./Hold.ts"
import { makeTokenBook } from "./TokenBook.ts"
import { isSameUse, type Price, type UsedTokens } from "./TokenUsage.ts"

const decodeReserve = decoder(ReserveCredits)
const decodeExtend = decoder(ExtendHold)
const decodeList = decoder(ListHolds)
const { knownId, orNotFound } = ById.make(Schema.is(HoldId), (id) => new HoldNotFound({ id }))

type Changed = Effect.Effect<
  Hold,
  ActionUnavailable | HoldNotFound | InvalidInput | CreditFailure,
  CurrentTenant
>

type Committed = Effect.Effect<
  CommittedHold,
  ActionUnavailable | HoldNotFound | InsufficientCredits | InvalidInput | RateCardNotFound | CreditFailure,
  CurrentTenant
>

/** Holds credits of the current tenant while work is under way. */
export class Holds extends Context.Service<
  Holds,
  {
    /**
     * Holds credits: the whole amount, or nothing. Until the hold is committed or released, or lapses, nobody else can use
     * them. It lapses at its instant by itself.
     *
     * With an `idempotencyKey`, the same again gives the first hold as it is now. Other content fails with
     * `CreditKeyConflict`.
     */
    readonly reserve: (
      input: ReserveCredits,
    ) => Effect.Effect<
      Hold,
      | InvalidInput
      | CustomerNotFound
      | CreditKeyConflict
      | InsufficientCredits
      | TooManyHolds
      | CreditFailure,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<Hold, HoldNotFound | CreditFailure, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListHolds,
    ) => Effect.Effect<Page<Hold>, InvalidInput | CreditFailure, CurrentTenant>

    /** Moves the instant at which an open hold lapses: it counts from now. One that is not open: `ActionUnavailable`. */
    readonly extend: (id: string, input?: ExtendHold) => Changed

    /**
     * Says how much of a hold was used, and settles it. What is left over is given back. What is beyond it uses available
     * credits and then becomes debt, or fails with `InsufficientCredits` if `overdraft` is `refuse`.
     *
     * With tokens, they are priced by the version of the rate card that is in force, recorded as token usage and charged. What
     * the card has no price for settles the hold with 0, and is charged when it is rated (`TokenUsages.rate`). The card must be
     * in the unit of the hold.
     *
     * A hold that has lapsed is charged too, of what is available, and says so (`isLate`). Committing the same amount or the
     * same tokens again gives the hold, whatever a card says by then. Another amount, other tokens, or a hold that was
     * released: `ActionUnavailable`.
     */
    readonly commit: (id: string, input?: CommitHold) => Committed

    /** Gives a hold back. One that was given back or has lapsed stays as it is. A committed one: `ActionUnavailable`. */
    readonly release: (id: string) => Changed
  }
>()("@billwright/core/credits/Holds") {
  static readonly layer = Layer.effect(
    Holds,
    Effect.gen(function* () {
      const book = yield* makeCreditBook
      const tokens = yield* makeTokenBook
      const { ids, port, requireCustomer, within, write } = book

      const add = Effect.fnUntraced(function* (input: ReserveCredits) {
        const { amount, customerId, idempotencyKey = null, purpose = null, unit } = input
        const { ttlSeconds = DEFAULT_TTL_SECONDS } = input
        const store = yield* port
        const key = { customerId, unit }
        const now = yield* Clock.currentTimeMillis
        const ledger = yield* store.lock(key, now, "existing")
        if (idempotencyKey !== null) {
          const earlier = yield* store.holdByKey(key, idempotencyKey)
          const known = yield* sameAs(
            earlier,
            (value) =>
              value.amount === amount && value.ttlSeconds === ttlSeconds && value.purpose === purpose,
          )
          if (known !== undefined) return toHold(known, now)
        }
        if (ledger.account.openHolds - ledger.holds.length >= MAX_OPEN_HOLDS) return yield* new TooManyHolds()
        const id = HoldId.make(yield* ids.next(HOLD_ID_PREFIX))
        const expiresAt = now + ttlSeconds * 1_000
        const reserved = reserveCredits(ledger, { id, amount, purpose, expiresAt }, now)
        if (reserved.type === "insufficient") {
          // Of an erased customer nothing is left, so it comes here.
          yield* requireCustomer(key)
          return yield* new InsufficientCredits({ ...reserved, unit })
        }
        const open = { slices: [], status: "open", committed: null, isLate: false, settledAt: null } as const
        const terms = { amount, purpose, expiresAt, ttlSeconds, idempotencyKey }
        const hold: StoredHold = { id, ...key, ...terms, ...open, createdAt: now }
        yield* write(key, ledger, reserved.change, { hold })
        return toHold(hold, now)
      })

      const reserve = traced(
        "Holds.reserve",
        Effect.fnUntraced(function* (input: ReserveCredits) {
          const decoded = yield* decodeReserve(input)
          const { idempotencyKey = null, purpose = null, ttlSeconds = DEFAULT_TTL_SECONDS } = decoded
          const held = yield* book.hold({ ...decoded, idempotencyKey, purpose, ttlSeconds })
          return held ?? (yield* within(decoded, add(decoded)))
        }),
      )

      const find = Effect.fnUntraced(function* (id: string) {
        const store = yield* port
        return yield* orNotFound(yield* store.findHold(yield* knownId(id)), id)
      })

      /** A hold in the time of its customer. */
      const seen = (stored: StoredHold) =>
        within(
          stored,
          Effect.map(Clock.currentTimeMillis, (now) => toHold(stored, now)),
        )

      const get = Effect.fn("Holds.get")(function* (id: string) {
        return yield* seen(yield* find(id))
      })

      const list = Effect.fn("Holds.list")(function* (query: ListHolds = {}) {
        const store = yield* port
        const request = yield* decodeList(query)
        const { data, hasMore } = yield* store
          .listHolds(filterOf(request), yield* toQuery(request))
          .pipe(nameCursor(request))
        return { data: yield* Effect.forEach(data, seen), hasMore }
      })

      /** Settles a hold whose account is locked, or moves its end. */
      const settleLocked = Effect.fnUntraced(function* (
        { hold, ledger, now }: Locked,
        action: string,
        settled: SettledHold,
      ) {
        const { customerId, unit } = hold
        const key = { customerId, unit }
        switch (settled.type) {
          case "unchanged":
            return toHold(hold, now)
          case "settled":
            return yield* unavailable(hold, action, now)
          case "insufficient":
            return yield* new InsufficientCredits({ ...settled, unit })
          case "done":
            yield* write(key, ledger, settled.change, { hold })
            return toHold({ ...hold, ...changed(settled.change, hold) }, now)
        }
      })

      /** Runs an effect with a hold whose account is locked. */
      const locked = <A, E>(id: string, run: (found: Locked) => Effect.Effect<A, E, CurrentTenant>) =>
        Effect.gen(function* () {
          const store = yield* port
          const { customerId, unit } = yield* find(id)
          const key = { customerId, unit }
          return yield* within(
            key,
            Effect.gen(function* () {
              const now = yield* Clock.currentTimeMillis
              const ledger = yield* store.lock(key, now, "existing")
              return yield* run({ ledger, hold: yield* find(id), now })
            }),
          )
        })

      const change = (id: string, action: string, settle: (found: Locked) => SettledHold) =>
        locked(id, (found) => settleLocked(found, action, settle(found)))

      const extend = Effect.fn("Holds.extend")(function* (id: string, input: ExtendHold = {}) {
        const { ttlSeconds = DEFAULT_TTL_SECONDS } = yield* decodeExtend(input)
        return yield* change(id, "extend", ({ hold, ledger, now }) =>
          extendHold(ledger, hold, now + ttlSeconds * 1_000, now),
        ).pipe(Effect.catchTag("InsufficientCredits", Effect.die))
      })

      const commitAmount = Effect.fnUntraced(function* (
        id: string,
        asked: bigint | null,
        overdraft: typeof Overdraft.Type,
      ) {
        const settled = yield* book.settle(yield* knownId(id), "committed", asked)
        if (settled !== undefined) return settled
        return yield* change(id, "commit", ({ hold, ledger, now }) =>
          commitHold(ledger, hold, { amount: asked ?? hold.amount, overdraft }, now),
        )
      })

      /** Commits a hold with tokens. What has no price settles it with 0. */
      const commitTokens = (id: string, used: UsedTokens, overdraft: typeof Overdraft.Type) =>
        locked(id, (found) =>
          Effect.gen(function* () {
            const { hold, ledger, now } = found
            const earlier = hold.status === "committed" ? yield* tokens.ofHold(hold) : Option.none()
            if (Option.isSome(earlier) && isSameUse(earlier.value, used)) {
              return { ...toHold(hold, now), tokenUsage: earlier.value }
            }
            if (hold.status === "committed") return yield* unavailable(hold, "commit", now)
            const price = yield* tokens.price(used)
            yield* checkUnit(hold, used, price)
            const amount = price.amount ?? 0n
            const settled = commitHold(ledger, hold, { amount, overdraft }, now)
            const committed = yield* settleLocked(found, "commit", settled)
            const of = {
              customerId: hold.customerId,
              holdId: hold.id,
              consumptionId: null,
              idempotencyKey: null,
            }
            return { ...committed, tokenUsage: yield* tokens.record(used, price, of) }
          }),
        )

      const commit = traced(
        "Holds.commit",
        Effect.fnUntraced(function* (id: string, input: CommitHold = {}) {
          const { overdraft, used } = yield* commitOf(input)
          if (used.tokens !== null) return yield* commitTokens(id, used.tokens, overdraft)
          return { ...(yield* commitAmount(id, used.amount, overdraft)), tokenUsage: null }
        }),
      )

      const release = traced(
        "Holds.release",
        Effect.fnUntraced(function* (id: string) {
          const settled = yield* book.settle(yield* knownId(id), "released", null)
          if (settled !== undefined) return settled
          return yield* change(id, "release", ({ hold, ledger, now }) => releaseHold(ledger, hold, now)).pipe(
            Effect.catchTag("InsufficientCredits", Effect.die),
          )
        }),
      )

      return Holds.of({ reserve, get, list, extend, commit, release })
    }),
  )
}

/** A hold whose account is locked. */
interface Locked {
  readonly ledger: StoredLedger
  readonly hold: StoredHold
  readonly now: number
}

/** Refuses tokens whose price is in another unit than the hold. */
const checkUnit = (hold: StoredHold, { rateCard }: UsedTokens, { unit }: Price) =>
  unit === hold.unit
    ? Effect.void
    : Effect.fail(
        new InvalidInput({
          field: "rateCard",
          problem: `must be a rate card in ${hold.unit}, the unit of the hold: ${rateCard} is in ${unit}`,
        }),
      )

/** What has changed of a hold. */
const changed = ({ holds }: CreditChange, { id }: StoredHold): Partial<StoredHold> => {
  const found = holds.find((one) => one.id === id)
  return found === undefined ? {} : { ...found, id }
}

const unavailable = (hold: StoredHold, action: string, now: number) => {
  const { committed, status } = holdAt(hold, now)
  const state = status === "committed" ? `it is committed with an amount of ${committed}` : `it is ${status}`
  const problem = `${action} is not possible: ${state}`
  return Effect.fail(new ActionUnavailable({ object: "hold", id: hold.id, problem }))
}
