/**
 * The roll-ups of meters: their values, and the work on their cells.
 */
import {
  type Aggregation,
  CurrentTenant,
  Customer,
  Id,
  Meter,
  type Rollup,
  type RollupAnswer,
  type RollupQuery,
  RollupValues,
  Tenant,
  type UnfinishedMeter,
  UsagePeriod,
} from "@billwright/core"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { noteXid, XID } from "../CurrentTransaction.ts"
import type { DatabaseService } from "../Database.ts"
import { decoding, integer, json, type Row, text, textOrNull } from "../Row.ts"
import { cellFromRow, stateColumns } from "./MeterRow.ts"
import { ranges } from "./UsageTotals.ts"

/** A roll-up as a row of the view `meter_rollups`. */
const rowOf = (
  sql: SqlClient.SqlClient,
  { accountId, mode }: Tenant.Tenant,
  schema: string,
  rollup: Rollup.Rollup,
): Statement.Fragment => sql`row(${accountId}, ${mode}, ${rollup.productId}, ${rollup.unit},
  ${Id.toUuid(rollup.meterId)}, ${rollup.meterKey}, ${String(rollup.generation)}, ${rollup.aggregation},
  ${ArrayLiteral.quoted(rollup.dimensions)}, ${rollup.counted}::text, false)::${sql.literal(`"${schema}".meter_rollups`)}`

const toRollup = (meterId: Meter.MeterId, row: Row): Rollup.Rollup => ({
  meterId,
  meterKey: text(row, "key"),
  productId: text(row, "product_id"),
  unit: text(row, "unit"),
  generation: integer(row, "generation"),
  aggregation: text(row, "aggregation") as Aggregation.Aggregation,
  dimensions: json(row, "dimensions") as ReadonlyArray<string>,
  counted: textOrNull(row, "counted"),
})

/** The window of the levels before the first one. */
const BEFORE = -1

/** The cells of all windows, by the number of the window. */
const byWindow = (rows: ReadonlyArray<Row>): ReadonlyMap<number, ReadonlyArray<RollupValues.Cell>> => {
  const found = new Map<number, Array<RollupValues.Cell>>()
  for (const row of rows) {
    if (row["w"] === null) continue
    const window = integer(row, "w")
    const cells = found.get(window) ?? []
    found.set(window, cells)
    cells.push(cellFromRow(row))
  }
  return found
}

