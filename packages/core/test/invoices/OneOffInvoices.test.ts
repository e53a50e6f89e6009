import {
  ActionUnavailable,
  BillingRuns,
  Credits,
  Customer,
  InvalidInput,
  Invoice,
  InvoiceItem,
  InvoiceItems,
  Invoices,
  Subscriptions,
  Transactor,
} from "@billwright/core"
import { problemsOfSums } from "@billwright/engine"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { advanceTo, allEvents, allInvoices, pushPro, use } from "../time/billing.ts"
import { as, at, globex, inWorld, newCustomer, NOON } from "../world.ts"

const item = (customerId: Invoice.Invoice["customerId"], amount: bigint) => ({
  customerId,
  currency: "EUR",
  amount,
  description: `of ${amount}`,
})

const pending = Effect.flatMap(InvoiceItems, ({ list }) =>
  Effect.map(list({ status: "pending" }), ({ data }) => data.map(({ amount }) => amount)),
)

const amountsOf = ({ lines }: Invoice.Invoice) => lines.map(({ amount }) => amount)

const refused = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.instanceOf(error, InvalidInput)
    return `${(error as InvalidInput).field} ${(error as InvalidInput).problem}`
  })

describe("a one-off invoice", () => {
  it.effect("has the pending items of the customer in its currency, and is issued by call", () =>
    Effect.gen(function* () {
      const { id } = yield* newCustomer({ currency: "EUR", netDays: 3 })
      const other = yield* newCustomer()
      const items = yield* InvoiceItems
      yield* items.create(item(id, 4_900n))
      yield* items.create(item(id, -400n))
      yield* items.create({ ...item(id, 700n), currency: "USD" })
      yield* items.create(item(other.id, 100n))
      const invoices = yield* Invoices
      const draft = yield* invoices.create({ customerId: id })
      assert.deepInclude(draft, { status: "draft", subscriptionId: null, currency: "EUR", finalizesAt: null })
      assert.deepStrictEqual(amountsOf(draft), [4_900n, -400n])
      assert.deepStrictEqual(draft.availableActions, ["finalize"])
      // Nobody issues it by itself.
      yield* advanceTo(at("2026-11-23T12:00:00.000Z").epochMilliseconds)
      assert.strictEqual((yield* invoices.get(draft.id)).status, "draft")
      const issued = yield* invoices.finalize(draft.id)
      assert.deepInclude(issued, { status: "open", number: "2026-0001", total: 4_500n, amountDue: 4_500n })
      assert.deepStrictEqual(problemsOfSums(issued), [])
      assert.strictEqual(issued.dueAt, at("2026-11-26T23:59:59.999Z").epochMilliseconds)
      assert.deepStrictEqual(yield* pending, [100n, 700n])
      assert.deepStrictEqual(
        (yield* allEvents).map((event) => event.slice(25)).filter((type) => type.startsWith("invoice")),
        ["invoice.created", "invoice.finalized"],
      )
    }).pipe(inWorld()),
  )

  it.effect("takes charges before credits when there are more items than an invoice has", () =>
    Effect.gen(function* () {
      const { id } = yield* newCustomer({ currency: "EUR" })
      const items = yield* InvoiceItems
      yield* Effect.replicateEffect(items.create(item(id, -1n)), InvoiceItem.MAX_ITEMS_PER_INVOICE)
      yield* items.create(item(id, 1_000n))
      const draft = yield* (yield* Invoices).create({ customerId: id })
      const amounts = amountsOf(draft)
      assert.lengthOf(amounts, InvoiceItem.MAX_ITEMS_PER_INVOICE)
      assert.deepStrictEqual([amounts[0], amounts.at(-1)], [-1n, 1_000n])
    }).pipe(inWorld()),
  )

  it.effect("is lowered by promotional credits to 0 and not below, also with a rebate", () =>
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer()
      const credits = yield* Credits
      const account = { customerId, unit: "EUR" }
      yield* credits.grant({ ...account, kind: "promotional", amount: 90_000n })
      const invoices = yield* Invoices
      const lines = [
        { description: "Workshop", amount: 90_000n },
        { description: "Rebate", amount: -10_000n },
      ]
      const draft = yield* invoices.create({ customerId, currency: "EUR", lines })
      assert.strictEqual(draft.total, 0n)
      const issued = yield* invoices.finalize(draft.id)
      assert.deepInclude(issued, { status: "paid", total: 0n, credited: 0n })
      assert.strictEqual((yield* credits.balance(account)).available, 10_000n)
    }).pipe(inWorld()),
  )

  it.effect("has given lines instead, and items stay pending", () =>
    Effect.gen(function* () {
      const { id } = yield* newCustomer()
      yield* (yield* InvoiceItems).create(item(id, 4_900n))
      const invoices = yield* Invoices
      const lines = [
        {
          description: "Workshop",
          amount: 90_000n,
          periodStart: NOON,
          periodEnd: at("2026-11-22T00:00:00.000Z"),
        },
        { description: "Rebate", amount: -10_000n },
      ]
      const draft = yield* invoices.create({ customerId: id, currency: "EUR", lines })
      assert.deepStrictEqual(amountsOf(draft), [90_000n, -10_000n])
      assert.deepStrictEqual((yield* invoices.get(draft.id)).lines, draft.lines)
      const issued = yield* invoices.finalize(draft.id)
      assert.deepInclude(issued, { status: "open", total: 80_000n })
      assert.deepStrictEqual(issued.lines, draft.lines)
      assert.deepStrictEqual(yield* pending, [4_900n])
    }).pipe(inWorld()),
  )

  it.effect("is refused without a charge, a currency, a customer, or a whole period of a line", () =>
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer()
      const { create } = yield* Invoices
      const line = { description: "Work", amount: 100n }
      assert.strictEqual(
        yield* refused(create({ customerId })),
        "currency is required: the customer has no currency",
      )
      assert.strictEqual(
        yield* refused(create({ customerId, currency: "EUR" })),
        "lines is required: the customer has no pending charge in EUR",
      )
      assert.match(yield* refused(create({ customerId, currency: "XXQ" })), /^currency must be an ISO 4217/)
      assert.match(
        yield* refused(create({ customerId, currency: "EUR", lines: [] })),
        /^lines must have 1 to 250/,
      )
      const rebate = { ...line, amount: -101n }
      assert.strictEqual(
        yield* refused(create({ customerId, currency: "EUR", lines: [line, rebate] })),
        "lines must not come to less than 0",
      )
      const half = { ...line, periodStart: NOON }
      assert.strictEqual(
        yield* refused(create({ customerId, currency: "EUR", lines: [line, half] })),
        "lines[1].periodEnd must be given together with the start",
      )
      const tooLong = { ...line, periodStart: NOON, periodEnd: at("9999-01-01T00:00:00.000Z") }
      assert.strictEqual(
        yield* refused(create({ customerId, currency: "EUR", lines: [line, tooLong] })),
        "lines[1].periodEnd must be at most 10 years after the start",
      )
      const theirs = yield* newCustomer().pipe(as(globex))
      const error = yield* Effect.flip(create({ customerId: theirs.id, currency: "EUR", lines: [line] }))
      assert.instanceOf(error, Customer.CustomerNotFound)
      assert.deepStrictEqual(yield* allInvoices, [])
      const { events } = yield* (yield* MemoryInspector).snapshot
      assert.deepStrictEqual(events, [])
    }).pipe(inWorld()),
  )

  it.effect("bills ten years of any time zone at once", () =>
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer()
      // Midnights of Berlin: the clocks there change on the 29th of March in 2026, and on the 30th in 2036.
      const decade = {
        description: "Domain",
        amount: 100n,
        periodStart: at("2026-03-29T22:00:00.000Z"),
        periodEnd: at("2036-03-29T23:00:00.000Z"),
      }
      const { lines } = yield* (yield* Invoices).create({ customerId, currency: "EUR", lines: [decade] })
      assert.strictEqual(lines[0]?.periodEnd, decade.periodEnd.epochMilliseconds)
    }).pipe(inWorld()),
  )

  it.effect("that is deleted as a draft gives its items back, and an issued one is not deleted", () =>
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer({ currency: "EUR" })
      yield* (yield* InvoiceItems).create(item(customerId, 4_900n))
      const invoices = yield* Invoices
      const draft = yield* invoices.create({ customerId })
      assert.deepStrictEqual(yield* pending, [])
      yield* invoices.delete(draft.id)
      assert.deepStrictEqual(yield* pending, [4_900n])
      assert.instanceOf(yield* Effect.flip(invoices.get(draft.id)), Invoice.InvoiceNotFound)
      assert.instanceOf(yield* Effect.flip(invoices.delete(draft.id)), Invoice.InvoiceNotFound)
      assert.instanceOf(yield* Effect.flip(invoices.finalize(draft.id)), Invoice.InvoiceNotFound)
      assert.strictEqual((yield* allEvents).at(-1)?.slice(25), "invoice.deleted")
      const again = yield* invoices.create({ customerId })
      yield* invoices.finalize(again.id)
      assert.instanceOf(yield* Effect.flip(invoices.delete(again.id)), ActionUnavailable)
      assert.instanceOf(yield* Effect.flip(invoices.finalize(again.id)), ActionUnavailable)
    }).pipe(inWorld()),
  )

  it.effect("is issued by the next billing run when it is finalized in a longer transaction", () =>
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer({ currency: "EUR" })
      const invoices = yield* Invoices
      const { atomically } = yield* Transactor
      const lines = [{ description: "Order 4711", amount: 1_000n }]
      const ready = yield* atomically(
        Effect.flatMap(invoices.create({ customerId, lines }), ({ id }) => invoices.finalize(id)),
      )
      assert.deepInclude(ready, { status: "draft", number: null, finalizesAt: NOON.epochMilliseconds })
      const { invoices: count } = yield* (yield* BillingRuns).runDue()
      assert.strictEqual(count, 1)
      assert.deepInclude(yield* invoices.get(ready.id), { status: "open", number: "2026-0001" })
    }).pipe(inWorld()),
  )
})

