/**
 * Publications hand their deliveries to an intake of their process. The contract says what may happen then; this storage does
 * hand over, and gives back what it may have leased when an answer is lost.
 */
import {
  type Billing,
  type ClaimedDelivery,
  type CurrentTenant,
  Delivery,
  DeliveryStore,
  type Endpoint,
  type Event,
  EventStore,
  IdGenerator,
  type Intake,
} from "@billwright/core"
import { Host, PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { type Client, Pool } from "pg"
import * as Proxy from "./Proxy.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { claim, delivered, minute, newEndpoint, publish, settle } from "./Webhooks.ts"

type Services = Billing.Storage | CurrentTenant | IdGenerator | Scope.Scope | SqlClient.SqlClient

/** Runs with a proxy in front of a new database. Without prepared statements, so that the proxy sees the text of each. */
const throughProxy = <A, E>(use: (proxy: Proxy.Proxy) => Effect.Effect<A, E, Services>) =>
  Effect.gen(function* () {
    const proxy = yield* Proxy.make(yield* TestDatabase.make)
    const client = PostgresClient.layer({ url: Redacted.make(proxy.url), isPooled: true })
    const storage = IdGenerator.layer.pipe(Layer.provideMerge(Storage.layer()), Layer.provideMerge(client))
    return yield* asTenant(use(proxy)).pipe(Effect.provide(storage))
  }).pipe(Effect.scoped)

interface IntakeOptions {
  readonly full?: ReadonlyArray<Endpoint.EndpointId>
  readonly isOpen?: boolean
}

/** An intake that keeps what it takes. */
const withIntake = Effect.fnUntraced(function* ({ full = [], isOpen = true }: IntakeOptions = {}) {
  const taken: Array<ClaimedDelivery> = []
  let kept = 0
  const intake: Intake = {
    offer: () =>
      Effect.sync(() => {
        kept++
        return {
          count: 3,
          full,
          leaseUntil: minute(5),
          take: ({ deliveries }) => {
            kept--
            if (isOpen) taken.push(...deliveries)
            return isOpen
          },
        }
      }),
    standingOffer: Effect.succeed(undefined),
    takeFromOthers: () => false,
  }
  yield* (yield* DeliveryStore).handTo(intake)
  return { taken, kept: () => kept }
})

/** Claims until something is due: what is given back is due soon after. */
const claimSoon = Effect.repeat(Effect.delay(claim(minute(1)), "20 millis"), {
  until: ({ deliveries }) => deliveries.length > 0,
  times: 200,
})

const isFirstAttempt = ({ attemptCount, wasLost }: ClaimedDelivery) => attemptCount === 0 && !wasLost

describe("a publication", () => {
  it.live("hands over what an intake has places for, and the rest is due", () =>
    throughProxy(() =>
      Effect.gen(function* () {
        const endpoints = yield* Effect.forEach([1, 2, 3, 4, 5], () => newEndpoint())
        const { taken } = yield* withIntake({ full: [endpoints[0]!.id] })
        const { event } = yield* publish()
        assert.deepStrictEqual(
          taken.map(({ endpoint, payload }) => [endpoint.id, payload]),
          endpoints.slice(1, 4).map(({ id }) => [id, event.payload]),
        )
        const { deliveries } = yield* claim(minute(1))
        assert.deepStrictEqual(
          deliveries.map(({ endpoint }) => endpoint.id),
          [endpoints[0]!.id, endpoints[4]!.id],
        )
        assert.deepStrictEqual(yield* settle(taken.map(delivered)), [true, true, true])
      }),
    ),
  )

  it.live("with an idempotency key, a customer or an endpoint of its own is handed over, too", () =>
    throughProxy(() =>
      Effect.gen(function* () {
        const endpoint = yield* newEndpoint()
        const { taken } = yield* withIntake()
        yield* publish({ idempotencyKey: "k" })
        yield* publish({ endpointId: endpoint.id })
        assert.lengthOf(taken, 2)
      }),
    ),
  )

  for (const statement of ["publish_event_rows", "publish_event_row("]) {
    it.live(`of ${statement} gives back what it leased when its answer is lost`, () =>
      throughProxy((proxy) =>
        Effect.gen(function* () {
          yield* newEndpoint()
          const { kept, taken } = yield* withIntake()
          proxy.loseAnswerTo = statement
          yield* publish(statement === "publish_event_rows" ? {} : { idempotencyKey: "k" })
          assert.isUndefined(proxy.loseAnswerTo)
          const { deliveries } = yield* claimSoon
          assert.lengthOf(taken, 0)
          assert.strictEqual(kept(), 0)
          assert.lengthOf(deliveries, 1)
          assert.isTrue(deliveries.every(isFirstAttempt))
        }),
      ),
    )
  }

  it.live("gives back what an intake no longer takes, and signals it", () =>
    throughProxy(() =>
      Effect.gen(function* () {
        yield* newEndpoint()
        yield* withIntake({ isOpen: false })
        const due = yield* (yield* DeliveryStore).due
        yield* publish()
        // That of the publication, and that of what is given back.
        yield* due
        yield* due
        const { deliveries } = yield* claim(minute(1))
        assert.lengthOf(deliveries, 1)
        assert.isTrue(deliveries.every(isFirstAttempt))
      }),
    ),
  )

  it.live("numbers deliveries, tokens and places as it should when a group has few places", () =>
    throughProxy(() =>
      Effect.gen(function* () {
        const endpoints = yield* Effect.forEach([1, 2, 3], () => newEndpoint())
        const { taken } = yield* withIntake({ full: [endpoints[0]!.id] })
        const published = yield* Effect.all(
          Array.from({ length: 6 }, () => publish()),
          { concurrency: 6 },
        )
        const { deliveries } = yield* claim(minute(1))
        const all = [...taken, ...deliveries]
        const idsOf = ({ id }: Event.Event) =>
          endpoints.map((_, index) => Delivery.deliveryId(Delivery.firstDeliveryId(id), index))
        assert.deepStrictEqual(
          all.map(({ id }) => id).sort(),
          published.flatMap(({ event }) => idsOf(event)).sort(),
        )
        assert.strictEqual(new Set(taken.map(({ token }) => token)).size, taken.length)
        assert.isFalse(taken.some(({ endpoint }) => endpoint.id === endpoints[0]!.id))
        assert.isAbove(taken.length, 3, "each publication has places of its own")
        assert.isTrue((yield* settle(all.map(delivered))).every((isWritten) => isWritten))
      }),
    ),
  )

  it.live("signals due deliveries only when some are due", () =>
    throughProxy(() =>
      Effect.gen(function* () {
        const store = yield* DeliveryStore
        const [one, other] = [yield* newEndpoint(), yield* newEndpoint()]
        const events = yield* (yield* EventStore).committed
        const due = yield* store.due
        const scope = yield* Scope.make()
        const { taken } = yield* Scope.provide(withIntake(), scope)
        const waiting = yield* Effect.forkChild(due, { startImmediately: true })
        yield* publish()
        yield* publish({ endpointId: one.id })
        assert.lengthOf(taken, 3)
        // It comes with the other signal, or not at all.
        yield* events
        assert.isUndefined(waiting.pollUnsafe())
        yield* Scope.close(scope, Exit.void)
        yield* withIntake({ full: [other.id] })
        yield* publish()
        yield* Fiber.join(waiting)
      }),
    ),
  )
})

/** Runs a storage on a client of its own, until it is closed. */
const startStorage = Effect.fnUntraced(function* (
  client: Layer.Layer<SqlClient.SqlClient, unknown>,
  options: Parameters<typeof Storage.layer>[0] = {},
) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const services = yield* Layer.buildWithScope(
    IdGenerator.layer.pipe(Layer.provideMerge(Storage.layer(options)), Layer.provideMerge(client)),
    scope,
  )
  const run = <A, E>(effect: Effect.Effect<A, E, Services>): Effect.Effect<A, E> =>
    asTenant(effect).pipe(Effect.provide(services), Effect.provideService(Scope.Scope, scope))
  return { run, close: Scope.close(scope, Exit.void) }
})

