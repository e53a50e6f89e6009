/**
 * `PaymentStore` on Postgres.
 */
import {
  CurrentTenant,
  daysBefore,
  EVENT_RETENTION_DAYS,
  type FigureAt,
  Id,
  MAX_FORGOTTEN_EVENTS,
  MONEY_DAYS,
  type MoneySum,
  type Page,
  Payment,
  type PaymentFigure,
  type PaymentFilter,
  PaymentStore,
  StorageError,
} from "@billwright/core"
import { DateTime, Effect, Layer, Option } from "effect"
import { type SqlClient, Statement } from "effect/sql"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { millisColumn, millisOf } from "../Millis.ts"
import { clauses, cursorIn, pageOf } from "../Paging.ts"
import {
  bigint,
  decoding,
  instant,
  instantOrNull,
  integer,
  json,
  type Row,
  text,
  textOrNull,
} from "../Row.ts"
import { customerIdOf, dueColumns, dueFromRow, invoiceIdOf, joinDue, queueWritten } from "./DueRow.ts"

type Stored = Payment.StoredPayment

const paymentFromRow = (row: Row): Stored => ({
  id: Id.fromUuid(Payment.PAYMENT_ID_PREFIX, text(row, "id")) as Stored["id"],
  customerId: customerIdOf(row),
  invoiceId: invoiceIdOf(row, "invoice_id"),
  currency: text(row, "currency"),
  provider: text(row, "provider"),
  reference: textOrNull(row, "reference"),
  status: text(row, "status") as Stored["status"],
  amount: bigint(row, "amount"),
  applied: bigint(row, "applied"),
  overpaid: bigint(row, "overpaid"),
  paidAt: instantOrNull(row, "paid_at")?.epochMilliseconds ?? null,
  sequence: integer(row, "sequence"),
  createdAt: instant(row, "created_at"),
  updatedAt: instant(row, "updated_at"),
  collection: row["collection"] === null ? null : (json(row, "collection") as Stored["collection"]),
  ...dueFromRow(row),
})

/** Whether a payment `t` makes a figure: restates `isOfFigure`. The words on status are those of an index. */
const isInFigure = (sql: SqlClient.SqlClient, { at, figure }: FigureAt<PaymentFigure>) =>
  figure === "attention"
    ? sql`t.collection -> 'attention' is not null`
    : sql`t.status = 'succeeded' and t.paid_at > to_timestamp(${String(daysBefore(at, MONEY_DAYS))}::float8 / 1000)
  and t.paid_at <= to_timestamp(${String(at)}::float8 / 1000)`

const sumFromRow = (row: Row): MoneySum => ({
  currency: text(row, "currency"),
  count: integer(row, "count"),
  amount: bigint(row, "amount"),
})

const paymentsFromRows = (rows: ReadonlyArray<Row>): ReadonlyArray<Stored> => rows.map(paymentFromRow)

const COLUMNS = Statement.fragment([
  Statement.literal(`t.id::text, t.customer_id::text, t.invoice_id::text, t.currency, t.provider, t.reference, t.status,
  t.amount::text, t.applied::text, t.overpaid::text, t.sequence::text, t.collection::text as collection, ${millisColumn("t.paid_at")},
  ${millisColumn("t.created_at")}, ${millisColumn("t.updated_at")}`),
])

const dueText = ({ dueAt }: Stored): string | null => (dueAt === null ? null : String(dueAt))

const collectionText = ({ collection }: Stored): string | null =>
  collection === null ? null : JSON.stringify(collection)

