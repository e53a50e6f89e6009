/**
 * The `SubscriptionStore` and `LiveSubscriptions` on Postgres.
 */
import {
  Batch,
  CurrentTenant,
  type Customer,
  Id,
  LiveSubscriptions,
  type Metadata,
  type Page,
  type SameTerms,
  StorageError,
  type Subscription,
  SUBSCRIPTION_ID_PREFIX,
  type SubscriptionFilter,
  type SubscriptionId,
  SubscriptionStore,
  Transactor,
} from "@billwright/core"
import { Effect, Layer, Option } from "effect"
import { type SqlClient, Statement } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { millisColumn, millisOf } from "../Millis.ts"
import { clauses, cursorIn, pageOf } from "../Paging.ts"
import { decoding, instant, integer, json, type Row, text, textOrNull } from "../Row.ts"
import { byPlace, inOrderOf, isOneOf, uuids } from "./Batched.ts"
import {
  customerIdOf,
  dueColumns,
  dueFromRow,
  hasFailed,
  joinDue,
  queueWritten,
  subscriptionIdOf,
} from "./DueRow.ts"

type Stored = Subscription.StoredSubscription

/** How often the lock of a group begins again because others join it meanwhile. */
const MAX_GROUP_LOCKS = 10
type Period = NonNullable<Stored["state"]["period"]>

const literal = (sql: string): Statement.Fragment => Statement.fragment([Statement.literal(sql)])

const COLUMNS =
  literal(`t.id::text, t.customer_id::text, t.state::text as state, t.invoice_group, t.metadata::text as metadata,
  ${millisColumn("t.created_at")}, ${millisColumn("t.updated_at")}`)

const fromRow = (row: Row): Stored => ({
  id: subscriptionIdOf(row, "id"),
  customerId: customerIdOf(row),
  state: json(row, "state") as Stored["state"],
  invoiceGroup: textOrNull(row, "invoice_group"),
  ...dueFromRow(row),
  metadata: json(row, "metadata") as Metadata.Metadata,
  createdAt: instant(row, "created_at"),
  updatedAt: instant(row, "updated_at"),
})

const sameTermsFromRow = (row: Row): SameTerms => ({
  plan: json(row, "plan") as SameTerms["plan"],
  currency: text(row, "currency"),
  quantities: json(row, "quantities") as SameTerms["quantities"],
  count: integer(row, "count"),
})

const periodFromRow = (row: Row): Period => json(row, "period") as Period

/** How long a batch waits for a subscription that somebody else holds, in milliseconds. One alone has its whole deadline. */
const BATCH_LOCK_MILLIS = 250

/**
 * Runs a statement that soon fails while it waits for somebody else. So a batch in which one subscription is held for long
 * is given up before much of its deadline is over.
 */
