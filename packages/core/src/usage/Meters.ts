/**
 * The use cases of meters.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { needOf } from "../catalog/MeterUse.ts"
import { PlanStore } from "../catalog/PlanStore.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import {
  CreateMeter,
  ListMeters,
  MAX_METERS,
  MAX_METERS_PER_PRODUCT_AND_UNIT,
  type Meter,
  METER_ID_PREFIX,
  MeterId,
  type MeterNotFound,
  meters,
  TooManyMeters,
  TooManyMetersOfProduct,
  UpdateMeter,
} from "./Meter.ts"
import * as Rollup from "./Rollup.ts"
import * as RollupWork from "./RollupWork.ts"
import { UsageStore } from "./UsageStore.ts"

const decodeCreate = decoder(CreateMeter)
const decodeUpdate = decoder(UpdateMeter)
const decodeList = decoder(ListMeters)
const { knownId, orNotFound } = ById.of(meters)

/** The most batches that `create`, `update` and `archive` work before they leave the rest to `MeterRebuilds`. */
const OWN_BATCHES = 3

export interface RebuildOptions {
  /** The most batches to work. Default: as many as there are. */
  readonly batches?: number
  /** Gets the meter after each batch. */
  readonly onProgress?: (meter: Meter) => Effect.Effect<void>
}

/**
 * Creates, reads, lists, changes and archives the meters of the current tenant.
 *
 * A definition that needs a roll-up of its own is built in batches: by the call that asks for it, then by `MeterRebuilds`
 * or `rebuild`. Within a transaction, the call itself builds nothing. Until it is whole, the old definition answers.
 */
export class Meters extends Context.Service<
  Meters,
  {
    /** Creates a meter. `InvalidInput` on `key` if a meter has the key or had it before it was archived. */
    readonly create: (
      input: CreateMeter,
    ) => Effect.Effect<
      Meter,
      InvalidInput | TooManyMeters | TooManyMetersOfProduct | StorageError,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<Meter, MeterNotFound | StorageError, CurrentTenant>

    /**
     * Changes a meter. Fields left out stay as they are, except that another aggregation than `unique_count` also ends
     * `counted`. A change of the definition replaces one that is being built. The definition of an archived meter can't
     * be changed.
     */
    readonly update: (
      id: string,
      input: UpdateMeter,
    ) => Effect.Effect<Meter, InvalidInput | MeterNotFound | StorageError, CurrentTenant>

    /**
     * Ends a meter for good. It can no longer be queried. `ActionUnavailable` if a version of a plan names it: subscriptions may
     * be billed by it. Archiving it again changes nothing.
     */
    readonly archive: (
      id: string,
    ) => Effect.Effect<void, ActionUnavailable | MeterNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListMeters,
    ) => Effect.Effect<Page<Meter>, InvalidInput | StorageError, CurrentTenant>

    /**
     * Does the work that is left on the roll-ups of a meter, to its end or for some batches. Not within a transaction:
     * that would hold the locks of all batches.
     */
    readonly rebuild: (
      id: string,
      options?: RebuildOptions,
    ) => Effect.Effect<Meter, MeterNotFound | StorageError, CurrentTenant>
  }