export const make = ({ everyTenant, read, schema, tables: t, write }: DatabaseService) => {
  const find = Effect.fnUntraced(function* (operation: string, { generation, meterId }: RollupQuery) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) => sql<Row>`select key, product_id, unit, generation::text as generation, aggregation,
  dimensions::text as dimensions, counted
from ${t.meters} where account_id = ${accountId} and mode = ${mode} and id = ${Id.toUuid(meterId)}::uuid
  and status = 'ready' and generation::integer = ${String(generation)}::integer`,
    )
    return yield* decoding(operation, (row: Row | undefined) => row && toRollup(meterId, row))(rows[0])
  })

  const rollup = Effect.fnUntraced(function* (query: RollupQuery) {
    const operation = "UsageStore.rollup"
    const tenant = yield* CurrentTenant
    const definition = yield* find(operation, query)
    if (definition === undefined) return { _tag: "Gone" } as RollupAnswer
    const rows = yield* read(operation, (sql) =>
      statement({ sql, t, tenant, rollup: definition, query, of: rowOf(sql, tenant, schema, definition) }),
    )
    if (rows.length === 0) return { _tag: "Gone" } as RollupAnswer
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => answer(definition, query, all))(rows)
  })

  const build = Effect.fnUntraced(function* (next: Rollup.Rollup, { days }: { readonly days: number }) {
    const operation = "UsageStore.build"
    const tenant = yield* CurrentTenant
    const rows = yield* write(
      operation,
      (
        sql,
      ) => sql<Row>`select status, done::text, total::text, customer_id::text, to_char(day, 'YYYY-MM-DD') as day,
  dimension, ${XID}
from ${t.build_cells}(${rowOf(sql, tenant, schema, next)}, ${String(days)}::integer)`,
    )
    yield* noteXid(rows[0]?.["xid"])
    return yield* decoding(operation, progressFromRow)(rows[0] ?? {})
  })

  const sweep = Effect.fnUntraced(function* (
    meterId: Meter.MeterId,
    kept: ReadonlyArray<number>,
    { cells }: { readonly cells: number },
  ) {
    const operation = "UsageStore.sweep"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      operation,
      (sql) => sql<Row>`select is_done::text, ${XID}
from ${t.sweep_cells}(${accountId}, ${mode}, ${Id.toUuid(meterId)}::uuid,
  ${ArrayLiteral.plain(kept)}::text::integer[], ${String(cells)}::integer) as is_done`,
    )
    yield* noteXid(rows[0]?.["xid"])
    return yield* decoding(operation, (row: Row) => text(row, "is_done") === "true")(rows[0] ?? {})
  })

  const unfinished = Effect.fnUntraced(function* (after: Tenant.Tenant | undefined, limit: number) {
    const operation = "UsageStore.unfinished"
    const rows = yield* everyTenant.read(operation, (sql) => {
      const next = (account: Statement.Fragment, mode: Statement.Fragment) => sql`
  select m.account_id, m.mode, m.id from ${t.meters} m
  where m.rebuild ->> 'status' <> 'failed' and (m.account_id, m.mode) > (${account}, ${mode})
  order by m.account_id, m.mode, m.id limit 1`
      return sql<Row>`with recursive found (account_id, mode, id, number) as (
  select f.*, 1 from (${next(sql`${after?.accountId ?? ""}::text`, sql`${after?.mode ?? ""}::text`)}) as f
  union all
  select n.account_id, n.mode, n.id, f.number + 1
  from found f cross join lateral (${next(sql.literal("f.account_id"), sql.literal("f.mode"))}) as n
  where f.number < ${String(limit)}::integer
)
select account_id, mode, id::text from found order by number`
    })
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(unfinishedFromRow))(rows)
  })

  return { rollup, build, sweep, unfinished }
}

const unfinishedFromRow = (row: Row): UnfinishedMeter => ({
  tenant: {
    accountId: Tenant.AccountId.make(text(row, "account_id")),
    mode: text(row, "mode") as Tenant.Mode,
  },
  meterId: Meter.MeterId.make(Id.fromUuid(Meter.METER_ID_PREFIX, text(row, "id"))),
})

const customerOf = (row: Row): Customer.CustomerId =>
  Id.fromUuid(Customer.CUSTOMER_ID_PREFIX, text(row, "customer_id")) as Customer.CustomerId

const progressFromRow = (row: Row): Rollup.Progress => {
  const total = integer(row, "total")
  switch (text(row, "status")) {
    case "built":
      return { _tag: "Built", total }
    case "too_many_combinations":
      return {
        _tag: "TooManyCombinations",
        customerId: customerOf(row),
        day: text(row, "day"),
        dimension: text(row, "dimension"),
      }
    case "records_removed":
      return { _tag: "RecordsRemoved", customerId: customerOf(row), day: text(row, "day") }
    default:
      return { _tag: "Building", done: integer(row, "done"), total }
  }
}

/** The statement has applied the filter already, and left only the dimensions that are grouped by or counted. */
const answer = (rollup: Rollup.Rollup, query: RollupQuery, rows: ReadonlyArray<Row>): RollupAnswer => {
  const { boundaries } = query
  const cells = byWindow(rows)
  const windowOf = ({ end }: UsagePeriod.Period): number =>
    end === undefined ? boundaries.length - 2 : boundaries.indexOf(end) - 1
  // A window of no length has no cells. By its end it would be taken for the window before it.
  const isEmpty = ({ end, start }: UsagePeriod.Period): boolean => start !== undefined && start === end
  return RollupValues.answer(rollup, { ...query, where: [] }, (period) =>
    isEmpty(period) ? [] : (cells.get(windowOf(period)) ?? []),
  )
}

