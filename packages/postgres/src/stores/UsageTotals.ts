/**
 * Totals of usage: whole UTC days from the roll-ups, partial days from the records, all windows in one statement.
 */
import {
  Id,
  type MetersQuery,
  type Tenant,
  type TotalsQuery,
  UsagePeriod,
  type UsageTotal,
} from "@billwright/core"
import type { SqlClient, Statement } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { bigint, integer, type Row, text } from "../Row.ts"
import type { Tables } from "../Tables.ts"
import { atMost } from "./Batched.ts"

/** Splits the windows of a query into ranges of days and ranges of instants, each with the number of its window. */
export const ranges = (boundaries: TotalsQuery["boundaries"]) => {
  const days = {
    windows: [] as Array<number>,
    from: [] as Array<number | null>,
    to: [] as Array<number | null>,
  }
  const edges = { windows: [] as Array<number>, start: [] as Array<number>, end: [] as Array<number> }
  for (let window = 0; window < boundaries.length - 1; window++) {
    const split = UsagePeriod.split({ start: boundaries[window], end: boundaries[window + 1] })
    if (split.days !== undefined) {
      days.windows.push(window)
      days.from.push(split.days.from ?? null)
      days.to.push(split.days.to ?? null)
    }
    for (const { end, start } of split.edges) {
      if (start >= end) continue
      edges.windows.push(window)
      edges.start.push(start)
      edges.end.push(end)
    }
  }
  return { days, edges }
}

/** The condition for some meters of a customer. */
const meterOf = (
  sql: SqlClient.SqlClient,
  tenant: Tenant.Tenant,
  customer: Statement.Fragment,
  { productId, unit }: Pick<TotalsQuery, "productId" | "unit">,
) => sql`account_id = ${tenant.accountId} and mode = ${tenant.mode} and customer_id = ${customer}
      ${productId === undefined ? sql.literal("") : sql`and product_id = ${productId}`}
      ${unit === undefined ? sql.literal("") : sql`and unit = ${unit}`}`

/**
 * Counts distinct meters, up to `most + 1`. It reads only as many roll-ups as are needed to find one meter too many.
 */
export const countStatement = (
  sql: SqlClient.SqlClient,
  t: Tables,
  tenant: Tenant.Tenant,
  { from, most, to, ...query }: MetersQuery,
) => sql<Row>`select least(count(*), ${String(most + 1)}::text::bigint)::text as count from (
  select distinct u.product_id, u.unit from (
    select product_id, unit from ${t.usage_daily} where ${meterOf(sql, tenant, sql`${Id.toUuid(query.customerId)}::uuid`, query)} and record_count > 0
      and day >= date '1970-01-01' + ${String(from)}::text::integer
      and day < date '1970-01-01' + ${String(to)}::text::integer
    limit ${String(most * (to - from) + 1)}::text::bigint
  ) as u
) as m`

/** What queries have in common whose totals one statement reads. */
export const keyOf = ({ by, productId, unit }: TotalsQuery): string => JSON.stringify([by, productId, unit])

/** Ranges of many queries, with the place of the query that each belongs to. */
const placed = <A extends { readonly windows: ReadonlyArray<number> }>(all: ReadonlyArray<A>) => ({
  places: all.flatMap(({ windows }, index) => windows.map(() => index + 1)),
  windows: all.flatMap(({ windows }) => windows),
})

/** The statement of queries with the same key; `undefined` when their windows are empty. A row has the place `n` of its query. */
export const statement = (
  sql: SqlClient.SqlClient,
  t: Tables,
  tenant: Tenant.Tenant,
  queries: ReadonlyArray<TotalsQuery>,
) => {
  const [first] = queries
  if (first === undefined) return undefined
  const { by } = first
  const split = queries.map(({ boundaries }) => ranges(boundaries))
  const days = split.map((each) => each.days)
  const edges = split.map((each) => each.edges)
  const [ofDays, ofEdges] = [placed(days), placed(edges)]
  if (ofDays.windows.length === 0 && ofEdges.windows.length === 0) return undefined
  const customerIds = queries.map(({ customerId }) => Id.toUuid(customerId))
  const customersOf = ({ places }: typeof ofDays) =>
    ArrayLiteral.plain(places.map((place) => customerIds[place - 1]!))
  const meter = (customer: string) => meterOf(sql, tenant, sql.literal(customer), first)
  // `offset 0` makes each range a separate search in an index that ends with the time. Without it the planner may
  // read all usage that a customer ever had, and then filter by the ranges. `order by` makes it one of these indexes: while
  // statistics are old, the index by id looks as cheap, and reads all records of the tenant for each range.
  const wholeDays = sql`select d.n, d.w, u.product_id, u.unit, u.quantity, u.record_count
    from (
      select * from unnest(${ArrayLiteral.plain(ofDays.places)}::text::integer[], ${customersOf(ofDays)}::text::uuid[],
        ${ArrayLiteral.plain(ofDays.windows)}::text::integer[], ${ArrayLiteral.plain(days.flatMap(({ from }) => from))}::text::integer[],
        ${ArrayLiteral.plain(days.flatMap(({ to }) => to))}::text::integer[])${atMost(ofDays.windows.length)}
    ) as d (n, customer, w, first_day, next_day), lateral (
      select product_id, unit, quantity, record_count from ${t.usage_daily}
      where ${meter("d.customer")} and day >= coalesce(date '1970-01-01' + d.first_day, '-infinity')
        and day < coalesce(date '1970-01-01' + d.next_day, 'infinity') and record_count > 0 order by day offset 0
    ) as u`
  const partDays = sql`select e.n, e.w, r.product_id, r.unit, r.quantity::numeric, 1::bigint as record_count
    from unnest(${ArrayLiteral.plain(ofEdges.places)}::text::integer[], ${customersOf(ofEdges)}::text::uuid[],
      ${ArrayLiteral.plain(ofEdges.windows)}::text::integer[], ${ArrayLiteral.plain(edges.flatMap(({ start }) => start))}::text::bigint[],
      ${ArrayLiteral.plain(edges.flatMap(({ end }) => end))}::text::bigint[]) as e (n, customer, w, first_at, next_at), lateral (
      select product_id, unit, quantity from ${t.usage_records}
      where ${meter("e.customer")} and occurred_at >= to_timestamp(e.first_at / 1000.0::float8)
        and occurred_at < to_timestamp(e.next_at / 1000.0::float8) and voided_at is null order by occurred_at offset 0
    ) as r`
  // Most statements have no partial days. Leaving that half out saves the time to plan it.
  const parts =
    ofEdges.windows.length === 0
      ? wholeDays
      : ofDays.windows.length === 0
        ? partDays
        : sql`${wholeDays} union all ${partDays}`
  const product = sql.literal(by === "meter" ? "product_id" : "null::text")
  return sql<Row>`select n::text as n, w::text as w, ${product} as product_id, unit, sum(quantity)::text as quantity,
  sum(record_count)::text as record_count
from (${parts}) as x group by x.n, x.w, ${sql.literal(by === "meter" ? "x.product_id, " : "")}x.unit`
}

export const fromRow = (row: Row): UsageTotal => ({
  window: integer(row, "w"),
  productId: row["product_id"] === null ? undefined : text(row, "product_id"),
  unit: text(row, "unit"),
  quantity: bigint(row, "quantity"),
  recordCount: integer(row, "record_count"),
})
