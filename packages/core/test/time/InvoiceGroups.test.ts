import {
  ActionUnavailable,
  BillingRuns,
  Coupons,
  type Customer,
  Invoices,
  type Invoice,
  InvalidInput,
  InvoiceItems,
  Plans,
  Redemptions,
  Subscription,
  Subscriptions,
  Usage,
} from "@billwright/core"
import { problemsOfLines, problemsOfSums } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { fc, holdsEffect } from "../property.ts"
import { at, newCustomer } from "../world.ts"
import { advanceTo, allEvents, allInvoices, inYears, pro, pushPro, use } from "./billing.ts"

const millis = (text: string): number => at(text).epochMilliseconds
const START = millis("2026-01-01T00:00:00.000Z")
const HOUR = 3_600_000
const DAY = 24 * HOUR

type CreateInput = Partial<Subscription.CreateSubscription>

const subscribe = Effect.fnUntraced(function* (customer: Customer.Customer, input: CreateInput = {}) {
  const { create } = yield* Subscriptions
  return yield* create({ customerId: customer.id, plan: "pro", invoiceGroup: "all", ...input })
})

/** A customer with two monthly subscriptions in one group, and one by itself. */
const begin = Effect.gen(function* () {
  yield* pushPro
  const customer = yield* newCustomer()
  const first = yield* subscribe(customer)
  const second = yield* subscribe(customer)
  const single = yield* subscribe(customer, { invoiceGroup: null })
  return { customer, first, second, single }
})

/** Records calls of an instant in the past. */
const useAt = Effect.fnUntraced(function* (customer: Customer.Customer, quantity: number, timestamp: string) {
  const input = { customerId: customer.id, productId: "api", unit: "call", quantity }
  return yield* (yield* Usage).record({ ...input, timestamp: at(timestamp) })
})

/** What an invoice is of. */
const ofInvoice = ({ lines, subscriptionId, subscriptionIds, total }: Invoice.Invoice) => ({
  subscriptionId,
  subscriptionIds,
  total,
  lines: lines.map(({ amount, charge, id, origin }) => ({ of: origin?.subscriptionId, charge, amount, id })),
})

/** A plan with another interval, without usage. */
const weekly = {
  key: "weekly",
  name: "Weekly",
  currencies: ["EUR"],
  interval: { unit: "week", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "5.00" } }],
} as const

