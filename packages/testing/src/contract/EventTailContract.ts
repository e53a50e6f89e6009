/**
 * The contract of following events: the tail of an `EventStore`, and the signal that it has grown.
 */
import {
  type CurrentTenant,
  DeliveryStore,
  type Event,
  EventStore,
  type StorageError,
  type TailPosition,
  Transactor,
  UsageStore,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option } from "effect"
import * as Sample from "../Sample.ts"
import {
  asTenant,
  type ContractServices,
  type ContractTest,
  otherTenants,
  type Patience,
  pause,
  same,
  times,
  together,
} from "./ContractTest.ts"
import { insertThreshold } from "./UsageProbe.ts"
import { newCustomer } from "./UsageProbe.ts"
import { minute, newEndpoint, publish } from "./WebhookProbe.ts"

/** How often a test looks for committed events. Transactions of other tests may delay them. */
export const LOOKS = 100

export const endOfTail = Effect.flatMap(EventStore, (store) =>
  Effect.map(store.tailPosition(undefined), Option.getOrThrow),
)

/** Reads on until this many events have come, and then once more. Returns their ids. */
export const follow: (
  from: TailPosition,
  count: number,
  options?: { readonly limit?: number; readonly types?: ReadonlyArray<string> },
) => Effect.Effect<Array<string>, StorageError, CurrentTenant | EventStore | Patience> = Effect.fnUntraced(
  function* (from, count, { limit = 10, types = [] } = {}) {
    const store = yield* EventStore
    const found: Array<string> = []
    let position = from
    for (let look = 0; look < LOOKS && found.length < count; look++) {
      const step = yield* store.tail(position, types, limit)
      if (step.events.length === 0) yield* pause
      found.push(...step.events.map(({ id }) => id))
      position = step.position
    }
    const last = yield* store.tail(position, types, limit)
    return [...found, ...last.events.map(({ id }) => id)]
  },
)

const ids = (events: ReadonlyArray<Event.Event>) => events.map(({ id }) => id)

const tail = (test: ContractTest): void => {
  test(
    "returns what was committed after a position, oldest first",
    Effect.gen(function* () {
      const store = yield* EventStore
      const start = yield* endOfTail
      same((yield* store.tail(start, [], 10)).events, [])
      const events = [yield* publish(), yield* publish({ data: [2] }), yield* publish()]
      same(yield* follow(start, 3), ids(events))
      const { events: found } = yield* store.tail(start, [], 2)
      same(found, events.slice(0, 2))
      same(yield* follow(yield* endOfTail, 0), [])
    }),
  )

  test(
    "follows the order of commits, not of ids or timestamps",
    Effect.gen(function* () {
      const start = yield* endOfTail
      const older = yield* Sample.eventId
      const newer = yield* publish({ timestamp: minute(9) })
      yield* publish({ id: older, timestamp: minute(1) })
      same(yield* follow(start, 2), [newer.id, older])
    }),
  )

  test(
    "misses and repeats no event, in steps of any size",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const start = yield* endOfTail
      const events = yield* Effect.forEach(
        times(5, (index) => index),
        // Both events of one commit.
        () => atomically(Effect.all([publish(), publish()])),
      )
      const expected = ids(events.flat())
      for (const limit of [1, 2, 3, 100]) {
        const found = yield* follow(start, 10, { limit })
        same([...found].sort(), [...expected].sort())
      }
    }),
  )

  test(
    "returns the requested types, and all types when none are requested",
    Effect.gen(function* () {
      const start = yield* endOfTail
      const types = ["invoice.paid", "invoice.created", "payment.failed"]
      const events = yield* Effect.forEach(
        times(9, (index) => index),
        (index) => publish({ type: types[index % 3]! }),
      )
      const of = (...chosen: Array<string>) => ids(events.filter(({ type }) => chosen.includes(type)))
      for (const limit of [1, 2, 10]) {
        same(yield* follow(start, 9, { limit }), ids(events))
        same(yield* follow(start, 3, { limit, types: ["invoice.paid"] }), of("invoice.paid"))
        const two = ["payment.failed", "invoice.created"]
        same(yield* follow(start, 6, { limit, types: two }), of(...two))
      }
      same(yield* follow(start, 0, { types: ["invoice.pai_"] }), [])
    }),
  )

  test(
    "returns the position after an event",
    Effect.gen(function* () {
      const store = yield* EventStore
      const events = [yield* publish(), yield* publish(), yield* publish()]
      const [first, second, third] = ids(events)
      const behind = (id: string | undefined) =>
        Effect.map(store.tailPosition(id as Event.Event["id"]), Option.getOrThrow)
      same(yield* follow(yield* behind(first), 2), [second, third])
      same(yield* follow(yield* behind(third), 0), [])
      same(yield* store.tailPosition(yield* Sample.eventId), Option.none())
    }),
  )

  test(
    "keeps tenants apart",
    Effect.gen(function* () {
      const store = yield* EventStore
      const start = yield* endOfTail
      const event = yield* publish()
      for (const tenant of yield* otherTenants) {
        const own = yield* Effect.gen(function* () {
          same(yield* store.tailPosition(event.id), Option.none())
          const from = yield* endOfTail
          const published = yield* publish()
          same(yield* follow(from, 1), [published.id])
          return published
        }).pipe(asTenant(tenant))
        same(yield* store.tailPosition(own.id), Option.none())
      }
      same(yield* follow(start, 1), [event.id])
    }),
  )
}

