/**
 * What becomes of results when storage falters: the dispatcher's stores fail as the test says, those of everybody
 * else are sound.
 */
import {
  Billing,
  DeliveryStore,
  Dispatcher,
  Endpoints,
  type Event,
  IdGenerator,
  LEASE_MILLIS,
  type Settlement,
  StorageError,
  Tenant,
  Transactor,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { Receiver, ScriptedReceivers } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { acme, listen, NOON } from "../world.ts"
import {
  attemptsOf,
  deliveriesOf,
  deliveryOf,
  newEndpoint,
  publish,
  received,
  runDue,
  script,
  URL_A,
  URL_B,
} from "./world.ts"

const { answers, inTurn } = Receiver

const busy = new StorageError({ operation: "DeliveryStore.settle", retryable: true })
const lost = new StorageError({ operation: "DeliveryStore.settle", retryable: false, isOutcomeUnknown: true })
const refused = new StorageError({ operation: "DeliveryStore.settle", retryable: false })

/** What goes wrong with a call: before it is carried out, or after. */
type Fault = <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>

/** What goes wrong with the calls of a verb, the first one first. Later ones are well. */
type Faults = Array<Fault>

const before =
  (error: StorageError): Fault =>
  () =>
    Effect.fail(error)
/** The call is carried out, and its answer lost. */
const after =
  (error: StorageError): Fault =>
  (call) =>
    Effect.andThen(call, Effect.fail(error))

/** The call throws. */
const bug: Fault = () => Effect.die(new Error("a bug"))

class Script extends Context.Service<
  Script,
  {
    readonly settle: Faults
    readonly cancel: Faults
    readonly atomically: Faults
    /** Deliveries that somebody else's transaction holds, and for how many writes of their results. */
    readonly held: Map<string, number>
  }
>()("Script") {}

/** Writes the results of deliveries that nobody holds. */
const settleOthers = Effect.fnUntraced(function* (
  store: DeliveryStore["Service"],
  held: Map<string, number>,
  settlements: ReadonlyArray<Settlement>,
) {
  const isHeld = new Set(settlements.map(({ id }) => id).filter((id) => (held.get(id) ?? 0) > 0))
  for (const id of isHeld) held.set(id, held.get(id)! - 1)
  const written = yield* store.settle(settlements.filter(({ id }) => !isHeld.has(id)))
  const rest = [...written]
  return settlements.map(({ id }) => (isHeld.has(id) ? undefined : rest.shift()))
})

const through = <A, E, R>(
  faults: Faults,
  call: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R> => Effect.suspend(() => faults.shift()?.(call) ?? call)

const faultyStores = Layer.effectContext(
  Effect.gen(function* () {
    const script = yield* Script
    const deliveries = yield* DeliveryStore
    const transactor = yield* Transactor
    return Context.make(DeliveryStore, {
      ...deliveries,
      settle: (settlements) => through(script.settle, settleOthers(deliveries, script.held, settlements)),
      cancel: (...args) => through(script.cancel, deliveries.cancel(...args)),
    }).pipe(
      Context.add(Transactor, {
        ...transactor,
        atomically: (effect) => through(script.atomically, transactor.atomically(effect)),
      }),
    )
  }),
)

const world = Dispatcher.layerManual().pipe(
  Layer.provide(faultyStores),
  Layer.provideMerge(
    Billing.layerWithIds({ encryption: "none" }).pipe(
      Layer.provideMerge(Layer.mergeAll(Memory.layer, IdGenerator.layerSeeded(1), ScriptedReceivers.layer)),
      Layer.merge(Layer.succeed(Tenant.CurrentTenant, acme)),
      Layer.merge(Layer.sync(Script, () => ({ settle: [], cancel: [], atomically: [], held: new Map() }))),
    ),
  ),
)

const inWorld = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.andThen(TestClock.setTime(NOON.epochMilliseconds), Effect.provide(test, world))

/** Makes the attempts that are due, while so much time passes. */
const runFor = Effect.fnUntraced(function* (millis: number) {
  const running = yield* Effect.forkChild(runDue, { startImmediately: true })
  yield* TestClock.adjust(millis)
  return running
})

const statusOf = (event: Event.Event) =>
  Effect.map(deliveryOf(event), ({ reason, status }) => reason ?? status)

describe("a result", () => {
  it.effect.each([
    ["storage is busy", before(busy)],
    ["nobody knows whether it was written, and it was not", before(lost)],
    ["nobody knows whether it was written, and it was", after(lost)],
  ] as const)("is written once although %s at first", ([, fault]) =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const event = yield* publish()
      ;(yield* Script).settle.push(fault, fault)
      yield* Fiber.join(yield* runFor(1_000))
      const delivery = yield* deliveryOf(event)
      assert.strictEqual(delivery.status, "Delivered")
      assert.lengthOf(yield* attemptsOf(delivery), 1)
      assert.lengthOf(yield* received(), 1)
    }).pipe(inWorld),
  )

  it.effect("is given up when its lease has ended, and sent again", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const event = yield* publish()
      const { settle } = yield* Script
      const times = LEASE_MILLIS / 500 + 1
      for (let n = 0; n < times; n++) settle.push(before(busy))
      const running = yield* runFor(LEASE_MILLIS - 500)
      assert.deepStrictEqual([yield* statusOf(event), settle.length > 0], ["Pending", true])
      yield* TestClock.adjust(500)
      yield* Fiber.join(running)
      assert.lengthOf(settle, 0)
      const delivery = yield* deliveryOf(event)
      assert.deepStrictEqual([delivery.status, delivery.attemptCount], ["Delivered", 2])
      assert.deepStrictEqual(
        (yield* attemptsOf(delivery)).map(({ error }) => error),
        ["unknown", null],
      )
    }).pipe(inWorld),
  )

  it.effect.each([
    ["that storage can't take", before(refused)],
    ["that runs into a bug of the storage", bug],
  ] as const)("%s keeps no other from it", ([, fault]) =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const [bad, good] = [yield* publish(), yield* publish()]
      // All of them together, then the first by itself.
      ;(yield* Script).settle.push(fault, fault)
      yield* Fiber.join(yield* runFor(0))
      assert.deepStrictEqual([yield* statusOf(bad), yield* statusOf(good)], ["Pending", "Delivered"])
    }).pipe(inWorld),
  )

  it.effect("waits by itself while somebody else's transaction holds its delivery", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const [one, other] = [yield* publish(), yield* publish()]
      const { held } = yield* Script
      held.set((yield* deliveryOf(one)).id, 2)
      const running = yield* runFor(0)
      assert.deepStrictEqual([yield* statusOf(one), yield* statusOf(other)], ["Pending", "Delivered"])
      const later = yield* publish()
      const both = yield* runFor(0)
      assert.deepStrictEqual([yield* statusOf(one), yield* statusOf(later)], ["Pending", "Delivered"])
      yield* TestClock.adjust(500)
      assert.strictEqual(yield* statusOf(one), "Pending")
      yield* TestClock.adjust(500)
      yield* Effect.all([Fiber.join(running), Fiber.join(both)])
      assert.strictEqual(yield* statusOf(one), "Delivered")
      assert.lengthOf(yield* received(), 3)
    }).pipe(inWorld),
  )

  it.effect("is given up when its lease has ended while somebody else still holds its delivery", () => {
    const { logged, logger } = listen()
    return Effect.gen(function* () {
      yield* newEndpoint()
      const event = yield* publish()
      const { held } = yield* Script
      const { id } = yield* deliveryOf(event)
      held.set(id, LEASE_MILLIS / 500 + 1)
      const running = yield* runFor(LEASE_MILLIS - 500)
      assert.deepStrictEqual([yield* statusOf(event), held.get(id), logged], ["Pending", 1, []])
      yield* TestClock.adjust(500)
      yield* Fiber.join(running)
      assert.deepStrictEqual(logged, ["results of webhook attempts were not written in time"])
      assert.strictEqual((yield* deliveryOf(event)).attemptCount, 2)
    }).pipe(inWorld, Effect.provide(logger))
  })

  it.effect("is one of many whose failures are logged once, then by and by, and so is their end", () => {
    const { logged, logger } = listen()
    const failed = "the result of a webhook attempt cannot be written"
    /** All of them together, then each by itself. */
    const refuseAll = Effect.gen(function* () {
      ;(yield* Script).settle.push(...Array<Fault>(6).fill(before(refused)))
      yield* Fiber.join(yield* runFor(0))
    })
    return Effect.gen(function* () {
      yield* newEndpoint()
      const events = yield* Effect.forEach([1, 2, 3, 4, 5], () => publish())
      yield* refuseAll
      assert.deepStrictEqual(logged, [failed])
      yield* TestClock.adjust("1 minute")
      yield* refuseAll
      assert.deepStrictEqual(logged.slice(1), [`${failed} (4 failures were not logged)`])
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(yield* runFor(0))
      assert.deepStrictEqual(logged.slice(2), [
        "results of webhook attempts are written again (4 failures were not logged)",
      ])
      for (const event of events) assert.strictEqual(yield* statusOf(event), "Delivered")
    }).pipe(inWorld, Effect.provide(logger))
  })
})

