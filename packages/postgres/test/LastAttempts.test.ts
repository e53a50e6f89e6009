/**
 * Where attempts are: the last one is in the row of its finished delivery, and all others are in a table. Deliveries that
 * finished before that was so have all of them in the table.
 */
import {
  type ClaimedDelivery,
  type CurrentTenant,
  type Delivery,
  DeliveryStore,
  EndpointStore,
  type Event,
  Id,
  IdGenerator,
  RetentionStore,
} from "@billwright/core"
import { Migrations, PostgresClient, Storage } from "@billwright/postgres"
import { Sample } from "@billwright/testing"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { claim, delivered, minute, newEndpoint, publish, settle } from "./Webhooks.ts"

const overClient = (client: Layer.Layer<SqlClient.SqlClient, unknown>) =>
  IdGenerator.layer.pipe(Layer.provideMerge(Storage.layer()), Layer.provideMerge(client))

const NO_ANSWER = { responseStatus: null, responseHeaders: null, responseBody: null } as const

/** A claimed delivery whose next attempt failed, and is repeated a minute later. */
const failed = (claimed: ClaimedDelivery, fields: Partial<Delivery.Attempt> = {}) => {
  const number = claimed.attemptCount + 1
  const dueAt = minute(number).epochMilliseconds
  const attempt = Sample.attempt({ number, responseStatus: 500, ...fields })
  return {
    ...delivered(claimed),
    state: { status: "Pending", attemptCount: number, dueAt } as const,
    attempt,
  }
}

const only = Effect.fnUntraced(function* (at: number) {
  const { deliveries } = yield* claim(minute(at))
  assert.lengthOf(deliveries, 1)
  return deliveries[0]!
})

const found = (id: Delivery.DeliveryId) =>
  Effect.flatMap(DeliveryStore, (store) => Effect.map(store.find(id), Option.getOrThrow))

/** The numbers of the attempts of a delivery in the table, and whether the row of the delivery has one. */
const places = Effect.fnUntraced(function* (id: Delivery.DeliveryId) {
  const sql = yield* SqlClient.SqlClient
  const uuid = Id.toUuid(id)
  const earlier = yield* sql<{ number: number }>`select number from billwright.webhook_earlier_attempts
where delivery_id = ${uuid}::uuid order by number`
  const rows = yield* sql`select from billwright.webhook_finished
where id = ${uuid}::uuid and attempt_started_at is not null`
  return { earlier: earlier.map(({ number }) => number), hasLast: rows.length > 0 }
})

/** What pruning everything would remove, and then removes. */
const pruned = Effect.gen(function* () {
  const { pruneEvents } = yield* RetentionStore
  const step = { before: minute(1_000_000), limit: 100, after: undefined }
  const dry = yield* pruneEvents({ ...step, isDryRun: true })
  assert.deepStrictEqual(yield* pruneEvents({ ...step, isDryRun: false }), dry)
  return dry
})

