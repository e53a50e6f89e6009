/**
 * Interleavings that the contract suite can't force, because the test has to see which transaction waits for a lock.
 */
import {
  Billing,
  type ClaimedDelivery,
  CurrentTenant,
  type Customer,
  Customers,
  DeliveryStore,
  Dimensions,
  EndpointStore,
  Id,
  IdGenerator,
  type Settlement,
  Tenant,
  Thresholds,
  Transactor,
  type UsageRecord,
  UsageStore,
} from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { Sample } from "@billwright/testing"
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as LeaseToken from "../src/stores/LeaseToken.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { claim, delivered, minute, newEndpoint, publish, settle } from "./Webhooks.ts"

const live = Billing.layer.pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient()),
)

const newCustomer = Effect.flatMap(Customers, (customers) => customers.create({ name: "A", email: "a@b" }))

const append = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  day: string,
  quantity: number,
  idempotencyKey: string | null = null,
) {
  const ids = yield* IdGenerator
  const store = yield* UsageStore
  const at = DateTime.makeUnsafe(`${day}T12:00:00Z`)
  const id = (yield* ids.next("usg")) as UsageRecord.UsageRecordId
  const content = { customerId, productId: "p", unit: "u", quantity, timestamp: at, idempotencyKey }
  const dimensions = Dimensions.NONE
  return yield* store.append([
    { id, ...content, dimensions, hasOwnTimestamp: true, voidedAt: null, createdAt: at },
  ])
})

/** Publishes an event and claims its delivery. */
const claimNew = Effect.fnUntraced(function* (type: string) {
  const { event } = yield* publish({ type })
  const { deliveries } = yield* claim(minute(0))
  const claimed = deliveries.find(({ eventId }) => eventId === event.id)
  assert.isDefined(claimed)
  return claimed
})

/** A claimed delivery whose attempt was answered 500. */
const failed = (claimed: ClaimedDelivery, state: Settlement["state"]): Settlement => ({
  ...delivered(claimed),
  state,
  attempt: Sample.attempt({ number: 1, startedAt: minute(3), responseStatus: 500 }),
})

/** Those of the counts by hour, as hexadecimal digits. */
const SLOTS = [..."0123456789abcdef"]

/** Publishes an event and leases its delivery to a worker that counts in the slot. */
const claimNewWith = Effect.fnUntraced(function* (type: string, slot: string) {
  const claimed = yield* claimNew(type)
  const sql = yield* SqlClient.SqlClient
  const token = `0000000${slot}${claimed.token.slice(8)}`
  yield* sql`update billwright.webhook_pending set lease_token = ${LeaseToken.uuidOf(token)}::uuid
where id = ${Id.toUuid(claimed.id)}::uuid`
  return { ...claimed, token }
})

/** Waits until a statement in the database waits for a lock of another transaction. */
const somebodyWaits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const waiting = sql`select 1 from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock'`
  yield* Effect.repeat(waiting, { until: (rows) => rows.length > 0 })
})

