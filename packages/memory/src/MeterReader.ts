/**
 * Reads the cells of a meter's periods: those of whole days, and those of the records of parts of days.
 */
import { type RollupAnswer, type RollupQuery, RollupValues, UsagePeriod } from "@billwright/core"
import type { MeterCells } from "./MeterCells.ts"
import type { UsageMeter } from "./UsageMeter.ts"

/** Answers a query about the customer of a meter. */
export const read = (cells: MeterCells, meter: UsageMeter, query: RollupQuery): RollupAnswer => {
  const days = [...cells.daysOf(meter.customerId)].sort(([a], [b]) => a - b)

  const edgeCells = ({ end, start }: { readonly start: number; readonly end: number }) => {
    const records = Array.from(meter.recordsOf(UsagePeriod.utcDay(start))).filter(
      ({ timestamp }) => start <= timestamp && timestamp < end,
    )
    return RollupValues.cellsOf(cells.rollup, records).values()
  }

  function* cellsIn(period: UsagePeriod.Period): Generator<RollupValues.Cell> {
    const split = UsagePeriod.split(period)
    const [from, to] =
      split.days === undefined ? [0, 0] : [split.days.from ?? -Infinity, split.days.to ?? Infinity]
    const isFirst = ({ start }: { readonly start: number }) =>
      split.days === undefined || UsagePeriod.utcDay(start) < from
    for (const edge of split.edges) if (isFirst(edge)) yield* edgeCells(edge)
    for (const [day, found] of days) if (from <= day && day < to) yield* found.values()
    for (const edge of split.edges) if (!isFirst(edge)) yield* edgeCells(edge)
  }

  return RollupValues.answer(cells.rollup, query, cellsIn)
}
