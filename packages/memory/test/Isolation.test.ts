import {
  Billing,
  Collections,
  CurrentTenant,
  Customer,
  IdempotencyStore,
  Tenant,
  Transactor,
  UsageStore,
} from "@billwright/core"
import { Memory, MemoryInspector, TransactionEnded } from "@billwright/memory"
import { forAll, plain, Sample } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { Cause, DateTime, Deferred, Effect, Exit, Fiber, Layer, Option } from "effect"
import * as fc from "fast-check"

const tenant = { accountId: Tenant.defaultAccountId, mode: "live" as const }
const services = Billing.layer.pipe(
  Layer.provideMerge(Memory.layer),
  Layer.merge(Layer.succeed(CurrentTenant, tenant)),
)

const yields = (times: number) => Effect.repeat(Effect.yieldNow, { times })

const insert = Effect.fnUntraced(function* () {
  const customer = yield* Sample.customer()
  yield* (yield* Collections).of(Customer.customers).insert(customer)
  return customer.id
})

const total = Effect.fnUntraced(function* (customerId: Effect.Success<typeof Sample.customerId>) {
  const query = { customerId, productId: undefined, unit: undefined, boundaries: [undefined, undefined] }
  const totals = yield* (yield* UsageStore).totals({ ...query, by: "meter" })
  return totals[0]?.quantity ?? 0n
})

const endedBy = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof TransactionEnded

describe("isolation", () => {
  it.effect("makes every other call wait while a transaction is open, in the order of the calls", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const store = (yield* Collections).of(Customer.customers)
      const id = yield* insert()
      const mayEnd = yield* Deferred.make<void>()
      const log: Array<string> = []
      const logged = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) =>
        Effect.forkChild(Effect.tap(effect, () => Effect.sync(() => log.push(name))))
      const holder = yield* logged(
        "holder",
        atomically(Effect.andThen(store.remove(id), Deferred.await(mayEnd))),
      )
      yield* yields(5)
      const others = [
        yield* logged("reader", store.status(id)),
        yield* logged("transaction", atomically(Effect.andThen(yields(3), store.status(id)))),
        yield* logged("writer", store.remove(id)),
        yield* logged("inspector", (yield* MemoryInspector).snapshot),
      ]
      yield* yields(20)
      assert.deepStrictEqual(log, [])
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(holder)
      yield* Fiber.joinAll(others)
      assert.deepStrictEqual(log, ["holder", "reader", "transaction", "writer", "inspector"])
    }).pipe(Effect.provide(services)),
  )

  it.effect("runs transactions as if one after another, however their fibers interleave", () =>
    forAll(
      fc.array(fc.record({ before: fc.nat(4), between: fc.nat(4), fails: fc.boolean() }), {
        minLength: 2,
        maxLength: 8,
      }),
      { runs: 50 },
      (plans) =>
        Effect.gen(function* () {
          const { atomically } = yield* Transactor
          const usage = yield* UsageStore
          const id = yield* insert()
          const run = ({ before, between, fails }: (typeof plans)[number]) =>
            Effect.gen(function* () {
              yield* yields(before)
              const read = yield* atomically(
                Effect.gen(function* () {
                  const seen = yield* total(id)
                  yield* yields(between)
                  yield* usage.append([yield* Sample.record(id)])
                  yield* yields(between)
                  // No other transaction has written in between.
                  assert.strictEqual(yield* total(id), seen + 1n)
                  return fails ? yield* Effect.fail("no") : seen
                }),
              ).pipe(Effect.option)
              return Option.toArray(read)
            })
          const seen = (yield* Effect.all(plans.map(run), { concurrency: "unbounded" })).flat()
          // Each read another value: 0, 1, 2, …
          assert.deepStrictEqual(
            seen.sort((a, b) => Number(a - b)),
            seen.map((_, index) => BigInt(index)),
          )
          assert.strictEqual(yield* total(id), BigInt(seen.length))
        }),
    ).pipe(Effect.provide(services)),
  )

  it.effect("leaves nothing and blocks no other call, wherever it is interrupted", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const usage = yield* UsageStore
      const idempotency = yield* IdempotencyStore
      const { snapshot } = yield* MemoryInspector
      const id = yield* insert()
      const lifetime = { now: Sample.CREATED_AT, expiresAt: DateTime.add(Sample.CREATED_AT, { days: 1 }) }
      const work = atomically(
        Effect.gen(function* () {
          yield* Effect.yieldNow
          yield* usage.append([yield* Sample.record(id, { idempotencyKey: "k" })])
          yield* Effect.yieldNow
          yield* atomically(Effect.andThen(insert(), Effect.yieldNow))
          yield* idempotency.once(
            Sample.request(),
            lifetime,
            Effect.as(Effect.yieldNow, { status: 200, body: "" }),
          )
          yield* Effect.yieldNow
        }),
      )
      const before = plain(yield* snapshot)
      let interrupted = 0
      for (let steps = 0; ; steps++) {
        const blocker = yield* Effect.forkChild(atomically(yields(3)))
        const fiber = yield* Effect.forkChild(work)
        yield* yields(steps)
        yield* Fiber.interrupt(fiber)
        const exit = yield* Fiber.await(fiber)
        yield* Fiber.join(blocker)
        if (Exit.isSuccess(exit)) break
        interrupted++
        assert.deepStrictEqual(plain(yield* snapshot), before)
      }
      assert.isAbove(interrupted, 5)
      assert.strictEqual(yield* total(id), 1n)
    }).pipe(Effect.provide(services)),
  )

  it.effect("undoes only a savepoint while other fibers of the transaction write", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const usage = yield* UsageStore
      const id = yield* insert()
      const append = Effect.fnUntraced(function* (quantity: number) {
        yield* usage.append([yield* Sample.record(id, { quantity })])
      })
      const failing = Effect.ignore(
        atomically(append(100).pipe(Effect.andThen(yields(5)), Effect.andThen(Effect.fail("no")))),
      )
      const lasting = atomically(append(10).pipe(Effect.andThen(yields(5)), Effect.andThen(append(10))))
      const plain = Effect.andThen(yields(2), append(1))
      yield* atomically(Effect.all([failing, lasting, plain, failing], { concurrency: "unbounded" }))
      assert.strictEqual(yield* total(id), 21n)
    }).pipe(Effect.provide(services)),
  )

  it.effect("works with ten thousand waiting calls", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const usage = yield* UsageStore
      const id = yield* insert()
      const one = Effect.flatMap(Sample.record(id), (record) => usage.append([record]))
      const ten = 10_000
      yield* Effect.all(
        Array.from({ length: ten }, (_, index) =>
          index === 0 ? atomically(Effect.andThen(yields(9), one)) : atomically(one),
        ),
        { concurrency: "unbounded", discard: true },
      )
      assert.strictEqual(yield* total(id), BigInt(ten))
    }).pipe(Effect.provide(services)),
  )
})