const waitingShortly =
  <A, E>(ask: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  (sql: SqlClient.SqlClient) =>
    Effect.gen(function* () {
      const [before] =
        yield* sql<Row>`with b as materialized (select current_setting('lock_timeout') as before)
select b.before, set_config('lock_timeout', ${String(BATCH_LOCK_MILLIS)}, true) from b`
      const result = yield* ask(sql)
      yield* sql<Row>`select set_config('lock_timeout', ${text(before!, "before")}, true)`
      return result
    })

/** Whether a member of some groups is one of the group of a subscription that is in one. */
const isBilledWith = (one: Stored, member: Stored): boolean =>
  member.customerId === one.customerId &&
  member.invoiceGroup === one.invoiceGroup &&
  member.state.currency === one.state.currency

const make = Effect.gen(function* () {
  const { read, tables: t, write } = yield* Database
  const transactor = yield* Transactor
  const due = joinDue(t, "subscription")

  const insert = Effect.fnUntraced(function* (subscription: Stored) {
    const operation = "SubscriptionStore.insert"
    const { accountId, mode } = yield* CurrentTenant
    const { createdAt, customerId, dueAt, id, invoiceGroup, metadata, state, updatedAt } = subscription
    const uuid = Id.toUuid(id)
    // Whoever erases the customer waits for this lock, and then sees the subscription. The other way round this waits,
    // and then sees that the customer is erased.
    const rows = yield* write(
      operation,
      (sql) =>
        sql<Row>`with given as (
  select ${uuid}::uuid as id, ${dueAt === null ? null : String(dueAt)}::bigint as due_at
), customer as materialized (
  select c.account_id, c.mode, c.id from ${t.customers} c
  where c.account_id = ${accountId} and c.mode = ${mode} and c.id = ${Id.toUuid(customerId)}::uuid
    and c.erased_at is null for key share
), written as (
  insert into ${t.billing_subscriptions} (account_id, mode, customer_id, id, state, invoice_group, metadata, created_at, updated_at)
  select c.account_id, c.mode, c.id, ${uuid}::uuid, ${JSON.stringify(state)}::text::jsonb, ${invoiceGroup}::text,
    ${JSON.stringify(metadata)}::text::jsonb, to_timestamp(${millisOf(createdAt)}::float8 / 1000),
    to_timestamp(${millisOf(updatedAt)}::float8 / 1000)
  from customer c where not exists (
    select from ${t.billing_subscriptions} s
    where s.account_id = ${accountId} and s.mode = ${mode} and s.id = ${uuid}::uuid offset 0
  )
  on conflict do nothing returning account_id, mode, customer_id, id, ${XID}
), ${queueWritten(t, "subscription")}
select xid from written`,
    )
    if (rows[0] !== undefined) return yield* noteXid(rows[0]["xid"])
    const cause = new Error(`there is no customer ${customerId}, or the subscription id ${id} is taken`)
    return yield* new StorageError({ operation, retryable: false, cause })
  })

  const findAll = Effect.fnUntraced(function* (operation: string, ids: ReadonlyArray<SubscriptionId>) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${COLUMNS}, ${dueColumns} from ${t.billing_subscriptions} t ${due}
where t.account_id = ${accountId} and t.mode = ${mode} and ${isOneOf("t.id", ids)}`,
    )
    return inOrderOf(ids, yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(fromRow))(rows))
  })

  /** Two statements, because the first one may wait, and its snapshot of the queue is from before that. */
  const lockAll = Effect.fnUntraced(function* (ids: ReadonlyArray<SubscriptionId>) {
    const operation = "SubscriptionStore.lock"
    const { accountId, mode } = yield* CurrentTenant
    yield* write(
      operation,
      (sql) =>
        sql<Row>`select 1 from ${t.billing_subscriptions} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${isOneOf("t.id", ids)}
order by t.id for no key update`,
    )
    return yield* findAll(operation, ids)
  })

  /**
   * Those that are alone are locked first, then groups: each in the order of ids, as by everybody. The reading sees what
   * others did while that waited. If a group has further members then, it begins again with them.
   */
  const lockAllGroups = Effect.fnUntraced(function* (ids: ReadonlyArray<SubscriptionId>) {
    const operation = "SubscriptionStore.lockGroup"
    const { accountId, mode } = yield* CurrentTenant
    const lockAlone = (sql: SqlClient.SqlClient) => sql<Row>`select 1 from ${t.billing_subscriptions} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${isOneOf("t.id", ids)}
  and t.invoice_group is null
order by t.id for no key update`
    yield* write(operation, ids.length === 1 ? lockAlone : waitingShortly(lockAlone))
    const found = yield* findAll(operation, ids)
    const grouped = found.filter(Option.isSome).filter(({ value }) => value.invoiceGroup !== null)
    const members = grouped.length === 0 ? [] : yield* lockMembers(grouped.map(({ value }) => value))
    return found.map((one) => {
      if (Option.isNone(one) || one.value.invoiceGroup === null) return Option.toArray(one)
      return members.filter((member) => isBilledWith(one.value, member))
    })
  })

  /** All that are billed together with some subscriptions of groups, held. */
  const lockMembers = Effect.fnUntraced(function* (subscriptions: ReadonlyArray<Stored>) {
    const operation = "SubscriptionStore.lockGroup"
    const { accountId, mode } = yield* CurrentTenant
    const given = JSON.stringify(
      subscriptions.map(({ customerId, id, invoiceGroup, state }) => ({
        customer_id: Id.toUuid(customerId),
        invoice_group: invoiceGroup,
        currency: state.currency,
        id: Id.toUuid(id),
      })),
    )
    const select = (sql: SqlClient.SqlClient) => sql`with g as materialized (
  select * from jsonb_to_recordset(${given}::text::jsonb)
    as g (customer_id uuid, invoice_group text, currency text, id uuid)
), drafted as materialized (
  select i.customer_id, i.subscription_id from ${t.billing_invoices} i
  where i.account_id = ${accountId} and i.mode = ${mode} and i.status = 'draft'
    and i.customer_id in (select g.customer_id from g)
  union all
  select c.customer_id, c.subscription_id from ${t.billing_invoice_causes} c join ${t.billing_invoices} i
    on i.account_id = c.account_id and i.mode = c.mode and i.customer_id = c.customer_id and i.id = c.invoice_id
  where c.account_id = ${accountId} and c.mode = ${mode} and i.status = 'draft'
    and c.customer_id in (select g.customer_id from g)
), members as materialized (
  select t.id from g join ${t.billing_subscriptions} t on t.account_id = ${accountId} and t.mode = ${mode}
    and t.customer_id = g.customer_id and t.invoice_group = g.invoice_group and t.state ->> 'currency' = g.currency
  where t.phase <> 'ended' or t.id = g.id
    or (t.customer_id, t.id) in (select d.customer_id, d.subscription_id from drafted d where d.subscription_id is not null)
)`
    for (let attempt = 0; attempt < MAX_GROUP_LOCKS; attempt++) {
      const locked = yield* write(
        operation,
        (sql) =>
          sql<Row>`${select(sql)}
select t.id::text as id from ${t.billing_subscriptions} t
where t.account_id = ${accountId} and t.mode = ${mode} and t.id in (select m.id from members m)
order by t.id for no key update of t`,
      )
      const rows = yield* read(
        operation,
        (sql) =>
          sql<Row>`${select(sql)}
select ${COLUMNS}, ${dueColumns} from ${t.billing_subscriptions} t ${due}
where t.account_id = ${accountId} and t.mode = ${mode} and t.id in (select m.id from members m)
order by t.id`,
      )
      const held = new Set(locked.map((row) => row["id"]))
      if (rows.every((row) => held.has(row["id"]))) {
        return yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(fromRow))(rows)
      }
    }
    const cause = new Error("an invoice group gets new subscriptions all the time")
    return yield* new StorageError({ operation, retryable: true, cause })
  })

  const saveAll = Effect.fnUntraced(function* (all: ReadonlyArray<Stored>) {
    const { accountId, mode } = yield* CurrentTenant
    const ids = all.map(({ id }) => id)
    const given = all.map(({ dueAt, id, metadata, state, updatedAt }) => ({
      id: Id.toUuid(id),
      state,
      metadata,
      updated_at: updatedAt.epochMilliseconds,
      due_at: dueAt,
    }))
    const rows = yield* write(
      "SubscriptionStore.save",
      (sql) =>
        sql<Row>`with given as materialized (
  select * from jsonb_to_recordset(${JSON.stringify(given)}::text::jsonb)
    as g (id uuid, state jsonb, metadata jsonb, updated_at float8, due_at bigint)
), written as (
  update ${t.billing_subscriptions} t set state = g.state, metadata = g.metadata,
    updated_at = to_timestamp(g.updated_at / 1000)
  from given g where t.account_id = ${accountId} and t.mode = ${mode} and t.id = g.id
    and ${isOneOf("t.id", ids)}
  returning t.account_id, t.mode, t.customer_id, t.id, ${XID}
), ${queueWritten(t, "subscription")}
select xid from written limit 1`,
    )
    yield* noteXid(rows[0]?.["xid"])
    return all.map(() => undefined)
  })

  const saveAllPeriods = Effect.fnUntraced(function* (
    all: ReadonlyArray<{ readonly id: SubscriptionId; readonly periods: ReadonlyArray<Period> }>,
  ) {
    const { accountId, mode } = yield* CurrentTenant
    const given = all.map(({ id, periods }) => ({
      id: Id.toUuid(id),
      periods: [...new Map(periods.map((period) => [period.number, period])).values()],
    }))
    const rows = yield* write(
      "SubscriptionStore.savePeriods",
      (sql) =>
        sql<Row>`insert into ${t.billing_periods} (account_id, mode, customer_id, subscription_id, number, period)
select s.account_id, s.mode, s.customer_id, s.id, (p.period ->> 'number')::integer, p.period
from jsonb_to_recordset(${JSON.stringify(given)}::text::jsonb) as g (id uuid, periods jsonb)
cross join lateral (
  select s.account_id, s.mode, s.customer_id, s.id from ${t.billing_subscriptions} s
  where s.account_id = ${accountId} and s.mode = ${mode} and s.id = g.id
  offset 0
) as s
cross join lateral jsonb_array_elements(g.periods) as p (period)
on conflict (account_id, mode, customer_id, subscription_id, number) do update set period = excluded.period
returning ${XID}`,
    )
    yield* noteXid(rows[0]?.["xid"])
    return all.map(() => undefined)
  })

  const allPeriodsBefore = Effect.fnUntraced(function* (
    asked: ReadonlyArray<{ readonly id: SubscriptionId; readonly before: number; readonly limit: number }>,
  ) {
    const operation = "SubscriptionStore.periodsBefore"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select a.n::text as n, p.period::text as period
from unnest(${uuids(asked.map(({ id }) => id))}::text::uuid[],
    ${ArrayLiteral.plain(asked.map(({ before }) => before))}::text::integer[],
    ${ArrayLiteral.plain(asked.map(({ limit }) => limit))}::text::integer[]) with ordinality as a (id, before, most, n)
cross join lateral (
  select s.customer_id from ${t.billing_subscriptions} s
  where s.account_id = ${accountId} and s.mode = ${mode} and s.id = a.id
  offset 0
) as s
cross join lateral (
  select p.number, p.period from ${t.billing_periods} p
  where p.account_id = ${accountId} and p.mode = ${mode} and p.customer_id = s.customer_id
    and p.subscription_id = a.id and p.number < a.before
  order by p.number desc limit a.most
) as p order by a.n, p.number`,
    )
    return yield* decoding(operation, byPlace(asked.length, periodFromRow))(rows)
  })

  const sameTerms = Effect.fnUntraced(function* (limit: number) {
    const operation = "SubscriptionStore.sameTerms"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select (t.state -> 'plan')::text as plan, t.state ->> 'currency' as currency,
  (t.state -> 'quantities')::text as quantities, count(*)::text as count
from ${t.billing_subscriptions} t
where t.account_id = ${accountId} and t.mode = ${mode} and t.phase = 'active'
group by t.state -> 'plan', t.state ->> 'currency', t.state -> 'quantities' limit ${String(limit)}::integer`,
    )
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(sameTermsFromRow))(rows)
  })

  /** First pages of the live subscriptions of customers. */
  const allOfCustomers = Effect.fnUntraced(function* (
    asked: ReadonlyArray<{ readonly customerId: Customer.CustomerId; readonly page: Page.PageQuery }>,
  ) {
    const operation = "SubscriptionStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const { page } = asked[0]!
    const { limit, order } = clauses(page, undefined)
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select t.n::text as n, ${COLUMNS}, ${dueColumns}
from (
  select a.n, t.* from unnest(${uuids(asked.map(({ customerId }) => customerId))}::text::uuid[])
    with ordinality as a (customer_id, n)
  cross join lateral (
    select t.* from ${t.billing_subscriptions} t
    where t.account_id = ${accountId} and t.mode = ${mode} and t.customer_id = a.customer_id and t.phase <> 'ended'
    order by ${order} limit ${limit}
  ) as t
) as t ${due}
order by t.n, ${order}`,
    )
    const found = yield* decoding(operation, byPlace(asked.length, fromRow))(rows)
    return found.map((all) => pageOf(page, all))
  })

  const listOne = Effect.fnUntraced(function* (
    { currency, customerId, failure, invoiceGroup, isLive, phase, plan, version }: SubscriptionFilter,
    page: Page.PageQuery,
  ) {
    const operation = "SubscriptionStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const cursor = yield* cursorIn(read, operation, t.billing_subscriptions, SUBSCRIPTION_ID_PREFIX, page)
    const { limit, order, position } = clauses(page, cursor)
    const rows = yield* read(operation, (sql) => {
      const ofCustomer =
        customerId === undefined ? sql`true` : sql`t.customer_id = ${Id.toUuid(customerId)}::uuid`
      const inGroup = invoiceGroup === undefined ? sql`true` : sql`t.invoice_group = ${invoiceGroup}`
      const inCurrency = currency === undefined ? sql`true` : sql`t.state ->> 'currency' = ${currency}`
      const inPhase = phase === undefined ? sql`true` : sql`t.phase = ${phase}`
      const live = isLive === undefined ? sql`true` : sql`t.phase <> 'ended'`
      const ofPlan = plan === undefined ? sql`true` : sql`t.state -> 'plan' ->> 'key' = ${plan}`
      const ofVersion =
        version === undefined
          ? sql`true`
          : sql`(t.state -> 'plan' ->> 'version')::integer = ${String(version)}::integer`
      const failed =
        failure === undefined ? sql`true` : hasFailed(sql, t, { accountId, mode }, "subscription", failure)
      return sql<Row>`select ${COLUMNS}, ${dueColumns} from ${t.billing_subscriptions} t ${due}
where t.account_id = ${accountId} and t.mode = ${mode} and ${ofCustomer} and ${inPhase} and ${live} and ${ofPlan}
  and ${ofVersion} and ${inGroup} and ${inCurrency} and ${failed} and ${position}
order by ${order} limit ${limit}`
    })
    return pageOf(page, yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(fromRow))(rows))
  })

  const list = (filter: SubscriptionFilter, page: Page.PageQuery) => {
    const { customerId, isLive, ...others } = filter
    const isPlain = isLive === true && Object.values(others).every((value) => value === undefined)
    if (customerId === undefined || !isPlain || page.cursor !== undefined) return listOne(filter, page)
    return Effect.flatMap(Batch.isMember, (isMember) =>
      isMember
        ? Batch.together(`SubscriptionStore.list ${page.limit}`, { customerId, page }, allOfCustomers)
        : listOne(filter, page),
    )
  }

  return SubscriptionStore.of({
    sameTerms,
    insert: (subscription) => transactor.atomically(insert(subscription)),
    find: (id) =>
      Batch.together("SubscriptionStore.find", id, (ids) => findAll("SubscriptionStore.find", ids)),
    list,
    lock: (id) => Batch.together("SubscriptionStore.lock", id, lockAll),
    lockGroup: (id) => Batch.together("SubscriptionStore.lockGroup", id, lockAllGroups),
    save: (subscription) => Batch.together("SubscriptionStore.save", subscription, saveAll),
    savePeriods: (id, periods) =>
      periods.length === 0
        ? Effect.void
        : Batch.together("SubscriptionStore.savePeriods", { id, periods }, saveAllPeriods),
    periodsBefore: (id, before, limit) =>
      Batch.together("SubscriptionStore.periodsBefore", { id, before, limit }, allPeriodsBefore),
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
