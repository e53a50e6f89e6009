/**
 * How a dispatcher takes deliveries that its process publishes. The storage here hands over what a test tells it to.
 */
import {
  type Claimed,
  DeliveryStore,
  Dispatcher,
  type DispatcherOptions,
  type Intake,
  type Places,
} from "@billwright/core"
import { Receiver } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Fiber, Layer, Option, Scope } from "effect"
import { TestClock } from "effect/testing"
import { acme } from "../world.ts"
import { deliveryOf, inWorld, newEndpoint, publish, received, script, URL_A } from "./world.ts"

const { answers, takes } = Receiver

/** Lets what runs in the background come as far as it can. */
const settle = Effect.gen(function* () {
  for (let i = 0; i < 500; i++) yield* Effect.yieldNow
})

const NOTHING: Claimed = { deliveries: [], unreadable: [] }

/**
 * Starts a dispatcher whose storage doesn't tell it of commits. So it claims when it starts, and each second. `claims` are the
 * limits of its claims.
 */
const start = Effect.fnUntraced(function* (options: DispatcherOptions = {}) {
  const store = yield* DeliveryStore
  const intakes = new Set<Intake>()
  const claims: Array<{ readonly limit: number; readonly limitPerEndpoint: number }> = []
  let isHeld = false
  const handing = Layer.succeed(DeliveryStore, {
    ...store,
    claimDue: (claim) =>
      Effect.suspend(() => {
        claims.push(claim)
        return isHeld ? Effect.never : store.claimDue(claim)
      }),
    handTo: (intake) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => intakes.add(intake)),
          () => Effect.sync(() => intakes.delete(intake)),
        ),
      ),
    due: Effect.succeed(Effect.never),
  })
  const scope = yield* Scope.fork(yield* Effect.scope)
  yield* Layer.buildWithScope(Dispatcher.layerWith(options).pipe(Layer.provide(handing)), scope)
  const intake = Option.getOrThrow(Option.fromUndefinedOr([...intakes][0]))
  yield* settle
  return {
    claims,
    intakes,
    hold: (held: boolean) => {
      isHeld = held
    },
    close: Scope.close(scope, Exit.void),
    reserve: (events = 1) => intake.reserve(acme, events),
  }
})

const placesOf = (places: Places | undefined): Places => {
  assert.isDefined(places)
  return places
}

/** Publishes, and leases what is due as the storage would do. */
const publishFor = Effect.fnUntraced(function* (places: Places) {
  const event = yield* publish()
  const claimed = yield* (yield* DeliveryStore).claimDue({
    now: yield* DateTime.now,
    leaseUntil: places.leaseUntil,
    limit: places.count,
    limitPerEndpoint: 1,
    limits: new Map(places.full.map((id) => [id, 0])),
    tenantLimits: [],
  })
  return { event, claimed }
})

describe("a dispatcher", () => {
  it.effect("sends what a publication hands over, and claims nothing for it", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const { claims, reserve } = yield* start()
      const before = claims.length
      const places = placesOf(yield* reserve())
      const { claimed, event } = yield* publishFor(places)
      assert.isTrue(places.take(claimed))
      yield* settle
      assert.lengthOf(yield* received(), 1)
      assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
      assert.strictEqual(claims.length, before)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("takes nothing before its first claim has ended, or while one is under way", () =>
    Effect.gen(function* () {
      const { close, hold, reserve } = yield* start()
      hold(true)
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.isUndefined(yield* reserve())
      const closing = yield* Effect.forkChild(close, { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(closing)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("takes nothing while more may be due than it has claimed", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, takes(5_000, answers(200)))
      yield* publish()
      yield* publish()
      const { reserve } = yield* start({ maxInFlight: 2 })
      assert.isUndefined(yield* reserve())
      for (let second = 0; second < 7; second++) yield* Effect.andThen(TestClock.adjust("1 second"), settle)
      assert.strictEqual((yield* reserve())?.count, 1)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("has fewer places for claims until the publication has ended, and then claims again", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const { claims, reserve } = yield* start({ maxInFlight: 8, maxInFlightPerEndpoint: 1 })
      const places = placesOf(yield* reserve())
      assert.strictEqual(places.count, 4)
      const event = yield* publish()
      yield* TestClock.adjust("1 second")
      yield* settle
      const last = claims.at(-1)
      assert.deepStrictEqual([last?.limit, last?.limitPerEndpoint], [4, 0])
      assert.strictEqual((yield* deliveryOf(event)).status, "Pending")
      assert.isTrue(places.take(NOTHING))
      yield* settle
      assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("takes nothing after it has stopped, also what had places before", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const { close, intakes, reserve } = yield* start()
      const places = placesOf(yield* reserve())
      const { claimed } = yield* publishFor(places)
      yield* close
      assert.strictEqual(intakes.size, 0)
      assert.isFalse(places.take(claimed))
      yield* settle
      assert.lengthOf(yield* received(), 0)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect(
    "lets no attempt begin to an endpoint beyond its limit, however publications and claims meet",
    () =>
      Effect.gen(function* () {
        const { endpoint } = yield* newEndpoint()
        yield* script(URL_A, takes(1_500, answers(200)))
        const { reserve } = yield* start({ maxInFlightPerEndpoint: 1 })
        const places = placesOf(yield* reserve())
        assert.isUndefined(yield* reserve(), "one more event could reach the same endpoint")
        const { claimed } = yield* publishFor(places)
        places.take(claimed)
        yield* settle
        assert.deepStrictEqual((yield* reserve())?.full, [endpoint.id])
        yield* TestClock.adjust("2 seconds")
        yield* settle
        assert.lengthOf(yield* received(), 1)
      }).pipe(Effect.scoped, inWorld()),
  )
})
