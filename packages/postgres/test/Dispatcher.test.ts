/**
 * The dispatcher on this storage, with the test's own clock, so that days of retries take no time.
 */
import {
  Billing,
  Deliveries,
  DeliveryStore,
  Dispatcher,
  Endpoints,
  EndpointStore,
  type Event,
  Events,
  Id,
  LEASE_MILLIS,
  RetryPolicy,
  Transactor,
} from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { Receiver, ScriptedReceivers } from "@billwright/testing"
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const live = Dispatcher.layerManual().pipe(
  Layer.provideMerge(Billing.layerWith({ encryption: "none" })),
  Layer.provideMerge(Layer.merge(Storage.layer(), ScriptedReceivers.layer)),
  Layer.provideMerge(TestDatabase.layerClient()),
)

const NOON = Date.parse("2026-06-01T12:00:00Z")
const PAID = { invoice_id: "in_1", customer_id: "c_1", amount: 4200, currency: "EUR" }

const runDue = Effect.flatMap(Dispatcher, (dispatcher) => dispatcher.runDue)

/** An event for one endpoint, whose receiver follows the script. */
const publish = Effect.fnUntraced(function* (url: string, script: Receiver.Script) {
  yield* (yield* ScriptedReceivers).script(url, script)
  const { endpoint } = yield* (yield* Endpoints).create({ url, eventTypes: ["invoice.paid"] })
  const { event } = yield* (yield* Events).publish({ type: "invoice.paid", data: PAID })
  return { endpoint, event }
})

const deliveryOf = Effect.fnUntraced(function* (event: Event.Event) {
  const deliveries = yield* Deliveries
  const { data } = yield* deliveries.list({ eventId: event.id })
  assert.lengthOf(data, 1)
  return yield* deliveries.get(data[0]!.id)
})

describe("a dispatcher on Postgres", () => {
  // Connecting to the database takes real time; the tests use their own clock.
  layer(live, { excludeTestServices: true })((it) => {
    it.effect("tries for 54 hours in live mode, records each attempt and ends Failed (exhausted)", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(NOON)
        const url = "https://fails.example.com/hooks"
        const { endpoint, event } = yield* publish(url, Receiver.answers(500, {}, "no\u0000way"))
        const dues: Array<number> = [NOON]
        for (;;) {
          assert.strictEqual(yield* runDue, 1)
          const { delivery } = yield* deliveryOf(event)
          if (delivery.nextAttemptAt === null) break
          const due = delivery.nextAttemptAt.epochMilliseconds
          yield* TestClock.setTime(due - 1)
          assert.strictEqual(yield* runDue, 0)
          yield* TestClock.setTime(due)
          dues.push(due)
        }
        const { attempts, delivery } = yield* deliveryOf(event)
        assert.deepInclude(delivery, { status: "Failed", reason: "exhausted", attemptCount: 10 })
        assert.deepStrictEqual(
          attempts.map(({ number, startedAt }) => [number, startedAt.epochMilliseconds]),
          dues.map((due, index) => [index + 1, due]),
        )
        for (const [index, due] of dues.slice(1).entries()) {
          const expected = RetryPolicy.delayMillis(RetryPolicy.live, index + 1, 0.5)
          assert.closeTo(due - dues[index]!, expected, expected * 0.2 + 1)
        }
        const requests = yield* (yield* ScriptedReceivers).requests(url)
        assert.deepStrictEqual(
          requests.map(({ at, body, headers }) => [at, body, headers["webhook-id"]]),
          dues.map((due) => [due, event.payload, event.id]),
        )
        yield* (yield* Endpoints).delete(endpoint.id)
      }).pipe(asTenant, Effect.provide(TestClock.layer())),
    )

    it.effect("waits for an endpoint that a transaction changes, and holds no lock that this one needs", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(NOON)
        const url = "https://gone.example.com/hooks"
        const { endpoint, event } = yield* publish(url, Receiver.answers(410))
        const { cancel } = yield* DeliveryStore
        const { modify } = yield* EndpointStore
        const { atomically } = yield* Transactor
        const sql = yield* SqlClient.SqlClient
        const [isHeld, mayGoOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const change = modify(endpoint.id, (stored) =>
          Effect.succeed({
            ...stored,
            endpoint: { ...stored.endpoint, failingSince: DateTime.makeUnsafe(NOON - 1_000) },
          }),
        )
        // The endpoint fails already, so a result has nothing to change there.
        yield* change
        const holder = yield* Effect.forkChild(
          atomically(
            Effect.gen(function* () {
              yield* change
              yield* Deferred.succeed(isHeld, undefined)
              yield* Deferred.await(mayGoOn)
              // The transaction that waits for the endpoint must hold none of its deliveries: that would be a
              // deadlock.
              yield* sql`select 1 from billwright.webhook_pending
where endpoint_id = ${Id.toUuid(endpoint.id)}::uuid for update nowait`
              return yield* cancel(endpoint.id, "endpoint_disabled", DateTime.makeUnsafe(NOON))
            }),
          ),
        )
        yield* Deferred.await(isHeld)
        const running = yield* Effect.forkChild(runDue)
        yield* Effect.repeat(
          sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          { until: (rows) => rows.length > 0 },
        )
        yield* Deferred.succeed(mayGoOn, undefined)
        assert.strictEqual(yield* Fiber.join(holder), 1)
        yield* Fiber.join(running)
        const { delivery } = yield* deliveryOf(event)
        assert.deepInclude(delivery, { status: "Failed", reason: "endpoint_disabled" })
        yield* (yield* Endpoints).delete(endpoint.id)
      }).pipe(asTenant, Effect.provide(TestClock.layer())),
    )

    // This test comes last: its first attempt never ends.
    it.effect("sends the same bytes again when a lease ends without a result", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(NOON)
        const url = "https://hangs.example.com/hooks"
        const isAsked = yield* Deferred.make<void>()
        const { endpoint, event } = yield* publish(
          url,
          Receiver.inTurn(
            () => Effect.andThen(Deferred.succeed(isAsked, undefined), Effect.never),
            Receiver.answers(204),
          ),
        )
        // The first process stops without a result. Then another one takes over.
        const running = yield* Effect.forkChild(runDue)
        yield* Deferred.await(isAsked)
        yield* TestClock.setTime(NOON + LEASE_MILLIS - 1)
        assert.strictEqual((yield* deliveryOf(event)).delivery.status, "Pending")
        yield* TestClock.setTime(NOON + LEASE_MILLIS)
        assert.strictEqual(yield* Effect.provide(runDue, Layer.fresh(Dispatcher.layerManual())), 1)
        const { attempts, delivery } = yield* deliveryOf(event)
        assert.strictEqual(delivery.status, "Delivered")
        assert.deepStrictEqual(
          attempts.map(({ error, responseStatus }) => [error, responseStatus]),
          [
            ["unknown", null],
            [null, 204],
          ],
        )
        const requests = yield* (yield* ScriptedReceivers).requests(url)
        assert.deepStrictEqual(
          requests.map(({ body }) => body),
          [event.payload, event.payload],
        )
        // The result of the first process comes too late.
        yield* Fiber.interrupt(running)
        assert.deepStrictEqual(yield* deliveryOf(event), { attempts, attemptStartedAt: null, delivery })
        yield* (yield* Endpoints).delete(endpoint.id)
      }).pipe(asTenant, Effect.provide(TestClock.layer())),
    )
  })
})
