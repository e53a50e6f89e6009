/**
 * Looks for roll-ups that differ from their records.
 */
import { type UsageDiscrepancy, UsagePeriod } from "@billwright/core"
import { DateTime } from "effect"
import { ExactSum } from "./ExactSum.ts"
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
      day: DateTime.formatIsoDateUtc(DateTime.makeUnsafe(day * UsagePeriod.UTC_DAY_MILLIS)),
      recordsQuantity: records.quantity,
      recordsCount: records.count,
      rollupQuantity: rollup.quantity,
      rollupCount: rollup.count,
    })
  }
  return discrepancies
}
