import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import { StreamPace } from "../../src/server/StreamPace.ts"
import * as StreamSlots from "../../src/server/StreamSlots.ts"

const ada = "key_ada"
const bob = "key_bob"

/** Runs a stream, which keeps its place until it ends. */
const run = Effect.fnUntraced(function* (place: StreamSlots.Slot) {
  const scope = yield* Scope.make()
  yield* Scope.provide(place, scope)
  return Scope.close(scope, Exit.void)
})

/** The limit that refuses another stream of a key. */
const limitOf = (slots: StreamSlots.StreamSlots, key: string) =>
  Effect.map(Effect.flip(slots.reserve(key)), ({ limit, of }) => `${of} ${limit}`)

describe("places of streams", () => {
  it.effect("are limited for each key and in total, from the moment of the answer", () =>
    Effect.gen(function* () {
      const slots = StreamSlots.make({ maxStreams: 3, maxStreamsPerKey: 2 })
      yield* slots.reserve(ada)
      const end = yield* run(yield* slots.reserve(ada))
      assert.strictEqual(yield* limitOf(slots, ada), "key 2")
      assert.strictEqual((yield* Effect.flip(slots.check(ada))).of, "key")
      yield* slots.reserve(bob)
      assert.strictEqual(yield* limitOf(slots, bob), "server 3")
      assert.strictEqual(slots.taken(), 3)
      yield* end
      assert.strictEqual(slots.taken(), 2)
      yield* slots.check(bob)
      yield* slots.reserve(bob)
    }),
  )

  it.effect("are one for each stream, even for concurrent requests", () =>
    Effect.gen(function* () {
      const slots = StreamSlots.make({ maxStreams: 5, maxStreamsPerKey: 5 })
      const asked = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () =>
          Effect.exit(Effect.andThen(Effect.andThen(slots.check(ada), Effect.yieldNow), slots.reserve(ada))),
        { concurrency: "unbounded" },
      )
      assert.lengthOf(asked.filter(Exit.isSuccess), 5)
    }),
  )

  it.effect("are released after 10 seconds by streams that aren't run", () =>
    Effect.gen(function* () {
      const slots = StreamSlots.make({ maxStreamsPerKey: 2 })
      yield* slots.reserve(ada)
      const end = yield* run(yield* slots.reserve(ada))
      yield* TestClock.adjust("9999 millis")
      assert.strictEqual(yield* limitOf(slots, ada), "key 2")
      yield* TestClock.adjust("1 milli")
      yield* slots.reserve(ada)
      assert.strictEqual(yield* limitOf(slots, ada), "key 2")
      yield* end
      yield* TestClock.adjust("10 seconds")
      yield* slots.check(ada)
      assert.strictEqual(slots.taken(), 0)
    }),
  )

  it.effect("are taken again by a stream that is run after that, if a place is free", () =>
    Effect.gen(function* () {
      const slots = StreamSlots.make({ maxStreamsPerKey: 1 })
      const early = yield* slots.reserve(ada)
      yield* TestClock.adjust("10 seconds")
      const end = yield* run(yield* slots.reserve(ada))
      assert.strictEqual((yield* Effect.flip(run(early))).of, "key")
      yield* end
      yield* yield* run(early)
      assert.strictEqual(slots.taken(), 0)
    }),
  )
})

describe("the pace of a stream", () => {
  /** The times of the reads of a stream that is notified of a new commit after each read. */
  const readsOf = (pace: StreamPace, start: number, streams: number, count: number) => {
    let now = start
    return Array.from({ length: count }, () => {
      now += pace.delay(now, streams)
      return now - start
    })
  }

  it("allows ten reads at once, and then one every 50 ms", () => {
    const pace = new StreamPace()
    assert.deepStrictEqual(readsOf(pace, 0, 1, 13), [...Array<number>(10).fill(0), 50, 100, 150])
    // After a pause, it reads at once again.
    assert.deepStrictEqual(readsOf(pace, 10_000, 1, 11), [...Array<number>(10).fill(0), 50])
  })

  it("allows 500 reads per second for all streams together, and at least one per second for each", () => {
    const last = (streams: number) => readsOf(new StreamPace(), 0, streams, 110).at(-1)
    assert.strictEqual(last(25), 100 * 50)
    assert.strictEqual(last(100), 100 * 200)
    assert.strictEqual(last(500), 100 * 1_000)
    assert.strictEqual(last(50_000), 100 * 1_000)
  })
})
