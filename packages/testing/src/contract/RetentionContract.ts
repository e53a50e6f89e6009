/**
 * The contract of `RetentionStore`: it removes old rows with everything that depends on them, and nothing else.
 *
 * The events of these tests are of 1971, and no event of another test is that old.
 */
import {
  DeliveryStore,
  type Event,
  EventStore,
  type PruneStep,
  RetentionStore,
  type StorageError,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Option } from "effect"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, otherTenants, pause, same, times } from "./ContractTest.ts"
import {
  claimOne,
  deliveriesOf,
  delivery,
  emptyQueue,
  eventIds,
  failedUntil,
  listDeliveries,
  listEvents,
  newEndpoint,
  publish,
  refused,
  replay,
  settle,
  settlementOf,
} from "./WebhookProbe.ts"

const day = (number: number): DateTime.Utc =>
  DateTime.add(Sample.instant("1971-01-01T00:00:00Z"), { days: number })

/** The old days of these tests: 0 to 9. */
const BEFORE = day(10)

interface Total {
  readonly events: number
  readonly deliveries: number
  readonly attempts: number
}

/** Prunes step by step until everything old was visited. */
const prune = Effect.fnUntraced(function* (options: Partial<PruneStep> = {}) {
  const store = yield* RetentionStore
  let total: Total = { events: 0, deliveries: 0, attempts: 0 }
  let after: string | undefined
  do {
    const step = { before: BEFORE, limit: 100, isDryRun: false, ...options, after }
    const { attempts, deliveries, events, next } = yield* store.pruneEvents(step)
    assert.isAtMost(events, step.limit)
    total = {
      events: total.events + events,
      deliveries: total.deliveries + deliveries,
      attempts: total.attempts + attempts,
    }
    after = next
  } while (after !== undefined)
  return total
})

const pruneCounts = Effect.fnUntraced(function* (options: Partial<PruneStep> = {}) {
  const store = yield* RetentionStore
  let total = 0
  let after: string | undefined
  do {
    const { counts, next } = yield* store.pruneCounts({
      before: BEFORE,
      limit: 100,
      isDryRun: false,
      ...options,
      after,
    })
    total += counts
    after = next
  } while (after !== undefined)
  return total
})

const publishOn = (number: number) => publish({ timestamp: day(number) })

const isThere = (event: Event.Event) =>
  Effect.flatMap(EventStore, (store) => Effect.map(store.find(event.id), Option.isSome))

/** Claims the only delivery that is due on a day, and delivers it. */
const deliver = Effect.fnUntraced(function* (number: number) {
  const claimed = yield* claimOne(day(number))
  same(yield* settle([settlementOf(claimed, { at: day(number) })]), [true])
})

/** An endpoint, with an empty queue. */
const start = Effect.gen(function* () {
  yield* emptyQueue
  yield* prune()
  yield* pruneCounts()
  return yield* newEndpoint()
})

