/**
 * The contract of `IdempotencyStore`.
 */
import {
  Collections,
  Customer,
  IdempotencyStore,
  type IdempotentRequest,
  type StoredResponse,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Deferred, Effect, Exit, Fiber } from "effect"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, otherTenants, pause, same, times, together } from "./ContractTest.ts"

const created: StoredResponse = { status: 201, body: '{"id":"cus_1","name":"Ünïcødé 🧾"}\n' }
const now = Sample.CREATED_AT
const lifetime = { now, expiresAt: DateTime.add(now, { days: 7 }) }

/** Runs a request that answers `created`. Fails the test if the request runs although it should not. */
const once = (
  request: IdempotentRequest,
  effect: Effect.Effect<StoredResponse, string> = Effect.succeed(created),
) => Effect.flatMap(IdempotencyStore, (store) => store.once(request, lifetime, effect))

const mustNotRun = Effect.die(new Error("the effect ran"))

const ran = (response: StoredResponse = created) => ({ _tag: "Ran", response })
const replayed = (response: StoredResponse = created) => ({ _tag: "Replayed", response })

const answers = (test: ContractTest): void => {
  test(
    "deletes the answers about a subject, and no others",
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const tenants = yield* otherTenants
      const about = (subject: string): StoredResponse => ({ ...created, subject })
      const [one, other, elsewhere] = ["one", "other", "elsewhere"].map((key) => Sample.request({ key }))
      yield* once(one!, Effect.succeed(about("cus_1")))
      yield* once(other!, Effect.succeed(about("cus_2")))
      for (const tenant of tenants) {
        yield* once(elsewhere!, Effect.succeed(about("cus_1"))).pipe(asTenant(tenant))
      }
      yield* store.forget("cus_1")
      same(yield* once(other!, mustNotRun), replayed())
      for (const tenant of tenants) {
        same(yield* once(elsewhere!, mustNotRun).pipe(asTenant(tenant)), replayed())
      }
      same(yield* once(one!), ran())
    }),
  )

  test(
    "empties the answers about a subject, and no others",
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const { atomically } = yield* Transactor
      const tenants = yield* otherTenants
      const about = (subject: string): StoredResponse => ({ ...created, subject })
      const [one, other, elsewhere] = ["one", "other", "elsewhere"].map((key) => Sample.request({ key }))
      yield* once(one!, Effect.succeed(about("of cus_1")))
      yield* once(other!, Effect.succeed(about("cus_1")))
      for (const tenant of tenants) {
        yield* once(elsewhere!, Effect.succeed(about("of cus_1"))).pipe(asTenant(tenant))
      }
      yield* Effect.exit(atomically(Effect.andThen(store.redact("of cus_1"), Effect.fail("undone"))))
      same(yield* once(one!, mustNotRun), replayed())
      yield* store.redact("of cus_1")
      same(yield* once(other!, mustNotRun), replayed())
      for (const tenant of tenants) {
        same(yield* once(elsewhere!, mustNotRun).pipe(asTenant(tenant)), replayed())
      }
      same(yield* once(one!, mustNotRun), replayed({ ...created, body: "" }))
    }),
  )

  test(
    "runs a request once, and then returns the same status and the same bytes",
    Effect.gen(function* () {
      for (const [index, response] of [
        created,
        { status: 204, body: "" },
        { status: 400, body: `"${"💶".repeat(50_000)}"` },
      ].entries()) {
        const request = Sample.request({ key: `key ${index}` })
        same(yield* once(request, Effect.succeed(response)), ran(response))
        same(yield* once(request, mustNotRun), replayed(response))
        same(yield* once(request, mustNotRun), replayed(response))
      }
    }),
  )

  test(
    "detects a different request with the same key",
    Effect.gen(function* () {
      same(yield* once(Sample.request()), ran())
      same(yield* once(Sample.request({ fingerprint: "0".repeat(64) }), mustNotRun), { _tag: "Reused" })
      same(yield* once(Sample.request(), mustNotRun), replayed())
    }),
  )

  test(
    "separates answers by method, path, key and tenant, and by nothing else",
    Effect.gen(function* () {
      yield* once(Sample.request())
      same(yield* once(Sample.request({ method: "PUT" })), ran())
      same(yield* once(Sample.request({ path: "/v1/usage" })), ran())
      same(yield* once(Sample.request({ key: "order-1002" })), ran())
      same(yield* once(Sample.request({ key: "ORDER-1001" })), ran())
      // Pairs of parts that give the same text when joined.
      same(yield* once(Sample.request({ path: "/v1", key: "/a" })), ran())
      same(yield* once(Sample.request({ path: "/v1/", key: "a" })), ran())
      for (const tenant of yield* otherTenants) {
        same(yield* once(Sample.request()).pipe(asTenant(tenant)), ran())
      }
      same(yield* once(Sample.request(), mustNotRun), replayed())
    }),
  )

  test(
    "deletes the answer of a request that has expired",
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const second = { status: 200, body: "second" }
      const request = Sample.request()
      yield* once(request)
      const after = (milliseconds: number) => {
        const at = DateTime.add(lifetime.expiresAt, { milliseconds })
        return { now: at, expiresAt: DateTime.add(at, { days: 1 }) }
      }
      same(yield* store.once(request, after(-1), mustNotRun), replayed())
      // The fingerprint differs, because the request counts as a new one.
      const renewed = { ...request, fingerprint: "0".repeat(64) }
      same(yield* store.once(renewed, after(1), Effect.succeed(second)), ran(second))
      same(yield* store.once(renewed, after(2), mustNotRun), replayed(second))
      same(yield* store.once(request, after(2), mustNotRun), { _tag: "Reused" })
    }),
  )

  test(
    "sweeps expired answers up to a limit, and no others",
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      // Far in the past, when no row of another test has expired.
      const then = (day: number) => Sample.instant(`1971-01-0${day}T00:00:00Z`)
      const sweepAll = Effect.gen(function* () {
        let total = 0
        for (;;) {
          const swept = yield* store.sweep(then(5), 2)
          assert.isAtMost(swept, 2)
          total += swept
          if (swept === 0) return total
        }
      })
      yield* sweepAll
      const put = (key: string, expiresAt: DateTime.Utc) =>
        store.once(Sample.request({ key }), { now: then(1), expiresAt }, Effect.succeed(created))
      for (const index of times(5, (n) => n)) yield* put(`old ${index}`, then(4))
      yield* put("young", then(6))
      assert.isAtLeast(yield* sweepAll, 5)
      const again = { now: then(2), expiresAt: then(3) }
      same(yield* store.once(Sample.request({ key: "old 0" }), again, Effect.succeed(created)), ran())
      same(yield* store.once(Sample.request({ key: "young" }), again, mustNotRun), replayed())
    }),
  )
}

