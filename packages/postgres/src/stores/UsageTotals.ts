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
import type { SqlClient } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { bigint, integer, type Row, text } from "../Row.ts"
import type { Tables } from "../Tables.ts"

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
  { customerId, productId, unit }: Pick<TotalsQuery, "customerId" | "productId" | "unit">,
) => sql`account_id = ${tenant.accountId} and mode = ${tenant.mode}
      and customer_id = ${Id.toUuid(customerId)}::uuid
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
    select product_id, unit from ${t.usage_daily} where ${meterOf(sql, tenant, query)} and record_count > 0
      and day >= date '1970-01-01' + ${String(from)}::text::integer
      and day < date '1970-01-01' + ${String(to)}::text::integer
    limit ${String(most * (to - from) + 1)}::text::bigint
  ) as u
) as m`

/** The statement of a query; `undefined` when its windows are empty. */
export const statement = (sql: SqlClient.SqlClient, t: Tables, tenant: Tenant.Tenant, query: TotalsQuery) => {
  const { days, edges } = ranges(query.boundaries)
  const meter = meterOf(sql, tenant, query)
  // `offset 0` makes each range a separate search in an index that ends with the time. Without it the planner may
  // read all usage that a customer ever had, and then filter by the ranges.
  const wholeDays = sql`select d.w, u.product_id, u.unit, u.quantity, u.record_count
    from unnest(${ArrayLiteral.plain(days.windows)}::text::integer[], ${ArrayLiteral.plain(days.from)}::text::integer[],
      ${ArrayLiteral.plain(days.to)}::text::integer[]) as d (w, first_day, next_day), lateral (
      select product_id, unit, quantity, record_count from ${t.usage_daily}
      where ${meter} and day >= coalesce(date '1970-01-01' + d.first_day, '-infinity')
        and day < coalesce(date '1970-01-01' + d.next_day, 'infinity') and record_count > 0 offset 0
    ) as u`
  const partDays = sql`select e.w, r.product_id, r.unit, r.quantity::numeric, 1::bigint as record_count
    from unnest(${ArrayLiteral.plain(edges.windows)}::text::integer[], ${ArrayLiteral.plain(edges.start)}::text::bigint[],
      ${ArrayLiteral.plain(edges.end)}::text::bigint[]) as e (w, first_at, next_at), lateral (
      select product_id, unit, quantity from ${t.usage_records}
      where ${meter} and occurred_at >= to_timestamp(e.first_at / 1000.0::float8)
        and occurred_at < to_timestamp(e.next_at / 1000.0::float8) and voided_at is null offset 0
    ) as r`
  // Most statements have no partial days. Leaving that half out saves the time to plan it.
  const parts =
    edges.windows.length === 0
      ? wholeDays
      : days.windows.length === 0
        ? partDays
        : sql`${wholeDays} union all ${partDays}`
  const product = sql.literal(query.by === "meter" ? "product_id" : "null::text")
  return sql<Row>`select w::text as w, ${product} as product_id, unit, sum(quantity)::text as quantity,
  sum(record_count)::text as record_count
from (${parts}) as x group by 1, 2, 3`
}

export const fromRow = (row: Row): UsageTotal => ({
  window: integer(row, "w"),
  productId: row["product_id"] === null ? undefined : text(row, "product_id"),
  unit: text(row, "unit"),
  quantity: bigint(row, "quantity"),
  recordCount: integer(row, "record_count"),
})