const make = Effect.gen(function* () {
  const { read, tables: t, write } = yield* Database
  const due = joinDue(t, "payment")

  const insert = Effect.fnUntraced(function* (payment: Stored) {
    const operation = "PaymentStore.insert"
    const { accountId, mode } = yield* CurrentTenant
    const { amount, applied, currency, overpaid, provider, reference, sequence, status } = payment
    const id = Id.toUuid(payment.id)
    const paidAt = payment.paidAt === null ? null : String(payment.paidAt)
    const rows = yield* write(
      operation,
      (sql) =>
        sql<Row>`with given (id, due_at) as (
  select ${id}::uuid, ${dueText(payment)}::bigint
), written as (
  insert into ${t.billing_payments}
    (account_id, mode, customer_id, id, invoice_id, currency, provider, reference, status, amount, applied, overpaid,
      paid_at, sequence, created_at, updated_at, collection)
  select ${accountId}, ${mode}, ${Id.toUuid(payment.customerId)}::uuid, ${id}::uuid, ${Id.toUuid(payment.invoiceId)}::uuid,
  ${currency}, ${provider}, ${reference}, ${status}, ${String(amount)}::numeric, ${String(applied)}::numeric,
  ${String(overpaid)}::numeric, to_timestamp(${paidAt}::float8 / 1000), ${String(sequence)}::bigint,
  to_timestamp(${millisOf(payment.createdAt)}::float8 / 1000), to_timestamp(${millisOf(payment.updatedAt)}::float8 / 1000),
  ${collectionText(payment)}::text::jsonb
  where not exists (
    select from ${t.billing_payments} p where p.account_id = ${accountId} and p.mode = ${mode} and p.id = ${id}::uuid
  )
  returning account_id, mode, customer_id, id, ${XID}
), ${queueWritten(t, "payment")}
select xid from written`,
    )
    if (rows[0] !== undefined) return yield* noteXid(rows[0]["xid"])
    const cause = new Error(`the payment id ${payment.id} is taken`)
    return yield* new StorageError({ operation, retryable: false, cause })
  })

  const save = Effect.fnUntraced(function* (payment: Stored) {
    const { accountId, mode } = yield* CurrentTenant
    const { applied, overpaid, reference, sequence, status } = payment
    const paidAt = payment.paidAt === null ? null : String(payment.paidAt)
    const rows = yield* write(
      "PaymentStore.save",
      (sql) =>
        sql<Row>`with given (id, due_at) as (
  select ${Id.toUuid(payment.id)}::uuid, ${dueText(payment)}::bigint
), written as (
  update ${t.billing_payments} p set reference = ${reference}, status = ${status}, applied = ${String(applied)}::numeric,
    overpaid = ${String(overpaid)}::numeric, paid_at = to_timestamp(${paidAt}::float8 / 1000),
    sequence = ${String(sequence)}::bigint, collection = ${collectionText(payment)}::text::jsonb,
    updated_at = to_timestamp(${millisOf(payment.updatedAt)}::float8 / 1000)
  where p.account_id = ${accountId} and p.mode = ${mode} and p.id = ${Id.toUuid(payment.id)}::uuid
  returning p.account_id, p.mode, p.customer_id, p.id, ${XID}
), ${queueWritten(t, "payment")}
select xid from written`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  const find = Effect.fnUntraced(function* (id: Payment.PaymentId) {
    const operation = "PaymentStore.find"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${COLUMNS}, ${dueColumns} from ${t.billing_payments} t ${due}
where t.account_id = ${accountId} and t.mode = ${mode} and t.id = ${Id.toUuid(id)}::uuid`,
    )
    return Option.fromUndefinedOr((yield* decoding(operation, paymentsFromRows)(rows))[0])
  })

  const findByReference = Effect.fnUntraced(function* (provider: string, reference: string) {
    const operation = "PaymentStore.findByReference"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${COLUMNS}, ${dueColumns} from ${t.billing_payments} t ${due}
where t.account_id = ${accountId} and t.mode = ${mode} and t.provider = ${provider} and t.reference = ${reference}
order by t.id desc limit 1`,
    )
    return Option.fromUndefinedOr((yield* decoding(operation, paymentsFromRows)(rows))[0])
  })

  const noteEvent = Effect.fnUntraced(function* (provider: string, eventId: string, at: DateTime.Utc) {
    const operation = "PaymentStore.noteEvent"
    const { accountId, mode } = yield* CurrentTenant
    const before = DateTime.subtract(at, { days: EVENT_RETENTION_DAYS })
    const rows = yield* write(
      operation,
      (sql) =>
        sql<Row>`with noted as (
  insert into ${t.billing_provider_events} (account_id, mode, provider, event_id, received_at)
  values (${accountId}, ${mode}, ${provider}, ${eventId}, to_timestamp(${millisOf(at)}::float8 / 1000))
  on conflict do nothing
  returning 1
), old as (
  select e.provider, e.event_id from ${t.billing_provider_events} e
  where e.account_id = ${accountId} and e.mode = ${mode} and e.received_at < to_timestamp(${millisOf(before)}::float8 / 1000)
  order by e.received_at limit ${Statement.literal(String(MAX_FORGOTTEN_EVENTS))} for update skip locked
), forgotten as (
  delete from ${t.billing_provider_events} e using old o
  where e.account_id = ${accountId} and e.mode = ${mode} and e.provider = o.provider and e.event_id = o.event_id
  returning 1
)
select exists (select from noted)::text as is_first, (select count(*) from forgotten)::text as forgotten,
  ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
    return yield* decoding(operation, (row: Row) => text(row, "is_first") === "true")(rows[0] ?? {})
  })

  const hasEvent = Effect.fnUntraced(function* (provider: string, eventId: string) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      "PaymentStore.hasEvent",
      (sql) =>
        sql<Row>`select from ${t.billing_provider_events} e where e.account_id = ${accountId} and e.mode = ${mode}
  and e.provider = ${provider} and e.event_id = ${eventId}`,
    )
    return rows.length > 0
  })

  const list = Effect.fnUntraced(function* (filter: PaymentFilter, page: Page.PageQuery) {
    const operation = "PaymentStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const { currency, customerId, figure, invoiceId, status } = filter
    const cursor = yield* cursorIn(read, operation, t.billing_payments, Payment.PAYMENT_ID_PREFIX, page)
    const { limit, order, position } = clauses(page, cursor)
    const rows = yield* read(operation, (sql) => {
      const conditions = [
        ...(customerId === undefined ? [] : [sql`t.customer_id = ${Id.toUuid(customerId)}::uuid`]),
        ...(invoiceId === undefined ? [] : [sql`t.invoice_id = ${Id.toUuid(invoiceId)}::uuid`]),
        ...(status === undefined ? [] : [sql`t.status = ${status}`]),
        ...(currency === undefined ? [] : [sql`t.currency = ${currency}`]),
        ...(figure === undefined ? [] : [isInFigure(sql, figure)]),
        position,
      ]
      return sql<Row>`select ${COLUMNS}, ${dueColumns} from ${t.billing_payments} t ${due}
where t.account_id = ${accountId} and t.mode = ${mode} and ${sql.and(conditions)} order by ${order} limit ${limit}`
    })
    return pageOf(page, yield* decoding(operation, paymentsFromRows)(rows))
  })

  const collected = Effect.fnUntraced(function* (at: number) {
    const operation = "PaymentStore.collected"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select t.currency, count(*)::text as count, sum(t.amount)::text as amount from ${t.billing_payments} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${isInFigure(sql, { figure: "collected", at })}
group by t.currency`,
    )
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(sumFromRow))(rows)
  })

  const ofInvoice = Effect.fnUntraced(function* (id: Stored["invoiceId"]) {
    const operation = "PaymentStore.ofInvoice"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${COLUMNS}, ${dueColumns} from ${t.billing_payments} t join ${t.billing_invoices} i
  on i.account_id = t.account_id and i.mode = t.mode and i.customer_id = t.customer_id and i.id = t.invoice_id
${due}
where i.account_id = ${accountId} and i.mode = ${mode} and i.id = ${Id.toUuid(id)}::uuid
order by t.id limit ${String(Payment.MAX_PAYMENTS)}::integer`,
    )
    return yield* decoding(operation, paymentsFromRows)(rows)
  })

  return PaymentStore.of({
    insert,
    save,
    find,
    findByReference,
    noteEvent,
    hasEvent,
    list,
    collected,
    ofInvoice,
  })
})

export const layer: Layer.Layer<PaymentStore, never, Database> = Layer.effect(PaymentStore, make)
