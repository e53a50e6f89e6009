/**
 * Behaviour of this queue only: many claimers on their own connections, lost answers, damaged rows, and going through
 * all endpoints behind a backlog.
 */
import {
  CurrentTenant,
  Delivery,
  DeliveryStore,
  type Endpoint,
  EndpointStore,
  EventStore,
  Id,
  IdGenerator,
  type Billing,
  RetentionStore,
  Transactor,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { Sample } from "@billwright/testing"
import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { placeLock } from "../src/functions/ClaimFunction.ts"
import * as SchemaName from "../src/SchemaName.ts"
import * as Proxy from "./Proxy.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { claim, delivered, minute, newEndpoint, publish, settle } from "./Webhooks.ts"

const overClient = (client: Layer.Layer<SqlClient.SqlClient, unknown>) =>
  IdGenerator.layer.pipe(Layer.provideMerge(Storage.layer()), Layer.provideMerge(client))

const live = overClient(TestDatabase.layerClient())

const schema = SchemaName.make(undefined)

/** Ends every due delivery. */
const drain: Effect.Effect<void, unknown, DeliveryStore> = Effect.gen(function* () {
  for (;;) {
    const { deliveries, unreadable } = yield* claim(minute(1_000_000))
    if (deliveries.length + unreadable.length === 0) return
    yield* settle([
      ...deliveries.map(delivered),
      ...unreadable.map(({ attemptCount, id, tenant, token }) => ({
        tenant,
        id,
        endpointId: undefined,
        token,
        at: minute(0),
        state: { status: "Failed", attemptCount, reason: "unreadable" } as const,
        attempt: undefined,
      })),
    ])
  }
})

const publishMany = (count: number, type: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { event } = yield* publish({ type })
    // The other deliveries are copied from the first, as in a replay.
    yield* sql`insert into billwright.webhook_pending
  (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
select account_id, mode, billwright.offset_id(id, 1000000 + n), event_id, event_type, endpoint_id, 0, created_at, due_at
from billwright.webhook_pending, generate_series(1, ${count - 1}) n
where event_id = ${Id.toUuid(event.id)}::uuid`
    return event
  })

