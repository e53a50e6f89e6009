/**
 * The `SubscriptionStore` and `LiveSubscriptions` on Postgres.
 */
import {
  CurrentTenant,
  type Customer,
  Id,
  LiveSubscriptions,
  type Metadata,
  type Page,
  StorageError,
  type Subscription,
  SUBSCRIPTION_ID_PREFIX,
  type SubscriptionFilter,
  type SubscriptionId,
  SubscriptionStore,
  Transactor,
} from "@billwright/core"
import { Effect, Layer, Option } from "effect"
import { Statement } from "effect/sql"
import { noteXid } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { millisColumn, millisOf } from "../Millis.ts"
import { clauses, cursorOf, pageOf, requireCursor } from "../Paging.ts"
import { decoding, instant, json, type Row } from "../Row.ts"
import { customerIdOf, dueColumns, dueFromRow, joinDue, queueWritten, subscriptionIdOf } from "./DueRow.ts"

type Stored = Subscription.StoredSubscription
type Period = NonNullable<Stored["state"]["period"]>

const literal = (sql: string): Statement.Fragment => Statement.fragment([Statement.literal(sql)])

const COLUMNS =
  literal(`t.id::text, t.customer_id::text, t.state::text as state, t.metadata::text as metadata,
  ${millisColumn("t.created_at")}, ${millisColumn("t.updated_at")}`)
const XID = literal("pg_current_xact_id_if_assigned()::text as xid")

const fromRow = (row: Row): Stored => ({
  id: subscriptionIdOf(row, "id"),
  customerId: customerIdOf(row),
  state: json(row, "state") as Stored["state"],
  ...dueFromRow(row),
  metadata: json(row, "metadata") as Metadata.Metadata,
  createdAt: instant(row, "created_at"),
  updatedAt: instant(row, "updated_at"),
})

const periodFromRow = (row: Row): Period => json(row, "period") as Period

