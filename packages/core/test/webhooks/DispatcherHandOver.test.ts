/**
 * How a dispatcher takes deliveries that its process publishes. The storage here hands over what a test tells it to.
 */
import {
  type Claim,
  type Claimed,
  DeliveryStore,
  Dispatcher,
  type DispatcherOptions,
  type Intake,
  type Places,
  type StorageError,
} from "@billwright/core"
import { Receiver } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Exit, Layer, Option, Scope } from "effect"
import { TestClock } from "effect/testing"
import { acme, NOON } from "../world.ts"
import { attemptsOf, deliveryOf, inWorld, newEndpoint, publish, received, script, URL_A } from "./world.ts"

const { answers, takes } = Receiver

/** Lets what runs in the background come as far as it can. */
const settle = Effect.gen(function* () {
  for (let i = 0; i < 500; i++) yield* Effect.yieldNow
})

const NOTHING: Claimed = { deliveries: [], unreadable: [] }

type ClaimDue = (claim: Claim) => Effect.Effect<Claimed, StorageError>

/**
 * Starts a dispatcher whose storage doesn't tell it of commits. So it claims when it starts, and each second. `claims` are its
 * claims. `during` changes what a claim does.
 */
const start = Effect.fnUntraced(function* (options: DispatcherOptions = {}, during?: ClaimDue) {
  const store = yield* DeliveryStore
  const intakes = new Set<Intake>()
  const claims: Array<Claim> = []
  let claimDue = during ?? store.claimDue
  const handing = Layer.succeed(DeliveryStore, {
    ...store,
    claimDue: (claim) =>
      Effect.suspend(() => {
        claims.push(claim)
        return claimDue(claim)
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
    claimsBy: (change: ClaimDue) => {
      claimDue = change
    },
    close: Scope.close(scope, Exit.void),
    offer: (events = 1) => intake.offer(acme, events),
    intake,
  }
})

const placesOf = (places: Places | undefined): Places => {
  assert.isDefined(places)
  return places
}

/** A claim of one delivery, long before its lease ends. */
const CLAIM: Claim = {
  now: NOON,
  leaseUntil: DateTime.add(NOON, { hours: 1 }),
  limit: 1,
  limitPerEndpoint: 1,
  limits: new Map(),
  tenantLimits: [],
}

/** Publishes, and leases what is due as the storage would do. */
const publishFor = Effect.fnUntraced(function* (places: Places) {
  const event = yield* publish()
  const claimed = yield* (yield* DeliveryStore).claimDue({
    now: yield* DateTime.now,
    leaseUntil: places.leaseUntil,
    limit: places.count,
    limitPerEndpoint: 8,
    limits: new Map(places.full.map((id) => [id, 0])),
    tenantLimits: [],
  })
  return { event, claimed }
})

const second = Effect.andThen(TestClock.adjust("1 second"), settle)

describe("a dispatcher", () => {
  it.effect("sends what a publication hands over, and claims nothing for it", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const { claims, offer } = yield* start()
      const before = claims.length
      const places = placesOf(yield* offer())
      const now = yield* DateTime.now
      assert.strictEqual(places.leaseUntil.epochMilliseconds - now.epochMilliseconds, 30_000)
      const { claimed, event } = yield* publishFor(places)
      assert.isTrue(places.take(claimed))
      yield* settle
      assert.lengthOf(yield* received(), 1)
      assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
      assert.strictEqual(claims.length, before)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("offers nothing before its first claim has ended", () =>
    Effect.gen(function* () {
      const mayEnd = yield* Deferred.make<void>()
      const store = yield* DeliveryStore
      const { offer } = yield* start({}, (claim) =>
        Effect.andThen(Deferred.await(mayEnd), store.claimDue(claim)),
      )
      assert.isUndefined(yield* offer())
      yield* Deferred.succeed(mayEnd, undefined)
      yield* settle
      assert.isDefined(yield* offer())
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("offers nothing while more may be due than it has claimed", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* publish()
      const [claimed] = (yield* (yield* DeliveryStore).claimDue(CLAIM)).deliveries
      assert.isDefined(claimed)
      const { claimsBy, offer } = yield* start({ maxInFlight: 2 })
      placesOf(yield* offer()).take(NOTHING)
      // It gets all that it asks for, none of which takes a place. Then it claims again.
      const mayEnd = yield* Deferred.make<void>()
      claimsBy(() => {
        claimsBy(() => Effect.as(Deferred.await(mayEnd), NOTHING))
        const broken = { ...claimed, cause: new Error("broken") }
        return Effect.succeed({ deliveries: [], unreadable: [broken, broken] })
      })
      yield* second
      assert.isUndefined(yield* offer())
      yield* Deferred.succeed(mayEnd, undefined)
      yield* settle
      assert.isDefined(yield* offer())
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("takes nothing after it has stopped, also what had places before", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const { close, intakes, offer } = yield* start()
      const places = placesOf(yield* offer())
      const { claimed } = yield* publishFor(places)
      yield* close
      assert.strictEqual(intakes.size, 0)
      assert.isFalse(places.take(claimed))
      yield* settle
      assert.lengthOf(yield* received(), 0)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("takes nothing whose lease would end before the attempt", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const { offer } = yield* start({ leaseMillis: 16_000 })
      const [early, late] = [placesOf(yield* offer()), placesOf(yield* offer())]
      yield* TestClock.adjust(999)
      assert.isTrue(early.take(NOTHING))
      yield* TestClock.adjust(1)
      assert.isFalse(late.take(NOTHING))
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("sets aside what it can't read", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const { offer } = yield* start()
      const places = placesOf(yield* offer())
      const { claimed, event } = yield* publishFor(places)
      const unreadable = claimed.deliveries.map((one) => ({ ...one, cause: new Error("broken") }))
      assert.isTrue(places.take({ deliveries: [], unreadable }))
      yield* settle
      const { reason, status } = yield* deliveryOf(event)
      assert.deepStrictEqual([status, reason], ["Failed", "unreadable"])
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("releases what finds its endpoint full, and sends it later", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* newEndpoint()
      yield* script(URL_A, takes(2_500, answers(200)))
      const { offer } = yield* start({ maxInFlightPerEndpoint: 1 })
      const [one, other] = [placesOf(yield* offer()), placesOf(yield* offer())]
      const first = yield* publishFor(one)
      const later = yield* publishFor(other)
      one.take(first.claimed)
      other.take(later.claimed)
      yield* second
      assert.lengthOf(yield* received(), 1)
      assert.deepStrictEqual((yield* offer())?.full, [endpoint.id])
      const { attemptCount, status } = yield* deliveryOf(later.event)
      assert.deepStrictEqual([status, attemptCount], ["Pending", 0])
      // At the end of the first attempt, and not when it claims the next time.
      yield* Effect.andThen(TestClock.adjust(1_500), settle)
      assert.lengthOf(yield* received(), 2)
      yield* Effect.andThen(TestClock.adjust("4 seconds"), settle)
      assert.strictEqual((yield* deliveryOf(later.event)).status, "Delivered")
      assert.lengthOf(yield* attemptsOf(yield* deliveryOf(later.event)), 1)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("begins no more attempts than it may when publications and claims meet", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, takes(3_000, answers(200)))
      const store = yield* DeliveryStore
      const mayEnd = yield* Deferred.make<void>()
      const dispatcherOf = yield* start({ maxInFlight: 4, maxInFlightPerEndpoint: 4 })
      const places = placesOf(yield* dispatcherOf.offer())
      const { claimed } = yield* publishFor(places)
      for (let count = 0; count < 4; count++) yield* publish()
      // The claim is for all four places. Meanwhile one is taken.
      dispatcherOf.claimsBy((claim) => Effect.tap(store.claimDue(claim), () => Deferred.await(mayEnd)))
      yield* second
      assert.strictEqual(dispatcherOf.claims.at(-1)?.limit, 4)
      places.take(claimed)
      yield* Deferred.succeed(mayEnd, undefined)
      yield* settle
      assert.lengthOf(yield* received(), 4)
      for (let count = 0; count < 8; count++) yield* second
      assert.lengthOf(yield* received(), 5)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("sends what another process leased by a standing offer", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const { claims, intake } = yield* start()
      const before = claims.length
      const offer = yield* intake.standingOffer
      const leaseUntil = DateTime.add(yield* DateTime.now, { seconds: 30 })
      assert.deepStrictEqual(offer, { count: 8, full: [], leaseMillis: 30_000 })
      const { claimed, event } = yield* publishFor({ count: 8, full: [], leaseUntil, take: () => true })
      assert.isTrue(intake.takeFromOthers(claimed, leaseUntil))
      yield* settle
      assert.lengthOf(yield* received(), 1)
      assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
      assert.strictEqual(claims.length, before)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("takes nothing of others whose lease would end before the attempt, or after it has stopped", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const { close, intake } = yield* start({ leaseMillis: 17_000 })
      const leaseUntil = DateTime.add(yield* DateTime.now, { milliseconds: 17_000 })
      assert.strictEqual((yield* intake.standingOffer)?.leaseMillis, 17_000)
      yield* TestClock.adjust(1_999)
      assert.isTrue(intake.takeFromOthers(NOTHING, leaseUntil))
      yield* TestClock.adjust(1)
      assert.isFalse(intake.takeFromOthers(NOTHING, leaseUntil))
      yield* close
      assert.isFalse(intake.takeFromOthers(NOTHING, DateTime.add(leaseUntil, { hours: 1 })))
      assert.isUndefined(yield* intake.standingOffer)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("makes no standing offer whose leases could end before it is over", () =>
    Effect.gen(function* () {
      const { intake } = yield* start({ leaseMillis: 16_999 })
      assert.isUndefined(yield* intake.standingOffer)
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("makes no standing offer before its first claim has ended", () =>
    Effect.gen(function* () {
      const mayEnd = yield* Deferred.make<void>()
      const { intake } = yield* start({}, () => Effect.as(Deferred.await(mayEnd), NOTHING))
      assert.isUndefined(yield* intake.standingOffer)
      yield* Deferred.succeed(mayEnd, undefined)
      yield* settle
      assert.isDefined(yield* intake.standingOffer)
    }).pipe(Effect.scoped, inWorld()),
  )
})
