/**
 * Reads the values of meters: what queries with a `meter` answer.
 */
import { Effect } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { CollectionOf } from "../shared/Collections.ts"
import { fieldPath, InvalidInput } from "../shared/InvalidInput.ts"
import { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { meters } from "./Meter.ts"
import type { GroupByInput, WhereInput } from "./MeterFields.ts"
import * as Rollup from "./Rollup.ts"
import type { Period } from "./UsagePeriod.ts"
import type { RollupTotal, UsageStore } from "./UsageStore.ts"

/** How often a meter is read again when its definition changes while it is queried. */
const MAX_READS = 5

/** The part of a query that is about a meter. */
export interface MeterInput {
  readonly meter?: string | undefined
  readonly where?: WhereInput | undefined
  readonly groupBy?: GroupByInput | undefined
  readonly productId?: string | undefined
  readonly unit?: string | undefined
}

/** The values of a meter, by windows and groups. */
export interface MeterValues {
  readonly rollup: Rollup.Rollup
  readonly groupBy: ReadonlyArray<string>
  readonly totals: ReadonlyArray<RollupTotal>
  /** The values of all groups together, by windows. */
  readonly whole: ReadonlyArray<RollupTotal>
}

/** What the windows of a query must have, and how many groups there may be. */
export interface Asked {
  readonly customerId: CustomerId
  readonly boundaries: ReadonlyArray<number | undefined>
  readonly mostGroups: number
  readonly tooManyGroups: string
}

const invalid = (field: string, problem: string) => Effect.fail(new InvalidInput({ field, problem }))

/** Refuses what has no meaning without a meter. `ungrouped` is a `groupBy` that has one. */
export const refuseWithoutMeter = (
  { groupBy, where }: MeterInput,
  ungrouped?: string,
): Effect.Effect<void, InvalidInput> => {
  if (where !== undefined) return invalid("where", "needs a meter: it filters by the dimensions of a meter")
  if (groupBy === undefined || groupBy === ungrouped) return Effect.void
  const other = ungrouped === undefined ? "" : `, or must be ${ungrouped}`
  return invalid("groupBy", `needs a meter: it groups by the dimensions of a meter${other}`)
}

/** Refuses what the meter already says. */
const refuseRepeated = ({ productId, unit }: MeterInput): Effect.Effect<void, InvalidInput> => {
  const field = productId !== undefined ? "productId" : unit !== undefined ? "unit" : undefined
  return field === undefined
    ? Effect.void
    : invalid(field, "must not be given with a meter, which is of one product and unit")
}

const declaredBy = ({ dimensions, meterKey }: Rollup.Rollup): string =>
  dimensions.length === 0
    ? `is not a dimension of the meter ${meterKey}, which declares none`
    : `is not a dimension of the meter ${meterKey}, which declares ${dimensions.join(", ")}`

const checkWhere = (
  rollup: Rollup.Rollup,
  where: WhereInput = {},
): Effect.Effect<Rollup.Where, InvalidInput> => {
  const unknown = Object.keys(where).find((name) => !rollup.dimensions.includes(name))
  return unknown === undefined
    ? Effect.succeed(Object.entries(where))
    : invalid(fieldPath(["where", unknown]), declaredBy(rollup))
}

const checkGroupBy = (
  rollup: Rollup.Rollup,
  groupBy: GroupByInput = [],
): Effect.Effect<ReadonlyArray<string>, InvalidInput> => {
  const names = typeof groupBy === "string" ? [groupBy] : groupBy
  const unknown = names.findIndex((name) => !rollup.dimensions.includes(name))
  if (unknown === -1) return Effect.succeed(names)
  const field = typeof groupBy === "string" ? "groupBy" : fieldPath(["groupBy", unknown])
  return invalid(field, declaredBy(rollup))
}

/**
 * What the value of a period is divided by: its length in milliseconds for `time_weighted`, otherwise 1. The value of a period
 * of no length is 0, and so is the quotient.
 */
export const denominatorOf = ({ aggregation }: Rollup.Rollup, { end, start }: Period): bigint =>
  aggregation === "time_weighted" && start !== undefined && end !== undefined && end > start
    ? BigInt(end - start)
    : 1n

/** The dimensions of a group by their names. */
export const namesOf = (
  groupBy: ReadonlyArray<string>,
  group: Rollup.Combination,
): Readonly<Record<string, string | null>> =>
  Object.fromEntries(groupBy.map((name, index) => [name, group[index] ?? null]))

/** The different groups of totals, in the order of their values. */
export const groupsOf = (totals: ReadonlyArray<RollupTotal>): ReadonlyArray<Rollup.Combination> => {
  const groups = new Map(totals.map(({ group }) => [JSON.stringify(group), group]))
  return [...groups.values()].sort(Rollup.compareCombinations)
}

type Meters = CollectionOf<typeof meters>

export const make = (store: UsageStore["Service"], meters: Meters) => {
  /** The roll-up that answers for a key. */
  const answering = Effect.fnUntraced(function* (key: string) {
    const { data } = yield* meters
      .list({ key }, { limit: 1, cursor: undefined })
      .pipe(Effect.catchTag("CursorNotFound", Effect.die))
    const meter = data[0]
    if (meter === undefined) return yield* invalid("meter", "is not the key of a meter")
    const rollup = Rollup.answering(meter)
    if (rollup !== undefined) return rollup
    if (meter.status === "archived") return yield* invalid("meter", "is archived")
    const { done = 0, problem = null, total = 0 } = meter.rebuild ?? {}
    return yield* invalid(
      "meter",
      problem === null ? `is being built: ${done} of ${total} days` : `can't be built: ${problem}`,
    )
  })

  /** What is filtered by, for the list of records. */
  const filter = Effect.fnUntraced(function* (key: string, input: MeterInput) {
    yield* refuseRepeated(input)
    const rollup = yield* answering(key)
    const where = yield* checkWhere(rollup, input.where)
    return { productId: rollup.productId, unit: rollup.unit, where }
  })

  /** A sum or a count without dimensions, from the totals of product and unit. */
  const plainTotals = Effect.fnUntraced(function* (rollup: Rollup.Rollup, asked: Asked) {
    const { productId, unit } = rollup
    const { boundaries, customerId } = asked
    const totals = yield* store.totals({ customerId, productId, unit, boundaries, by: "unit" })
    return totals.map(({ quantity, recordCount, window }) => ({
      window,
      group: [],
      quantity: rollup.aggregation === "count" ? BigInt(recordCount) : quantity,
      recordCount,
    }))
  })

  const checkDates = (rollup: Rollup.Rollup, { boundaries }: Asked): Effect.Effect<void, InvalidInput> => {
    if (rollup.aggregation !== "time_weighted") return Effect.void
    const problem = `is required: the meter ${rollup.meterKey} gives the average over a period`
    if (boundaries[0] === undefined) return invalid("startDate", problem)
    return boundaries.at(-1) === undefined ? invalid("endDate", problem) : Effect.void
  }

  /** The values of a meter. When its definition changes meanwhile, they are all of the new one. */
  const values = (
    key: string,
    input: MeterInput,
    asked: Asked,
  ): Effect.Effect<MeterValues, InvalidInput | StorageError, CurrentTenant> =>
    Effect.gen(function* () {
      yield* refuseRepeated(input)
      for (let read = 1; read <= MAX_READS; read++) {
        const rollup = yield* answering(key)
        const where = yield* checkWhere(rollup, input.where)
        const groupBy = yield* checkGroupBy(rollup, input.groupBy)
        yield* checkDates(rollup, asked)
        if (!Rollup.needsCells(rollup)) {
          const whole = yield* plainTotals(rollup, asked)
          return { rollup, groupBy, totals: whole, whole }
        }
        const { boundaries, customerId, mostGroups: most } = asked
        const { generation, meterId } = rollup
        const query = { customerId, meterId, generation, boundaries, where, groupBy, most }
        const answer = yield* store.rollup(query)
        if (answer._tag === "TooManyGroups") return yield* invalid("groupBy", asked.tooManyGroups)
        if (answer._tag === "Totals") {
          return { rollup, groupBy, totals: answer.totals, whole: answer.whole }
        }
      }
      return yield* new StorageError({
        operation: "UsageStore.rollup",
        retryable: true,
        cause: new Error(`the definition of the meter ${key} changed ${MAX_READS} times while it was read`),
      })
    })

  return { filter, values }
}

export type MeterQueries = ReturnType<typeof make>
