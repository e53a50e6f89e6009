/**
 * The queue of what is due, as rows: shared by the stores of its subjects and by that of the queue.
 */
import {
  ApiKey,
  BookCheck,
  Credit,
  Customer,
  type Due,
  Id,
  Invoice,
  Payment,
  PaymentMethod,
  PlanMigration,
  Refund,
  type Subject,
  SUBSCRIPTION_ID_PREFIX,
  type SubscriptionId,
  type Tenant,
  TestClock,
  TopUp,
} from "@billwright/core"
import { type SqlClient as Sql, Statement } from "effect/sql"
import { millisText } from "../Millis.ts"
import { instant, instantOrNull, integer, type Row, text } from "../Row.ts"
import type { Tables } from "../Tables.ts"

const literal = (sql: string): Statement.Fragment => Statement.fragment([Statement.literal(sql)])

/** The columns of a row `d` of the queue, which may be missing. */
export const dueColumns =
  literal(`${millisText("d.due_at")} as due_at, d.attempts::text as attempts, d.problem,
  ${millisText("d.failed_at")} as failed_at, ${millisText("d.retry_at")} as retry_at`)

/** Joins the row `d` of the queue to a subject `t`. */
export const joinDue = (tables: Tables, kind: Subject["kind"]): Statement.Fragment =>
  Statement.fragment([
    Statement.literal("left join "),
    ...tables.billing_due.segments,
    Statement.literal(
      ` d on d.account_id = t.account_id and d.mode = t.mode and d.kind = '${kind}' and d.id = t.id`,
    ),
  ])

/**
 * Whether the last run of a subject `t` of the tenant failed. The tenant is given, and not taken from `t`: so the few that
 * failed are read once, by their index, and not asked for with each row of `t`.
 */
export const hasFailed = (
  sql: Sql.SqlClient,
  tables: Tables,
  { accountId, mode }: Tenant.Tenant,
  kind: Subject["kind"],
  filter: Due.FailureFilter,
): Statement.Fragment => sql`t.id in (
  select f.id from ${tables.billing_due} f
  where f.account_id = ${accountId} and f.mode = ${mode} and f.kind = ${kind} and f.attempts > 0
    and ${filter === "set_aside" ? sql`f.retry_at is null` : sql`true`}
)`

export const dueFromRow = (row: Row): Due.Due => {
  if (row["due_at"] === null) return { dueAt: null, failure: null }
  const dueAt = integer(row, "due_at")
  const attempts = integer(row, "attempts")
  if (attempts === 0) return { dueAt, failure: null }
  const failure = {
    attempts,
    problem: text(row, "problem"),
    at: instant(row, "failed_at"),
    retryAt: instantOrNull(row, "retry_at"),
  }
  return { dueAt, failure }
}

/**
 * The part of a statement that queues the subjects of the rows `written`, or takes them off the queue: those without a
 * `due_at`, in epoch milliseconds, in the rows `given`. Ends their leases.
 */
export const queueWritten = (tables: Tables, kind: Subject["kind"]): Statement.Fragment =>
  Statement.fragment([
    ...unqueueWritten(tables, kind).segments,
    Statement.literal(", "),
    ...queueDue(tables, kind).segments,
  ])

/**
 * The part of a statement that takes those of the rows `written` off the queue that have no `due_at` in the rows `given`.
 * The planner expects few rows of `written`, and would compare each of them with all that are `given` in a join.
 */
const unqueueWritten = (tables: Tables, kind: Subject["kind"]): Statement.Fragment => {
  const { segments } = tables.billing_due
  return Statement.fragment([
    Statement.literal("unqueued as (delete from "),
    ...segments,
    Statement.literal(` d using written w
  where d.account_id = w.account_id and d.mode = w.mode and d.kind = '${kind}' and d.id = w.id
    and w.id in (select g.id from given g where g.due_at is null)
)`),
  ])
}

/** The part that queues those that have a `due_at`. It is enough for new subjects, which are not in the queue yet. */
export const queueDue = (tables: Tables, kind: Subject["kind"]): Statement.Fragment => {
  const { segments } = tables.billing_due
  return Statement.fragment([
    Statement.literal("queued as (insert into "),
    ...segments,
    Statement.literal(` as d (account_id, mode, kind, id, customer_id, due_at, test_clock_id)
  select w.account_id, w.mode, '${kind}', w.id, w.customer_id, to_timestamp(g.due_at::float8 / 1000),
    case w.mode when 'test' then (select c.test_clock_id from `),
    ...tables.customers.segments,
    Statement.literal(` c where c.account_id = w.account_id and c.mode = w.mode and c.id = w.customer_id) end
  from written w join given g on g.id = w.id where g.due_at is not null
  on conflict (account_id, mode, kind, id) do update set due_at = excluded.due_at, attempts = 0, problem = null,
    failed_at = null, retry_at = null, lease_token = null, leased_until = null)`),
  ])
}

export const customerIdOf = (row: Row): Customer.CustomerId =>
  Id.fromUuid(Customer.CUSTOMER_ID_PREFIX, text(row, "customer_id")) as Customer.CustomerId

export const subscriptionIdOf = (row: Row, column: string): SubscriptionId =>
  Id.fromUuid(SUBSCRIPTION_ID_PREFIX, text(row, column)) as SubscriptionId

export const invoiceIdOf = (row: Row, column: string): Invoice.InvoiceId =>
  Id.fromUuid(Invoice.INVOICE_ID_PREFIX, text(row, column)) as Invoice.InvoiceId

export const paymentIdOf = (row: Row, column: string): Payment.PaymentId =>
  Id.fromUuid(Payment.PAYMENT_ID_PREFIX, text(row, column)) as Payment.PaymentId

export const paymentMethodIdOf = (row: Row, column: string): PaymentMethod.PaymentMethodId =>
  Id.fromUuid(PaymentMethod.PAYMENT_METHOD_ID_PREFIX, text(row, column)) as PaymentMethod.PaymentMethodId

export const planMigrationIdOf = (row: Row, column: string): PlanMigration.PlanMigrationId =>
  Id.fromUuid(PlanMigration.PLAN_MIGRATION_ID_PREFIX, text(row, column)) as PlanMigration.PlanMigrationId

export const refundIdOf = (row: Row, column: string): Refund.RefundId =>
  Id.fromUuid(Refund.REFUND_ID_PREFIX, text(row, column)) as Refund.RefundId

export const autoTopUpIdOf = (row: Row, column: string): TopUp.AutoTopUpId =>
  Id.fromUuid(TopUp.AUTO_TOP_UP_ID_PREFIX, text(row, column)) as TopUp.AutoTopUpId

export const creditGrantIdOf = (row: Row, column: string): Credit.CreditGrantId =>
  Id.fromUuid(Credit.GRANT_ID_PREFIX, text(row, column)) as Credit.CreditGrantId

export const apiKeyIdOf = (row: Row, column: string): ApiKey.ApiKeyId =>
  Id.fromUuid(ApiKey.API_KEY_ID_PREFIX, text(row, column)) as ApiKey.ApiKeyId

export const bookCheckIdOf = (row: Row, column: string): BookCheck.BookCheckId =>
  Id.fromUuid(BookCheck.BOOK_CHECK_ID_PREFIX, text(row, column)) as BookCheck.BookCheckId

export const testClockIdOf = (row: Row, column: string): TestClock.TestClockId =>
  Id.fromUuid(TestClock.TEST_CLOCK_ID_PREFIX, text(row, column)) as TestClock.TestClockId
