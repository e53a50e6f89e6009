/**
 * The expected totals.
 */
import type { TotalsQuery, UsageRecord, UsageTotal } from "@billwright/core"

/** The definition of totals: the sum of all records in a window. */
export const totalsOf = (
  records: ReadonlyArray<UsageRecord.UsageRecord>,
  query: TotalsQuery,
): ReadonlyArray<UsageTotal> => {
  const sums = new Map<string, UsageTotal>()
  for (const record of records) {
    if (record.voidedAt !== null || record.customerId !== query.customerId) continue
    if (query.productId !== undefined && record.productId !== query.productId) continue
    if (query.unit !== undefined && record.unit !== query.unit) continue
    for (let window = 0; window < query.boundaries.length - 1; window++) {
      const start = query.boundaries[window] ?? -Infinity
      const end = query.boundaries[window + 1] ?? Infinity
      const at = record.timestamp.epochMilliseconds
      if (at < start || at >= end) continue
      const productId = query.by === "meter" ? record.productId : undefined
      const key = JSON.stringify([window, productId, record.unit])
      const before = sums.get(key) ?? { window, productId, unit: record.unit, quantity: 0n, recordCount: 0 }
      sums.set(key, {
        ...before,
        quantity: before.quantity + BigInt(record.quantity),
        recordCount: before.recordCount + 1,
      })
    }
  }
  return [...sums.values()]
}
