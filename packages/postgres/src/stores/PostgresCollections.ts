/**
 * The `Collections` on Postgres: one store for every resource that has a table.
 */
import {
  Batch,
  type CollectionFilter,
  type CollectionOf,
  Collections,
  CurrentTenant,
  Id,
  type IdStatus,
  type Page,
  type Resource,
  StorageError,
  Tenant,
  Transactor,
} from "@billwright/core"
import { Array as Arr, DateTime, Effect, Layer, Option } from "effect"
import { Statement } from "effect/sql"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database, type DatabaseService } from "../Database.ts"
import { cursorIn, pageOf, shownOf } from "../Paging.ts"
import { decoding, type Row, text } from "../Row.ts"
import { byPlace, inOrderOf, uuids } from "./Batched.ts"
import * as CollectionList from "./CollectionList.ts"
import * as ResourceRow from "./ResourceRow.ts"
import { RESOURCE_TABLES, type ResourceTable } from "./ResourceTables.ts"

/** The filters that are about no field. */
const UNEQUAL = new Set(["madeBefore", "madeFrom", "search"])
/** Most values of one statement, which has a parameter for each field of each value. */
const MAX_ROWS = 500

const literal = (text: string): Statement.Fragment => Statement.fragment([Statement.literal(text)])

/** Fragments separated by commas. */
const listed = (fragments: ReadonlyArray<Statement.Fragment>): Statement.Fragment =>
  Statement.fragment(
    fragments.flatMap(({ segments }, index) =>
      index === 0 ? segments : [Statement.literal(", "), ...segments],
    ),
  )

interface Kept<A> {
  readonly database: DatabaseService
  readonly transactor: Transactor["Service"]
  readonly resource: Resource.Definition
  readonly place: ResourceTable
  readonly rows: ResourceRow.Rows<A>
}

/** A first page of a list, whose fields equal values. */
interface FirstPage<A> {
  readonly equal: ReadonlyArray<CollectionList.EqualColumn & { readonly text: string | null }>
  readonly filter: CollectionFilter<A>
  readonly page: Page.PageQuery
}

