import {
  ActionUnavailable,
  BillingRuns,
  Customer,
  Customers,
  DueStore,
  InvalidInput,
  Invoices,
  Invoice,
  IdGenerator,
  Meters,
  Outbox,
  Plan,
  Plans,
  Subscription,
  Subscriptions,
} from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { acmeTest, as, at, globex, listen, newCustomer } from "../world.ts"
import { advanceTo, allEvents, allInvoices, breakMeter, inYears, pro, pushPro, use } from "./billing.ts"

const START = at("2026-06-01T00:00:00.000Z").epochMilliseconds
const millis = (text: string): number => at(text).epochMilliseconds
const DAY = 86_400_000

const begin = Effect.gen(function* () {
  yield* pushPro
  const customer = yield* newCustomer()
  const subscription = yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
  return { customer, subscription }
})

const problemsOf = (error: unknown): ReadonlyArray<string> => {
  assert.instanceOf(error, InvalidInput)
  return (error.problems ?? [error]).map(({ field, problem }) => `${field} ${problem}`)
}

describe("Subscriptions.create", () => {
  it.effect("refuses a plan, a version and a customer that there are not", () =>
    Effect.gen(function* () {
      yield* pushPro
      const { create } = yield* Subscriptions
      const customer = yield* newCustomer()
      const unknown = yield* Effect.flip(create({ customerId: customer.id, plan: "gold" }))
      assert.instanceOf(unknown, Plan.PlanNotFound)
      assert.strictEqual(unknown.field, "plan")
      const version = yield* Effect.flip(create({ customerId: customer.id, plan: "pro", version: 2 }))
      assert.instanceOf(version, Plan.PlanNotFound)
      assert.strictEqual(version.field, "version")
      yield* (yield* Customers).erase(customer.id)
      const erased = yield* Effect.flip(create({ customerId: customer.id, plan: "pro" }))
      assert.instanceOf(erased, Customer.CustomerNotFound)
      assert.strictEqual(erased.field, "customerId")
      assert.deepStrictEqual((yield* (yield* Subscriptions).list()).data, [])
    }).pipe(inYears(START)),
  )

  it.effect("takes the currency and the time zone of the customer, unless the input has others", () =>
    Effect.gen(function* () {
      yield* (yield* Plans).push({
        plans: [
          {
            key: "two",
            name: "Two currencies",
            currencies: ["EUR", "USD"],
            interval: { unit: "month", count: 1 },
            charges: [{ key: "base", model: "flat", price: { EUR: "20.00", USD: "25.00" } }],
          },
        ],
      })
      const { create } = yield* Subscriptions
      const made = Effect.fnUntraced(function* (customer: object, input: object) {
        const fields = { name: "Ada", email: "ada@example.com", ...customer }
        const { id: customerId } = yield* (yield* Customers).create(fields)
        const { currency, periods } = yield* create({ customerId, plan: "two", ...input })
        return [currency, periods.timezone]
      })
      const berlin = { currency: "USD", timezone: "Europe/Berlin" }
      assert.deepStrictEqual(yield* made(berlin, {}), ["USD", "Europe/Berlin"])
      const own = { currency: "EUR", timezone: "Asia/Tokyo" }
      assert.deepStrictEqual(yield* made(berlin, own), ["EUR", "Asia/Tokyo"])
      // The plan does not have it, so the input must name one.
      const error = yield* Effect.flip(made({ currency: "JPY" }, {}))
      assert.match(problemsOf(error)[0] ?? "", /^currency /)
    }).pipe(inYears(START)),
  )

  it.effect("names all problems of an input", () =>
    Effect.gen(function* () {
      yield* pushPro
      const { create } = yield* Subscriptions
      const { id: customerId } = yield* newCustomer()
      const input = { customerId, plan: "pro", currency: "USD", quantities: { seats: "x" }, timezone: "Mars" }
      assert.deepStrictEqual(problemsOf(yield* Effect.flip(create(input))), [
        "currency must be a currency of the plan: EUR",
        "quantities.seats must be a decimal in a string, at most 18 digits before and 12 after the point",
        "quantities.seats is not a quantity of the plan",
        "timezone must be an IANA time zone, such as Europe/Berlin",
      ])
    }).pipe(inYears(START)),
  )

  it.effect("refuses a plan whose charge has no meter, or a dimension that the meter lacks", () =>
    Effect.gen(function* () {
      const { push } = yield* Plans
      const { create } = yield* Subscriptions
      const { id: customerId } = yield* newCustomer()
      yield* push({ plans: [pro] })
      const missing = yield* Effect.flip(create({ customerId, plan: "pro" }))
      assert.deepStrictEqual(problemsOf(missing), [
        'plan has the charge "calls", whose meter "calls" is not the key of a meter',
      ])
      yield* (yield* Meters).create({ key: "calls", productId: "api", unit: "call" })
      const [base, calls] = pro.charges
      yield* push({ plans: [{ ...pro, charges: [base!, { ...calls!, by: "region" }] }] })
      const undeclared = yield* Effect.flip(create({ customerId, plan: "pro" }))
      assert.match(
        problemsOf(undeclared)[0]!,
        /^plan has the charge "calls", whose groupBy is not a dimension/,
      )
      yield* create({ customerId, plan: "pro", version: 1 })
    }).pipe(inYears(START)),
  )

  it.effect("refuses a plan with a feature whose meter is missing, also when one changes to it", () =>
    Effect.gen(function* () {
      yield* pushPro
      const { change, create } = yield* Subscriptions
      const { id: customerId } = yield* newCustomer()
      const feature = { type: "metered", meter: "exports", included: "3", limit: "hard" } as const
      const [base] = pro.charges
      const { push } = yield* Plans
      yield* push({ plans: [{ ...pro, key: "limited", charges: [base!], features: { exports: feature } }] })
      const problem = 'plan has features.exports, whose meter "exports" is not the key of a meter'
      assert.deepStrictEqual(problemsOf(yield* Effect.flip(create({ customerId, plan: "limited" }))), [
        problem,
      ])
      const { id } = yield* create({ customerId, plan: "pro" })
      const moved = yield* Effect.flip(change(id, { plan: "limited", at: "now" }))
      assert.deepStrictEqual(problemsOf(moved), [problem])
      yield* (yield* Meters).create({ key: "exports", productId: "api", unit: "export" })
      yield* change(id, { plan: "limited", at: "now" })
    }).pipe(inYears(START)),
  )

  it.effect("bills periods of the past with one invoice", () =>
    Effect.gen(function* () {
      yield* pushPro
      const customer = yield* newCustomer()
      yield* TestClock.setTime(millis("2026-09-10T00:00:00.000Z"))
      const startAt = at("2026-06-01T00:00:00.000Z")
      yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro", startAt })
      const [invoice, ...others] = yield* allInvoices
      assert.lengthOf(others, 0)
      assert.strictEqual(invoice?.total, 8_000n)
      assert.deepStrictEqual(
        invoice?.lines.map(({ charge, origin }) => `${origin?.period} ${charge}`),
        ["0 base", "0 calls", "1 base", "1 calls", "2 base", "2 calls", "3 base"],
      )
    }).pipe(inYears(START)),
  )
})

