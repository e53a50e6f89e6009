/**
 * Publications hand their deliveries to an intake of their process. The contract says what may happen then; this storage does
 * hand over, and gives back what it may have leased when an answer is lost.
 */
import {
  type Billing,
  type ClaimedDelivery,
  type CurrentTenant,
  DeliveryStore,
  type Endpoint,
  IdGenerator,
  type Intake,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
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
    reserve: () =>
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

  it.live("gives back what an intake no longer takes", () =>
    throughProxy(() =>
      Effect.gen(function* () {
        yield* newEndpoint()
        yield* withIntake({ isOpen: false })
        yield* publish()
        const { deliveries } = yield* claimSoon
        assert.lengthOf(deliveries, 1)
        assert.isTrue(deliveries.every(isFirstAttempt))
      }),
    ),
  )

  it.live("that is interrupted leaves no place taken, and nothing leased that was committed", () =>
    throughProxy(() =>
      Effect.gen(function* () {
        yield* newEndpoint()
        const { kept, taken } = yield* withIntake()
        const sql = yield* SqlClient.SqlClient
        const [isLocked, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const holder = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`lock table billwright.webhook_pending in exclusive mode`
              yield* Deferred.succeed(isLocked, undefined)
              yield* Deferred.await(mayEnd)
            }),
          ),
        )
        yield* Deferred.await(isLocked)
        const publishing = yield* Effect.forkChild(publish({ idempotencyKey: "k" }), {
          startImmediately: true,
        })
        const waits = sql`select 1 from pg_locks where not granted`
        yield* Effect.repeat(Effect.delay(waits, "20 millis"), {
          until: (rows) => rows.length > 0,
          times: 200,
        })
        assert.strictEqual(kept(), 1)
        yield* Fiber.interrupt(publishing)
        assert.strictEqual(kept(), 0)
        yield* Deferred.succeed(mayEnd, undefined)
        yield* Fiber.join(holder)
        assert.lengthOf(taken, 0)
        const { outcome } = yield* publish({ idempotencyKey: "k" })
        assert.include(["Published", "Duplicate"], outcome._tag)
        const { deliveries } = yield* claim(minute(1))
        assert.lengthOf([...taken, ...deliveries], 1)
        assert.isTrue(deliveries.every(isFirstAttempt))
        const store = yield* DeliveryStore
        assert.isTrue(Option.isSome(yield* store.nextDueAt))
      }),
    ),
  )
})