describe("an invoice group", () => {
  it.effect("is done in one run of a late runner, whichever of it is due first", () =>
    Effect.gen(function* () {
      yield* (yield* Plans).push({
        plans: [{ ...weekly, interval: { unit: "month", count: 1 }, key: "monthly" }, weekly],
      })
      const customer = yield* newCustomer()
      yield* subscribe(customer, { plan: "weekly" })
      yield* TestClock.setTime(START + 5 * DAY)
      yield* subscribe(customer, { plan: "monthly" })
      yield* TestClock.setTime(START + 45 * DAY)
      const { countDue, runDue } = yield* BillingRuns
      assert.deepInclude(yield* runDue(), { failed: 0, hasMore: false })
      assert.deepInclude(yield* countDue(at("2026-02-15T00:00:00.000Z")), { subscriptions: 0, invoices: 0 })
    }).pipe(inYears(START)),
  )

  it.effect("has one invoice for what falls due of all of its subscriptions at one instant", () =>
    Effect.gen(function* () {
      const { customer, first, second, single } = yield* begin
      yield* advanceTo(START + DAY)
      yield* use(customer, 200)
      yield* advanceTo(START + 40 * DAY)
      const [a, b, c, shared, alone, ...others] = yield* allInvoices
      // What `create` charges is on invoices of their own.
      assert.deepStrictEqual(
        [a, b, c].map((one) => one?.subscriptionId),
        [first.id, second.id, single.id],
      )
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(ofInvoice(shared!), {
        subscriptionId: null,
        subscriptionIds: [first.id, second.id],
        total: 4_200n,
        lines: [first.id, second.id].flatMap((of) => [
          { of, charge: "calls", amount: 100n, id: `${of}.0.0.calls` },
          { of, charge: "base", amount: 2_000n, id: `${of}.1.0.base` },
        ]),
      })
      assert.deepStrictEqual(problemsOfSums(shared!), [])
      assert.deepStrictEqual(problemsOfLines(shared!), [])
      assert.strictEqual(shared!.status, "open")
      assert.deepStrictEqual(ofInvoice(alone!).subscriptionIds, [single.id])
      for (const { id } of [first, second]) {
        const { data } = yield* (yield* Invoices).list({ subscriptionId: id })
        assert.deepStrictEqual(
          data.map((one) => one.id),
          [shared!.id, id === first.id ? a!.id : b!.id],
        )
      }
      const renewals = (yield* allEvents).filter((event) => event.startsWith("2026-02-01T00:00:00"))
      assert.deepStrictEqual(
        renewals.map((event) => event.slice(25)),
        [
          "invoice.created",
          "subscription.renewed",
          "subscription.renewed",
          "invoice.created",
          "subscription.renewed",
        ],
      )
    }).pipe(inYears(START)),
  )

  it.effect("leaves others alone: another group, customer, currency or instant", () =>
    Effect.gen(function* () {
      const { customer } = yield* begin
      yield* subscribe(customer, { invoiceGroup: "other" })
      yield* subscribe(yield* newCustomer())
      yield* TestClock.setTime(START + HOUR)
      yield* subscribe(customer)
      yield* advanceTo(START + 40 * DAY)
      const renewals = (yield* allInvoices).slice(6).map(({ subscriptionIds }) => subscriptionIds.length)
      assert.deepStrictEqual(renewals, [2, 1, 1, 1, 1])
    }).pipe(inYears(START)),
  )

  it.effect("has late usage on the draft within the grace, and on the next invoice after it", () =>
    Effect.gen(function* () {
      const { customer } = yield* begin
      yield* advanceTo(millis("2026-02-01T00:10:00.000Z"))
      yield* useAt(customer, 300, "2026-01-31T00:00:00.000Z")
      yield* advanceTo(millis("2026-02-03T00:00:00.000Z"))
      assert.strictEqual((yield* allInvoices)[3]!.total, 4_400n)
      yield* useAt(customer, 100, "2026-01-31T00:00:00.000Z")
      yield* advanceTo(millis("2026-03-03T00:00:00.000Z"))
      const next = (yield* allInvoices)[5]!
      assert.deepStrictEqual(
        next.lines.filter(({ kind }) => kind === "adjustment").map(({ amount }) => amount),
        [100n, 100n],
      )
      assert.lengthOf(next.subscriptionIds, 2)
    }).pipe(inYears(START)),
  )

  it.effect("refuses a name that is none, and more subscriptions than its limit", () =>
    Effect.gen(function* () {
      yield* pushPro
      const customer = yield* newCustomer()
      for (const invoiceGroup of ["", "x".repeat(Subscription.MAX_INVOICE_GROUP_LENGTH + 1), "a\0"]) {
        const error = yield* Effect.flip(subscribe(customer, { invoiceGroup }))
        assert.instanceOf(error, InvalidInput)
        assert.strictEqual(error.field, "invoiceGroup")
      }
      for (let count = 0; count < Subscription.MAX_INVOICE_GROUP; count++) yield* subscribe(customer)
      const error = yield* Effect.flip(subscribe(customer))
      assert.instanceOf(error, InvalidInput)
      assert.strictEqual(error.field, "invoiceGroup")
      assert.strictEqual(error.problem, "has 50 subscriptions that have not ended, which is the most")
      yield* subscribe(customer, { invoiceGroup: "another" })
      const { cancel, list } = yield* Subscriptions
      const [last] = (yield* list({ invoiceGroup: "all" })).data
      yield* cancel(last!.id, { at: "now" })
      yield* subscribe(customer)
    }).pipe(inYears(START)),
  )

  it.effect("keeps a draft that somebody wants to delete, also one of items only", () =>
    Effect.gen(function* () {
      yield* pushPro
      const charges = pro.charges.filter(({ key }) => key === "base")
      yield* (yield* Plans).push({ plans: [{ ...pro, key: "flat", charges }] })
      const customer = yield* newCustomer()
      const all = [yield* subscribe(customer, { plan: "flat" }), yield* subscribe(customer, { plan: "flat" })]
      const { cancel, pause } = yield* Subscriptions
      yield* advanceTo(START + 10 * DAY)
      for (const { id } of all) yield* pause(id, { credit: "none" })
      const item = { customerId: customer.id, currency: "EUR", amount: 300n, description: "Set-up" }
      yield* (yield* InvoiceItems).create(item)
      const issued = (yield* allInvoices).length
      // A command makes what is due before it, and leaves it to others to issue that.
      yield* TestClock.setTime(START + 32 * DAY)
      yield* cancel(all[0]!.id, { at: at("2026-06-01T00:00:00.000Z") })
      const [draft, ...others] = (yield* allInvoices).slice(issued)
      assert.lengthOf(others, 0)
      assert.deepStrictEqual(
        [draft?.status, draft?.subscriptionIds.length, draft?.lines.map(({ kind }) => kind)],
        ["draft", 2, ["item"]],
      )
      const invoices = yield* Invoices
      const error = yield* Effect.flip(invoices.delete(draft!.id))
      assert.instanceOf(error, ActionUnavailable)
      assert.strictEqual(error.problem, "delete is not possible: the draft bills a subscription")
      assert.deepStrictEqual(yield* invoices.get(draft!.id), draft)
    }).pipe(inYears(START)),
  )

  it.effect("bills the items of a subscription that ends once, with the others or after it", () =>
    Effect.gen(function* () {
      const { customer, first, second } = yield* begin
      const { create, list } = yield* InvoiceItems
      const item = { customerId: customer.id, currency: "EUR", description: "Item" }
      yield* advanceTo(START + 10 * DAY)
      yield* create({ ...item, amount: 300n, subscriptionId: first.id })
      // More than the last invoice of the group comes to: the rest waits for the customer's next one.
      yield* create({ ...item, amount: -9_000n, subscriptionId: first.id })
      yield* (yield* Subscriptions).cancel(first.id, { at: "period_end" })
      yield* advanceTo(START + 35 * DAY)
      const shared = (yield* allInvoices).find(({ subscriptionIds }) => subscriptionIds.length === 2)
      assert.deepStrictEqual(
        [shared?.total, shared?.lines.flatMap(({ amount, kind }) => (kind === "item" ? [amount] : []))],
        [0n, [300n, -2_300n]],
      )
      yield* advanceTo(START + 65 * DAY)
      const taken = (yield* allInvoices).flatMap(({ lines, subscriptionIds }) =>
        lines.flatMap(({ amount, kind }) =>
          kind === "item" ? [[subscriptionIds.includes(second.id), amount]] : [],
        ),
      )
      assert.strictEqual(
        taken.reduce((sum, [, amount]) => sum + BigInt(String(amount)), 0n) +
          (yield* list({ status: "pending" })).data.reduce((sum, { amount }) => sum + amount, 0n),
        -8_700n,
      )
      for (const { subscriptionId } of (yield* list({ status: "pending" })).data)
        assert.isNull(subscriptionId)
    }).pipe(inYears(START)),
  )

  it.effect("takes a coupon off the lines of its subscription only, and picks items of all up", () =>
    Effect.gen(function* () {
      const { customer, first, second } = yield* begin
      const half = { code: "HALF", name: "Half", percent: "50", duration: "once" } as const
      yield* (yield* Coupons).create(half)
      yield* TestClock.setTime(START + DAY)
      yield* (yield* Redemptions).create({ coupon: "HALF", subscriptionId: second.id })
      const item = { customerId: customer.id, currency: "EUR", amount: 300n, description: "Set-up" }
      yield* (yield* InvoiceItems).create({ ...item, subscriptionId: first.id })
      yield* advanceTo(START + 70 * DAY)
      const [shared, , next] = (yield* allInvoices).slice(3)
      assert.strictEqual(shared!.total, 2_000n + 1_000n + 300n)
      assert.deepStrictEqual(
        shared!.discounts.flatMap(({ parts }) => parts),
        [{ lineId: `${second.id}.1.0.base`, amount: 1_000n }],
      )
      // It was used up.
      assert.strictEqual(next!.total, 4_000n)
    }).pipe(inYears(START)),
  )

  it.effect("takes the coupons of each subscription, each of which may have as many as one by itself", () =>
    Effect.gen(function* () {
      const { first, second } = yield* begin
      for (let n = 0; n < 11; n++) {
        const code = `OFF${n}`
        yield* (yield* Coupons).create({ code, name: "Off", percent: "1", duration: "forever" })
        for (const { id } of [first, second])
          yield* (yield* Redemptions).create({ coupon: code, subscriptionId: id })
      }
      yield* advanceTo(START + 35 * DAY)
      const shared = (yield* allInvoices).slice(3).find(({ subscriptionIds }) => subscriptionIds.length === 2)
      assert.strictEqual(shared?.status, "open")
      assert.lengthOf(shared!.discounts, 22)
    }).pipe(inYears(START)),
  )

  it.effect("previews the next invoice with all of its subscriptions", () =>
    Effect.gen(function* () {
      const { first } = yield* begin
      const { preview } = yield* Subscriptions
      const { nextInvoice } = yield* preview({ action: "change", subscriptionId: first.id, quantities: {} })
      assert.strictEqual(nextInvoice?.total, 4_000n)
      assert.strictEqual((yield* allInvoices).length, 3)
    }).pipe(inYears(START)),
  )

  it.effect("keeps what a voided invoice billed, and bills the next period once", () =>
    Effect.gen(function* () {
      yield* begin
      const invoices = yield* Invoices
      yield* advanceTo(START + 40 * DAY)
      const shared = (yield* allInvoices)[3]!
      assert.strictEqual((yield* invoices.void(shared.id)).status, "void")
      yield* advanceTo(START + 70 * DAY)
      const next = (yield* allInvoices)[5]!
      assert.deepStrictEqual(next.subscriptionIds, shared.subscriptionIds)
      assert.strictEqual(next.total, 4_000n)
    }).pipe(inYears(START)),
  )
})