/** Runs `first` in a transaction that commits only when `second`, started in the meantime, waits for it. */
const overlapping = <A, B, E, R, E2, R2>(first: Effect.Effect<A, E, R>, second: Effect.Effect<B, E2, R2>) =>
  Effect.gen(function* () {
    const transactor = yield* Transactor
    const [isDone, mayCommit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const held = Effect.tap(first, () =>
      Effect.andThen(Deferred.succeed(isDone, undefined), Deferred.await(mayCommit)),
    )
    const holder = yield* Effect.forkChild(transactor.atomically(held))
    yield* Deferred.await(isDone)
    const waiter = yield* Effect.forkChild(transactor.atomically(second))
    yield* somebodyWaits
    yield* Deferred.succeed(mayCommit, undefined)
    return [yield* Fiber.join(holder), yield* Fiber.join(waiter)] as const
  })

/** Runs `during` while another transaction has run `locking`, which is undone then. */
const whileHeld = <A, B, E, R, E2, R2>(locking: Effect.Effect<A, E, R>, during: Effect.Effect<B, E2, R2>) =>
  Effect.gen(function* () {
    const { atomically } = yield* Transactor
    const [isHeld, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const holder = yield* locking.pipe(
      Effect.andThen(Deferred.succeed(isHeld, undefined)),
      Effect.andThen(Deferred.await(mayEnd)),
      Effect.andThen(Effect.fail("undone" as const)),
      atomically,
      Effect.flip,
      Effect.forkChild,
    )
    yield* Deferred.await(isHeld)
    const done = yield* during
    yield* Deferred.succeed(mayEnd, undefined)
    assert.strictEqual(yield* Fiber.join(holder), "undone")
    return done
  })

/** Each statement gets one attempt. */
const once = Billing.layer.pipe(
  Layer.provideMerge(Storage.layer({ maxAttempts: 1 })),
  Layer.provideMerge(TestDatabase.layerClient()),
)

/** Runs an effect for another tenant. */
const asOther = Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" })

const lockPending = (claimed: ClaimedDelivery) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`select 1 from billwright.webhook_pending where id = ${Id.toUuid(claimed.id)}::uuid for update`,
  )

const statusOf = ({ id }: ClaimedDelivery) =>
  Effect.flatMap(DeliveryStore, ({ find }) =>
    Effect.map(find(id), (found) => Option.getOrThrow(found).delivery.status),
  )

const repeatableRead = Effect.provideService(
  SqlClient.BeginTransaction,
  "BEGIN ISOLATION LEVEL REPEATABLE READ",
)

describe("concurrent transactions", () => {
  layer(live, { excludeTestServices: true })((it) => {
    for (const [level, at] of [
      ["READ COMMITTED", <A, E, R>(effect: Effect.Effect<A, E, R>) => effect],
      ["REPEATABLE READ", repeatableRead],
    ] as const) {
      it.effect(`at ${level} fire a month's threshold that they reach together, from usage of two days`, () =>
        Effect.gen(function* () {
          const { id } = yield* newCustomer
          const thresholds = yield* Thresholds
          yield* thresholds.create({
            customerId: id,
            productId: "p",
            unit: "u",
            quantity: 100n,
            period: "month",
          })
          const [first, second] = yield* at(
            overlapping(append(id, "2026-01-05", 60), append(id, "2026-01-06", 60)),
          )
          assert.deepStrictEqual(first.crossings, [])
          assert.deepStrictEqual(
            second.crossings.map(({ periodKey, total }) => ({ periodKey, total })),
            [{ periodKey: "2026-01", total: 120n }],
          )
        }).pipe(asTenant),
      )

      it.effect(`at ${level} with the same key store one record`, () =>
        Effect.gen(function* () {
          const { id } = yield* newCustomer
          const [first, second] = yield* at(
            overlapping(append(id, "2026-01-05", 1, "key"), append(id, "2026-01-05", 1, "key")),
          )
          assert.strictEqual(first.outcomes[0]?._tag, "Recorded")
          assert.strictEqual(second.outcomes[0]?._tag, "Duplicate")
        }).pipe(asTenant),
      )
    }

    it.effect("usage sees, and fires, a threshold that another transaction creates", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const thresholds = yield* Thresholds
        const meter = { customerId: id, productId: "p", unit: "u" }
        const create = thresholds.create({ ...meter, quantity: 100n, period: "lifetime" })
        const [threshold, { crossings }] = yield* overlapping(create, append(id, "2026-01-05", 100))
        assert.deepStrictEqual(
          crossings.map((crossing) => crossing.threshold.id),
          [threshold.id],
        )
      }).pipe(asTenant),
    )

    it.effect("usage of a customer that another transaction has erased is refused", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const customers = yield* Customers
        const [, appended] = yield* overlapping(customers.erase(id), append(id, "2026-01-05", 1))
        assert.deepStrictEqual(appended.outcomes, [{ _tag: "CustomerNotFound" }])
      }).pipe(asTenant),
    )

    it.effect("an event of a customer that another transaction has erased is refused", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const customers = yield* Customers
        const [, { outcome }] = yield* overlapping(customers.erase(id), publish({ customerId: id }))
        assert.deepStrictEqual(outcome, { _tag: "CustomerNotFound" })
      }).pipe(asTenant),
    )

    it.effect("an erasure waits for an event of the customer that another transaction publishes", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const customers = yield* Customers
        const [{ outcome }] = yield* overlapping(publish({ customerId: id }), customers.erase(id))
        assert.strictEqual(outcome._tag, "Published")
      }).pipe(asTenant),
    )

    it.effect("an erasure waits for usage of the customer that another transaction appends", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const customers = yield* Customers
        const [appended] = yield* overlapping(append(id, "2026-01-05", 1), customers.erase(id))
        assert.strictEqual(appended.outcomes[0]?._tag, "Recorded")
      }).pipe(asTenant),
    )

    it.effect("renaming a customer does not wait for usage that another transaction appends", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const customers = yield* Customers
        const transactor = yield* Transactor
        const [isDone, mayCommit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const appending = Effect.gen(function* () {
          yield* append(id, "2026-01-05", 1)
          yield* Deferred.succeed(isDone, undefined)
          yield* Deferred.await(mayCommit)
        })
        const holder = yield* Effect.forkChild(transactor.atomically(appending))
        yield* Deferred.await(isDone)
        assert.strictEqual((yield* customers.update(id, { name: "B" })).name, "B")
        yield* Deferred.succeed(mayCommit, undefined)
        yield* Fiber.join(holder)
      }).pipe(asTenant),
    )

    it.effect("a cancelled delivery doesn't stay pending when another transaction writes its result", () =>
      Effect.gen(function* () {
        const endpoint = yield* newEndpoint({ eventTypes: ["cancelled.kept"] })
        const claimed = yield* claimNew("cancelled.kept")
        const { cancel, find } = yield* DeliveryStore
        const [, count] = yield* overlapping(
          settle([failed(claimed, { status: "Pending", attemptCount: 1, dueAt: 0 })]),
          cancel(endpoint.id, "endpoint_disabled", minute(1)),
        )
        assert.strictEqual(count, 1)
        const { attempts, delivery } = Option.getOrThrow(yield* find(claimed.id))
        assert.deepInclude(delivery, { status: "Failed", reason: "endpoint_disabled", attemptCount: 1 })
        assert.lengthOf(attempts, 1)
      }).pipe(asTenant),
    )

    it.effect("a delivery that another transaction ends is not cancelled, and ends once", () =>
      Effect.gen(function* () {
        const endpoint = yield* newEndpoint({ eventTypes: ["cancelled.done"] })
        const claimed = yield* claimNew("cancelled.done")
        const { cancel, find } = yield* DeliveryStore
        const [, count] = yield* overlapping(
          settle([delivered(claimed)]),
          cancel(endpoint.id, "endpoint_disabled", minute(1)),
        )
        assert.strictEqual(count, 0)
        assert.strictEqual(Option.getOrThrow(yield* find(claimed.id)).delivery.status, "Delivered")
      }).pipe(asTenant),
    )

    it.effect("results write the marks of other endpoints while another transaction locks one endpoint", () =>
      Effect.gen(function* () {
        const [one, other] = [
          yield* newEndpoint({ eventTypes: ["marks.one"] }),
          yield* newEndpoint({ eventTypes: ["marks.other"] }),
        ]
        const claimed = [yield* claimNew("marks.one"), yield* claimNew("marks.other")]
        const results = claimed.map((each) =>
          failed(each, { status: "Failed", attemptCount: 1, reason: "exhausted" }),
        )
        const sql = yield* SqlClient.SqlClient
        const [isHeld, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const holder = yield* sql`select 1 from billwright.webhook_endpoints
where id = ${Id.toUuid(one.id)}::uuid for update`.pipe(
          Effect.andThen(Deferred.succeed(isHeld, undefined)),
          Effect.andThen(Deferred.await(mayEnd)),
          sql.withTransaction,
          Effect.forkChild,
        )
        yield* Deferred.await(isHeld)
        assert.deepStrictEqual(yield* settle(results), [true, true])
        const { find } = yield* EndpointStore
        assert.deepStrictEqual(Option.getOrThrow(yield* find(other.id)).failingSince, minute(3))
        assert.isNull(Option.getOrThrow(yield* find(one.id)).failingSince)
        yield* Deferred.succeed(mayEnd, undefined)
        yield* Fiber.join(holder)
      }).pipe(asTenant),
    )

    it.effect("results are written while the endpoint is locked; its mark comes with the next result", () =>
      Effect.gen(function* () {
        const endpoint = yield* newEndpoint({ eventTypes: ["held.one"] })
        const [first, second] = [yield* claimNew("held.one"), yield* claimNew("held.one")]
        const sql = yield* SqlClient.SqlClient
        const { atomically } = yield* Transactor
        const failingSince = Effect.map(
          (yield* EndpointStore).find(endpoint.id),
          (found) => Option.getOrThrow(found).failingSince,
        )
        const failure = (claimed: ClaimedDelivery) =>
          failed(claimed, { status: "Failed", attemptCount: 1, reason: "exhausted" })
        const [isHeld, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const holder = yield* sql`select 1 from billwright.webhook_endpoints
where id = ${Id.toUuid(endpoint.id)}::uuid for update`.pipe(
          Effect.andThen(Deferred.succeed(isHeld, undefined)),
          Effect.andThen(Deferred.await(mayEnd)),
          sql.withTransaction,
          Effect.forkChild,
        )
        yield* Deferred.await(isHeld)
        const settings = Effect.gen(function* () {
          yield* sql`set local lock_timeout = '7s'`
          const written = yield* settle([failure(first)])
          return [written, yield* sql`show lock_timeout`]
        })
        assert.deepStrictEqual(yield* atomically(settings), [[true], [{ lock_timeout: "7s" }]])
        assert.isNull(yield* failingSince)
        yield* Deferred.succeed(mayEnd, undefined)
        yield* Fiber.join(holder)
        assert.deepStrictEqual(yield* settle([failure(second)]), [true])
        assert.deepStrictEqual(yield* failingSince, minute(3))
      }).pipe(asTenant),
    )
  })
})

