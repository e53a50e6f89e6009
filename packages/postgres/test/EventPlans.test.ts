/**
 * No frequent query of events and deliveries reads a whole table or a large part of one. Postgres counts the rows
 * read. The queue has 100,000 deliveries that are not due yet, and a backlog of 50,000 of one endpoint; 100,000 are
 * done.
 */
import {
  type CurrentTenant,
  Delivery,
  DeliveryStore,
  type DeliveryFilterQuery,
  type Endpoint,
  EndpointStore,
  Event,
  type EventFilterQuery,
  type EventId,
  EventStore,
  Id,
  IdGenerator,
  type Page,
  type RangeReplay,
  RetentionStore,
  Tenant,
  WebhookStatistics,
} from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Client } from "pg"
import { inject } from "vitest"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { claim, delivered, minute, newEndpoint, publish, settle } from "./Webhooks.ts"

const live = Storage.layer().pipe(Layer.provideMerge(TestDatabase.layerClient({ poolSize: 1 })))

/** More than 5 executions: after those Postgres may switch to a generic plan. */
const EXECUTIONS = 8

/** An open transaction in another database of the server, until the scope closes. */
const transactionElsewhere = Effect.acquireRelease(
  Effect.promise(async () => {
    const client = new Client({ connectionString: inject("serverUrl") })
    await client.connect()
    await client.query("begin")
    await client.query("select pg_current_xact_id()")
    return client
  }),
  (client) => Effect.promise(() => client.end()),
)

const uuid = (table: number, row: number): string =>
  `01940000-0000-7000-8${String(table).padStart(3, "0")}-${row.toString(16).padStart(12, "0")}`
const eventId = (row: number) => Id.fromUuid("evt", uuid(1, row)) as EventId
const endpointId = (row: number) => Id.fromUuid("whe", uuid(2, row)) as Endpoint.EndpointId
const deliveryId = (table: number, row: number) => Id.fromUuid("dlv", uuid(table, row)) as Delivery.DeliveryId
const customerId = (row: number) => Id.fromUuid("cus", uuid(6, row)) as never

const sqlUuid = (table: number, row: string) =>
  `('01940000-0000-7000-8${String(table).padStart(3, "0")}-' || lpad(to_hex(${row}), 12, '0'))::uuid`

const START = "2026-01-01T00:00:00Z"
const at = (minutes: number): DateTime.Utc => DateTime.add(DateTime.makeUnsafe(START), { minutes })
const sqlAt = (minutes: string) => `'${START}'::timestamptz + (${minutes}) * interval '1 minute'`

/** The endpoint with the backlog. */
const BUSY = 0
/** The event with thousands of deliveries. */
const CROWDED = 149_999
/** Hours with counts: two weeks, … */
const HOURS = 336
/** … which begin this many hours after the start. */
const FIRST_HOUR = 200_000
/** One event is published each minute, so the last of them is due at this instant. */
const NOW = at(200_000)

/**
 * 150,000 events of 200 types. 100,000 done deliveries of 200 endpoints, with attempts as older releases wrote them; few of
 * them failed.
 */
