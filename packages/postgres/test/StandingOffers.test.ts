/**
 * A worker offers places to publications of other processes. These lease deliveries to it, and notify it in their commit. Each
 * process here is a storage with its own client.
 */
import { randomBytes } from "node:crypto"
import {
  type ClaimedDelivery,
  CurrentTenant,
  DeliveryStore,
  type Endpoint,
  EventStore,
  type Intake,
  type StandingOffer,
  Transactor,
} from "@billwright/core"
import type { Sample } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Fiber, Scope } from "effect"
import type { Client } from "pg"
import * as Notices from "../src/Notices.ts"
import * as Proxy from "./Proxy.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { claim, delivered, newEndpoint, publish as publishAt, settle } from "./Webhooks.ts"
import { endSession, rows, startWorker, type Worker } from "./WorkerStorage.ts"

/** How often the loops of this file check, 20 ms apart. */
const LOOKS = 1_000

/** The instant of all claims, when all is due, and long before any lease ends. */
const NOW = DateTime.makeUnsafe(Date.now() + 600_000)
const LEASE_MILLIS = 3_600_000
const AFTER_LEASES = DateTime.add(NOW, { hours: 2 })

/** Publishes an event of now. */
const publish = (fields: Sample.EventFields = {}) =>
  Effect.flatMap(DateTime.now, (timestamp) => publishAt({ timestamp, ...fields }))

/** Looks until it is done. Fails when that takes too long. */
const until = <A, E>(look: Effect.Effect<A, E>, isDone: (found: A) => boolean) =>
  Effect.tap(Effect.repeat(Effect.delay(look, "20 millis"), { until: isDone, times: LOOKS }), (found) =>
    Effect.sync(() => assert.isTrue(isDone(found), "it should be done by now")),
  )

const SECOND = "floor(extract(epoch from clock_timestamp()))::bigint"
const offerLock = (worker: string, second: string) =>
  `hashtextextended('billwright offer of billwright: ' || ${worker} || ' ' || ${second}, 0)`

/** The offers that publications may follow now: the locks of others can't be shared. */
const offers = (admin: Client) =>
  rows(
    admin,
    `select worker, offered_places, full_endpoints::text from billwright.webhook_workers
where offered_places > 0 and not pg_try_advisory_xact_lock_shared(${offerLock("worker", SECOND)})`,
  )

interface IntakeOptions {
  readonly count?: number
  readonly full?: ReadonlyArray<Endpoint.EndpointId>
}

/** An intake that keeps what it takes. */
const makeIntake = ({ count = 3, full = [] }: IntakeOptions = {}) => {
  const taken: Array<ClaimedDelivery> = []
  const state = { isOpen: true, isOffering: true }
  const offer: StandingOffer = { count, full, leaseMillis: LEASE_MILLIS }
  const intake: Intake = {
    offer: () => Effect.succeed(undefined),
    standingOffer: Effect.sync(() => (state.isOffering ? offer : undefined)),
    takeFromOthers: ({ deliveries }, leaseUntil) => {
      const millis = leaseUntil.epochMilliseconds - Date.now()
      assert.isAbove(millis, LEASE_MILLIS - 60_000)
      assert.isAtMost(millis, LEASE_MILLIS)
      if (state.isOpen) taken.push(...deliveries)
      return state.isOpen
    },
  }
  return {
    intake,
    state,
    taken,
    isSoon: (length: number) =>
      Effect.map(
        until(
          Effect.sync(() => taken),
          (all) => all.length >= length,
        ),
        () => assert.lengthOf(taken, length),
      ),
  }
}

/** A worker that waits for due deliveries and takes what is handed over, as a dispatcher does. */
const sender = Effect.fnUntraced(function* (url: string, admin: Client, options?: IntakeOptions) {
  const worker = yield* startWorker(url)
  const own = makeIntake(options)
  const dispatcher = yield* Scope.fork(yield* Effect.scope)
  const closing = Effect.sync(() => {
    own.state.isOpen = false
    own.state.isOffering = false
  })
  yield* worker.run(
    Effect.flatMap(DeliveryStore, (store) =>
      store.due.pipe(
        Effect.andThen(store.handTo(own.intake)),
        Effect.andThen(Effect.addFinalizer(() => closing)),
        Scope.provide(dispatcher),
      ),
    ),
  )
  yield* until(offers(admin), ({ length }) => length > 0)
  return { ...own, dispatcher, worker }
})

