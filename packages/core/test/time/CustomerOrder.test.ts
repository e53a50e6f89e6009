/**
 * J8 across the subscriptions of a customer: which invoice gets an item does not depend on who bills what first.
 */
import {
  BillingRuns,
  Credits,
  DueStore,
  InvoiceItems,
  MAX_SUBJECTS_OF_CUSTOMER,
  Plans,
  Subscriptions,
  SubscriptionStore,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { fc, holdsEffect } from "../property.ts"
import { at, newCustomer } from "../world.ts"
import { advanceTo, allInvoices, inYears, pro, pushPro, use } from "./billing.ts"

const START = at("2026-01-31T12:00:00Z")
const END = DateTime.add(START, { months: 3, days: 1 })
const SUBSCRIPTIONS = 3

/** What is done at an hour after the start: an item of the customer, or of one of its subscriptions. */
interface Act {
  readonly hours: number
  readonly amount: bigint
  readonly usage: number
  readonly of: number | undefined
}

const act: fc.Arbitrary<Act> = fc.record({
  hours: fc.integer({ min: 73, max: 24 * 80 }),
  amount: fc.bigInt({ min: -9_000n, max: 2_000n }).filter((amount) => amount !== 0n),
  usage: fc.integer({ min: 1, max: 2_000 }),
  of: fc.option(fc.integer({ min: 0, max: SUBSCRIPTIONS - 1 }), { nil: undefined, freq: 4 }),
})

/** How what is due is run. */
type Runs = (until: DateTime.Utc) => Effect.Effect<void, unknown, BillingRuns | DueStore>

const runDue = Effect.flatMap(BillingRuns, (runs) => runs.runDue())

const onTime: Runs = (until) => advanceTo(until.epochMilliseconds)

const atTheEnd: Runs = (until) =>
  DateTime.isLessThan(until, END)
    ? TestClock.setTime(until.epochMilliseconds)
    : Effect.andThen(TestClock.setTime(until.epochMilliseconds), runDue)

/**
 * Another runner holds the subject that is due first, and the other ones are billed meanwhile, again and again. `places` say
 * how many it holds.
 */
const aroundOthers =
  (places: ReadonlyArray<number>): Runs =>
  (until) =>
    Effect.gen(function* () {
      if (DateTime.isLessThan(until, END)) return yield* TestClock.setTime(until.epochMilliseconds)
      const due = yield* DueStore
      for (const [index, limit] of places.entries()) {
        const now = DateTime.add(until, { minutes: 5 * index })
        yield* TestClock.setTime(now.epochMilliseconds)
        const leaseUntil = DateTime.add(now, { minutes: 2 })
        yield* due.claimDue({ lane: "billing", now, leaseUntil, limit })
        yield* runDue
      }
      yield* TestClock.setTime(DateTime.add(until, { hours: 1 }).epochMilliseconds)
      yield* runDue
    })

/** The totals and items of the invoices of three subscriptions, which renew hours after each other. */
const billed = (acts: ReadonlyArray<Act>, graceHours: number, hoursApart: number, runs: Runs) =>
  Effect.gen(function* () {
    yield* pushPro
    yield* (yield* Plans).push({ plans: [{ ...pro, policy: { grace_hours: graceHours } }] })
    const customer = yield* newCustomer()
    const subscriptions = yield* Subscriptions
    const ids: Array<string> = []
    for (let index = 0; index < SUBSCRIPTIONS; index++) {
      const hours = 1 + index * hoursApart
      const startAt = DateTime.add(START, { hours })
      const { id } = yield* subscriptions.create({ customerId: customer.id, plan: "pro", startAt })
      ids.push(id)
    }
    const items = yield* InvoiceItems
    for (const { amount, hours, of, usage } of acts.toSorted((a, b) => a.hours - b.hours)) {
      yield* runs(DateTime.add(START, { hours }))
      const subscriptionId = of === undefined ? {} : { subscriptionId: ids[of]! as never }
      yield* items.create({
        customerId: customer.id,
        currency: "EUR",
        amount,
        description: "Item",
        ...subscriptionId,
      })
      yield* use(customer, usage)
    }
    yield* runs(END)
    const all = (yield* allInvoices).map(({ lines, periodEnd, status, subscriptionId, total }) => ({
      of: `${ids.indexOf(subscriptionId ?? "")} ${periodEnd}`,
      status,
      total,
      items: lines.filter(({ kind }) => kind === "item").map(({ amount }) => amount),
    }))
    return all.toSorted((a, b) => (a.of < b.of ? -1 : 1))
  }).pipe(inYears(START.epochMilliseconds), Effect.provide(TestClock.layer()))

describe("several subscriptions of a customer with items", () => {
  it.effect.each([1, 100])(
    "are billed the same on time, months late, and by several runners, with %s hours of grace",
    (graceHours) =>
      holdsEffect(
        fc.tuple(
          fc.array(act, { minLength: 1, maxLength: 4 }),
          fc.constantFrom(0, 1, 20, 30 * 12),
          fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 8 }),
        ),
        ([acts, hoursApart, places]) =>
          Effect.gen(function* () {
            const expected = yield* billed(acts, graceHours, hoursApart, onTime)
            assert.deepStrictEqual(yield* billed(acts, graceHours, hoursApart, atTheEnd), expected)
            const around = yield* billed(acts, graceHours, hoursApart, aroundOthers(places))
            assert.deepStrictEqual(around, expected)
          }),
        40,
      ),
    240_000,
  )
})

