/**
 * The use cases of usage thresholds. Thresholds fire when usage is appended (`UsageStore.append`).
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { CustomerNotFound, customers } from "../customers/Customer.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import * as Resource from "../shared/Resource.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import {
  CreateThreshold,
  ListThresholds,
  MAX_THRESHOLDS_PER_METER,
  type Threshold,
  THRESHOLD_ID_PREFIX,
  ThresholdId,
  ThresholdNotFound,
  thresholds,
  TooManyThresholds,
} from "./Threshold.ts"

const decodeCreate = decoder(CreateThreshold)
const decodeList = decoder(ListThresholds)
const { knownId, orNotFound } = ById.of(thresholds)

/** Creates, reads, lists and deletes the usage thresholds of the current tenant. */
export class Thresholds extends Context.Service<
  Thresholds,
  {
    /** Creates a threshold. The customer must not be erased. A customer, product and unit can have 100 thresholds. */
    readonly create: (
      input: CreateThreshold,
    ) => Effect.Effect<
      Threshold,
      InvalidInput | CustomerNotFound | TooManyThresholds | StorageError,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<Threshold, ThresholdNotFound | StorageError, CurrentTenant>

    /** Deletes a threshold, so that it does not fire again. Events of earlier firings stay. */
    readonly delete: (id: string) => Effect.Effect<void, ThresholdNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListThresholds,
    ) => Effect.Effect<Page<Threshold>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/usage/Thresholds") {
  static readonly layer = Layer.effect(
    Thresholds,
    Effect.gen(function* () {
      const collections = yield* Collections
      const store = collections.of(thresholds)
      const owners = collections.of(customers)
      const transactor = yield* Transactor
      const ids = yield* IdGenerator

      const create = Effect.fn("Thresholds.create")(function* (input: CreateThreshold) {
        const decoded = yield* decodeCreate(input)
        if ((yield* owners.status(decoded.customerId)) !== "active") {
          return yield* new CustomerNotFound({ id: decoded.customerId, field: "customerId" })
        }
        const id = ThresholdId.make(yield* ids.next(THRESHOLD_ID_PREFIX))
        const createdAt = yield* DateTime.now
        const threshold: Threshold = { id, ...decoded, ...Resource.unset(thresholds), createdAt }
        yield* transactor.atomically(
          Effect.gen(function* () {
            yield* store.insert(threshold)
            // The insertion makes other insertions for this customer wait, so the limit can't be exceeded meanwhile.
            const { customerId, productId, unit } = threshold
            const ofMeter = { limit: MAX_THRESHOLDS_PER_METER, cursor: undefined }
            const { hasMore } = yield* store
              .list({ customerId, productId, unit }, ofMeter)
              .pipe(Effect.catchTag("CursorNotFound", Effect.die))
            if (hasMore) return yield* new TooManyThresholds()
          }),
        )
        return threshold
      })

      const get = Effect.fn("Thresholds.get")(function* (id: string) {
        const found = yield* store.find(yield* knownId(id))
        return yield* orNotFound(found, id)
      })

      const remove = Effect.fn("Thresholds.delete")(function* (id: string) {
        if (!(yield* store.remove(yield* knownId(id)))) return yield* new ThresholdNotFound({ id })
      })

      const list = Effect.fn("Thresholds.list")(function* (query: ListThresholds = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        return yield* store.list(filterOf(request), page).pipe(nameCursor(request))
      })

      return Thresholds.of({ create, get, delete: remove, list })
    }),
  )
}