>()("@billwright/core/usage/Meters") {
  static readonly layer = Layer.effect(
    Meters,
    Effect.gen(function* () {
      const store = (yield* Collections).of(meters)
      const step = RollupWork.make(yield* UsageStore, store)
      const transactor = yield* Transactor
      const ids = yield* IdGenerator
      const plans = Option.getOrUndefined(yield* Effect.serviceOption(PlanStore))

      /** Works on a meter's roll-ups until nothing is left, or for some batches. */
      const work = Effect.fnUntraced(function* (
        meter: Meter,
        batches: number,
        onProgress: (meter: Meter) => Effect.Effect<void>,
      ) {
        let current = meter
        for (let batch = 1; batch <= batches && Rollup.isUnfinished(current); batch++) {
          current = Option.getOrElse(yield* step(current.id), () => current)
          yield* onProgress(current)
        }
        return current
      })

      /** The change is stored already. So if the storage fails now, the call has not: others go on with the work. */
      const begin = (meter: Meter) =>
        Effect.suspend(() => {
          let built = meter
          const note = (current: Meter) => Effect.sync(() => void (built = current))
          return work(meter, OWN_BATCHES, note).pipe(
            Effect.catchTag("StorageError", (error) =>
              Effect.as(Effect.logWarning("a meter is built later", meter.id, error), built),
            ),
          )
        })

      const workOutside = (meter: Meter) =>
        Effect.flatMap(transactor.inTransaction, (isInside) =>
          isInside ? Effect.succeed(meter) : begin(meter),
        )

      /** The meters that a product and unit have with this status, up to one more than the limit. */
      const countWith = ({ productId, unit }: Meter, status: Meter["status"]) =>
        store
          .list(
            { productId, unit, status },
            { limit: MAX_METERS_PER_PRODUCT_AND_UNIT + 1, cursor: undefined },
          )
          .pipe(
            Effect.catchTag("CursorNotFound", Effect.die),
            Effect.map(({ data }) => data.length),
          )

      /** An insertion makes other insertions of the tenant wait, so the limits can't be exceeded meanwhile. */
      const insert = Effect.fnUntraced(function* (meter: Meter) {
        if (!(yield* store.insert(meter))) {
          const problem = `must be another one: "${meter.key}" is the key of another meter, which may be archived`
          return yield* new InvalidInput({ field: "key", problem })
        }
        const { hasMore } = yield* store
          .list({}, { limit: MAX_METERS, cursor: undefined })
          .pipe(Effect.catchTag("CursorNotFound", Effect.die))
        if (hasMore) return yield* new TooManyMeters()
        const count = (yield* countWith(meter, "ready")) + (yield* countWith(meter, "building"))
        if (count > MAX_METERS_PER_PRODUCT_AND_UNIT) return yield* new TooManyMetersOfProduct()
      })

      const create = Effect.fn("Meters.create")(function* (input: CreateMeter) {
        const fields = yield* decodeCreate(input)
        const now = yield* DateTime.now
        const meter = Rollup.begun({
          id: MeterId.make(yield* ids.next(METER_ID_PREFIX)),
          name: null,
          aggregation: "sum",
          dimensions: [],
          counted: null,
          ...fields,
          status: "building",
          generation: 1,
          rebuild: null,
          archivedAt: null,
          createdAt: now,
          updatedAt: now,
        })
        yield* checkDefinition(meter)
        yield* transactor.atomically(insert(meter))
        return yield* workOutside(meter)
      })

      const get = Effect.fn("Meters.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const update = Effect.fn("Meters.update")(function* (id: string, input: UpdateMeter) {
        const change = yield* decodeUpdate(input)
        const now = yield* DateTime.now
        const changed = yield* store.modify(yield* knownId(id), (meter) => apply(meter, change, now))
        return yield* workOutside(yield* orNotFound(changed, id))
      })

      const archive = Effect.fn("Meters.archive")(function* (id: string) {
        const now = yield* DateTime.now
        const known = yield* knownId(id)
        const archived = yield* transactor.atomically(
          Effect.gen(function* () {
            const { key, status } = yield* orNotFound(yield* store.find(known), id)
            const need = status === "archived" || plans === undefined ? undefined : yield* needOf(plans, key)
            if (need !== undefined) {
              const problem = `archiving is not possible: ${need}`
              return yield* new ActionUnavailable({ object: "meter", id, problem })
            }
            const changed = yield* store.modify(known, (meter) => Effect.succeed(Rollup.archived(meter, now)))
            return yield* orNotFound(changed, id)
          }),
        )
        yield* workOutside(archived)
      })

      const list = Effect.fn("Meters.list")(function* (query: ListMeters = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        return yield* store.list(filterOf(request), page).pipe(nameCursor(request))
      })

      const rebuild = Effect.fn("Meters.rebuild")(function* (
        id: string,
        { batches = Number.POSITIVE_INFINITY, onProgress = () => Effect.void }: RebuildOptions = {},
      ) {
        return yield* work(yield* get(id), batches, onProgress)
      })

      return Meters.of({ create, get, update, archive, list, rebuild })
    }),
  )
}

/** Checks the rules between the fields of a definition. */
const checkDefinition = ({
  aggregation,
  counted,
  dimensions,
}: Rollup.Definition): Effect.Effect<void, InvalidInput> => {
  const invalid = (problem: string) => Effect.fail(new InvalidInput({ field: "counted", problem }))
  if (aggregation !== "unique_count") {
    return counted === null
      ? Effect.void
      : invalid("must be null: only unique_count counts the values of a dimension")
  }
  if (counted === null) return invalid("is required with unique_count")
  return dimensions.includes(counted) ? Effect.void : invalid("must be one of the meter's dimensions")
}

/** The fields of an update that are about the definition. */
const DEFINITION = ["aggregation", "dimensions", "counted"] as const

const apply = Effect.fnUntraced(function* (meter: Meter, change: UpdateMeter, now: DateTime.Utc) {
  const name = change.name === undefined ? meter.name : change.name
  const field = DEFINITION.find((one) => change[one] !== undefined)
  const renamed = name === meter.name ? meter : { ...meter, name, updatedAt: now }
  if (field === undefined) return renamed
  if (meter.status === "archived") {
    return yield* new InvalidInput({ field, problem: "can't be changed: the meter is archived" })
  }
  // The definition that was asked for last, also when it is not ready yet.
  const wanted = Rollup.building(meter) ?? meter
  const aggregation = change.aggregation ?? wanted.aggregation
  const kept = aggregation === "unique_count" ? wanted.counted : null
  const definition = {
    aggregation,
    dimensions: change.dimensions ?? wanted.dimensions,
    counted: change.counted === undefined ? kept : change.counted,
  }
  yield* checkDefinition(definition)
  const redefined = Rollup.redefined(renamed, definition)
  return redefined === renamed ? renamed : { ...redefined, updatedAt: now }
})
