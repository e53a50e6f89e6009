/**
 * How a busy dispatcher leases deliveries before it has places for them. Its claims take time here.
 */
import { type Claim, DeliveryStore, Dispatcher, type DispatcherOptions } from "@billwright/core"
import { Receiver } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { deliveryOf, inWorld, newEndpoint, publish, received, script, URL_A } from "./world.ts"

const CLAIM_MILLIS = 20
const ATTEMPT_MILLIS = 30
const EVENTS = 60

/** Lets what runs in the background come as far as it can. */
const settle = Effect.gen(function* () {
  for (let i = 0; i < 200; i++) yield* Effect.yieldNow
})

/** Starts a dispatcher with four places. `claims` are its claims, and `step` lets a millisecond pass.
 * Each claim gives `more` than it was asked for. */
const start = Effect.fnUntraced(function* (options: DispatcherOptions = {}, more = 0) {
  const store = yield* DeliveryStore
  const claims: Array<Claim> = []
  let largest = 0
  let released = 0
  const slow = Layer.succeed(DeliveryStore, {
    ...store,
    claimDue: (claim) => {
      claims.push(claim)
      const claimed = Effect.tap(
        Effect.suspend(() => store.claimDue({ ...claim, limit: claim.limit + more })),
        ({ deliveries }) =>
          Effect.sync(() => {
            largest = Math.max(largest, deliveries.length)
          }),
      )
      return Effect.delay(claimed, CLAIM_MILLIS)
    },
    settle: (settlements) => {
      released += settlements.filter(
        ({ attempt, state }) => attempt === undefined && state.status === "Pending",
      ).length
      return store.settle(settlements)
    },
  })
  const scope = yield* Scope.fork(yield* Effect.scope)
  const dispatching = Dispatcher.layerWith({ maxInFlight: 4, maxInFlightPerEndpoint: 100, ...options })
  const context = yield* Layer.buildWithScope(dispatching.pipe(Layer.provide(slow)), scope)
  const { inFlight } = yield* Effect.provide(Dispatcher, context)
  yield* settle
  const step = Effect.andThen(TestClock.adjust(1), settle)
  return {
    inFlight,
    step,
    /** The limits of the claims. */
    limits: () => claims.map(({ limit }) => limit),
    /** How many deliveries were given back. */
    released: () => released,
    /** Goes on until a claim has just leased more than there are places. */
    untilAhead: Effect.whileLoop({
      while: () => largest <= 4,
      body: () => step,
      step: () => undefined,
    }),
    close: Scope.close(scope, Exit.void),
  }
})

const publishMany = Effect.forEach(Array.from({ length: EVENTS }), () => publish())

