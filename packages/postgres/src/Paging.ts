/**
 * Pages of lists in SQL: newest first, ordered by id.
 */
import { CurrentTenant, Id, Page } from "@billwright/core"
import { Effect } from "effect"
import { Statement } from "effect/sql"
import type { DatabaseService } from "./Database.ts"
import { type Row, text } from "./Row.ts"

/** The UUID of an id with this prefix; `undefined` for any other text. */
const uuidOf = (prefix: string, id: string): string | undefined => {
  const parsed = Id.parse(id)
  return parsed?.prefix === prefix ? Id.toUuid(id) : undefined
}

/** The cursor of a page, after checking that it is an id of the listed resource. */
export const cursorOf = (
  prefix: string,
  page: Page.PageQuery,
): Effect.Effect<string | undefined, Page.CursorNotFound> => {
  if (page.cursor === undefined) return Effect.succeed(undefined)
  const uuid = uuidOf(prefix, page.cursor.id)
  return uuid === undefined
    ? Effect.fail(new Page.CursorNotFound({ id: page.cursor.id }))
    : Effect.succeed(uuid)
}

/** Runs `check` for the cursor, if there is one. Fails if it finds nothing. */
export const requireCursor = <E, R>(
  page: Page.PageQuery,
  uuid: string | undefined,
  check: (uuid: string) => Effect.Effect<ReadonlyArray<unknown>, E, R>,
): Effect.Effect<void, E | Page.CursorNotFound, R> =>
  uuid === undefined
    ? Effect.void
    : Effect.flatMap(check(uuid), (rows) =>
        rows.length === 0
          ? Effect.fail(new Page.CursorNotFound({ id: page.cursor?.id ?? uuid }))
          : Effect.void,
      )

/** The cursor of a page in a table of the current tenant. Fails if the table has no such row. */
export const cursorIn = Effect.fnUntraced(function* (
  read: DatabaseService["read"],
  operation: string,
  table: Statement.Fragment,
  prefix: string,
  page: Page.PageQuery,
) {
  const { accountId, mode } = yield* CurrentTenant
  const cursor = yield* cursorOf(prefix, page)
  yield* requireCursor(page, cursor, (uuid) =>
    read(
      operation,
      (sql) =>
        sql<Row>`select 1 from ${table} where account_id = ${accountId} and mode = ${mode} and id = ${uuid}::uuid`,
    ),
  )
  return cursor
})

const literal = (text: string) => Statement.fragment([Statement.literal(text)])
// Qualified by the table. A bare `id` would mean the selected text, and no index is ordered by that.
const OLDER = literal("t.id desc")
const NEWER = literal("t.id asc")
const ANYWHERE = literal("true")

/**
 * The fragments that follow `where … and`, `order by` and `limit` in a list of a table with the alias `t`. They
 * select one row more than the page has, which tells whether there is a next page.
 */
export const clauses = (page: Page.PageQuery, uuid: string | undefined) => {
  const isNewer = page.cursor?.direction === "newer"
  return {
    position:
      uuid === undefined
        ? ANYWHERE
        : Statement.fragment([
            Statement.literal(isNewer ? "t.id > " : "t.id < "),
            Statement.parameter(uuid),
            Statement.literal("::uuid"),
          ]),
    order: isNewer ? NEWER : OLDER,
    limit: literal(String(page.limit + 1)),
  }
}

/** Makes a page of the selected rows. */
export const pageOf = <A>(page: Page.PageQuery, items: ReadonlyArray<A>): Page.Page<A> => {
  const data = items.slice(0, page.limit)
  if (page.cursor?.direction === "newer") data.reverse()
  return { data, hasMore: items.length > page.limit }
}

/**
 * The rows of a query, named `t` in `order`, and whether a page has room for each: `is_shown`. `size` is how many bytes
 * a row takes of `Page.MAX_PAGE_BYTES`.
 */
export const withinBytes = (
  rows: Statement.Fragment,
  size: string,
  order: Statement.Fragment,
): Statement.Fragment =>
  Statement.fragment([
    Statement.literal(`(
    select t.*, sum(${size}) over upward <= ${Page.MAX_PAGE_BYTES} or row_number() over upward = 1 as is_shown
    from (`),
    ...rows.segments,
    Statement.literal(`) as t window upward as (order by `),
    ...order.segments,
    Statement.literal(` rows unbounded preceding)
  )`),
  ])

/** Those of some rows that a page has room for. */
export const shownOf = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> =>
  rows.filter((row) => text(row, "is_shown") === "true")
