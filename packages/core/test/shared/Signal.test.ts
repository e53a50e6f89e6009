import { Signal } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"

describe("Signal", () => {
  it.effect("wakes everybody who waits", () =>
    Effect.gen(function* () {
      const signal = Signal.make()
      const one = yield* signal.subscribe
      const other = yield* signal.subscribe
      const waiting = yield* Effect.forkChild(Effect.all([one, other], { concurrency: 2 }), {
        startImmediately: true,
      })
      assert.strictEqual(waiting.pollUnsafe(), undefined)
      signal.notify()
      yield* Fiber.join(waiting)
    }),
  )

  it.effect("counts what came before it was waited for, once", () =>
    Effect.gen(function* () {
      const signal = Signal.make()
      const awaiting = yield* signal.subscribe
      signal.notify()
      signal.notify()
      yield* awaiting
      const waiting = yield* Effect.forkChild(awaiting, { startImmediately: true })
      yield* Effect.yieldNow
      assert.strictEqual(waiting.pollUnsafe(), undefined)
      signal.notify()
      yield* Fiber.join(waiting)
    }),
  )

  it.effect("wakes once for one notification, also who waits again at once", () =>
    Effect.gen(function* () {
      const signal = Signal.make()
      const awaiting = yield* signal.subscribe
      let woken = 0
      const counting = Effect.tap(Effect.timeoutOption(awaiting, "1 second"), () =>
        Effect.sync(() => woken++),
      )
      yield* Effect.forkChild(Effect.repeat(counting, { times: 9 }), { startImmediately: true })
      for (let count = 1; count <= 3; count++) {
        yield* Effect.repeat(Effect.yieldNow, { times: 20 })
        signal.notify()
        yield* Effect.repeat(Effect.yieldNow, { times: 20 })
        assert.strictEqual(woken, count)
      }
    }),
  )

  it.effect("loses nothing when a wait is interrupted", () =>
    Effect.gen(function* () {
      const signal = Signal.make()
      const awaiting = yield* signal.subscribe
      const waiting = yield* Effect.forkChild(awaiting, { startImmediately: true })
      yield* Fiber.interrupt(waiting)
      signal.notify()
      yield* awaiting
    }),
  )

  it.effect("says nothing of what came before the subscription", () =>
    Effect.gen(function* () {
      const signal = Signal.make()
      signal.notify()
      const awaiting = yield* signal.subscribe
      const waiting = yield* Effect.forkChild(awaiting, { startImmediately: true })
      yield* Effect.yieldNow
      assert.strictEqual(waiting.pollUnsafe(), undefined)
    }),
  )
})
