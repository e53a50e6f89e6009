import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { afterAll } from "vitest"
import { fake, open } from "./AtFake.ts"

afterAll(() => fake.close())

describe("the rate limit", () => {
  it.effect(
    "lets a second's calls pass at once, the others at the rate, and refuses what would wait too long",
    () =>
      Effect.gen(function* () {
        const { account, provider } = open({ requestsPerSecond: 2 })
        const reads = yield* Effect.forEach(
          Array.from({ length: 30 }, (_, index) => index),
          (index) =>
            Effect.forkChild(Effect.flip(provider.readPayment(`pi_${index}`)), { startImmediately: true }),
        )
        // 2 pass, 20 wait for up to 10 seconds, and 8 are refused.
        const refused = yield* Effect.all(reads.slice(22).map((read) => Fiber.join(read)))
        assert.deepStrictEqual(new Set(refused.map(({ reason }) => reason)), new Set(["transient"]))
        yield* Effect.all(reads.slice(0, 2).map((read) => Fiber.join(read)))
        assert.strictEqual(account.requests.length, 2)
        yield* TestClock.adjust("5 seconds")
        yield* Effect.all(reads.slice(2, 12).map((read) => Fiber.join(read)))
        assert.strictEqual(account.requests.length, 12)
        yield* TestClock.adjust("5 seconds")
        const failures = yield* Effect.all(reads.slice(12, 22).map((read) => Fiber.join(read)))
        assert.deepStrictEqual(new Set(failures.map(({ reason }) => reason)), new Set(["permanent"]))
        assert.strictEqual(account.requests.length, 22)
      }),
  )
})
