/**
 * Calls of members of a batch become one.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Batch from "../../src/shared/Batch.ts"

const failedPart = () => "a part has failed" as const

/** A store whose calls are noted, each with the inputs that it got. */
const recorder = () => {
  const calls: Array<readonly [string, ReadonlyArray<unknown>]> = []
  const call = (key: string, input: number) =>
    Batch.together(key, input, (inputs) =>
      Effect.as(
        Effect.sync(() => calls.push([key, inputs])),
        inputs.map((one) => one * 10),
      ),
    )
  return { call, calls }
}

describe("Batch", () => {
  it.effect("makes one call of those of all members, in the order of the members", () =>
    Effect.gen(function* () {
      const { call, calls } = recorder()
      const member = (number: number) =>
        Effect.gen(function* () {
          // The first members come last.
          for (let turn = number; turn < 5; turn++) yield* Effect.yieldNow
          const found = yield* call("find", number)
          return found + (yield* call("save", found))
        })
      const results = yield* Batch.run([0, 1, 2, 3, 4].map(member), failedPart)
      assert.deepStrictEqual(results, [0, 110, 220, 330, 440])
      assert.deepStrictEqual(calls, [
        ["find", [0, 1, 2, 3, 4]],
        ["save", [0, 10, 20, 30, 40]],
      ])
    }),
  )

  it.effect("goes on when members call different things, and when some have ended", () =>
    Effect.gen(function* () {
      const { call, calls } = recorder()
      const results = yield* Batch.run(
        [
          Effect.succeed(7),
          call("find", 1),
          Effect.flatMap(call("other", 2), (found) => call("find", found)),
          Effect.flatMap(call("find", 3), (found) => call("find", found)),
        ],
        failedPart,
      )
      assert.deepStrictEqual(results, [7, 10, 200, 300])
      assert.deepStrictEqual(calls, [
        ["find", [1, 3]],
        ["other", [2]],
        ["find", [20, 30]],
      ])
    }),
  )

  it.effect("fails for all when a call fails, and when a member does", () =>
    Effect.gen(function* () {
      const refused = Batch.together("save", 1, () => Effect.fail("refused" as const))
      assert.strictEqual(yield* Effect.flip(Batch.run([refused, refused], failedPart)), "refused")
      const { call } = recorder()
      const failing = Effect.andThen(call("find", 1), Effect.fail("failed" as const))
      assert.strictEqual(yield* Effect.flip(Batch.run([call("find", 2), failing], failedPart)), "failed")
    }),
  )

  it.effect("fails when a part fails that only a savepoint could undo, even if its member recovers", () =>
    Effect.gen(function* () {
      const recovered = Effect.ignore(Batch.part(Effect.fail("a savepoint would be undone")))
      assert.strictEqual(
        yield* Effect.flip(Batch.run([Effect.void, recovered], failedPart)),
        "a part has failed",
      )
      yield* recovered
    }),
  )

  it.live("lets the process do something else between its members, and makes as few calls", () =>
    Effect.gen(function* () {
      const { call, calls } = recorder()
      let [turns, inTurn, most] = [0, 0, 0]
      let immediate = setImmediate(function turn() {
        turns++
        inTurn = 0
        immediate = setImmediate(turn)
      })
      const member = (number: number) =>
        Effect.gen(function* () {
          for (let round = 0; round < 3; round++) {
            yield* call("find", number)
            most = Math.max(most, ++inTurn)
          }
        })
      yield* Batch.run(
        Array.from({ length: 100 }, (_, number) => member(number)),
        failedPart,
      )
      clearImmediate(immediate)
      assert.isAtMost(most, 20)
      assert.isAtLeast(turns, 30)
      assert.lengthOf(calls, 3)
    }),
  )

  it.effect("makes a call within a call at once, and calls outside of a batch alone", () =>
    Effect.gen(function* () {
      const { call, calls } = recorder()
      const nested = (input: number) =>
        Batch.together("take", input, (inputs) =>
          Effect.flatMap(call("lock", 9), () => Effect.succeed(inputs.map((one) => one + 1))),
        )
      assert.deepStrictEqual(yield* Batch.run([nested(1), nested(2)], failedPart), [2, 3])
      assert.strictEqual(yield* nested(5), 6)
      assert.deepStrictEqual(calls, [
        ["lock", [9]],
        ["lock", [9]],
      ])
      assert.isFalse(yield* Batch.isMember)
    }),
  )
})
