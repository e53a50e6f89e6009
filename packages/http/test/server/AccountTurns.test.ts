/** Accounts take turns with what reads much. */
import { Tenant } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as AccountTurns from "../../src/server/AccountTurns.ts"
import { TooManyReads } from "../../src/server/ErrorResponse.ts"

const [ada, bob] = [Tenant.AccountId.make("ada"), Tenant.AccountId.make("bob")]

/** A read that says when it begins, and ends when it is told. */
const read = Effect.gen(function* () {
  const [began, ends] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const work = Effect.andThen(Deferred.succeed(began, undefined), Deferred.await(ends))
  return { work, began: Deferred.isDone(began), end: Deferred.succeed(ends, undefined) }
})

/** Begins reads of an account at once, and gives them with what says how many have begun. */
const begin = Effect.fnUntraced(function* (
  turns: AccountTurns.AccountTurns,
  accountId: Tenant.AccountId,
  count: number,
) {
  const reads = yield* Effect.all(Array.from({ length: count }, () => read))
  const fibers = yield* Effect.forEach(reads, ({ work }) =>
    Effect.forkChild(turns.inTurn(accountId)(work), { startImmediately: true }),
  )
  const begun = Effect.map(
    Effect.andThen(Effect.yieldNow, Effect.all(reads.map(({ began }) => began))),
    (all) => all.filter(Boolean).length,
  )
  return { reads, fibers, begun }
})

describe("an account", () => {
  it.effect("has 16 heavy reads at once while it is alone", () =>
    Effect.gen(function* () {
      const turns = AccountTurns.make()
      turns.note(ada, 0)
      const { begun, reads } = yield* begin(turns, ada, 20)
      assert.strictEqual(yield* begun, 16)
      yield* reads[3]!.end
      assert.strictEqual(yield* begun, 17)
    }),
  )

  it.effect("has one at once while another account sends requests, and several if the host says so", () =>
    Effect.gen(function* () {
      for (const [options, expected] of [[{}, 1] as const, [{ heavyReads: 3 }, 3] as const]) {
        const turns = AccountTurns.make(options)
        turns.note(bob, 0)
        turns.note(ada, 0)
        const { begun } = yield* begin(turns, ada, 5)
        assert.strictEqual(yield* begun, expected)
        // The other one is not held up by them.
        assert.strictEqual(yield* (yield* begin(turns, bob, 1)).begun, 1)
      }
    }),
  )

  it.effect("rests when it has read for a quarter of a second, so that it reads an eighth of the time", () =>
    Effect.gen(function* () {
      for (const [heavyReads, rest] of [
        [1, 1_200],
        [2, 0],
      ] as const) {
        const turns = AccountTurns.make({ heavyReads })
        let now = yield* Clock.currentTimeMillis
        const pass = Effect.fnUntraced(function* (millis: number) {
          yield* TestClock.adjust(millis)
          now += millis
          turns.note(bob, now)
          turns.note(ada, now)
        })
        yield* pass(0)
        // A page or two cost nothing.
        for (let page = 0; page < 5; page++) {
          const { begun, reads } = yield* begin(turns, ada, 1)
          assert.strictEqual(yield* begun, 1)
          yield* pass(20)
          yield* reads[0]!.end
        }
        yield* pass(10_000)
        const long = yield* begin(turns, ada, 1)
        yield* pass(400)
        yield* long.reads[0]!.end
        const { begun, reads } = yield* begin(turns, ada, 1)
        assert.strictEqual(yield* begun, rest === 0 ? 1 : 0)
        yield* pass(Math.max(0, rest - 1))
        assert.strictEqual(yield* begun, rest === 0 ? 1 : 0)
        yield* pass(1)
        assert.strictEqual(yield* begun, 1)
        // However many took long, the rest after them is 3 s at most.
        const others = yield* begin(turns, ada, heavyReads - 1)
        yield* pass(60_000)
        for (const { end } of [...reads, ...others.reads]) yield* end
        const last = yield* begin(turns, ada, 1)
        yield* pass(2_999)
        assert.strictEqual(yield* last.begun, 0)
        yield* pass(1)
        assert.strictEqual(yield* last.begun, 1)
        yield* last.reads[0]!.end
      }
    }),
  )

  it.effect("does not rest when the others have sent nothing for more than a second", () =>
    Effect.gen(function* () {
      const turns = AccountTurns.make()
      turns.note(bob, 0)
      turns.note(ada, 0)
      const { begun, reads } = yield* begin(turns, ada, 2)
      yield* TestClock.adjust(1_001)
      yield* reads[0]!.end
      assert.strictEqual(yield* begun, 2)
    }),
  )

  it.effect("is refused what waits for 10 seconds, or would be the 65th that waits", () =>
    Effect.gen(function* () {
      const turns = AccountTurns.make({ heavyReads: 1 })
      turns.note(bob, 0)
      turns.note(ada, 0)
      const { fibers, reads } = yield* begin(turns, ada, 65)
      const refused = yield* Effect.flip(turns.inTurn(ada)(Effect.void))
      assert.instanceOf(refused, TooManyReads)
      yield* TestClock.adjust(10_000)
      const waited = yield* Effect.flip(Fiber.join(fibers[64]!))
      assert.instanceOf(waited, TooManyReads)
      // Nobody waits any more, and the place of the first one becomes free.
      yield* reads[0]!.end
      yield* Effect.flip(Fiber.join(fibers[1]!))
      yield* Effect.andThen(TestClock.adjust(3_000), turns.inTurn(ada)(Effect.void))
    }),
  )

  it.effect("keeps no place of a read that was interrupted, whether it waited or ran", () =>
    Effect.gen(function* () {
      const turns = AccountTurns.make()
      turns.note(bob, 0)
      turns.note(ada, 0)
      const { begun, fibers } = yield* begin(turns, ada, 3)
      yield* Fiber.interrupt(fibers[1]!)
      yield* Fiber.interrupt(fibers[0]!)
      assert.strictEqual(yield* begun, 2)
      yield* Fiber.interrupt(fibers[2]!)
      yield* turns.inTurn(ada)(Effect.void)
    }),
  )
})

describe("a streamed answer", () => {
  it.effect("takes a turn for each piece, and waits for as long as it takes", () =>
    Effect.gen(function* () {
      const turns = AccountTurns.make()
      const answer = {
        status: 200,
        headers: {},
        body: "",
        stream: Stream.make("a", "b").pipe(Stream.rechunk(1)),
      }
      const { stream } = yield* turns.taking(ada)(Effect.succeed(answer))
      turns.note(bob, 0)
      turns.note(ada, 0)
      const { reads } = yield* begin(turns, ada, 1)
      const streaming = yield* Effect.forkChild(Stream.runCollect(stream!))
      // Longer than a read waits that has not begun.
      for (let at = 900; at <= 27_000; at += 900) {
        yield* TestClock.adjust(900)
        turns.note(bob, at)
        turns.note(ada, at)
      }
      assert.isUndefined(streaming.pollUnsafe())
      yield* reads[0]!.end
      yield* TestClock.adjust(4_000)
      assert.deepStrictEqual([...(yield* Fiber.join(streaming))], ["a", "b"])
    }),
  )
})