describe("a subscription", () => {
  it.effect("is seen by its tenant only", () =>
    Effect.gen(function* () {
      const { subscription } = yield* begin
      const { get, list } = yield* Subscriptions
      for (const tenant of [acmeTest, globex]) {
        const error = yield* Effect.flip(as(tenant)(get(subscription.id)))
        assert.instanceOf(error, Subscription.SubscriptionNotFound)
        assert.deepStrictEqual((yield* as(tenant)(list())).data, [])
      }
      assert.deepStrictEqual(yield* get(subscription.id), subscription)
    }).pipe(inYears(START)),
  )

  it.effect("that is canceled now gets its last usage and the unused days back", () =>
    Effect.gen(function* () {
      const { customer, subscription } = yield* begin
      const { cancel } = yield* Subscriptions
      yield* advanceTo(START + 10 * DAY)
      yield* use(customer, 300)
      // A record at the instant of the end would belong to the time after it.
      yield* advanceTo(START + 10 * DAY + 1)
      const ended = yield* cancel(subscription.id, { at: "now" })
      assert.strictEqual(ended.phase, "ended")
      assert.deepStrictEqual(ended.availableActions, [])
      yield* advanceTo(START + 60 * DAY)
      const [first, last, ...others] = yield* allInvoices
      assert.lengthOf(others, 0)
      assert.strictEqual(first?.total, 2_000n)
      // 19 of 30 days are credited, because the day of the end was served, and 200 calls are above the free ones.
      assert.deepStrictEqual(
        last?.lines.map(({ amount, creditOf, kind }) => ({ amount, kind, creditOf })),
        [
          {
            amount: -1_267n,
            kind: "credit",
            creditOf: { invoiceId: first!.id, lineId: first!.lines[0]!.id },
          },
          { amount: 200n, kind: "usage", creditOf: null },
        ],
      )
      assert.strictEqual(last?.status, "paid")
      const events = (yield* allEvents).map((event) => event.slice(25))
      assert.deepStrictEqual(events.slice(4), [
        "subscription.canceled",
        "invoice.created",
        "subscription.ended",
        "invoice.finalized",
        "invoice.paid",
        "credit.granted",
        "invoice.overdue",
      ])
      const error = yield* Effect.flip(cancel(subscription.id, { at: "now" }))
      assert.instanceOf(error, ActionUnavailable)
      assert.match(error.message, /cancel is not possible while ended/)
    }).pipe(inYears(START)),
  )

  it.effect("gives nothing back of an invoice that was voided", () =>
    Effect.gen(function* () {
      const { subscription } = yield* begin
      yield* advanceTo(START)
      const [first] = yield* allInvoices
      yield* (yield* Invoices).void(first!.id)
      yield* advanceTo(START + 10 * DAY)
      yield* (yield* Subscriptions).cancel(subscription.id, { at: "now" })
      yield* advanceTo(START + 60 * DAY)
      const [, last] = yield* allInvoices
      assert.deepStrictEqual(
        last?.lines.map(({ amount, charge }) => [charge, amount]),
        [["calls", 0n]],
      )
      assert.strictEqual(last?.credited, 0n)
    }).pipe(inYears(START)),
  )

  it.effect("keeps its customer from being erased until it has ended", () =>
    Effect.gen(function* () {
      const { customer, subscription } = yield* begin
      const { erase, get } = yield* Customers
      const error = yield* Effect.flip(erase(customer.id))
      assert.instanceOf(error, Customer.CustomerHasSubscription)
      assert.deepStrictEqual(yield* get(customer.id), customer)
      yield* (yield* Subscriptions).cancel(subscription.id, { at: "now" })
      yield* erase(customer.id)
    }).pipe(inYears(START)),
  )
})

