/**
 * Summaries and series of a meter.
 */
import { DateTime, Effect } from "effect"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { denominatorOf, groupsOf, type MeterQueries, type MeterValues, namesOf } from "./MeterQueries.ts"
import * as UsagePeriod from "./UsagePeriod.ts"
import {
  MAX_SERIES_POINTS,
  MAX_SUMMARY_GROUPS,
  type SeriesUsage,
  type SummarizeUsage,
  type UsageGroup,
  type UsagePoint,
  type UsageSummary,
} from "./UsageSummary.ts"

const TOO_MANY_GROUPS = `gives more than ${MAX_SUMMARY_GROUPS} groups: filter with where, or group by fewer dimensions`
const TOO_MANY_POINTS = `gives more than ${MAX_SERIES_POINTS} points: filter with where, or ask for fewer days or wider windows`

type Asked<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>

export const make = (queries: MeterQueries) => {
  const summary = (meter: string, query: SummarizeUsage, period: UsagePeriod.Period): Asked<UsageSummary> =>
    Effect.map(
      queries.values(meter, query, {
        customerId: query.customerId,
        boundaries: [period.start, period.end],
        mostGroups: MAX_SUMMARY_GROUPS,
        tooManyGroups: TOO_MANY_GROUPS,
      }),
      (values) => {
        const { rollup, whole } = values
        return {
          customerId: query.customerId,
          meter,
          productId: rollup.productId,
          totalQuantity: whole[0]?.quantity ?? 0n,
          denominator: denominatorOf(rollup, period),
          unit: rollup.unit,
          recordCount: whole[0]?.recordCount ?? 0,
          ...(query.groupBy === undefined ? {} : { groups: summaryGroups(values, period) }),
          ...UsagePeriod.described(query, period),
        }
      },
    )

  const series = (
    meter: string,
    query: SeriesUsage,
    boundaries: ReadonlyArray<number>,
  ): Asked<ReadonlyArray<UsagePoint>> =>
    Effect.map(
      queries.values(meter, query, {
        customerId: query.customerId,
        boundaries,
        mostGroups: Math.floor(MAX_SERIES_POINTS / (boundaries.length - 1)),
        tooManyGroups: TOO_MANY_POINTS,
      }),
      (values) => pointsOf(values, boundaries, query.groupBy !== undefined),
    )

  return { summary, series }
}

const summaryGroups = (
  { groupBy, rollup, totals }: MeterValues,
  period: UsagePeriod.Period,
): ReadonlyArray<UsageGroup> => {
  const byGroup = new Map(totals.map((total) => [JSON.stringify(total.group), total]))
  return groupsOf(totals).map((group) => {
    const { quantity, recordCount } = byGroup.get(JSON.stringify(group))!
    return {
      dimensions: namesOf(groupBy, group),
      totalQuantity: quantity,
      denominator: denominatorOf(rollup, period),
      recordCount,
    }
  })
}

const pointsOf = (
  { groupBy, rollup, totals }: MeterValues,
  boundaries: ReadonlyArray<number>,
  isGrouped: boolean,
): ReadonlyArray<UsagePoint> => {
  const keyOf = (window: number, group: ReadonlyArray<string | null>) => JSON.stringify([window, group])
  const byPoint = new Map(totals.map((total) => [keyOf(total.window, total.group), total]))
  const groups = isGrouped ? groupsOf(totals) : [[]]
  return boundaries.slice(0, -1).flatMap((start, window) => {
    const end = boundaries[window + 1]!
    return groups.map((group) => {
      const total = byPoint.get(keyOf(window, group))
      return {
        start: DateTime.makeUnsafe(start),
        end: DateTime.makeUnsafe(end),
        productId: rollup.productId,
        unit: rollup.unit,
        quantity: total?.quantity ?? 0n,
        denominator: denominatorOf(rollup, { start, end }),
        recordCount: total?.recordCount ?? 0,
        ...(isGrouped ? { dimensions: namesOf(groupBy, group) } : {}),
      }
    })
  })
}