const fill = [
  // On a busy machine this takes longer than the statement timeout. The pool has one connection, so the setting
  // stays.
  "set statement_timeout = 0",
  `insert into billwright.events (account_id, mode, id, type, occurred_at, customer_id, payload)
select 'default', 'live', ${sqlUuid(1, "n")}, 'type.n' || n % 200, ${sqlAt("n")},
  case when n % 10 = 0 then ${sqlUuid(6, "n % 3000")} end,
  '{"id":"x","data":{"n":' || n || '}}' from generate_series(0, 149999) n`,
  `insert into billwright.webhook_endpoints (account_id, mode, id, url, event_types, headers, metadata, signature,
  secrets, status, created_at, updated_at)
select 'default', 'live', ${sqlUuid(2, "n")}, 'https://example.com', array['type.n' || n], '{}', '{}', 'hmac',
  '[]', 'enabled', now(), now() from generate_series(0, 199) n`,
  `insert into billwright.webhook_endpoints (account_id, mode, id, url, event_types, headers, metadata, signature,
  secrets, status, created_at, updated_at)
select 'other' || n, 'live', ${sqlUuid(7, "n")}, 'https://example.com', '{*}', '{}', '{}', 'hmac',
  '[]', 'enabled', now(), now() from generate_series(0, 4999) n`,
  `insert into billwright.webhook_finished
select 'default', 'live', ${sqlUuid(3, "n")}, ${sqlUuid(1, "n")}, 'type.n' || n % 200, ${sqlUuid(2, "n % 200")}, 1, 200,
  null, ${sqlAt("n")}, case when n % 500 = 0 then 'Failed' else 'Delivered' end,
  case when n % 500 = 0 then 'exhausted' end, now() from generate_series(0, 99999) n`,
  `insert into billwright.webhook_earlier_attempts (account_id, mode, delivery_id, number, started_at, request_headers)
select 'default', 'live', ${sqlUuid(3, "n")}, 1, now(), '{}' from generate_series(0, 99999) n`,
  // Not due yet, like after an outage of all receivers.
  `insert into billwright.webhook_pending
  (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
select 'default', 'live', ${sqlUuid(4, "n")}, ${sqlUuid(1, "n")}, 'type.n' || n % 200, ${sqlUuid(2, "n % 200")}, 1, now(),
  ${sqlAt("300000 + n")} from generate_series(0, 99999) n`,
  // All due at once, like after a replay of a range.
  `insert into billwright.webhook_pending
  (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
select 'default', 'live', ${sqlUuid(5, "n")}, ${sqlUuid(1, "100000 + n")}, 'type.n0', ${sqlUuid(2, String(BUSY))}, 0, now(),
  ${sqlAt("0")} from generate_series(0, 49999) n`,
  // A few that are due after all of these, each of a different endpoint.
  `insert into billwright.webhook_pending
  (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
select 'default', 'live', ${sqlUuid(8, "n")}, ${sqlUuid(1, "n")}, 'type.n' || n, ${sqlUuid(2, "n")}, 0, now(),
  ${sqlAt("1000 + n")} from generate_series(1, 199) n`,
]

/** 8,000 due deliveries of 20 endpoints. */
const fillQueue = (table: number, rows: number) => `insert into billwright.webhook_pending
  (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
select 'default', 'live', ${sqlUuid(table, "n")}, ${sqlUuid(1, "n")}, 'type.n' || n % 20, ${sqlUuid(2, "n % 20")}, 0, now(),
  ${sqlAt("n / 100.0")} from generate_series(1, ${rows}) n`

/** 20 due deliveries of each of this many other tenants, due after those of the first tenant. */
const fillTenants = (tenants: number) => `insert into billwright.webhook_pending
  (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
select 'tenant ' || n % ${tenants}, 'live', ${sqlUuid(18, "n")}, ${sqlUuid(1, "n")}, 'type.n1', ${sqlUuid(19, `n % ${tenants}`)}, 0,
  now(), ${sqlAt("100000 + n")} from generate_series(0, ${20 * tenants - 1}) n`

/** One event that was sent many times; and the counts of two weeks, long after everything else. */
const fillCounts = [
  `insert into billwright.webhook_finished
select 'default', 'live', ${sqlUuid(14, "n")}, ${sqlUuid(1, String(CROWDED))}, 'type.n0', ${sqlUuid(2, "n % 200")}, 1, 200,
  null, ${sqlAt("n")}, 'Delivered', null, now() from generate_series(0, 4999) n`,
  `insert into billwright.webhook_hourly
select 'default', 'live', ${sqlAt(`60 * (${FIRST_HOUR} + n / 200)`)}, ${sqlUuid(2, "n % 200")}, 9, 1, 2
from generate_series(0, ${200 * HOURS - 1}) n`,
]

/**
 * From the year before: events with two done deliveries each, and hourly counts. And newer events of other tenants.
 */
