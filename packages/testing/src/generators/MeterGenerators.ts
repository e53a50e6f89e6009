/**
 * Generators of meters' definitions and of the dimensions of their records.
 */
import { Aggregation, Rollup } from "@billwright/core"
import * as fc from "fast-check"

/** The dimensions that generated meters declare. */
const DECLARED = ["model", "region"]
/** Few values, so that some are equal. Their order by UTF-16 differs from that by code points. */
const VALUES = ["a", "b", "\uffee", "😀"]

const dimensionValue = fc.constantFrom(...VALUES)

/** The dimensions of a record: some of those that meters declare, and one that none declares. */
export const recordDimensions: fc.Arbitrary<Readonly<Record<string, string>>> = fc.record(
  { model: dimensionValue, region: dimensionValue, other: dimensionValue },
  { requiredKeys: [] },
)

/** Definitions that need cells. */
export const rollupDefinition: fc.Arbitrary<Rollup.Definition> = fc
  .record({
    aggregation: fc.constantFrom(...Aggregation.Aggregation.literals),
    dimensions: fc.shuffledSubarray(DECLARED),
    counted: fc.constantFrom(...DECLARED),
  })
  .map(({ aggregation, counted, dimensions }) => {
    if (aggregation !== "unique_count") return { aggregation, dimensions, counted: null }
    return { aggregation, dimensions: [...new Set([...dimensions, counted])], counted }
  })
  .filter(Rollup.needsCells)

/** A filter and groups, of which a meter may declare only some. */
export interface Cut {
  readonly where: Readonly<Record<string, ReadonlyArray<string>>>
  readonly groupBy: ReadonlyArray<string>
}

export const cut: fc.Arbitrary<Cut> = fc.record({
  where: fc.dictionary(fc.constantFrom(...DECLARED), fc.uniqueArray(dimensionValue, { minLength: 1 })),
  groupBy: fc.shuffledSubarray(DECLARED),
})

/** The part of a filter and of groups that a meter can answer. */
export const cutFor = ({ dimensions }: Rollup.Definition, { groupBy, where }: Cut) => ({
  where: Object.entries(where).filter(([name]) => dimensions.includes(name)),
  groupBy: groupBy.filter((name) => dimensions.includes(name)),
})
