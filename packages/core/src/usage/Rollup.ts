/**
 * The roll-ups of a meter: which ones are kept, how a change of the definition replaces one by another, and their limit.
 *
 * A roll-up has a cell for each customer, UTC day and combination of dimensions with a record. A change of the
 * definition makes the next generation. It is built while the old one goes on answering. When it is whole, one write to
 * the meter switches to it, and the old cells are removed. So no answer mixes two definitions.
 */
import type { DateTime } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import { compareNullable, type Aggregation } from "./Aggregation.ts"
import type { Meter, MeterId, MeterRebuild } from "./Meter.ts"

/**
 * The most combinations of declared dimensions of a meter, customer and UTC day. Combinations whose records are all
 * voided count, too.
 */
export const MAX_COMBINATIONS = 1000

/** How values are computed. */
export interface Definition {
  readonly aggregation: Aggregation
  readonly dimensions: ReadonlyArray<string>
  /** With `unique_count`, the dimension whose values are counted: one of `dimensions`. Otherwise `null`. */
  readonly counted: string | null
}

/** One definition of a meter, whose cells a store keeps. */
export interface Rollup extends Definition {
  readonly meterId: MeterId
  readonly meterKey: string
  readonly productId: string
  readonly unit: string
  readonly generation: number
}

/** The values of the declared dimensions in their order; `null` where a record lacks one. */
export type Combination = ReadonlyArray<string | null>

export const combinationOf = (
  { dimensions }: Definition,
  values: Readonly<Record<string, string>>,
): Combination => dimensions.map((name) => (Object.hasOwn(values, name) ? values[name]! : null))

/** Compares combinations of the same dimensions by their values in order. `null` comes first. */
export const compareCombinations = (a: Combination, b: Combination): number => {
  for (const [index, value] of a.entries()) {
    const order = compareNullable(value, b[index] ?? null)
    if (order !== 0) return order
  }
  return 0
}

/** For each dimension that is filtered by, the values that match. A record must match in all of them. */
export type Where = ReadonlyArray<readonly [dimension: string, values: ReadonlyArray<string>]>

/** Whether records of a combination match a filter by declared dimensions. */
export const isWanted = ({ dimensions }: Definition, where: Where, combination: Combination): boolean =>
  where.every(([name, wanted]) => {
    const value = combination[dimensions.indexOf(name)] ?? null
    return value !== null && wanted.includes(value)
  })

/** Whether a record with these dimensions matches. */
export const matches = (where: Where, values: Readonly<Record<string, string>>): boolean =>
  where.every(([name, wanted]) => Object.hasOwn(values, name) && wanted.includes(values[name]!))

/** The declared dimension with the most different values, the first of several. A missing value is none. */
export const widest = (dimensions: ReadonlyArray<string>, combinations: Iterable<Combination>): string => {
  const values = dimensions.map(() => new Set<string>())
  for (const combination of combinations) {
    for (const [index, value] of combination.entries()) if (value !== null) values[index]!.add(value)
  }
  const most = Math.max(...values.map(({ size }) => size))
  return dimensions[values.findIndex(({ size }) => size === most)]!
}

/** Whether a definition has cells of its own. The others are read from the totals of product and unit. */
export const needsCells = ({ aggregation, dimensions }: Definition): boolean =>
  dimensions.length > 0 || (aggregation !== "sum" && aggregation !== "count")

const rollupOf = (
  meter: Meter,
  { aggregation, counted, dimensions }: Definition,
  generation: number,
): Rollup => ({
  meterId: meter.id,
  meterKey: meter.key,
  productId: meter.productId,
  unit: meter.unit,
  generation,
  aggregation,
  dimensions,
  counted,
})

/** The roll-up that answers queries. `undefined` while a new meter is being built, and when it is archived. */
export const answering = (meter: Meter): Rollup | undefined =>
  meter.status === "ready" ? rollupOf(meter, meter, meter.generation) : undefined

/** The roll-up that is being built. */
export const building = (meter: Meter): Rollup | undefined =>
  meter.rebuild?.status === "building" ? rollupOf(meter, meter.rebuild, meter.rebuild.generation) : undefined

/** The roll-ups whose cells every append and void must keep up to date. */
export const served = (meter: Meter): ReadonlyArray<Rollup> =>
  [answering(meter), building(meter)].filter(
    (rollup): rollup is Rollup => rollup !== undefined && needsCells(rollup),
  )

/** Whether a driver has work left to do on the meter's roll-ups. */
export const isUnfinished = ({ rebuild }: Meter): boolean => rebuild !== null && rebuild.status !== "failed"

const isSame = (a: Definition, b: Definition): boolean =>
  a.aggregation === b.aggregation &&
  a.counted === b.counted &&
  a.dimensions.length === b.dimensions.length &&
  a.dimensions.every((name, index) => name === b.dimensions[index])

