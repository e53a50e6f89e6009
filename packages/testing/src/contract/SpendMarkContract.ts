/**
 * The contract of `SpendMarks`, and of the marks that appends of usage make.
 */
import {
  Collections,
  CurrentTenant,
  type Customer,
  type MarkedCustomer,
  SpendAlert,
  SpendMarks,
  Transactor,
  UsageStore,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { type DateTime, Deferred, Effect, Fiber } from "effect"
import * as Sample from "../Sample.ts"
import { asTenant, otherTenants, same, sameSet, times, together } from "./ContractTest.ts"
import { insertCustomer, type InvoicingTest, minuteOf } from "./InvoicingProbe.ts"

/** More than the storage has of customers with marks. */
const ALL = 500
/** How many take marks at once. */
const CALLERS = 16

/** The marks of the current tenant that wait. */
const waiting = Effect.fnUntraced(function* (now: DateTime.Utc = minuteOf(0)) {
  const { accountId, mode } = yield* CurrentTenant
  const all = yield* (yield* SpendMarks).waiting(now, ALL)
  return all.flatMap(({ attempts, customerId, tenant }: MarkedCustomer) =>
    tenant.accountId === accountId && tenant.mode === mode ? [{ customerId, attempts }] : [],
  )
})

const marked = (customerId: string, attempts = 0) => ({ customerId, attempts })

const insertAlert = Effect.fnUntraced(function* ({ id: customerId }: Customer.Customer) {
  const alert = yield* Sample.of(SpendAlert.spendAlerts, customerId)
  yield* (yield* Collections).of(SpendAlert.spendAlerts).insert(alert)
  return alert
})

/** A customer with a spend alert. */
const watched = Effect.tap(insertCustomer, insertAlert)

const append = (
  customers: ReadonlyArray<Customer.Customer>,
  change: Parameters<typeof Sample.record>[1] = {},
) =>
  Effect.flatMap(
    Effect.forEach(customers, ({ id }) => Sample.record(id, change)),
    (records) => Effect.flatMap(UsageStore, (store) => store.append(records)),
  )

const atomically = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Transactor, (transactor) => transactor.atomically(effect))

/** A customer with marks, as `waiting` gives it now, also if its marks are put off. */
const markedNow = Effect.fnUntraced(function* ({ id }: Customer.Customer) {
  const all = yield* (yield* SpendMarks).waiting(minuteOf(1_000_000), ALL)
  const found = all.find(({ customerId }) => customerId === id)
  return found ?? assert.fail("the customer has no marks")
})

/** Puts off the marks that a customer has now. */
const putOffNow = Effect.fnUntraced(function* (
  customer: Customer.Customer,
  attempts: number,
  until: DateTime.Utc,
) {
  yield* (yield* SpendMarks).putOff(yield* markedNow(customer), attempts, until)
})

const take = ({ id }: Customer.Customer) => Effect.flatMap(SpendMarks, (marks) => marks.take(id))