const make = Effect.gen(function* () {
  const { read, tables: t, write } = yield* Database
  const transactor = yield* Transactor
  const due = joinDue(t, "subscription")

  const insert = Effect.fnUntraced(function* (subscription: Stored) {
    const operation = "SubscriptionStore.insert"
    const { accountId, mode } = yield* CurrentTenant
    const { createdAt, customerId, dueAt, id, metadata, state, updatedAt } = subscription
    const uuid = Id.toUuid(id)
    // Whoever erases the customer waits for this lock, and then sees the subscription. The other way round this waits,
    // and then sees that the customer is erased.
    const rows = yield* write(
      operation,
      (sql) =>
        sql<Row>`with customer as materialized (
  select c.account_id, c.mode, c.id from ${t.customers} c
  where c.account_id = ${accountId} and c.mode = ${mode} and c.id = ${Id.toUuid(customerId)}::uuid
    and c.erased_at is null for key share
), written as (
  insert into ${t.billing_subscriptions} (account_id, mode, customer_id, id, state, metadata, created_at, updated_at)
  select c.account_id, c.mode, c.id, ${uuid}::uuid, ${JSON.stringify(state)}::text::jsonb,
    ${JSON.stringify(metadata)}::text::jsonb, to_timestamp(${millisOf(createdAt)}::float8 / 1000),
    to_timestamp(${millisOf(updatedAt)}::float8 / 1000)
  from customer c where not exists (
    select from ${t.billing_subscriptions} s
    where s.account_id = ${accountId} and s.mode = ${mode} and s.id = ${uuid}::uuid
  )
  on conflict do nothing returning account_id, mode, customer_id, id, ${XID}
), ${queueWritten(t, "subscription", dueAt)}
select xid from written`,
    )
    if (rows[0] !== undefined) return yield* noteXid(rows[0]["xid"])
    const cause = new Error(`there is no customer ${customerId}, or the subscription id ${id} is taken`)
    return yield* new StorageError({ operation, retryable: false, cause })
  })

  const find = Effect.fnUntraced(function* (operation: string, id: SubscriptionId) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${COLUMNS}, ${dueColumns} from ${t.billing_subscriptions} t ${due}
where t.account_id = ${accountId} and t.mode = ${mode} and t.id = ${Id.toUuid(id)}::uuid`,
    )
    return yield* decoding(operation, (row: Row | undefined) =>
      Option.map(Option.fromUndefinedOr(row), fromRow),
    )(rows[0])
  })

  /** Two statements, because the first one may wait, and its snapshot of the queue is from before that. */
  const lock = Effect.fnUntraced(function* (id: SubscriptionId) {
    const operation = "SubscriptionStore.lock"
    const { accountId, mode } = yield* CurrentTenant
    yield* write(
      operation,
      (sql) =>
        sql<Row>`select 1 from ${t.billing_subscriptions} t
where t.account_id = ${accountId} and t.mode = ${mode} and t.id = ${Id.toUuid(id)}::uuid for no key update`,
    )
    return yield* find(operation, id)
  })

  const save = Effect.fnUntraced(function* ({ dueAt, id, metadata, state, updatedAt }: Stored) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      "SubscriptionStore.save",
      (sql) =>
        sql<Row>`with written as (
  update ${t.billing_subscriptions} t set state = ${JSON.stringify(state)}::text::jsonb,
    metadata = ${JSON.stringify(metadata)}::text::jsonb,
    updated_at = to_timestamp(${millisOf(updatedAt)}::float8 / 1000)
  where t.account_id = ${accountId} and t.mode = ${mode} and t.id = ${Id.toUuid(id)}::uuid
  returning t.account_id, t.mode, t.customer_id, t.id, ${XID}
), ${queueWritten(t, "subscription", dueAt)}
select xid from written`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  const savePeriods = Effect.fnUntraced(function* (id: SubscriptionId, periods: ReadonlyArray<Period>) {
    if (periods.length === 0) return
    const { accountId, mode } = yield* CurrentTenant
    const last = [...new Map(periods.map((period) => [period.number, period])).values()]
    const rows = yield* write(
      "SubscriptionStore.savePeriods",
      (sql) =>
        sql<Row>`insert into ${t.billing_periods} (account_id, mode, customer_id, subscription_id, number, period)
select s.account_id, s.mode, s.customer_id, s.id, (p.period ->> 'number')::integer, p.period
from ${t.billing_subscriptions} s, jsonb_array_elements(${JSON.stringify(last)}::text::jsonb) as p (period)
where s.account_id = ${accountId} and s.mode = ${mode} and s.id = ${Id.toUuid(id)}::uuid
on conflict (account_id, mode, customer_id, subscription_id, number) do update set period = excluded.period
returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
  })

  const periodsBefore = Effect.fnUntraced(function* (id: SubscriptionId, before: number, limit: number) {
    const operation = "SubscriptionStore.periodsBefore"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select p.period::text as period from ${t.billing_periods} p
where p.account_id = ${accountId} and p.mode = ${mode} and p.customer_id = (
    select s.customer_id from ${t.billing_subscriptions} s
    where s.account_id = ${accountId} and s.mode = ${mode} and s.id = ${Id.toUuid(id)}::uuid
  ) and p.subscription_id = ${Id.toUuid(id)}::uuid and p.number < ${String(before)}::integer
order by p.number desc limit ${String(limit)}::integer`,
    )
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(periodFromRow).toReversed())(rows)
  })

  const list = Effect.fnUntraced(function* (
    { customerId, phase, plan, version }: SubscriptionFilter,
    page: Page.PageQuery,
  ) {
    const operation = "SubscriptionStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const cursor = yield* cursorOf(SUBSCRIPTION_ID_PREFIX, page)
    yield* requireCursor(page, cursor, (uuid) =>
      read(
        operation,
        (sql) =>
          sql<Row>`select 1 from ${t.billing_subscriptions}
where account_id = ${accountId} and mode = ${mode} and id = ${uuid}::uuid`,
      ),
    )
    const { limit, order, position } = clauses(page, cursor)
    const rows = yield* read(operation, (sql) => {
      const ofCustomer =
        customerId === undefined ? sql`true` : sql`t.customer_id = ${Id.toUuid(customerId)}::uuid`
      const inPhase = phase === undefined ? sql`true` : sql`t.phase = ${phase}`
      const ofPlan = plan === undefined ? sql`true` : sql`t.state -> 'plan' ->> 'key' = ${plan}`
      const ofVersion =
        version === undefined
          ? sql`true`
          : sql`(t.state -> 'plan' ->> 'version')::integer = ${String(version)}::integer`
      return sql<Row>`select ${COLUMNS}, ${dueColumns} from ${t.billing_subscriptions} t ${due}
where t.account_id = ${accountId} and t.mode = ${mode} and ${ofCustomer} and ${inPhase} and ${ofPlan}
  and ${ofVersion} and ${position}
order by ${order} limit ${limit}`
    })
    return pageOf(page, yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(fromRow))(rows))
  })

  return SubscriptionStore.of({
    insert: (subscription) => transactor.atomically(insert(subscription)),
    find: (id) => find("SubscriptionStore.find", id),
    list,
    lock,
    save,
    savePeriods,
    periodsBefore,
  })
})

export const layer: Layer.Layer<SubscriptionStore, never, Database | Transactor> = Layer.effect(
  SubscriptionStore,
  make,
)

export const layerLive: Layer.Layer<LiveSubscriptions, never, Database> = Layer.effect(
  LiveSubscriptions,
  Effect.map(Database, ({ read, tables: t }) =>
    LiveSubscriptions.of({
      exist: Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
        const { accountId, mode } = yield* CurrentTenant
        const rows = yield* read(
          "LiveSubscriptions.exist",
          (sql) =>
            sql<Row>`select 1 from ${t.billing_subscriptions} where account_id = ${accountId} and mode = ${mode}
  and customer_id = ${Id.toUuid(customerId)}::uuid and phase <> 'ended' limit 1`,
        )
        return rows.length > 0
      }),
    }),
  ),
)