describe("the draft of a subscription", () => {
  it.effect("is issued by call before its grace is over, the oldest first, and is not deleted", () =>
    Effect.gen(function* () {
      yield* pushPro
      const customer = yield* newCustomer()
      const subscription = yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
      yield* advanceTo(at("2026-12-01T00:00:00.000Z").epochMilliseconds)
      yield* use(customer, 300)
      yield* advanceTo(at("2026-12-21T12:10:00.000Z").epochMilliseconds)
      const draft = (yield* allInvoices)[1]!
      assert.strictEqual(draft.status, "draft")
      yield* (yield* Subscriptions).cancel(subscription.id, { at: "now" })
      const last = (yield* allInvoices)[2]!
      const invoices = yield* Invoices
      const early = yield* Effect.flip(invoices.finalize(last.id))
      assert.instanceOf(early, ActionUnavailable)
      assert.include((early as ActionUnavailable).problem, draft.id)
      assert.instanceOf(yield* Effect.flip(invoices.delete(draft.id)), ActionUnavailable)
      const issued = yield* invoices.finalize(draft.id)
      assert.deepInclude(issued, { status: "open", number: "2026-0002", total: 2_200n, finalizesAt: null })
      assert.strictEqual((yield* invoices.finalize(last.id)).number, "2026-0003")
      yield* advanceTo(at("2027-01-22T00:00:00.000Z").epochMilliseconds)
      assert.lengthOf(yield* allInvoices, 3)
    }).pipe(inWorld()),
  )
})

