/**
 * Looks for roll-ups that differ from their records.
 */
import { Aggregation, RollupValues, type UsageDiscrepancy, UsagePeriod } from "@billwright/core"
import { ExactSum } from "./ExactSum.ts"
import type { Cells, MeterCells } from "./MeterCells.ts"
import type { UsageMeter } from "./UsageMeter.ts"

/** Compares the roll-ups of a meter with new sums of its records. */
export const discrepanciesOf = (meter: UsageMeter): ReadonlyArray<UsageDiscrepancy> => {
  const expected = new Map<number, ExactSum>()
  for (const { quantity, timestamp, voidedAt } of meter.records.values()) {
    if (voidedAt !== null) continue
    const day = UsagePeriod.utcDay(timestamp)
    const sum = expected.get(day) ?? new ExactSum()
    expected.set(day, sum)
    sum.add(quantity)
  }
  const found = new Map([...meter.days()].map(({ day, sum }) => [day, sum]))
  const discrepancies: Array<UsageDiscrepancy> = []
  for (const day of new Set([...expected.keys(), ...found.keys()])) {
    const records = expected.get(day) ?? new ExactSum()
    const rollup = found.get(day) ?? new ExactSum()
    if (records.quantity === rollup.quantity && records.count === rollup.count) continue
    discrepancies.push({
      customerId: meter.customerId,
      productId: meter.productId,
      unit: meter.unit,
      meterKey: null,
      combination: null,
      day: UsagePeriod.formatDay(day),
      recordsQuantity: records.quantity,
      recordsCount: records.count,
      rollupQuantity: rollup.quantity,
      rollupCount: rollup.count,
    })
  }
  return discrepancies
}

/** Compares the cells of a roll-up, for one customer, with new ones of the records. */
export const cellDiscrepanciesOf = (
  cells: MeterCells,
  meter: UsageMeter,
): ReadonlyArray<UsageDiscrepancy> => {
  const found = cells.daysOf(meter.customerId)
  const days = new Set([...found.keys(), ...Array.from(meter.days(), ({ day }) => day)])
  return [...days].flatMap((day) => {
    const expected = RollupValues.cellsOf(cells.rollup, meter.recordsOf(day))
    const actual: Cells = found.get(day) ?? new Map()
    const keys = new Set([...expected.keys(), ...actual.keys()])
    return [...keys].flatMap((key) => differenceOf(cells, meter, day, expected.get(key), actual.get(key)))
  })
}

const differenceOf = (
  { rollup }: MeterCells,
  { customerId, productId, unit }: UsageMeter,
  day: number,
  expected: RollupValues.Cell | undefined,
  actual: RollupValues.Cell | undefined,
): ReadonlyArray<UsageDiscrepancy> => {
  const [records, kept] = [expected?.state ?? Aggregation.zero, actual?.state ?? Aggregation.zero]
  const cell = expected ?? actual
  const isSame = expected !== undefined && actual !== undefined && Aggregation.isSame(records, kept)
  if (isSame || cell === undefined) return []
  return [
    {
      customerId,
      productId,
      unit,
      meterKey: rollup.meterKey,
      combination: cell.combination,
      day: UsagePeriod.formatDay(day),
      recordsQuantity: Aggregation.quantityOf(records),
      recordsCount: records.recordCount,
      rollupQuantity: Aggregation.quantityOf(kept),
      rollupCount: kept.recordCount,
    },
  ]
}