const fillOld = [
  `insert into billwright.events (account_id, mode, id, type, occurred_at, payload)
select 'default', 'live', ${sqlUuid(11, "n")}, 'type.n1', ${sqlAt("n - 100000")}, '{}' from generate_series(0, 1999) n`,
  `insert into billwright.webhook_finished
select 'default', 'live', ${sqlUuid(12, "n")}, ${sqlUuid(11, "n / 2")}, 'type.n1', ${sqlUuid(2, "n % 200")}, 1, 200, null,
  ${sqlAt("n - 100000")}, 'Delivered', null, ${sqlAt("n - 100000")} from generate_series(0, 3999) n`,
  `insert into billwright.webhook_earlier_attempts (account_id, mode, delivery_id, number, started_at, request_headers)
select 'default', 'live', ${sqlUuid(12, "n")}, 1, now(), '{}' from generate_series(0, 3999) n`,
  `insert into billwright.events (account_id, mode, id, type, occurred_at, payload)
select 'another' || n, 'live', ${sqlUuid(13, "n")}, 'type.n1', ${sqlAt("n")}, '{}' from generate_series(0, 199) n`,
  `insert into billwright.webhook_hourly
select 'default', 'live', '${START}'::timestamptz + (n - 10000) * interval '1 hour', ${sqlUuid(2, "n % 200")}, 1, 0, 0
from generate_series(0, 19999) n`,
]

const TABLES = [
  "events",
  "webhook_earlier_attempts",
  "webhook_endpoints",
  "webhook_finished",
  "webhook_hourly",
  "webhook_pending",
] as const

interface Counts {
  readonly scans: number
  readonly read: number
}

/** Sequential scans and rows read so far, through any index. */
const counts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select pg_stat_force_next_flush()`
  const rows = yield* sql<{ name: string; scans: string; read: string }>`select relname as name,
  seq_scan::text as scans, (seq_tup_read + coalesce(idx_tup_fetch, 0))::text as read