describe("a busy dispatcher", () => {
  it.effect("leases more than it has places for, and has no more attempts under way than places", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, Receiver.takes(ATTEMPT_MILLIS, Receiver.answers(204)))
      const events = yield* publishMany
      const { inFlight, limits, step } = yield* start()
      let most = 0
      let idle = 0
      for (let millis = 0; millis < 1_500 && (yield* received()).length < EVENTS; millis++) {
        yield* step
        const now = yield* inFlight
        most = Math.max(most, now)
        if (now === 0) idle++
      }
      assert.isAbove(Math.max(...limits()), 4)
      assert.strictEqual(most, 4)
      // Without leases ahead all its places would be empty during a part of each claim.
      assert.isBelow(idle, 3 * CLAIM_MILLIS)
      for (let millis = 0; millis < 100; millis++) yield* step
      for (const event of events) assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
      assert.lengthOf(yield* received(), EVENTS)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("gives back at once what waits when it stops, and counts no attempt", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, Receiver.takes(ATTEMPT_MILLIS, Receiver.answers(204)))
      const events = yield* publishMany
      const { close, released, step, untilAhead } = yield* start()
      yield* untilAhead
      const sent = (yield* received()).length
      const closing = yield* Effect.forkChild(close, { startImmediately: true })
      for (let millis = 0; millis < 200; millis++) yield* step
      assert.isDefined(closing.pollUnsafe())
      assert.lengthOf(yield* received(), sent)
      assert.isAbove(released(), 0)
      const deliveries = yield* Effect.forEach(events, deliveryOf)
      assert.lengthOf(
        deliveries.filter(({ attemptCount, status }) => status === "Delivered" && attemptCount === 1),
        sent,
      )
      assert.lengthOf(
        deliveries.filter(({ attemptCount, status }) => status === "Pending" && attemptCount === 0),
        EVENTS - sent,
      )
      // Nobody has a lease of them any more.
      const now = yield* DateTime.now
      const again = yield* (yield* DeliveryStore).claimDue({
        now,
        leaseUntil: DateTime.add(now, { seconds: 30 }),
        limit: EVENTS,
        limitPerEndpoint: EVENTS,
        limits: new Map(),
        tenantLimits: [],
      })
      assert.lengthOf(again.deliveries, EVENTS - sent)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect.each([
    ["asks to wait", Receiver.answers(429, { "retry-after": "30" })],
    ["is gone", Receiver.answers(410)],
  ] as const)("sends nothing that waits to an endpoint that %s", ([, busy]) =>
    Effect.gen(function* () {
      yield* newEndpoint()
      let isBusy = false
      yield* script(URL_A, (request, index) =>
        Effect.andThen(
          Effect.sleep(ATTEMPT_MILLIS),
          Effect.suspend(() => (isBusy ? busy : Receiver.answers(204))(request, index)),
        ),
      )
      yield* publishMany
      const { released, step, untilAhead } = yield* start()
      yield* untilAhead
      isBusy = true
      const sent = (yield* received()).length
      for (let millis = 0; millis < 1_000; millis++) yield* step
      assert.lengthOf(yield* received(), sent)
      assert.isAbove(released(), 0)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("begins what waits when attempts have stalled, also when too few may be leased for a claim", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, Receiver.hangs)
      yield* publishMany
      // Four of the first claim hang, and four wait. No attempt ends during a claim, so nothing more may be leased ahead.
      const { close, inFlight } = yield* start({}, 4)
      for (let millis = 0; millis < 900; millis += 100) {
        yield* Effect.andThen(TestClock.adjust(100), settle)
      }
      const before = yield* inFlight
      for (let millis = 0; millis < 1_500; millis += 100) {
        yield* Effect.andThen(TestClock.adjust(100), settle)
      }
      const after = yield* inFlight
      // First, because stopping waits for attempts that hang.
      yield* Effect.forkChild(close, { startImmediately: true })
      yield* Effect.andThen(settle, TestClock.adjust("5 seconds"))
      assert.strictEqual(before, 4)
      assert.isAtLeast(after, 8)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("gives back what has waited until its lease would end before the attempt", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      let takes = ATTEMPT_MILLIS
      yield* script(URL_A, (request, index) =>
        Effect.andThen(
          Effect.suspend(() => Effect.sleep(takes)),
          Receiver.answers(204)(request, index),
        ),
      )
      const events = yield* publishMany
      const { limits, released, step } = yield* start({ maxStalled: 0 })
      // What this claim leases finds places for 4, which take long.
      while (Math.max(...limits()) <= 4) yield* step
      takes = 15_500
      while (released() === 0) yield* Effect.andThen(TestClock.adjust(100), settle)
      takes = ATTEMPT_MILLIS
      while ((yield* received()).length < EVENTS) yield* Effect.andThen(TestClock.adjust(100), settle)
      for (let millis = 0; millis < 100; millis++) yield* step
      for (const event of events) assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
      assert.lengthOf(yield* received(), EVENTS)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("leases nothing ahead when a lease is hardly longer than an attempt", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, Receiver.takes(ATTEMPT_MILLIS, Receiver.answers(204)))
      yield* publishMany
      const { limits, released, step } = yield* start({ leaseMillis: 15_010 })
      while ((yield* received()).length < EVENTS) yield* step
      for (let millis = 0; millis < 100; millis++) yield* step
      assert.strictEqual(Math.max(...limits()), 4)
      assert.strictEqual(released(), 0)
    }).pipe(Effect.scoped, inWorld()),
  )
})
