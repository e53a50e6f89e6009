/**
 * The `UsageStore` on Postgres: records and totals. Thresholds are in `ThresholdStatements`.
 */
import {
  type CountedIn,
  Batch,
  CurrentTenant,
  type Customer,
  Id,
  type MetersQuery,
  type Page,
  type Rollup,
  type TotalsQuery,
  UsageRecord,
  UsageStore,
} from "@billwright/core"
import { type DateTime, Effect, Layer, Option } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { Commits } from "../Commits.ts"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { clauses, cursorIn, pageOf } from "../Paging.ts"
import { decoding, integer, json, type Row, text } from "../Row.ts"
import { byPlace } from "./Batched.ts"
import * as MeterRollups from "./MeterRollups.ts"
import * as UsageAppend from "./UsageAppend.ts"
import * as UsageAudit from "./UsageAudit.ts"
import { recordColumns, recordFromRow } from "./UsageRow.ts"
import * as UsageTotals from "./UsageTotals.ts"

/** The condition that records have some dimensions. */
const matching = (sql: SqlClient.SqlClient, where: Rollup.Where): Statement.Fragment =>
  where.reduce<Statement.Fragment>(
    (condition, [name, values]) =>
      sql`${condition} and dimensions ->> ${name}::text = any (${ArrayLiteral.quoted(values)}::text::text[])`,
    sql.literal(""),
  )

const countedIn = (sql: SqlClient.SqlClient, counted: CountedIn | undefined): Statement.Fragment => {
  if (counted === undefined) return sql.literal("")
  const { end, lacking, start } = counted
  return sql`and voided_at is null and occurred_at >= to_timestamp(${String(start)}::float8 / 1000)
  and occurred_at < to_timestamp(${String(end)}::float8 / 1000)
  ${lacking === undefined ? sql.literal("") : sql`and dimensions ->> ${lacking}::text is null`}`
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const commits = yield* Commits
  const { read, tables: t, write } = database
  const appendStatement = UsageAppend.statement(database.schema)

  // The ids are chosen by the caller, so a repeat of the statement finds its own records and says so.
  const append = Effect.fnUntraced(function* (records: ReadonlyArray<UsageRecord.NewUsageRecord>) {
    const operation = "UsageStore.append"
    if (records.length === 0) return { outcomes: [], crossings: [] }
    const tenant = yield* CurrentTenant
    const order = UsageAppend.lockOrder(records)
    const parameters = UsageAppend.parameters(tenant, records, order)
    const rows = yield* write(operation, (sql) => sql.unsafe<Row>(appendStatement, parameters))
    const { result, xid } = yield* decoding(operation, (all: ReadonlyArray<Row>) => ({
      result: UsageAppend.result(records, order, all),
      xid: UsageAppend.xidOf(all),
    }))(rows)
    yield* noteXid(xid)
    if (result.crossings.length > 0) yield* commits.announce
    return result
  })

  const find = Effect.fnUntraced(function* (id: UsageRecord.UsageRecordId) {
    const operation = "UsageStore.find"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${recordColumns} from ${t.usage_records}
where account_id = ${accountId} and mode = ${mode} and id = ${Id.toUuid(id)}::uuid`,
    )
    return yield* decoding(operation, (row: Row | undefined) =>
      Option.map(Option.fromUndefinedOr(row), recordFromRow),
    )(rows[0])
  })

  const voidRecord = Effect.fnUntraced(function* (id: UsageRecord.UsageRecordId, at: DateTime.Utc) {
    const operation = "UsageStore.void"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      operation,
      (sql) =>
        sql<Row>`select v::text as record, ${XID}
from ${t.void_usage}(${accountId}, ${mode}, ${Id.toUuid(id)}::uuid, ${String(at.epochMilliseconds)}::bigint) as v`,
    )
    yield* noteXid(rows[0]?.xid)
    return yield* decoding(operation, (row: Row | undefined) =>
      row === undefined ? Option.none() : Option.some(recordFromRow(json(row, "record") as Row)),
    )(rows[0])
  })

  const list = Effect.fnUntraced(function* (
    filter: {
      readonly customerId: Customer.CustomerId
      readonly productId: string | undefined
      readonly unit: string | undefined
      readonly where?: Rollup.Where
      readonly counted?: CountedIn
    },
    page: Page.PageQuery,
  ) {
    const operation = "UsageStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const cursor = yield* cursorIn(read, operation, t.usage_records, UsageRecord.USAGE_RECORD_ID_PREFIX, page)
    const { limit, order, position } = clauses(page, cursor)
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${recordColumns} from ${t.usage_records} t
where account_id = ${accountId} and mode = ${mode} and customer_id = ${Id.toUuid(filter.customerId)}::uuid
  ${filter.productId === undefined ? sql.literal("") : sql`and product_id = ${filter.productId}`}
  ${filter.unit === undefined ? sql.literal("") : sql`and unit = ${filter.unit}`}
  ${matching(sql, filter.where ?? [])} ${countedIn(sql, filter.counted)} and ${position}
order by ${order} limit ${limit}`,
    )
    return pageOf(page, yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(recordFromRow))(rows))
  })

  const allTotals = Effect.fnUntraced(function* (queries: ReadonlyArray<TotalsQuery>) {
    const operation = "UsageStore.totals"
    const tenant = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) => UsageTotals.statement(sql, t, tenant, queries) ?? Effect.succeed([]),
    )
    return yield* decoding(operation, byPlace(queries.length, UsageTotals.fromRow))(rows)
  })
  const totals = (query: TotalsQuery) =>
    Batch.together(`UsageStore.totals ${UsageTotals.keyOf(query)}`, query, allTotals)

  const countMeters = Effect.fnUntraced(function* (query: MetersQuery) {
    const operation = "UsageStore.countMeters"
    const tenant = yield* CurrentTenant
    const rows = yield* read(operation, (sql) => UsageTotals.countStatement(sql, t, tenant, query))
    return yield* decoding(operation, (row: Row) => integer(row, "count"))(rows[0] ?? {})
  })

  const units = Effect.fnUntraced(function* (customerId: Customer.CustomerId, limit: number) {
    const operation = "UsageStore.units"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select distinct unit from ${t.usage_daily}
where account_id = ${accountId} and mode = ${mode} and customer_id = ${Id.toUuid(customerId)}::uuid
order by unit limit ${String(limit)}::integer`,
    )
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map((row) => text(row, "unit")))(rows)
  })

  return UsageStore.of({
    append,
    find,
    void: voidRecord,
    list,
    totals,
    countMeters,
    units,
    ...MeterRollups.make(database),
    audit: UsageAudit.make(database),
  })
})

export const layer: Layer.Layer<UsageStore, never, Commits | Database> = Layer.effect(UsageStore, make)
