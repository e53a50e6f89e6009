/**
 * The `InvoiceStore` on Postgres.
 */
import {
  Batch,
  CurrentTenant,
  Id,
  Invoice,
  type InvoiceFilter,
  InvoiceStore,
  type Page,
  StorageError,
  type SubscriptionId,
  Tenant,
  Transactor,
} from "@billwright/core"
import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { clauses, cursorIn, pageOf, shownOf, withinBytes } from "../Paging.ts"
import { decoding, decodingLarge, integerOrNull, type Row, text } from "../Row.ts"
import { inOrderOf, isOneOf, uuids } from "./Batched.ts"
import * as BilledLines from "./BilledLines.ts"
import {
  dueColumns,
  hasFailed,
  invoiceIdOf,
  joinDue,
  queueDue,
  queueWritten,
  subscriptionIdOf,
} from "./DueRow.ts"
import {
  givenCauses,
  givenInvoices,
  givenLines,
  invoiceColumns,
  invoiceFromRow,
  toWritten,
} from "./InvoiceRow.ts"
import * as InvoiceSeries from "./InvoiceSeries.ts"
import * as InvoiceSums from "./InvoiceSums.ts"

type Stored = Invoice.StoredInvoice

const NOTHING = Statement.fragment([])

const invoicesFromRows = (rows: ReadonlyArray<Row>): ReadonlyArray<Stored> => rows.map(invoiceFromRow)