describe("a result that disables its endpoint", () => {
  /** An endpoint with a delivery that waits for its next attempt, and a new one that will be answered by 410. */
  const going = Effect.gen(function* () {
    const { endpoint } = yield* newEndpoint()
    yield* script(URL_A, inTurn(answers(500), answers(410)))
    const waiting = yield* publish()
    yield* runDue
    return { endpoint, waiting, last: yield* publish() }
  })

  it.effect("keeps no other waiting while somebody holds the endpoint", () =>
    Effect.gen(function* () {
      const { endpoint, last } = yield* going
      const held = yield* Deferred.make<void>()
      ;(yield* Script).atomically.push((call) => Effect.andThen(Deferred.await(held), call))
      const running = yield* runFor(0)
      yield* newEndpoint({ url: URL_B })
      yield* script(URL_A, answers(204))
      const other = yield* publish()
      const both = yield* runFor(0)
      assert.deepStrictEqual(
        (yield* deliveriesOf(other)).map(({ status }) => status),
        ["Delivered", "Delivered"],
      )
      assert.strictEqual(yield* statusOf(last), "Pending")
      yield* Deferred.succeed(held, undefined)
      yield* Effect.all([Fiber.join(running), Fiber.join(both)])
      assert.strictEqual((yield* (yield* Endpoints).get(endpoint.id)).status, "disabled")
      assert.strictEqual(yield* statusOf(last), "gone")
    }).pipe(inWorld),
  )

  it.effect("disables it once nobody else holds its delivery", () =>
    Effect.gen(function* () {
      const { endpoint, last } = yield* going
      ;(yield* Script).held.set((yield* deliveryOf(last)).id, 1)
      const running = yield* runFor(0)
      assert.strictEqual((yield* (yield* Endpoints).get(endpoint.id)).status, "enabled")
      yield* TestClock.adjust(500)
      yield* Fiber.join(running)
      assert.strictEqual((yield* (yield* Endpoints).get(endpoint.id)).status, "disabled")
      assert.strictEqual(yield* statusOf(last), "gone")
    }).pipe(inWorld),
  )

  it.effect.each([
    ["writing it fails at first", "atomically", before(busy)],
    ["the answer to its write is lost", "atomically", after(lost)],
    ["ending the others fails at first", "cancel", before(busy)],
    ["the answer to ending the others is lost", "cancel", after(lost)],
  ] as const)("ends all that is pending for it although %s", ([, verb, fault]) =>
    Effect.gen(function* () {
      const { endpoint, last, waiting } = yield* going
      ;(yield* Script)[verb].push(fault)
      yield* Fiber.join(yield* runFor(500))
      const { disabledReason, status } = yield* (yield* Endpoints).get(endpoint.id)
      assert.deepStrictEqual([status, disabledReason], ["disabled", "gone"])
      assert.deepStrictEqual([yield* statusOf(last), yield* statusOf(waiting)], ["gone", "endpoint_disabled"])
      assert.lengthOf(yield* attemptsOf(yield* deliveryOf(last)), 1)
    }).pipe(inWorld),
  )

  it.effect("is logged when it runs into a bug of the storage", () => {
    const { logged, logger } = listen()
    return Effect.gen(function* () {
      const { last } = yield* going
      ;(yield* Script).atomically.push(bug)
      yield* Fiber.join(yield* runFor(0))
      assert.strictEqual(yield* statusOf(last), "Pending")
      assert.deepStrictEqual(logged, ["the result of a webhook attempt cannot be written"])
    }).pipe(inWorld, Effect.provide(logger))
  })

  it.effect("is given up when its lease has ended, and the delivery tried again", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* newEndpoint()
      yield* script(URL_A, answers(410))
      const last = yield* publish()
      const { atomically } = yield* Script
      for (let n = 0; n <= LEASE_MILLIS / 500; n++) atomically.push(before(busy))
      const running = yield* runFor(LEASE_MILLIS - 500)
      assert.strictEqual((yield* (yield* Endpoints).get(endpoint.id)).status, "enabled")
      yield* TestClock.adjust(500)
      yield* Fiber.join(running)
      assert.deepStrictEqual(
        (yield* attemptsOf(yield* deliveryOf(last))).map(
          (attempt) => attempt.error ?? attempt.responseStatus,
        ),
        ["unknown", 410],
      )
      assert.strictEqual((yield* (yield* Endpoints).get(endpoint.id)).status, "disabled")
    }).pipe(inWorld),
  )
})
