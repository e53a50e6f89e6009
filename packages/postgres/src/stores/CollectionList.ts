/**
 * Lists of a resource's rows, by equality and by search.
 */
import { CurrentTenant, type Page, type StorageError } from "@billwright/core"
import { Effect } from "effect"
import { type SqlClient, Statement } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import type { DatabaseService } from "../Database.ts"
import { clauses, withinBytes } from "../Paging.ts"
import type { Row } from "../Row.ts"
import type * as ResourceRow from "./ResourceRow.ts"

/** How many rows after the cursor a search checks one by one, before it uses the index. */
const SEARCHED_FIRST = 2_000

/** The table of a resource. */
export interface ListedTable {
  readonly table: Statement.Fragment
  readonly rows: Pick<ResourceRow.Rows<never>, "columns" | "shownColumns" | "jsonSize">
  /** The condition that a row of `t` has a value. */
  readonly isStored: Statement.Fragment
  /** The function of the search index. */
  readonly searchKeys: Statement.Fragment | undefined
}

/** Which rows to list. */
export interface RowFilter {
  /** Columns, and the values that they must equal. */
  readonly equal: ReadonlyArray<{
    readonly column: string
    readonly value: Statement.Fragment
    /** Whether the value is `null`, which nothing in SQL is equal to. */
    readonly isNull: boolean
  }>
  readonly search: string | undefined
  /** The UUIDs between which the rows are: from the first, before the second. */
  readonly from: string | undefined
  readonly before: string | undefined
}

/** The columns of lists that differ only in the values that they must equal. */
export interface EqualColumn {
  readonly column: string
  /** The cast of a value, which takes the place of `?`. */
  readonly cast: string
}

/**
 * Selects what is read of some rows, in an order. JSON beyond the bytes of a page is not read: its rows have `is_shown`
 * false.
 */
const selected = (
  sql: SqlClient.SqlClient,
  { columns, jsonSize, shownColumns }: ListedTable["rows"],
  found: Statement.Fragment,
  order: Statement.Fragment,
) =>
  jsonSize === undefined
    ? sql<Row>`select ${columns}, 'true' as is_shown from (${found}) as t order by ${order}`
    : sql<Row>`select ${shownColumns}, t.is_shown::text as is_shown
from ${withinBytes(found, jsonSize, order)} as t order by ${order}`

type Rows = Effect.Effect<ReadonlyArray<Row>, StorageError, CurrentTenant>

const holds = (sql: SqlClient.SqlClient, search: string) =>
  sql`strpos(t.search_text, ${search}::text collate "C") > 0`

/**
 * Makes the list of a table: the rows of a page, and one more if there is one. The rows that fit on the page have
 * `is_shown`. `cursor` is the UUID of the page's cursor.
 */
export const make = (
  { read }: Pick<DatabaseService, "read">,
  { isStored, rows, searchKeys, table }: ListedTable,
) => {
  const filtered = Effect.fnUntraced(function* (
    operation: string,
    { before, equal, from, search }: RowFilter,
    page: Page.PageQuery,
    cursor: string | undefined,
  ) {
    const { accountId, mode } = yield* CurrentTenant
    const { limit, order, position } = clauses(page, cursor)
    const wanted = Statement.fragment(
      equal.flatMap(({ column, isNull, value }) =>
        isNull
          ? [Statement.literal(` and t.${column} is null`)]
          : [Statement.literal(` and t.${column} = `), ...value.segments],
      ),
    )
    return yield* read(operation, (sql) => {
      const what = search === undefined ? sql`true` : holds(sql, search)
      const start = from === undefined ? sql`true` : sql`t.id >= ${from}::uuid`
      const end = before === undefined ? sql`true` : sql`t.id < ${before}::uuid`
      const found = sql`select t.* from ${table} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${isStored}${wanted} and ${what} and ${start} and ${end} and ${position}
order by ${order} limit ${limit}`
      return selected(sql, rows, found, order)
    })
  })

  /**
   * A text that many rows contain is found among the newest rows. A text that few contain is found by the index. The
   * first way is tried before the second; the planner doesn't choose, because it would read the whole table after a
   * wrong guess.
   */
  const searched = Effect.fnUntraced(function* (
    operation: string,
    keys: Statement.Fragment,
    search: string,
    page: Page.PageQuery,
    cursor: string | undefined,
  ) {
    const { accountId, mode } = yield* CurrentTenant
    const { limit, order, position } = clauses(page, cursor)
    const newest = yield* read(operation, (sql) => {
      const found = sql`select t.* from (
  select * from ${table} t
  where t.account_id = ${accountId} and t.mode = ${mode} and ${isStored} and ${position}
  order by ${order} limit ${sql.literal(String(SEARCHED_FIRST))}
) as t
where ${holds(sql, search)} order by ${order} limit ${limit}`
      return selected(sql, rows, found, order)
    })
    if (newest.length > page.limit) return newest
    // The keys contain the tenant. Materialized, so that the planner doesn't use another index for the order.
    return yield* read(operation, (sql) => {
      const found = sql`with found as materialized (
  select t.id from ${table} t
  where ${keys}(t.account_id, t.mode, t.search_text)
    @> ${keys}(${accountId}::text collate "C", ${mode}::text collate "C", ${search}::text collate "C")
    and ${holds(sql, search)} and ${position}
)
select t.* from ${table} t
where t.account_id = ${accountId} and t.mode = ${mode}
  and t.id = any (array(select t.id from found t order by ${order} limit ${limit}))
order by ${order}`
      return selected(sql, rows, found, order)
    })
  })

  const list = (
    operation: string,
    filter: RowFilter,
    page: Page.PageQuery,
    cursor: string | undefined,
  ): Rows => {
    const { before, equal, from, search } = filter
    const isLimited = equal.length > 0 || from !== undefined || before !== undefined
    return search === undefined || isLimited || searchKeys === undefined
      ? filtered(operation, filter, page, cursor)
      : searched(operation, searchKeys, search, page, cursor)
  }

  /** The first pages of lists that differ only in their values, in any order. A row has the place `n` of its list. */
  const listAll = Effect.fnUntraced(function* (
    operation: string,
    columns: ReadonlyArray<EqualColumn>,
    values: ReadonlyArray<ReadonlyArray<string | null>>,
    page: Page.PageQuery,
  ) {
    const { accountId, mode } = yield* CurrentTenant
    const { limit, order } = clauses(page, undefined)
    const asked = columns.map((_, index) => ArrayLiteral.quoted(values.map((some) => some[index]!)))
    const names = columns.map((_, index) => `v${index}`)
    const wanted = columns.map(
      ({ cast, column }, index) => `t.${column} = ${cast.replace("?", `a.v${index}`)}`,
    )
    return yield* read(operation, (sql) => {
      const found = sql`select t.* from ${table} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${isStored} and ${sql.literal(wanted.join(" and "))}
order by ${order} limit ${limit}`
      return sql<Row>`select a.n::text as n, x.* from unnest(${sql.csv(asked.map((one) => sql`${one}::text::text[]`))})
with ordinality as a (${sql.literal(names.join(", "))}, n) cross join lateral (${selected(sql, rows, found, order)}) as x`
    })
  })

  return { list, listAll }
}