describe("attempts", () => {
  layer(overClient(TestDatabase.layerClient()), { excludeTestServices: true })((it) => {
    it.effect("but the last are in the table, and all are found in their order", () =>
      Effect.gen(function* () {
        yield* newEndpoint({ eventTypes: ["several.one"] })
        yield* publish({ type: "several.one" })
        const first = failed(yield* only(1))
        yield* settle([first])
        assert.deepStrictEqual(yield* places(first.id), { earlier: [1], hasLast: false })
        const second = failed(yield* only(1), { ...NO_ANSWER, error: "timeout", durationMillis: null })
        yield* settle([second])
        const last = {
          ...delivered(yield* only(2)),
          state: { status: "Failed", attemptCount: 3, reason: "exhausted" } as const,
          attempt: Sample.attempt({ number: 3, startedAt: minute(2), ...NO_ANSWER, error: "reset" }),
        }
        assert.deepStrictEqual(yield* settle([last]), [true])
        assert.deepStrictEqual(yield* settle([last]), [false])

        assert.deepStrictEqual(yield* places(first.id), { earlier: [1, 2], hasLast: true })
        const { attempts, delivery } = yield* found(first.id)
        assert.deepStrictEqual(attempts, [first.attempt, second.attempt, last.attempt])
        // The last attempt had no answer, and the last answer was that of the first.
        assert.deepStrictEqual([delivery.lastResponseStatus, delivery.lastError], [500, "reset"])
        assert.deepInclude(yield* pruned, { deliveries: 1, attempts: 3 })
      }).pipe(asTenant),
    )

    it.effect("stay in the table when the delivery ends without another one", () =>
      Effect.gen(function* () {
        yield* newEndpoint({ eventTypes: ["without.one"] })
        yield* publish({ type: "without.one" })
        const first = failed(yield* only(1))
        yield* settle([first])
        const state = { status: "Failed", attemptCount: 1, reason: "endpoint_disabled" } as const
        yield* settle([{ ...delivered(yield* only(1)), state, attempt: undefined }])
        assert.deepStrictEqual(yield* places(first.id), { earlier: [1], hasLast: false })
        assert.deepStrictEqual((yield* found(first.id)).attempts, [first.attempt])
        assert.deepInclude(yield* pruned, { deliveries: 1, attempts: 1 })
      }).pipe(asTenant),
    )

    it.effect("that are lost are earlier ones, unless their delivery ends with them", () =>
      Effect.gen(function* () {
        const endpoint = yield* newEndpoint({ eventTypes: ["lost.one"] })
        yield* publish({ type: "lost.one" })
        yield* publish({ type: "lost.one" })
        const { deliveries: lost } = yield* claim(minute(1))
        const { deliveries } = yield* claim(minute(2))
        assert.deepStrictEqual(
          deliveries.map(({ attemptCount, wasLost }) => [attemptCount, wasLost]),
          [
            [1, true],
            [1, true],
          ],
        )
        const [waiting, leased] = deliveries
        const state = { status: "Pending", attemptCount: 1, dueAt: minute(3).epochMilliseconds } as const
        yield* settle([{ ...delivered(waiting!), state, attempt: undefined }])
        const cancel = Effect.flatMap(DeliveryStore, (store) =>
          store.cancel(endpoint.id, "endpoint_disabled", minute(2)),
        )
        assert.strictEqual(yield* cancel, 2)
        // Their workers come too late.
        assert.deepStrictEqual(yield* settle([...lost, leased!].map(delivered)), [false, false, false])

        assert.deepStrictEqual(yield* places(waiting!.id), { earlier: [1], hasLast: false })
        assert.deepStrictEqual(yield* places(leased!.id), { earlier: [1], hasLast: true })
        const unknown = { ...NO_ANSWER, durationMillis: null, requestHeaders: {}, error: "unknown" } as const
        const attempts = [minute(1), minute(2)].map((startedAt, index) => ({
          ...unknown,
          number: index + 1,
          startedAt,
        }))
        assert.deepStrictEqual((yield* found(waiting!.id)).attempts, attempts.slice(0, 1))
        const { attempts: ofLeased, delivery } = yield* found(leased!.id)
        assert.deepStrictEqual(ofLeased, attempts)
        assert.deepStrictEqual([delivery.attemptCount, delivery.lastError], [2, "unknown"])
        assert.deepInclude(yield* pruned, { deliveries: 2, attempts: 3 })
      }).pipe(asTenant),
    )
  })
})

/** Rows as the release before wrote them: two events of an erased customer, with deliveries that are done and pending. */
const oldRows = Effect.gen(function* () {
  const customerId = yield* Sample.customerId
  const endpoint = yield* Sample.endpoint()
  const made = yield* Effect.all(Array.from({ length: 2 }, () => Sample.event({ customerId })))
  const ids = yield* Effect.all(Array.from({ length: 3 }, () => Sample.deliveryId))
  const [one, several, pending] = ids as [Delivery.DeliveryId, Delivery.DeliveryId, Delivery.DeliveryId]
  const uuid = (id: Parameters<typeof Id.toUuid>[0]) => `'${Id.toUuid(id)}'`
  const columns = "account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at"
  const delivery = (id: Delivery.DeliveryId, { id: event, type }: Event.Event, attempts: number) =>
    `'default', 'live', ${uuid(id)}, ${uuid(event)}, '${type}', ${uuid(endpoint.endpoint.id)}, ${attempts}, '${CREATED}'`
  const attempt = (id: Delivery.DeliveryId, number: number) =>
    `('default', 'live', ${uuid(id)}, ${number}, '${CREATED}', 12, '{"content-type":"application/json"}', 500, '{"server":"test"}', 'ok')`
  const statements = [
    `insert into billwright.customers (account_id, mode, id, created_at, updated_at, erased_at)
values ('default', 'live', ${uuid(customerId)}, now(), now(), now())`,
    ...made.map(
      ({ id, payload, type }) =>
        `insert into billwright.events (account_id, mode, id, type, occurred_at, customer_id, payload)
values ('default', 'live', ${uuid(id)}, '${type}', '${CREATED}', ${uuid(customerId)}, '${payload}')`,
    ),
    `insert into billwright.webhook_finished (${columns}, status, reason, finished_at)
values (${delivery(one, made[0]!, 1)}, 'Failed', 'exhausted', '${CREATED}'),
  (${delivery(several, made[0]!, 3)}, 'Failed', 'exhausted', '${CREATED}')`,
    `insert into billwright.webhook_pending (${columns}, due_at) values (${delivery(pending, made[1]!, 1)}, '${CREATED}')`,
    `insert into billwright.webhook_attempts (account_id, mode, delivery_id, number, started_at, duration_ms,
  request_headers, response_status, response_headers, response_body)
values ${[attempt(several, 2), attempt(several, 1), attempt(several, 3), attempt(one, 1), attempt(pending, 1)].join(", ")}`,
  ]
  return { customerId, endpoint, events: made, one, pending, several, statements }
}).pipe(asTenant, Effect.provide(IdGenerator.layer))