const removal = (test: ContractTest): void => {
  test(
    "removes old events with their deliveries and attempts, for all tenants",
    Effect.gen(function* () {
      const store = yield* EventStore
      yield* start
      const first = yield* publish({ timestamp: day(1), idempotencyKey: "once" })
      yield* deliver(2)
      const [gone] = yield* deliveriesOf(first)
      const second = yield* publishOn(3)
      const failed = yield* claimOne(day(3))
      yield* settle([settlementOf(failed, { at: day(3), ...failedUntil(failed, day(4)) }, refused)])
      yield* deliver(5)
      const young = yield* publishOn(10)
      yield* deliver(11)
      const [kept] = yield* deliveriesOf(young)
      const [tenant] = yield* otherTenants
      const others = yield* publishOn(0).pipe(asTenant(tenant!))

      same(yield* prune(), { events: 3, deliveries: 2, attempts: 3 })

      same(yield* eventIds(), [young.id])
      same((yield* listDeliveries()).data, [kept])
      same((yield* delivery(kept!.id)).attempts.length, 1)
      for (const event of [first, second]) {
        same(yield* store.find(event.id), Option.none())
        same(yield* store.tailPosition(event.id), Option.none())
        same(yield* deliveriesOf(event), [])
      }
      same(yield* (yield* DeliveryStore).find(gone!.id), Option.none())
      assert.isFalse(yield* isThere(others).pipe(asTenant(tenant!)))
      const cursor = { limit: 1, cursor: { direction: "older", id: first.id } } as const
      same((yield* Effect.flip(listEvents({}, cursor)))._tag, "CursorNotFound")
      // The key can be used again, and a new event with it is delivered as usual.
      const anew = yield* publish({ timestamp: day(12), idempotencyKey: "once" })
      yield* deliver(12)
      same((yield* deliveriesOf(anew))[0]?.status, "Delivered")
      same(yield* prune(), { events: 0, deliveries: 0, attempts: 0 })
    }),
  )

  test(
    "keeps events whose deliveries ended later or are pending",
    Effect.gen(function* () {
      const endpoint = yield* start
      const late = yield* publishOn(1)
      yield* deliver(10)
      const replayed = yield* publishOn(2)
      yield* deliver(2)
      const over = yield* publishOn(3)
      yield* deliver(3)
      yield* replay(replayed, [endpoint], day(20))
      const pending = yield* publishOn(4)
      same(yield* prune(), { events: 1, deliveries: 1, attempts: 1 })
      same(yield* eventIds(), [pending.id, replayed.id, late.id])
      same((yield* deliveriesOf(replayed)).length, 2)
      assert.isFalse(yield* isThere(over))
      // A result that comes now belongs to an event that still exists.
      yield* deliver(4)
      yield* deliver(20)
      same(yield* prune(), { events: 1, deliveries: 1, attempts: 1 })
      same(yield* eventIds(), [replayed.id, late.id])
    }),
  )

  test(
    "keeps events with a leased or released delivery",
    Effect.gen(function* () {
      yield* start
      const event = yield* publishOn(1)
      const nothing = { events: 0, deliveries: 0, attempts: 0 }
      const first = yield* claimOne(day(1), { leaseUntil: day(2) })
      // During the lease, after its end, and during another worker's lease.
      same(yield* prune({ isDryRun: true }), nothing)
      same(yield* prune(), nothing)
      const second = yield* claimOne(day(3), { leaseUntil: day(4) })
      same(yield* prune(), nothing)
      assert.isTrue(yield* isThere(event))
      same(yield* settle([settlementOf(first, { at: day(3) })]), [false])
      same(yield* settle([settlementOf(second, { at: day(3) })]), [true])
      same(yield* prune(), { events: 1, deliveries: 1, attempts: 2 })
      assert.isFalse(yield* isThere(event))
    }),
  )

  test(
    "prunes in steps of any size, and passes the events that it keeps",
    Effect.gen(function* () {
      yield* start
      const makeSome = Effect.forEach(
        times(3, (n) => n),
        (n) =>
          Effect.gen(function* () {
            yield* publishOn(n)
            yield* deliver(n)
            return yield* publishOn(n)
          }).pipe(Effect.tap(() => emptyQueue)),
      )
      const kept: Array<string> = []
      for (const limit of [1, 2, 100]) {
        const ended = yield* makeSome
        // The delivery ended in 9999.
        kept.push(...ended.map(({ id }) => id))
        const expected = { events: 3, deliveries: 3, attempts: 3 }
        same(yield* prune({ limit, isDryRun: true }), expected, `a dry run by ${limit}`)
        same(yield* prune({ limit }), expected, `by ${limit}`)
        same(yield* prune({ limit }), { events: 0, deliveries: 0, attempts: 0 })
        same((yield* eventIds()).toSorted(), kept.toSorted())
      }
    }),
  )

  test(
    "is undone with its transaction",
    Effect.gen(function* () {
      yield* start
      const { atomically } = yield* Transactor
      const store = yield* EventStore
      const event = yield* publish({ timestamp: day(1), idempotencyKey: "undone" })
      yield* deliver(1)
      yield* publishOn(2)
      yield* deliver(2)
      const state = Effect.all([
        listEvents(),
        listEvents({ deliveryStatus: "Delivered" }),
        listDeliveries(),
        store.tailPosition(event.id),
      ])
      const before = yield* state
      const all = { events: 2, deliveries: 2, attempts: 2 }
      const undone = Effect.gen(function* () {
        same(yield* prune(), all)
        same((yield* listDeliveries()).data, [])
        yield* publish({ timestamp: day(3), idempotencyKey: "undone" })
        return yield* Effect.fail("undone" as const)
      })
      yield* Effect.exit(atomically(undone))
      same(yield* state, before)
      same(yield* prune(), all)
    }),
  )
}