/** What is the same in every world. */
const withoutIds = (invoice: Invoice.Invoice) => ({
  total: invoice.total,
  lines: invoice.lines.map(({ amount, charge, kind, quantity }) => ({ amount, charge, kind, quantity })),
  subscriptions: invoice.subscriptionIds.length,
  period: [invoice.periodStart, invoice.periodEnd],
})

const END = START + 200 * DAY

interface Ask {
  readonly at: number
  readonly member: number
  readonly what: "seats" | "pause" | "resume" | "cancel" | "use" | "join"
}

const asks = fc
  .array(
    fc.record({
      at: fc.oneof(
        fc.integer({ min: START, max: END }),
        fc.constantFrom(1, 2, 3, 4, 5, 6).map((k) => Date.UTC(2026, k, 1)),
      ),
      member: fc.integer({ min: 0, max: 3 }),
      what: fc.constantFrom("seats", "pause", "resume", "cancel", "use", "join"),
    }),
    { maxLength: 12 },
  )
  .map((all): ReadonlyArray<Ask> => all.toSorted((a, b) => a.at - b.at))

/** Half a year of a group with what is asked of it. With `runs`, what is due is also done by itself at its instant. */
const halfYear = Effect.fnUntraced(function* (script: ReadonlyArray<Ask>, runs: boolean) {
  const { customer, first, second, single } = yield* begin
  const members = [
    first,
    second,
    single,
    yield* subscribe(customer, { startAt: at("2026-03-01T00:00:00.000Z") }),
  ]
  const { cancel, pause, resume } = yield* Subscriptions
  // What `create` and commands make by themselves has to be issued before what is late.
  yield* (yield* BillingRuns).runDue()
  for (const { at: instant, member, what } of script) {
    // At one instant, a command comes before what is due by itself.
    if (runs) yield* advanceTo(instant - 1)
    yield* TestClock.setTime(instant)
    const { id } = members[member % members.length]!
    if (what === "use") yield* use(customer, 150)
    else if (what === "join") members.push(yield* subscribe(customer))
    else if (what === "pause") yield* Effect.ignore(pause(id))
    else if (what === "resume") yield* Effect.ignore(resume(id))
    else if (what === "cancel") yield* Effect.ignore(cancel(id, { at: "period_end" }))
    else yield* Effect.ignore(cancel(id, { at: "now" }))
  }
  if (runs) yield* advanceTo(END)
  yield* TestClock.setTime(END)
  yield* (yield* BillingRuns).runDue()
  const invoices = yield* allInvoices
  for (const invoice of invoices) assert.deepStrictEqual(problemsOfSums(invoice), [])
  return invoices
    .map((invoice) =>
      JSON.stringify(withoutIds(invoice), (_, value) => (typeof value === "bigint" ? `${value}` : value)),
    )
    .toSorted()
})

describe("any half year of an invoice group", () => {
  it.effect(
    "J8: has the same invoices on time and late, whatever is asked between",
    () =>
      holdsEffect(
        asks,
        (script) =>
          Effect.gen(function* () {
            const late = yield* halfYear(script, false).pipe(inYears(START))
            const inTime = yield* halfYear(script, true).pipe(inYears(START))
            assert.deepStrictEqual(late, inTime)
          }),
        20,
      ),
    60_000,
  )
})