from pg_stat_user_tables where schemaname = 'billwright'`
  return new Map<string, Counts>(
    rows.map(({ name, read, scans }) => [name, { scans: Number(scans), read: Number(read) }]),
  )
})

const DEFAULT: Tenant.Tenant = { accountId: Tenant.defaultAccountId, mode: "live" }

const first: Page.PageQuery = { limit: 20, cursor: undefined }
const older = (id: string): Page.PageQuery => ({ limit: 20, cursor: { direction: "older", id } })
const newer = (id: string): Page.PageQuery => ({ limit: 20, cursor: { direction: "newer", id } })

type Verb = (n: number) => Effect.Effect<unknown, unknown, CurrentTenant>
/** The queries, each with the number of rows of one table that it may read. */
type Verbs = Readonly<Record<string, readonly [Verb, number]>>

const newEvent = (n: number, serial: number): Event.Event => {
  const fields = {
    id: Id.fromUuid("evt", uuid(9, serial)) as EventId,
    type: `type.n${n}`,
    timestamp: NOW,
  }
  return {
    ...fields,
    customerId: null,
    idempotencyKey: `key ${serial >> 1}`,
    endpointId: null,
    payload: Event.render(fields, "live", { n }),
  }
}

const verbs = (
  events: EventStore["Service"],
  deliveries: DeliveryStore["Service"],
  endpoints: EndpointStore["Service"],
  sql: SqlClient.SqlClient,
) => {
  let serial = 0
  const listEvents = (filter: Partial<EventFilterQuery>, page: Page.PageQuery) =>
    events.list(
      {
        type: undefined,
        customerId: undefined,
        createdAfter: undefined,
        createdBefore: undefined,
        deliveryStatus: undefined,
        ...filter,
      },
      page,
    )
  const list = (filter: Partial<DeliveryFilterQuery>, page: Page.PageQuery) =>
    deliveries.list({ status: undefined, endpointId: undefined, eventId: undefined, ...filter }, page)
  const claim = (limits: ReadonlyArray<readonly [Endpoint.EndpointId, number]> = []) =>
    deliveries.claimDue({
      now: NOW,
      leaseUntil: DateTime.add(NOW, { seconds: 30 }),
      limit: 64,
      limitPerEndpoint: 8,
      limits: new Map(limits),
      tenantLimits: [],
    })
  const replay = (range: Partial<RangeReplay>) =>
    deliveries.replayRange({
      endpointId: endpointId(1),
      since: at(0),
      until: NOW,
      onlyFailed: false,
      types: [],
      firstDeliveryId: deliveryId(10, 1_000 * serial++),
      now: at(400_000),
      limit: 5,
      isDryRun: false,
      ...range,
    })
  return {
    // Every second one is a duplicate.
    publish: [(n: number) => events.publish(newEvent(n, serial++)), 500],
    "find an event": [(n: number) => events.find(eventId(n)), 1],
    "list events": [() => listEvents({}, first), 25],
    "list events further": [(n: number) => listEvents({}, older(eventId(n * 1_000))), 25],
    "list events of a type": [(n: number) => listEvents({ type: `type.n${n}` }, first), 25],
    "list events of a customer": [(n: number) => listEvents({ customerId: customerId(10 * n) }, first), 60],
    "list events of an hour": [
      (n: number) => listEvents({ createdAfter: at(n * 60), createdBefore: at(n * 60 + 60) }, first),
      70,
    ],
    "list events that failed": [() => listEvents({ deliveryStatus: "Failed" }, first), 700],
    "list events of a type that failed": [
      () => listEvents({ deliveryStatus: "Failed", type: "type.n0" }, first),
      700,
    ],
    "list events that failed further": [
      (n: number) => listEvents({ deliveryStatus: "Failed" }, newer(eventId(n * 1_000))),
      100,
    ],
    "list events that are pending": [() => listEvents({ deliveryStatus: "Pending" }, first), 100],
    "tail from far back": [(n: number) => events.tail(`1_${uuid(1, n)}`, [], 100), 110],
    "tail at the end": [
      () =>
        Effect.flatMap(events.tailPosition(undefined), (position) =>
          events.tail(Option.getOrThrow(position), ["type.n1"], 100),
        ),
      20,
    ],
    "find a delivery": [(n: number) => deliveries.find(deliveryId(3, n)), 4],
    "find a pending delivery": [(n: number) => deliveries.find(deliveryId(4, n)), 4],
    "list deliveries": [() => list({}, first), 60],
    "list deliveries further": [(n: number) => list({}, newer(deliveryId(3, n * 100))), 60],
    "list deliveries of an endpoint": [(n: number) => list({ endpointId: endpointId(n) }, first), 1_200],
    "list deliveries of an event": [(n: number) => list({ eventId: eventId(n) }, first), 10],
    "list deliveries that failed": [() => list({ status: "Failed" }, first), 30],
    "list deliveries of an endpoint that failed": [
      () => list({ status: "Failed", endpointId: endpointId(100) }, first),
      30,
    ],
    "list deliveries that are pending": [() => list({ status: "Pending" }, first), 30],
    "claim in spite of a backlog": [() => claim(), 6_000],
    "claim when the busy endpoint may have no more": [() => claim([[endpointId(BUSY), 0]]), 6_000],
    "read what publications leased to a worker": [
      (n: number) =>
        sql.unsafe("select * from billwright.handed_deliveries($1::text[], $2::uuid[], $3::tid[])", [
          "{deadbeef,deadbeef}",
          `{${uuid(4, n)},${uuid(5, n)}}`,
          `{"(0,${n + 1})","(1,${n + 1})"}`,
        ]),
      10,
    ],
    "look for what publications leased to a worker": [
      () => sql`select billwright.left_deliveries('deadbeef')`,
      10,
    ],
    "next due": [() => deliveries.nextDueAt, 1_100],
    "replay of what failed": [() => replay({ endpointId: endpointId(100), onlyFailed: true, limit: 5 }), 600],
    // The hour, and what is pending to the endpoint.
    "replay of an hour": [
      (n: number) => replay({ since: at(n * 60), until: at(n * 60 + 60), limit: 100 }),
      600,
    ],
    "dry run of an hour": [
      (n: number) => replay({ since: at(n * 60), until: at(n * 60 + 60), limit: 100, isDryRun: true }),
      600,
    ],
    "list endpoints": [() => endpoints.list({ status: undefined }, first), 25],
    "find an endpoint": [(n: number) => endpoints.find(endpointId(n)), 1],
  } satisfies Verbs
}

/** The queries that count: for a page of events, for one event, for endpoints. */
const countingVerbs = (deliveries: DeliveryStore["Service"]) =>
  ({
    "count the deliveries of a page of events": [
      (n: number) =>
        deliveries.countByStatus(Array.from({ length: 100 }, (_, index) => eventId(n * 100 + index))),
      250,
    ],
    "count the deliveries of an event with more than are counted": [
      () => deliveries.countByStatus([eventId(CROWDED)]),
      Delivery.MAX_COUNTED + 10,
    ],
    // A day of each endpoint, and its pending deliveries; of the busy one no more than the count's limit.
    "statistics of a day": [
      () => deliveries.counts(at((FIRST_HOUR + HOURS - 24) * 60)),
      100_200 + WebhookStatistics.MAX_PENDING_COUNT,
    ],
  }) satisfies Verbs

/** Runs each query several times, and checks what it read. */
const readNoMore = Effect.fnUntraced(function* (all: Verbs) {
  for (const [name, [verb, most]] of Object.entries(all)) {
    const before = yield* counts
    for (let n = 1; n <= EXECUTIONS; n++) yield* verb(n)
    const after = yield* counts
    for (const table of TABLES) {
      assert.strictEqual(after.get(table)!.scans, before.get(table)!.scans, `${name}: scans of ${table}`)
      const read = (after.get(table)!.read - before.get(table)!.read) / EXECUTIONS
      assert.isAtMost(read, most, `${name}: rows of ${table}`)
    }
  }
})

describe("frequent queries of events and deliveries", () => {
  layer(live, { excludeTestServices: true })((it) => {
    it.effect(
      "scan no table, and read no more rows than a page needs",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          for (const statement of fill) yield* sql.unsafe(statement)
          yield* sql.unsafe(`analyze ${TABLES.map((table) => `billwright.${table}`).join(", ")}`)
          const all = verbs(
            yield* EventStore,
            yield* DeliveryStore,
            yield* EndpointStore,
            yield* SqlClient.SqlClient,
          )
          yield* readNoMore(all)
        }).pipe(asTenant),
      120_000,
    )

    it.effect(
      "stop counting at the limit that is shown",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          for (const statement of fillCounts) yield* sql.unsafe(statement)
          yield* sql`analyze`
          const deliveries = yield* DeliveryStore
          yield* readNoMore(countingVerbs(deliveries))
          // None of the newest 50,000 events failed.
          const all = verbs(yield* EventStore, deliveries, yield* EndpointStore, yield* SqlClient.SqlClient)
          yield* readNoMore({ "list events that failed": all["list events that failed"] })
        }).pipe(asTenant),
      60_000,
    )

    it.effect(
      "settle and cancel without a scan",
      () =>
        Effect.gen(function* () {
          const deliveries = yield* DeliveryStore
          const tenant = DEFAULT
          const later = DateTime.add(NOW, { hours: 1 })
          const before = yield* counts
          for (let round = 0; round < EXECUTIONS; round++) {
            const claimed = yield* deliveries.claimDue({
              now: later,
              leaseUntil: DateTime.add(later, { seconds: 30 }),
              limit: 64,
              limitPerEndpoint: 64,
              limits: new Map(),
              tenantLimits: [],
            })
            assert.strictEqual(claimed.deliveries.length, 64)
            const written = yield* deliveries.settle(
              claimed.deliveries.map(({ attemptCount, endpoint, id, token }, index) => ({
                tenant,
                id,
                endpointId: endpoint.id,
                token,
                at: later,
                state:
                  index % 2 === 0
                    ? { status: "Delivered", attemptCount: attemptCount + 1 }
                    : {
                        status: "Pending",
                        attemptCount: attemptCount + 1,
                        dueAt: DateTime.add(later, { days: 1 }).epochMilliseconds,
                      },
                attempt: {
                  number: attemptCount + 1,
                  startedAt: later,
                  durationMillis: 1,
                  requestHeaders: {},
                  responseStatus: index % 2 === 0 ? 200 : 500,
                  responseHeaders: {},
                  responseBody: "",
                  error: null,
                },
              })),
            )
            assert.isTrue(written.every((isWritten) => isWritten))
          }
          assert.isAbove(yield* deliveries.cancel(endpointId(3), "endpoint_disabled", later), 400)
          const after = yield* counts
          for (const table of TABLES) {
            assert.strictEqual(after.get(table)!.scans, before.get(table)!.scans, table)
          }
        }).pipe(asTenant),
      60_000,
    )

    it.effect(
      "claim for tenants in turn without a scan, behind another tenant's backlog",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const deliveries = yield* DeliveryStore
          const tenants = 100
          yield* sql.unsafe(fillTenants(tenants))
          // Leases of other tests.
          yield* sql`update billwright.webhook_pending set lease_token = null, leased_at = null, leased_until = null
