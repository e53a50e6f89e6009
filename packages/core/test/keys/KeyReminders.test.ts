/** API keys that expire are reminded of by an event, unless they were rolled or revoked. */
import { ApiKeys, BillingRuns, Events } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { inWorld, NOON } from "../world.ts"

const DAY = 86_400_000
const inDays = (days: number) => DateTime.makeUnsafe(NOON.epochMilliseconds + days * DAY)

/** The data of the reminders that were published by some days after noon. */
const remindedBy = Effect.fnUntraced(function* (days: number) {
  yield* TestClock.setTime(inDays(days).epochMilliseconds)
  yield* (yield* BillingRuns).runDue()
  const { data } = yield* (yield* Events).list()
  return data.map(({ payload, type }) => ({ type, ...JSON.parse(payload).data }))
})

const issue = (days: number | undefined) =>
  Effect.flatMap(ApiKeys, ({ issue: make }) =>
    make({ name: "reporting", ...(days === undefined ? {} : { expiresAt: inDays(days) }) }),
  )

describe("a reminder of an API key", () => {
  it.effect("is published once, a week before the key expires", () =>
    Effect.gen(function* () {
      const { key } = yield* issue(30)
      assert.deepStrictEqual(yield* remindedBy(22.99), [])
      const expected = {
        type: "api_key.expiring",
        api_key_id: key.id,
        name: "reporting",
        hint: key.hint,
        expires_at: "2026-12-21T12:00:00.000Z",
        last_used_at: null,
      }
      assert.deepStrictEqual(yield* remindedBy(23), [expected])
      assert.deepStrictEqual(yield* remindedBy(29), [expected])
    }).pipe(inWorld()),
  )

  it.effect("comes after half of the life of a key that lives less than two weeks", () =>
    Effect.gen(function* () {
      yield* issue(10)
      assert.strictEqual((yield* remindedBy(4.99)).length, 0)
      assert.strictEqual((yield* remindedBy(5)).length, 1)
    }).pipe(inWorld()),
  )

  it.effect("is not for keys that never expire, nor for those of two days or less", () =>
    Effect.gen(function* () {
      yield* issue(undefined)
      yield* issue(2)
      assert.deepStrictEqual(yield* remindedBy(400), [])
    }).pipe(inWorld()),
  )

  it.effect("is for keys that expire by the maximum age", () =>
    Effect.gen(function* () {
      yield* issue(undefined)
      assert.strictEqual((yield* remindedBy(83)).length, 1)
    }).pipe(inWorld({ keys: { maxAgeMillis: 90 * DAY } })),
  )

  it.effect("goes with the key that was rolled or revoked, and the new key has its own", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const [rolled, revoked] = [yield* issue(30), yield* issue(30)]
      yield* keys.revoke(revoked.key.id)
      yield* TestClock.setTime(inDays(20).epochMilliseconds)
      const { key } = yield* keys.roll(rolled.key.id, { graceMillis: 7 * DAY })
      assert.deepStrictEqual(yield* remindedBy(29), [])
      const reminded = yield* remindedBy(43)
      assert.deepStrictEqual(
        reminded.map(({ api_key_id: id }) => id),
        [key.id],
      )
    }).pipe(inWorld()),
  )

  it.effect("is not for a key that has expired while nothing ran", () =>
    Effect.gen(function* () {
      yield* issue(30)
      assert.deepStrictEqual(yield* remindedBy(31), [])
    }).pipe(inWorld()),
  )
})