/** Counts of an endpoint and hour long ago, in four slots. */
const countInSlots = Effect.fnUntraced(function* (id: Endpoint.EndpointId) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into billwright.webhook_hourly
  (account_id, mode, hour, endpoint_id, slot, delivered, failed, failed_attempts)
select 'default', 'live', '2020-01-01T00:00:00Z', ${Id.toUuid(id)}::uuid, n, 10, 1, 2 from generate_series(0, 3) n`
})

describe("the queue of deliveries", () => {
  layer(live, { excludeTestServices: true })((it) => {
    it.effect(
      "gives each delivery once to eight claimers that claim and settle at the same time",
      () =>
        Effect.gen(function* () {
          yield* drain
          const endpoints = 20
          for (let n = 0; n < endpoints; n++) yield* newEndpoint({ eventTypes: [`many.n${n}`] })
          for (let n = 0; n < endpoints; n++) yield* publishMany(100, `many.n${n}`)
          const claimer = Effect.gen(function* () {
            const seen: Array<string> = []
            for (let idle = 0; idle < 5;) {
              const { deliveries } = yield* claim(minute(1), { limit: 50, limitPerEndpoint: 5 })
              idle = deliveries.length === 0 ? idle + 1 : 0
              const perEndpoint = Map.groupBy(deliveries, ({ endpoint }) => endpoint.id)
              for (const ofOne of perEndpoint.values()) assert.isAtMost(ofOne.length, 5)
              assert.isTrue((yield* settle(deliveries.map(delivered))).every((isWritten) => isWritten))
              seen.push(...deliveries.map(({ id }) => id))
            }
            return seen
          })
          const claimers = Effect.all(
            Array.from({ length: 8 }, () => claimer),
            { concurrency: "unbounded" },
          )
          const seen = (yield* claimers).flat()
          assert.strictEqual(seen.length, 100 * endpoints)
          assert.strictEqual(new Set(seen).size, seen.length)
          const sql = yield* SqlClient.SqlClient
          const attempts = yield* sql`select delivery_id from billwright.webhook_attempts a
join billwright.webhook_finished f on f.id = a.delivery_id where f.event_type like 'many.%'`
          assert.strictEqual(attempts.length, seen.length)
        }).pipe(asTenant),
      60_000,
    )

    it.effect("replaces picks that another claim has locked: two concurrent claims are both full", () =>
      Effect.gen(function* () {
        yield* drain
        yield* newEndpoint({ eventTypes: ["pair.one"] })
        const event = yield* publishMany(40, "pair.one")
        const sql = yield* SqlClient.SqlClient
        const [isLocked, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        // Like a claim between its locks and its commit.
        const holder = sql.withTransaction(
          sql`select 1 from billwright.webhook_pending where event_id = ${Id.toUuid(event.id)}::uuid
order by due_at, id limit 10 for update`.pipe(
            Effect.andThen(Deferred.succeed(isLocked, undefined)),
            Effect.andThen(Deferred.await(mayEnd)),
          ),
        )
        const held = yield* Effect.forkChild(holder)
        yield* Deferred.await(isLocked)
        const { deliveries } = yield* claim(minute(1), { limit: 10, limitPerEndpoint: 8 })
        assert.strictEqual(deliveries.length, 8)
        yield* Deferred.succeed(mayEnd, undefined)
        yield* Fiber.join(held)
      }).pipe(asTenant),
    )

    it.effect("passes what other claims look at, and takes of it what nobody has when no more is due", () =>
      Effect.gen(function* () {
        yield* drain
        yield* newEndpoint({ eventTypes: ["passed.one"] })
        const event = yield* publishMany(52, "passed.one")
        const sql = yield* SqlClient.SqlClient
        const stored = yield* sql<{ readonly id: string }>`select billwright.format_id('dlv', id) as id
from billwright.webhook_pending where event_id = ${Id.toUuid(event.id)}::uuid order by due_at, id`
        const inOrder = stored.map(({ id }) => id)
        const ten = Effect.map(claim(minute(1), { limit: 10 }), ({ deliveries }) =>
          deliveries.map(({ id }) => inOrder.indexOf(id)).toSorted((a, b) => a - b),
        )
        // Like the claim of another worker, before its commit.
        const other = sql`select from billwright.claim_deliveries(${String(minute(1).epochMilliseconds)}::text::bigint,
  ${String(minute(2).epochMilliseconds)}::text::bigint, gen_random_uuid(), 10, 500, '{}', '{}', '{}', '{}', '{}', null, null, null, false)`
        const range = (from: number) => Array.from({ length: 10 }, (_, index) => from + index)
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* other
            assert.deepStrictEqual(yield* ten, range(20))
            yield* sql.unsafe(`select pg_advisory_xact_lock(${placeLock(schema, "1")})`)
            assert.deepStrictEqual(yield* ten, [...range(10).slice(0, 8), 50, 51])
          }),
        )
        assert.deepStrictEqual(yield* ten, [18, 19, ...range(30).slice(0, 8)])
      }).pipe(asTenant),
    )

    it.effect("publishes events while one waits for its customer, whom somebody has locked", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const customerId = yield* Sample.customerId
        yield* sql`insert into billwright.customers (account_id, mode, id, name, email, metadata, created_at, updated_at)
values ('default', 'live', ${Id.toUuid(customerId)}::uuid, 'Ada', 'ada@example.com', '{}', now(), now())`
        const [isLocked, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const holder = sql.withTransaction(
          sql`select 1 from billwright.customers where id = ${Id.toUuid(customerId)}::uuid for update`.pipe(
            Effect.andThen(Deferred.succeed(isLocked, undefined)),
            Effect.andThen(Deferred.await(mayEnd)),
          ),
        )
        const held = yield* Effect.forkChild(holder)
        yield* Deferred.await(isLocked)
        const waiting = yield* Effect.forkChild(publish({ customerId }), { startImmediately: true })
        const others = yield* Effect.all([publish(), publish(), publish()], { concurrency: "unbounded" })
        for (const { event, outcome } of others) assert.deepStrictEqual(outcome, { _tag: "Published", event })
        yield* Deferred.succeed(mayEnd, undefined)
        yield* Fiber.join(held)
        const { event, outcome } = yield* Fiber.join(waiting)
        assert.deepStrictEqual(outcome, { _tag: "Published", event })
      }).pipe(asTenant),
    )

    it.effect("finds one delivery among more endpoints than one claim visits, within a few claims", () =>
      Effect.gen(function* () {
        yield* drain
        const busy = yield* newEndpoint({ eventTypes: ["busy.one"] })
        yield* publishMany(1_500, "busy.one")
        const sql = yield* SqlClient.SqlClient
        // 1,200 endpoints of other tenants with deliveries that are not due yet, and one with a due delivery.
        yield* sql`insert into billwright.webhook_pending
  (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
select 'other', 'live', gen_random_uuid(), gen_random_uuid(), 'busy.one', gen_random_uuid(), 0, now(),
  '2999-01-01T00:00:00Z' from generate_series(1, 1200)`
        const now = Sample.instant("2026-06-02T00:00:00.000Z")
        const claimTen = claim(now, { limits: new Map([[busy.id, 0]]), limit: 10 })
        for (const order of ["asc", "desc"]) {
          // A claim visits 500 endpoints, and continues after the last endpoint with the first. So it can start
          // anywhere.
          const none = yield* claimTen
          assert.strictEqual(none.deliveries.length + none.unreadable.length, 0)
          yield* sql.unsafe(`update billwright.webhook_pending set due_at = '2026-06-01T00:00:00Z'
where endpoint_id = (select endpoint_id from billwright.webhook_pending where account_id = 'other'
  order by endpoint_id ${order} limit 1)`)
          const found = [yield* claimTen, yield* claimTen]
          assert.strictEqual(found.flatMap(({ unreadable }) => unreadable).length, 1, order)
          yield* sql`delete from billwright.webhook_pending where lease_token is not null`
        }
        yield* sql`delete from billwright.webhook_pending where account_id = 'other'`
      }).pipe(asTenant),
    )

    it.effect("keeps a lease although the transaction around the claim rolls back", () =>
      Effect.gen(function* () {
        yield* drain
        yield* newEndpoint({ eventTypes: ["apart.one"] })
        const { event } = yield* publish({ type: "apart.one" })
        const { atomically } = yield* Transactor
        const failing = Effect.gen(function* () {
          yield* publish({ type: "apart.one" })
          const { deliveries } = yield* claim(minute(1))
          // The events of its own transaction are not committed.
          assert.deepStrictEqual(
            deliveries.map(({ eventId }) => eventId),
            [event.id],
          )
          return yield* Effect.fail("no")
        })
        yield* Effect.exit(atomically(failing))
        assert.deepStrictEqual((yield* claim(minute(1))).deliveries, [])
      }).pipe(asTenant),
    )

    it.effect("gives an endpoint as it is now, although it was claimed before", () =>
      Effect.gen(function* () {
        yield* drain
        const endpoint = yield* newEndpoint({ eventTypes: ["changed.one"] })
        const sql = yield* SqlClient.SqlClient
        const id = Id.toUuid(endpoint.id)
        const claimed = Effect.gen(function* () {
          yield* publish({ type: "changed.one" })
          const { deliveries } = yield* claim(minute(1))
          return deliveries.map((each) => each.endpoint.url)
        })
        assert.deepStrictEqual(yield* claimed, [endpoint.url])
        assert.deepStrictEqual(yield* claimed, [endpoint.url])
        yield* sql`update billwright.webhook_endpoints set url = 'https://changed.example' where id = ${id}::uuid`
        assert.deepStrictEqual(yield* claimed, ["https://changed.example"])
        yield* sql`delete from billwright.webhook_endpoints where id = ${id}::uuid`
        const stored = yield* publish({ type: "changed.two" })
        yield* sql`insert into billwright.webhook_pending
  (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
select e.account_id, e.mode, gen_random_uuid(), e.id, e.type, ${id}::uuid, 0, e.occurred_at, e.occurred_at
from billwright.events e where e.id = ${Id.toUuid(stored.event.id)}::uuid`
        const { deliveries, unreadable } = yield* claim(minute(1))
        assert.deepStrictEqual([deliveries.length, unreadable.length], [0, 1])
      }).pipe(asTenant),
    )

    it.effect("fails what can't be read, whichever row is damaged, and returns the other deliveries", () =>
      Effect.gen(function* () {
        yield* drain
        const sql = yield* SqlClient.SqlClient
        const damages = [
          "delete from billwright.events where id = $1",
          "delete from billwright.webhook_endpoints where id = $2",
          `update billwright.webhook_endpoints set secrets = '[{"sealed": 1}]' where id = $2`,
          `update billwright.webhook_endpoints set secrets = '["x"]' where id = $2`,
          `update billwright.webhook_endpoints set headers = '{"a": 1}' where id = $2`,
          `update billwright.webhook_endpoints set secrets = '[{"sealed": "a", "created_at": "x"}]' where id = $2`,
        ]
        for (const [index, damage] of damages.entries()) {
          const type = `broken.n${index}`
          const endpoint = yield* newEndpoint({ eventTypes: [type] })
          const { event } = yield* publish({ type })
          yield* sql.unsafe(
            damage.replace("$1", `'${Id.toUuid(event.id)}'`).replace("$2", `'${Id.toUuid(endpoint.id)}'`),
          )
        }
        yield* newEndpoint({ eventTypes: ["whole.one"] })
        const { event } = yield* publish({ type: "whole.one" })
        const { deliveries, unreadable } = yield* claim(minute(1))
        assert.deepStrictEqual(
          deliveries.map(({ eventId }) => eventId),
          [event.id],
        )
        assert.strictEqual(unreadable.length, damages.length)
        const store = yield* DeliveryStore
        for (const { attemptCount, cause, id, tenant, token } of unreadable) {
          assert.instanceOf(cause, TypeError)
          const state = { status: "Failed", attemptCount, reason: "unreadable" } as const
          const at = minute(1)
          const settlement = { tenant, id, endpointId: undefined, token, at, state, attempt: undefined }
          assert.deepStrictEqual(yield* settle([settlement]), [true])
          const found = Option.getOrThrow(yield* store.find(id))
          assert.deepStrictEqual([found.delivery.status, found.delivery.reason], ["Failed", "unreadable"])
        }
      }).pipe(asTenant),
    )

    it.effect(
      "gives each delivery the payload of its event, also where events of tenants have the same id",
      () =>
        Effect.gen(function* () {
          yield* drain
          for (let n = 0; n < 3; n++) yield* newEndpoint({ eventTypes: ["paid.one"] })
          const first = yield* publish({ type: "paid.one" })
          const second = yield* publish({ type: "paid.one" })
          const sql = yield* SqlClient.SqlClient
          // The same event of another tenant, whose only delivery is claimed right after those of the second.
          yield* sql`insert into billwright.events (account_id, mode, id, type, occurred_at, payload)
select 'other', 'live', id, type, occurred_at, '{"of":"other"}' from billwright.events
where id = ${Id.toUuid(second.event.id)}::uuid`
          yield* sql`insert into billwright.webhook_endpoints
select (w.row).* from (select jsonb_populate_record(w, '{"account_id":"other"}') as row from billwright.webhook_endpoints w
  where event_types = '{paid.one}' limit 1) as w`
          yield* sql`insert into billwright.webhook_pending
  (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
select 'other', 'live', gen_random_uuid(), q.event_id, q.event_type, w.id, 0, q.created_at, q.due_at + interval '1 ms'
from billwright.webhook_pending q, billwright.webhook_endpoints w
where q.event_id = ${Id.toUuid(second.event.id)}::uuid and w.account_id = 'other' limit 1`
          const { deliveries } = yield* claim(minute(1))
          const wanted = new Map([first, second].map(({ event }) => [event.id, event.payload]))
          assert.lengthOf(deliveries, 7)
          for (const { eventId, payload, tenant } of deliveries) {
            assert.strictEqual(payload, tenant.accountId === "other" ? '{"of":"other"}' : wanted.get(eventId))
          }
          yield* settle(deliveries.map(delivered))
        }).pipe(asTenant),
    )

    it.effect("writes a result although its row has moved within the table, once if it is given twice", () =>
      Effect.gen(function* () {
        yield* drain
        yield* newEndpoint({ eventTypes: ["moved.one"] })
        for (let n = 0; n < 5; n++) yield* publish({ type: "moved.one" })
        const { deliveries } = yield* claim(minute(1))
        const results = deliveries.map(delivered)
        assert.deepStrictEqual(yield* settle(results.slice(0, 2)), [true, true])
        const sql = yield* SqlClient.SqlClient
        yield* sql`vacuum full billwright.webhook_pending`
        // One that was written before, one twice, and two that have moved.
        const again = [results[0]!, results[2]!, results[2]!, results[3]!, results[4]!]
        assert.deepStrictEqual(yield* settle(again), [false, true, false, true, true])
        const rows = yield* sql`select 1 from billwright.webhook_finished where event_type = 'moved.one'`
        assert.lengthOf(rows, 5)
      }).pipe(asTenant),
    )

    it.effect("gives what nobody has locked, and waits for no lock", () =>
      Effect.gen(function* () {
        yield* drain
        yield* newEndpoint({ eventTypes: ["locked.one"] })
        const [locked, free] = [
          yield* publish({ type: "locked.one" }),
          yield* publish({ type: "locked.one" }),
        ]
        const sql = yield* SqlClient.SqlClient
        const { deliveries } = yield* sql.withTransaction(
          Effect.andThen(
            sql`select from billwright.webhook_pending where event_id = ${Id.toUuid(locked.event.id)}::uuid for update`,
            claim(minute(1)),
          ),
        )
        assert.deepStrictEqual(
          deliveries.map(({ eventId }) => eventId),
          [free.event.id],
        )
        const later = (yield* claim(minute(1))).deliveries.map(({ eventId }) => eventId)
        assert.deepStrictEqual(later, [locked.event.id])
      }).pipe(asTenant),
    )

    it.effect("adds up what workers have counted in different slots, and prunes it as one count", () =>
      Effect.gen(function* () {
        const { id } = yield* newEndpoint({ eventTypes: ["slots.one"] })
        yield* countInSlots(id)
        const counts = Effect.flatMap(DeliveryStore, (store) => store.counts(minute(-10_000_000)))
        const own = Effect.map(counts, ({ hours }) => hours.filter(({ endpointId }) => endpointId === id))
        assert.deepStrictEqual(
          (yield* own).map(({ delivered: done, failed, failedAttempts }) => [done, failed, failedAttempts]),
          [[40, 4, 8]],
        )
        const { pruneCounts } = yield* RetentionStore
        const step = { before: minute(-1_000_000), limit: 3, after: undefined }
        assert.strictEqual((yield* pruneCounts({ ...step, isDryRun: true })).counts, 1)
        assert.strictEqual((yield* pruneCounts({ ...step, isDryRun: false })).counts, 1)
        assert.deepStrictEqual(yield* own, [])
      }).pipe(asTenant),
    )

    it.effect(
      "is pruned by two runs at once, which remove each slot once and never wait for each other",
      () =>
        Effect.gen(function* () {
          const { id } = yield* newEndpoint({ eventTypes: ["slots.two"] })
          const sql = yield* SqlClient.SqlClient
          yield* countInSlots(id)
          const { pruneCounts } = yield* RetentionStore
          const step = { before: minute(-1_000_000), limit: 1, after: undefined, isDryRun: false }
          const [isLocked, isPruned] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          // Another run has locked one slot of the count, and goes on when this one is done.
          const other = yield* Effect.forkChild(
            sql.withTransaction(
              Effect.gen(function* () {
                yield* sql`select 1 from billwright.webhook_hourly
where endpoint_id = ${Id.toUuid(id)}::uuid and slot = 2 for update`
                yield* Deferred.succeed(isLocked, undefined)
                yield* Deferred.await(isPruned)
                const removed = yield* sql`delete from billwright.webhook_hourly
where endpoint_id = ${Id.toUuid(id)}::uuid returning slot`
                assert.deepStrictEqual(removed, [{ slot: 2 }])
              }),
            ),
          )
          yield* Deferred.await(isLocked)
          assert.strictEqual((yield* pruneCounts(step)).counts, 1)
          yield* Deferred.succeed(isPruned, undefined)
          yield* Fiber.join(other)
        }).pipe(asTenant),
    )

    it.effect("marks an endpoint by the results of one call, in the given order", () =>
      Effect.gen(function* () {
        const endpoints = yield* EndpointStore
        const cases: ReadonlyArray<readonly [string, number | null]> = [
          ["f1 s f3 f2", 3],
          ["f1 s", null],
          ["f4 f1", 4],
          ["s f2", 2],
        ]
        for (const [index, [results, since]] of cases.entries()) {
          yield* drain
          const type = `mixed.n${index}`
          const { id } = yield* newEndpoint({ eventTypes: [type] })
          const steps = results.split(" ")
          yield* Effect.all(steps.map(() => publish({ type })))
          const { deliveries } = yield* claim(minute(1))
          const settlements = deliveries.map(delivered).map((settlement, at) => {
            const step = steps[at]!
            if (step === "s") return settlement
            const startedAt = minute(Number(step.slice(1)))
            const state = { status: "Failed", attemptCount: 1, reason: "exhausted" } as const
            return { ...settlement, state, attempt: Sample.attempt({ responseStatus: 500, startedAt }) }
          })
          yield* settle(settlements)
          const found = Option.getOrThrow(yield* endpoints.find(id))
          assert.deepStrictEqual(found.failingSince, since === null ? null : minute(since), results)
        }
      }).pipe(asTenant),
    )

    it.effect(
      "leaves a disabled endpoint no deliveries, except those that a worker claims and then ends",
      () =>
        Effect.gen(function* () {
          yield* drain
          const { atomically } = yield* Transactor
          const endpoints = yield* EndpointStore
          const deliveries = yield* DeliveryStore
          const endpoint = yield* newEndpoint({ eventTypes: ["race.one"] })
          const disable = atomically(
            Effect.gen(function* () {
              yield* endpoints.modify(endpoint.id, (stored) =>
                Effect.succeed({ ...stored, endpoint: { ...stored.endpoint, ...Sample.disabled } }),
              )
              yield* deliveries.cancel(endpoint.id, "endpoint_disabled", minute(1))
            }),
          )
          const publishing = Effect.forEach(Array.from({ length: 40 }), () => publish({ type: "race.one" }), {
            concurrency: 8,
          })
          const [published] = yield* Effect.all([publishing, disable], { concurrency: "unbounded" })
          const { deliveries: claimed } = yield* claim(minute(2))
          for (const one of claimed) assert.strictEqual(one.endpoint.status, "disabled")
          // Nothing was sent: the new deliveries were cancelled, or were claimed with their endpoint shown as disabled.
          const ended = yield* deliveries.list(
            { status: "Failed", endpointId: endpoint.id, eventId: undefined },
            { limit: 100, cursor: undefined },
          )
          assert.isAtMost(ended.data.length + claimed.length, published.length)
          const after = yield* publish({ type: "race.one" })
          const [none] = [yield* claim(minute(3))]
          assert.isFalse(none.deliveries.some(({ eventId }) => eventId === after.event.id))
        }).pipe(asTenant),
    )
  })
})

describe("a lost answer", () => {
  type Services = Billing.Storage | IdGenerator | CurrentTenant | SqlClient.SqlClient

  /**
   * Runs with a proxy in front of the database. Without prepared statements, so that the proxy sees the text of each.
   */
  const throughProxy = <A, E>(use: (proxy: Proxy.Proxy) => Effect.Effect<A, E, Services>) =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.make)
      const client = PostgresClient.layer({ url: Redacted.make(proxy.url), isPooled: true })
      return yield* asTenant(use(proxy)).pipe(Effect.provide(overClient(client)))
    }).pipe(Effect.scoped)

  it.live("to a claim is repeated, and no attempt counts as lost", () =>
    throughProxy((proxy) =>
      Effect.gen(function* () {
        yield* newEndpoint()
        yield* Effect.all([publish(), publish(), publish()])
        proxy.loseAnswerTo = "claim_deliveries"
        const { deliveries } = yield* claim(minute(1), { limit: 2 })
        assert.strictEqual(proxy.loseAnswerTo, undefined)
        assert.deepStrictEqual(
          deliveries.map(({ attemptCount, wasLost }) => [attemptCount, wasLost]),
          [
            [0, false],
            [0, false],
          ],
        )
        assert.deepStrictEqual(yield* settle(deliveries.map(delivered)), [true, true])
        assert.strictEqual((yield* claim(minute(1))).deliveries.length, 1)
      }),
    ),
  )

  it.live("to a claim that found a lost lease is repeated with that lease", () =>
    throughProxy((proxy) =>
      Effect.gen(function* () {
        yield* newEndpoint()
        yield* publish()
        yield* claim(minute(1))
        proxy.loseAnswerTo = "claim_deliveries"
        const { deliveries } = yield* claim(minute(2))
        assert.deepStrictEqual(
          deliveries.map(({ attemptCount, wasLost }) => [attemptCount, wasLost]),
          [[1, true]],
        )
      }),
    ),
  )

  it.live("to a settlement that was not carried out: the repeat says what it writes", () =>
    throughProxy(() =>
      Effect.gen(function* () {
        yield* newEndpoint()
        yield* Effect.all([publish(), publish()])
        const { deliveries } = yield* claim(minute(1))
        const sql = yield* SqlClient.SqlClient
        // Of the second, somebody else has the lease.
        const own = Id.toUuid(deliveries[0]!.id)
        const rows = yield* sql<{ written: string }>`select s.is_written::text as written from (
  select array_agg(q.account_id order by q.id) as accounts, array_agg(q.mode order by q.id) as modes,
    array_agg(q.id order by q.id) as ids, array_agg(q.endpoint_id order by q.id) as endpoints,
    array_agg(case q.id when ${own}::uuid then q.lease_token else gen_random_uuid() end order by q.id) as tokens,
    array_agg(q.ctid order by q.id) as tids
  from billwright.webhook_pending q
) as q, billwright.settle_deliveries(q.accounts, q.modes, q.ids, q.endpoints, q.tokens, q.tids, '{0,0}',
  '{Delivered,Delivered}', '{1,1}', '{null,null}', '{null,null}', '{null,null}', '{null,null}', '{null,null}',
  '{null,null}', '{null,null}', '{null,null}', '{null,null}', '{null,null}', true) as s`
        assert.deepStrictEqual(rows, [{ written: "{t,f}" }])
      }),
    ),
  )

  it.live("to a settlement does not write it twice, in any state", () =>
    throughProxy((proxy) =>
      Effect.gen(function* () {
        yield* newEndpoint()
        yield* Effect.all([publish(), publish(), publish()])
        const { deliveries } = yield* claim(minute(1))
        const [a, b, c] = deliveries.map(delivered)
        const dueAt = minute(9).epochMilliseconds
        const settlements = [
          a!,
          { ...b!, state: { status: "Pending", attemptCount: 1, dueAt } as const },
          { ...c!, token: crypto.randomUUID() },
        ]
        proxy.loseAnswerTo = "settle_deliveries"
        assert.deepStrictEqual(yield* settle(settlements), [true, true, false])
        assert.strictEqual(proxy.loseAnswerTo, undefined)
        // A settlement that another caller repeats is not written.
        assert.deepStrictEqual(yield* settle(settlements), [false, false, false])
        const store = yield* DeliveryStore
        const found = Option.getOrThrow(yield* store.find(a!.id))
        assert.strictEqual(found.attempts.length, 1)
      }),
    ),
  )

  it.live("to a publication, a replay, a cancellation or a deletion is recovered", () =>
    throughProxy((proxy) =>
      Effect.gen(function* () {
        const store = yield* DeliveryStore
        proxy.loseAnswerTo = "publish_event_rows"
        const alone = yield* publish()
        assert.deepStrictEqual(alone.outcome, { _tag: "Published", event: alone.event })
        assert.strictEqual(proxy.loseAnswerTo, undefined)
        const endpoint = yield* newEndpoint()
        proxy.loseAnswerTo = "publish_event_row"
        const { event, outcome } = yield* publish({ idempotencyKey: "k" })
        assert.deepStrictEqual(outcome, { _tag: "Published", event })
        const list = store.list(
          { status: undefined, endpointId: undefined, eventId: undefined },
          { limit: 100, cursor: undefined },
        )
        assert.strictEqual((yield* list).data.length, 1)
        proxy.loseAnswerTo = "with made as"
        const firstDeliveryId = yield* Sample.deliveryId
        const replay = { eventId: event.id, endpointIds: [endpoint.id], firstDeliveryId, now: minute(1) }
        assert.strictEqual((yield* store.insert(replay)).length, 1)
        assert.strictEqual((yield* list).data.length, 2)

        proxy.commit = "cut answer"
        assert.strictEqual(yield* store.cancel(endpoint.id, "endpoint_disabled", minute(2)), 2)
        proxy.commit = "cut answer"
        const range = {
          endpointId: endpoint.id,
          since: minute(0),
          until: minute(5),
          onlyFailed: true,
          types: [],
          firstDeliveryId: yield* Sample.deliveryId,
          now: minute(3),
          limit: 10,
          isDryRun: false,
        }
        assert.strictEqual(yield* store.replayRange(range), 1)
        proxy.commit = "cut answer"
        assert.isTrue(yield* (yield* EndpointStore).delete(endpoint.id, minute(4)))
        assert.strictEqual(proxy.commit, "pass")
        assert.strictEqual((yield* list).data.length, 3)
      }),
    ),
  )
})

describe("publications at the same time", () => {
  layer(live, { excludeTestServices: true })((it) => {
    it.effect("do not wait for one that somebody holds up", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const store = yield* EventStore
        const held = yield* Sample.event()
        const [isTaken, isDone] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        // A transaction that has not ended has the id of the event.
        const holder = yield* Effect.forkChild(
          Effect.ignore(
            sql.withTransaction(
              Effect.gen(function* () {
                yield* sql`insert into billwright.events (account_id, mode, id, type, occurred_at, payload)
values ('default', 'live', ${Id.toUuid(held.id)}::uuid, 'held.one', now(), '{}')`
                yield* Deferred.succeed(isTaken, undefined)
                yield* Deferred.await(isDone)
                yield* Effect.fail("rolled back")
              }),
            ),
          ),
        )
        yield* Deferred.await(isTaken)
        const waiting = yield* Effect.forkChild(store.publish(held))
        const others = yield* Effect.forEach([1, 2, 3], () => publish(), { concurrency: 3 })
        for (const { event, outcome } of others) assert.deepStrictEqual(outcome, { _tag: "Published", event })
        assert.isUndefined(waiting.pollUnsafe())
        yield* Deferred.succeed(isDone, undefined)
        assert.deepStrictEqual(yield* Fiber.join(waiting), { _tag: "Published", event: held })
        yield* Fiber.join(holder)
      }).pipe(asTenant),
    )
  })
})

describe("equal ids", () => {
  layer(live, { excludeTestServices: true })((it) => {
    it.effect("in two tenants are claimed and settled separately", () =>
      Effect.gen(function* () {
        yield* drain
        const id = yield* Sample.eventId
        const publishing = Effect.andThen(
          newEndpoint({ eventTypes: ["same.id"] }),
          publish({ id, type: "same.id" }),
        )
        yield* publishing
        yield* Effect.provideServiceEffect(publishing, CurrentTenant, Sample.tenant)
        yield* claim(minute(1))
        const { deliveries } = yield* claim(minute(2))
        assert.deepStrictEqual(
          deliveries.map((claimed) => [claimed.id, claimed.wasLost]),
          Array.from({ length: 2 }, () => [Delivery.firstDeliveryId(id), true]),
        )
        assert.strictEqual(new Set(deliveries.map(({ tenant }) => tenant.accountId)).size, 2)
        assert.deepStrictEqual(yield* settle(deliveries.map(delivered)), [true, true])
      }).pipe(asTenant),
    )
  })
})
