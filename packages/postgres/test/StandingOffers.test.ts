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
import { DateTime, Deferred, Effect, Exit, Fiber, Logger, Scope } from "effect"
import type { Client } from "pg"
import * as Notices from "../src/Notices.ts"
import { GivenLeases, MAX_GIVEN } from "../src/stores/GivenLeases.ts"
import { MAX_UNREAD, UnreadDeliveries } from "../src/stores/UnreadDeliveries.ts"
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

/** The lock that a publication shares which takes the offer of a worker. */
const FOLLOWERS = "hashtextextended('billwright publications for billwright: ' || worker, 0)"

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
  const state = { isOpen: true, isOffering: true, wasAsked: false, isHeld: false }
  /** With it, an offer that was asked for is answered only then. */
  const held = Deferred.makeUnsafe<void>()
  const offer: StandingOffer = { count, full, leaseMillis: LEASE_MILLIS }
  const intake: Intake = {
    offer: () => Effect.succeed(undefined),
    standingOffer: Effect.suspend(() => {
      const wasHeld = state.isHeld
      state.wasAsked = true
      const answer = state.isOffering ? offer : undefined
      return Effect.as(wasHeld ? Deferred.await(held) : Effect.void, answer)
    }),
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
    held,
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

/** Waits for due deliveries and takes what is handed over, as a dispatcher does. */
const startDispatcher = Effect.fnUntraced(function* (worker: Worker, options?: IntakeOptions) {
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
  return { ...own, stop: Scope.close(dispatcher, Exit.void) }
})

/** A worker with a dispatcher, whose offer others can see. */
const sender = Effect.fnUntraced(function* (url: string, admin: Client, options?: IntakeOptions) {
  const worker = yield* startWorker(url)
  const dispatcher = yield* startDispatcher(worker, options)
  yield* until(offers(admin), ({ length }) => length > 0)
  return { ...dispatcher, worker }
})

/** A publisher, and a sender whose offer others can see. */
const publisherAndSender = Effect.fnUntraced(function* (options?: IntakeOptions) {
  const url = yield* TestDatabase.make
  const admin = yield* TestDatabase.administrator(url)
  const publisher = yield* startWorker(url)
  return { url, admin, publisher, ...(yield* sender(url, admin, options)) }
})

/** A publisher, and a sender with two dispatchers that both offer places. */
const publisherAndTwoDispatchers = Effect.fnUntraced(function* () {
  const { admin, publisher, url, worker, ...first } = yield* publisherAndSender()
  const second = yield* startDispatcher(worker)
  yield* until(
    Effect.sync(() => second.state.wasAsked),
    (wasAsked) => wasAsked,
  )
  return { url, admin, publisher, worker, first, second }
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
      const { admin, publisher, stop, taken } = yield* publisherAndSender()
      yield* publisher.run(newEndpoint())
      const { end, publishing } = yield* publicationUnderWay(publisher, admin)
      const closing = yield* Effect.forkChild(stop)
      yield* until(offers(admin), ({ length }) => length === 0)
      yield* end
      yield* Fiber.join(publishing)
      yield* Fiber.join(closing)
      const [given] = yield* claimedSoon(publisher)
      assert.deepStrictEqual([given?.attemptCount, given?.wasLost], [0, false])
      assert.deepStrictEqual(taken, [])
    }).pipe(Effect.scoped),
  )

  it.live("offers nothing any more when its dispatcher stops, also what was asked for before", () =>
    Effect.gen(function* () {
      const { admin, held, state, stop } = yield* publisherAndSender()
      const wasAsked = until(
        Effect.sync(() => state.wasAsked),
        (isSo) => isSo,
      )
      Object.assign(state, { isHeld: true, wasAsked: false })
      yield* wasAsked
      yield* rows(admin, `select pg_advisory_lock_shared(${FOLLOWERS}) from billwright.webhook_workers`)
      const stopping = yield* Effect.forkChild(stop)
      yield* until(offers(admin), ({ length }) => length === 0)
      Object.assign(state, { isHeld: false, isOffering: true, wasAsked: false })
      yield* Deferred.succeed(held, undefined)
      yield* wasAsked
      assert.deepStrictEqual(yield* offers(admin), [])
      yield* rows(admin, "select pg_advisory_unlock_all()")
      yield* Fiber.join(stopping)
    }).pipe(Effect.scoped),
  )

  it.live("gives what is leased to it to one of its dispatchers, once", () =>
    Effect.gen(function* () {
      const { first, publisher, second, url } = yield* publisherAndTwoDispatchers()
      const both = Effect.sync(() => [...first.taken, ...second.taken].map(({ id }) => id))
      yield* publisher.run(Effect.all([newEndpoint(), newEndpoint()]))
      yield* publisher.run(publish())
      assert.lengthOf(yield* until(both, ({ length }) => length >= 2), 2)
      // Another one, because this one has just notified.
      yield* (yield* startWorker(url)).run(publish())
      const ids = yield* until(both, ({ length }) => length >= 4)
      assert.lengthOf(ids, 4)
      assert.lengthOf(new Set(ids), 4)
    }).pipe(Effect.scoped),
  )

  it.live("gives what is leased to it to its other dispatcher when one stops, and goes on", () =>
    Effect.gen(function* () {
      const { admin, first, publisher, second, url } = yield* publisherAndTwoDispatchers()
      yield* publisher.run(newEndpoint())
      const { end, publishing } = yield* publicationUnderWay(publisher, admin)
      const stopping = yield* Effect.forkChild(first.stop)
      yield* until(
        Effect.sync(() => first.state.isOpen),
        (isOpen) => !isOpen,
      )
      yield* end
      yield* Fiber.join(publishing)
      yield* Fiber.join(stopping)
      yield* second.isSoon(1)
      yield* until(offers(admin), ({ length }) => length > 0)
      yield* (yield* startWorker(url)).run(publish())
      yield* second.isSoon(2)
      assert.lengthOf(new Set(second.taken.map(({ id }) => id)), 2)
      assert.deepStrictEqual(first.taken, [])
    }).pipe(Effect.scoped),
  )

  it.live(
    "says so when its last dispatcher has to stop while a publication may still lease something",
    () => {
      const logged: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => logged.push(`${logLevel} ${String(message)}`))
      return Effect.gen(function* () {
        const { admin, first, second } = yield* publisherAndTwoDispatchers()
        // As a publication does that takes its offer.
        yield* rows(admin, `select pg_advisory_lock_shared(${FOLLOWERS}) from billwright.webhook_workers`)
        yield* first.stop
        assert.deepStrictEqual(logged, [])
        yield* second.stop
        assert.lengthOf(logged, 1)
        assert.match(logged[0]!, /^Warn a dispatcher stopped .* may go on only when their leases end$/)
      }).pipe(Effect.scoped, Effect.provide(Logger.layer([logger])))
    },
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