describe("Invoices", () => {
  it.effect("voids an issued invoice once, and does not bill it again", () =>
    Effect.gen(function* () {
      yield* begin
      const invoices = yield* Invoices
      const [draft] = yield* allInvoices
      assert.instanceOf(yield* Effect.flip(invoices.void(draft!.id)), ActionUnavailable)
      yield* advanceTo(START)
      const voided = yield* invoices.void(draft!.id)
      assert.deepInclude(voided, { status: "void", amountDue: 0n, number: "2026-0001" })
      assert.instanceOf(yield* Effect.flip(invoices.void(draft!.id)), ActionUnavailable)
      yield* advanceTo(START + 31 * DAY)
      const [, second] = yield* allInvoices
      assert.strictEqual(second?.total, 2_000n)
      assert.strictEqual(second?.number, "2026-0002")
      assert.deepInclude(yield* invoices.markUncollectible(second!.id), { status: "uncollectible" })
      const unknown = yield* Effect.flip(invoices.get("inv_00000000000000000000000000"))
      assert.instanceOf(unknown, Invoice.InvoiceNotFound)
    }).pipe(inYears(START)),
  )
})

/** Runs an effect as another process would, with ids of its own, whose clock is set to an instant. */
const elsewhere = <A, E, R>(clock: number, effect: Effect.Effect<A, E, R>) => {
  const own = Subscriptions.layer.pipe(Layer.provide(Outbox.layer), Layer.provide(IdGenerator.layerSeeded(2)))
  return Effect.andThen(TestClock.setTime(clock), Effect.provide(effect, Layer.fresh(own)))
}

describe("two drafts of a subscription", () => {
  it.effect("are billed in their order, also when a clock that was set back named the second", () =>
    Effect.gen(function* () {
      const { subscription } = yield* begin
      yield* advanceTo(START + 30 * DAY)
      const cancel = Effect.flatMap(Subscriptions, (all) => all.cancel(subscription.id, { at: "now" }))
      yield* elsewhere(START + 30 * DAY - 600_000, cancel)
      yield* advanceTo(START + 32 * DAY)
      const byNumber = (yield* allInvoices).toSorted((a, b) => (a.number! < b.number! ? -1 : 1))
      assert.isBelow(byNumber[2]!.id.localeCompare(byNumber[1]!.id), 0)
      assert.deepStrictEqual(
        byNumber.map(({ lines }) => lines.map(({ amount, charge }) => [charge, amount])),
        [
          [["base", 2_000n]],
          [
            ["calls", 0n],
            ["base", 2_000n],
          ],
          [
            ["base", -2_000n],
            ["calls", 0n],
          ],
        ],
      )
    }).pipe(inYears(START)),
  )
})