const rebuildOf = (
  { aggregation, counted, dimensions }: Definition,
  generation: number,
  status: MeterRebuild["status"],
): MeterRebuild => ({
  aggregation,
  dimensions,
  counted,
  generation,
  status,
  done: 0,
  total: 0,
  problem: null,
})

/** A meter whose roll-ups begin with this definition: ready at once if it needs no cells. */
export const begun = (meter: Meter): Meter =>
  needsCells(meter)
    ? { ...meter, status: "building", rebuild: rebuildOf(meter, meter.generation, "building") }
    : { ...meter, status: "ready", rebuild: null }

/**
 * Changes the definition of a meter that is not archived. Equal to what answers, it ends a rebuild; equal to what is
 * being built, it changes nothing; without cells of its own, it answers at once. A definition that failed is tried again.
 */
export const redefined = (meter: Meter, definition: Definition): Meter => {
  const generation = Math.max(meter.generation, meter.rebuild?.generation ?? 0) + 1
  const { aggregation, counted, dimensions } = definition
  const known = building(meter)
  if (known !== undefined && isSame(known, definition)) return meter
  if (meter.status === "building") {
    const next = begun({ ...meter, aggregation, counted, dimensions, generation })
    return next.rebuild === null ? { ...next, rebuild: rebuildOf(next, generation, "removing") } : next
  }
  if (isSame(meter, definition)) {
    return meter.rebuild === null ? meter : { ...meter, rebuild: rebuildOf(meter, generation, "removing") }
  }
  if (needsCells(definition)) return { ...meter, rebuild: rebuildOf(definition, generation, "building") }
  const changed = { ...meter, aggregation, counted, dimensions, generation }
  return { ...changed, rebuild: rebuildOf(changed, generation, "removing") }
}

/** Ends a meter. Its cells are removed later. */
export const archived = (meter: Meter, at: DateTime.Utc): Meter =>
  meter.status === "archived"
    ? meter
    : {
        ...meter,
        status: "archived",
        archivedAt: at,
        updatedAt: at,
        rebuild: rebuildOf(meter, Math.max(meter.generation, meter.rebuild?.generation ?? 0), "removing"),
      }

/** What a batch of building did. */
export type Progress =
  /** `done` of `total` days of customers have their cells. */
  | { readonly _tag: "Building"; readonly done: number; readonly total: number }
  /** All days have their cells: the roll-up can answer. */
  | { readonly _tag: "Built"; readonly total: number }
  /** A day of a customer has more than `MAX_COMBINATIONS` combinations. */
  | {
      readonly _tag: "TooManyCombinations"
      readonly customerId: CustomerId
      /** `YYYY-MM-DD`. */
      readonly day: string
      /** The declared dimension with the most different values on that day. */
      readonly dimension: string
    }
  /**
   * A day of a customer has fewer records than its total counts: somebody has removed records from the storage. What they
   * were can't be told any more.
   */
  | {
      readonly _tag: "RecordsRemoved"
      readonly customerId: CustomerId
      /** `YYYY-MM-DD`. */
      readonly day: string
    }

/** What an error says when a meter, customer and day would have too many combinations. */
export const tooManyCombinations = (meterKey: string, day: string): string =>
  `has too many different values: the meter ${meterKey} would have more than ${MAX_COMBINATIONS} combinations of its dimensions on ${day}`

/** A meter after a batch of building its next roll-up. */
export const progressed = (meter: Meter, progress: Progress): Meter => {
  const rebuild = meter.rebuild
  if (rebuild?.status !== "building") return meter
  switch (progress._tag) {
    case "Building":
      return { ...meter, rebuild: { ...rebuild, done: progress.done, total: progress.total } }
    case "Built": {
      const { aggregation, counted, dimensions, generation } = rebuild
      const { total } = progress
      const isFirst = meter.status === "building" && generation === 1
      return {
        ...meter,
        aggregation,
        counted,
        dimensions,
        generation,
        status: "ready",
        rebuild: isFirst ? null : { ...rebuild, status: "removing", done: total, total },
      }
    }
    case "TooManyCombinations": {
      const problem = `the dimension ${progress.dimension} has too many different values: customer ${progress.customerId} has more than ${MAX_COMBINATIONS} combinations on ${progress.day}`
      return { ...meter, rebuild: { ...rebuild, status: "removing", problem } }
    }
    case "RecordsRemoved": {
      const problem = `records of customer ${progress.customerId} on ${progress.day} were removed, so that day can't be computed again`
      return { ...meter, rebuild: { ...rebuild, status: "removing", problem } }
    }
  }
}

/** The generations whose cells are still needed. */
export const kept = (meter: Meter): ReadonlyArray<number> =>
  [answering(meter), building(meter)].flatMap((rollup) => (rollup === undefined ? [] : [rollup.generation]))

/** A meter after all cells were removed that it no longer needs. */
export const swept = (meter: Meter): Meter => {
  const rebuild = meter.rebuild
  if (rebuild?.status !== "removing") return meter
  return { ...meter, rebuild: rebuild.problem === null ? null : { ...rebuild, status: "failed" } }
}