/** A publisher, and a sender whose offer others can see. */
const publisherAndSender = Effect.fnUntraced(function* (options?: IntakeOptions) {
  const url = yield* TestDatabase.make
  const admin = yield* TestDatabase.administrator(url)
  const publisher = yield* startWorker(url)
  return { url, admin, publisher, ...(yield* sender(url, admin, options)) }
})

const claimed = (worker: Worker) =>
  Effect.map(Effect.orDie(worker.run(claim(NOW))), ({ deliveries }) => deliveries)

const claimedSoon = (worker: Worker) => until(claimed(worker), ({ length }) => length > 0)

const notify = (admin: Client, payload: string) =>
  Effect.promise(() => admin.query("select pg_notify('billwright', $1)", [payload]))

/** The payloads of notifications from now on. */
const received = (admin: Client) => {
  const payloads: Array<string> = []
  admin.on("notification", ({ payload }) => payloads.push(payload ?? ""))
  return Effect.as(
    rows(admin, "listen billwright"),
    Effect.sync(() => payloads),
  )
}

/** A publication that has taken an offer, and waits until somebody else has ended a transaction. */
const publicationUnderWay = Effect.fnUntraced(function* (publisher: Worker, admin: Client) {
  const { accountId, mode } = yield* publisher.run(Effect.map(CurrentTenant, (tenant) => tenant))
  yield* rows(admin, "begin")
  yield* rows(
    admin,
    `insert into billwright.events (account_id, mode, id, type, occurred_at, idempotency_key, payload)
values ('${accountId}', '${mode}', gen_random_uuid(), 'a.b', now(), 'same', '{}')`,
  )
  const publishing = yield* Effect.forkChild(publisher.run(publish({ idempotencyKey: "same" })))
  yield* until(
    rows(admin, "select from pg_locks where locktype = 'transactionid' and not granted"),
    ({ length }) => length > 0,
  )
  return { publishing, end: rows(admin, "rollback") }
})