describe("a fiber that outlives its transaction", () => {
  it.effect("dies when it uses the storage, and changes nothing", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const { snapshot } = yield* MemoryInspector
      const id = yield* insert()
      const go = yield* Deferred.make<void>()
      const leaked = yield* atomically(
        Effect.forkDetach(
          Effect.andThen(
            Deferred.await(go),
            Effect.all([Effect.exit(insert()), Effect.exit(total(id)), Effect.exit(atomically(insert()))]),
          ),
        ),
      )
      const before = plain(yield* snapshot)
      yield* Deferred.succeed(go, undefined)
      for (const exit of yield* Fiber.join(leaked)) assert.isTrue(endedBy(exit))
      assert.deepStrictEqual(plain(yield* snapshot), before)
    }).pipe(Effect.provide(services)),
  )

  it.effect("gets the savepoint undone that it left open", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const usage = yield* UsageStore
      const id = yield* insert()
      const isOpen = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const append = (quantity: number) =>
        Effect.flatMap(Sample.record(id, { quantity }), (record) => usage.append([record]))
      const leaked = yield* atomically(
        Effect.gen(function* () {
          yield* append(1)
          const fiber = yield* Effect.forkDetach(
            Effect.exit(
              atomically(
                append(10).pipe(
                  Effect.andThen(atomically(append(100))),
                  Effect.andThen(Deferred.succeed(isOpen, undefined)),
                  Effect.andThen(Deferred.await(go)),
                ),
              ),
            ),
          )
          yield* Deferred.await(isOpen)
          return fiber
        }),
      )
      assert.strictEqual(yield* total(id), 1n)
      yield* append(1000)
      yield* Deferred.succeed(go, undefined)
      assert.isTrue(endedBy(yield* Fiber.join(leaked)))
      assert.strictEqual(yield* total(id), 1001n)
      yield* atomically(append(10_000))
      assert.strictEqual(yield* total(id), 11_001n)
    }).pipe(Effect.provide(services)),
  )
})