where leased_until is not null`
          const later = DateTime.add(NOW, { hours: 2 })
          const claimed = new Map<string, number>()
          const before = yield* counts
          for (let round = 0; round < EXECUTIONS; round++) {
            const { deliveries: some, unreadable } = yield* deliveries.claimDue({
              now: later,
              leaseUntil: DateTime.add(later, { hours: 1 }),
              limit: 64,
              limitPerEndpoint: 8,
              limits: new Map(),
              // The first tenant has most due deliveries, and those due longest.
              tenantLimits: round % 2 === 0 ? [] : [{ tenant: DEFAULT, limit: 0 }],
            })
            for (const { tenant } of [...some, ...unreadable]) {
              claimed.set(tenant.accountId, (claimed.get(tenant.accountId) ?? 0) + 1)
            }
          }
          const after = yield* counts
          for (const table of TABLES) {
            assert.strictEqual(after.get(table)!.scans, before.get(table)!.scans, table)
            const read = (after.get(table)!.read - before.get(table)!.read) / EXECUTIONS
            assert.isAtMost(read, 6_000, `rows of ${table}`)
          }
          // 8 claims of 64 for 101 tenants: 5 each.
          assert.strictEqual(claimed.size, tenants + 1)
          for (const [tenant, count] of claimed) assert.isAtMost(count, 8, tenant)
          yield* sql`delete from billwright.webhook_pending where account_id <> 'default'`
        }).pipe(asTenant),
      60_000,
    )

    it.effect(
      "prune without a scan, past many tenants and events to keep",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const store = yield* RetentionStore
          for (const statement of fillOld) yield* sql.unsafe(statement)
          yield* sql`analyze`
          const before = yield* counts
          const walked = { events: undefined as string | undefined, counts: undefined as string | undefined }
          for (let n = 0; n < EXECUTIONS; n++) {
            const step = { before: at(0), limit: 100, isDryRun: false }
            const { next, ...pruned } = yield* store.pruneEvents({ ...step, after: walked.events })
            assert.deepStrictEqual(pruned, { events: 100, deliveries: 200, attempts: 200 })
            walked.events = next
            const removed = yield* store.pruneCounts({ ...step, after: walked.counts })
            assert.strictEqual(removed.counts, 100)
            walked.counts = removed.next
          }
          const after = yield* counts
          for (const table of TABLES) {
            assert.strictEqual(after.get(table)!.scans, before.get(table)!.scans, `scans of ${table}`)
            const read = (after.get(table)!.read - before.get(table)!.read) / EXECUTIONS
            // For each removed event: it is found, checked and removed. And two rows for each tenant on the way.
            assert.isAtMost(read, table === "events" ? 1_000 : 700, `rows of ${table}`)
          }
        }).pipe(asTenant),
      60_000,
    )
  })
})

describe("a burst on tables that were never analyzed", () => {
  layer(live, { excludeTestServices: true })((it) => {
    it.effect("is claimed and settled by the keys of its rows", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const deliveries = yield* DeliveryStore
        for (const statement of [0, 1, 2, 7]) yield* sql.unsafe(fill[statement]!)
        // Pages of indexes: reading a whole index returns few entries, but costs many pages.
        const read = Effect.gen(function* () {
          yield* sql`select pg_stat_force_next_flush()`
          const [row] = yield* sql<{ read: string }>`select sum(idx_blks_read + idx_blks_hit)::text as read
