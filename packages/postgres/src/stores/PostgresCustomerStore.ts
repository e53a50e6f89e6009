/**
 * The `CustomerStore` on Postgres.
 */
import {
  CurrentTenant,
  Customer,
  type CustomerFilterQuery,
  CustomerStore,
  type CustomerStatus,
  Id,
  type Page,
  StorageError,
  Transactor,
} from "@billwright/core"
import { DateTime, Effect, Layer, Option } from "effect"
import { type SqlClient, Statement } from "effect/sql"
import { noteXid } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { clauses, cursorOf, pageOf, requireCursor } from "../Paging.ts"
import { decoding, type Row, text } from "../Row.ts"
import { columns, fromRow } from "./CustomerRow.ts"

/** Customers from the cursor on that a search looks at one by one, before it asks the index. */
const SEARCHED_FIRST = 2_000

const holds = (sql: SqlClient.SqlClient, search: string) =>
  sql`strpos(t.search_text, ${search}::text collate "C") > 0`

const make = Effect.gen(function* () {
  const { read, schema, tables: t, write } = yield* Database
  const keys = Statement.fragment([Statement.literal(`${schema}.customer_search_keys`)])
  const transactor = yield* Transactor

  const insert = Effect.fnUntraced(function* (customer: Customer.Customer) {
    const operation = "CustomerStore.insert"
    const { accountId, mode } = yield* CurrentTenant
    yield* write(operation, (sql, isRepeat) =>
      sql<Row>`insert into ${t.customers} (account_id, mode, id, name, email, search_text, metadata, created_at, updated_at)
values (${accountId}, ${mode}, ${Id.toUuid(customer.id)}::uuid, ${customer.name}, ${customer.email},
  ${Customer.searchText(customer)}, ${JSON.stringify(customer.metadata)}::text::jsonb, to_timestamp(${String(customer.createdAt.epochMilliseconds)}::float8 / 1000),
  to_timestamp(${String(customer.updatedAt.epochMilliseconds)}::float8 / 1000))
on conflict do nothing returning pg_current_xact_id_if_assigned()::text as xid`.pipe(
        Effect.map((rows) => ({ rows, isRepeat })),
      ),
    ).pipe(
      Effect.flatMap(({ isRepeat, rows }) => {
        if (rows.length > 0 || isRepeat) return noteXid(rows[0]?.xid)
        const cause = new Error(`the customer id ${customer.id} is taken`)
        return Effect.fail(new StorageError({ operation, retryable: false, cause }))
      }),
    )
  })

  const find = Effect.fnUntraced(function* (id: Customer.CustomerId) {
    const operation = "CustomerStore.find"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${columns} from ${t.customers}
where account_id = ${accountId} and mode = ${mode} and id = ${Id.toUuid(id)}::uuid and erased_at is null`,
    )
    return yield* firstOf(operation, rows)
  })

  const status = Effect.fnUntraced(function* (id: Customer.CustomerId) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      "CustomerStore.status",
      (sql) =>
        sql<Row>`select case when erased_at is null then 'active' else 'erased' end as status from ${t.customers}
where account_id = ${accountId} and mode = ${mode} and id = ${Id.toUuid(id)}::uuid`,
    )
    return rows[0] === undefined ? "unknown" : (text(rows[0], "status") as CustomerStatus)
  })

  const modify = <E, R>(
    id: Customer.CustomerId,
    change: (customer: Customer.Customer) => Effect.Effect<Customer.Customer, E, R>,
  ) =>
    transactor.atomically(
      Effect.gen(function* () {
        const operation = "CustomerStore.modify"
        const { accountId, mode } = yield* CurrentTenant
        const uuid = Id.toUuid(id)
        const rows = yield* write(
          operation,
          (sql) =>
            sql<Row>`select ${columns} from ${t.customers}
where account_id = ${accountId} and mode = ${mode} and id = ${uuid}::uuid and erased_at is null for no key update`,
        )
        const found = yield* firstOf(operation, rows)
        if (Option.isNone(found)) return Option.none<Customer.Customer>()
        const changed = yield* change(found.value)
        const written = yield* write(
          operation,
          (sql) =>
            sql<Row>`update ${t.customers} set name = ${changed.name}, email = ${changed.email},
  search_text = ${Customer.searchText(changed)},
  metadata = ${JSON.stringify(changed.metadata)}::text::jsonb,
  created_at = to_timestamp(${String(changed.createdAt.epochMilliseconds)}::float8 / 1000),
  updated_at = to_timestamp(${String(changed.updatedAt.epochMilliseconds)}::float8 / 1000)
where account_id = ${accountId} and mode = ${mode} and id = ${uuid}::uuid and erased_at is null
returning ${columns}, pg_current_xact_id_if_assigned()::text as xid`,
        )
        yield* noteXid(written[0]?.xid)
        return yield* firstOf(operation, written)
      }),
    )

  const erase = Effect.fnUntraced(function* (id: Customer.CustomerId) {
    const { accountId, mode } = yield* CurrentTenant
    const now = yield* DateTime.now
    // FOR UPDATE waits for the appends that hold the customer FOR KEY SHARE; the update alone would pass them by.
    const rows = yield* write(
      "CustomerStore.erase",
      (sql) =>
        sql<Row>`with locked as (
  select id from ${t.customers}
  where account_id = ${accountId} and mode = ${mode} and id = ${Id.toUuid(id)}::uuid for update
), erased as (
  update ${t.customers} c set name = null, email = null, search_text = null, metadata = null,
    erased_at = to_timestamp(${String(now.epochMilliseconds)}::float8 / 1000)
  from locked where c.account_id = ${accountId} and c.mode = ${mode} and c.id = locked.id and c.erased_at is null
)
select pg_current_xact_id_if_assigned()::text as xid from locked`,
    )
    yield* noteXid(rows[0]?.xid)
    return rows.length > 0
  })

  const list = Effect.fnUntraced(function* (filter: CustomerFilterQuery, page: Page.PageQuery) {
    const operation = "CustomerStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const cursor = yield* cursorOf(Customer.CUSTOMER_ID_PREFIX, page)
    yield* requireCursor(page, cursor, (uuid) =>
      read(
        operation,
        (sql) =>
          sql<Row>`select 1 from ${t.customers}
where account_id = ${accountId} and mode = ${mode} and id = ${uuid}::uuid`,
      ),
    )
    const { email, search } = filter
    const { limit, order, position } = clauses(page, cursor)
    const rows =
      search !== undefined && email === undefined
        ? yield* searched(operation, search, page, cursor)
        : yield* read(operation, (sql) => {
            const who = email === undefined ? sql`t.erased_at is null` : sql`t.email = ${email}`
            const what = search === undefined ? sql`true` : holds(sql, search)
            return sql<Row>`select ${columns} from ${t.customers} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${who} and ${what} and ${position}
order by ${order} limit ${limit}`
          })
    return pageOf(page, yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(fromRow))(rows))
  })

  /**
   * What many have is found among the newest; what few have, by the index. Which of both is seen by trying, not
   * guessed by the planner: it would read all customers when it guesses wrong.
   */
  const searched = Effect.fnUntraced(function* (
    operation: string,
    search: string,
    page: Page.PageQuery,
    cursor: string | undefined,
  ) {
    const { accountId, mode } = yield* CurrentTenant
    const { limit, order, position } = clauses(page, cursor)
    const newest = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${columns} from (
  select * from ${t.customers} t
  where t.account_id = ${accountId} and t.mode = ${mode} and t.erased_at is null and ${position}
  order by ${order} limit ${sql.literal(String(SEARCHED_FIRST))}
) as t
where ${holds(sql, search)} order by ${order} limit ${limit}`,
    )
    if (newest.length > page.limit) return newest
    // The keys name the tenant. Materialized, so that no other index is taken for the order.
    return yield* read(
      operation,
      (sql) =>
        sql<Row>`with found as materialized (
  select t.id from ${t.customers} t
  where ${keys}(t.account_id, t.mode, t.search_text)
    @> ${keys}(${accountId}::text collate "C", ${mode}::text collate "C", ${search}::text collate "C")
    and ${holds(sql, search)} and ${position}
)
select ${columns} from ${t.customers} t
where t.account_id = ${accountId} and t.mode = ${mode}
  and t.id = any (array(select t.id from found t order by ${order} limit ${limit}))
order by ${order}`,
    )
  })

  return CustomerStore.of({ insert, find, status, modify, erase, list })
})

const firstOf = (operation: string, rows: ReadonlyArray<Row>) =>
  decoding(operation, (row: Row | undefined) =>
    row === undefined ? Option.none() : Option.some(fromRow(row)),
  )(rows[0])

export const layer: Layer.Layer<CustomerStore, never, Database | Transactor> = Layer.effect(
  CustomerStore,
  make,
)