const transactions = (test: ContractTest): void => {
  test(
    "stores the changes together with the answer, or neither",
    Effect.gen(function* () {
      const customers = (yield* Collections).of(Customer.customers)
      const { atomically, inTransaction } = yield* Transactor
      const store = yield* IdempotencyStore
      const customer = yield* Sample.customer()
      const create = Effect.gen(function* () {
        assert.isTrue(yield* inTransaction)
        yield* customers.insert(customer)
        return created
      })
      const exits = [
        yield* Effect.exit(store.once(Sample.request(), lifetime, Effect.andThen(create, Effect.fail("no")))),
        yield* Effect.exit(
          store.once(Sample.request(), lifetime, Effect.andThen(create, Effect.die("broken"))),
        ),
        yield* Effect.exit(
          atomically(Effect.andThen(store.once(Sample.request(), lifetime, create), Effect.fail("outer"))),
        ),
      ]
      assert.deepStrictEqual(exits, [Exit.fail("no"), Exit.die("broken"), Exit.fail("outer")])
      same(yield* customers.status(customer.id), "unknown")
      same(yield* store.once(Sample.request(), lifetime, create), ran())
      same(yield* customers.status(customer.id), "active")
    }),
  )

  test(
    "leaves nothing of an interrupted run",
    Effect.gen(function* () {
      const customers = (yield* Collections).of(Customer.customers)
      const store = yield* IdempotencyStore
      const customer = yield* Sample.customer()
      const hasWritten = yield* Deferred.make<void>()
      const stuck = customers
        .insert(customer)
        .pipe(Effect.andThen(Deferred.succeed(hasWritten, undefined)), Effect.andThen(Effect.never))
      const fiber = yield* Effect.forkChild(store.once(Sample.request(), lifetime, stuck))
      yield* Deferred.await(hasWritten)
      yield* Fiber.interrupt(fiber)
      same(yield* customers.status(customer.id), "unknown")
      same(yield* once(Sample.request()), ran())
    }),
  )

  test(
    "replays the answer within the transaction that ran the request",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const outcomes = yield* atomically(
        Effect.all([once(Sample.request()), once(Sample.request(), mustNotRun)]),
      )
      same(outcomes, [ran(), replayed()])
    }),
  )

  test(
    "runs the request again after a savepoint undid the first run",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const outcome = yield* atomically(
        Effect.gen(function* () {
          yield* Effect.ignore(atomically(Effect.andThen(once(Sample.request()), Effect.fail("no"))))
          return yield* once(Sample.request())
        }),
      )
      same(outcome, ran())
      same(yield* once(Sample.request(), mustNotRun), replayed())
    }),
  )
}

