import { CurrentTenant, GroupCommit, Tenant } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"

const WAIT_MILLIS = 3

/** A queue whose storage answers when it is told to, and the groups that it was given. */
const makeQueue = Effect.fnUntraced(function* (limits: GroupCommit.GroupCommitLimits = {}) {
  const groups: Array<ReadonlyArray<string>> = []
  const isAnswered = yield* Deferred.make<void>()
  const queue = yield* GroupCommit.make(
    (calls: ReadonlyArray<string>) => {
      groups.push(calls)
      return Effect.as(Deferred.await(isAnswered), calls)
    },
    { operation: "Test.write", name: "the queue", maxGroup: 10, ...limits },
  )
  return { groups, answer: Deferred.succeed(isAnswered, undefined), ...queue }
})

const asTenant = Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "live" })

describe("a call that can be written by itself", () => {
  it.effect("is given back when it waited too long, and is not written by its group", () =>
    Effect.gen(function* () {
      const { answer, groups, submit, submitWithin } = yield* makeQueue()
      const first = yield* Effect.forkChild(submit("first"))
      yield* TestClock.adjust(0)
      const waiting = yield* Effect.forkChild(submitWithin("second", WAIT_MILLIS))
      yield* TestClock.adjust(WAIT_MILLIS - 1)
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(waiting), Option.none())
      yield* answer
      assert.strictEqual(yield* Fiber.join(first), "first")
      yield* submit("third")
      assert.deepStrictEqual(groups, [["first"], ["third"]])
    }).pipe(asTenant),
  )

  it.effect("is written once when its group has begun in time, however long that takes", () =>
    Effect.gen(function* () {
      const { answer, groups, submitWithin } = yield* makeQueue()
      const writing = yield* Effect.forkChild(submitWithin("first", WAIT_MILLIS))
      yield* TestClock.adjust(100 * WAIT_MILLIS)
      assert.isUndefined(writing.pollUnsafe())
      yield* answer
      assert.deepStrictEqual(yield* Fiber.join(writing), Option.some("first"))
      assert.deepStrictEqual(groups, [["first"]])
    }).pipe(asTenant),
  )

  it.effect("is given back at once when there is no place", () =>
    Effect.gen(function* () {
      const { answer, submit, submitWithin } = yield* makeQueue({ maxPending: 1 })
      const first = yield* Effect.forkChild(submit("first"))
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(yield* submitWithin("second", WAIT_MILLIS), Option.none())
      yield* answer
      yield* Fiber.join(first)
    }).pipe(asTenant),
  )
})