const CREATED = "2026-01-01T00:00:00Z"

/** The files of the tables of deliveries: a table that is rewritten gets another one. */
const files = Effect.fnUntraced(function* (url: string) {
  const client = yield* TestDatabase.administrator(url)
  const statement = `select oid::text, relfilenode::text from pg_class
where relnamespace = 'billwright'::regnamespace and relname like 'webhook%' and relkind = 'r' order by oid`
  const { rows } = yield* Effect.promise(() => client.query(statement))
  assert.isAbove(rows.length, 3)
  return rows
})

describe("a store with deliveries of the release before", () => {
  type Old = Effect.Success<typeof oldRows>
  type Services = DeliveryStore | EndpointStore | RetentionStore | SqlClient.SqlClient | CurrentTenant

  /** Uses a store that was migrated after the old rows had been written. */
  const withOld = <A, E>(use: (old: Old) => Effect.Effect<A, E, Services | IdGenerator>) =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.empty
      const [untilThen] = Migrations.print().split("-- 0056")
      const old = yield* oldRows
      yield* Effect.promise(() => TestDatabase.execute(url, `${untilThen} commit`, ...old.statements))
      const before = yield* files(url)
      const client = PostgresClient.layer({ url: Redacted.make(url) })
      return yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* files(url), before, "the migration rewrote a table")
        yield* (yield* EndpointStore).insert(old.endpoint)
        return yield* use(old)
      }).pipe(asTenant, Effect.provide(overClient(client)))
    }).pipe(Effect.scoped)

  const numbers = (id: Delivery.DeliveryId) =>
    Effect.map(found(id), ({ attempts }) => attempts.map(({ number }) => number))

  it.live("finds their attempts in order, with those that are made now", () =>
    withOld(({ one, pending, several }) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* numbers(several), [1, 2, 3])
        const attempt = Sample.attempt({ responseStatus: 500, startedAt: Sample.instant(CREATED) })
        assert.deepStrictEqual((yield* found(one)).attempts, [attempt])
        const claimed = yield* only(1)
        assert.strictEqual(claimed.id, pending)
        yield* settle([delivered(claimed)])
        assert.deepStrictEqual(yield* places(pending), { earlier: [1], hasLast: true })
        assert.deepStrictEqual((yield* found(pending)).attempts, [attempt, Sample.attempt({ number: 2 })])
      }),
    ),
  )

  it.live("takes what receivers answered out of all of them", () =>
    withOld(({ customerId, events, one, pending, several }) =>
      Effect.gen(function* () {
        yield* settle([delivered(yield* only(1))])
        const sql = yield* SqlClient.SqlClient
        yield* sql`select billwright.redact_events('default', 'live', ${Id.toUuid(customerId)}::uuid,
  array[${Id.toUuid(events[0]!.id)}, ${Id.toUuid(events[1]!.id)}]::uuid[], array['{}', '{}'], 0)`
        for (const [id, count] of [
          [one, 1],
          [several, 3],
          [pending, 2],
        ] as const) {
          const { attempts } = yield* found(id)
          assert.lengthOf(attempts, count)
          for (const { requestHeaders, responseBody, responseHeaders, responseStatus } of attempts) {
            assert.deepStrictEqual([responseHeaders, responseBody], [null, null])
            assert.isNotNull(responseStatus)
            assert.deepStrictEqual(requestHeaders, { "content-type": "application/json" })
          }
        }
      }),
    ),
  )

  it.live("counts what it prunes of them", () =>
    withOld(() =>
      Effect.gen(function* () {
        yield* settle([delivered(yield* only(1))])
        assert.deepInclude(yield* pruned, { events: 2, deliveries: 3, attempts: 6 })
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`select from billwright.webhook_attempts`, [])
      }),
    ),
  )
})