/** The first subscription of two is due a day before the second one, and a credit is more than an invoice. */
const twoDue = (credit: bigint | undefined) =>
  Effect.gen(function* () {
    yield* pushPro
    const customer = yield* newCustomer()
    const { create } = yield* Subscriptions
    const first = yield* create({ customerId: customer.id, plan: "pro" })
    yield* advanceTo(DateTime.add(START, { days: 1 }).epochMilliseconds)
    const second = yield* create({ customerId: customer.id, plan: "pro" })
    yield* advanceTo(DateTime.add(START, { days: 2 }).epochMilliseconds)
    const item = { customerId: customer.id, currency: "EUR", description: "Sorry" }
    if (credit !== undefined) yield* (yield* InvoiceItems).create({ ...item, amount: credit })
    // The due dates of the first invoices are over.
    yield* advanceTo(DateTime.add(START, { days: 20 }).epochMilliseconds)
    yield* TestClock.setTime(LATE.epochMilliseconds)
    return { first, second }
  })

const LATE = DateTime.add(START, { days: 32 })

const usd = {
  ...pro,
  key: "usd",
  currencies: ["USD"],
  charges: [{ key: "base", model: "flat" as const, price: { USD: "20.00" } }],
}

/** What is due first fails. */
const failFirst = (retryAt: DateTime.Utc | null) =>
  Effect.gen(function* () {
    const due = yield* DueStore
    const leaseUntil = DateTime.add(LATE, { minutes: 2 })
    const [claimed] = yield* due.claimDue({ lane: "billing", now: LATE, leaseUntil, limit: 1 })
    const attempts = retryAt === null ? 10 : 1
    yield* due.release(claimed!, { attempts, problem: "out of order", at: LATE, retryAt })
    return claimed!.subject.id
  })

/** An amount of the newest invoice of each of two subscriptions. */
const newestOf = (
  { first, second }: Effect.Success<ReturnType<typeof twoDue>>,
  amount: "amountDue" | "total",
) =>
  Effect.map(allInvoices, (all) =>
    [first, second].map(({ id }) => all.findLast(({ subscriptionId }) => subscriptionId === id)?.[amount]),
  )