interface Asked {
  readonly sql: SqlClient.SqlClient
  readonly t: DatabaseService["tables"]
  readonly tenant: Tenant.Tenant
  readonly rollup: Rollup.Rollup
  readonly query: RollupQuery
  /** The roll-up as a row. */
  readonly of: Statement.Fragment
}

const ALL_STATE = "record_count, quantity, first_at, last_at, last_key, last_id, last_quantity"

const dayOf = (sql: SqlClient.SqlClient, day: number) =>
  sql`date '1970-01-01' + ${String(day)}::text::integer`

/** The condition for the cells of the roll-up and customer. */
const ownCells = ({ query, sql, tenant: { accountId, mode } }: Asked) =>
  sql`c.account_id = ${accountId} and c.mode = ${mode} and c.meter_id = ${Id.toUuid(query.meterId)}::uuid
      and c.generation = ${String(query.generation)}::text::integer
      and c.customer_id = ${Id.toUuid(query.customerId)}::uuid`

/** The condition that a combination matches the filter, and has records that are not voided. */
const isWanted = ({ query, rollup, sql }: Asked): Statement.Fragment =>
  query.where.reduce<Statement.Fragment>(
    (condition, [name, values]) =>
      sql`${condition} and c.combination[${sql.literal(String(rollup.dimensions.indexOf(name) + 1))}]
        = any (${ArrayLiteral.quoted(values)}::text::text[])`,
    sql`c.record_count > 0`,
  )

/** Whole days of the windows. */
const cellsOfDays = (asked: Asked, { from, to, windows }: ReturnType<typeof ranges>["days"]) => {
  const { sql, t } = asked
  return sql`select d.w, x.* from unnest(${ArrayLiteral.plain(windows)}::text::integer[],
      ${ArrayLiteral.plain(from)}::text::integer[], ${ArrayLiteral.plain(to)}::text::integer[]) as d (w, first_day, next_day),
    lateral (
      select c.combination, ${sql.literal(ALL_STATE)} from ${t.meter_cells} c
      where ${ownCells(asked)} and c.day >= coalesce(date '1970-01-01' + d.first_day, '-infinity')
        and c.day < coalesce(date '1970-01-01' + d.next_day, 'infinity') and ${isWanted(asked)} offset 0
    ) as x`
}

/** The records of parts of days. */
const cellsOfParts = (asked: Asked, { end, start, windows }: ReturnType<typeof ranges>["edges"]) => {
  const { of, query, sql, t } = asked
  const instants = (millis: ReadonlyArray<number>) => sql`array(select to_timestamp(p.at / 1000.0::float8)
      from unnest(${ArrayLiteral.plain(millis)}::text::bigint[]) with ordinality as p (at, place) order by p.place)`
  const customer = Id.toUuid(query.customerId)
  return sql`select (${ArrayLiteral.plain(windows)}::text::integer[])[c.place], c.combination, ${sql.literal(ALL_STATE)}
    from ${t.measure_usage}(${of}, ${ArrayLiteral.plain(windows.map(() => customer))}::text::uuid[],
      ${instants(start)}, ${instants(end)}) as c where ${isWanted(asked)}`
}

/**
 * The last cell of each combination before a day, if it left a level other than 0. It goes from combination to combination,
 * with one look-up each.
 */
const lastCells = (asked: Asked, day: number) => {
  const { sql, t } = asked
  const own = sql`${ownCells(asked)} and c.first_at is not null`
  return sql`select ${sql.literal(String(BEFORE))}, x.* from (
      with recursive found (combination) as (
        (select c.combination from ${t.meter_cells} c where ${own} order by c.combination, c.day limit 1)
        union all
        select (
          select c.combination from ${t.meter_cells} c where ${own} and c.combination > f.combination
          order by c.combination, c.day limit 1
        ) from found f where f.combination is not null
      )
      select f.combination from found f where f.combination is not null
    ) as f cross join lateral (
      select c.combination, ${sql.literal(ALL_STATE)} from ${t.meter_cells} c
      where ${own} and c.combination = f.combination and c.day < ${dayOf(sql, day)} and ${isWanted(asked)}
      order by c.day desc limit 1
    ) as x where x.last_quantity > 0`
}

