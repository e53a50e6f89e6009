import {
  Customers,
  Idempotency,
  IdempotencyKeyReused,
  IdempotencyStore,
  RequestInProgress,
  type StoredResponse,
} from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { acmeTest, as, globex, inWorld, listen, newCustomer } from "../world.ts"

const request = { method: "POST", path: "/v1/customers", key: "key-1", fingerprint: "a" }
const WEEK = 7 * 86_400_000

/** Makes a customer and answers with its id. */
const create = Effect.map(newCustomer(), ({ id }): StoredResponse => ({ status: 201, body: id }))
const createThenFail = Effect.andThen(newCustomer(), Effect.fail("conflict" as const))
const never = (): Option.Option<StoredResponse> => Option.none()
/** Every failure is an answer. */
const rejected = (error: unknown) =>
  Option.some<StoredResponse>({ status: 409, body: typeof error === "string" ? error : "" })

const customerCount = Effect.gen(function* () {
  return (yield* (yield* Customers).list()).data.length
})
const rowCount = Effect.gen(function* () {
  return (yield* (yield* MemoryInspector).snapshot).idempotency.length
})

describe("Idempotency.run", () => {
  it.effect("does the work once and gives a repeat the same answer", () =>
    Effect.gen(function* () {
      const { run } = yield* Idempotency
      const first = yield* run(request, create, never)
      assert.strictEqual(first.isReplay, false)
      const repeat = yield* run(request, Effect.die("ran again"), never)
      assert.deepStrictEqual(repeat, { response: first.response, isReplay: true })
      assert.strictEqual(yield* customerCount, 1)
    }).pipe(inWorld()),
  )

  it.effect("tells requests apart by key, method, path, account and mode", () =>
    Effect.gen(function* () {
      const { run } = yield* Idempotency
      const answers = [
        yield* run(request, create, never),
        yield* run({ ...request, key: "key-2" }, create, never),
        yield* run({ ...request, key: "KEY-1" }, create, never),
        yield* run({ ...request, method: "PATCH" }, create, never),
        yield* run({ ...request, path: "/v1/usage" }, create, never),
        yield* as(acmeTest)(run(request, create, never)),
        yield* as(globex)(run(request, create, never)),
      ]
      assert.isTrue(answers.every(({ isReplay }) => !isReplay))
      assert.strictEqual(new Set(answers.map(({ response }) => response.body)).size, 7)
    }).pipe(inWorld()),
  )

  it.effect("refuses the key for another request", () =>
    Effect.gen(function* () {
      const { run } = yield* Idempotency
      yield* run(request, create, never)
      const error = yield* Effect.flip(run({ ...request, fingerprint: "b" }, create, never))
      assert.instanceOf(error, IdempotencyKeyReused)
      assert.strictEqual(
        error.message,
        "the Idempotency-Key was already used for a request with other content",
      )
      assert.strictEqual(yield* customerCount, 1)
    }).pipe(inWorld()),
  )

  it.effect("refuses a repeat while the request is running", () =>
    Effect.gen(function* () {
      const { run } = yield* Idempotency
      const started = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const slow = Effect.andThen(
        Effect.andThen(Deferred.succeed(started, undefined), Deferred.await(goOn)),
        create,
      )
      const running = yield* Effect.forkChild(run(request, slow, never))
      yield* Deferred.await(started)
      for (const fingerprint of ["a", "b"]) {
        const error = yield* Effect.flip(run({ ...request, fingerprint }, create, never))
        assert.instanceOf(error, RequestInProgress)
        assert.strictEqual(error.message, "a request with the same Idempotency-Key is still running")
      }
      yield* Deferred.succeed(goOn, undefined)
      const first = yield* Fiber.join(running)
      assert.deepStrictEqual(yield* run(request, create, never), { response: first.response, isReplay: true })
      assert.strictEqual(yield* customerCount, 1)
    }).pipe(inWorld()),
  )

  it.effect("remembers a rejection, and undoes what the failed run changed", () =>
    Effect.gen(function* () {
      const { run } = yield* Idempotency
      const first = yield* run(request, createThenFail, rejected)
      assert.deepStrictEqual(first, { response: { status: 409, body: "conflict" }, isReplay: false })
      assert.strictEqual(yield* customerCount, 0)
      const repeat = yield* run(request, create, never)
      assert.deepStrictEqual(repeat, { response: first.response, isReplay: true })
      assert.strictEqual(yield* customerCount, 0)
      assert.instanceOf(
        yield* Effect.flip(run({ ...request, fingerprint: "b" }, create, never)),
        IdempotencyKeyReused,
      )
    }).pipe(inWorld()),
  )

  it.effect("remembers no failure that a repeat should try anew", () =>
    Effect.gen(function* () {
      const { run } = yield* Idempotency
      assert.strictEqual(yield* Effect.flip(run(request, createThenFail, never)), "conflict")
      assert.strictEqual(yield* customerCount, 0)
      assert.strictEqual(yield* rowCount, 0)
      assert.isFalse((yield* run(request, create, never)).isReplay)
    }).pipe(inWorld()),
  )

  it.effect("remembers no run that died or was interrupted", () =>
    Effect.gen(function* () {
      const { run } = yield* Idempotency
      yield* Effect.exit(run(request, Effect.andThen(newCustomer(), Effect.die("bug")), rejected))
      const hanging = yield* Effect.forkChild(
        run(request, Effect.andThen(newCustomer(), Effect.never), rejected),
        {
          startImmediately: true,
        },
      )
      yield* Effect.yieldNow
      yield* Fiber.interrupt(hanging)
      assert.strictEqual(yield* customerCount, 0)
      assert.isFalse((yield* run(request, create, never)).isReplay)
    }).pipe(inWorld()),
  )

  it.effect("passes on the errors of its own kind that the request fails with", () =>
    Effect.gen(function* () {
      const { run } = yield* Idempotency
      const inner = new RequestInProgress()
      assert.strictEqual(yield* Effect.flip(run(request, Effect.fail(inner), never)), inner)
      const answer = yield* run(request, Effect.fail(inner), ({ _tag }) => rejected(_tag))
      assert.strictEqual(answer.response.body, "RequestInProgress")
    }).pipe(inWorld()),
  )

  it.effect("keeps an answer for 7 days", () =>
    Effect.gen(function* () {
      const { run } = yield* Idempotency
      yield* run(request, create, never)
      yield* TestClock.adjust(WEEK)
      assert.isTrue((yield* run(request, create, never)).isReplay)
      yield* TestClock.adjust(1)
      assert.isFalse((yield* run({ ...request, fingerprint: "b" }, create, never)).isReplay)
      // Its time starts anew.
      yield* TestClock.adjust(WEEK)
      assert.isTrue((yield* run({ ...request, fingerprint: "b" }, create, never)).isReplay)
    }).pipe(inWorld()),
  )

  it.effect("keeps a rejection as long", () =>
    Effect.gen(function* () {
      const { run } = yield* Idempotency
      yield* run(request, createThenFail, rejected)
      yield* TestClock.adjust(1_000)
      assert.isTrue((yield* run(request, create, never)).isReplay)
      yield* TestClock.adjust(1)
      assert.isFalse((yield* run(request, create, never)).isReplay)
    }).pipe(inWorld({ idempotency: { retentionMillis: 1_000 } })),
  )
})