const hostsPool = (url: string) =>
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => new Pool({ connectionString: url, max: 10 })),
        (made) => Effect.promise(() => made.end()),
      ),
      (pool) => Host.fromPool(pool),
    ),
  )

const ask = (admin: Client, statement: string) =>
  Effect.promise(async () => (await admin.query<Record<string, unknown>>(statement)).rows)

/** Holds up all publications until it is released. */
const holdUp = Effect.fnUntraced(function* (admin: Client) {
  yield* ask(admin, "begin")
  yield* ask(admin, "lock table billwright.webhook_pending in exclusive mode")
  return ask(admin, "commit")
})

/** Waits until a publication waits for the lock. */
const isHeldUp = (admin: Client) =>
  Effect.repeat(Effect.delay(ask(admin, "select 1 from pg_locks where not granted"), "20 millis"), {
    until: (rows) => rows.length > 0,
    times: 200,
  })

const PENDING = "select leased_until is null as is_free, attempt_count from billwright.webhook_pending"

/** Waits until the delivery is there and nobody has it. */
const untilFree = (admin: Client) =>
  Effect.map(
    Effect.repeat(Effect.delay(ask(admin, PENDING), "20 millis"), {
      until: (rows) => rows.length > 0 && rows.every(({ is_free }) => is_free === true),
      times: 400,
    }),
    (rows) => rows.map(({ attempt_count, is_free }) => [is_free, attempt_count]),
  )

