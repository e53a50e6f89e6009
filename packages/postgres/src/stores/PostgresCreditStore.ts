/**
 * `CreditStore` on Postgres.
 */
import {
  Batch,
  Credit,
  type CreditEntryFilter,
  type CreditGrantFilter,
  CreditStore,
  CurrentTenant,
  Hold,
  Id,
  type Page,
  type StoredChange,
  type StoredLedger,
} from "@billwright/core"
import { Effect, Layer, Option } from "effect"
import { type SqlClient, Statement } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { instantOf } from "../Millis.ts"
import { clauses, cursorIn, pageOf } from "../Paging.ts"
import { bigint, decoding, integer, json, type Row, text } from "../Row.ts"
import {
  consumptionColumns,
  consumptionFromRow,
  consumptionJson,
  entryColumns,
  entryFromRow,
  entryJson,
  grantColumns,
  grantFromRow,
  grantJson,
  grantObjects,
  holdColumns,
  holdFromRow,
  holdJson,
  holdObjects,
} from "./CreditRow.ts"
import * as CreditSums from "./CreditSums.ts"
import * as QuickCredits from "./QuickCredits.ts"

type Key = Credit.AccountKey

const EMPTY: StoredLedger = {
  account: { available: 0n, scoped: 0n, held: 0n, debt: 0n, openHolds: 0, sequence: 0 },
  grants: [],
  holds: [],
  levels: [],
}

const at = (name: string): Statement.Fragment =>
  Statement.fragment([Statement.literal(instantOf(`r.${name}::float8`))])

const rowsOf = (row: Row, column: string): ReadonlyArray<Row> => json(row, column) as ReadonlyArray<Row>

const ledgerFromRows = ([row]: ReadonlyArray<Row>): StoredLedger =>
  row === undefined
    ? EMPTY
    : {
        account: {
          ...balanceFromRow(row),
          scoped: bigint(row, "scoped"),
          openHolds: integer(row, "open_holds"),
          sequence: integer(row, "sequence"),
        },
        grants: rowsOf(row, "grants").map(grantFromRow),
        holds: rowsOf(row, "holds").map(holdFromRow),
        levels: (json(row, "levels") as ReadonlyArray<string>).map(BigInt),
      }