describe("Idempotency.sweep", () => {
  it.effect("removes what has expired, of all tenants, in batches of 1,000", () =>
    Effect.gen(function* () {
      const { run, sweep } = yield* Idempotency
      const answer = Effect.succeed<StoredResponse>({ status: 200, body: "" })
      yield* as(globex)(run(request, answer, never))
      for (let i = 0; i < 1_000; i++) yield* run({ ...request, key: `k${i}` }, answer, never)
      yield* TestClock.adjust(1_001)
      yield* run({ ...request, key: "young" }, answer, never)
      assert.strictEqual(yield* sweep, 1_000)
      assert.strictEqual(yield* sweep, 1)
      assert.strictEqual(yield* sweep, 0)
      assert.strictEqual(yield* rowCount, 1)
    }).pipe(inWorld({ idempotency: { retentionMillis: 1_000 } })),
  )

  it.effect("runs again after a bug", () => {
    const { logged, logger } = listen()
    let sweeps = 0
    const broken = Layer.effect(
      IdempotencyStore,
      Effect.map(IdempotencyStore, (store) =>
        IdempotencyStore.of({
          ...store,
          sweep: (...asked) => (sweeps++ === 0 ? Effect.die(new Error("a bug")) : store.sweep(...asked)),
        }),
      ),
    )
    return Effect.gen(function* () {
      yield* TestClock.adjust("20 minutes")
      assert.isAbove(sweeps, 1)
      assert.deepStrictEqual(logged, ["expired idempotency keys were not swept"])
    }).pipe(
      Effect.provide(Layer.fresh(Idempotency.layerWith({})).pipe(Layer.provide(broken))),
      inWorld(),
      Effect.provide(logger),
    )
  })

  it.effect("runs by itself every 10 minutes", () =>
    Effect.gen(function* () {
      const { run } = yield* Idempotency
      for (let round = 0; round < 3; round++) {
        yield* run(request, create, never)
        assert.strictEqual(yield* rowCount, 1)
        yield* TestClock.adjust("9 minutes")
        assert.strictEqual(yield* rowCount, 1)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* rowCount, 0)
      }
    }).pipe(inWorld({ idempotency: { retentionMillis: 1_000 } })),
  )
})