for (const [where, storage] of [
  ["", live],
  [", where statements get one attempt", once],
] as const) {
  describe(`while another transaction holds a delivery${where}`, () => {
    layer(storage, { excludeTestServices: true })((it) => {
      it.effect.each([
        ["are delivered", delivered],
        [
          "are to be tried again",
          (claimed: ClaimedDelivery) =>
            failed(claimed, { status: "Pending", attemptCount: 1, dueAt: minute(9).epochMilliseconds }),
        ],
      ] as const)("only its result waits for it, of those that %s", ([, resultOf]) =>
        Effect.gen(function* () {
          yield* newEndpoint({ eventTypes: ["held.row"] })
          const held = yield* claimNew("held.row")
          const [other, lost] = yield* asOther(
            Effect.gen(function* () {
              yield* newEndpoint({ eventTypes: ["held.other"] })
              return [yield* claimNew("held.other"), yield* claimNew("held.other")] as const
            }),
          )
          const token = crypto.randomUUID()
          const results = [resultOf(held), resultOf(other), { ...resultOf(lost), token }]
          assert.deepStrictEqual(yield* whileHeld(lockPending(held), settle(results)), [
            undefined,
            true,
            false,
          ])
          assert.strictEqual(yield* statusOf(held), "Pending")
          assert.deepStrictEqual(yield* settle(results), [true, false, false])
          const { attempts } = Option.getOrThrow(yield* (yield* DeliveryStore).find(held.id))
          assert.lengthOf(attempts, 1)
        }).pipe(asTenant),
      )

      it.effect("that has cancelled it, the results of others to the same endpoint are written", () =>
        Effect.gen(function* () {
          const endpoint = yield* newEndpoint({ eventTypes: ["held.cancelled"] })
          const { cancel, find } = yield* DeliveryStore
          const held = yield* claimNew("held.cancelled")
          const cancelling = cancel(endpoint.id, "endpoint_disabled", minute(1))
          const others = Effect.gen(function* () {
            const later = yield* Effect.forEach(SLOTS, (slot) => claimNewWith("held.cancelled", slot))
            return yield* settle([held, ...later].map(delivered))
          })
          const expected = [undefined, ...SLOTS.map(() => true)]
          assert.deepStrictEqual(yield* whileHeld(cancelling, others), expected)
          assert.strictEqual(yield* cancelling, 1)
          assert.deepStrictEqual(yield* settle([delivered(held)]), [false])
          assert.strictEqual(Option.getOrThrow(yield* find(held.id)).delivery.status, "Failed")
        }).pipe(asTenant),
      )
    })
  })
}