const concurrency = (test: ContractTest): void => {
  test(
    "keeps an event that is being replayed",
    Effect.gen(function* () {
      const endpoint = yield* start
      const { atomically } = yield* Transactor
      const event = yield* publishOn(1)
      yield* deliver(1)
      const replayed = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const replaying = yield* Effect.forkChild(
        atomically(
          Effect.gen(function* () {
            yield* replay(event, [endpoint], day(20))
            yield* Deferred.succeed(replayed, undefined)
            yield* Deferred.await(mayEnd)
          }),
        ),
      )
      yield* Deferred.await(replayed)
      const pruning = yield* Effect.forkChild(prune())
      yield* pause
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(replaying)
      same(yield* Fiber.join(pruning), { events: 0, deliveries: 0, attempts: 0 })
      assert.isTrue(yield* isThere(event))
      same((yield* claimOne(day(20))).eventId, event.id)
    }),
  )

  test(
    "creates no delivery of an event that is being removed",
    Effect.gen(function* () {
      const endpoint = yield* start
      const deliveries = yield* DeliveryStore
      const { atomically } = yield* Transactor
      const event = yield* publishOn(1)
      yield* deliver(1)
      const pruned = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const pruning = yield* Effect.forkChild(
        atomically(
          Effect.gen(function* () {
            same(yield* prune(), { events: 1, deliveries: 1, attempts: 1 })
            yield* Deferred.succeed(pruned, undefined)
            yield* Deferred.await(mayEnd)
          }),
        ),
      )
      yield* Deferred.await(pruned)
      const firstDeliveryId = yield* Sample.deliveryId
      const range = {
        endpointId: endpoint.id,
        since: day(0),
        until: day(5),
        types: [],
        isDryRun: false,
        now: day(20),
        limit: 10,
        firstDeliveryId,
      }
      const replaying = yield* Effect.forEach(
        [
          Effect.ignore(replay(event, [endpoint], day(20))),
          deliveries.replayRange({ ...range, onlyFailed: false }),
        ],
        (effect) => Effect.forkChild(effect),
      )
      yield* pause
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(pruning)
      yield* Effect.forEach(replaying, (fiber) => Fiber.join<unknown, StorageError>(fiber))
      same((yield* listDeliveries()).data, [])
      same(yield* deliveries.nextDueAt, Option.none())
    }),
  )
}

const counts = (test: ContractTest): void => {
  test(
    "removes the counts of old hours, and no others",
    Effect.gen(function* () {
      const deliveries = yield* DeliveryStore
      const endpoint = yield* start
      for (const number of [1, 2, 3, 9, 10, 11]) {
        yield* publishOn(number)
        yield* deliver(number)
      }
      const hours = Effect.map(deliveries.counts(day(0)), ({ hours: counted }) =>
        counted.filter(({ endpointId }) => endpointId === endpoint.id).map(({ hour }) => hour),
      )
      same((yield* hours).length, 6)
      same(yield* pruneCounts({ limit: 3, isDryRun: true }), 4)
      same((yield* hours).length, 6)
      same(yield* pruneCounts({ limit: 3 }), 4)
      same(
        (yield* hours).toSorted((a, b) => a - b),
        [day(10).epochMilliseconds, day(11).epochMilliseconds],
      )
      same(yield* pruneCounts(), 0)
    }),
  )
}

export const retentionContract = (test: ContractTest): void => {
  test.section("RetentionStore", () => {
    removal(test)
    concurrency(test)
    counts(test)
  })
}
