/**
 * Workers notice that another one has died, and take its deliveries over long before its leases end. Each worker here
 * is a storage with its own client. Its session ends with its scope, as it does when a process dies.
 */
import {
  type Billing,
  type ClaimedDelivery,
  EventStore,
  IdGenerator,
  type CurrentTenant,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import type { Client } from "pg"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { claim, delivered, minute, newEndpoint, publish, settle } from "./Webhooks.ts"

/** How often the loops of this file check, 50 ms apart. */
const LOOKS = 400

/** The instant of all claims, long before any lease ends. */
const NOW = minute(1)

type Services = Billing.Storage | IdGenerator | CurrentTenant | Scope.Scope

interface Worker {
  readonly run: <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.Effect<A, E>
  readonly die: Effect.Effect<void>
}

const startWorker = Effect.fnUntraced(function* (
  url: string,
  options: Partial<PostgresClient.ClientOptions> = {},
) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const client = PostgresClient.layer({ url: Redacted.make(url), ...options })
  const services = yield* Layer.buildWithScope(
    IdGenerator.layer.pipe(Layer.provideMerge(Storage.layer()), Layer.provide(client)),
    scope,
  )
  const run: Worker["run"] = (effect) =>
    asTenant(effect).pipe(Effect.provide(services), Effect.provideService(Scope.Scope, scope))
  const worker: Worker = { run, die: Scope.close(scope, Exit.void) }
  return worker
})

/** Waits for commits, as a dispatcher does. */
const listen = (worker: Worker) => worker.run(Effect.flatMap(EventStore, (store) => store.committed))

const rows = (admin: Client, statement: string) =>
  Effect.promise(async () => (await admin.query<Record<string, unknown>>(statement)).rows)

const entered = (admin: Client) => rows(admin, "select worker from billwright.webhook_workers")

const untilEntered = (admin: Client, isDone: (workers: ReadonlyArray<unknown>) => boolean) =>
  Effect.repeat(Effect.delay(entered(admin), "50 millis"), {
    until: (found) => isDone(found.map(({ worker }) => worker)),
    times: LOOKS,
  })

/** A delivery that the worker has claimed. */
const claimOne = (worker: Worker) =>
  Effect.gen(function* () {
    yield* worker.run(publish())
    const { deliveries } = yield* worker.run(claim(NOW))
    assert.lengthOf(deliveries, 1)
    return deliveries[0]!
  })

/** Claims again and again until something is claimed. */
const claimAgain = (worker: Worker) =>
  Effect.map(
    Effect.repeat(Effect.delay(worker.run(claim(NOW)), "50 millis"), {
      until: ({ deliveries }) => deliveries.length > 0,
      times: LOOKS,
    }),
    ({ deliveries }) => deliveries,
  )

const isWritten = (worker: Worker, delivery: ClaimedDelivery) =>
  Effect.map(worker.run(settle([delivered(delivery)])), ([written]) => written)

describe("the leases of a worker", () => {
  it.live("are over soon after its death, and only then", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const admin = yield* TestDatabase.administrator(url)
      const dead = yield* startWorker(url)
      yield* dead.run(newEndpoint())
      // Claimed before it listens. It is watched all the same.
      const lost = yield* claimOne(dead)
      const [cut, living] = [yield* startWorker(url), yield* startWorker(url)]
      const pooled = yield* startWorker(url, { isPooled: true })
      yield* Effect.forEach([dead, cut, living, pooled], listen)
      yield* untilEntered(admin, ({ length }) => length === 3)
      const kept = [living, cut, pooled]
      const leased: Array<ClaimedDelivery> = []
      for (const worker of kept) leased.push(yield* claimOne(worker))

      // Of a living worker the session is cut. It then has another name.
      const before = (yield* entered(admin)).map(({ worker }) => worker)
      const name = leased[1]!.token.slice(0, 8)
      yield* rows(
        admin,
        `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
and ((classid::bigint << 32) | objid::bigint) = hashtextextended('billwright worker of billwright: ${name}', 0)`,
      )
      yield* untilEntered(
        admin,
        (found) => found.length === 3 && found.some((each) => !before.includes(each)),
      )

      yield* dead.die
      const other = yield* startWorker(url)
      const taken = yield* claimAgain(other)
      assert.deepStrictEqual(
        taken.map(({ attemptCount, id, wasLost }) => ({ attemptCount, id, wasLost })),
        [{ attemptCount: 1, id: lost.id, wasLost: true }],
      )
      assert.isFalse(yield* isWritten(living, lost), "the dead worker's token is no longer valid")
      assert.isTrue(yield* isWritten(other, taken[0]!))
      for (const [index, worker] of kept.entries()) assert.isTrue(yield* isWritten(worker, leased[index]!))
    }).pipe(Effect.scoped),
  )
})