describe("what a customer has due after something that has failed", () => {
  it.effect("waits until that is done, says so, and has not failed itself", () =>
    Effect.gen(function* () {
      const two = yield* twoDue(-3_000n)
      const retryAt = DateTime.add(LATE, { hours: 1 })
      const failed = yield* failFirst(retryAt)
      assert.strictEqual(failed, two.first.id)
      const report = yield* runDue
      assert.deepInclude(report, { subscriptions: 0, invoices: 0, failed: 0 })
      const { get } = yield* Subscriptions
      const waiting = (yield* get(two.second.id)).failure
      assert.deepStrictEqual(waiting, {
        attempts: 1,
        problem: `waits for the subscription ${failed}, which is due before it and has failed`,
        at: LATE,
        retryAt,
      })
      assert.deepStrictEqual(yield* (yield* BillingRuns).nextDueAt, Option.some(retryAt))
      yield* advanceTo(DateTime.add(LATE, { hours: 3 }).epochMilliseconds)
      assert.strictEqual((yield* get(two.second.id)).failure, null)
      assert.deepStrictEqual(yield* newestOf(two, "total"), [0n, 1_000n])
    }).pipe(inYears(START.epochMilliseconds)),
  )

  it.effect("goes on when that is set aside", () =>
    Effect.gen(function* () {
      const two = yield* twoDue(-3_000n)
      yield* failFirst(null)
      yield* advanceTo(DateTime.add(LATE, { hours: 3 }).epochMilliseconds)
      assert.deepStrictEqual(yield* newestOf(two, "total"), [2_000n, 0n])
    }).pipe(inYears(START.epochMilliseconds)),
  )

  it.effect("waits without items, too: credits pay what was due first", () =>
    Effect.gen(function* () {
      const two = yield* twoDue(undefined)
      const { customerId } = two.first
      yield* (yield* Credits).grant({ customerId, unit: "EUR", kind: "paid", amount: 3_000n })
      yield* failFirst(DateTime.add(LATE, { hours: 1 }))
      assert.deepInclude(yield* runDue, { failed: 0, invoices: 0 })
      yield* advanceTo(DateTime.add(LATE, { hours: 3 }).epochMilliseconds)
      assert.deepStrictEqual(yield* newestOf(two, "amountDue"), [0n, 1_000n])
    }).pipe(inYears(START.epochMilliseconds)),
  )
})

describe("a customer with items and very much that is due", () => {
  it.effect("is billed in the order also when more of another currency is due before than is read", () =>
    Effect.gen(function* () {
      yield* pushPro
      yield* (yield* Plans).push({ plans: [usd] })
      const customer = yield* newCustomer()
      const { create } = yield* Subscriptions
      for (let count = 0; count < MAX_SUBJECTS_OF_CUSTOMER; count++)
        yield* create({ customerId: customer.id, plan: usd.key })
      yield* advanceTo(DateTime.add(START, { hours: 5 }).epochMilliseconds)
      const first = yield* create({ customerId: customer.id, plan: "pro" })
      yield* advanceTo(DateTime.add(START, { days: 1 }).epochMilliseconds)
      const second = yield* create({ customerId: customer.id, plan: "pro" })
      yield* advanceTo(DateTime.add(START, { days: 2 }).epochMilliseconds)
      const item = { customerId: customer.id, currency: "EUR", description: "Sorry", amount: -3_000n }
      yield* (yield* InvoiceItems).create(item)
      yield* TestClock.setTime(LATE.epochMilliseconds)
      // Another runner has all but the last one.
      const leaseUntil = DateTime.add(LATE, { minutes: 2 })
      const limit = MAX_SUBJECTS_OF_CUSTOMER + 1
      yield* (yield* DueStore).claimDue({ lane: "billing", now: LATE, leaseUntil, limit })
      yield* runDue
      yield* advanceTo(DateTime.add(LATE, { hours: 3 }).epochMilliseconds)
      assert.deepStrictEqual(yield* newestOf({ first, second }, "total"), [0n, 1_000n])
    }).pipe(inYears(START.epochMilliseconds)),
  )

  it.effect("takes steps that grow with what is due, and not with its square", () => {
    let found = 0
    const counting = Layer.effect(
      SubscriptionStore,
      Effect.map(SubscriptionStore, (store) =>
        SubscriptionStore.of({ ...store, find: (id) => Effect.suspend(() => (found++, store.find(id))) }),
      ),
    )
    const subscriptions = 30
    return Effect.gen(function* () {
      yield* pushPro
      const customer = yield* newCustomer()
      const { create } = yield* Subscriptions
      for (let count = 0; count < subscriptions; count++)
        yield* create({ customerId: customer.id, plan: "pro" })
      yield* advanceTo(DateTime.add(START, { days: 2 }).epochMilliseconds)
      const item = { customerId: customer.id, currency: "EUR", description: "Sorry", amount: -3_000n }
      yield* (yield* InvoiceItems).create(item)
      yield* TestClock.setTime(LATE.epochMilliseconds)
      const counted = Layer.fresh(BillingRuns.layerManual).pipe(Layer.provide(counting))
      const { failed } = yield* Effect.provide(runDue, counted)
      assert.strictEqual(failed, 0)
      assert.isAtMost(found, 4 * subscriptions)
    }).pipe(inYears(START.epochMilliseconds))
  })
})
