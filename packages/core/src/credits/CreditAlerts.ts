/**
 * The use cases of credit alerts. Changes of credits fire them (`CreditBook`).
 */
import { Clock, Context, DateTime, Effect, Layer } from "effect"
import type { CustomerNotFound } from "../customers/Customer.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import {
  CreateCreditAlert,
  CREDIT_ALERT_ID_PREFIX,
  type CreditAlert,
  CreditAlertId,
  CreditAlertNotFound,
  creditAlerts,
  ListCreditAlerts,
  TooManyCreditAlerts,
  UpdateCreditAlert,
} from "./CreditAlert.ts"
import { type CreditFailure, makeCreditBook } from "./CreditBook.ts"
import { makeCreditLevels } from "./CreditLevels.ts"

const decodeCreate = decoder(CreateCreditAlert)
const decodeUpdate = decoder(UpdateCreditAlert)
const decodeList = decoder(ListCreditAlerts)
const { knownId, orNotFound } = ById.of(creditAlerts)

/** Creates, reads, changes, lists and deletes the credit alerts of the current tenant. */
export class CreditAlerts extends Context.Service<
  CreditAlerts,
  {
    /** Creates an alert. It fires at once if less than its level is available. */
    readonly create: (
      input: CreateCreditAlert,
    ) => Effect.Effect<
      CreditAlert,
      InvalidInput | CustomerNotFound | TooManyCreditAlerts | CreditFailure,
      CurrentTenant
    >

    readonly get: (
      id: string,
    ) => Effect.Effect<CreditAlert, CreditAlertNotFound | StorageError, CurrentTenant>

    /** Changes the level. It fires at once if less than the new one is available, and not less than the one before. */
    readonly update: (
      id: string,
      input: UpdateCreditAlert,
    ) => Effect.Effect<CreditAlert, InvalidInput | CreditAlertNotFound | CreditFailure, CurrentTenant>

    /** Deletes an alert, so that it does not fire again. Its events stay. */
    readonly delete: (id: string) => Effect.Effect<void, CreditAlertNotFound | CreditFailure, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListCreditAlerts,
    ) => Effect.Effect<Page<CreditAlert>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/credits/CreditAlerts") {
  static readonly layer = Layer.effect(
    CreditAlerts,
    Effect.gen(function* () {
      const store = (yield* Collections).of(creditAlerts)
      const { holdCustomer, ids, port, settled, within } = yield* makeCreditBook
      const levels = yield* makeCreditLevels

      const add = Effect.fnUntraced(function* (input: CreateCreditAlert) {
        const { customerId, level, unit } = input
        const key = { customerId, unit }
        // It makes other insertions for this customer wait, so the limit can't be exceeded meanwhile.
        yield* holdCustomer(key)
        const credits = yield* port
        const now = yield* DateTime.now
        // Whoever changes the account waits for this, and then knows of the level.
        const account = yield* settled(key, now.epochMilliseconds)
        const id = CreditAlertId.make(yield* ids.next(CREDIT_ALERT_ID_PREFIX))
        const alert: CreditAlert = { id, customerId, unit, level, createdAt: now, updatedAt: now }
        yield* store.insert(alert)
        if ((yield* levels.ofCustomer(customerId)).hasMore) return yield* new TooManyCreditAlerts()
        yield* levels.copy(credits, key)
        yield* levels.fireNew(alert, undefined, account)
        return alert
      })

      const create = Effect.fn("CreditAlerts.create")(function* (input: CreateCreditAlert) {
        const decoded = yield* decodeCreate(input)
        return yield* within(decoded, add(decoded))
      })

      const get = Effect.fn("CreditAlerts.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const change = Effect.fnUntraced(function* (found: CreditAlert, level: bigint) {
        const credits = yield* port
        // What has fallen by the clock has fallen below the level before.
        const account = yield* settled(found, yield* Clock.currentTimeMillis)
        const updatedAt = yield* DateTime.now
        let before = found.level
        const after = yield* store.modify(found.id, (alert) =>
          Effect.sync(() => {
            before = alert.level
            return alert.level === level ? alert : { ...alert, level, updatedAt }
          }),
        )
        const alert = yield* orNotFound(after, found.id)
        if (before === level) return alert
        yield* levels.copy(credits, found)
        yield* levels.fireNew(alert, before, account)
        return alert
      })

      const update = Effect.fn("CreditAlerts.update")(function* (id: string, input: UpdateCreditAlert) {
        const { level } = yield* decodeUpdate(input)
        const found = yield* get(id)
        return level === undefined ? found : yield* within(found, change(found, level))
      })

      const remove = Effect.fn("CreditAlerts.delete")(function* (id: string) {
        const found = yield* get(id)
        const credits = yield* port
        const removed = Effect.gen(function* () {
          yield* credits.lock(found, yield* Clock.currentTimeMillis, "open")
          if (!(yield* store.remove(found.id))) return yield* new CreditAlertNotFound({ id })
          yield* levels.copy(credits, found)
        })
        yield* within(found, removed)
      })

      const list = Effect.fn("CreditAlerts.list")(function* (query: ListCreditAlerts = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        return yield* store.list(filterOf(request), page).pipe(nameCursor(request))
      })

      return CreditAlerts.of({ create, get, update, delete: remove, list })
    }),
  )
}