/** Deliveries that were leased, with numbers instead of UUIDs. */
const numbered = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    worker: "deadbeef",
    id: String(first + index),
    place: "(0,1)",
  }))

const idsOf = (handed: ReadonlyArray<Notices.Handed>) => handed.map(({ id }) => id)

describe("deliveries that were not read yet", () => {
  it("are read in their order, and stay until they are removed", () => {
    const unread = new UnreadDeliveries()
    unread.add(numbered(1, 2), 0)
    unread.add(numbered(3, 1), 0)
    assert.deepStrictEqual(idsOf(unread.first(2)), ["1", "2"])
    assert.strictEqual(unread.size, 3)
    unread.removeFirst(2)
    assert.deepStrictEqual(idsOf(unread.first(2)), ["3"])
  })

  it("are so many at most; those that come then are left to their leases", () => {
    const unread = new UnreadDeliveries()
    unread.add(numbered(1, MAX_UNREAD - 1), 0)
    unread.add(numbered(MAX_UNREAD, 2), 0)
    assert.strictEqual(unread.size, MAX_UNREAD)
    assert.strictEqual(unread.first(MAX_UNREAD).at(-1)?.id, String(MAX_UNREAD))
    unread.removeFirst(1)
    unread.add(numbered(MAX_UNREAD + 2, 1), 0)
    assert.strictEqual(unread.first(MAX_UNREAD).at(-1)?.id, String(MAX_UNREAD + 2))
  })

  it("are left to their leases when they can't be read for 30 seconds", () => {
    const unread = new UnreadDeliveries()
    unread.add(numbered(1, 2), 0)
    unread.add(numbered(3, 1), 1)
    unread.removeLate(29_999)
    assert.deepStrictEqual(idsOf(unread.first(3)), ["1", "2", "3"])
    unread.removeLate(30_000)
    assert.deepStrictEqual(idsOf(unread.first(3)), ["3"])
  })
})

describe("the leases that were given", () => {
  const lease = (number: number) => ({ token: `${number} (0,${number})` })

  it("are given once, wherever their row is", () => {
    const given = new GivenLeases()
    assert.deepStrictEqual(given.neverGiven([lease(1), lease(2), lease(1)]), [lease(1), lease(2)])
    assert.deepStrictEqual(given.neverGiven([{ token: "1 (9,9)" }, lease(3)]), [lease(3)])
  })

  it("are forgotten from the oldest on, when there are too many", () => {
    const given = new GivenLeases()
    given.neverGiven(Array.from({ length: MAX_GIVEN + 1 }, (_, index) => lease(index)))
    assert.deepStrictEqual(given.neverGiven([lease(1), lease(0)]), [lease(0)])
  })
})