/** Everything that a query needs. */
const parts = (asked: Asked): ReadonlyArray<Statement.Fragment> => {
  const { boundaries } = asked.query
  const { days, edges } = ranges(boundaries)
  const [first] = boundaries
  const found: Array<Statement.Fragment> = []
  if (asked.rollup.aggregation === "time_weighted" && first !== undefined) {
    const day = UsagePeriod.utcDay(first)
    found.push(lastCells(asked, day))
    if (day * UsagePeriod.UTC_DAY_MILLIS < first) {
      edges.windows.push(BEFORE)
      edges.start.push(day * UsagePeriod.UTC_DAY_MILLIS)
      edges.end.push(first)
    }
  }
  if (days.windows.length > 0) found.push(cellsOfDays(asked, days))
  if (edges.windows.length > 0) found.push(cellsOfParts(asked, edges))
  return found
}

/** The combination with null for the dimensions that the answer does not need. */
const needed = ({ query, rollup, sql }: Asked): Statement.Fragment => {
  const names = new Set([...query.groupBy, rollup.counted])
  const values = rollup.dimensions.map((name, index) =>
    names.has(name) ? `x.combination[${index + 1}]` : "null",
  )
  return sql.literal(`array[${values.join(", ")}]::text[] collate "C"`)
}

/** Merges cells of the same window and values as far as the aggregation allows. */
const merged = (asked: Asked, cells: Statement.Fragment): Statement.Fragment => {
  const { rollup, sql } = asked
  switch (rollup.aggregation) {
    case "time_weighted":
      return sql`select x.* from (${cells}) as x`
    case "latest":
      return sql`select distinct on (x.w, x.combination) x.w, x.combination,
    sum(x.record_count) over (partition by x.w, x.combination) as record_count, x.quantity, x.first_at, x.last_at,
    x.last_key, x.last_id, x.last_quantity
  from (select x.w, ${needed(asked)} as combination, ${sql.literal(ALL_STATE)} from (${cells}) as x) as x
  order by x.w, x.combination, x.last_at desc, x.last_key desc nulls last, x.last_id desc`
    default:
      return sql`select x.w, ${needed(asked)} as combination, sum(x.record_count) as record_count,
    ${sql.literal(rollup.aggregation === "max" ? "max" : "sum")}(x.quantity) as quantity, null::timestamptz as first_at,
    null::timestamptz as last_at, null::text as last_key, null::uuid as last_id, null::bigint as last_quantity
  from (${cells}) as x group by 1, 2`
  }
}

/** One row without a window when there are no cells; no row when the generation no longer answers. */
const statement = (asked: Asked) => {
  const { query, sql, t, tenant } = asked
  const [
    cells = sql`select 0, null::text[], ${sql.literal("0::bigint, 0::numeric, null::timestamptz, null::timestamptz, null::text, null::uuid, null::bigint")} where false`,
    ...others
  ] = parts(asked)
  const all = others.reduce<Statement.Fragment>((before, next) => sql`${before} union all ${next}`, cells)
  return sql<Row>`with cells (w, combination, ${sql.literal(ALL_STATE)}) as (
  ${all}
), merged as (
  ${merged(asked, sql`select * from cells`)}
)
select m.w::text as w, to_json(m.combination)::text as combination, ${stateColumns(sql, "m")}
from (
  select 1 from ${t.meters} m where m.account_id = ${tenant.accountId} and m.mode = ${tenant.mode}
    and m.id = ${Id.toUuid(query.meterId)}::uuid and m.status = 'ready'
    and m.generation::integer = ${String(query.generation)}::text::integer
) as g left join merged m on true order by m.w, m.first_at`
}
