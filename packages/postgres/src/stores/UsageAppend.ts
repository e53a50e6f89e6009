/**
 * Appends usage: calls `append_usage` and reads its result.
 */
import {
  type AppendOutcome,
  type AppendResult,
  Dimensions,
  Id,
  type Tenant,
  Threshold,
  type UsageRecord,
} from "@billwright/core"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { bigint, integer, json, type Row, text } from "../Row.ts"
import type { SchemaName } from "../SchemaName.ts"
import * as ResourceRow from "./ResourceRow.ts"
import { recordFromRow } from "./UsageRow.ts"

/** The statement. Its text never changes, so it is parsed once for each connection. */
export const statement = (schema: SchemaName): string =>
  `select kind, ordinal::text, payload::text from ${schema}.append_usage($1::text, $2::text, $3::text::uuid[],
  $4::text::uuid[], $5::text::text[], $6::text::text[], $7::text::bigint[], $8::text::bigint[], $9::text::boolean[],
  $10::text::text[], $11::text::bigint[], $12::text::jsonb[])`

/**
 * The order in which records are written: by customer and key, so that appends with common keys take their locks in
 * the same order. Among equal keys the first one given stays first. Returns indexes into `records`.
 */
export const lockOrder = (records: ReadonlyArray<UsageRecord.NewUsageRecord>): ReadonlyArray<number> => {
  const order = records.map((_, index) => index)
  if (order.length < 2) return order
  return order.sort((a, b) => {
    const left = records[a]!
    const right = records[b]!
    if (left.customerId !== right.customerId) return left.customerId < right.customerId ? -1 : 1
    const leftKey = left.idempotencyKey ?? ""
    const rightKey = right.idempotencyKey ?? ""
    if (leftKey !== rightKey) return leftKey < rightKey ? -1 : 1
    return a - b
  })
}

/** The parameters of `statement`. */
export const parameters = (
  tenant: Tenant.Tenant,
  records: ReadonlyArray<UsageRecord.NewUsageRecord>,
  order: ReadonlyArray<number>,
): ReadonlyArray<string | null> => {
  const uuids = new Map<string, string>()
  const customerUuid = (id: string): string => {
    let uuid = uuids.get(id)
    if (uuid === undefined) uuids.set(id, (uuid = Id.toUuid(id)))
    return uuid
  }
  const sorted = order.map((index) => records[index]!)
  return [
    tenant.accountId,
    tenant.mode,
    ArrayLiteral.plain(sorted.map((record) => Id.toUuid(record.id))),
    ArrayLiteral.plain(sorted.map((record) => customerUuid(record.customerId))),
    ArrayLiteral.quoted(sorted.map((record) => record.productId)),
    ArrayLiteral.quoted(sorted.map((record) => record.unit)),
    ArrayLiteral.plain(sorted.map((record) => record.quantity)),
    ArrayLiteral.plain(sorted.map((record) => record.timestamp.epochMilliseconds)),
    ArrayLiteral.plain(sorted.map((record) => record.hasOwnTimestamp)),
    ArrayLiteral.quoted(sorted.map((record) => record.idempotencyKey)),
    ArrayLiteral.plain(sorted.map((record) => record.createdAt.epochMilliseconds)),
    dimensionsOf(sorted),
  ]
}

/** `null` when no record has dimensions, which costs nothing. */
const dimensionsOf = (records: ReadonlyArray<UsageRecord.NewUsageRecord>): string | null => {
  if (records.every(({ dimensions }) => Dimensions.isEmpty(dimensions))) return null
  // Many records have the same dimensions, and JSON is full of quotes to escape.
  const elements = new Map<string, string>()
  const elementOf = ({ dimensions }: UsageRecord.NewUsageRecord): string | null => {
    if (Dimensions.isEmpty(dimensions)) return null
    const written = JSON.stringify(dimensions)
    let element = elements.get(written)
    if (element === undefined) elements.set(written, (element = ArrayLiteral.element(written)))
    return element
  }
  return ArrayLiteral.plain(records.map(elementOf))
}

/** The number that Postgres gave the transaction, if the append wrote anything. */
export const xidOf = (rows: ReadonlyArray<Row>): unknown => {
  const done = rows.find((row) => row["kind"] === "done")
  return done === undefined || done["payload"] === null ? undefined : json(done, "payload")
}

/** Reads the result. Records that it doesn't mention were recorded. */
export const result = (
  records: ReadonlyArray<UsageRecord.NewUsageRecord>,
  order: ReadonlyArray<number>,
  rows: ReadonlyArray<Row>,
): AppendResult => {
  const exceptions = new Map<number, AppendOutcome>()
  const crossings: Array<Threshold.ThresholdCrossing> = []
  for (const row of rows) {
    const kind = text(row, "kind")
    if (kind === "done") continue
    if (kind === "crossing") crossings.push(crossingFromRow(json(row, "payload") as Row))
    else exceptions.set(order[integer(row, "ordinal") - 1]!, outcomeFromRow(kind, row))
  }
  return { outcomes: records.map((record, index) => exceptions.get(index) ?? recorded(record)), crossings }
}

/** Written field by field: copying the object and then removing a field is slower than all of this. */
const recorded = (record: UsageRecord.NewUsageRecord): AppendOutcome => ({
  _tag: "Recorded",
  record: {
    id: record.id,
    customerId: record.customerId,
    productId: record.productId,
    quantity: record.quantity,
    unit: record.unit,
    dimensions: record.dimensions,
    timestamp: record.timestamp,
    idempotencyKey: record.idempotencyKey,
    voidedAt: record.voidedAt,
    createdAt: record.createdAt,
  },
})

const outcomeFromRow = (kind: string, row: Row): AppendOutcome => {
  if (kind === "unknown_customer") return { _tag: "CustomerNotFound" }
  if (kind === "too_many_combinations") return tooMany(json(row, "payload") as Row)
  const record = recordFromRow(json(row, "payload") as Row)
  switch (kind) {
    case "recorded_before": // the same append, sent again after its answer was lost
      return { _tag: "Recorded", record }
    case "duplicate":
      return { _tag: "Duplicate", record }
    case "key_conflict":
      return { _tag: "KeyConflict", recordId: record.id }
    default:
      throw new TypeError(`append_usage gave an unknown kind of row: ${kind}`)
  }
}

const tooMany = (row: Row): AppendOutcome => ({
  _tag: "TooManyCombinations",
  meterKey: text(row, "meter_key"),
  day: text(row, "day"),
  dimension: text(row, "dimension"),
})

const thresholds = ResourceRow.make<Threshold.Threshold>(Threshold.thresholds)

const crossingFromRow = (row: Row): Threshold.ThresholdCrossing => ({
  threshold: thresholds.fromRow(row),
  periodKey: text(row, "period_key"),
  total: bigint(row, "total"),
})
