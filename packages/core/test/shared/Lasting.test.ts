import { InvalidInput, OutageLog, StorageError } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { lasting } from "../../src/shared/Lasting.ts"
import { listen } from "../world.ts"

const options = () => ({
  outage: OutageLog.make("lamps are lit again"),
  problem: "lamps can't be lit",
  pauseMillis: 1_000,
})

const down = new StorageError({ operation: "Lamps.light", retryable: true })

describe("a lasting round", () => {
  it.effect.each([
    ["the storage fails", Effect.fail(down), "because the storage fails"],
    ["a bug ends it", Effect.die(new Error("a bug")), "because of a bug"],
    ["something in it interrupts itself", Effect.interrupt, "because of a bug"],
  ] as const)("is logged, and begun again after a pause when %s", ([, ending, why]) => {
    const { logged, logger } = listen()
    let rounds = 0
    const round = Effect.suspend(() => (++rounds === 1 ? ending : Effect.never))
    return Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Effect.forever(lasting(round, options())))
      yield* TestClock.adjust("999 millis")
      assert.strictEqual(rounds, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(rounds, 2)
      assert.deepStrictEqual(logged, [`lamps can't be lit ${why}; it is tried again`])
      yield* Fiber.interrupt(fiber)
      assert.lengthOf(logged, 1)
    }).pipe(Effect.provide(logger))
  })

  it.effect("ends its loop by any other failure, and logs nothing", () => {
    const { logged, logger } = listen()
    const refused = new InvalidInput({ field: "lamp", problem: "is no lamp" })
    return Effect.gen(function* () {
      const exit = yield* Effect.exit(Effect.forever(lasting(Effect.fail(refused), options())))
      assert.deepStrictEqual(exit, Exit.fail(refused))
      assert.deepStrictEqual(logged, [])
    }).pipe(Effect.provide(logger))
  })

  it.effect("ends with its loop when it is interrupted, in the round and in the pause", () => {
    const { logger } = listen()
    return Effect.gen(function* () {
      for (const round of [Effect.never, Effect.fail(down)]) {
        const fiber = yield* Effect.forkChild(Effect.forever(lasting(round, options())), {
          startImmediately: true,
        })
        yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      }
    }).pipe(Effect.provide(logger))
  })
})
