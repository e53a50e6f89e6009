/**
 * The contract of `EventStore.redact`: personal data is taken out of events about erased customers, out of what receivers
 * answered, and out of nothing else.
 */
import {
  Collections,
  Customer,
  DeliveryStore,
  type Event,
  EventStore,
  MAX_REDACTED,
  Redaction,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, otherTenants, same, times } from "./ContractTest.ts"
import { newCustomer } from "./UsageProbe.ts"
import {
  claimNew,
  claimOne,
  deliveriesOf,
  delivery,
  emptyQueue,
  eventIds,
  failedUntil,
  minute,
  newEndpoint,
  publish,
  publishAs,
  refused,
  settle,
  settlementOf,
  unknownAttempt,
} from "./WebhookProbe.ts"

const AT = minute(5)

const withoutTexts = (event: Event.Event) => Redaction.redacted(event, undefined)

/** The event as it is stored afterwards. */
const redactedOf = (event: Event.Event): Event.Event => ({
  ...event,
  idempotencyKey: null,
  payload: withoutTexts(event),
})

const erase = (id: Customer.CustomerId) =>
  Effect.flatMap(Collections, (collections) => collections.of(Customer.customers).remove(id))

const redact = (customerId: Customer.CustomerId, after?: Event.Event["id"], redacted = withoutTexts) =>
  Effect.flatMap(EventStore, (store) => store.redact({ customerId, at: AT, after }, redacted))

const stored = (event: Event.Event) =>
  Effect.flatMap(EventStore, (store) => Effect.map(store.find(event.id), Option.getOrThrow))

const unchanged = (events: ReadonlyArray<Event.Event>) =>
  Effect.forEach(events, (event) => Effect.map(stored(event), (now) => same(now, event)))

/** An event with an e-mail address in it. */
const personal = (customerId: Customer.CustomerId | null, idempotencyKey: string | null = null) =>
  publish({ customerId, idempotencyKey, data: { email: "ada@example.com", amount: 5 } })

const redaction = (test: ContractTest): void => {
  test(
    "replaces the payload of events about an erased customer, and changes no other event",
    Effect.gen(function* () {
      const store = yield* EventStore
      const [ada, grace] = [yield* newCustomer, yield* newCustomer]
      const own = [yield* personal(ada, "once"), yield* personal(ada)]
      const others = [yield* personal(grace, "other"), yield* personal(null)]
      yield* unchanged([...own, ...others])
      const position = yield* store.tailPosition(own[0]!.id)

      yield* erase(ada)
      same(yield* redact(ada), undefined)

      for (const event of own) {
        const now = yield* stored(event)
        same(now, redactedOf(event))
        assert.isTrue(Redaction.isRedacted(now))
        assert.notInclude(now.payload, "ada@example.com")
      }
      yield* unchanged(others)
      same(yield* eventIds({ customerId: ada }), own.map(({ id }) => id).toReversed())
      same(yield* store.tailPosition(own[0]!.id), position)
      // The key is free.
      const anew = yield* Sample.event({ idempotencyKey: "once" })
      same(yield* publishAs(anew), { _tag: "Published", event: anew })
    }),
  )

  test(
    "does nothing to events about a customer who is there or unknown, or of another tenant",
    Effect.gen(function* () {
      const ada = yield* newCustomer
      const own = yield* personal(ada)
      same(yield* redact(ada), undefined)
      same(yield* redact(yield* Sample.customerId), undefined)
      yield* unchanged([own])
      yield* erase(ada)
      for (const tenant of yield* otherTenants) same(yield* redact(ada).pipe(asTenant(tenant)), undefined)
      yield* unchanged([own])
    }),
  )

  test(
    "redacts an event once",
    Effect.gen(function* () {
      const ada = yield* newCustomer
      const event = yield* personal(ada)
      yield* erase(ada)
      yield* redact(ada)
      yield* redact(ada, undefined, () => {
        throw new TypeError("an event was redacted again")
      })
      same(yield* stored(event), redactedOf(event))
    }),
  )

  test(
    "goes through many events in steps, oldest first",
    Effect.gen(function* () {
      const ada = yield* newCustomer
      const events = yield* Effect.forEach(
        times(MAX_REDACTED + 3, (n) => n),
        () => personal(ada),
      )
      yield* erase(ada)
      const last = yield* redact(ada)
      same(last, events[MAX_REDACTED - 1]!.id)
      yield* unchanged(events.slice(MAX_REDACTED))
      same(yield* redact(ada, last), undefined)
      for (const event of events) same(yield* stored(event), redactedOf(event))
    }),
  )

  test(
    "is undone with its transaction",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      yield* emptyQueue
      yield* newEndpoint()
      const ada = yield* newCustomer
      const event = yield* personal(ada, "once")
      const claimed = yield* claimOne(minute(0))
      yield* settle([settlementOf(claimed, failedUntil(claimed, minute(9)), refused)])
      const before = yield* delivery(claimed.id)
      yield* erase(ada)
      const undone = Effect.andThen(redact(ada), Effect.fail("undone" as const))
      yield* Effect.exit(atomically(undone))
      yield* unchanged([event])
      same(yield* delivery(claimed.id), before)
      const again = yield* Sample.event({ idempotencyKey: "once" })
      same((yield* publishAs(again))._tag, "KeyConflict")
    }),
  )
}

