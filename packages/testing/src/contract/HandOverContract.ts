/**
 * The contract of `DeliveryStore.handTo` and `due`: deliveries that a publication leases to the dispatcher of its own process.
 * A storage may hand over none. Each test is about what then may happen, whatever was handed over.
 */
import {
  type ClaimedDelivery,
  DeliveryStore,
  type Endpoint,
  type Event,
  EventStore,
  type Intake,
  Tenant,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import * as Sample from "../Sample.ts"
import { type ContractTest, pause, same, sameSet, times, together } from "./ContractTest.ts"
import { LOOKS } from "./EventTailContract.ts"
import {
  claim,
  deliveriesOf,
  delivery,
  emptyQueue,
  idsOf,
  minute,
  newEndpoint,
  publish,
  publishAs,
  settle,
  settlementOf,
  unknownAttempt,
} from "./WebhookProbe.ts"

interface IntakeOptions {
  readonly count?: number
  readonly full?: ReadonlyArray<Endpoint.EndpointId>
}

/** An intake with places for the tenant of the test, which keeps what it takes. */
const intakeOf = Effect.fnUntraced(function* ({ count = 100, full = [] }: IntakeOptions = {}) {
  const own = Tenant.tenantKey(yield* Tenant.CurrentTenant)
  const taken: Array<ClaimedDelivery> = []
  let kept = 0
  const intake: Intake = {
    offer: (tenant) =>
      Effect.sync(() => {
        if (Tenant.tenantKey(tenant) !== own) return undefined
        kept++
        return {
          count,
          full,
          leaseUntil: minute(5),
          take: ({ deliveries }) => {
            kept--
            taken.push(...deliveries)
            return true
          },
        }
      }),
    standingOffer: Effect.succeed(undefined),
    takeFromOthers: () => false,
  }
  return { intake, taken, kept: () => kept }
})

/** Hands publications to a new intake, until the test ends. */
const withIntake = Effect.fnUntraced(function* (options?: IntakeOptions) {
  const own = yield* intakeOf(options)
  yield* (yield* DeliveryStore).handTo(own.intake)
  return own
})

/** The deliveries of events are with the intake or are claimed, each of them once. */
const eachOnce = Effect.fnUntraced(function* (
  taken: ReadonlyArray<ClaimedDelivery>,
  events: ReadonlyArray<Event.Event>,
) {
  const made = (yield* Effect.forEach(events, deliveriesOf)).flat()
  const all = [...taken, ...(yield* claim(minute(1))).deliveries]
  sameSet(idsOf(all), idsOf(made), (id) => id)
  return all
})

const handing = (test: ContractTest): void => {
  test(
    "leases each delivery once: to the intake or to a claim",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* Effect.all(times(3, () => newEndpoint()))
      const { kept, taken } = yield* withIntake()
      const events = yield* together(times(8, () => publish()))
      const all = yield* eachOnce(taken, events)
      assert.strictEqual(kept(), 0, "places are given back")
      same(
        yield* settle(all.map((one) => settlementOf(one))),
        times(24, () => true),
      )
      for (const { id } of all) same((yield* delivery(id)).delivery.status, "Delivered")
    }),
  )

  test(
    "gives the intake what a claim would give",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      yield* newEndpoint({ eventTypes: ["invoice.paid"], signature: "ed25519" })
      const { taken } = yield* withIntake()
      const event = yield* publish({ type: "invoice.paid" })
      const found = new Map([...taken].map((one) => [one.id, one]))
      // The lease is over, so that a claim takes the same deliveries.
      const { deliveries: claimed } = yield* claim(minute(6))
      for (const one of claimed) {
        const handed = found.get(one.id)
        if (handed === undefined) continue
        same({ ...handed, token: "" }, { ...one, token: "", attemptCount: 0, wasLost: false })
        same([one.attemptCount, one.wasLost], [1, true])
        same(yield* settle([settlementOf(handed)]), [false])
        same((yield* delivery(one.id)).attempts, [unknownAttempt(1, event.timestamp)])
      }
    }),
  )

  test(
    "hands over no more than there are places, and nothing to endpoints that are full",
    Effect.gen(function* () {
      yield* emptyQueue
      const endpoints = yield* Effect.all(times(5, () => newEndpoint()))
      const full = endpoints.slice(0, 2).map(({ id }) => id)
      const { taken } = yield* withIntake({ count: 2, full })
      const event = yield* publish()
      assert.isAtMost(taken.length, 2)
      for (const { endpoint } of taken) assert.notInclude(full, endpoint.id)
      yield* eachOnce(taken, [event])
    }),
  )

  test(
    "hands over nothing before its transaction is committed, and nothing that is rolled back",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      const { atomically } = yield* Transactor
      const { kept, taken } = yield* withIntake()
      const undone = atomically(Effect.andThen(publish(), Effect.fail("undone" as const)))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(undone)))
      same(taken, [])
      const event = yield* atomically(Effect.tap(publish(), () => Effect.sync(() => same(taken, []))))
      yield* eachOnce(taken, [event])
      assert.strictEqual(kept(), 0)
    }),
  )

  test(
    "gives places back when nothing is published",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      const { kept, taken } = yield* withIntake()
      const first = yield* publish({ idempotencyKey: "once" })
      const before = taken.length
      const again = yield* publishAs(yield* Sample.event({ idempotencyKey: "once" }))
      same([again._tag, "event" in again ? again.event.id : undefined], ["Duplicate", first.id])
      const endpoint = yield* Sample.endpoint()
      const forNobody = yield* Sample.event({ endpointId: endpoint.endpoint.id })
      same((yield* publishAs(forNobody))._tag, "EndpointNotFound")
      assert.strictEqual(taken.length, before)
      assert.strictEqual(kept(), 0)
    }),
  )

  test(
    "hands over nothing after the scope has closed",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      const { intake, taken } = yield* intakeOf()
      const scope = yield* Scope.make()
      yield* Scope.provide((yield* DeliveryStore).handTo(intake), scope)
      yield* Scope.close(scope, Exit.void)
      const event = yield* publish()
      same(taken, [])
      yield* eachOnce(taken, [event])
    }),
  )
}

const due = (test: ContractTest): void => {
  test(
    "signals deliveries that nobody was handed",
    Effect.gen(function* () {
      yield* newEndpoint()
      const store = yield* EventStore
      const awaiting = yield* (yield* DeliveryStore).due
      const signal = yield* Effect.forkChild(awaiting)
      yield* store.publish(yield* Sample.event())
      for (let look = 0; look < LOOKS && signal.pollUnsafe() === undefined; look++) yield* pause
      assert.isDefined(signal.pollUnsafe())
      yield* Fiber.interrupt(signal)
    }),
  )
}

export const handOverContract = (test: ContractTest): void => {
  test.section("handTo", () => handing(test))
  test.section("due", () => due(test))
}
