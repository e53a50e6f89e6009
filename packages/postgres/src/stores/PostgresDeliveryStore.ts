/**
 * The `DeliveryStore` on Postgres: the part that tenants use. The queue is in `DeliveryQueue`.
 */
import {
  CurrentTenant,
  Delivery,
  type DeliveryFilterQuery,
  DeliveryStore,
  Endpoint,
  type EventId,
  Id,
  type Page,
  type RangeReplay,
  StoredDelivery,
  Transactor,
  WebhookStatistics,
} from "@billwright/core"
import { type DateTime, Effect, Layer, Option } from "effect"
import type { Statement } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { Commits } from "../Commits.ts"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { Intakes } from "../Intakes.ts"
import { clauses, cursorIn, pageOf } from "../Paging.ts"
import { decoding, instantOrNull, integer, json, type Row, text } from "../Row.ts"
import * as DeliveryQueue from "./DeliveryQueue.ts"
import { attemptFromRow, attemptsJson, deliveryColumns, deliveryFromRow } from "./DeliveryRow.ts"
import * as StandingOffers from "./StandingOffers.ts"

const make = Effect.gen(function* () {
  const database = yield* Database
  const commits = yield* Commits
  const transactor = yield* Transactor
  const { read, tables: t, write } = database

  const find = Effect.fnUntraced(function* (id: Delivery.DeliveryId) {
    const operation = "DeliveryStore.find"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${deliveryColumns}, (
  select ${attemptsJson} from ${t.webhook_attempts} a
  where a.account_id = t.account_id and a.mode = t.mode and a.delivery_id = t.id
) as attempts, (
  select (extract(epoch from q.leased_at) * 1000)::bigint::text from ${t.webhook_pending} q
  where q.account_id = t.account_id and q.mode = t.mode and q.id = t.id and t.status = 'Pending'
) as leased_at
from ${t.webhook_deliveries} t
where t.account_id = ${accountId} and t.mode = ${mode} and t.id = ${Id.toUuid(id)}::uuid`,
    )
    return yield* decoding(operation, (row: Row | undefined) =>
      Option.map(Option.fromUndefinedOr(row), (found) => ({
        delivery: deliveryFromRow(found),
        attemptStartedAt: instantOrNull(found, "leased_at"),
        attempts: (json(found, "attempts") as ReadonlyArray<Row>).map(attemptFromRow),
      })),
    )(rows[0])
  })

  const list = Effect.fnUntraced(function* (filter: DeliveryFilterQuery, page: Page.PageQuery) {
    const operation = "DeliveryStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const cursor = yield* cursorIn(read, operation, t.webhook_deliveries, Delivery.DELIVERY_ID_PREFIX, page)
    const { limit, order, position } = clauses(page, cursor)
    const { endpointId, eventId, status } = filter
    const rows = yield* read(operation, (sql) => {
      // Literals, so that the planner knows which of the two tables and which partial index is meant.
      const ofStatus = sql.literal(status === undefined ? "" : `and t.status = '${status}'`)
      const ofEndpoint =
        endpointId === undefined ? sql.literal("") : sql`and t.endpoint_id = ${Id.toUuid(endpointId)}::uuid`
      const ofEvent =
        eventId === undefined ? sql.literal("") : sql`and t.event_id = ${Id.toUuid(eventId)}::uuid`
      return sql<Row>`select ${deliveryColumns} from ${t.webhook_deliveries} t
where t.account_id = ${accountId} and t.mode = ${mode} ${ofStatus} ${ofEndpoint} ${ofEvent} and ${position}
order by ${order} limit ${limit}`
    })
    return pageOf(
      page,
      yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(deliveryFromRow))(rows),
    )
  })

  const countByStatus = Effect.fnUntraced(function* (eventIds: ReadonlyArray<EventId>) {
    const operation = "DeliveryStore.countByStatus"
    if (eventIds.length === 0) return []
    const { accountId, mode } = yield* CurrentTenant
    const uuids = ArrayLiteral.plain(eventIds.map((id) => Id.toUuid(id)))
    const rows = yield* read(operation, (sql) => {
      // By the index that starts with the event, up to the limit, so that no event costs more than its own page.
      const count = (table: Statement.Fragment, condition: string) => sql`(select count(*) from (
    select 1 from ${table} d
    where d.account_id = ${accountId} and d.mode = ${mode} and d.event_id = n.id ${sql.literal(condition)}
    limit ${sql.literal(String(Delivery.MAX_COUNTED))}
  ) as d)::text`
      return sql<Row>`select ${count(t.webhook_pending, "")} as pending,
  ${count(t.webhook_finished, "and d.status = 'Delivered'")} as delivered,
  ${count(t.webhook_finished, "and d.status = 'Failed'")} as failed
from unnest(${uuids}::text::uuid[]) with ordinality as n (id, ordinal) order by n.ordinal`
    })
    return yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(countsFromRow))(rows)
  })

  const insert = Effect.fnUntraced(function* (replay: {
    readonly eventId: EventId
    readonly endpointIds: ReadonlyArray<Endpoint.EndpointId>
    readonly firstDeliveryId: Delivery.DeliveryId
    readonly now: DateTime.Utc
  }) {
    const operation = "DeliveryStore.insert"
    const { endpointIds, eventId, firstDeliveryId, now } = replay
    if (endpointIds.length === 0) return []
    const { accountId, mode } = yield* CurrentTenant
    const ids = endpointIds.map((_, index) => Delivery.deliveryId(firstDeliveryId, index))
    // The ids are chosen by the caller, so a repeat finds its own rows. Any other conflict is an error. The event is
    // locked, so that it can't be pruned in between.
    const rows = yield* write(
      operation,
      (sql, isRepeat) =>
        sql<Row>`with event as materialized (
  select e.* from ${t.events} e
  where e.account_id = ${accountId} and e.mode = ${mode} and e.id = ${Id.toUuid(eventId)}::uuid for key share
), made as (
  insert into ${t.webhook_pending}
    (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
  select e.account_id, e.mode, n.id, e.id, e.type, n.endpoint_id, 0, n.now, n.now
  from event e, (
    select n.id, n.endpoint_id, to_timestamp(${String(now.epochMilliseconds)}::float8 / 1000) as now
    from unnest(${ArrayLiteral.plain(ids.map((id) => Id.toUuid(id)))}::text::uuid[],
      ${ArrayLiteral.plain(endpointIds.map((id) => Id.toUuid(id)))}::text::uuid[]) as n (id, endpoint_id)
  ) as n
  ${sql.literal(isRepeat ? "on conflict do nothing" : "")}
)
select e.type, ${XID} from event e`,
    )
    yield* noteXid(rows[0]?.xid)
    yield* commits.announce
    return yield* decoding(operation, (row: Row | undefined) => {
      if (row === undefined) return []
      const event = { id: eventId, type: text(row, "type") }
      return ids.map((id, index) => StoredDelivery.pending(id, event, endpointIds[index]!, now).delivery)
    })(rows[0])
  })

  /**
   * Runs a function that returns how many deliveries it changed. It runs once, because a repeat could not tell its
   * own work.
   */
  const counting = (operation: string, statement: string, parameters: ReadonlyArray<string>) =>
    transactor.atomically(
      Effect.gen(function* () {
        const rows = yield* write(operation, (sql) => sql.unsafe<Row>(statement, parameters))
        yield* noteXid(rows[0]?.xid)
        return yield* decoding(operation, (row: Row) => integer(row, "count"))(rows[0] ?? {})
      }),
    )

  const replayStatement = `select xid, count::text as count from ${database.schema}.replay_deliveries($1::text,
  $2::text, $3::text::uuid, $4::text::bigint, $5::text::bigint, $6::text::boolean, $7::text::text[], $8::text::uuid,
  $9::text::bigint, $10::text::integer, $11::text::boolean)`

  const replayRange = Effect.fnUntraced(function* (range: RangeReplay) {
    const { accountId, mode } = yield* CurrentTenant
    const count = yield* counting("DeliveryStore.replayRange", replayStatement, [
      accountId,
      mode,
      Id.toUuid(range.endpointId),
      String(range.since.epochMilliseconds),
      String(range.until.epochMilliseconds),
      String(range.onlyFailed),
      ArrayLiteral.quoted(range.types),
      Id.toUuid(range.firstDeliveryId),
      String(range.now.epochMilliseconds),
      String(range.limit),
      String(range.isDryRun),
    ])
    if (count > 0 && count <= range.limit && !range.isDryRun) yield* commits.announce
    return count
  })

  const cancelStatement = `select xid, count::text as count from ${database.schema}.cancel_deliveries($1::text,
  $2::text, $3::text::uuid, $4::text, $5::text::bigint)`

  const cancel = Effect.fnUntraced(function* (
    endpointId: Endpoint.EndpointId,
    reason: "endpoint_disabled" | "endpoint_deleted",
    at: DateTime.Utc,
  ) {
    const { accountId, mode } = yield* CurrentTenant
    return yield* counting("DeliveryStore.cancel", cancelStatement, [
      accountId,
      mode,
      Id.toUuid(endpointId),
      reason,
      String(at.epochMilliseconds),
    ])
  })

  const counts = Effect.fnUntraced(function* (sinceHour: DateTime.Utc) {
    const operation = "DeliveryStore.counts"
    const { accountId, mode } = yield* CurrentTenant
    const since = String(sinceHour.epochMilliseconds)
    const hours = yield* read(
      operation,
      (sql) =>
        sql<Row>`select h.endpoint_id::text, (extract(epoch from h.hour) * 1000)::bigint::text as hour,
  sum(h.delivered)::text as delivered, sum(h.failed)::text as failed, sum(h.failed_attempts)::text as failed_attempts
from ${t.webhook_hourly} h
where h.account_id = ${accountId} and h.mode = ${mode}
  and h.hour >= to_timestamp(${since}::float8 / 1000)
group by h.endpoint_id, h.hour`,
    )
    // Goes from endpoint to endpoint, up to the limit for each, by the index that starts with the endpoint.
    const queues = yield* read(
      operation,
      (sql) =>
        sql<Row>`select w.id::text as endpoint_id, q.count::text from ${t.webhook_endpoints} w cross join lateral (
  select count(*) from (
    select 1 from ${t.webhook_pending} q
    where q.endpoint_id = w.id and q.account_id = w.account_id and q.mode = w.mode
    limit ${sql.literal(String(WebhookStatistics.MAX_PENDING_COUNT))}
  ) as q
) as q
where w.account_id = ${accountId} and w.mode = ${mode} and q.count > 0`,
    )
    return yield* decoding(operation, (): WebhookStatistics.StoredCounts => ({
      hours: hours.map(hourFromRow),
      pending: new Map(queues.map((row) => [endpointIdOf(row), integer(row, "count")])),
    }))(undefined)
  })

  const queue = DeliveryQueue.make(database, commits, yield* Effect.scope)
  const handTo = yield* StandingOffers.make(database, commits, yield* Intakes, queue)

  return DeliveryStore.of({
    find,
    list,
    countByStatus,
    insert,
    replayRange,
    cancel,
    counts,
    handTo,
    due: commits.subscribeDue,
    ...queue,
  })
})

const endpointIdOf = (row: Row): Endpoint.EndpointId =>
  Id.fromUuid(Endpoint.ENDPOINT_ID_PREFIX, text(row, "endpoint_id")) as Endpoint.EndpointId

const countsFromRow = (row: Row): Delivery.DeliveryCounts => ({
  pending: integer(row, "pending"),
  delivered: integer(row, "delivered"),
  failed: integer(row, "failed"),
})

const hourFromRow = (row: Row): WebhookStatistics.HourCounts => ({
  endpointId: endpointIdOf(row),
  hour: integer(row, "hour"),
  delivered: integer(row, "delivered"),
  failed: integer(row, "failed"),
  failedAttempts: integer(row, "failed_attempts"),
})

export const layer: Layer.Layer<DeliveryStore, never, Commits | Database | Intakes | Transactor> =
  Layer.effect(DeliveryStore, make)
