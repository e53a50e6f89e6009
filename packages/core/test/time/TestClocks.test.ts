import {
  Billing,
  BillingRuns,
  Coupons,
  CreditNotes,
  type Customer,
  Customers,
  IdGenerator,
  InvalidInput,
  InvoiceItems,
  Invoices,
  Redemptions,
  Subscriptions,
  Tenant,
  TestClock,
  TestClocks,
  Usage,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { TestClock as Clock } from "effect/testing"
import { acme, acmeTest, as, at, globex, listen, newCustomer } from "../world.ts"
import { allInvoices, breakMeter, pushPro } from "./billing.ts"

const REAL = at("2026-06-10T12:00:00.000Z")
const START = at("2026-01-31T12:00:00.000Z")

const services = Billing.layerWithIds({}).pipe(
  Layer.provideMerge(Layer.mergeAll(Memory.layer, IdGenerator.layerSeeded(1))),
  Layer.merge(Layer.succeed(Tenant.CurrentTenant, acmeTest)),
)
const inTest = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.andThen(Clock.setTime(REAL.epochMilliseconds), Effect.provide(test, services))

const newClock = Effect.flatMap(TestClocks, ({ create }) => create({ now: START, name: "Years" }))

const subscribe = Effect.fnUntraced(function* (testClockId: TestClock.TestClockId | null) {
  const customer = yield* newCustomer({ testClockId })
  const subscription = yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
  return { customer, subscription }
})

/** Advances until the clock is ready. Gives how many calls that took. */
const advance = Effect.fnUntraced(function* (id: string, to: DateTime.Utc) {
  const clocks = yield* TestClocks
  for (let calls = 1; ; calls++) if ((yield* clocks.advance(id, { to })).status === "ready") return calls
})

const use = (customer: Customer.Customer, quantity: number, timestamp: DateTime.Utc) =>
  Effect.flatMap(Usage, (usage) =>
    usage.record({ customerId: customer.id, productId: "api", unit: "call", quantity, timestamp }),
  )

const issuedAt = Effect.map(allInvoices, (all) =>
  all.map((invoice) => invoice.issuedAt && DateTime.formatIso(DateTime.makeUnsafe(invoice.issuedAt))),
)

describe("a test clock", () => {
  it.effect("is the time of coupons and items of its customers", () =>
    Effect.gen(function* () {
      yield* pushPro
      const clock = yield* newClock
      const { customer, subscription } = yield* subscribe(clock.id)
      const coupons = yield* Coupons
      yield* coupons.create({ code: "HALF", name: "Half", percent: "50", duration: "once" })
      const redemptions = yield* Redemptions
      const redeemed = yield* redemptions.create({ coupon: "HALF", subscriptionId: subscription.id })
      assert.deepStrictEqual(redeemed.createdAt, START)
      const charge = { customerId: customer.id, currency: "EUR", amount: 700n, description: "Set-up" }
      assert.deepStrictEqual((yield* (yield* InvoiceItems).create(charge)).createdAt, START)
      yield* advance(clock.id, at("2026-03-01T12:00:00.000Z"))
      const totals = (yield* allInvoices).map(({ subtotal, total }) => [subtotal, total])
      // The clock stood still in between, so the coupon lowers the first invoice, too. It does so once.
      assert.deepStrictEqual(totals, [
        [2_000n, 1_000n],
        [2_700n, 2_700n],
      ])
      yield* redemptions.end(redeemed.id)
      assert.deepStrictEqual((yield* redemptions.get(redeemed.id)).endedAt, at("2026-03-01T12:00:00.000Z"))
    }).pipe(inTest),
  )

  it.effect("is the time of credit notes, of changes and of previews of its customers", () =>
    Effect.gen(function* () {
      yield* pushPro
      const clock = yield* newClock
      const { customer, subscription } = yield* subscribe(clock.id)
      const changed = yield* (yield* Customers).update(customer.id, { name: "Ada Lovelace" })
      assert.deepStrictEqual(changed.updatedAt, START)
      const then = at("2031-02-01T00:00:00.000Z")
      yield* advance(clock.id, then)
      const preview = yield* (yield* Subscriptions).preview({
        action: "change",
        subscriptionId: subscription.id,
        quantities: {},
      })
      assert.deepStrictEqual(preview.nextInvoice?.createdAt, then)
      const real = yield* subscribe(null)
      yield* (yield* BillingRuns).runDue()
      const { create } = yield* CreditNotes
      const issued = Effect.map(allInvoices, (all) => all.filter(({ status }) => status === "open"))
      const issuedNotes = []
      for (const { customerId, id } of (yield* issued).slice(-2)) {
        const note = yield* create({ invoiceId: id, amount: 100n, reason: "other" })
        const isReal = customerId === real.customer.id
        assert.deepStrictEqual(note.createdAt, isReal ? REAL : then)
        assert.strictEqual(note.issuedAt, note.createdAt.epochMilliseconds)
        issuedNotes.push(note.number)
      }
      assert.deepStrictEqual(issuedNotes, ["CN-2026-0001", "CN-2026-0002"])
    }).pipe(inTest),
  )

  it.effect("is the time of its customers, and nothing of them happens unless it is advanced", () =>
    Effect.gen(function* () {
      yield* pushPro
      const clock = yield* newClock
      assert.deepInclude(clock, { name: "Years", now: START, status: "ready", advancingTo: null })
      const { customer, subscription } = yield* subscribe(clock.id)
      assert.deepStrictEqual(customer.createdAt, START)
      assert.deepStrictEqual(subscription.createdAt, START)
      assert.strictEqual(subscription.period?.start, START.epochMilliseconds)
      const runs = yield* BillingRuns
      yield* Clock.setTime(at("2026-06-20T00:00:00Z").epochMilliseconds)
      assert.deepStrictEqual(yield* runs.nextDueAt, Option.none())
      assert.deepInclude(yield* runs.runDue(), { subscriptions: 0, invoices: 0 })
      assert.deepStrictEqual(yield* issuedAt, [null])
      yield* Clock.setTime(REAL.epochMilliseconds)
      yield* advance(clock.id, at("2026-02-10T00:00:00Z"))
      yield* use(customer, 300, at("2026-02-09T00:00:00Z"))
      yield* advance(clock.id, at("2026-04-01T00:00:00Z"))
      assert.deepStrictEqual(yield* issuedAt, [
        "2026-01-31T12:00:00.000Z",
        "2026-02-28T13:00:00.000Z",
        "2026-03-31T13:00:00.000Z",
      ])
      assert.deepStrictEqual(
        (yield* allInvoices).map(({ number, total }) => [number, total]),
        [
          ["2026-0001", 2_000n],
          ["2026-0002", 2_200n],
          ["2026-0003", 2_000n],
        ],
      )
      const canceled = yield* (yield* Subscriptions).cancel(subscription.id, { at: "now" })
      assert.strictEqual(canceled.endedAt, at("2026-04-01T00:00:00Z").epochMilliseconds)
    }).pipe(inTest),
  )

  it.effect("leaves customers in real time, and their numbers, as they are", () =>
    Effect.gen(function* () {
      yield* pushPro
      const clock = yield* newClock
      yield* subscribe(clock.id)
      yield* advance(clock.id, at("2026-12-01T00:00:00Z"))
      yield* subscribe(null)
      yield* (yield* BillingRuns).runDue()
      const last = (yield* allInvoices).at(-1)
      assert.deepInclude(last, { number: "2026-0012", issuedAt: REAL.epochMilliseconds })
      yield* advance(clock.id, at("2030-01-01T00:00:00Z"))
      yield* subscribe(null)
      yield* (yield* BillingRuns).runDue()
      assert.deepInclude((yield* allInvoices).at(-1), { issuedAt: REAL.epochMilliseconds })
    }).pipe(inTest),
  )

  it.effect(
    "advances as far as wanted in calls of limited work, with progress, in the order of instants",
    () =>
      Effect.gen(function* () {
        yield* pushPro
        const clock = yield* newClock
        yield* subscribe(clock.id)
        const { id: other } = yield* subscribe(clock.id).pipe(Effect.map(({ subscription }) => subscription))
        const clocks = yield* TestClocks
        const to = DateTime.add(START, { years: 3, hours: 2 })
        const first = yield* clocks.advance(clock.id, { to })
        assert.deepInclude(first, { status: "advancing", advancingTo: to })
        assert.isTrue(DateTime.isGreaterThan(first.now, START))
        assert.isTrue(DateTime.isLessThan(first.now, to))
        const error = yield* Effect.flip(clocks.advance(clock.id, { to: first.now }))
        assert.instanceOf(error, InvalidInput)
        assert.match(error.message, /^to must not be before \S+, where the clock advances to$/)
        const calls = yield* advance(clock.id, to)
        assert.isAtMost(calls, 3)
        assert.deepInclude(yield* clocks.get(clock.id), { status: "ready", advancingTo: null, now: to })
        const { data } = yield* (yield* Invoices).list({ subscriptionId: other, limit: 100 })
        assert.lengthOf(data, 37)
        const instants = yield* issuedAt
        assert.deepStrictEqual(
          [...instants].map(String),
          [...instants].map(String).toSorted(),
          "issued one after another",
        )
      }).pipe(inTest),
  )

  it.effect("is finished by billing runs when nobody calls again for a minute", () =>
    Effect.gen(function* () {
      yield* pushPro
      const clock = yield* newClock
      const owners = yield* Effect.forEach([1, 2, 3, 4], () => subscribe(clock.id))
      const clocks = yield* TestClocks
      const runs = yield* BillingRuns
      const to = DateTime.add(START, { years: 3, hours: 2 })
      const call = clocks.advance(clock.id, { to })
      yield* call
      yield* Clock.adjust("40 seconds")
      // Each call puts it off.
      assert.strictEqual((yield* call).status, "advancing")
      yield* Clock.adjust("59 seconds")
      assert.deepInclude(yield* runs.runDue(), { hasMore: false })
      const left = yield* clocks.get(clock.id)
      assert.strictEqual(left.status, "advancing")
      yield* Clock.adjust("1 second")
      yield* runs.runDue({ limit: 1 })
      const between = yield* clocks.get(clock.id)
      assert.isTrue(DateTime.isGreaterThan(between.now, left.now))
      yield* runs.runDue()
      assert.deepInclude(yield* clocks.get(clock.id), { status: "ready", advancingTo: null, now: to })
      for (const { subscription } of owners) {
        const { data } = yield* (yield* Invoices).list({ subscriptionId: subscription.id, limit: 100 })
        assert.lengthOf(data, 37)
      }
      assert.deepStrictEqual(yield* runs.nextDueAt, Option.none())
      assert.deepInclude(yield* runs.runDue(), { subscriptions: 0, invoices: 0, failed: 0 })
    }).pipe(inTest),
  )

  it.effect("is left alone by billing runs when it is deleted on its way", () =>
    Effect.gen(function* () {
      yield* pushPro
      const clock = yield* newClock
      const owners = yield* Effect.forEach([1, 2, 3, 4], () => subscribe(clock.id))
      const clocks = yield* TestClocks
      const to = DateTime.add(START, { years: 3 })
      assert.strictEqual((yield* clocks.advance(clock.id, { to })).status, "advancing")
      const runs = yield* BillingRuns
      assert.isTrue(Option.isSome(yield* runs.nextDueAt))
      for (const { customer, subscription } of owners) {
        yield* (yield* Subscriptions).cancel(subscription.id, { at: "now" })
        yield* (yield* Customers).erase(customer.id)
      }
      yield* clocks.delete(clock.id)
      yield* Clock.adjust("1 minute")
      assert.deepInclude(yield* runs.runDue(), { failed: 0 })
      assert.deepStrictEqual(yield* runs.nextDueAt, Option.none())
    }).pipe(inTest),
  )

  it.effect("goes on with others when one fails, and tries that again by the clock", () => {
    const { logged, logger } = listen()
    return Effect.gen(function* () {
      yield* pushPro
      const clock = yield* newClock
      const { subscription } = yield* subscribe(clock.id)
      yield* breakMeter
      yield* advance(clock.id, at("2026-02-28T12:00:30Z"))
      const { failure } = yield* (yield* Subscriptions).get(subscription.id)
      assert.deepInclude(failure, { attempts: 1, at: at("2026-02-28T12:00:00Z") })
      assert.deepStrictEqual(failure?.retryAt, at("2026-02-28T12:01:00Z"))
      yield* advance(clock.id, at("2026-03-10T00:00:00Z"))
      const setAside = yield* (yield* Subscriptions).get(subscription.id)
      assert.deepInclude(setAside.failure, { attempts: 10, retryAt: null })
      assert.include(logged, "billing a subscription failed on a test clock")
    }).pipe(inTest, Effect.provide(logger))
  })

  it.effect("is for test mode, and is its tenant's alone", () =>
    Effect.gen(function* () {
      const clocks = yield* TestClocks
      const clock = yield* clocks.create({})
      assert.deepInclude(clock, { name: null, now: REAL })
      const refused = yield* Effect.flip(as(acme)(clocks.create({})))
      assert.instanceOf(refused, TestClock.TestClocksAreForTests)
      for (const tenant of [acme, { ...globex, mode: "test" as const }]) {
        const error = yield* Effect.flip(as(tenant)(clocks.get(clock.id)))
        assert.instanceOf(error, TestClock.TestClockNotFound)
        assert.instanceOf(
          yield* Effect.flip(as(tenant)(clocks.advance(clock.id, { to: REAL }))),
          TestClock.TestClockNotFound,
        )
      }
      const live = yield* Effect.flip(as(acme)(newCustomer({ testClockId: clock.id })))
      assert.deepInclude(live, {
        field: "testClockId",
        problem: "must be left out or null in live mode: test clocks are for test mode",
      })
      const other = as({ ...globex, mode: "test" as const })(newCustomer({ testClockId: clock.id }))
      assert.deepInclude(yield* Effect.flip(other), { _tag: "TestClockNotFound", field: "testClockId" })
    }).pipe(inTest),
  )

  it.effect("leaves nothing behind when it is deleted: drafts are issued in real time", () =>
    Effect.gen(function* () {
      yield* pushPro
      const clock = yield* newClock
      const { customer, subscription } = yield* subscribe(clock.id)
      yield* advance(clock.id, at("2029-05-10T00:00:00Z"))
      yield* use(customer, 300, at("2029-05-09T00:00:00Z"))
      yield* (yield* Subscriptions).cancel(subscription.id, { at: "now" })
      yield* (yield* Customers).erase(customer.id)
      const draft = (yield* allInvoices).at(-1)
      assert.strictEqual(draft?.status, "draft")
      const runs = yield* BillingRuns
      assert.deepStrictEqual(yield* runs.nextDueAt, Option.none())
      yield* (yield* TestClocks).delete(clock.id)
      assert.deepStrictEqual(yield* runs.nextDueAt, Option.some(REAL))
      assert.deepInclude(yield* runs.runDue(), { invoices: 1, failed: 0 })
      assert.deepStrictEqual(yield* runs.nextDueAt, Option.none())
      assert.deepInclude((yield* allInvoices).at(-1), {
        number: "2026-0041",
        issuedAt: REAL.epochMilliseconds,
      })
    }).pipe(inTest),
  )

  it.effect("never goes back, and is deleted when its customers are erased", () =>
    Effect.gen(function* () {
      const clocks = yield* TestClocks
      const clock = yield* newClock
      const customer = yield* newCustomer({ testClockId: clock.id })
      const error = yield* Effect.flip(
        clocks.advance(clock.id, { to: DateTime.subtract(START, { seconds: 1 }) }),
      )
      assert.strictEqual(
        error.message,
        "to must not be before 2026-01-31T12:00:00.000Z, where the clock stands",
      )
      assert.instanceOf(yield* Effect.flip(clocks.delete(clock.id)), TestClock.TestClockHasCustomers)
      const { data } = yield* (yield* Customers).list({ testClockId: clock.id })
      assert.deepStrictEqual(data, [customer])
      yield* (yield* Customers).erase(customer.id)
      yield* clocks.delete(clock.id)
      assert.instanceOf(yield* Effect.flip(clocks.get(clock.id)), TestClock.TestClockNotFound)
    }).pipe(inTest),
  )
})
