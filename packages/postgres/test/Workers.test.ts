/**
 * Workers notice that another one has died, and take its deliveries over long before its leases end. Each worker here
 * is a storage with its own client. It dies when the server ends its session, and it can't connect again.
 */
import { type ClaimedDelivery, EventStore } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Scope } from "effect"
import type { Client } from "pg"
import * as Proxy from "./Proxy.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { claim, delivered, minute, newEndpoint, publish, settle } from "./Webhooks.ts"
import { endSession, rows, startWorker, type Worker } from "./WorkerStorage.ts"

/** How often the loops of this file check, 50 ms apart. */
const LOOKS = 400

/** A deadline of the storage, in milliseconds. */
const LONGER_THAN_A_TEST = 600_000

/** The instant of all claims, long before any lease ends. */
const NOW = minute(1)

/** Waits for commits, as a dispatcher does. */
const listen = (worker: Worker) => worker.run(Effect.flatMap(EventStore, (store) => store.committed))

/** The same, until the scope of the caller closes. */
const listenShortly = (worker: Worker) =>
  Effect.flatMap(Effect.scope, (scope) =>
    worker.run(
      Effect.flatMap(EventStore, (store) => Effect.provideService(store.committed, Scope.Scope, scope)),
    ),
  )

const entered = (admin: Client) => rows(admin, "select worker, missed_at from billwright.webhook_workers")

const untilEntered = (admin: Client, isDone: (workers: ReadonlyArray<unknown>) => boolean) =>
  Effect.repeat(Effect.delay(entered(admin), "50 millis"), {
    until: (found) => isDone(found.map(({ worker }) => worker)),
    times: LOOKS,
  })

const nameOf = ({ token }: ClaimedDelivery) => token.slice(0, 8)

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
      const proxy = yield* Proxy.make(url)
      const dead = yield* startWorker(proxy.url)
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
      yield* endSession(admin, nameOf(leased[1]!))
      yield* untilEntered(
        admin,
        (found) => found.length === 3 && found.some((each) => !before.includes(each)),
      )

      // Its open connections forward nothing, so it can't remove its row.
      proxy.isOpen = false
      proxy.isBlackhole = true
      yield* endSession(admin, nameOf(lost))
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

  it.live(
    "stay its own after it stopped listening in order, and it is entered anew when it listens again",
    () =>
      Effect.gen(function* () {
        const url = yield* TestDatabase.make
        const admin = yield* TestDatabase.administrator(url)
        const [worker, other] = [yield* startWorker(url), yield* startWorker(url)]
        yield* worker.run(newEndpoint())
        const before = yield* Effect.scoped(
          Effect.gen(function* () {
            yield* listenShortly(worker)
            yield* untilEntered(admin, ({ length }) => length === 1)
            return yield* claimOne(worker)
          }),
        )
        assert.deepStrictEqual(yield* entered(admin), [])
        const after = yield* claimOne(worker)
        assert.notStrictEqual(nameOf(after), nameOf(before))

        // The other one looks for dead workers. If it missed one, then that was long ago.
        yield* other.run(claim(NOW))
        yield* rows(
          admin,
          "update billwright.webhook_workers set missed_at = missed_at - interval '1 minute'",
        )
        assert.lengthOf((yield* other.run(claim(NOW))).deliveries, 0)
        yield* listen(worker)
        const [row] = yield* untilEntered(admin, ({ length }) => length === 1)
        assert.deepStrictEqual(row, { worker: nameOf(after), missed_at: null })
        for (const delivery of [before, after]) assert.isTrue(yield* isWritten(worker, delivery))
      }).pipe(Effect.scoped),
  )

  it.live("are claimed while somebody has locked the row of another worker", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const admin = yield* TestDatabase.administrator(url)
      const worker = yield* startWorker(
        url,
        { statementTimeoutMillis: 0 },
        { deadlineMillis: LONGER_THAN_A_TEST },
      )
      yield* worker.run(newEndpoint())
      yield* rows(admin, "insert into billwright.webhook_workers (worker) values ('deadbeef')")
      yield* rows(admin, "begin")
      yield* rows(admin, "select from billwright.webhook_workers for update")
      // The look for dead workers begins with the first claim, and can't end.
      yield* claimOne(worker)
      yield* claimOne(worker)
      yield* rows(admin, "rollback")
    }).pipe(Effect.scoped),
  )

  it.live("do not keep it from closing when Postgres does not answer", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const admin = yield* TestDatabase.administrator(url)
      const proxy = yield* Proxy.make(url)
      const worker = yield* startWorker(proxy.url)
      yield* listen(worker)
      yield* untilEntered(admin, ({ length }) => length === 1)
      proxy.isBlackhole = true
      proxy.isOpen = false
      yield* worker.close
      assert.lengthOf(yield* entered(admin), 1)
    }).pipe(Effect.scoped),
  )
})
