import { Delivery, DeliveryMachine, Endpoint, RetryPolicy } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { fc, holds } from "../property.ts"

const { disables, next } = DeliveryMachine
type State = DeliveryMachine.DeliveryState
type Event = DeliveryMachine.DeliveryEvent

const NOW = Date.parse("2026-11-21T12:00:00.000Z")
const circumstances = { policy: RetryPolicy.live, now: NOW, random: 0.5 }
const pending = (attemptCount: number, dueAt = NOW): State => ({ status: "Pending", attemptCount, dueAt })
const failed: Event = { _tag: "AttemptFailed", notBefore: undefined }

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  fc.constantFrom<Event>(
    { _tag: "Succeeded" },
    { _tag: "Gone" },
    { _tag: "Lost" },
    { _tag: "Released" },
    { _tag: "EndpointDisabled" },
    { _tag: "EndpointDeleted" },
    { _tag: "Unreadable" },
  ),
  fc
    .option(fc.integer({ min: NOW - 1_000, max: NOW + 86_400_000 }), { nil: undefined })
    .map((notBefore): Event => ({ _tag: "AttemptFailed", notBefore })),
)
const anyRandom = fc.double({ min: 0, max: 1, noNaN: true })

describe("DeliveryMachine", () => {
  // The table of the specification, row by row.
  it.each<[string, State, Event, State]>([
    ["2xx", pending(0), { _tag: "Succeeded" }, { status: "Delivered", attemptCount: 1 }],
    ["a failure with attempts left", pending(0), failed, pending(1, NOW + 5_000)],
    ["the ninth failure", pending(8), failed, pending(9, NOW + 86_400_000)],
    ["the last failure", pending(9), failed, { status: "Failed", attemptCount: 10, reason: "exhausted" }],
    ["410", pending(2), { _tag: "Gone" }, { status: "Failed", attemptCount: 3, reason: "gone" }],
    ["a lost result", pending(3), { _tag: "Lost" }, pending(3)],
    ["a release", pending(10, NOW - 5), { _tag: "Released" }, pending(10)],
    [
      "a lost result of the last attempt",
      pending(10),
      { _tag: "Lost" },
      { status: "Failed", attemptCount: 10, reason: "exhausted" },
    ],
    [
      "a disabled endpoint",
      pending(3),
      { _tag: "EndpointDisabled" },
      { status: "Failed", attemptCount: 3, reason: "endpoint_disabled" },
    ],
    [
      "a deleted endpoint",
      pending(0),
      { _tag: "EndpointDeleted" },
      { status: "Failed", attemptCount: 0, reason: "endpoint_deleted" },
    ],
    [
      "an unreadable row",
      pending(1),
      { _tag: "Unreadable" },
      { status: "Failed", attemptCount: 1, reason: "unreadable" },
    ],
  ])("goes on from %s", (_, from, event, to) => {
    assert.deepStrictEqual(next(from, event, circumstances), to)
  })

  it("waits as long as the receiver asks to, and never shorter than the back-off", () => {
    const later: Event = { _tag: "AttemptFailed", notBefore: NOW + 60_000 }
    const sooner: Event = { _tag: "AttemptFailed", notBefore: NOW + 1 }
    assert.deepStrictEqual(next(pending(0), later, circumstances), pending(1, NOW + 60_000))
    assert.deepStrictEqual(next(pending(0), sooner, circumstances), pending(1, NOW + 5_000))
  })

  it("never leaves a final state", () => {
    const final = fc.constantFrom<State>(
      { status: "Delivered", attemptCount: 1 },
      ...Delivery.failureReasons.map((reason): State => ({ status: "Failed", attemptCount: 4, reason })),
    )
    holds([final, anyEvent, anyRandom], (state, event, random) => {
      assert.strictEqual(next(state, event, { ...circumstances, random }), state)
    })
  })

  it("counts up by one attempt at most, and never down", () => {
    holds([fc.integer({ min: 0, max: 12 }), anyEvent, anyRandom], (attemptCount, event, random) => {
      const to = next(pending(attemptCount), event, { ...circumstances, random })
      assert.include([attemptCount, attemptCount + 1], to.attemptCount)
    })
  })

  it("ends after as many failures as the policy allows, whatever the receiver asks", () => {
    const policies = fc.constantFrom(RetryPolicy.live, RetryPolicy.test)
    const failures = fc.array(
      anyEvent.filter(({ _tag }) => _tag === "AttemptFailed"),
      { minLength: 10, maxLength: 10 },
    )
    holds([policies, failures, anyRandom], (policy, events, random) => {
      let state = pending(0)
      let count = 0
      while (state.status === "Pending") {
        const now = Math.max(NOW, state.dueAt)
        state = next(state, events[count]!, { policy, now, random })
        if (state.status === "Pending") assert.isAbove(state.dueAt, now)
        count++
      }
      assert.strictEqual(count, policy.maxAttempts)
      assert.deepStrictEqual(state, { status: "Failed", attemptCount: count, reason: "exhausted" })
    })
  })
})

describe("what disables an endpoint", () => {
  const days = (count: number) => NOW - count * 86_400_000

  it("is 410", () => {
    assert.strictEqual(disables({ _tag: "Gone" }, undefined, NOW), "gone")
  })

  it("is five days of nothing but failures, and not a moment less", () => {
    assert.strictEqual(disables(failed, days(5), NOW), "failing")
    assert.strictEqual(disables(failed, days(5) + 1, NOW), undefined)
    assert.strictEqual(disables(failed, undefined, NOW), undefined)
    assert.strictEqual(Endpoint.MAX_FAILING_MILLIS, 5 * 86_400_000)
  })

  it("is never anything else", () => {
    assert.strictEqual(disables({ _tag: "Succeeded" }, days(9), NOW), undefined)
    assert.strictEqual(disables({ _tag: "Lost" }, days(9), NOW), undefined)
  })
})