describe("the events of an invoice", () => {
  it.effect("have rising sequences, also two of one change", () =>
    Effect.gen(function* () {
      const { customer } = yield* begin
      yield* (yield* Plans).push({
        plans: [{ ...pro, key: "free", charges: [{ key: "base", model: "flat", price: { EUR: "0" } }] }],
      })
      yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "free" })
      yield* advanceTo(START)
      const paid = (yield* allInvoices).find(({ status }) => status === "paid")
      const { events } = yield* (yield* MemoryInspector).snapshot
      const sequences = events.flatMap(({ event: { payload } }) => {
        const { data, type } = JSON.parse(payload) as Payload
        return data.invoice?.id === paid?.id ? [`${type} ${data.invoice?.sequence}`] : []
      })
      assert.deepStrictEqual(sequences, ["invoice.created 1", "invoice.finalized 3", "invoice.paid 4"])
      assert.strictEqual(paid?.sequence, 4)
    }).pipe(inYears(START)),
  )
})

interface Payload {
  readonly type: string
  readonly data: { readonly invoice?: { readonly id: string; readonly sequence: number } }
}

describe("BillingRuns.runDue", () => {
  it.effect("does what was due by an instant, in steps of a limit, and says how far it is", () =>
    Effect.gen(function* () {
      yield* begin
      const { countDue, runDue } = yield* BillingRuns
      yield* TestClock.setTime(START + 70 * DAY)
      const none = { subscriptions: 0, invoices: 0, setAside: 0 }
      assert.deepStrictEqual(yield* countDue(at("2026-05-31T23:59:59.999Z")), none)
      assert.deepStrictEqual(yield* countDue(at("2026-06-30T23:59:59.999Z")), { ...none, invoices: 1 })
      assert.deepStrictEqual(yield* countDue(at("2026-07-01T00:00:00Z")), {
        ...none,
        subscriptions: 1,
        invoices: 1,
      })
      const until = at("2026-07-31T23:59:59.999Z")
      const seen: Array<unknown> = []
      const note = (soFar: object) => Effect.sync(() => void seen.push(soFar))
      const first = { subscriptions: 0, invoices: 1, failed: 0, hasMore: true }
      assert.deepStrictEqual(yield* runDue({ until, limit: 1 }, note), first)
      const second = { ...first, subscriptions: 1 }
      assert.deepStrictEqual(yield* runDue({ until }, note), { ...second, hasMore: false })
      // The invoice is finalized with the step that made it, because its grace is over.
      assert.deepStrictEqual(seen, [first, second])
      // August has not begun: that was due after the bound.
      const [subscription] = (yield* (yield* Subscriptions).list()).data
      assert.strictEqual(subscription?.period?.number, 1)
      const error = yield* Effect.flip(runDue({ until: at("2026-12-01T00:00:00Z") }))
      assert.deepInclude(error, { field: "until", problem: "must not be in the future" })
    }).pipe(inYears(START)),
  )

  it.effect("sets a subject aside that fails again and again, shows it, and goes on with others", () => {
    const { logged, logger } = listen()
    return Effect.gen(function* () {
      const { customer, subscription } = yield* begin
      const runs = yield* BillingRuns
      yield* advanceTo(START + 20 * DAY)
      yield* breakMeter
      yield* (yield* Meters).create({ key: "other", productId: "api", unit: "call" })
      const [base] = pro.charges
      yield* (yield* Plans).push({ plans: [{ ...pro, key: "flat", charges: [base!] }] })
      const other = yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "flat" })
      yield* advanceTo(START + 29 * DAY)
      yield* TestClock.setTime(START + 30 * DAY)
      const report = yield* runs.runDue()
      assert.deepStrictEqual(report, { subscriptions: 0, invoices: 0, failed: 1, hasMore: false })
      const { get } = yield* Subscriptions
      const { failure } = yield* get(subscription.id)
      assert.strictEqual(failure?.attempts, 1)
      assert.match(failure!.problem, /is archived/)
      assert.deepStrictEqual(yield* runs.runDue(), { ...report, failed: 0 })
      yield* advanceTo(START + 60 * DAY)
      const setAside = yield* get(subscription.id)
      assert.deepInclude(setAside.failure, { attempts: 10, retryAt: null })
      assert.strictEqual((yield* get(other.id)).period?.number, 1)
      assert.isTrue(Option.isSome(yield* (yield* DueStore).nextDueAt))
      assert.isTrue(DateTime.isUtc(failure!.at))
      assert.deepStrictEqual(
        logged.map((sentence) => sentence.replace(/; it is tried again$|:.*/, "")),
        [
          ...Array.from({ length: 9 }, () => "billing a subscription failed"),
          "billing a subscription failed 10 times in a row, and it was set aside",
        ],
      )
    }).pipe(inYears(START), Effect.provide(logger))
  })
})