const make = Effect.gen(function* () {
  const database = yield* Database
  const { everyTenant, read, tables: t, write } = database
  const transactor = yield* Transactor
  const due = joinDue(t, "invoice")
  const columns = invoiceColumns(t)

  /**
   * Runs statements as one write. In a transaction they need no savepoint: when one of them fails, Postgres lets nothing
   * else of the transaction happen.
   */
  const asOneWrite = <A, E, R>(statements: Effect.Effect<A, E, R>) =>
    Effect.flatMap(transactor.inTransaction, (isJoined) =>
      isJoined ? statements : transactor.atomically(statements),
    )

  /** Lines are written before an invoice is issued. Afterwards Postgres refuses them. */
  const insertAll = Effect.fnUntraced(function* (all: ReadonlyArray<Stored>) {
    const operation = "InvoiceStore.insert"
    const { accountId, mode } = yield* CurrentTenant
    const given = all.map(toWritten)
    // `offset 0`: it is looked up by its key, whatever the planner knows of the table.
    const isTaken = Statement.fragment([
      Statement.literal("exists (select from "),
      ...t.billing_invoices.segments,
      Statement.literal(" i where i.account_id = "),
      Statement.parameter(accountId),
      Statement.literal(" and i.mode = "),
      Statement.parameter(mode),
      Statement.literal(" and i.id = g.id offset 0)"),
    ])
    yield* write(
      operation,
      (sql) =>
        sql<Row>`insert into ${t.billing_invoice_lines}
  (account_id, mode, customer_id, invoice_id, position, subscription_id, line)
select ${accountId}, ${mode}, g.customer_id, g.id, g.position, g.subscription_id, g.line
from ${givenLines(given)} where not ${isTaken}`,
    )
    const isQueued = all.some(({ dueAt }) => dueAt !== null)
    const rows = yield* write(
      operation,
      (sql) =>
        sql<Row>`with given as materialized (select g.* from ${givenInvoices(given)}), written as (
  insert into ${t.billing_invoices}
    (account_id, mode, customer_id, id, subscription_id, cause, state, taxed_by, lines_bytes, created_at, updated_at, past_due_since,
      voided_at, written_off_at)
  select ${accountId}, ${mode}, g.customer_id, g.id, g.subscription_id, g.cause, g.state, g.taxed_by, g.lines_bytes,
    to_timestamp(g.created_at / 1000), to_timestamp(g.updated_at / 1000), to_timestamp(g.past_due_since / 1000),
    to_timestamp(g.voided_at / 1000), to_timestamp(g.written_off_at / 1000)
  from given g where not ${isTaken}
  returning account_id, mode, customer_id, id, ${XID}
)${isQueued ? sql`, ${queueDue(t, "invoice")}` : NOTHING}
select id::text as id, xid from written`,
    )
    yield* noteXid(rows[0]?.["xid"])
    const written = new Set(rows.map((row) => row["id"]))
    const taken = all.find(({ id }) => !written.has(Id.toUuid(id)))
    if (taken !== undefined) {
      const cause = new Error(`the invoice id ${taken.id} is taken`)
      return yield* new StorageError({ operation, retryable: false, cause })
    }
    const causes = givenCauses(all)
    if (causes !== undefined) {
      yield* write(
        operation,
        (sql) =>
          sql<Row>`insert into ${t.billing_invoice_causes} (account_id, mode, customer_id, subscription_id, invoice_id, cause)
select ${accountId}, ${mode}, g.customer_id, g.subscription_id, g.invoice_id, g.cause from ${causes}`,
      )
    }
    return all.map(() => undefined)
  })

  const findAll = Effect.fnUntraced(function* (operation: string, ids: ReadonlyArray<Invoice.InvoiceId>) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${columns}, ${dueColumns} from ${t.billing_invoices} t ${due}
where t.account_id = ${accountId} and t.mode = ${mode} and ${isOneOf("t.id", ids)}`,
    )
    return inOrderOf(ids, yield* decoding(operation, invoicesFromRows)(rows))
  })

  /** Two statements, because the first one may wait, and its snapshot of lines and queue is from before that. */
  const lockAll = Effect.fnUntraced(function* (ids: ReadonlyArray<Invoice.InvoiceId>) {
    const operation = "InvoiceStore.lock"
    const { accountId, mode } = yield* CurrentTenant
    yield* write(
      operation,
      (sql) =>
        sql<Row>`select 1 from ${t.billing_invoices} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${isOneOf("t.id", ids)}
order by t.id for no key update`,
    )
    return yield* findAll(operation, ids)
  })

  const lock = (id: Invoice.InvoiceId) => Batch.together("InvoiceStore.lock", id, lockAll)

  /** Subscriptions first, and in the order of their ids, as everybody who bills them does. */
  const lockWithSubscriptions = Effect.fnUntraced(function* (id: Invoice.InvoiceId) {
    const { accountId, mode } = yield* CurrentTenant
    const operation = "InvoiceStore.lockWithSubscriptions"
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select distinct l.subscription_id::text from ${t.billing_invoices} i cross join lateral (
  select l.subscription_id from ${t.billing_invoice_lines} l
  where l.account_id = i.account_id and l.mode = i.mode and l.customer_id = i.customer_id and l.invoice_id = i.id
  offset 0
) as l
where i.account_id = ${accountId} and i.mode = ${mode} and i.id = ${Id.toUuid(id)}::uuid and l.subscription_id is not null`,
    )
    const among = yield* decoding(operation, (all: ReadonlyArray<Row>) =>
      all.map((row) => subscriptionIdOf(row, "subscription_id")),
    )(rows)
    if (among.length > 0) {
      yield* write(
        operation,
        (sql) =>
          sql<Row>`select 1 from ${t.billing_subscriptions} s
where s.account_id = ${accountId} and s.mode = ${mode} and ${isOneOf("s.id", among)}
order by s.id for no key update`,
      )
    }
    return yield* lock(id)
  })

  /** The words on status and `past_due_since` are those of an index. */
  const pastDueSince = Effect.fnUntraced(function* (ids: ReadonlyArray<SubscriptionId>) {
    const operation = "InvoiceStore.pastDueSince"
    if (ids.length === 0) return []
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select (extract(epoch from (
  select min(i.past_due_since) from ${t.billing_subscriptions} s join ${t.billing_invoices} i
    on i.account_id = s.account_id and i.mode = s.mode and i.customer_id = s.customer_id
  where s.account_id = ${accountId} and s.mode = ${mode} and s.id = a.id
    and i.status = 'open' and i.past_due_since is not null and (
      i.subscription_id = a.id or i.subscription_id is null and exists (
        select from ${t.billing_invoice_causes} c
        where c.account_id = i.account_id and c.mode = i.mode and c.customer_id = i.customer_id
          and c.subscription_id = a.id and c.invoice_id = i.id
      )
    )
)) * 1000)::bigint::text as since
from unnest(${uuids(ids)}::text::uuid[]) with ordinality as a (id, n) order by a.n`,
    )
    return yield* decoding(operation, (all: ReadonlyArray<Row>) =>
      all.map((row) => integerOrNull(row, "since")),
    )(rows)
  })

  const allPastDueSince = (asked: ReadonlyArray<ReadonlyArray<SubscriptionId>>) =>
    Effect.map(pastDueSince(asked.flat()), (all) => {
      let next = 0
      return asked.map(({ length }) => all.slice(next, (next += length)))
    })

  const lockAllDrafts = Effect.fnUntraced(function* (asked: ReadonlyArray<ReadonlyArray<SubscriptionId>>) {
    const operation = "InvoiceStore.lockDrafts"
    const { accountId, mode } = yield* CurrentTenant
    const found = yield* read(
      operation,
      (sql) =>
        sql<Row>`select f.id::text as id from unnest(${uuids(asked.flat())}::text::uuid[]) as a (id)
cross join lateral (
  select i.id, i.status from ${t.billing_invoices} i
  where i.account_id = ${accountId} and i.mode = ${mode} and i.subscription_id = a.id
  offset 0
) as f
where f.status = 'draft'
union
select f.invoice_id::text from unnest(${uuids(asked.flat())}::text::uuid[]) as a (id)
cross join lateral (
  select c.invoice_id from ${t.billing_invoice_causes} c
  where c.account_id = ${accountId} and c.mode = ${mode} and c.subscription_id = a.id
  offset 0
) as f`,
    )
    if (found.length === 0) return asked.map(() => [])
    const among = yield* decoding(operation, (all: ReadonlyArray<Row>) =>
      all.map((row) => invoiceIdOf(row, "id")),
    )(found)
    yield* write(
      operation,
      (sql) =>
        sql<Row>`select 1 from ${t.billing_invoices} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${isOneOf("t.id", among)} and t.status = 'draft'
order by t.id for no key update`,
    )
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${columns}, ${dueColumns} from ${t.billing_invoices} t ${due}
where t.account_id = ${accountId} and t.mode = ${mode} and ${isOneOf("t.id", among)} and t.status = 'draft'
order by t.id`,
    )
    const drafts = yield* decoding(operation, invoicesFromRows)(rows)
    return asked.map((ids) =>
      drafts.filter(({ causes }) => causes.some(({ subscriptionId }) => ids.includes(subscriptionId))),
    )
  })

  /** Of a draft, only lines that are new or have changed are written. */
  const saveAll = Effect.fnUntraced(function* (all: ReadonlyArray<Stored>) {
    const operation = "InvoiceStore.save"
    const { accountId, mode } = yield* CurrentTenant
    const given = all.map(toWritten)
    const ids = all.map(({ id }) => id)
    const drafts = yield* write(
      operation,
      (sql) =>
        sql<Row>`with draft as materialized (
  select i.account_id, i.mode, i.customer_id, i.id from ${t.billing_invoices} i
  where i.account_id = ${accountId} and i.mode = ${mode} and ${isOneOf("i.id", ids)}
    and i.status = 'draft'
), removed as (
  delete from ${t.billing_invoice_lines} l using draft i
  where l.account_id = i.account_id and l.mode = i.mode and l.customer_id = i.customer_id and l.invoice_id = i.id
    and (l.invoice_id, l.position, l.line) not in (select g.id, g.position, g.line from ${givenLines(given)})
)
select 1 from draft`,
    )
    if (drafts.length > 0) {
      yield* write(
        operation,
        (sql) =>
          sql<Row>`insert into ${t.billing_invoice_lines}
  (account_id, mode, customer_id, invoice_id, position, subscription_id, line)
select i.account_id, i.mode, i.customer_id, i.id, g.position, g.subscription_id, g.line
from ${givenLines(given)} cross join lateral (
  select i.account_id, i.mode, i.customer_id, i.id from ${t.billing_invoices} i
  where i.account_id = ${accountId} and i.mode = ${mode} and i.customer_id = g.customer_id and i.id = g.id
    and i.status = 'draft'
  offset 0
) as i
where not exists (
  select from ${t.billing_invoice_lines} w where w.account_id = i.account_id and w.mode = i.mode
    and w.customer_id = i.customer_id and w.invoice_id = i.id and w.id = g.line ->> 'id' offset 0
)`,
      )
    }
    const rows = yield* write(
      operation,
      (sql) =>
        sql<Row>`with given as materialized (select g.* from ${givenInvoices(given)}), written as (
  update ${t.billing_invoices} i set state = g.state,
    taxed_by = case i.status when 'draft' then g.taxed_by else i.taxed_by end,
    lines_bytes = case i.status when 'draft' then g.lines_bytes else i.lines_bytes end,
    updated_at = to_timestamp(g.updated_at / 1000), past_due_since = to_timestamp(g.past_due_since / 1000),
    voided_at = to_timestamp(g.voided_at / 1000), written_off_at = to_timestamp(g.written_off_at / 1000)
  from given g where i.account_id = ${accountId} and i.mode = ${mode} and i.id = g.id and ${isOneOf("i.id", ids)}
  returning i.account_id, i.mode, i.customer_id, i.id, ${XID}
), ${queueWritten(t, "invoice")}
select xid from written limit 1`,
    )
    yield* noteXid(rows[0]?.["xid"])
    return all.map(() => undefined)
  })

  /** Postgres refuses it for an invoice that is issued. */
  const remove = Effect.fnUntraced(function* (id: Invoice.InvoiceId) {
    const { accountId, mode } = yield* CurrentTenant
    const uuid = Id.toUuid(id)
    const rows = yield* write(
      "InvoiceStore.remove",
      (sql) =>
        sql<Row>`with removed as (
  delete from ${t.billing_invoices} i where i.account_id = ${accountId} and i.mode = ${mode} and i.id = ${uuid}::uuid
  returning i.account_id, i.mode, i.customer_id, i.id, ${XID}
), lines as (
  delete from ${t.billing_invoice_lines} l using removed i
  where l.account_id = i.account_id and l.mode = i.mode and l.customer_id = i.customer_id and l.invoice_id = i.id
), causes as (
  delete from ${t.billing_invoice_causes} c using removed i
  where c.account_id = i.account_id and c.mode = i.mode and c.customer_id = i.customer_id and c.invoice_id = i.id
), queued as (
  delete from ${t.billing_due} d using removed i
  where d.account_id = i.account_id and d.mode = i.mode and d.kind = 'invoice' and d.id = i.id
)
select xid from removed`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  const tenants = Effect.fnUntraced(function* (after: Tenant.Tenant | undefined, limit: number) {
    const operation = "InvoiceStore.tenants"
    // One step in the index for each tenant, however many invoices it has.
    const rows = yield* everyTenant.read(
      operation,
      (sql) => sql<Row>`with recursive found as (
  (select t.account_id, t.mode from ${t.billing_invoices} t
    where (t.account_id, t.mode) > (${after?.accountId ?? ""}, ${after?.mode ?? ""}) order by t.account_id, t.mode limit 1)
  union all
  select n.account_id, n.mode from found f cross join lateral (
    select t.account_id, t.mode from ${t.billing_invoices} t
    where (t.account_id, t.mode) > (f.account_id, f.mode) order by t.account_id, t.mode limit 1
  ) as n
) select account_id, mode from found limit ${String(limit)}::integer`,
    )
    return yield* decoding(operation, (all: ReadonlyArray<Row>) =>
      all.map((row) => ({
        accountId: Tenant.AccountId.make(text(row, "account_id")),
        mode: text(row, "mode") as Tenant.Mode,
      })),
    )(rows)
  })

  const list = Effect.fnUntraced(function* (filter: InvoiceFilter, page: Page.PageQuery) {
    const operation = "InvoiceStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const { currency, customerId, failure, figure, status, subscriptionId } = filter
    const cursor = yield* cursorIn(read, operation, t.billing_invoices, Invoice.INVOICE_ID_PREFIX, page)
    const { limit, order, position } = clauses(page, cursor)
    const rows = yield* read(operation, (sql) => {
      const conditions = [
        ...(customerId === undefined ? [] : [sql`t.customer_id = ${Id.toUuid(customerId)}::uuid`]),
        ...(status === undefined ? [] : [sql`t.status = ${status}`]),
        ...(currency === undefined ? [] : [sql`t.currency = ${currency}`]),
        ...(figure === undefined ? [] : [InvoiceSums.isInFigure(figure.figure, figure.at)]),
        ...(failure === undefined ? [] : [hasFailed(sql, t, { accountId, mode }, "invoice", failure)]),
        position,
      ]
      const uuid = subscriptionId === undefined ? null : Id.toUuid(subscriptionId)
      const among =
        uuid === null
          ? t.billing_invoices
          : sql`(
  select i.* from ${t.billing_invoices} i
  where i.account_id = ${accountId} and i.mode = ${mode} and i.subscription_id = ${uuid}::uuid
  union all
  select i.* from ${t.billing_invoice_causes} c join ${t.billing_invoices} i
    on i.account_id = c.account_id and i.mode = c.mode and i.customer_id = c.customer_id and i.id = c.invoice_id
  where c.account_id = ${accountId} and c.mode = ${mode} and c.subscription_id = ${uuid}::uuid
)`
      const found = withinBytes(
        sql`select t.* from ${among} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${sql.and(conditions)} order by ${order} limit ${limit}`,
        "t.lines_bytes",
        order,
      )
      return sql<Row>`select ${columns}, ${dueColumns}, t.is_shown::text as is_shown from ${found} as t ${due}
order by ${order}`
    })
    const shown = shownOf(rows)
    const invoices = yield* decodingLarge(operation, invoiceFromRow)(rows)
    return pageOf({ ...page, limit: Math.min(page.limit, shown.length) }, invoices)
  })

  return InvoiceStore.of({
    sums: InvoiceSums.sums(database),
    tenants,
    insert: (invoice) => Batch.together("InvoiceStore.insert", invoice, (all) => asOneWrite(insertAll(all))),
    find: (id) => Batch.together("InvoiceStore.find", id, (ids) => findAll("InvoiceStore.find", ids)),
    list,
    lock,
    save: (invoice) => Batch.together("InvoiceStore.save", invoice, (all) => asOneWrite(saveAll(all))),
    remove,
    lockWithSubscriptions,
    pastDueSince: (ids) => Batch.together("InvoiceStore.pastDueSince", ids, allPastDueSince),
    lockDrafts: (id) => Batch.together("InvoiceStore.lockDrafts", id, lockAllDrafts),
    ...BilledLines.make(database),
    ...InvoiceSeries.make(database),
  })
})

export const layer: Layer.Layer<InvoiceStore, never, Database | Transactor> = Layer.effect(InvoiceStore, make)
