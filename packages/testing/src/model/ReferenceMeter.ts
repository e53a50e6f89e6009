/**
 * What a meter must answer, computed from all records one by one.
 */
import type { Rollup, RollupTotal, UsageRecord } from "@billwright/core"
import { DateTime } from "effect"

/** Which values to compute. */
export interface ReferenceQuery {
  readonly boundaries: ReadonlyArray<number | undefined>
  readonly where: Rollup.Where
  readonly groupBy: ReadonlyArray<string>
}

type Record = UsageRecord.UsageRecord

const millisOf = ({ timestamp }: Record): number => DateTime.toEpochMillis(timestamp)

/** The bytes of a text, whose order is that of its code points. */
const bytesOf = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("")

/** A text whose order is that of the records in time. */
const placeOf = (record: Record): readonly [number, string] => [
  millisOf(record),
  `${record.idempotencyKey === null ? "" : `k${bytesOf(record.idempotencyKey)}`} ${record.id}`,
]

const inTime = (records: ReadonlyArray<Record>): ReadonlyArray<Record> =>
  records.toSorted((a, b) => {
    const [[atA, tieA], [atB, tieB]] = [placeOf(a), placeOf(b)]
    return atA - atB || (tieA < tieB ? -1 : 1)
  })

const keyOf = (names: ReadonlyArray<string>, { dimensions }: Record): string =>
  JSON.stringify(names.map((name) => dimensions[name] ?? null))

const groupsOf = (names: ReadonlyArray<string>, records: ReadonlyArray<Record>) =>
  Map.groupBy(records, (record) => keyOf(names, record))

/** Level × milliseconds of one combination. */
const areaOf = (records: ReadonlyArray<Record>, start: number, end: number): bigint => {
  let area = 0n
  const ordered = inTime(records)
  for (const [index, record] of ordered.entries()) {
    const next = ordered[index + 1]
    const from = Math.max(start, millisOf(record))
    const to = Math.min(end, next === undefined ? end : millisOf(next))
    if (from < to) area += BigInt(record.quantity) * BigInt(to - from)
  }
  return area
}

const valueOf = (
  definition: Rollup.Definition,
  inside: ReadonlyArray<Record>,
  before: ReadonlyArray<Record>,
  [start, end]: readonly [number, number],
): bigint => {
  const quantities = inside.map(({ quantity }) => BigInt(quantity))
  switch (definition.aggregation) {
    case "sum":
      return quantities.reduce((a, b) => a + b, 0n)
    case "count":
      return BigInt(inside.length)
    case "max":
      return quantities.reduce((a, b) => (a > b ? a : b), 0n)
    case "latest":
      return BigInt(inTime(inside).at(-1)?.quantity ?? 0)
    case "unique_count": {
      const values = inside.map(({ dimensions }) => dimensions[definition.counted ?? ""])
      return BigInt(new Set(values.filter((value) => value !== undefined)).size)
    }
    case "time_weighted":
      return groupsOf(definition.dimensions, [...before, ...inside])
        .values()
        .reduce((total, records) => total + areaOf(records, start, end), 0n)
  }
}

const isWithin = (record: Record, start: number, end: number): boolean =>
  start <= millisOf(record) && millisOf(record) < end

/** The values of each window and group. Voided records must not be among the records. */
export const valuesOf = (
  definition: Rollup.Definition,
  records: ReadonlyArray<Record>,
  { boundaries, groupBy, where }: ReferenceQuery,
): ReadonlyArray<RollupTotal> => {
  const wanted = records.filter(({ dimensions }) =>
    where.every(([name, values]) => values.some((value) => value === dimensions[name])),
  )
  const isLevel = definition.aggregation === "time_weighted"
  return boundaries.slice(0, -1).flatMap((first, window) => {
    const [start, end] = [first ?? -Infinity, boundaries[window + 1] ?? Infinity]
    const relevant = wanted.filter((record) => isWithin(record, isLevel ? -Infinity : start, end))
    return Array.from(groupsOf(groupBy, relevant), ([group, members]) => {
      const inside = members.filter((record) => isWithin(record, start, end))
      const before = members.filter((record) => isWithin(record, -Infinity, start))
      return {
        window,
        group: JSON.parse(group) as Rollup.Combination,
        quantity: valueOf(definition, inside, before, [start, end]),
        recordCount: inside.length,
      }
    }).filter(({ quantity, recordCount }) => recordCount > 0 || quantity !== 0n)
  })
}
