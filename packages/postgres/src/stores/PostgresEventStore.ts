/**
 * The `EventStore` on Postgres. The stream of events is in `EventTail`.
 */
import {
  Batch,
  CurrentTenant,
  type Delivery,
  type Event,
  EVENT_ID_PREFIX,
  type EventFilterQuery,
  type EventId,
  EventStore,
  GroupCommit,
  Id,
  MAX_REDACTED,
  type Page,
  type PublishOutcome,
  type RedactStep,
  type Tenant,
  Transactor,
} from "@billwright/core"
import { type DateTime, Effect, Layer, Option } from "effect"
import type { SqlClient } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { Commits } from "../Commits.ts"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database, type DatabaseService } from "../Database.ts"
import { Intakes } from "../Intakes.ts"
import { clauses, cursorIn, pageOf, shownOf } from "../Paging.ts"
import { booleans, decoding, json, type Row, text } from "../Row.ts"
import { eventColumns, eventFromRow, eventId, withinPage } from "./EventRow.ts"
import * as EventTail from "./EventTail.ts"
import * as HandOver from "./HandOver.ts"
import * as LostLeases from "./LostLeases.ts"

const PUBLISH = "EventStore.publish"
const REDACT = "EventStore.redact"
/** Most events of a statement: 8 MiB of payloads. */
const MAX_GROUP = 32
/**
 * How long a publication waits for others of its tenant that are being written, in milliseconds. Then it is written by itself,
 * beside them. So none is held up when commits are slow, or when somebody has locked what another one needs.
 */
const MAX_GROUP_WAIT_MILLIS = 3
/** Of all tenants together, as many groups as may come: each is written on a connection of the pool, as a single event is. */
const MAX_CONCURRENT_GROUPS = 10_000

/** The text of the statement never changes, so it is parsed once for each connection. */
const publishStatement = ({ schema }: DatabaseService): string =>
  `select kind, xid, event::text as event, leased::text as leased, has_due::text as has_due
from ${schema}.publish_event_row($1::text, $2::text, $3::text::uuid, $4::text,
  $5::text::bigint, $6::text::uuid, $7::text, $8::text, $9::text::uuid, ${HandOver.leaseArguments(10)}, $14)`

const publishParameters = (
  { accountId, mode }: Tenant.Tenant,
  event: Event.Event,
): ReadonlyArray<string | null> => [
  accountId,
  mode,
  Id.toUuid(event.id),
  event.type,
  String(event.timestamp.epochMilliseconds),
  event.customerId === null ? null : Id.toUuid(event.customerId),
  event.idempotencyKey,
  event.payload,
  event.endpointId === null ? null : Id.toUuid(event.endpointId),
]

const outcomeFromRow = (event: Event.Event, row: Row): PublishOutcome => {
  const kind = text(row, "kind")
  switch (kind) {
    case "published":
    case "published_before": // the same publication, sent again after its answer was lost
      return { _tag: "Published", event }
    case "duplicate":
      return { _tag: "Duplicate", event: eventFromRow(json(row, "event") as Row) }
    case "key_conflict":
      return { _tag: "KeyConflict", eventId: eventId(text(json(row, "event") as Row, "id")) }
    case "unknown_customer":
      return { _tag: "CustomerNotFound" }
    case "unknown_endpoint":
      return { _tag: "EndpointNotFound" }
    default:
      throw new TypeError(`publish_event_row gave an unknown kind: ${kind}`)
  }
}

const isPublished = ({ _tag }: PublishOutcome): boolean => _tag === "Published"

const publishAllStatement = ({ schema }: DatabaseService): string =>
  `select xid, is_published::text, leased::text as leased, has_due::text as has_due
from ${schema}.publish_event_rows($1::text, $2::text, $3::text::uuid[], $4::text::text[],
  $5::text::bigint[], $6::text::uuid[], $7::text::text[], ${HandOver.leaseArguments(8)}, $12)`

const publishAllParameters = (
  { accountId, mode }: Tenant.Tenant,
  events: ReadonlyArray<Event.Event>,
): ReadonlyArray<string> => [
  accountId,
  mode,
  ArrayLiteral.plain(events.map(({ id }) => Id.toUuid(id))),
  ArrayLiteral.plain(events.map(({ type }) => type)),
  ArrayLiteral.plain(events.map(({ timestamp }) => timestamp.epochMilliseconds)),
  ArrayLiteral.plain(events.map(({ customerId }) => (customerId === null ? null : Id.toUuid(customerId)))),
  ArrayLiteral.quoted(events.map(({ payload }) => payload)),
]

