import { RetryPolicy } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { fc, holds } from "../property.ts"

const NOON = Date.parse("2026-11-21T12:00:00.000Z")
const { defaults, delayMillis, live, test } = RetryPolicy

/** The delays between all attempts of a policy, without jitter. */
const schedule = (policy: RetryPolicy.RetryPolicy): ReadonlyArray<number> =>
  Array.from({ length: policy.maxAttempts - 1 }, (_, index) => delayMillis(policy, index + 1, 0.5))

const anyPolicy = fc.record({
  baseMillis: fc.integer({ min: 1, max: 60_000 }),
  factor: fc.double({ min: 1, max: 10, noNaN: true }),
  capMillis: fc.integer({ min: 60_000, max: 86_400_000 }),
  maxAttempts: fc.integer({ min: 1, max: 30 }),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
})
const anyRandom = fc.double({ min: 0, max: 1, noNaN: true })

describe("RetryPolicy", () => {
  it("waits longer and longer in live mode: 10 attempts in 54 hours and 20 minutes", () => {
    const seconds = schedule(live).map((millis) => millis / 1_000)
    assert.deepStrictEqual(seconds, [5, 20, 80, 320, 1_280, 5_120, 20_480, 81_920, 86_400])
    const total = seconds.reduce((sum, delay) => sum + delay, 0)
    assert.strictEqual(Math.floor(total / 60), 54 * 60 + 20)
  })

  it("gives up soon in test mode: 5 attempts in 15 seconds", () => {
    assert.deepStrictEqual(schedule(test), [1_000, 2_000, 4_000, 8_000])
    assert.strictEqual(defaults.test, test)
    assert.strictEqual(defaults.live, live)
  })

  it("spreads a delay by its jitter to both sides", () => {
    assert.strictEqual(delayMillis(live, 1, 0), 4_000)
    assert.strictEqual(delayMillis(live, 1, 1), 6_000)
  })

  it("never goes beyond the cap and its jitter, and never falls for a later attempt", () => {
    holds([anyPolicy, fc.integer({ min: 1, max: 50 }), anyRandom], (policy, attempt, random) => {
      const delay = delayMillis(policy, attempt, random)
      assert.isTrue(Number.isSafeInteger(delay) && delay >= 0)
      assert.isAtMost(delay, Math.round(policy.capMillis * (1 + policy.jitter)))
      assert.isAtMost(delay, delayMillis(policy, attempt + 1, random))
    })
  })

  it("allows exactly as many attempts as the policy says", () => {
    holds([anyPolicy, fc.integer({ min: 0, max: 60 })], (policy, attempts) => {
      assert.strictEqual(RetryPolicy.allowsAfter(policy, attempts), attempts < policy.maxAttempts)
    })
  })
})

describe("Retry-After", () => {
  const wait = (header: string | undefined) => RetryPolicy.retryAfterMillis(header, NOON)

  it.each([
    ["120", 120_000],
    ["0", 0],
    [" 7 ", 7_000],
    ["86400", 86_400_000],
    ["86401", 86_400_000],
    ["9999999999", 86_400_000],
    ["99999999999", 86_400_000],
    ["9".repeat(1_000), 86_400_000],
    ["Sat, 21 Nov 2026 12:01:00 GMT", 60_000],
    ["Sat, 21 Nov 2026 11:59:00 GMT", 0],
    ["Sat, 28 Nov 2026 12:00:00 GMT", 86_400_000],
    ["Sat, 21 Nov 2026 12:00:60 GMT", 60_000],
    // RFC 850, with a year of two digits: at most 50 years ahead.
    ["Saturday, 21-Nov-26 12:01:00 GMT", 60_000],
    ["Saturday, 21-Nov-26 11:59:00 GMT", 0],
    ["Saturday, 28-Nov-76 12:00:00 GMT", 86_400_000],
    ["Monday, 28-Nov-77 12:00:00 GMT", 0],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
    // asctime, with a day of one digit behind two spaces, whatever zone this machine is in.
    ["Sat Nov 21 12:01:00 2026", 60_000],
    ["Sat Nov 21 11:59:00 2026", 0],
    ["Sun Dec  6 12:00:00 2026", 86_400_000],
  ])("understands %s", (header, millis) => {
    assert.strictEqual(wait(header), millis)
  })

  it.each([
    undefined,
    "",
    "soon",
    "-5",
    "1.5",
    "1e3",
    "12 s",
    "s 12",
    "2026-11-21T12:01:00Z",
    // What is no day, and forms that are mixed.
    "Mon, 30 Feb 2027 12:00:00 GMT",
    "Sat, 28-Nov-26 12:01:00 GMT",
    "Saturday, 28 Nov 2026 12:01:00 GMT",
    "Sat Nov 28 12:01:00 2026 GMT",
    "Sat, 28 Nov 2026 24:00:00 GMT",
    "Sat, 28 nov 2026 12:01:00 GMT",
    "Sat, 28 Nov 2026 12:01:00 CET",
    "Sat Nov 1 12:01:00 2027",
    // A Date would take these two.
    "about Sat, 21 Nov 2026 12:01:00 GMT",
    "Sat, 21 Nov 2026 12:01:00 GMT (noon)",
  ])("takes %s for no wait", (header) => {
    assert.strictEqual(wait(header), 0)
  })

  it("gives a wait of 0 to 24 hours for any text", () => {
    holds([fc.string()], (text) => {
      const millis = wait(text)
      assert.isTrue(millis >= 0 && millis <= RetryPolicy.MAX_RETRY_AFTER_MILLIS)
    })
  })
})
