import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { Turn } from "../src/Turn.ts"

const yields = Effect.repeat(Effect.yieldNow, { times: 20 })

describe("Turn", () => {
  it.effect("is given to one caller at a time, in the order of the calls", () =>
    Effect.gen(function* () {
      const turn = new Turn()
      const log: Array<string> = []
      const holder = (name: string) =>
        turn.hold(
          Effect.gen(function* () {
            log.push(`${name} begins`)
            yield* yields
            log.push(`${name} ends`)
          }),
        )
      yield* Effect.all(["a", "b", "c"].map(holder), { concurrency: "unbounded" })
      assert.deepStrictEqual(log, ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"])
    }),
  )

  it.effect("stays with its holder when a waiting caller is interrupted", () =>
    Effect.gen(function* () {
      const turn = new Turn()
      const mayEnd = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(turn.hold(Deferred.await(mayEnd)))
      yield* yields
      const [staying, leaving] = [
        yield* Effect.forkChild(turn.hold(Effect.void)),
        yield* Effect.forkChild(turn.hold(Effect.void)),
      ]
      yield* yields
      yield* Fiber.interrupt(leaving)
      yield* yields
      assert.isUndefined(staying.pollUnsafe())
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(staying)
      yield* Fiber.join(holder)
    }),
  )

  it.effect("goes to the next caller when it was given to one that is interrupted before it begins", () =>
    Effect.gen(function* () {
      const turn = new Turn()
      const mayEnd = yield* Deferred.make<void>()
      yield* Effect.forkChild(turn.hold(Deferred.await(mayEnd)))
      yield* yields
      let hasBegun = false
      const next = yield* Effect.forkChild(turn.hold(Effect.sync(() => (hasBegun = true))))
      const last = yield* Effect.forkChild(turn.hold(Effect.void))
      yield* yields
      // The holder ends now. The next caller gets the turn, but its fiber has not continued yet.
      Deferred.doneUnsafe(mayEnd, Effect.void)
      next.interruptUnsafe()
      yield* Fiber.join(last)
      assert.isFalse(hasBegun)
      assert.isTrue(Exit.isFailure(yield* Fiber.await(next)))
    }),
  )

  it.effect("is released when its effect fails or dies", () =>
    Effect.gen(function* () {
      const turn = new Turn()
      assert.deepStrictEqual(yield* Effect.exit(turn.hold(Effect.fail("no"))), Exit.fail("no"))
      assert.deepStrictEqual(yield* Effect.exit(turn.hold(Effect.die("broken"))), Exit.die("broken"))
      assert.strictEqual(yield* turn.hold(Effect.succeed(1)), 1)
    }),
  )
})
