/**
 * The `InvoiceStore` on Postgres.
 */
import {
  CurrentTenant,
  Id,
  Invoice,
  type InvoiceFilter,
  InvoiceStore,
  type NumberSeries,
  type Page,
  type SeriesName,
  StorageError,
  type SubscriptionId,
  type Tenant,
  Transactor,
} from "@billwright/core"
import { Effect, Layer, Option } from "effect"
import { Statement } from "effect/sql"
import { noteXid } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { millisOf } from "../Millis.ts"
import { clauses, cursorOf, pageOf, requireCursor, shownOf, withinBytes } from "../Paging.ts"
import { bigint, decoding, json, type Row, text } from "../Row.ts"
import { customerIdOf, dueColumns, joinDue, queueWritten } from "./DueRow.ts"
import {
  billedLineFromRow,
  couponUseFromRow,
  invoiceColumns,
  invoiceFromRow,
  type InvoiceTexts,
  textsOf,
} from "./InvoiceRow.ts"

type Stored = Invoice.StoredInvoice

const XID = Statement.fragment([Statement.literal("pg_current_xact_id_if_assigned()::text as xid")])

const invoicesFromRows = (rows: ReadonlyArray<Row>): ReadonlyArray<Stored> => rows.map(invoiceFromRow)

const make = Effect.gen(function* () {
  const { read, tables: t, write } = yield* Database
  const transactor = yield* Transactor
  const due = joinDue(t, "invoice")
  const columns = invoiceColumns(t.billing_invoice_lines)

  /**
   * Runs statements as one write. In a transaction they need no savepoint: when one of them fails, Postgres lets nothing
   * else of the transaction happen.
   */
  const together = <A, E, R>(statements: Effect.Effect<A, E, R>) =>
    Effect.flatMap(transactor.inTransaction, (isJoined) =>
      isJoined ? statements : transactor.atomically(statements),
    )

  /**
   * Lines are written before an invoice is issued. Afterwards Postgres refuses them. Those of a new invoice are written
   * only if its id is not taken.
   */
  const writeLines = (
    operation: string,
    { accountId, mode }: Tenant.Tenant,
    { customerId, id }: Pick<Stored, "customerId" | "id">,
    { lines, subscriptions }: InvoiceTexts,
    isNew: boolean,
  ) =>
    write(
      operation,
      (sql) =>
        sql<Row>`insert into ${t.billing_invoice_lines}
  (account_id, mode, customer_id, invoice_id, position, subscription_id, line)
select ${accountId}, ${mode}, ${Id.toUuid(customerId)}::uuid, ${Id.toUuid(id)}::uuid, l.n - 1,
  (${subscriptions}::text::uuid[])[l.n], l.line
from jsonb_array_elements(${lines}::text::jsonb) with ordinality as l (line, n)
where not ${String(isNew)}::text::boolean or not exists (
  select from ${t.billing_invoices} i
  where i.account_id = ${accountId} and i.mode = ${mode} and i.id = ${Id.toUuid(id)}::uuid
)`,
    )

  const insert = Effect.fnUntraced(function* (invoice: Stored) {
    const operation = "InvoiceStore.insert"
    const tenant = yield* CurrentTenant
    const { accountId, mode } = tenant
    const { createdAt, customerId, dueAt, id, subscriptionId, updatedAt } = invoice
    const texts = textsOf(invoice)
    const { cause, linesBytes, state, taxedBy } = texts
    const uuid = Id.toUuid(id)
    yield* writeLines(operation, tenant, invoice, texts, true)
    const rows = yield* write(
      operation,
      (sql) =>
        sql<Row>`with written as (
  insert into ${t.billing_invoices}
    (account_id, mode, customer_id, id, subscription_id, cause, state, taxed_by, lines_bytes, created_at, updated_at)
  select ${accountId}, ${mode}, ${Id.toUuid(customerId)}::uuid, ${uuid}::uuid,
    ${subscriptionId === null ? null : Id.toUuid(subscriptionId)}::uuid, ${cause}::text::jsonb, ${state}::text::jsonb,
    ${taxedBy}::text::jsonb, ${linesBytes}::integer, to_timestamp(${millisOf(createdAt)}::float8 / 1000),
    to_timestamp(${millisOf(updatedAt)}::float8 / 1000)
  where not exists (
    select from ${t.billing_invoices} i where i.account_id = ${accountId} and i.mode = ${mode} and i.id = ${uuid}::uuid
  )
  returning account_id, mode, customer_id, id, ${XID}
), ${queueWritten(t, "invoice", dueAt)}
select xid from written`,
    )
    if (rows[0] !== undefined) return yield* noteXid(rows[0]["xid"])
    return yield* new StorageError({
      operation,
      retryable: false,
      cause: new Error(`the invoice id ${id} is taken`),
    })
  })

  const find = Effect.fnUntraced(function* (operation: string, id: Invoice.InvoiceId) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${columns}, ${dueColumns} from ${t.billing_invoices} t ${due}
where t.account_id = ${accountId} and t.mode = ${mode} and t.id = ${Id.toUuid(id)}::uuid`,
    )
    return Option.fromUndefinedOr((yield* decoding(operation, invoicesFromRows)(rows))[0])
  })

  /** Two statements, because the first one may wait, and its snapshot of lines and queue is from before that. */
  const lock = Effect.fnUntraced(function* (id: Invoice.InvoiceId) {
    const operation = "InvoiceStore.lock"
    const { accountId, mode } = yield* CurrentTenant
    yield* write(
      operation,
      (sql) =>
        sql<Row>`select 1 from ${t.billing_invoices} t
where t.account_id = ${accountId} and t.mode = ${mode} and t.id = ${Id.toUuid(id)}::uuid for no key update`,
    )
    return yield* find(operation, id)
  })

  /** Subscriptions first, and in the order of their ids, as everybody who bills them does. */
  const lockWithSubscriptions = Effect.fnUntraced(function* (id: Invoice.InvoiceId) {
    const { accountId, mode } = yield* CurrentTenant
    yield* write(
      "InvoiceStore.lockWithSubscriptions",
      (sql) =>
        sql<Row>`select 1 from ${t.billing_subscriptions} s
where s.account_id = ${accountId} and s.mode = ${mode} and s.id in (
  select l.subscription_id from ${t.billing_invoices} i join ${t.billing_invoice_lines} l
    on l.account_id = i.account_id and l.mode = i.mode and l.customer_id = i.customer_id and l.invoice_id = i.id
  where i.account_id = ${accountId} and i.mode = ${mode} and i.id = ${Id.toUuid(id)}::uuid
)
order by s.id for no key update of s`,
    )
    return yield* lock(id)
  })

  const couponUses = Effect.fnUntraced(function* (subscriptionId: SubscriptionId) {
    const operation = "InvoiceStore.couponUses"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select i.id::text as invoice_id, i.status, i.cause_period::text as period,
  d.discount ->> 'id' as redemption_id, d.discount ->> 'amount' as amount
from ${t.billing_invoices} i cross join lateral jsonb_array_elements(i.state -> 'discounts') with ordinality as d (discount, n)
where i.account_id = ${accountId} and i.mode = ${mode} and i.subscription_id = ${Id.toUuid(subscriptionId)}::uuid
  and i.cause_period is not null and d.discount ->> 'type' = 'coupon'
order by i.issued_at nulls last, i.id, d.n`,
    )
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(couponUseFromRow))(rows)
  })

  const creditsOf = Effect.fnUntraced(function* (id: Invoice.InvoiceId) {
    const operation = "InvoiceStore.creditsOf"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select l.line -> 'creditOf' ->> 'lineId' as line_id, (-l.amount)::text as amount
from ${t.billing_invoice_lines} l join ${t.billing_invoices} i
  on i.account_id = l.account_id and i.mode = l.mode and i.customer_id = l.customer_id and i.id = l.invoice_id
where l.account_id = ${accountId} and l.mode = ${mode} and l.line -> 'creditOf' ->> 'invoiceId' = ${id}
  and i.status <> 'draft'
order by l.invoice_id, l.position`,
    )
    return yield* decoding(operation, (all: ReadonlyArray<Row>) =>
      all.map((row) => ({ lineId: text(row, "line_id"), amount: bigint(row, "amount") })),
    )(rows)
  })

  const lockDrafts = Effect.fnUntraced(function* (subscriptionId: SubscriptionId) {
    const operation = "InvoiceStore.lockDrafts"
    const { accountId, mode } = yield* CurrentTenant
    const uuid = Id.toUuid(subscriptionId)
    const locked = yield* write(
      operation,
      (sql) =>
        sql<Row>`select 1 from ${t.billing_invoices} t
where t.account_id = ${accountId} and t.mode = ${mode} and t.subscription_id = ${uuid}::uuid and t.status = 'draft'
order by t.id for no key update`,
    )
    if (locked.length === 0) return []
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${columns}, ${dueColumns} from ${t.billing_invoices} t ${due}
where t.account_id = ${accountId} and t.mode = ${mode} and t.subscription_id = ${uuid}::uuid and t.status = 'draft'
order by t.id`,
    )
    return yield* decoding(operation, invoicesFromRows)(rows)
  })

  const save = Effect.fnUntraced(function* (invoice: Stored) {
    const operation = "InvoiceStore.save"
    const tenant = yield* CurrentTenant
    const { accountId, mode } = tenant
    const { dueAt, id, updatedAt } = invoice
    const texts = textsOf(invoice)
    const { linesBytes, state, taxedBy } = texts
    const drafts = yield* write(
      operation,
      (sql) =>
        sql<Row>`with draft as (
  select i.* from ${t.billing_invoices} i
  where i.account_id = ${accountId} and i.mode = ${mode} and i.id = ${Id.toUuid(id)}::uuid and i.status = 'draft'
), removed as (
  delete from ${t.billing_invoice_lines} l using draft i
  where l.account_id = i.account_id and l.mode = i.mode and l.customer_id = i.customer_id and l.invoice_id = i.id
)
select i.customer_id::text from draft i`,
    )
    if (drafts[0] !== undefined) {
      const customerId = yield* decoding(operation, customerIdOf)(drafts[0])
      yield* writeLines(operation, tenant, { id, customerId }, texts, false)
    }
    const rows = yield* write(
      operation,
      (sql) =>
        sql<Row>`with written as (
  update ${t.billing_invoices} i set state = ${state}::text::jsonb, 
    taxed_by = case i.status when 'draft' then ${taxedBy}::text::jsonb else i.taxed_by end,
    lines_bytes = case i.status when 'draft' then ${linesBytes}::integer else i.lines_bytes end,
    updated_at = to_timestamp(${millisOf(updatedAt)}::float8 / 1000)
  where i.account_id = ${accountId} and i.mode = ${mode} and i.id = ${Id.toUuid(id)}::uuid
  returning i.account_id, i.mode, i.customer_id, i.id, ${XID}
), ${queueWritten(t, "invoice", dueAt)}
select xid from written`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  const list = Effect.fnUntraced(function* (filter: InvoiceFilter, page: Page.PageQuery) {
    const operation = "InvoiceStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const { customerId, status, subscriptionId } = filter
    const cursor = yield* cursorOf(Invoice.INVOICE_ID_PREFIX, page)
    yield* requireCursor(page, cursor, (uuid) =>
      read(
        operation,
        (sql) =>
          sql<Row>`select 1 from ${t.billing_invoices}
where account_id = ${accountId} and mode = ${mode} and id = ${uuid}::uuid`,
      ),
    )
    const { limit, order, position } = clauses(page, cursor)
    const rows = yield* read(operation, (sql) => {
      const conditions = [
        ...(customerId === undefined ? [] : [sql`t.customer_id = ${Id.toUuid(customerId)}::uuid`]),
        ...(subscriptionId === undefined
          ? []
          : [sql`t.subscription_id = ${Id.toUuid(subscriptionId)}::uuid`]),
        ...(status === undefined ? [] : [sql`t.status = ${status}`]),
        position,
      ]
      const found = withinBytes(
        sql`select t.* from ${t.billing_invoices} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${sql.and(conditions)} order by ${order} limit ${limit}`,
        "t.lines_bytes",
        order,
      )
      return sql<Row>`select ${columns}, ${dueColumns}, t.is_shown::text as is_shown from ${found} as t ${due}
order by ${order}`
    })
    const shown = shownOf(rows)
    const invoices = yield* decoding(operation, invoicesFromRows)(rows)
    return pageOf({ ...page, limit: Math.min(page.limit, shown.length) }, invoices)
  })

  const billedLines = Effect.fnUntraced(function* (subscriptionId: SubscriptionId, fromPeriod: number) {
    const operation = "InvoiceStore.billedLines"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select l.invoice_id::text, i.status, (l.line - '{steps, receipt}'::text[])::text as line,
  case i.amount_credited when 0 then 0 else (
    select coalesce(sum(c.amount), 0) from ${t.billing_credit_note_lines} c
    where c.account_id = l.account_id and c.mode = l.mode and c.customer_id = l.customer_id and c.invoice_id = l.invoice_id
      and c.line_id = l.id
  ) end::text as forgiven
from ${t.billing_invoice_lines} l join ${t.billing_invoices} i
  on i.account_id = l.account_id and i.mode = l.mode and i.customer_id = l.customer_id and i.id = l.invoice_id
where l.account_id = ${accountId} and l.mode = ${mode} and l.subscription_id = ${Id.toUuid(subscriptionId)}::uuid
  and l.origin_period >= ${String(fromPeriod)}::integer
order by l.invoice_id, l.position`,
    )
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(billedLineFromRow))(rows)
  })

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
    return yield* decoding(operation, (row: Row) =>
      row["state"] === null ? Option.none<NumberSeries>() : Option.some(json(row, "state") as NumberSeries),
    )(rows[0] ?? {})
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

  return InvoiceStore.of({
    insert: (invoice) => together(insert(invoice)),
    find: (id) => find("InvoiceStore.find", id),
    list,
    lock,
    save: (invoice) => together(save(invoice)),
    lockWithSubscriptions,
    billedLines,
    couponUses,
    creditsOf,
    lockDrafts,
    lockSeries,
    saveSeries,
  })
})

export const layer: Layer.Layer<InvoiceStore, never, Database | Transactor> = Layer.effect(InvoiceStore, make)