describe("the upcoming invoice", () => {
  it.effect("has the usage of now, is what is issued in the end, and stores nothing", () =>
    Effect.gen(function* () {
      yield* pushPro
      const customer = yield* newCustomer()
      const subscriptions = yield* Subscriptions
      const { id } = yield* subscriptions.create({ customerId: customer.id, plan: "pro" })
      yield* advanceTo(at("2026-12-01T00:00:00.000Z").epochMilliseconds)
      yield* use(customer, 300)
      const inspector = yield* MemoryInspector
      const before = yield* inspector.snapshot
      const invoices = yield* Invoices
      const upcoming = yield* invoices.upcoming(id)
      assert.deepStrictEqual(yield* inspector.snapshot, before)
      assert.deepInclude(upcoming, { status: "draft", subscriptionId: id, total: 2_200n })
      yield* advanceTo(at("2026-12-22T00:00:00.000Z").epochMilliseconds)
      assert.deepStrictEqual((yield* allInvoices).at(-1)?.lines, upcoming?.lines)
      yield* subscriptions.pause(id)
      assert.isNull(yield* invoices.upcoming(id))
      const unknown = yield* Effect.flip(invoices.upcoming("sub_01kb2r9f4sfhx8w6p2n3m5q7tz"))
      assert.strictEqual(unknown._tag, "SubscriptionNotFound")
    }).pipe(inWorld()),
  )
})
