/**
 * The series that numbers of invoices and credit notes are taken from.
 */
import { CurrentTenant, type NumberSeries, type SeriesName } from "@billwright/core"
import { Effect, Option } from "effect"
import { noteXid, XID } from "../CurrentTransaction.ts"
import type { DatabaseService } from "../Database.ts"
import { decoding, json, type Row } from "../Row.ts"

/** The state of a series. A row of which no number was taken has none. */
const seriesFromRow = (row: Row | undefined): Option.Option<NumberSeries> =>
  row === undefined || row["state"] === null ? Option.none() : Option.some(json(row, "state") as NumberSeries)

export const make = ({ read, tables: t, write }: DatabaseService) => {
  /** Makes the row of a series if it is the first time, and locks it: then nobody else takes the first number either. */
  const lockSeries = Effect.fnUntraced(function* (name: SeriesName) {
    const operation = "InvoiceStore.lockSeries"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      operation,
      (sql) =>
        sql<Row>`insert into ${t.billing_series} as s (account_id, mode, name)
values (${accountId}, ${mode}, ${name}) on conflict (account_id, mode, name) do update set name = excluded.name
returning s.state::text as state, ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
    return yield* decoding(operation, seriesFromRow)(rows[0])
  })

  const findSeries = Effect.fnUntraced(function* (name: SeriesName) {
    const operation = "InvoiceStore.findSeries"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select state::text as state from ${t.billing_series}
where account_id = ${accountId} and mode = ${mode} and name = ${name}`,
    )
    return yield* decoding(operation, seriesFromRow)(rows[0])
  })

  const saveSeries = Effect.fnUntraced(function* (name: SeriesName, series: NumberSeries) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      "InvoiceStore.saveSeries",
      (sql) =>
        sql<Row>`insert into ${t.billing_series} (account_id, mode, name, state)
values (${accountId}, ${mode}, ${name}, ${JSON.stringify(series)}::text::jsonb)
on conflict (account_id, mode, name) do update set state = excluded.state returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  return { lockSeries, findSeries, saveSeries }
}