const outcomesFromRow = (events: ReadonlyArray<Event.Event>, row: Row): ReadonlyArray<PublishOutcome> => {
  const published = booleans(row, "is_published")
  return events.map((event, index) =>
    published[index] === true ? { _tag: "Published", event } : { _tag: "CustomerNotFound" },
  )
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const commits = yield* Commits
  const transactor = yield* Transactor
  const { read, tables: t, write } = database
  const statement = publishStatement(database)
  const statementOfMany = publishAllStatement(database)
  // Made before the groups of events, so that it closes after them.
  const lost = yield* LostLeases.make(database, commits)
  const handOver = HandOver.make(database, commits, yield* Intakes, lost)

  /** Runs a statement that publishes events, and reads the outcome from its row. */
  const publishing = <A>(
    events: ReadonlyArray<Event.Event>,
    text: string,
    parameters: ReadonlyArray<string | null>,
    read: (row: Row) => A,
    isNews: (outcome: A) => boolean,
  ) => {
    const writing = Effect.fnUntraced(function* (notice: string | null) {
      const { hasDue, row } = yield* handOver(PUBLISH, events, (sql, lease) =>
        sql.unsafe<Row>(text, [...parameters, ...lease, notice]),
      )
      yield* noteXid(row["xid"])
      return { outcome: yield* decoding(PUBLISH, read)(row), hasDue }
    })
    return Effect.map(
      commits.announcing(writing, ({ hasDue, outcome }) =>
        isNews(outcome) ? (hasDue ? "due" : "events") : "none",
      ),
      ({ outcome }) => outcome,
    )
  }

  const publishOne = Effect.fnUntraced(function* (event: Event.Event) {
    const parameters = publishParameters(yield* CurrentTenant, event)
    return yield* publishing([event], statement, parameters, (row) => outcomeFromRow(event, row), isPublished)
  })

  const publishAll = Effect.fnUntraced(function* (events: ReadonlyArray<Event.Event>) {
    const parameters = publishAllParameters(yield* CurrentTenant, events)
    return yield* publishing(
      events,
      statementOfMany,
      parameters,
      (row) => outcomesFromRow(events, row),
      (outcomes) => outcomes.some(isPublished),
    )
  })

  const groups = yield* GroupCommit.make(publishAll, {
    operation: PUBLISH,
    name: "the queue of events",
    maxGroup: MAX_GROUP,
    maxConcurrentCommits: MAX_CONCURRENT_GROUPS,
  })

  const publishWithOthers = (event: Event.Event) =>
    Effect.flatMap(
      groups.submitWithin(event, MAX_GROUP_WAIT_MILLIS),
      Option.match({ onNone: () => publishOne(event), onSome: Effect.succeed }),
    )

  /**
   * Those of a batch are published together, unless they need more than to be stored and queued. So are those that are
   * published at the same time outside of transactions, unless they have a customer or an idempotency key: such an event may
   * have to wait for a transaction of others, and nobody should wait with it.
   */
  const publish = (event: Event.Event) => {
    if (event.idempotencyKey !== null || event.endpointId !== null) return publishOne(event)
    return Effect.flatMap(Batch.isMember, (isMember) => {
      if (isMember) return Batch.together(PUBLISH, event, publishAll)
      if (event.customerId !== null) return publishOne(event)
      return Effect.flatMap(database.inTransaction, (isJoined) =>
        isJoined ? publishOne(event) : publishWithOthers(event),
      )
    })
  }

  const find = Effect.fnUntraced(function* (id: EventId) {
    const operation = "EventStore.find"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${eventColumns} from ${t.events} t
where t.account_id = ${accountId} and t.mode = ${mode} and t.id = ${Id.toUuid(id)}::uuid`,
    )
    return yield* decoding(operation, (row: Row | undefined) =>
      Option.map(Option.fromUndefinedOr(row), eventFromRow),
    )(rows[0])
  })

  const list = Effect.fnUntraced(function* (filter: EventFilterQuery, page: Page.PageQuery) {
    const operation = "EventStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const cursor = yield* cursorIn(read, operation, t.events, EVENT_ID_PREFIX, page)
    const { limit, order, position } = clauses(page, cursor)
    const { deliveryStatus, ...own } = filter
    const rows = yield* read(operation, (sql) => {
      const wanted = filterClause(sql, own)
      // Few deliveries have failed or are pending. So this goes from them to their events, in the order of the
      // events. The other way round it would read all events since the last one with a failure.
      if (isOfFew(filter))
        return sql<Row>`select ${eventColumns}, t.is_shown::text as is_shown from ${withinPage(
          sql`select t.* from (
  select distinct t.id from (
    select d.event_id as id from ${deliveryTable(database, deliveryStatus)} d
    where d.account_id = ${accountId} and d.mode = ${mode} and ${ofStatus(sql, deliveryStatus)}
  ) as t where ${position} order by ${order} offset 0
) as d, lateral (
  select t.* from ${t.events} t where t.account_id = ${accountId} and t.mode = ${mode} and t.id = d.id and ${wanted}
  offset 0
) as t order by d.id ${sql.literal(page.cursor?.direction === "newer" ? "asc" : "desc")} limit ${limit}`,
          order,
        )} order by ${order}`
      const delivered =
        deliveryStatus === undefined
          ? sql`true`
          : sql`exists (
  select from ${deliveryTable(database, deliveryStatus)} d
  where d.account_id = t.account_id and d.mode = t.mode and d.event_id = t.id and ${ofStatus(sql, deliveryStatus)}
)`
      return sql<Row>`select ${eventColumns}, t.is_shown::text as is_shown from ${withinPage(
        sql`select t.* from ${t.events} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${wanted} and ${delivered} and ${position}
order by ${order} limit ${limit}`,
        order,
      )} order by ${order}`
    })
    const shown = Math.min(page.limit, shownOf(rows).length)
    const events = yield* decoding(operation, (all: ReadonlyArray<Row>) => all.map(eventFromRow))(rows)
    return pageOf({ ...page, limit: shown }, events)
  })

  /** The customer is locked, so that all that was published about it is committed, and nothing more is. */
  const isErased = Effect.fnUntraced(function* (customerId: string) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* write(
      REDACT,
      (sql) => sql<Row>`select c.id::text as id from ${t.customers} c
where c.account_id = ${accountId} and c.mode = ${mode} and c.id = ${Id.toUuid(customerId)}::uuid
  and c.erased_at is not null for update`,
    )
    return rows.length > 0
  })

  const unredacted = Effect.fnUntraced(function* ({ after, customerId }: RedactStep) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      REDACT,
      (sql) => sql<Row>`select ${eventColumns} from ${t.events} t
where t.account_id = ${accountId} and t.mode = ${mode} and t.customer_id = ${Id.toUuid(customerId)}::uuid
  and t.redacted_at is null ${after === undefined ? sql`` : sql`and t.id > ${Id.toUuid(after)}::uuid`}
order by t.id limit ${String(MAX_REDACTED)}::integer`,
    )
    return yield* decoding(REDACT, (all: ReadonlyArray<Row>) => all.map(eventFromRow))(rows)
  })

  const redact: EventStore["Service"]["redact"] = (step, redacted) =>
    transactor.atomically(
      Effect.gen(function* () {
        if (!(yield* isErased(step.customerId))) return undefined
        const events = yield* unredacted(step)
        if (events.length === 0) return undefined
        const { accountId, mode } = yield* CurrentTenant
        const ids = ArrayLiteral.plain(events.map(({ id }) => Id.toUuid(id)))
        const payloads = ArrayLiteral.quoted(events.map(redacted))
        const rows = yield* write(
          REDACT,
          (
            sql,
          ) => sql<Row>`select ${t.redact_events}(${accountId}, ${mode}, ${Id.toUuid(step.customerId)}::uuid,
  ${ids}::text::uuid[], ${payloads}::text::text[], ${String(step.at.epochMilliseconds)}::text::bigint)::text as done,
  ${XID}`,
        )
        yield* noteXid(rows[0]?.["xid"])
        yield* commits.announce
        return events.length < MAX_REDACTED ? undefined : events.at(-1)?.id
      }),
    )

  return EventStore.of({
    publish,
    find,
    list,
    redact,
    ...EventTail.make(database),
    committed: commits.subscribe,
  })
})

const instantOf = (sql: SqlClient.SqlClient, at: DateTime.Utc) =>
  sql`to_timestamp(${String(at.epochMilliseconds)}::float8 / 1000)`

/** Whether fewer deliveries have the status than events match the rest of the filter. */
const isOfFew = ({ customerId, deliveryStatus }: EventFilterQuery): boolean =>
  deliveryStatus !== undefined && deliveryStatus !== "Delivered" && customerId === undefined

const deliveryTable = ({ tables: t }: DatabaseService, status: Delivery.DeliveryStatus | undefined) =>
  status === "Pending" ? t.webhook_pending : t.webhook_finished

/** A literal, so that the planner knows which partial index is meant. */
const ofStatus = (sql: SqlClient.SqlClient, status: Delivery.DeliveryStatus | undefined) =>
  status === undefined || status === "Pending" ? sql`true` : sql`d.status = ${sql.literal(`'${status}'`)}`

const filterClause = (
  sql: SqlClient.SqlClient,
  { createdAfter, createdBefore, customerId, type }: Omit<EventFilterQuery, "deliveryStatus">,
) => {
  const conditions = [
    ...(type === undefined ? [] : [sql`t.type = ${type}`]),
    ...(customerId === undefined ? [] : [sql`t.customer_id = ${Id.toUuid(customerId)}::uuid`]),
    ...(createdAfter === undefined ? [] : [sql`t.occurred_at >= ${instantOf(sql, createdAfter)}`]),
    ...(createdBefore === undefined ? [] : [sql`t.occurred_at < ${instantOf(sql, createdBefore)}`]),
  ]
  return conditions.length === 0 ? sql`true` : sql.and(conditions)
}

export const layer: Layer.Layer<EventStore, never, Commits | Database | Intakes | Transactor> = Layer.effect(
  EventStore,
  make,
)
