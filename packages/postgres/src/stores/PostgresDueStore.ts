/**
 * The `DueStore` on Postgres: calls `claim_due` and `next_due`.
 */
import {
  Batch,
  type ClaimedSubject,
  CurrentTenant,
  type Customer,
  type CustomerDue,
  type Due,
  type DueClaim,
  DueStore,
  type FirstDue,
  type Lane,
  Id,
  MAX_SUBJECTS_OF_CUSTOMER,
  type Subject,
  type Tenant,
  type TestClock,
} from "@billwright/core"
import { type DateTime, Effect, Layer, Option } from "effect"
import type { SqlClient } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { millisOf } from "../Millis.ts"
import { decoding, instantOrNull, integer, integerOrNull, type Row, text, textOrNull } from "../Row.ts"
import { byPlace, isOneOf, uuids } from "./Batched.ts"
import {
  apiKeyIdOf,
  autoTopUpIdOf,
  creditGrantIdOf,
  bookCheckIdOf,
  customerIdOf,
  invoiceIdOf,
  paymentIdOf,
  paymentMethodIdOf,
  planMigrationIdOf,
  refundIdOf,
  subscriptionIdOf,
  testClockIdOf,
} from "./DueRow.ts"

/** The tenant at which the last claim stopped. The next claim continues there. */
interface Visited {
  readonly account: string | null
  readonly mode: string | null
}

/** A subject that belongs to a customer. */
const billedFromRow = (row: Row): FirstDue["subject"] => {
  const kind = text(row, "kind")
  if (kind === "invoice") return { kind, id: invoiceIdOf(row, "id") }
  if (kind === "payment") return { kind, id: paymentIdOf(row, "id") }
  return { kind: "subscription", id: subscriptionIdOf(row, "id") }
}

const subjectFromRow = (row: Row): Subject => {
  const kind = text(row, "kind")
  if (kind === "plan_migration") return { kind, id: planMigrationIdOf(row, "id") }
  if (kind === "erasure") return { kind, id: customerIdOf({ customer_id: row["id"] }) }
  if (kind === "test_clock") return { kind, id: testClockIdOf(row, "id") }
  if (kind === "auto_top_up") return { kind, id: autoTopUpIdOf(row, "id") }
  if (kind === "credit_grant") return { kind, id: creditGrantIdOf(row, "id") }
  if (kind === "api_key") return { kind, id: apiKeyIdOf(row, "id") }
  if (kind === "book_check") return { kind, id: bookCheckIdOf(row, "id") }
  if (kind === "refund") return { kind, id: refundIdOf(row, "id") }
  if (kind === "payment_method") return { kind, id: paymentMethodIdOf(row, "id") }
  return billedFromRow(row)
}

const ofCustomerFromRow = (row: Row): CustomerDue => ({
  subject:
    text(row, "kind") === "invoice"
      ? { kind: "invoice", id: invoiceIdOf(row, "id") }
      : { kind: "subscription", id: subscriptionIdOf(row, "id") },
  dueAt: integer(row, "due_at"),
  retryAt: integerOrNull(row, "retry_at"),
  attempts: integer(row, "attempts"),
})

const claimedFromRow = (row: Row): ClaimedSubject => ({
  tenant: {
    accountId: text(row, "account_id") as Tenant.AccountId,
    mode: text(row, "mode") as Tenant.Mode,
  },
  subject: subjectFromRow(row),
  customerId: textOrNull(row, "customer_id") === null ? null : customerIdOf(row),
  dueAt: integer(row, "due_at"),
  attempts: integer(row, "attempts"),
  token: text(row, "token"),
})

const failedWith = (sql: SqlClient.SqlClient, { at, attempts, problem, retryAt }: Due.DueFailure) =>
  sql`attempts = ${String(attempts)}::integer, problem = ${problem},
  failed_at = to_timestamp(${millisOf(at)}::float8 / 1000), retry_at = to_timestamp(${millisOf(retryAt)}::float8 / 1000)`

