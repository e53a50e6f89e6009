/**
 * The use cases of automatic top-ups. A runner makes their top-ups (`TopUpRun`).
 */
import { Clock, Context, DateTime, Effect, Layer } from "effect"
import type { CustomerNotFound } from "../customers/Customer.ts"
import * as ById from "../shared/ById.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import {
  type AutoTopUp,
  AutoTopUpNotFound,
  autoTopUps,
  CreateAutoTopUp,
  ListAutoTopUps,
  TooManyAutoTopUps,
  TOP_UPS_A_DAY,
  UpdateAutoTopUp,
} from "./AutoTopUp.ts"
import { type CreditFailure, makeCreditBook } from "./CreditBook.ts"
import { makeCreditLevels } from "./CreditLevels.ts"
import { AUTO_TOP_UP_ID_PREFIX, AutoTopUpId, type Purchase, purchaseOf } from "./TopUp.ts"
import { makeTopUpBook } from "./TopUpBook.ts"
import { TopUpQueue } from "./TopUpQueue.ts"

const decodeCreate = decoder(CreateAutoTopUp)
const decodeUpdate = decoder(UpdateAutoTopUp)
const decodeList = decoder(ListAutoTopUps)
const { knownId, orNotFound } = ById.of(autoTopUps)

/** Creates, reads, changes, lists and deletes the automatic top-ups of the current tenant. */
export class AutoTopUps extends Context.Service<
  AutoTopUps,
  {
    /** Creates one, of which a customer has one for each unit. It buys at once if less than its level is available. */
    readonly create: (
      input: CreateAutoTopUp,
    ) => Effect.Effect<
      AutoTopUp,
      InvalidInput | CustomerNotFound | TooManyAutoTopUps | CreditFailure,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<AutoTopUp, AutoTopUpNotFound | StorageError, CurrentTenant>

    /** Changes its level, or how often it buys. One that is suspended works again, also if nothing is changed. */
    readonly update: (
      id: string,
      input: UpdateAutoTopUp,
    ) => Effect.Effect<AutoTopUp, InvalidInput | AutoTopUpNotFound | CreditFailure, CurrentTenant>

    /** Deletes one, so that it buys nothing more. Its top-ups stay. */
    readonly delete: (id: string) => Effect.Effect<void, AutoTopUpNotFound | CreditFailure, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListAutoTopUps,
    ) => Effect.Effect<Page<AutoTopUp>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/credits/AutoTopUps") {
  static readonly layer = Layer.effect(
    AutoTopUps,
    Effect.gen(function* () {
      const { autos, autosOf } = yield* makeTopUpBook
      const { holdCustomer, ids, port, within } = yield* makeCreditBook
      const levels = yield* makeCreditLevels
      const { lookAt } = yield* TopUpQueue

      /** Locks the account of an automatic top-up: whoever changes it waits, and then knows of the level. */
      const locked = Effect.fnUntraced(function* (key: Pick<AutoTopUp, "customerId" | "unit">) {
        const credits = yield* port
        yield* credits.lock(key, yield* Clock.currentTimeMillis, "open")
        return credits
      })

      const add = Effect.fnUntraced(function* (
        purchase: Purchase,
        { level, maxPerDay = TOP_UPS_A_DAY }: CreateAutoTopUp,
      ) {
        // It makes other insertions for this customer wait, so the limit can't be exceeded, and no erasure overlooks one.
        yield* holdCustomer(purchase)
        const credits = yield* locked(purchase)
        const { data } = yield* autosOf(purchase.customerId)
        if (data.some(({ unit }) => unit === purchase.unit)) {
          const problem = `must be one without an automatic top-up: the customer has one for ${purchase.unit}`
          return yield* new InvalidInput({ field: "unit", problem })
        }
        const now = yield* DateTime.now
        const id = AutoTopUpId.make(yield* ids.next(AUTO_TOP_UP_ID_PREFIX))
        const auto: AutoTopUp = {
          id,
          ...purchase,
          level,
          maxPerDay,
          suspendedAt: null,
          createdAt: now,
          updatedAt: now,
        }
        yield* autos.insert(auto)
        if ((yield* autosOf(purchase.customerId)).hasMore) return yield* new TooManyAutoTopUps()
        yield* levels.copy(credits, purchase)
        yield* lookAt(id, 0)
        return auto
      })

      const create = Effect.fn("AutoTopUps.create")(function* (input: CreateAutoTopUp) {
        const decoded = yield* decodeCreate(input)
        const purchase = yield* purchaseOf(decoded)
        return yield* within(purchase, add(purchase, decoded))
      })

      const get = Effect.fn("AutoTopUps.get")(function* (id: string) {
        return yield* orNotFound(yield* autos.find(yield* knownId(id)), id)
      })

      const update = Effect.fn("AutoTopUps.update")(function* (id: string, input: UpdateAutoTopUp) {
        const change = yield* decodeUpdate(input)
        const found = yield* get(id)
        const changed = Effect.gen(function* () {
          const credits = yield* locked(found)
          const updatedAt = yield* DateTime.now
          const after = yield* autos.modify(found.id, (auto) =>
            Effect.succeed({ ...auto, ...change, suspendedAt: null, updatedAt }),
          )
          const auto = yield* orNotFound(after, id)
          yield* levels.copy(credits, found)
          yield* lookAt(found.id, 0)
          return auto
        })
        return yield* within(found, changed)
      })

      const remove = Effect.fn("AutoTopUps.delete")(function* (id: string) {
        const found = yield* get(id)
        const removed = Effect.gen(function* () {
          const credits = yield* locked(found)
          if (!(yield* autos.remove(found.id))) return yield* new AutoTopUpNotFound({ id })
          yield* levels.copy(credits, found)
          yield* lookAt(found.id, null)
        })
        yield* within(found, removed)
      })

      const list = Effect.fn("AutoTopUps.list")(function* (query: ListAutoTopUps = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        return yield* autos.list(filterOf(request), page).pipe(nameCursor(request))
      })

      return AutoTopUps.of({ create, get, update, delete: remove, list })
    }),
  )
}