const balanceFromRow = (row: Row) => ({
  available: bigint(row, "available"),
  held: bigint(row, "held"),
  debt: bigint(row, "debt"),
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const { read: ask, tables: t, write: change } = database

  /** The condition that a row `t` belongs to an account. */
  const ofAccount = Effect.fnUntraced(function* ({ customerId, unit }: Key) {
    const { accountId, mode } = yield* CurrentTenant
    return Statement.fragment([
      Statement.literal("t.account_id = "),
      Statement.parameter(accountId),
      Statement.literal(" and t.mode = "),
      Statement.parameter(mode),
      Statement.literal(" and t.customer_id = "),
      Statement.parameter(Id.toUuid(customerId)),
      Statement.literal("::uuid and t.unit = "),
      Statement.parameter(unit),
    ])
  })

  /**
   * An account with its grants and holds in one statement, so that they are of one moment. Only the index of open holds has them in
   * the order of their expiry. Any other one gives all holds of the tenant (`hasExpiredHold`).
   */
  const readAs = Effect.fnUntraced(function* (operation: string, key: Key, now: number) {
    const isOwn = yield* ofAccount(key)
    const rows = yield* ask(
      operation,
      (sql) =>
        sql<Row>`select t.available::text, t.scoped::text, t.held::text, t.debt::text, t.open_holds::text, t.sequence::text,
  to_jsonb(coalesce(t.levels::text[], '{}'))::text as levels,
  (select ${grantObjects} from ${t.billing_credit_grants} t
    where ${isOwn} and t.is_live) as grants,
  (select ${holdObjects} from (
    select t.* from ${t.billing_credit_holds} t
    where ${isOwn} and t.status = 'open' and t.expires_at <= to_timestamp(${String(now)}::float8 / 1000)
    order by t.expires_at
  ) as t) as holds
from ${t.billing_credit_accounts} t where ${isOwn}`,
    )
    return yield* decoding(operation, ledgerFromRows)(rows)
  })

  /** Which of some accounts there are. With `lock`, in an order that is the same for everybody, so that nobody waits in a circle. */
  const whichExist = Effect.fnUntraced(function* (
    operation: string,
    keys: ReadonlyArray<Key>,
    lock: boolean,
  ) {
    const { accountId, mode } = yield* CurrentTenant
    const [first] = keys
    const asked = JSON.stringify(
      keys.map(({ customerId, unit }) => ({ customer_id: Id.toUuid(customerId), unit })),
    )
    const ofOne = first !== undefined && keys.length === 1 ? yield* ofAccount(first) : undefined
    const statement = (sql: SqlClient.SqlClient) => {
      const ofAll = sql`t.account_id = ${accountId} and t.mode = ${mode} and (t.customer_id, t.unit) in (
  select r.customer_id, r.unit from jsonb_to_recordset(${asked}::text::jsonb) as r (customer_id uuid, unit text))`
      return sql<Row>`select t.customer_id::text as customer_id, t.unit from ${t.billing_credit_accounts} t
where ${ofOne ?? ofAll}
order by t.customer_id, t.unit${lock ? Statement.literal(" for no key update of t") : Statement.literal("")}`
    }
    const rows = yield* lock ? change(operation, statement) : ask(operation, statement)
    const found = new Set(rows.map((row) => `${String(row["customer_id"])} ${String(row["unit"])}`))
    return keys.map(({ customerId, unit }) => found.has(`${Id.toUuid(customerId)} ${unit}`))
  })

  interface Asked {
    readonly key: Key
    readonly now: number
  }

  /** Few customers have credits of a unit, so it is asked first, and at once, who does. */
  const readAll = (operation: string, lock: boolean) =>
    Effect.fnUntraced(function* (asked: ReadonlyArray<Asked>) {
      const exist = yield* whichExist(
        operation,
        asked.map(({ key }) => key),
        lock,
      )
      return yield* Effect.forEach(asked, ({ key, now }, index) =>
        exist[index] === true ? readAs(operation, key, now) : Effect.succeed(EMPTY),
      )
    })

  const read = (key: Key, now: number) =>
    Effect.flatMap(Batch.isMember, (isMember) =>
      isMember
        ? Batch.together("CreditStore.read", { key, now }, readAll("CreditStore.read", false))
        : readAs("CreditStore.read", key, now),
    )

  /** Statements of their own, because the first ones may wait, and their snapshot of the grants is from before that. */
  const lock = Effect.fnUntraced(function* (key: Key, now: number, mode: "open" | "existing") {
    const operation = "CreditStore.lock"
    const tenant = yield* CurrentTenant
    if (mode === "open") {
      const rows = yield* change(
        operation,
        (sql) =>
          sql<Row>`insert into ${t.billing_credit_accounts}
  (account_id, mode, customer_id, unit, available, held, debt, open_holds, sequence)
values (${tenant.accountId}, ${tenant.mode}, ${Id.toUuid(key.customerId)}::uuid, ${key.unit}, 0, 0, 0, 0, 0)
on conflict do nothing returning ${XID}`,
      )
      yield* noteXid(rows[0]?.["xid"])
    }
    return yield* Batch.together(operation, { key, now }, readAll(operation, true))
  })

  const write = Effect.fnUntraced(function* (key: Key, given: StoredChange) {
    const { accountId, mode } = yield* CurrentTenant
    const isOwn = yield* ofAccount(key)
    const { available, debt, held, openHolds, scoped, sequence } = given.account
    const consumptions = given.consumption === null ? [] : [given.consumption]
    const own = Statement.fragment([
      Statement.parameter(accountId),
      Statement.literal(", "),
      Statement.parameter(mode),
      Statement.literal(", "),
      Statement.parameter(Id.toUuid(key.customerId)),
      Statement.literal("::uuid, "),
      Statement.parameter(key.unit),
    ])
    const rows = yield* change(
      "CreditStore.write",
      (sql) =>
        sql<Row>`with written as (
  update ${t.billing_credit_accounts} t set available = ${String(available)}::numeric, scoped = ${String(scoped)}::numeric,
    held = ${String(held)}::numeric, debt = ${String(debt)}::numeric, open_holds = ${String(openHolds)}::integer, sequence = ${String(sequence)}::bigint
  where ${isOwn} returning ${XID}
), grants as (
  insert into ${t.billing_credit_grants} (account_id, mode, customer_id, unit, id, kind, amount, priority, effective_at,
    expires_at, status, available, held, source_type, source_id, source_period, rollover_maximum, rollover_expires_at,
    scope, steps, idempotency_key, created_at)
  select ${own}, r.id, r.kind, r.amount, r.priority, ${at("effective_at")}, ${at("expires_at")}, r.status, r.available,
    r.held, r.source_type, r.source_id, r.source_period, r.rollover_maximum, ${at("rollover_expires_at")}, r.scope, r.steps,
    r.idempotency_key, ${at("created_at")}
  from jsonb_to_recordset(${JSON.stringify(given.grants.map(grantJson))}::text::jsonb) as r (id uuid, kind text,
    amount numeric, priority integer, effective_at bigint, expires_at bigint, status text, available numeric,
    held numeric, source_type text, source_id uuid, source_period integer, rollover_maximum numeric,
    rollover_expires_at bigint, scope jsonb, steps jsonb, idempotency_key text, created_at bigint)
  on conflict (account_id, mode, customer_id, id) do update
  set amount = excluded.amount, expires_at = excluded.expires_at, status = excluded.status, available = excluded.available,
    held = excluded.held, rollover_maximum = excluded.rollover_maximum,
    rollover_expires_at = excluded.rollover_expires_at, steps = excluded.steps
), holds as (
  insert into ${t.billing_credit_holds} (account_id, mode, customer_id, unit, id, amount, slices, ttl_seconds, expires_at,
    status, committed, is_late, purpose, settled_at, idempotency_key, created_at)
  select ${own}, r.id, r.amount, r.slices, r.ttl_seconds, ${at("expires_at")}, r.status, r.committed, r.is_late,
    r.purpose, ${at("settled_at")}, r.idempotency_key, ${at("created_at")}
  from jsonb_to_recordset(${JSON.stringify(given.holds.map(holdJson))}::text::jsonb) as r (id uuid, amount numeric,
    slices jsonb, ttl_seconds integer, expires_at bigint, status text, committed numeric, is_late boolean,
    purpose text, settled_at bigint, idempotency_key text, created_at bigint)
  on conflict (account_id, mode, customer_id, id) do update
  set expires_at = excluded.expires_at, status = excluded.status, committed = excluded.committed,
    is_late = excluded.is_late, settled_at = excluded.settled_at
), consumptions as (
  insert into ${t.billing_credit_consumptions} (account_id, mode, customer_id, unit, id, amount, purpose, available, held, debt,
    idempotency_key, created_at)
  select ${own}, r.id, r.amount, r.purpose, r.available, r.held, r.debt, r.idempotency_key, ${at("created_at")}
  from jsonb_to_recordset(${JSON.stringify(consumptions.map(consumptionJson))}::text::jsonb) as r (id uuid,
    amount numeric, purpose text, available numeric, held numeric, debt numeric, idempotency_key text, created_at bigint)
), entries as (
  insert into ${t.billing_credit_entries} (account_id, mode, customer_id, unit, sequence, id, kind, grant_id, hold_id,
    consumption_id, invoice_id, purpose, available, scoped, held, debt, at)
  select ${own}, r.sequence, r.id, r.kind, r.grant_id, r.hold_id, r.consumption_id, r.invoice_id, r.purpose, r.available, r.scoped, r.held,
    r.debt, ${at("at")}
  from jsonb_to_recordset(${JSON.stringify(given.entries.map(entryJson))}::text::jsonb) as r (id uuid, sequence bigint,
    kind text, grant_id uuid, hold_id uuid, consumption_id uuid, invoice_id uuid, purpose text, available numeric, scoped numeric, held numeric,
    debt numeric, at bigint)
)
select xid from written`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  const watch = Effect.fnUntraced(function* (key: Key, levels: ReadonlyArray<bigint>) {
    const isOwn = yield* ofAccount(key)
    const list = levels.length === 0 ? null : ArrayLiteral.plain(levels.map(String))
    const rows = yield* change(
      "CreditStore.watch",
      (
        sql,
      ) => sql<Row>`update ${t.billing_credit_accounts} t set levels = ${list}::text::numeric[] where ${isOwn}
returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  const { hold, settle, take } = yield* QuickCredits.make(database)

  const unitsOf = Effect.fnUntraced(function* (customerId: string, after: string | undefined, limit: number) {
    const operation = "CreditStore.unitsOf"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* ask(
      operation,
      (sql) =>
        sql<Row>`select t.unit from ${t.billing_credit_accounts} t
where t.account_id = ${accountId} and t.mode = ${mode} and t.customer_id = ${Id.toUuid(customerId)}::uuid
  and t.unit > ${after ?? ""} order by t.unit limit ${String(limit)}::integer`,
    )
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map((row) => text(row, "unit")))(rows)
  })

  /** The first row of a table that has a value in a column, of the current tenant. */
  const one = Effect.fnUntraced(function* <A>(
    operation: string,
    table: Statement.Fragment,
    columns: Statement.Fragment,
    where: Statement.Fragment,
    fromRow: (row: Row) => A,
  ) {
    const rows = yield* ask(operation, (sql) => sql<Row>`select ${columns} from ${table} t where ${where}`)
    const values = yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(fromRow))(rows)
    return Option.fromUndefinedOr(values[0])
  })

  const withId = Effect.map(
    CurrentTenant,
    ({ accountId, mode }) =>
      (id: string) =>
        Statement.fragment([
          Statement.literal("t.account_id = "),
          Statement.parameter(accountId),
          Statement.literal(" and t.mode = "),
          Statement.parameter(mode),
          Statement.literal(" and t.id = "),
          Statement.parameter(Id.toUuid(id)),
          Statement.literal("::uuid"),
        ]),
  )

  const withKey = (key: Key, idempotencyKey: string) =>
    Effect.map(ofAccount(key), (isOwn) =>
      Statement.fragment([
        ...isOwn.segments,
        Statement.literal(" and t.idempotency_key = "),
        Statement.parameter(idempotencyKey),
      ]),
    )

  const grants = [t.billing_credit_grants, grantColumns] as const
  const holds = [t.billing_credit_holds, holdColumns] as const

  const findGrant = (id: Credit.CreditGrantId) =>
    Effect.flatMap(withId, (where) => one("CreditStore.findGrant", ...grants, where(id), grantFromRow))
  const findHold = (id: Hold.HoldId) =>
    Effect.flatMap(withId, (where) => one("CreditStore.findHold", ...holds, where(id), holdFromRow))
  const grantByKey = (key: Key, text: string) =>
    Effect.flatMap(withKey(key, text), (where) =>
      one("CreditStore.grantByKey", ...grants, where, grantFromRow),
    )
  const grantOfSource = (key: Key, { id, period, type }: Credit.GrantSource) =>
    Effect.flatMap(ofAccount(key), (isOwn) => {
      const where = Statement.fragment([
        ...isOwn.segments,
        Statement.literal(" and t.source_type = "),
        Statement.parameter(type),
        Statement.literal(" and t.source_id = "),
        Statement.parameter(Id.toUuid(id)),
        Statement.literal("::uuid and coalesce(t.source_period, 0) = "),
        Statement.parameter(String(period ?? 0)),
        Statement.literal("::integer"),
      ])
      return one("CreditStore.grantOfSource", ...grants, where, grantFromRow)
    })
  const holdByKey = (key: Key, text: string) =>
    Effect.flatMap(withKey(key, text), (where) => one("CreditStore.holdByKey", ...holds, where, holdFromRow))
  const consumptionByKey = (key: Key, text: string) =>
    Effect.flatMap(withKey(key, text), (where) =>
      one(
        "CreditStore.consumptionByKey",
        t.billing_credit_consumptions,
        consumptionColumns,
        where,
        consumptionFromRow,
      ),
    )

  const listed = Effect.fnUntraced(function* <A>(
    operation: string,
    { columns, fromRow, prefix, table }: Listed<A>,
    { customerId, grantId, invoiceId, kind, since, unit }: CreditEntryFilter,
    page: Page.PageQuery,
  ) {
    const { accountId, mode } = yield* CurrentTenant
    const { limit, order, position } = clauses(page, yield* cursorIn(ask, operation, table, prefix, page))
    const rows = yield* ask(operation, (sql) => {
      const conditions = [
        ...(customerId === undefined ? [] : [sql`t.customer_id = ${Id.toUuid(customerId)}::uuid`]),
        ...(unit === undefined ? [] : [sql`t.unit = ${unit}`]),
        ...(grantId === undefined ? [] : [sql`t.grant_id = ${Id.toUuid(grantId)}::uuid`]),
        ...(invoiceId === undefined ? [] : [sql`t.invoice_id = ${Id.toUuid(invoiceId)}::uuid`]),
        // Written as it is in the index.
        ...(kind === undefined ? [] : [kind === "expire" ? sql`t.kind = 'expire'` : sql`t.kind = ${kind}`]),
        ...(since === undefined ? [] : [sql`t.at >= to_timestamp(${String(since)}::float8 / 1000)`]),
        position,
      ]
      return sql<Row>`select ${columns} from ${table} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${sql.and(conditions)} order by ${order} limit ${limit}`
    })
    return pageOf(page, yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(fromRow))(rows))
  })

  const grantList: Listed<Credit.StoredGrant> = {
    table: t.billing_credit_grants,
    columns: grantColumns,
    prefix: Credit.GRANT_ID_PREFIX,
    fromRow: grantFromRow,
  }
  const holdList: Listed<Hold.StoredHold> = {
    table: t.billing_credit_holds,
    columns: holdColumns,
    prefix: Hold.HOLD_ID_PREFIX,
    fromRow: holdFromRow,
  }
  const entryList: Listed<Credit.StoredEntry> = {
    table: t.billing_credit_entries,
    columns: entryColumns,
    prefix: Credit.ENTRY_ID_PREFIX,
    fromRow: entryFromRow,
  }
  const listGrants = (filter: CreditGrantFilter, page: Page.PageQuery) =>
    listed("CreditStore.listGrants", grantList, filter, page)
  const listHolds = (filter: CreditGrantFilter, page: Page.PageQuery) =>
    listed("CreditStore.listHolds", holdList, filter, page)
  const listEntries = (filter: CreditEntryFilter, page: Page.PageQuery) =>
    listed("CreditStore.listEntries", entryList, filter, page)

  return CreditStore.of({
    lock,
    read,
    write,
    take,
    watch,
    hold,
    settle,
    unitsOf,
    findGrant,
    findHold,
    grantByKey,
    grantOfSource,
    holdByKey,
    consumptionByKey,
    listGrants,
    listHolds,
    listEntries,
    audit: CreditSums.make(database),
  })
})

/** What is listed. */
interface Listed<A> {
  readonly table: Statement.Fragment
  readonly columns: Statement.Fragment
  readonly prefix: string
  readonly fromRow: (row: Row) => A
}

export const layer: Layer.Layer<CreditStore, never, Database> = Layer.effect(CreditStore, make)
