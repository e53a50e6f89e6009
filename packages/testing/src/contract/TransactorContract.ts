/**
 * The contract of `Transactor`: which writes commit together.
 */
import { Collections, Customer, Transactor, UsageStore } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as Sample from "../Sample.ts"
import { type ContractTest, same, times, together } from "./ContractTest.ts"
import { insertCustomer, writeEverything } from "./Everything.ts"
import { isolationTests } from "./IsolationContract.ts"
import { thresholds } from "./UsageProbe.ts"
const atomicity = (test: ContractTest): void => {
  test(
    "makes all writes of all stores visible when the effect succeeds",
    Effect.gen(function* () {
      const { after, isAnswered, look, write } = yield* writeEverything(yield* insertCustomer())
      const { atomically } = yield* Transactor
      const result = yield* atomically(Effect.as(write, "result"))
      assert.strictEqual(result, "result")
      same(yield* look, after)
      assert.isTrue(yield* isAnswered)
    }),
  )

  test(
    "shows a transaction its own writes",
    Effect.gen(function* () {
      const { after, isAnswered, look, write } = yield* writeEverything(yield* insertCustomer())
      const { atomically } = yield* Transactor
      const [seen, answered] = yield* atomically(Effect.andThen(write, Effect.all([look, isAnswered])))
      same(seen, after)
      assert.isTrue(answered)
    }),
  )

  const failures: ReadonlyArray<readonly [string, Effect.Effect<never, string>, Exit.Exit<never, string>]> = [
    ["fails", Effect.fail("no"), Exit.fail("no")],
    ["dies", Effect.die("broken"), Exit.die("broken")],
  ]
  for (const [how, failure, expected] of failures) {
    test(
      `leaves nothing when the effect ${how}, and fails with the same failure`,
      Effect.gen(function* () {
        const { before, isAnswered, look, record, threshold, write } = yield* writeEverything(
          yield* insertCustomer(),
        )
        const { atomically } = yield* Transactor
        const usage = yield* UsageStore
        const exit = yield* Effect.exit(atomically(Effect.andThen(write, failure)))
        assert.deepStrictEqual(exit, expected)
        same(yield* look, before)
        assert.isFalse(yield* isAnswered)
        // The idempotency key of the record is unused, and the threshold can fire.
        yield* (yield* thresholds).insert(threshold)
        const { crossings, outcomes } = yield* usage.append([record])
        assert.strictEqual(outcomes[0]?._tag, "Recorded")
        assert.strictEqual(crossings.length, 1)
      }),
    )
  }

  test(
    "leaves nothing when the effect is interrupted, and other transactions continue",
    Effect.gen(function* () {
      const { after, before, look, write } = yield* writeEverything(yield* insertCustomer())
      const { atomically } = yield* Transactor
      const hasWritten = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        atomically(
          write.pipe(Effect.andThen(Deferred.succeed(hasWritten, undefined)), Effect.andThen(Effect.never)),
        ),
      )
      yield* Deferred.await(hasWritten)
      yield* Fiber.interrupt(fiber)
      same(yield* look, before)
      yield* atomically(write)
      same(yield* look, after)
    }),
  )

  test(
    "tells whether a fiber is in a transaction",
    Effect.gen(function* () {
      const { atomically, inTransaction } = yield* Transactor
      assert.isFalse(yield* inTransaction)
      assert.isTrue(yield* atomically(inTransaction))
      assert.isTrue(yield* atomically(atomically(inTransaction)))
      assert.isTrue(
        yield* atomically(Effect.andThen(Effect.exit(atomically(Effect.fail("no"))), inTransaction)),
      )
      assert.isTrue(yield* atomically(Effect.flatMap(Effect.forkChild(inTransaction), Fiber.join)))
      assert.isFalse(yield* inTransaction)
    }),
  )

  test(
    "includes the concurrent writes of the effect's fibers",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const store = (yield* Collections).of(Customer.customers)
      const made = yield* Effect.all(times(5, () => Sample.customer()))
      const exit = yield* Effect.exit(
        atomically(
          Effect.andThen(together(made.map((customer) => store.insert(customer))), Effect.fail("no")),
        ),
      )
      assert.deepStrictEqual(exit, Exit.fail("no"))
      same(
        yield* Effect.forEach(made, ({ id }) => store.status(id)),
        times(5, () => "unknown"),
      )
      yield* atomically(together(made.map((customer) => store.insert(customer))))
      same(
        yield* Effect.forEach(made, ({ id }) => store.status(id)),
        times(5, () => "active"),
      )
    }),
  )
}

const savepoints = (test: ContractTest): void => {
  test(
    "undoes only the inner writes when the outer transaction recovers",
    Effect.gen(function* () {
      const existing = yield* insertCustomer()
      const { atomically } = yield* Transactor
      const usage = yield* UsageStore
      const { before, isAnswered, look, record, write } = yield* writeEverything(existing)
      const first = yield* Sample.record(existing.id, { quantity: 100 })
      const last = yield* Sample.record(existing.id, { quantity: 1 })
      yield* atomically(
        Effect.gen(function* () {
          yield* usage.append([first])
          const failed = yield* Effect.exit(atomically(Effect.andThen(write, Effect.fail("no"))))
          assert.deepStrictEqual(failed, Exit.fail("no"))
          const died = yield* Effect.exit(atomically(Effect.andThen(write, Effect.die("broken"))))
          assert.deepStrictEqual(died, Exit.die("broken"))
          same(yield* look, { ...before, records: 1, totals: [100n], units: ["call"] })
          yield* usage.append([last])
        }),
      )
      same(yield* look, { ...before, records: 2, totals: [101n], units: ["call"] })
      assert.isFalse(yield* isAnswered)
      const { outcomes } = yield* usage.append([record])
      assert.strictEqual(outcomes[0]?._tag, "Recorded")
    }),
  )

  test(
    "undoes inner transactions that succeeded when the outer one fails",
    Effect.gen(function* () {
      const { before, isAnswered, look, write } = yield* writeEverything(yield* insertCustomer())
      const { atomically } = yield* Transactor
      const exit = yield* Effect.exit(
        atomically(Effect.andThen(atomically(atomically(write)), Effect.fail("no"))),
      )
      assert.deepStrictEqual(exit, Exit.fail("no"))
      same(yield* look, before)
      assert.isFalse(yield* isAnswered)
    }),
  )

  test(
    "undoes a middle transaction with the inner one that succeeded",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const store = (yield* Collections).of(Customer.customers)
      const [outer, middle, inner, after] = yield* Effect.all([
        Sample.customer(),
        Sample.customer(),
        Sample.customer(),
        Sample.customer(),
      ])
      yield* atomically(
        Effect.gen(function* () {
          yield* store.insert(outer)
          yield* Effect.ignore(
            atomically(
              Effect.gen(function* () {
                yield* store.insert(middle)
                yield* atomically(store.insert(inner))
                return yield* Effect.fail("no")
              }),
            ),
          )
          yield* atomically(store.insert(after))
        }),
      )
      same(yield* Effect.forEach([outer, middle, inner, after], ({ id }) => store.status(id)), [
        "active",
        "unknown",
        "unknown",
        "active",
      ])
    }),
  )
}

export const transactorContract = (test: ContractTest): void => {
  test.section("Transactor", () => {
    test.section("atomicity", () => atomicity(test))
    test.section("savepoints", () => savepoints(test))
    test.section("isolation", () => isolationTests(test))
  })
}