export const spendMarkContract = (test: InvoicingTest): void => {
  test(
    "an append marks the customers of its new records that have spend alerts, and no others",
    Effect.gen(function* () {
      const [first, second, without] = [yield* watched, yield* watched, yield* insertCustomer]
      yield* append([without])
      same(yield* waiting(), [])
      yield* append([first, without, second, first])
      sameSet(yield* waiting(), [marked(first.id), marked(second.id)], ({ customerId }) => customerId)
      yield* atomically(Effect.andThen(take(first), take(second)))
      same(yield* waiting(), [])
      const key = { idempotencyKey: "a key" }
      yield* append([first], key)
      yield* atomically(take(first))
      yield* append([first], key)
      same(yield* waiting(), [])
    }),
  )

  test(
    "an alert that is deleted ends the marks of its customer's appends",
    Effect.gen(function* () {
      const customer = yield* insertCustomer
      const alerts = [yield* insertAlert(customer), yield* insertAlert(customer)]
      const store = (yield* Collections).of(SpendAlert.spendAlerts)
      yield* store.remove(alerts[0]!.id)
      yield* append([customer])
      same(yield* waiting(), [marked(customer.id)])
      yield* atomically(take(customer))
      yield* store.remove(alerts[1]!.id)
      yield* append([customer])
      same(yield* waiting(), [])
    }),
  )

  test(
    "marks are undone with their transaction, and what takes them is undone with its own",
    Effect.gen(function* () {
      const customer = yield* watched
      yield* Effect.exit(atomically(Effect.andThen(append([customer]), Effect.fail("undone"))))
      same(yield* waiting(), [])
      yield* append([customer])
      const taken = yield* Effect.exit(atomically(Effect.andThen(take(customer), Effect.fail("undone"))))
      assert.isTrue(taken._tag === "Failure")
      same(yield* waiting(), [marked(customer.id)])
      assert.isTrue(yield* atomically(take(customer)))
      assert.isFalse(yield* atomically(take(customer)))
    }),
  )

  test(
    "of takers at once one takes the marks, and a mark that is made meanwhile stays",
    Effect.gen(function* () {
      const customer = yield* watched
      const marks = yield* SpendMarks
      yield* marks.mark(customer.id)
      yield* append([customer])
      const taken = yield* together(times(CALLERS, () => atomically(take(customer))))
      same(
        taken.filter((one) => one),
        [true],
      )
      yield* append([customer])
      const isTaken = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const taker = yield* Effect.forkChild(
        atomically(
          Effect.gen(function* () {
            yield* take(customer)
            yield* Deferred.succeed(isTaken, undefined)
            yield* Deferred.await(goOn)
          }),
        ),
      )
      yield* Deferred.await(isTaken)
      // In memory it waits for the transaction. On others it does not.
      const appending = yield* Effect.forkChild(append([customer]))
      yield* Deferred.succeed(goOn, undefined)
      yield* together([Fiber.join(taker), Effect.asVoid(Fiber.join(appending))])
      same(yield* waiting(), [marked(customer.id)])
    }),
  )

  test(
    "what is put off waits until its instant or for a new mark, and counts its failures",
    Effect.gen(function* () {
      const customer = yield* watched
      yield* append([customer])
      yield* append([customer])
      yield* putOffNow(customer, 1, minuteOf(5))
      same(yield* waiting(minuteOf(4)), [])
      same(yield* waiting(minuteOf(5)), [marked(customer.id, 1)])
      yield* putOffNow(customer, 2, minuteOf(10))
      same(yield* waiting(minuteOf(9)), [])
      yield* append([customer])
      same(yield* waiting(minuteOf(0)), [marked(customer.id, 2)])
      assert.isTrue(yield* atomically(take(customer)))
      same(yield* waiting(minuteOf(1_000_000)), [])
    }),
  )

  test(
    "a mark that is made while a check fails is not put off with the others",
    Effect.gen(function* () {
      const customer = yield* watched
      const marks = yield* SpendMarks
      yield* append([customer])
      const before = yield* markedNow(customer)
      yield* append([customer])
      yield* marks.putOff(before, 1, minuteOf(5))
      same(yield* waiting(minuteOf(0)), [marked(customer.id, 1)])
      yield* marks.mark(customer.id)
      // One that is put off and one that is new are seen together.
      yield* putOffNow(customer, 2, minuteOf(10))
      same(yield* waiting(minuteOf(9)), [])
      same(yield* waiting(minuteOf(10)), [marked(customer.id, 2)])
      // What is put off was not made since. So the same may be put off again.
      yield* putOffNow(customer, 3, minuteOf(20))
      same(yield* waiting(minuteOf(19)), [])
      assert.isTrue(yield* atomically(take(customer)))
      yield* append([customer])
      yield* marks.putOff(before, 4, minuteOf(30))
      assert.lengthOf(yield* waiting(minuteOf(0)), 1)
    }),
  )

  test(
    "marks belong to their tenant, and as many wait as are asked for",
    Effect.gen(function* () {
      const marks = yield* SpendMarks
      const customers = [yield* watched, yield* watched, yield* watched]
      yield* Effect.forEach(customers, ({ id }) => marks.mark(id))
      const first = yield* markedNow(customers[0]!)
      assert.lengthOf(yield* marks.waiting(minuteOf(0), 1), 1)
      for (const tenant of yield* otherTenants) {
        const theirs = asTenant(tenant)
        same(yield* theirs(waiting()), [])
        assert.isFalse(yield* theirs(atomically(take(customers[0]!))))
        yield* theirs(marks.putOff(first, 9, minuteOf(10)))
      }
      sameSet(
        yield* waiting(),
        customers.map(({ id }) => marked(id)),
        ({ customerId }) => customerId,
      )
    }),
  )
}