const concurrency = (test: ContractTest): void => {
  test(
    "answers Running at once while a request with the same key is running",
    Effect.gen(function* () {
      const isRunning = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const slow = Deferred.succeed(isRunning, undefined).pipe(
        Effect.andThen(Deferred.await(mayEnd)),
        Effect.as(created),
      )
      const first = yield* Effect.forkChild(once(Sample.request(), slow))
      yield* Deferred.await(isRunning)
      // If this waited it would hang, because the first run ends only afterwards.
      same(yield* once(Sample.request(), mustNotRun), { _tag: "Running" })
      same(yield* once(Sample.request({ fingerprint: "0".repeat(64) }), mustNotRun), { _tag: "Running" })
      yield* Deferred.succeed(mayEnd, undefined)
      same(yield* Fiber.join(first), ran())
      same(yield* once(Sample.request(), mustNotRun), replayed())
    }),
  )

  test(
    "answers Running while the transaction of the first run is open",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const hasRun = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(
        atomically(
          Effect.gen(function* () {
            yield* once(Sample.request())
            yield* Deferred.succeed(hasRun, undefined)
            yield* Deferred.await(mayEnd)
            return yield* Effect.fail("no")
          }),
        ).pipe(Effect.ignore),
      )
      yield* Deferred.await(hasRun)
      same(yield* once(Sample.request(), mustNotRun), { _tag: "Running" })
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(holder)
      same(yield* once(Sample.request()), ran())
    }),
  )

  test(
    "runs the request again after the first run has failed",
    Effect.gen(function* () {
      const isRunning = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const failing = Deferred.succeed(isRunning, undefined).pipe(
        Effect.andThen(Deferred.await(mayEnd)),
        Effect.andThen(Effect.fail("no")),
      )
      const first = yield* Effect.forkChild(Effect.exit(once(Sample.request(), failing)))
      yield* Deferred.await(isRunning)
      same(yield* once(Sample.request(), mustNotRun), { _tag: "Running" })
      yield* Deferred.succeed(mayEnd, undefined)
      assert.deepStrictEqual(yield* Fiber.join(first), Exit.fail("no"))
      same(yield* once(Sample.request()), ran())
    }),
  )

  test(
    "runs one of many concurrent requests with the same key",
    Effect.gen(function* () {
      let runs = 0
      const counted = pause.pipe(Effect.andThen(Effect.sync(() => runs++)), Effect.as(created))
      const store = yield* IdempotencyStore
      const outcomes = yield* together(times(20, () => store.once(Sample.request(), lifetime, counted)))
      assert.strictEqual(runs, 1)
      assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Ran").length, 1)
      for (const outcome of outcomes) assert.include(["Ran", "Replayed", "Running"], outcome._tag)
      same(yield* once(Sample.request(), mustNotRun), replayed())
    }),
  )

  test(
    "runs all concurrent requests with different keys",
    Effect.gen(function* () {
      const outcomes = yield* together(times(20, (index) => once(Sample.request({ key: `order-${index}` }))))
      same(
        outcomes,
        times(20, () => ran()),
      )
    }),
  )
}

export const idempotencyContract = (test: ContractTest): void => {
  test.section("IdempotencyStore", () => {
    test.section("answers", () => answers(test))
    test.section("transactions", () => transactions(test))
    test.section("concurrency", () => concurrency(test))
  })
}