/** The delivery is stored, and was given back without an attempt. */
const GIVEN_BACK = [[true, 0]]

describe("a publication that nobody waits for any more", () => {
  const setup = Effect.fnUntraced(function* (
    clientOf: (url: string) => Layer.Layer<SqlClient.SqlClient, unknown>,
    options: Parameters<typeof Storage.layer>[0] = {},
    isOpen = true,
  ) {
    const url = yield* TestDatabase.make
    const admin = yield* TestDatabase.administrator(url)
    const storage = yield* startStorage(clientOf(url), options)
    yield* storage.run(newEndpoint())
    const intake = yield* storage.run(withIntake({ isOpen }))
    return { ...storage, ...intake, admin }
  })
  const ownClient = (url: string) => PostgresClient.layer({ url: Redacted.make(url) })

  for (const [name, clientOf] of [
    ["a client of ours", ownClient],
    ["a host's pool", hostsPool],
  ] as const) {
    it.live(`is interrupted on ${name}: what is committed later is given back`, () =>
      Effect.gen(function* () {
        const { admin, kept, run, taken } = yield* setup(clientOf)
        const release = yield* holdUp(admin)
        const publishing = yield* Effect.forkChild(run(publish({ idempotencyKey: "k" })), {
          startImmediately: true,
        })
        yield* isHeldUp(admin)
        assert.strictEqual(kept(), 1)
        yield* Fiber.interrupt(publishing)
        assert.strictEqual(kept(), 0)
        yield* release
        // Our client has cancelled it. A host's pool has not.
        if (clientOf === ownClient) yield* run(publish({ idempotencyKey: "k" }))
        if (taken.length === 0) assert.deepStrictEqual(yield* untilFree(admin), GIVEN_BACK)
        assert.lengthOf(taken, clientOf === ownClient ? 1 : 0)
      }).pipe(Effect.scoped),
    )
  }

  it.live("takes longer than the deadline: what is committed later is given back", () =>
    Effect.gen(function* () {
      const { admin, kept, run, taken } = yield* setup(hostsPool, { deadlineMillis: 300 })
      const release = yield* holdUp(admin)
      const exit = yield* Effect.exit(run(publish({ idempotencyKey: "k" })))
      assert.isTrue(Exit.isFailure(exit))
      assert.strictEqual(kept(), 0)
      yield* release
      assert.deepStrictEqual(yield* untilFree(admin), GIVEN_BACK)
      assert.lengthOf(taken, 0)
    }).pipe(Effect.scoped),
  )

  it.live("is not taken while the storage closes: it is given back before the storage has closed", () =>
    Effect.gen(function* () {
      for (const fields of [{}, { idempotencyKey: "k" }]) {
        const { admin, close, run } = yield* setup(ownClient, {}, false)
        const release = yield* holdUp(admin)
        const publishing = yield* Effect.forkChild(run(publish(fields)), { startImmediately: true })
        yield* isHeldUp(admin)
        const closing = yield* Effect.forkChild(close, { startImmediately: true })
        yield* release
        yield* Fiber.join(closing)
        yield* Fiber.await(publishing)
        const rows = yield* ask(admin, PENDING)
        assert.deepStrictEqual(
          rows.map(({ attempt_count, is_free }) => [is_free, attempt_count]),
          GIVEN_BACK,
        )
      }
    }).pipe(Effect.scoped),
  )
})