describe("a publication of another process", () => {
  it.live("leases its deliveries to a worker that has offered places, which gets what a claim gives", () =>
    Effect.gen(function* () {
      const { isSoon, publisher, taken, worker } = yield* publisherAndSender()
      yield* publisher.run(newEndpoint())
      yield* publisher.run(newEndpoint({ signature: "ed25519" }))
      const { event } = yield* publisher.run(publish())
      yield* isSoon(2)
      assert.deepStrictEqual(yield* claimed(publisher), [])
      // As soon as the leases are over, a claim gives the same.
      const again = yield* publisher.run(claim(AFTER_LEASES))
      assert.lengthOf(again.deliveries, 2)
      for (const one of again.deliveries) {
        const own = taken.find(({ id }) => id === one.id)
        assert.deepStrictEqual({ ...own, token: "" }, { ...one, token: "", attemptCount: 0, wasLost: false })
        assert.strictEqual(own?.payload, event.payload)
      }
      assert.deepStrictEqual(yield* worker.run(settle(taken.map(delivered))), [false, false])
    }).pipe(Effect.scoped),
  )

  it.live("is written as delivered by the worker", () =>
    Effect.gen(function* () {
      const { isSoon, publisher, taken, worker } = yield* publisherAndSender()
      yield* publisher.run(Effect.all([newEndpoint(), newEndpoint()]))
      yield* publisher.run(publish({ idempotencyKey: "k" }))
      yield* isSoon(2)
      assert.deepStrictEqual(yield* worker.run(settle(taken.map(delivered))), [true, true])
    }).pipe(Effect.scoped),
  )

  it.live("leases as many as are offered, and nothing to endpoints without room; the rest is due", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const admin = yield* TestDatabase.administrator(url)
      const publisher = yield* startWorker(url)
      const endpoints = yield* publisher.run(Effect.forEach([1, 2, 3, 4], () => newEndpoint()))
      const { isSoon, taken } = yield* sender(url, admin, { count: 2, full: [endpoints[0]!.id] })
      const due = yield* publisher.run(Effect.flatMap(DeliveryStore, (store) => store.due))
      const signal = yield* Effect.forkChild(due)
      yield* publisher.run(publish())
      yield* isSoon(2)
      yield* Fiber.join(signal)
      assert.deepStrictEqual(
        taken.map(({ endpoint }) => endpoint.id),
        endpoints.slice(1, 3).map(({ id }) => id),
      )
      assert.deepStrictEqual(
        (yield* claimed(publisher)).map(({ endpoint }) => endpoint.id),
        [endpoints[0]!.id, endpoints[3]!.id],
      )
    }).pipe(Effect.scoped),
  )

  it.live("wakes no dispatcher when all of it was leased", () =>
    Effect.gen(function* () {
      const { admin, isSoon, publisher, url } = yield* publisherAndSender()
      yield* publisher.run(newEndpoint())
      const payloads = yield* received(admin)
      const own = yield* publisher.run(Effect.flatMap(DeliveryStore, (store) => store.due))
      const ownSignal = yield* Effect.forkChild(own)
      yield* publisher.run(publish())
      yield* isSoon(1)
      assert.isUndefined(ownSignal.pollUnsafe())
      yield* until(payloads, ({ length }) => length > 0)
      assert.strictEqual(Notices.read("billwright", (yield* payloads)[0]!)?.news, "events")

      const other = yield* startWorker(url)
      const due = yield* other.run(Effect.flatMap(DeliveryStore, (store) => store.due))
      const committed = yield* other.run(Effect.flatMap(EventStore, (store) => store.committed))
      const [dueSignal, signal] = [yield* Effect.forkChild(due), yield* Effect.forkChild(committed)]
      const notified = Effect.map(notify(admin, "billwright 0b events"), () => signal.pollUnsafe())
      yield* until(notified, (exit) => exit !== undefined)
      assert.isDefined(signal.pollUnsafe())
      assert.isUndefined(dueSignal.pollUnsafe())
    }).pipe(Effect.scoped),
  )

  it.live("leases nothing of an event of long ago, which could not be found again", () =>
    Effect.gen(function* () {
      const { publisher, taken } = yield* publisherAndSender()
      yield* publisher.run(newEndpoint())
      const timestamp = DateTime.subtract(yield* DateTime.now, { seconds: 31 })
      yield* publisher.run(publish({ timestamp }))
      assert.lengthOf(yield* claimedSoon(publisher), 1)
      assert.deepStrictEqual(taken, [])
    }).pipe(Effect.scoped),
  )

  it.live("leases nothing in a transaction of several statements", () =>
    Effect.gen(function* () {
      const { publisher, taken } = yield* publisherAndSender()
      yield* publisher.run(newEndpoint())
      yield* publisher.run(Effect.flatMap(Transactor, ({ atomically }) => atomically(publish())))
      assert.lengthOf(yield* claimedSoon(publisher), 1)
      assert.deepStrictEqual(taken, [])
    }).pipe(Effect.scoped),
  )

  it.live("leases nothing to a worker whose offer is over", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const admin = yield* TestDatabase.administrator(url)
      const other = yield* startWorker(url)
      yield* other.run(newEndpoint())
      const offer = (seconds: string) =>
        Effect.andThen(
          rows(
            admin,
            `insert into billwright.webhook_workers (worker, offered_places, lease_millis)
values ('deadbeef', 8, 3600000) on conflict (worker) do update set missed_at = null`,
          ),
          rows(
            admin,
            `select pg_advisory_lock(${offerLock("'deadbeef'", "second")}) from generate_series(${seconds}) as second`,
          ),
        )
      // A publisher of its own, which notifies of its commit.
      const publishAndClaim = Effect.andThen(
        Effect.flatMap(startWorker(url), (publisher) => publisher.run(publish())),
        claimed(other),
      )
      // It lives. Only earlier seconds, then also those that come.
      yield* rows(
        admin,
        "select pg_advisory_lock(hashtextextended('billwright worker of billwright: deadbeef', 0))",
      )
      yield* offer(`${SECOND} - 3, ${SECOND} - 1`)
      const [free] = yield* publishAndClaim
      assert.isFalse(free?.wasLost)
      yield* offer(`${SECOND}, ${SECOND} + 60`)
      assert.lengthOf(yield* publishAndClaim, 0)
      yield* rows(admin, "select pg_advisory_unlock_all()")
      assert.lengthOf(yield* publishAndClaim, 1)
    }).pipe(Effect.scoped),
  )

  it.live("leases nothing when its user may not see the workers", () =>
    Effect.gen(function* () {
      const { admin, publisher, taken, url } = yield* publisherAndSender()
      yield* publisher.run(newEndpoint())
      const name = `limited_${randomBytes(8).toString("hex")}`
      yield* Effect.acquireRelease(rows(admin, `create role ${name} login password '${name}'`), () =>
        rows(admin, `drop owned by ${name}; drop role ${name}`),
      )
      for (const kind of ["tables", "functions", "sequences"]) {
        yield* rows(admin, `grant all on all ${kind} in schema billwright to ${name}`)
      }
      yield* rows(admin, `grant usage on schema billwright to ${name}`)
      yield* rows(admin, `revoke all on billwright.webhook_workers from ${name}`)
      const limited = new URL(url)
      limited.username = name
      limited.password = name
      yield* (yield* startWorker(limited.href)).run(publish())
      assert.lengthOf(yield* claimedSoon(publisher), 1)
      assert.deepStrictEqual(taken, [])
    }).pipe(Effect.scoped),
  )
})

