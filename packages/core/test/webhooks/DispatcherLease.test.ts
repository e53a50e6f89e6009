/**
 * How long a dispatcher holds what it has claimed.
 */
import { DeliveryStore, Dispatcher, type DispatcherOptions, LEASE_MILLIS } from "@billwright/core"
import { Receiver } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Option } from "effect"
import { NOON } from "../world.ts"
import { inWorld, newEndpoint, publish, script, URL_A } from "./world.ts"

describe("the lease of a delivery", () => {
  it.effect.each([
    [{}, LEASE_MILLIS],
    [{ leaseMillis: 20_000 }, 20_000],
    [{ leaseMillis: 3_000, attemptDeadlineMillis: 2_000 }, 3_000],
  ] as const)("with %j takes %d ms", ([options, millis]) =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, Receiver.hangs)
      yield* publish()
      const dispatcher = yield* Dispatcher
      yield* Effect.forkChild(dispatcher.runDue, { startImmediately: true })
      for (let i = 0; i < 100; i++) yield* Effect.yieldNow
      const due = Option.getOrThrow(yield* (yield* DeliveryStore).nextDueAt)
      assert.strictEqual(due.epochMilliseconds, NOON.epochMilliseconds + millis)
    }).pipe(inWorld({ dispatcher: options })),
  )

  it.effect.each([
    { leaseMillis: 15_000 },
    { leaseMillis: 2_000, attemptDeadlineMillis: 2_000 },
    { leaseMillis: 1_000.5, attemptDeadlineMillis: 500 },
    { leaseMillis: 3_000, attemptDeadlineMillis: 0 },
    // Longer than attempts take by default, and shorter than they take here.
    { leaseMillis: 20_000, attemptDeadlineMillis: 20_000 },
    { attemptDeadlineMillis: LEASE_MILLIS },
  ] satisfies ReadonlyArray<DispatcherOptions>)("must be longer than an attempt: %j is refused", (options) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(inWorld({ dispatcher: options })(Effect.void))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    }),
  )
})