from pg_statio_user_indexes where schemaname = 'billwright' and relname <> 'schema_migrations'`
          return Number(row!.read)
        })
        const before = yield* read
        const { deliveries: claimed } = yield* deliveries.claimDue({
          now: NOW,
          leaseUntil: DateTime.add(NOW, { seconds: 30 }),
          limit: 64,
          limitPerEndpoint: 64,
          limits: new Map(),
          tenantLimits: [],
        })
        assert.strictEqual(claimed.length, 64)
        const written = yield* deliveries.settle(
          claimed.map(({ endpoint, id, tenant, token }) => ({
            tenant,
            id,
            endpointId: endpoint.id,
            token,
            at: NOW,
            state: { status: "Delivered", attemptCount: 1 },
            attempt: undefined,
          })),
        )
        assert.isTrue(written.every((isWritten) => isWritten))
        // About 20 look-ups of 3 pages for each.
        assert.isAtMost((yield* read) - before, 64 * 20 * 3)
      }).pipe(asTenant),
    )
  })
})

describe("a burst on a queue that was almost empty for a long time", () => {
  layer(Layer.provideMerge(IdGenerator.layer, live), { excludeTestServices: true })((it) => {
    it.effect("is settled and cancelled without a scan, with the plans of that time", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { cancel } = yield* DeliveryStore
        const endpoint = yield* newEndpoint()
        const round = Effect.flatMap(claim(minute(300_000)), ({ deliveries }) =>
          Effect.as(settle(deliveries.map(delivered)), deliveries.length),
        )
        for (let n = 0; n < EXECUTIONS; n++) {
          yield* publish()
          yield* publish()
          assert.strictEqual(yield* round, 2)
          yield* publish()
          assert.strictEqual(yield* cancel(endpoint.id, "endpoint_disabled", minute(1)), 1)
        }
        yield* publish()
        yield* sql`insert into billwright.webhook_pending
  (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
select account_id, mode, billwright.offset_id(id, n), event_id, event_type, endpoint_id, 0, created_at, due_at
from billwright.webhook_pending, generate_series(1, 5000) n`
        const before = yield* counts
        for (let n = 0; n < 2; n++) assert.isAbove(yield* round, 100)
        assert.isAbove(yield* cancel(endpoint.id, "endpoint_disabled", minute(1)), 1_000)
        const after = yield* counts
        assert.strictEqual(after.get("webhook_pending")!.scans, before.get("webhook_pending")!.scans)
      }).pipe(asTenant),
    )
  })
})

describe("a burst on a queue that was analyzed while empty, after it had been long", () => {
  layer(live, { excludeTestServices: true })((it) => {
    it.effect(
      "is claimed, settled, cancelled and replayed through the rows concerned only",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const deliveries = yield* DeliveryStore
          // The pages that autovacuum reads are counted, too. And while it analyzes a table, vacuum keeps deleted rows.
          const tables = yield* sql<{
            name: string
          }>`select relid::regclass::text as name from pg_stat_user_tables`
          for (const { name } of tables)
            yield* sql.unsafe(`alter table ${name} set (autovacuum_enabled = off)`)
          // While another database of the server has an older transaction, claims cannot mark the entries of deleted
          // rows as dead. Vacuum removes them in any case. The table stays as long as it was.
          yield* transactionElsewhere
          const removed = sql`vacuum (truncate false) billwright.webhook_pending`
          for (const index of [0, 1, 2, 3]) yield* sql.unsafe(fill[index]!)
          yield* sql.unsafe(fillQueue(16, 30_000))
          yield* sql`delete from billwright.webhook_pending`
          yield* removed
          yield* sql`analyze`
          yield* sql.unsafe(fillQueue(17, 8_000))
          // Pages of the queue and its indexes: reading a whole index costs hundreds.
          const pages = Effect.gen(function* () {
            yield* sql`select pg_stat_force_next_flush()`
            const [row] = yield* sql<{
              pages: string
            }>`select (heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::text as pages
from pg_statio_user_tables where schemaname = 'billwright' and relname = 'webhook_pending'`
            return Number(row!.pages)
          })
          const costs = Effect.fnUntraced(function* (what: string, most: number, verb: Verb) {
            for (let n = 1; n <= EXECUTIONS; n++) {
              const before = yield* pages
              yield* verb(n)
              const cost = (yield* pages) - before
              assert.isAtMost(cost, most, `${what}, time ${n}`)
            }
          })
          const limits = { limit: 64, limitPerEndpoint: 64, limits: new Map(), tenantLimits: [] }
          // Results are written by the places of their rows. Only what this transaction reads is counted: after a claim that
          // was slow, the storage looks at the queue beside it (`LowWaterMark`).
          const entries = Effect.map(
            sql<{
              read: string
            }>`select sum(pg_stat_get_xact_tuples_returned(indexrelid))::text as read from pg_index
where indrelid = 'billwright.webhook_pending'::regclass`,
            ([row]) => Number(row!.read),
          )
          const entriesReadBy = <A, E, R>(work: Effect.Effect<A, E, R>) =>
            sql.withTransaction(
              Effect.gen(function* () {
                const before = yield* entries
                yield* work
                return (yield* entries) - before
              }),
            )
          for (let n = 1; n <= EXECUTIONS; n++) {
            const { deliveries: claimed } = yield* claim(NOW, limits)
            assert.lengthOf(claimed, 64)
            // Each second time one of them is to be tried again.
            const again = {
              status: "Pending",
              attemptCount: 1,
              dueAt: NOW.epochMilliseconds + 3_600_000,
            } as const
            const [first, ...others] = claimed.map(delivered)
            const results = [n % 2 === 0 ? { ...first!, state: again } : first!, ...others]
            const read = yield* entriesReadBy(settle(results))
            assert.strictEqual(read, 0, `entries that are read to settle, time ${n}`)
          }
          yield* costs("claim and settle", 5_000, () =>
            Effect.flatMap(claim(NOW, limits), ({ deliveries: claimed }) =>
              settle(claimed.map(delivered)),
            ).pipe(Effect.provideService(DeliveryStore, deliveries)),
          )
          yield* sql.unsafe(fillTenants(100))
          yield* costs("claim of tenants in turn", 5_000, () =>
            deliveries.claimDue({
              now: NOW,
              leaseUntil: DateTime.add(NOW, { hours: 1 }),
              limit: 64,
              limitPerEndpoint: 64,
              limits: new Map(),
              tenantLimits: [{ tenant: DEFAULT, limit: 8 }],
            }),
          )
          yield* sql`delete from billwright.webhook_pending where account_id <> 'default'`
          yield* removed
          yield* costs("cancel", 5_000, (n) => deliveries.cancel(endpointId(n), "endpoint_disabled", NOW))
          yield* costs("replay", 4_000, (n) =>
            deliveries.replayRange({
              endpointId: endpointId(10 + n),
              since: at(0),
              until: at(2_000),
              onlyFailed: false,
              types: [],
              firstDeliveryId: deliveryId(15, 1_000 * n),
              now: NOW,
              limit: 1_000,
              isDryRun: false,
            }),
          )
        }).pipe(asTenant),
      60_000,
    )
  })
})