describe("a worker", () => {
  it.live("gives back what its dispatcher does not take, without an attempt", () =>
    Effect.gen(function* () {
      const { publisher, state, taken } = yield* publisherAndSender()
      yield* publisher.run(newEndpoint())
      state.isOpen = false
      yield* publisher.run(publish())
      const [given] = yield* claimedSoon(publisher)
      assert.deepStrictEqual([given?.attemptCount, given?.wasLost], [0, false])
      assert.deepStrictEqual(taken, [])
    }).pipe(Effect.scoped),
  )

  it.live("renews its offer, and ends it as soon as it has no more places", () =>
    Effect.gen(function* () {
      const { admin, isSoon, publisher, state } = yield* publisherAndSender({ count: 5 })
      yield* publisher.run(newEndpoint())
      // For longer than an offer is good without being renewed.
      const begunAt = Date.now()
      yield* until(
        Effect.tap(offers(admin), (found) =>
          Effect.sync(() =>
            assert.deepStrictEqual(
              found.map(({ offered_places, full_endpoints }) => [offered_places, full_endpoints]),
              [[5, "{}"]],
            ),
          ),
        ),
        () => Date.now() > begunAt + 2_500,
      )
      state.isOffering = false
      yield* publisher.run(publish())
      yield* isSoon(1)
      yield* until(offers(admin), ({ length }) => length === 0)
      // Ended, and not just over.
      const left = yield* rows(
        admin,
        `select from billwright.webhook_workers
where not pg_try_advisory_xact_lock_shared(${offerLock("worker", `${SECOND} + 1`)})`,
      )
      assert.lengthOf(left, 0)
    }).pipe(Effect.scoped),
  )

  it.live("writes its row only when what it offers has changed", () =>
    Effect.gen(function* () {
      const { admin } = yield* publisherAndSender()
      const version = rows(admin, "select xmin::text, ctid::text from billwright.webhook_workers")
      const first = yield* version
      const begunAt = Date.now()
      yield* until(offers(admin), () => Date.now() > begunAt + 2_500)
      assert.lengthOf(yield* offers(admin), 1)
      assert.deepStrictEqual(yield* version, first)
    }).pipe(Effect.scoped),
  )

  it.live("ends its offer when its dispatcher stops, and gives back what is still leased to it", () =>
    Effect.gen(function* () {
      const { admin, dispatcher, publisher, taken } = yield* publisherAndSender()
      yield* publisher.run(newEndpoint())
      const { end, publishing } = yield* publicationUnderWay(publisher, admin)
      const closing = yield* Effect.forkChild(Scope.close(dispatcher, Exit.void))
      yield* until(offers(admin), ({ length }) => length === 0)
      yield* end
      yield* Fiber.join(publishing)
      yield* Fiber.join(closing)
      const [given] = yield* claimedSoon(publisher)
      assert.deepStrictEqual([given?.attemptCount, given?.wasLost], [0, false])
      assert.deepStrictEqual(taken, [])
    }).pipe(Effect.scoped),
  )

  it.live("finds what was leased to it when its session is cut", () =>
    Effect.gen(function* () {
      const { admin, isSoon, publisher } = yield* publisherAndSender()
      yield* publisher.run(newEndpoint())
      const { end, publishing } = yield* publicationUnderWay(publisher, admin)
      const [row] = yield* rows(admin, "select worker from billwright.webhook_workers")
      yield* endSession(admin, String(row?.["worker"]))
      yield* until(
        rows(admin, "select worker from billwright.webhook_workers"),
        ([now]) => now !== undefined && now["worker"] !== row?.["worker"],
      )
      yield* end
      yield* Fiber.join(publishing)
      yield* isSoon(1)
    }).pipe(Effect.scoped),
  )

  it.live("takes nothing twice, and passes what is not a notification of ours", () =>
    Effect.gen(function* () {
      const { admin, isSoon, publisher, taken, url } = yield* publisherAndSender()
      yield* publisher.run(newEndpoint())
      const payloads = yield* received(admin)
      yield* publisher.run(publish())
      yield* isSoon(1)
      const [payload] = yield* until(payloads, ({ length }) => length > 0)
      assert.isDefined(payload)
      yield* notify(admin, payload)
      const [schema, by, kind, its, ...deliveries] = payload.split(" ")
      const twice = [schema, by, kind, its, ...deliveries, ...deliveries].join(" ")
      yield* notify(admin, twice)
      yield* notify(admin, `${payload.split(" ").slice(0, 4).join(" ")} foo bar (9,9) x`)
      // Another one, because this one has just notified.
      yield* (yield* startWorker(url)).run(publish())
      yield* isSoon(2)
      assert.lengthOf(new Set(taken.map(({ id }) => id)), 2)
      assert.lengthOf(taken, 2)
    }).pipe(Effect.scoped),
  )

  it.live("reads again when a read fails, and takes once what it was notified of twice meanwhile", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const admin = yield* TestDatabase.administrator(url)
      const publisher = yield* startWorker(url)
      yield* publisher.run(Effect.all([newEndpoint(), newEndpoint()]))
      const { isSoon, taken } = yield* sender(url, admin)
      const payloads = yield* received(admin)
      const name = "billwright.handed_deliveries"
      yield* rows(admin, `alter function ${name} rename to handed_deliveries_away`)
      yield* publisher.run(publish())
      const [payload] = yield* until(payloads, ({ length }) => length > 0)
      assert.isDefined(payload)
      yield* notify(admin, payload)
      yield* until(payloads, ({ length }) => length > 1)
      yield* rows(admin, `alter function ${name}_away rename to handed_deliveries`)
      yield* isSoon(2)
      assert.lengthOf(taken, 2)
    }).pipe(Effect.scoped),
  )

  it.live("ends its whole offer also when the answer to an earlier one was lost", () =>
    Effect.gen(function* () {
      const admin = yield* TestDatabase.administrator(yield* TestDatabase.make)
      const renew = (held: string, isOpen: boolean) =>
        rows(admin, `select billwright.renew_offer('deadbeef', ${held}, ${isOpen})::text`)
      const locks = Effect.map(
        rows(admin, "select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"),
        ({ length }) => length,
      )
      yield* renew("'{}'", true)
      assert.strictEqual(yield* locks, 2)
      // Nobody knows what was locked.
      yield* renew("null", true)
      assert.isAtMost(yield* locks, 3)
      yield* renew("null", false)
      assert.strictEqual(yield* locks, 0)
    }).pipe(Effect.scoped),
  )

  it.live("makes no offer that others see when it can't be notified", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const admin = yield* TestDatabase.administrator(url)
      const proxy = yield* Proxy.make(url)
      yield* sender(proxy.url, admin)
      // The connections are there, and nothing arrives: the offer ends, and is not renewed.
      proxy.isBlackhole = true
      proxy.isOpen = false
      yield* until(offers(admin), ({ length }) => length === 0)
    }).pipe(Effect.scoped),
  )
})
