/**
 * The use cases of usage thresholds. Firing happens where usage is appended (`UsageStore.append`).
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { CustomerNotFound } from "../customers/Customer.ts"
import { CustomerStore } from "../customers/CustomerStore.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import {
  CreateThreshold,
  ListThresholds,
  type Threshold,
  THRESHOLD_ID_PREFIX,
  ThresholdId,
  ThresholdNotFound,
  TooManyThresholds,
} from "./Threshold.ts"
import { UsageStore } from "./UsageStore.ts"

const decodeCreate = decoder(CreateThreshold)
const decodeList = decoder(ListThresholds)
const isThresholdId = Schema.is(ThresholdId)

/** Creates, reads, lists and deletes the usage thresholds of the current tenant. */
export class Thresholds extends Context.Service<
  Thresholds,
  {
    /** For a customer that is not erased; at most 100 for a customer, product and unit. */
    readonly create: (
      input: CreateThreshold,
    ) => Effect.Effect<
      Threshold,
      InvalidInput | CustomerNotFound | TooManyThresholds | StorageError,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<Threshold, ThresholdNotFound | StorageError, CurrentTenant>

    /** It won't fire again. Events of earlier firings stay. */
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
      const store = yield* UsageStore
      const customers = yield* CustomerStore
      const ids = yield* IdGenerator

      const create = Effect.fn("Thresholds.create")(function* (input: CreateThreshold) {
        const decoded = yield* decodeCreate(input)
        if ((yield* customers.status(decoded.customerId)) !== "active") {
          return yield* new CustomerNotFound({ id: decoded.customerId, field: "customerId" })
        }
        const id = ThresholdId.make(yield* ids.next(THRESHOLD_ID_PREFIX))
        const threshold: Threshold = { id, ...decoded, createdAt: yield* DateTime.now, lastFiredAt: null }
        if (!(yield* store.insertThreshold(threshold))) return yield* new TooManyThresholds()
        return threshold
      })

      const get = Effect.fn("Thresholds.get")(function* (id: string) {
        const found = yield* store.findThreshold(yield* knownId(id))
        return yield* Option.match(found, {
          onNone: () => Effect.fail(new ThresholdNotFound({ id })),
          onSome: Effect.succeed,
        })
      })

      const remove = Effect.fn("Thresholds.delete")(function* (id: string) {
        if (!(yield* store.deleteThreshold(yield* knownId(id)))) return yield* new ThresholdNotFound({ id })
      })

      const list = Effect.fn("Thresholds.list")(function* (query: ListThresholds = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        return yield* store.listThresholds({ customerId: request.customerId }, page).pipe(nameCursor(request))
      })

      return Thresholds.of({ create, get, delete: remove, list })
    }),
  )
}

const knownId = (id: string): Effect.Effect<ThresholdId, ThresholdNotFound> =>
  isThresholdId(id) ? Effect.succeed(id) : Effect.fail(new ThresholdNotFound({ id }))