const deliveries = (test: ContractTest): void => {
  test(
    "takes what receivers answered out of attempts, of pending deliveries and of those that are over",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      const ada = yield* newCustomer
      yield* personal(ada)
      const done = yield* claimOne(minute(0))
      yield* settle([settlementOf(done)])
      yield* personal(ada)
      const pending = yield* claimOne(minute(0))
      yield* settle([settlementOf(pending, failedUntil(pending, minute(9)), refused)])
      const { claimed: other } = yield* claimNew
      yield* settle([settlementOf(other)])
      const before = {
        done: yield* delivery(done.id),
        pending: yield* delivery(pending.id),
        other: yield* delivery(other.id),
      }
      assert.isNotNull(before.done.attempts[0]!.responseBody)

      yield* erase(ada)
      yield* redact(ada)

      for (const { attempts, delivery: was } of [before.done, before.pending]) {
        const now = yield* delivery(was.id)
        same(now.delivery, was)
        same(
          now.attempts,
          attempts.map((attempt) => ({ ...attempt, responseHeaders: null, responseBody: null })),
        )
      }
      same(yield* delivery(other.id), before.other)
    }),
  )

  test(
    "sends the redacted payload from then on",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      const ada = yield* newCustomer
      const event = yield* personal(ada)
      yield* erase(ada)
      yield* redact(ada)
      same((yield* claimOne(minute(0))).payload, withoutTexts(event))
    }),
  )

  test(
    "ends the lease of an attempt that is under way, whose answer is not stored",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      const ada = yield* newCustomer
      const event = yield* personal(ada)
      const first = yield* claimOne(minute(0), { leaseUntil: minute(60) })
      same(first.payload, event.payload)
      yield* erase(ada)
      yield* redact(ada)

      same(yield* settle([settlementOf(first, { at: AT }, { responseBody: "ada@example.com" })]), [false])
      const second = yield* claimOne(AT)
      same(second.id, first.id)
      same(second.payload, withoutTexts(event))
      same((yield* delivery(first.id)).attempts, [unknownAttempt(1, minute(0))])
      same(yield* settle([settlementOf(second, { at: minute(6) })]), [true])
      same((yield* deliveriesOf(event))[0]?.status, "Delivered")
      same(yield* (yield* DeliveryStore).nextDueAt, Option.none())
    }),
  )
}

export const redactContract = (test: ContractTest): void => {
  test.section("redact", () => {
    redaction(test)
    deliveries(test)
  })
}