const gaps = (test: ContractTest): void => {
  for (const end of ["commits", "fails"] as const) {
    test(
      `misses no event of a transaction that ${end} late`,
      Effect.gen(function* () {
        const { atomically } = yield* Transactor
        const start = yield* endOfTail
        const hasPublished = yield* Deferred.make<void>()
        const mayEnd = yield* Deferred.make<void>()
        const late = yield* Sample.event()
        const holder = yield* Effect.forkChild(
          Effect.exit(
            atomically(
              publish({ id: late.id }).pipe(
                Effect.andThen(Deferred.succeed(hasPublished, undefined)),
                Effect.andThen(Deferred.await(mayEnd)),
                Effect.andThen(end === "fails" ? Effect.fail("no") : Effect.void),
              ),
            ),
          ),
        )
        yield* Deferred.await(hasPublished)
        // One fiber commits and one reads at the same time. No reader may skip the transaction that is still open.
        const meanwhile = yield* Effect.forkChild(Effect.all([publish(), publish()]))
        const count = end === "commits" ? 4 : 3
        const reader = yield* Effect.forkChild(follow(start, count, { limit: 1 }))
        yield* pause
        yield* Deferred.succeed(mayEnd, undefined)
        yield* Fiber.join(holder)
        const others = yield* Fiber.join(meanwhile)
        const last = yield* publish()
        const expected = [...ids([...others, last]), ...(end === "commits" ? [late.id] : [])].sort()
        same([...(yield* Fiber.join(reader))].sort(), expected)
        same([...(yield* follow(start, count))].sort(), expected)
      }),
    )
  }

  test(
    "returns every event once while others publish",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const start = yield* endOfTail
      const writers = yield* Effect.forkChild(
        together(
          times(20, (index) =>
            Effect.exit(
              atomically(
                Effect.gen(function* () {
                  const first = yield* publish()
                  yield* Effect.yieldNow
                  const second = yield* publish()
                  return index % 4 === 3 ? yield* Effect.fail("no") : [first.id, second.id]
                }),
              ),
            ),
          ),
        ),
      )
      const readers = yield* Effect.forkChild(together([1, 7].map((limit) => follow(start, 30, { limit }))))
      const expected = (yield* Fiber.join(writers)).flatMap((exit) =>
        Exit.isSuccess(exit) ? exit.value : [],
      )
      assert.strictEqual(expected.length, 30)
      for (const found of yield* Fiber.join(readers)) same([...found].sort(), [...expected].sort())
    }),
  )
}

/** Whether a signal comes during an effect or soon after it. Each call needs a new signal. */
const signals = Effect.fnUntraced(function* <R>(effect: Effect.Effect<unknown, unknown, R>) {
  const awaiting = yield* (yield* EventStore).committed
  const signal = yield* Effect.forkChild(awaiting)
  yield* effect
  for (let look = 0; look < LOOKS; look++) {
    if (signal.pollUnsafe() !== undefined) return true
    yield* pause
  }
  yield* Fiber.interrupt(signal)
  return false
})

const committed = (test: ContractTest): void => {
  test(
    "signals commits of events and deliveries",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const deliveries = yield* DeliveryStore
      assert.isTrue(yield* signals(publish()), "an event without deliveries")
      const endpoint = yield* newEndpoint()
      const event = yield* publish()
      assert.isTrue(yield* signals(publish()), "an event")
      assert.isTrue(yield* signals(atomically(Effect.asVoid(atomically(publish())))), "in a transaction")
      const [tenant] = yield* otherTenants
      assert.isTrue(yield* signals(publish().pipe(asTenant(tenant!))), "another tenant's")
      const replay = Effect.gen(function* () {
        const firstDeliveryId = yield* Sample.deliveryId
        const endpointIds = [endpoint.id]
        yield* deliveries.insert({ eventId: event.id, endpointIds, firstDeliveryId, now: minute(1) })
      })
      assert.isTrue(yield* signals(replay), "a replay")
      const other = yield* newEndpoint()
      const range = Effect.gen(function* () {
        const made = yield* deliveries.replayRange({
          endpointId: other.id,
          since: minute(0),
          until: minute(1),
          onlyFailed: false,
          types: [],
          firstDeliveryId: yield* Sample.deliveryId,
          now: minute(1),
          limit: 100,
          isDryRun: false,
        })
        assert.isAbove(made, 0)
      })
      assert.isTrue(yield* signals(range), "a replay of a range")
    }),
  )

  test(
    "signals that usage fired a threshold",
    Effect.gen(function* () {
      const usage = yield* UsageStore
      const customerId = yield* newCustomer
      yield* insertThreshold(customerId, { quantity: 1n })
      const append = Effect.flatMap(Sample.record(customerId), (record) => usage.append([record]))
      assert.isTrue(yield* signals(append))
    }),
  )

  test(
    "signals to every subscriber, also commits from before it waits",
    Effect.gen(function* () {
      const store = yield* EventStore
      const subscriptions = yield* Effect.all(times(3, () => store.committed))
      yield* publish()
      const waiting = yield* Effect.forEach(subscriptions, (awaiting) => Effect.forkChild(awaiting))
      yield* Fiber.joinAll(waiting)
    }),
  )

  test(
    "signals after the commit, not before",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      // A signal may come without a reason. But not all of them may come before the commit.
      const attempt: Effect.Effect<boolean, unknown, ContractServices> = Effect.gen(function* () {
        const awaiting = yield* (yield* EventStore).committed
        yield* pause
        const early = yield* Effect.forkChild(awaiting)
        const isEarly = yield* atomically(
          Effect.gen(function* () {
            yield* publish()
            yield* atomically(publish())
            yield* pause
            return early.pollUnsafe() !== undefined
          }),
        )
        yield* Fiber.join(early)
        return isEarly
      })
      const results = yield* Effect.all(times(5, () => attempt))
      assert.isTrue(results.includes(false))
    }),
  )
}

export const eventTailContract = (test: ContractTest): void => {
  test.section("tail", () => {
    tail(test)
    gaps(test)
  })
  test.section("committed", () => committed(test))
}
