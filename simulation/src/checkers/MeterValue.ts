/**
 * What a meter must answer, from the records one by one.
 */
import type { UsageRecord } from "@billwright/core"
import type { MeterDefinition } from "../History.ts"

type Record = UsageRecord.UsageRecord

const inTime = (records: ReadonlyArray<Record>): ReadonlyArray<Record> =>
  records.toSorted(
    (a, b) =>
      a.timestamp.epochMilliseconds - b.timestamp.epochMilliseconds ||
      ((a.idempotencyKey ?? "") < (b.idempotencyKey ?? "")
        ? -1
        : (a.idempotencyKey ?? "") > (b.idempotencyKey ?? "")
          ? 1
          : 0) ||
      (a.id < b.id ? -1 : 1),
  )

/** The levels of one combination, each for as long as it lasted. */
const areaOf = (records: ReadonlyArray<Record>, end: number): bigint => {
  const ordered = inTime(records)
  return ordered.reduce((area, { quantity, timestamp }, index) => {
    const until = ordered[index + 1]?.timestamp.epochMilliseconds ?? end
    return area + BigInt(quantity) * BigInt(until - timestamp.epochMilliseconds)
  }, 0n)
}

/** The value of a period that begins before all records and ends after them. */
export const valueOf = (
  { aggregation, counted, dimensions }: MeterDefinition,
  records: ReadonlyArray<Record>,
  end: number,
): bigint => {
  const quantities = records.map(({ quantity }) => BigInt(quantity))
  switch (aggregation) {
    case "sum":
      return quantities.reduce((a, b) => a + b, 0n)
    case "count":
      return BigInt(records.length)
    case "max":
      return quantities.reduce((a, b) => (a > b ? a : b), 0n)
    case "latest":
      return BigInt(inTime(records).at(-1)?.quantity ?? 0)
    case "unique_count": {
      const values = records.map((record) => record.dimensions[counted ?? ""])
      return BigInt(new Set(values.filter((value) => value !== undefined)).size)
    }
    case "time_weighted":
      return Map.groupBy(records, (record) =>
        JSON.stringify(dimensions.map((name) => record.dimensions[name] ?? null)),
      )
        .values()
        .reduce((total, some) => total + areaOf(some, end), 0n)
  }
}