/** When a row `d` of a test clock can be worked on, in epoch milliseconds. */
const availableAt = (sql: SqlClient.SqlClient) =>
  sql`(extract(epoch from greatest(d.due_at, d.retry_at)) * 1000)::bigint`

const make = Effect.gen(function* () {
  const { everyTenant, read, schema, tables: t, write } = yield* Database
  const claiming = (
    lane: Lane,
  ) => `select account_id, mode, kind, id::text as id, customer_id::text as customer_id, due_at,
  attempts::text as attempts, token::text as token, visited_account, visited_mode
from ${schema}.${lane === "calls" ? "claim_due_calls" : "claim_due"}($1::text::bigint, $2::text::bigint, $3::text::uuid, $4::text::integer, $5::text, $6::text,
  $7::text::boolean)`
  const tables: Readonly<Record<Subject["kind"], typeof t.billing_invoices>> = {
    api_key: t.api_keys,
    book_check: t.book_checks,
    credit_grant: t.billing_credit_grants,
    erasure: t.customers,
    invoice: t.billing_invoices,
    payment: t.billing_payments,
    payment_method: t.payment_methods,
    plan_migration: t.plan_migrations,
    refund: t.refunds,
    subscription: t.billing_subscriptions,
    auto_top_up: t.auto_top_ups,
    test_clock: t.test_clocks,
  }
  const visited: Record<Lane, Visited> = {
    billing: { account: null, mode: null },
    calls: { account: null, mode: null },
  }

  const claimDue = Effect.fnUntraced(function* ({ lane, leaseUntil, limit, now }: DueClaim) {
    const operation = "DueStore.claimDue"
    const token = crypto.randomUUID()
    const rows = yield* everyTenant.writeApart(operation, (sql, isRepeat) =>
      sql.unsafe<Row>(claiming(lane), [
        millisOf(now),
        millisOf(leaseUntil),
        token,
        String(limit),
        visited[lane].account,
        visited[lane].mode,
        String(isRepeat),
      ]),
    )
    const [first] = rows
    if (first !== undefined) {
      visited[lane] = {
        account: textOrNull(first, "visited_account"),
        mode: textOrNull(first, "visited_mode"),
      }
    }
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(claimedFromRow))(rows)
  })

  /**
   * The subject is locked before the queue, as by its store, so that two never wait for each other. The second statement
   * sees what others did to the queue while the first one waited. It also locks the queue, so that no claim takes the
   * subject in vain.
   */
  const holdAll = Effect.fnUntraced(function* (all: ReadonlyArray<ClaimedSubject>) {
    const operation = "DueStore.holds"
    const { accountId, mode } = yield* CurrentTenant
    const kind = all[0]!.subject.kind
    const ids = all.map(({ subject }) => subject.id)
    yield* write(
      operation,
      (sql) =>
        sql<Row>`select 1 from ${tables[kind]} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${isOneOf("t.id", ids)}
order by t.id for no key update`,
    )
    const rows = yield* write(
      operation,
      (sql) =>
        sql<Row>`select d.id::text as id
from unnest(${uuids(ids)}::text::uuid[], ${ArrayLiteral.plain(all.map(({ token }) => token))}::text::uuid[]) as a (id, token)
join ${t.billing_due} d on d.account_id = ${accountId} and d.mode = ${mode} and d.kind = ${kind} and d.id = a.id
  and d.lease_token = a.token and ${isOneOf("d.id", ids)}
order by d.id for update of d`,
    )
    const held = yield* decoding(operation, (some: ReadonlyArray<Row>) => some.map((row) => text(row, "id")))(
      rows,
    )
    const ofHeld = new Set(held)
    return all.map(({ subject }) => ofHeld.has(Id.toUuid(subject.id)))
  })

  /** A repeat finds no lease, also if an earlier attempt ended it. So it counts as not held any more. */
  const release = Effect.fnUntraced(function* (
    { subject, token }: ClaimedSubject,
    failure: Due.DueFailure | null,
  ) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write("DueStore.release", (sql) => {
      const failed = failure === null ? sql`` : sql`, ${failedWith(sql, failure)}`
      return sql<Row>`update ${t.billing_due} d set lease_token = null, leased_until = null${failed}
where d.account_id = ${accountId} and d.mode = ${mode} and d.kind = ${subject.kind} and d.id = ${Id.toUuid(subject.id)}::uuid
  and d.lease_token = ${token}::uuid
returning ${XID}`
    })
    yield* noteXid(rows[0]?.["xid"])
    return rows.length > 0
  })

  const schedule: DueStore["Service"]["schedule"] = Effect.fnUntraced(function* ({ id, kind }, dueAt) {
    const { accountId, mode } = yield* CurrentTenant
    const uuid = Id.toUuid(id)
    const rows = yield* write("DueStore.schedule", (sql) =>
      dueAt === null
        ? sql<Row>`delete from ${t.billing_due} d
where d.account_id = ${accountId} and d.mode = ${mode} and d.kind = ${kind} and d.id = ${uuid}::uuid
returning ${XID}`
        : sql<Row>`insert into ${t.billing_due} as d (account_id, mode, kind, id, due_at)
values (${accountId}, ${mode}, ${kind}, ${uuid}::uuid, to_timestamp(${String(dueAt)}::float8 / 1000))
on conflict (account_id, mode, kind, id) do update set due_at = excluded.due_at, attempts = 0, problem = null,
  failed_at = null, retry_at = null, lease_token = null, leased_until = null
returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  const nextDueAt = Effect.gen(function* () {
    const operation = "DueStore.nextDueAt"
    const rows = yield* everyTenant.read(operation, (sql) =>
      sql.unsafe<Row>(`select ${schema}.next_due()::text as due_at`),
    )
    return yield* decoding(operation, (row: Row) => Option.fromNullOr(instantOrNull(row, "due_at")))(
      rows[0] ?? {},
    )
  })

  const countDue = Effect.fnUntraced(function* (until: DateTime.Utc) {
    const operation = "DueStore.countDue"
    const rows = yield* everyTenant.read(
      operation,
      (
        sql,
      ) => sql<Row>`select count(*) filter (where not q.is_aside and q.kind = 'subscription') as subscriptions,
  count(*) filter (where not q.is_aside and q.kind = 'invoice') as invoices, count(*) filter (where q.is_aside) as set_aside
from (
  select d.kind, d.attempts > 0 and d.retry_at is null as is_aside from ${t.billing_due} d
  where d.due_at <= to_timestamp(${millisOf(until)}::float8 / 1000) and d.test_clock_id is null
) as q`,
    )
    const toCounts = (row: Row) => ({
      subscriptions: integer(row, "subscriptions"),
      invoices: integer(row, "invoices"),
      setAside: integer(row, "set_aside"),
    })
    return yield* decoding(operation, toCounts)(rows[0] ?? {})
  })

  const firstDue = Effect.fnUntraced(function* (testClockId: TestClock.TestClockId) {
    const operation = "DueStore.firstDue"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) => sql<Row>`select d.kind, d.id::text as id, d.attempts::text as attempts,
  ${availableAt(sql)}::text as at
from ${t.billing_due} d
where d.account_id = ${accountId} and d.mode = ${mode} and d.test_clock_id = ${Id.toUuid(testClockId)}::uuid
  and (d.attempts = 0 or d.retry_at is not null)
order by greatest(d.due_at, d.retry_at), d.kind, d.id limit 1`,
    )
    const toFirst = (all: ReadonlyArray<Row>) =>
      Option.map(Option.fromUndefinedOr(all[0]), (row) => ({
        subject: billedFromRow(row),
        at: integer(row, "at"),
        attempts: integer(row, "attempts"),
      }))
    return yield* decoding(operation, toFirst)(rows)
  })

  /** The words on `kind` are those of an index. */
  const allOfCustomers = Effect.fnUntraced(function* (
    asked: ReadonlyArray<{ readonly customerId: Customer.CustomerId; readonly until: number }>,
  ) {
    const operation = "DueStore.ofCustomer"
    const { accountId, mode } = yield* CurrentTenant
    const owners = uuids(asked.map(({ customerId }) => customerId))
    const until = ArrayLiteral.plain(asked.map((one) => String(one.until)))
    const rows = yield* read(
      operation,
      (sql) => sql<Row>`select a.n::text as n, d.*
from unnest(${owners}::text::uuid[], ${until}::text::float8[]) with ordinality as a (customer_id, until, n)
cross join lateral (
  select d.kind, d.id::text as id, d.attempts::text as attempts, (extract(epoch from d.due_at) * 1000)::bigint::text as due_at,
    (extract(epoch from d.retry_at) * 1000)::bigint::text as retry_at
  from ${t.billing_due} d
  where d.account_id = ${accountId} and d.mode = ${mode} and d.customer_id = a.customer_id
    and d.kind in ('invoice', 'subscription') and (d.attempts = 0 or d.retry_at is not null)
    and d.due_at <= to_timestamp(a.until / 1000)
  order by d.due_at, d.kind, d.id limit ${String(MAX_SUBJECTS_OF_CUSTOMER)}::integer
) as d order by a.n, d.due_at::bigint, d.kind, d.id`,
    )
    return yield* decoding(operation, byPlace(asked.length, ofCustomerFromRow))(rows)
  })

  const fail = Effect.fnUntraced(function* (
    { at, attempts, subject: { id, kind } }: FirstDue,
    failure: Due.DueFailure,
  ) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      "DueStore.fail",
      (sql) => sql<Row>`update ${t.billing_due} d set ${failedWith(sql, failure)}
where d.account_id = ${accountId} and d.mode = ${mode} and d.kind = ${kind} and d.id = ${Id.toUuid(id)}::uuid
  and d.test_clock_id is not null and d.attempts = ${String(attempts)}::integer
  and (d.attempts = 0 or d.retry_at is not null) and ${availableAt(sql)} = ${String(at)}::bigint
returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
    return rows.length > 0
  })

  const noteFailure: DueStore["Service"]["noteFailure"] = Effect.fnUntraced(function* (
    { id, kind },
    failure,
  ) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      "DueStore.noteFailure",
      (sql) => sql<Row>`update ${t.billing_due} d set ${failedWith(sql, failure)}
where d.account_id = ${accountId} and d.mode = ${mode} and d.kind = ${kind} and d.id = ${Id.toUuid(id)}::uuid
returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  const endClock = Effect.fnUntraced(function* (testClockId: TestClock.TestClockId, at: DateTime.Utc) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      "DueStore.endClock",
      (sql) => sql<Row>`update ${t.billing_due} d set test_clock_id = null, due_at = least(d.due_at, n.at),
  retry_at = case when d.retry_at is not null then least(d.retry_at, n.at) end
from (select to_timestamp(${millisOf(at)}::float8 / 1000) as at) as n
where d.account_id = ${accountId} and d.mode = ${mode} and d.test_clock_id = ${Id.toUuid(testClockId)}::uuid
returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  const holds: DueStore["Service"]["holds"] = (claimed) =>
    Batch.together(`DueStore.holds ${claimed.subject.kind}`, claimed, holdAll)

  const ofCustomer: DueStore["Service"]["ofCustomer"] = (customerId, until) =>
    Batch.together("DueStore.ofCustomer", { customerId, until }, allOfCustomers)

  return DueStore.of({
    ofCustomer,
    claimDue,
    holds,
    release,
    schedule,
    nextDueAt,
    firstDue,
    fail,
    noteFailure,
    endClock,
    countDue,
  })
})

export const layer: Layer.Layer<DueStore, never, Database> = Layer.effect(DueStore, make)
