import {
  Events,
  Idempotency,
  InvalidInput,
  type IdempotentRequest,
  MIN_RETENTION_MILLIS,
  type Pruned,
  Retention,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { inWorld, newEndpoint, publish, runDue } from "../webhooks/world.ts"
import { as, globex } from "../world.ts"

const ago = (milliseconds: number) =>
  Effect.map(DateTime.now, (now) => DateTime.subtract(now, { milliseconds }))

const HOUR = 3_600_000

const request: IdempotentRequest = { method: "POST", path: "/v1/customers", key: "k", fingerprint: "a" }

/** Remembers answers that expire at once, more than a step removes. */
const answerSome = Effect.gen(function* () {
  const { run } = yield* Idempotency
  for (let n = 0; n < 1_001; n++) {
    yield* run({ ...request, key: `k${n}` }, Effect.succeed({ status: 200, body: "" }), () => Option.none())
  }
})

const idsLeft = Effect.flatMap(Events, (events) =>
  Effect.map(events.list({ limit: 100 }), ({ data }) => data.map(({ id }) => id)),
)

describe("Retention.prune", () => {
  it.effect("removes what is old of all tenants, and tells how far it is", () =>
    Effect.gen(function* () {
      const { prune } = yield* Retention
      yield* newEndpoint()
      for (let n = 0; n < 501; n++) yield* publish()
      yield* as(globex)(publish())
      yield* runDue
      yield* TestClock.adjust("2 hours")
      const young = yield* publish()
      const before = yield* ago(HOUR)

      const counted = yield* prune({ before, isDryRun: true })
      assert.deepStrictEqual(counted, {
        events: 502,
        deliveries: 501,
        attempts: 501,
        hourlyCounts: 1,
        answers: undefined,
      })
      const told: Array<Pruned> = []
      const pruned = yield* prune({ before, onProgress: (soFar) => Effect.sync(() => told.push(soFar)) })
      assert.deepStrictEqual(pruned, { ...counted, answers: 0 })
      assert.deepStrictEqual(
        told.map(({ events }) => events),
        [500, 502, 502, 502],
      )
      assert.deepStrictEqual(told.at(-1), pruned)
      assert.deepStrictEqual(yield* idsLeft, [young.id])
      assert.strictEqual((yield* prune({ before })).events, 0)
    }).pipe(inWorld()),
  )

  it.effect(
    "rests three times as long after each step as that took, at most a second; a dry run doesn't",
    () =>
      Effect.gen(function* () {
        const { prune } = yield* Retention
        yield* TestClock.adjust("2 hours")
        const before = yield* ago(HOUR)
        const begun = yield* Clock.currentTimeMillis
        const told: Array<number> = []
        /** Each step takes this long. */
        const taking = (millis: number) => () =>
          Effect.andThen(
            Effect.sleep(millis),
            Effect.map(Clock.currentTimeMillis, (now) => void told.push(now - begun)),
          )
        const runs = Effect.gen(function* () {
          yield* prune({ before, onProgress: taking(10) })
          yield* prune({ before, onProgress: taking(700) })
          yield* prune({ before, isDryRun: true, onProgress: taking(10) })
        })
        const running = yield* Effect.forkChild(runs)
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(running)
        assert.deepStrictEqual(told, [10, 50, 90, 790, 2_490, 4_190, 4_200, 4_210])
      }).pipe(inWorld()),
  )

  it.effect("removes expired answers, however young", () =>
    Effect.gen(function* () {
      const { prune } = yield* Retention
      yield* answerSome
      const before = yield* ago(24 * HOUR)
      assert.strictEqual((yield* prune({ before })).answers, 0)
      yield* TestClock.adjust(2)
      assert.strictEqual((yield* prune({ before, isDryRun: true })).answers, undefined)
      assert.strictEqual((yield* prune({ before })).answers, 1_001)
    }).pipe(inWorld({ idempotency: { retentionMillis: 1 } })),
  )

  it.effect("refuses to remove what is younger than an hour", () =>
    Effect.gen(function* () {
      const { prune } = yield* Retention
      yield* publish()
      yield* TestClock.adjust(MIN_RETENTION_MILLIS + 1)
      const error = yield* Effect.flip(prune({ before: yield* ago(MIN_RETENTION_MILLIS - 1) }))
      assert.deepStrictEqual(
        error,
        new InvalidInput({ field: "before", problem: "must be at least an hour ago" }),
      )
      assert.strictEqual((yield* prune({ before: yield* ago(MIN_RETENTION_MILLIS) })).events, 1)
    }).pipe(inWorld()),
  )
})