const make = <A extends { readonly id: string }>({
  database,
  place,
  resource,
  rows,
  transactor,
}: Kept<A>) => {
  const { read, schema, tables, write } = database
  const table = literal(`"${schema}".${place.table}`)
  const nameOf = (verb: string): string => `Collections.${verb}(${resource.type})`
  const names = literal(rows.names.join(", "))
  const { countedBy, removedAt, searchKeys } = place
  const { customer, unique = [] } = resource
  const isStored = literal(removedAt === undefined ? "true" : `t.${removedAt} is null`)
  const lists = CollectionList.make(database, {
    table,
    rows,
    isStored,
    searchKeys: searchKeys === undefined ? undefined : literal(`"${schema}".${searchKeys}`),
  })

  const firstOf = (operation: string, found: ReadonlyArray<Row>) =>
    decoding(operation, (row: Row | undefined) => Option.map(Option.fromUndefinedOr(row), rows.fromRow))(
      found[0],
    )

  /** Locks the customer of a value, and counts the value. */
  const count = Effect.fnUntraced(function* (operation: string, value: A) {
    if (countedBy === undefined || customer === undefined) return
    const { accountId, mode } = yield* CurrentTenant
    const uuid = Id.toUuid(String(value[customer as keyof A]))
    const column = literal(countedBy)
    yield* write(
      operation,
      (sql) =>
        sql<Row>`select 1 from ${tables.customers}
where account_id = ${accountId} and mode = ${mode} and id = ${uuid}::uuid for update`,
    )
    yield* write(
      operation,
      (sql) =>
        sql<Row>`update ${tables.customers} set ${column} = ${column} + 1
where account_id = ${accountId} and mode = ${mode} and id = ${uuid}::uuid`,
    )
  })

  const findAll = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    const operation = nameOf("find")
    const { accountId, mode } = yield* CurrentTenant
    const found = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${rows.columns} from ${table} t
where account_id = ${accountId} and mode = ${mode} and id = any (${uuids(ids)}::text::uuid[]) and ${isStored}`,
    )
    return inOrderOf(
      ids,
      yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(rows.fromRow))(found),
    )
  })
  const find = (id: string) => Batch.together(nameOf("find"), id, findAll)

  const insertRow = Effect.fnUntraced(function* (value: A) {
    const operation = nameOf("insert")
    const { accountId, mode } = yield* CurrentTenant
    const { inserted, isRepeat } = yield* write(operation, (sql, isAgain) =>
      sql<Row>`insert into ${table} (account_id, mode, id, ${names})
values (${accountId}, ${mode}, ${Id.toUuid(value.id)}::uuid, ${listed(rows.valuesOf(value))}) on conflict do nothing returning ${XID}`.pipe(
        Effect.map((found) => ({ inserted: found, isRepeat: isAgain })),
      ),
    )
    if (inserted.length > 0 || isRepeat) {
      yield* noteXid(inserted[0]?.["xid"])
      return true
    }
    if (unique.length > 0 && Option.isNone(yield* find(value.id))) return false
    const cause = new Error(`the ${resource.noun} id ${value.id} is taken`)
    return yield* new StorageError({ operation, retryable: false, cause })
  })

  const insertRows = Effect.fnUntraced(function* (values: ReadonlyArray<A>) {
    const operation = nameOf("insert")
    const { accountId, mode } = yield* CurrentTenant
    const { inserted, isRepeat } = yield* write(operation, (sql, isAgain) => {
      const added = values.map(
        (value) =>
          sql`(${accountId}, ${mode}, ${Id.toUuid(value.id)}::uuid, ${listed(rows.valuesOf(value))})`,
      )
      return sql<Row>`insert into ${table} (account_id, mode, id, ${names})
values ${listed(added)} on conflict do nothing returning ${XID}`.pipe(
        Effect.map((found) => ({ inserted: found, isRepeat: isAgain })),
      )
    })
    if (inserted.length < values.length && !isRepeat) {
      const cause = new Error(`an id of the ${resource.noun}s is taken`)
      return yield* new StorageError({ operation, retryable: false, cause })
    }
    yield* noteXid(inserted[0]?.["xid"])
  })

  /** Without counts and unique fields, values need nothing but their rows. */
  const insertAll =
    countedBy === undefined && unique.length === 0
      ? (values: ReadonlyArray<A>) =>
          values.length <= MAX_ROWS
            ? insertRows(values)
            : transactor.atomically(
                Effect.forEach(Arr.chunksOf(values, MAX_ROWS), insertRows, { discard: true }),
              )
      : undefined

  /** Makes other insertions of the tenant wait, so that what the caller counts after its own stays true. */
  const lockTenant = Effect.gen(function* () {
    const name = JSON.stringify(["billwright", resource.type, Tenant.tenantKey(yield* CurrentTenant)])
    yield* write(
      nameOf("insert"),
      (sql) => sql<Row>`select pg_advisory_xact_lock(hashtextextended(${name}, 0))::text as locked`,
    )
  })

  const insert = (value: A) => {
    if (unique.length > 0) return transactor.atomically(Effect.andThen(lockTenant, insertRow(value)))
    return countedBy === undefined
      ? insertRow(value)
      : transactor.atomically(Effect.andThen(count(nameOf("insert"), value), insertRow(value)))
  }

  const status = Effect.fnUntraced(function* (id: string) {
    const { accountId, mode } = yield* CurrentTenant
    const found = yield* read(
      nameOf("status"),
      (sql) =>
        sql<Row>`select case when ${isStored} then 'active' else 'removed' end as status from ${table} t
where account_id = ${accountId} and mode = ${mode} and id = ${Id.toUuid(id)}::uuid`,
    )
    return found[0] === undefined ? "unknown" : (text(found[0], "status") as IdStatus)
  })

  const modify = <E, R>(id: string, change: (value: A) => Effect.Effect<A, E, R>) =>
    transactor.atomically(
      Effect.gen(function* () {
        const operation = nameOf("modify")
        const { accountId, mode } = yield* CurrentTenant
        const uuid = Id.toUuid(id)
        const locked = yield* write(
          operation,
          (sql) =>
            sql<Row>`select ${rows.columns} from ${table} t
where account_id = ${accountId} and mode = ${mode} and id = ${uuid}::uuid and ${isStored} for no key update`,
        )
        const found = yield* firstOf(operation, locked)
        if (Option.isNone(found)) return Option.none<A>()
        const changed = yield* change(found.value)
        // It is only held. An update would also let those read it who wait for its removal in the same transaction.
        if (changed === found.value) return found
        const written = yield* write(
          operation,
          (sql) =>
            sql<Row>`update ${table} t set (${names}) = row(${listed(rows.valuesOf(changed))})
where account_id = ${accountId} and mode = ${mode} and id = ${uuid}::uuid and ${isStored}
returning ${rows.columns}, ${XID}`,
        )
        yield* noteXid(written[0]?.["xid"])
        return yield* firstOf(operation, written)
      }),
    )

  const removeRow = Effect.fnUntraced(function* (id: string) {
    const { accountId, mode } = yield* CurrentTenant
    const removed = yield* write(nameOf("remove"), (sql) => {
      const deletion = sql`delete from ${table}
  where account_id = ${accountId} and mode = ${mode} and id = ${Id.toUuid(id)}::uuid`
      if (countedBy === undefined || customer === undefined) return sql<Row>`${deletion} returning ${XID}`
      const column = literal(countedBy)
      const owner = literal(rows.parameter(customer, null).column)
      return sql<Row>`with deleted as (
  ${deletion} returning ${owner} as customer_id
), counted as (
  update ${tables.customers} c set ${column} = c.${column} - 1 from deleted d
  where c.account_id = ${accountId} and c.mode = ${mode} and c.id = d.customer_id
)
select ${XID} from deleted`
    })
    yield* noteXid(removed[0]?.["xid"])
    return removed.length > 0
  })

  /** Empties the row and keeps its id. A repeat changes nothing. */
  const emptyRow = Effect.fnUntraced(function* (id: string, column: string) {
    const { accountId, mode } = yield* CurrentTenant
    const now = yield* DateTime.now
    const nulls = literal(rows.emptied.map((name) => `${name} = null`).join(", "))
    // FOR UPDATE waits for transactions that hold the row FOR KEY SHARE, such as appends of usage. The update alone
    // would not wait for them.
    const locked = yield* write(
      nameOf("remove"),
      (sql) =>
        sql<Row>`with locked as (
  select id from ${table}
  where account_id = ${accountId} and mode = ${mode} and id = ${Id.toUuid(id)}::uuid for update
), emptied as (
  update ${table} t set ${nulls}, ${literal(column)} = to_timestamp(${String(now.epochMilliseconds)}::float8 / 1000)
  from locked where t.account_id = ${accountId} and t.mode = ${mode} and t.id = locked.id and ${isStored}
)
select ${XID} from locked`,
    )
    yield* noteXid(locked[0]?.["xid"])
    return locked.length > 0
  })

  const toPage = (operation: string, page: Page.PageQuery, found: ReadonlyArray<Row>) =>
    Effect.map(decoding(operation, (all: ReadonlyArray<Row>) => all.map(rows.fromRow))(found), (values) =>
      pageOf({ ...page, limit: Math.min(page.limit, shownOf(found).length) }, values),
    )

  const listOne = Effect.fnUntraced(function* (filter: CollectionFilter<A>, page: Page.PageQuery) {
    const operation = nameOf("list")
    const cursor = yield* cursorIn(read, operation, table, resource.prefix, page)
    const { madeBefore, madeFrom, search, ...fields } = filter
    const idAt = (millis: number | undefined) =>
      millis === undefined ? undefined : Id.toUuid(Id.firstAt(resource.prefix, millis))
    const equal = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ({ ...rows.parameter(name, value), isNull: value === null }))
    return yield* toPage(
      operation,
      page,
      yield* lists.list(
        operation,
        { equal, search, from: idAt(madeFrom), before: idAt(madeBefore) },
        page,
        cursor,
      ),
    )
  })

  /** First pages of lists with the same fields. Lists with the same values are read once. */
  const listAll = Effect.fnUntraced(function* (asked: ReadonlyArray<FirstPage<A>>) {
    const [{ equal, filter, page }] = asked as readonly [FirstPage<A>, ...Array<FirstPage<A>>]
    const keys = asked.map((one) => JSON.stringify(one.equal.map(({ text: value }) => value)))
    const places = new Map<string, number>()
    for (const key of keys) if (!places.has(key)) places.set(key, places.size)
    if (places.size === 1) {
      const found = yield* listOne(filter, page)
      return asked.map(() => found)
    }
    const operation = nameOf("list")
    const values = Array.from(places.keys(), (key) => JSON.parse(key) as ReadonlyArray<string | null>)
    const found = yield* lists.listAll(operation, equal, values, page)
    const split = yield* decoding(
      operation,
      byPlace(values.length, (row: Row) => row),
    )(found)
    const pages = yield* Effect.forEach(split, (some) =>
      toPage(
        operation,
        page,
        some.toSorted((a, b) => (text(a, "id") < text(b, "id") ? 1 : -1)),
      ),
    )
    return keys.map((key) => pages[places.get(key)!]!)
  })

  const list = (filter: CollectionFilter<A>, page: Page.PageQuery) => {
    const fields = Object.entries(filter).filter(([, value]) => value !== undefined)
    const isEqual = fields.every(([name, value]) => !UNEQUAL.has(name) && value !== null)
    if (page.cursor !== undefined || fields.length === 0 || !isEqual) return listOne(filter, page)
    const equal = fields.map(([name, value]) => rows.parameter(name, value))
    const key = [nameOf("list"), page.limit, ...equal.map(({ column }) => column)].join(" ")
    return Batch.together(key, { equal, filter, page }, listAll)
  }

  return {
    insert,
    insertAll,
    find,
    status,
    modify,
    remove: (id: string) =>
      removedAt === undefined
        ? // A transaction, because a repeat of the statement alone could not tell its own work from another's.
          transactor.atomically(removeRow(id))
        : emptyRow(id, removedAt),
    list,
  }
}

export const layer: Layer.Layer<Collections, never, Database | Transactor> = Layer.effect(
  Collections,
  Effect.gen(function* () {
    const database = yield* Database
    const transactor = yield* Transactor
    const made = new Map<string, object>()
    return Collections.of({
      of: <D extends Resource.Definition>(resource: Resource.Resource<D>) => {
        const place = RESOURCE_TABLES[resource.type]
        if (place === undefined) throw new TypeError(`the resource ${resource.type} has no table`)
        const collection =
          made.get(resource.type) ??
          make({
            database,
            transactor,
            resource,
            place,
            rows: ResourceRow.make<{ readonly id: string }>(resource),
          })
        made.set(resource.type, collection)
        return collection as CollectionOf<Resource.Resource<D>>
      },
    })
  }),
)
