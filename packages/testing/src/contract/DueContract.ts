/**
 * The contract of `DueStore`.
 */
import {
  ApiKeyStore,
  BookCheck,
  type ClaimedSubject,
  Collections,
  CurrentTenant,
  Customer,
  type Due,
  DueStore,
  InvoiceStore,
  type Lane,
  laneOf,
  LANES,
  MAX_SUBJECTS_OF_CUSTOMER,
  type ScheduledSubject,
  type Subject,
  type SubscriptionId,
  PaymentMethod,
  PlanMigration,
  SubscriptionStore,
  TestClock,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { type DateTime, Effect, Option } from "effect"
import * as Sample from "../Sample.ts"
import { asTenant, otherTenants, same, together } from "./ContractTest.ts"
import { granted, newAccount, services } from "./CreditProbe.ts"
import {
  draftOf,
  insertCustomer,
  type InvoicingTest,
  millisOf,
  minuteOf,
  subscriptionOf,
} from "./InvoicingProbe.ts"
import { firstPage } from "./WebhookProbe.ts"

const claim = (now: number, limit = 500, lane: Lane = "billing") =>
  Effect.flatMap(DueStore, (store) =>
    store.claimDue({ lane, now: minuteOf(now), leaseUntil: minuteOf(now + 10), limit }),
  )

/** Sets aside whatever other tests have left in the queue. */
export const emptyQueue = Effect.gen(function* () {
  const store = yield* DueStore
  for (;;) {
    const left = [...(yield* claim(1_000_000)), ...(yield* claim(1_000_000, 500, "calls"))]
    if (left.length === 0) return
    for (const claimed of left) {
      const failure = { attempts: 1, problem: "left by a test", at: minuteOf(0), retryAt: null }
      yield* asTenant(claimed.tenant)(store.release(claimed, failure))
    }
  }
})

/** A subscription that is due at a minute. */
const dueAt = Effect.fnUntraced(function* (minutes: number) {
  const { id } = yield* insertCustomer
  const subscription = yield* subscriptionOf(id, { dueAt: millisOf(minutes) })
  yield* (yield* SubscriptionStore).insert(subscription)
  return subscription
})

const newClock = Effect.gen(function* () {
  const clock = yield* Sample.of(TestClock.testClocks)
  yield* (yield* Collections).of(TestClock.testClocks).insert(clock)
  return clock
})

/** A subscription of a new customer of a test clock, due at a minute of that clock. */
const attached = Effect.fnUntraced(function* (minutes: number, testClockId: TestClock.TestClockId) {
  const customer = yield* Sample.of(Customer.customers, undefined, { testClockId })
  const stored = (yield* Collections).of(Customer.customers)
  yield* stored.insert(customer)
  same(yield* stored.find(customer.id), Option.some(customer))
  const subscription = yield* subscriptionOf(customer.id, { dueAt: millisOf(minutes) })
  yield* (yield* SubscriptionStore).insert(subscription)
  return subscription
})

/** Runs a test in test mode. */
const asTest = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(CurrentTenant, (tenant) => asTenant({ ...tenant, mode: "test" })(effect))

const idsOf = (claimed: ReadonlyArray<ClaimedSubject>) => claimed.map(({ subject }) => subject.id)

const nextDueAt = Effect.flatMap(DueStore, (store) => store.nextDueAt)
const holds = (claimed: ClaimedSubject) =>
  Effect.flatMap(DueStore, (store) =>
    Effect.flatMap(Transactor, ({ atomically }) => atomically(store.holds(claimed))),
  )

const failureAt = (at: number, retryAt: DateTime.Utc | null) => ({
  attempts: 1,
  problem: "no such plan",
  at: minuteOf(at),
  retryAt,
})

/** A subject that belongs to no customer is due when it is scheduled. */
const isScheduled = Effect.fnUntraced(function* (subject: ScheduledSubject) {
  yield* emptyQueue
  const due = yield* DueStore
  const lane = laneOf(subject)
  yield* due.schedule(subject, millisOf(1))
  const [first] = yield* claim(1, 500, lane)
  same(first?.subject, subject)
  assert.deepInclude(first, { customerId: null, dueAt: millisOf(1), attempts: 0 })
  assert.isTrue(yield* holds(first!))
  assert.isTrue(yield* due.release(first!, null))
  // No other lane has it.
  for (const other of LANES) if (other !== lane) same(yield* claim(1, 500, other), [])
  const [second] = yield* claim(1, 500, lane)
  const { atomically } = yield* Transactor
  yield* Effect.flip(atomically(Effect.andThen(due.schedule(subject, null), Effect.fail("no"))))
  assert.isTrue(yield* holds(second!))
  yield* due.schedule(subject, millisOf(2))
  assert.isFalse(yield* holds(second!))
  same(yield* claim(1, 500, lane), [])
  yield* due.schedule(subject, null)
  same(yield* claim(2, 500, lane), [])
  same(yield* nextDueAt, Option.none())
  yield* due.schedule(subject, millisOf(3))
  assert.lengthOf(yield* claim(3, 500, lane), 1)
  yield* due.schedule(subject, null)
})

export const dueContract = (test: InvoicingTest): void => {
  test(
    "what is due is claimed in the order of its instants, invoices first, and once",
    Effect.gen(function* () {
      yield* emptyQueue
      const [later, sooner] = [yield* dueAt(3), yield* dueAt(1)]
      const draft = yield* draftOf(later, 0, { dueAt: millisOf(3) })
      yield* (yield* InvoiceStore).insert(draft)
      yield* dueAt(4)
      same(
        Option.map(yield* nextDueAt, ({ epochMilliseconds }) => epochMilliseconds),
        Option.some(millisOf(1)),
      )
      same(yield* claim(0), [])
      const claims = yield* together([claim(3), claim(3), claim(3)])
      const all = claims
        .flat()
        .toSorted((a, b) => a.dueAt - b.dueAt || (a.subject.id < b.subject.id ? -1 : 1))
      same(idsOf(all), [sooner.id, draft.id, later.id])
      assert.deepInclude(all[0], { customerId: sooner.customerId, dueAt: millisOf(1), attempts: 0 })
      assert.deepStrictEqual(all[1]?.subject, { kind: "invoice", id: draft.id })
      same(yield* claim(3), [])
    }),
  )

  test(
    "a lease ends, and then only the new one holds",
    Effect.gen(function* () {
      yield* emptyQueue
      const { id } = yield* dueAt(0)
      const [first] = yield* claim(0)
      assert.isTrue(yield* holds(first!))
      same(
        Option.map(yield* nextDueAt, ({ epochMilliseconds }) => epochMilliseconds),
        Option.some(millisOf(10)),
      )
      same(yield* claim(9), [])
      const [second] = yield* claim(10)
      same(second?.subject.id, id)
      assert.isFalse(yield* holds(first!))
      assert.isTrue(yield* holds(second!))
      assert.isFalse(yield* (yield* DueStore).release(first!, null))
      assert.isTrue(yield* (yield* DueStore).release(second!, null))
      assert.isFalse(yield* holds(second!))
      assert.lengthOf(yield* claim(10), 1)
    }),
  )

  test(
    "a save ends the lease and forgets the failure",
    Effect.gen(function* () {
      yield* emptyQueue
      const store = yield* SubscriptionStore
      const due = yield* DueStore
      const subscription = yield* dueAt(0)
      const [first] = yield* claim(0)
      yield* due.release(first!, failureAt(0, minuteOf(1)))
      const [second] = yield* claim(1)
      assert.strictEqual(second?.attempts, 1)
      yield* store.save({ ...subscription, dueAt: millisOf(2) })
      assert.isFalse(yield* holds(second!))
      same(yield* store.find(subscription.id), Option.some({ ...subscription, dueAt: millisOf(2) }))
      same(yield* claim(1), [])
      assert.deepInclude((yield* claim(2))[0], { attempts: 0, dueAt: millisOf(2) })
    }),
  )

  test(
    "a failure is tried again at its time, or set aside, and the subject shows it",
    Effect.gen(function* () {
      yield* emptyQueue
      const store = yield* SubscriptionStore
      const due = yield* DueStore
      const subscription = yield* dueAt(0)
      const [first] = yield* claim(0)
      const failure = failureAt(0, minuteOf(5))
      assert.isTrue(yield* due.release(first!, failure))
      same(yield* store.find(subscription.id), Option.some({ ...subscription, failure }))
      same(yield* claim(4), [])
      const [second] = yield* claim(5)
      yield* due.release(second!, { ...failureAt(5, null), attempts: 2 })
      same(yield* claim(1_000), [])
      same(yield* nextDueAt, Option.none())
      same(Option.getOrThrow(yield* store.find(subscription.id)).failure, {
        ...failureAt(5, null),
        attempts: 2,
      })
    }),
  )

  test(
    "subscriptions and invoices whose last run failed are listed",
    Effect.gen(function* () {
      yield* emptyQueue
      const [due, invoices, store] = [yield* DueStore, yield* InvoiceStore, yield* SubscriptionStore]
      const customer = yield* insertCustomer
      const subscriptions = yield* Effect.forEach([0, 1, 2], () =>
        subscriptionOf(customer.id, { dueAt: millisOf(0) }),
      )
      const drafts = yield* Effect.forEach(subscriptions, (one) => draftOf(one, 1, { dueAt: millisOf(0) }))
      for (const one of subscriptions) yield* store.insert(one)
      for (const one of drafts) yield* invoices.insert(one)
      const failures = new Map<string, Due.DueFailure>()
      for (const [, retried, aside] of [subscriptions, drafts]) {
        failures.set(retried!.id, failureAt(0, minuteOf(60)))
        failures.set(aside!.id, failureAt(0, null))
      }
      for (const claimed of yield* claim(0)) {
        yield* due.release(claimed, failures.get(claimed.subject.id) ?? null)
      }
      const idsOf = (failure: Due.FailureFilter | undefined) => {
        const filter = { customerId: customer.id, failure }
        return Effect.map(
          Effect.all([store.list(filter, firstPage), invoices.list(filter, firstPage)]),
          (pages) => pages.map(({ data }) => data.map(({ id }) => id as string)),
        )
      }
      const all = [subscriptions, drafts].map((some) => some.map(({ id }) => id as string).toReversed())
      same(yield* idsOf(undefined), all)
      same(
        yield* idsOf("any"),
        all.map(([aside, retried]) => [aside!, retried!]),
      )
      same(
        yield* idsOf("set_aside"),
        all.map(([aside]) => [aside!]),
      )
      for (const tenant of yield* otherTenants) {
        same((yield* asTenant(tenant)(store.list({ failure: "any" }, firstPage))).data, [])
      }
    }),
  )

  test(
    "what is due of a customer is given in its order, without what is set aside",
    Effect.gen(function* () {
      yield* emptyQueue
      const due = yield* DueStore
      const store = yield* SubscriptionStore
      const invoices = yield* InvoiceStore
      const first = yield* dueAt(3)
      const { customerId } = first
      const of = (minutes: number) => due.ofCustomer(customerId, millisOf(minutes))
      const second = yield* subscriptionOf(customerId, { dueAt: millisOf(1) })
      const draft = yield* draftOf(first, 0, { dueAt: millisOf(3) })
      yield* store.insert(second)
      yield* invoices.insert(draft)
      yield* store.insert(yield* subscriptionOf(customerId, { dueAt: null }))
      const others = yield* dueAt(1)
      const row = (subject: Subject, minutes: number) => ({
        subject,
        dueAt: millisOf(minutes),
        retryAt: null,
        attempts: 0,
      })
      const rows = [
        row({ kind: "subscription", id: second.id }, 1),
        row({ kind: "invoice", id: draft.id }, 3),
        row({ kind: "subscription", id: first.id }, 3),
      ]
      same(yield* of(0), [])
      same(yield* of(2), rows.slice(0, 1))
      same(yield* of(3), rows)
      same(yield* asTenant(yield* Sample.tenant)(of(3)), [])
      const at = minuteOf(3).epochMilliseconds
      same(
        (yield* due.ofCustomer(others.customerId, at)).map(({ subject }) => subject.id),
        [others.id],
      )
      // Leases change nothing, and failures are there until they are set aside.
      const claimed = (yield* claim(3)).filter((one) => one.customerId === customerId)
      same(yield* of(3), rows)
      yield* due.release(claimed[0]!, failureAt(3, minuteOf(60)))
      yield* due.release(claimed[1]!, { ...failureAt(3, null), attempts: 10 })
      same(yield* of(3), [{ ...rows[0]!, retryAt: millisOf(60), attempts: 1 }, rows[2]!])
      yield* store.save({ ...second, dueAt: millisOf(4) })
      yield* invoices.save({ ...draft, dueAt: null })
      same(yield* of(3), rows.slice(2))
      // Many have their first ones read.
      for (let minute = 10; minute < 10 + MAX_SUBJECTS_OF_CUSTOMER; minute++) {
        yield* store.insert(yield* subscriptionOf(customerId, { dueAt: millisOf(minute) }))
      }
      const all = yield* of(1_000)
      same(
        [all.length, all[0]?.dueAt, all.at(-1)?.dueAt],
        [MAX_SUBJECTS_OF_CUSTOMER, millisOf(3), millisOf(10 + MAX_SUBJECTS_OF_CUSTOMER - 3)],
      )
    }),
  )

  test(
    "a failed transaction undoes what it did to the queue",
    Effect.gen(function* () {
      yield* emptyQueue
      const store = yield* SubscriptionStore
      const { atomically } = yield* Transactor
      const subscription = yield* dueAt(0)
      const [claimed] = yield* claim(0)
      const saved = Effect.andThen(store.save({ ...subscription, dueAt: null }), Effect.fail("no"))
      yield* Effect.flip(atomically(Effect.andThen(store.lock(subscription.id), saved)))
      assert.isTrue(yield* holds(claimed!))
    }),
  )

  test(
    "what is due is counted, also while it is leased or waits to be tried again",
    Effect.gen(function* () {
      const due = yield* DueStore
      const before = yield* due.countDue(minuteOf(3))
      const subscriptions = [yield* dueAt(1), yield* dueAt(2), yield* dueAt(3)]
      yield* (yield* InvoiceStore).insert(yield* draftOf(subscriptions[0]!, 0, { dueAt: millisOf(3) }))
      yield* dueAt(4)
      const claimed = (yield* claim(3)).filter(({ subject }) =>
        subscriptions.some(({ id }) => id === subject.id),
      )
      yield* due.release(claimed[0]!, failureAt(3, null))
      yield* due.release(claimed[1]!, failureAt(3, minuteOf(60)))
      same(yield* due.countDue(minuteOf(3)), {
        subscriptions: before.subscriptions + 2,
        invoices: before.invoices + 1,
        setAside: before.setAside + 1,
      })
      same((yield* due.countDue(minuteOf(4))).subscriptions, before.subscriptions + 3)
    }),
  )

  test(
    "what customers of a test clock have due is found by that clock only, in order",
    asTest(
      Effect.gen(function* () {
        yield* emptyQueue
        const due = yield* DueStore
        const clock = yield* newClock
        const other = yield* newClock
        same(yield* due.firstDue(clock.id), Option.none())
        const [later, sooner] = [yield* attached(3, clock.id), yield* attached(1, clock.id)]
        const draft = yield* draftOf(later, 0, { dueAt: millisOf(3) })
        yield* (yield* InvoiceStore).insert(draft)
        const apart = yield* attached(0, other.id)
        const first = due.firstDue(clock.id)
        const of = (subject: Subject, minutes: number, attempts = 0) =>
          Option.some({ subject, at: millisOf(minutes), attempts })
        const subscription = (id: SubscriptionId): Subject => ({ kind: "subscription", id })
        same(yield* due.firstDue(other.id), of(subscription(apart.id), 0))
        same(yield* first, of(subscription(sooner.id), 1))
        same(yield* claim(1_000), [])
        same(yield* nextDueAt, Option.none())
        same(yield* due.countDue(minuteOf(1_000)), {
          ...(yield* due.countDue(minuteOf(-1_000_000))),
          setAside: (yield* due.countDue(minuteOf(1_000))).setAside,
        })
        const fail = (at: number, retryAt: DateTime.Utc | null) =>
          Effect.flatMap(first, (found) => due.fail(Option.getOrThrow(found), failureAt(at, retryAt)))
        assert.isTrue(yield* fail(1, minuteOf(2)))
        same(yield* first, of(subscription(sooner.id), 2, 1))
        assert.isTrue(yield* fail(2, minuteOf(10)))
        same(yield* first, of({ kind: "invoice", id: draft.id }, 3))
        yield* (yield* InvoiceStore).save({ ...draft, dueAt: null })
        same(yield* first, of(subscription(later.id), 3))
        yield* (yield* SubscriptionStore).save({ ...later, dueAt: null })
        same(yield* first, of(subscription(sooner.id), 10, 1))
        assert.isTrue(yield* fail(10, null))
        same(yield* first, Option.none())
        const theirs = asTenant(yield* Sample.tenant)
        assert.isTrue(Option.isNone(yield* theirs(due.firstDue(other.id))))
      }),
    ),
  )

  test(
    "a failure on a test clock changes nothing once somebody else has worked on the subject",
    asTest(
      Effect.gen(function* () {
        const due = yield* DueStore
        const store = yield* SubscriptionStore
        const clock = yield* newClock
        const subscription = yield* attached(1, clock.id)
        const first = due.firstDue(clock.id)
        const found = Option.getOrThrow(yield* first)
        const last = { ...failureAt(1, null), attempts: 10 }
        // It has moved on.
        yield* store.save({ ...subscription, dueAt: millisOf(2) })
        assert.isFalse(yield* due.fail(found, last))
        const second = Option.getOrThrow(yield* first)
        same(second, { ...found, at: millisOf(2) })
        // It has failed before.
        assert.isTrue(yield* due.fail(second, failureAt(2, minuteOf(2))))
        assert.isFalse(yield* due.fail(second, last))
        const third = Option.getOrThrow(yield* first)
        same(third, { ...second, attempts: 1 })
        // It is another tenant's.
        assert.isFalse(yield* asTenant(yield* Sample.tenant)(due.fail(third, last)))
        // Nothing is due on it any more.
        yield* store.save({ ...subscription, dueAt: null })
        assert.isFalse(yield* due.fail(third, last))
        same(yield* store.find(subscription.id), Option.some({ ...subscription, dueAt: null }))
        yield* store.save({ ...subscription, dueAt: millisOf(2) })
        same(yield* first, Option.some(second))
        // It is in real time.
        const real = yield* dueAt(1)
        const subject = { kind: "subscription", id: real.id } as const
        assert.isFalse(yield* due.fail({ subject, at: millisOf(1), attempts: 0 }, last))
      }),
    ),
  )

  test(
    "what is due by a test clock that ends is due in real time, at its end at the latest",
    asTest(
      Effect.gen(function* () {
        yield* emptyQueue
        const due = yield* DueStore
        const store = yield* SubscriptionStore
        const [clock, other] = [yield* newClock, yield* newClock]
        const stored = [
          yield* attached(1, clock.id),
          yield* attached(50, clock.id),
          yield* attached(2, clock.id),
          yield* attached(3, clock.id),
        ]
        yield* attached(1, other.id)
        const [before, after, failed, aside] = stored.map(({ id }) => id)
        const failure = failureAt(2, minuteOf(60))
        const subject = (id: SubscriptionId) => ({ kind: "subscription", id }) as const
        yield* due.fail({ subject: subject(failed!), at: millisOf(2), attempts: 0 }, failure)
        yield* due.fail({ subject: subject(aside!), at: millisOf(3), attempts: 0 }, failureAt(2, null))
        const end = due.endClock(clock.id, minuteOf(20))
        const undone = Effect.andThen(end, Effect.fail("no"))
        yield* Effect.flip((yield* Transactor).atomically(undone))
        yield* asTenant(yield* Sample.tenant)(end)
        same(yield* claim(1_000), [])
        yield* end
        same(yield* due.firstDue(clock.id), Option.none())
        assert.isTrue(Option.isSome(yield* due.firstDue(other.id)))
        same(idsOf(yield* claim(1)), [before])
        same(idsOf(yield* claim(19)), [before])
        same(idsOf(yield* claim(20)), [failed, after])
        const read = (id: SubscriptionId) => Effect.map(store.find(id), Option.getOrThrow)
        same((yield* read(failed!)).failure, { ...failure, retryAt: minuteOf(20) })
        same((yield* read(aside!)).failure?.retryAt, null)
        same((yield* read(after!)).dueAt, millisOf(20))
        // It stays in real time.
        yield* store.save({ ...stored[0]!, dueAt: millisOf(30) })
        same(idsOf(yield* claim(30)), [failed, after, before])
      }),
    ),
  )

  test(
    "tenants take turns",
    Effect.gen(function* () {
      yield* emptyQueue
      const busy = [yield* dueAt(0), yield* dueAt(1), yield* dueAt(2)]
      const other = asTenant(yield* Sample.tenant)
      const [theirs] = [yield* other(dueAt(3))]
      const claimed = yield* claim(5, 2)
      same(idsOf(claimed), [busy[0]!.id, theirs.id])
      assert.isFalse(yield* other(holds(claimed[0]!)))
    }),
  )

  test(
    "a payment method is due when it is scheduled, in real time",
    Effect.gen(function* () {
      yield* emptyQueue
      const due = yield* DueStore
      const method = yield* Sample.of(PaymentMethod.paymentMethods, (yield* insertCustomer).id)
      yield* (yield* Collections).of(PaymentMethod.paymentMethods).insert(method)
      const subject = { kind: "payment_method", id: method.id } as const
      yield* due.schedule(subject, millisOf(1))
      const [claimed] = yield* claim(1, 500, "calls")
      same(claimed?.subject, subject)
      assert.deepInclude(claimed, { customerId: null, dueAt: millisOf(1) })
      assert.isTrue(yield* holds(claimed!))
      yield* due.schedule(subject, null)
      assert.isFalse(yield* holds(claimed!))
      same(yield* nextDueAt, Option.none())
    }),
  )

  test(
    "a failure is noted of a subject of the tenant, also without a claim",
    Effect.gen(function* () {
      yield* emptyQueue
      const due = yield* DueStore
      const { id } = yield* dueAt(0)
      const subject = { kind: "subscription", id } as const
      const other = asTenant(yield* Sample.tenant)
      yield* other(due.noteFailure(subject, failureAt(1, null)))
      assert.lengthOf(yield* claim(1), 1)
      yield* due.noteFailure(subject, failureAt(1, minuteOf(3)))
      same(yield* claim(2), [])
      const [again] = yield* claim(10_000)
      assert.deepInclude(again, { subject, attempts: 1 })
      // Of what is not in the queue, nothing is noted.
      yield* due.noteFailure(
        { kind: "plan_migration", id: (yield* Sample.of(PlanMigration.planMigrations)).id },
        failureAt(1, null),
      )
      same(yield* nextDueAt, Option.some(minuteOf(10_010)))
    }),
  )

  test(
    "a migration of plans is due when it is scheduled, until it is taken off",
    Effect.gen(function* () {
      const migration = yield* Sample.of(PlanMigration.planMigrations)
      yield* (yield* Collections).of(PlanMigration.planMigrations).insert(migration)
      yield* isScheduled({ kind: "plan_migration", id: migration.id })
    }),
  )

  test(
    "a check of the books is due when it is scheduled, until it is taken off",
    Effect.gen(function* () {
      const check = yield* Sample.of(BookCheck.bookChecks)
      yield* (yield* Collections).of(BookCheck.bookChecks).insert(check)
      yield* isScheduled({ kind: "book_check", id: check.id })
    }),
  )

  test(
    "a grant of paid credits is due when it is scheduled, until it is taken off",
    Effect.gen(function* () {
      const { id } = yield* granted(yield* newAccount, 5n)
      yield* isScheduled({ kind: "credit_grant", id })
    }).pipe(Effect.provide(services)),
  )

  test(
    "the reminder of an API key is due when it is scheduled, until it is taken off",
    Effect.gen(function* () {
      const stored = yield* Sample.apiKey()
      yield* (yield* ApiKeyStore).insert(stored)
      yield* isScheduled({ kind: "api_key", id: stored.key.id })
    }),
  )

  test(
    "what is left of an erasure is due when it is scheduled, until it is taken off",
    Effect.gen(function* () {
      const { id } = yield* insertCustomer
      yield* (yield* Collections).of(Customer.customers).remove(id)
      yield* isScheduled({ kind: "erasure", id })
    }),
  )

  test(
    "the advance of a test clock is due in real time when it is scheduled, until it is taken off",
    asTest(
      Effect.gen(function* () {
        const clock = yield* newClock
        yield* isScheduled({ kind: "test_clock", id: clock.id })
        same(yield* (yield* DueStore).firstDue(clock.id), Option.none())
      }),
    ),
  )
}
