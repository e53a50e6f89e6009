import {
  ActionUnavailable,
  BillingRuns,
  Customer,
  InvalidInput,
  InvoiceItem,
  InvoiceItems,
  Invoices,
  type Invoice,
  Plans,
  Subscription,
  Subscriptions,
  Usage,
} from "@billwright/core"
import { EU_COUNTRIES, EU_STANDARD_RATES, problemsOfLines, problemsOfSums } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { fc, holdsEffect } from "../property.ts"
import { advanceTo, allInvoices, pro, pushPro } from "../time/billing.ts"
import { acmeTest, as, at, globex, inWorld, newCustomer, NOON } from "../world.ts"

const START = NOON.epochMilliseconds

const checked = (invoice: Invoice.Invoice): Invoice.Invoice => {
  assert.deepStrictEqual(problemsOfSums(invoice), [])
  assert.deepStrictEqual(problemsOfLines(invoice), [])
  return invoice
}

const linesOf = (invoice: Invoice.Invoice | undefined) =>
  invoice?.lines.map(({ amount, description }) => `${description} ${amount}`)

const item = (customer: Customer.Customer, amount: bigint, description = `of ${amount}`) => ({
  customerId: customer.id,
  currency: "EUR",
  amount,
  description,
})

/** A customer, and what subscribes it. */
const begin = Effect.gen(function* () {
  yield* pushPro
  const customer = yield* newCustomer()
  const subscribe = Effect.flatMap(Subscriptions, ({ create }) =>
    create({ customerId: customer.id, plan: "pro" }),
  )
  return { customer, subscribe }
})

const pendingOf = Effect.flatMap(InvoiceItems, ({ list }) =>
  Effect.map(list({ status: "pending" }), ({ data }) => data.map(({ amount }) => amount)),
)

describe("an item", () => {
  it.effect("on a draft without its charges is 0 there, and the draft is issued", () =>
    Effect.gen(function* () {
      const { customer, subscribe } = yield* begin
      const items = yield* InvoiceItems
      yield* items.create(item(customer, -5_000n))
      const subscription = yield* subscribe
      yield* advanceTo(NOON.epochMilliseconds)
      assert.deepStrictEqual(yield* pendingOf, [-3_000n])
      // The rest of the credit is on the draft of the next period, with 1.00 of usage that is voided before it is issued.
      const usage = yield* Usage
      yield* (yield* Subscriptions).cancel(subscription.id, { at: "period_end" })
      const call = { customerId: customer.id, productId: "api", unit: "call", quantity: 200 }
      const { record } = yield* usage.record(call)
      yield* advanceTo(at("2026-12-21T12:00:00.000Z").epochMilliseconds)
      assert.deepStrictEqual(yield* pendingOf, [])
      const draft = (yield* allInvoices).at(-1)!
      assert.deepInclude(draft, { status: "draft", total: 0n })
      yield* usage.voidRecord(record.id)
      assert.strictEqual((yield* (yield* Invoices).get(draft.id)).total, 0n)
      yield* advanceTo(at("2027-01-22T00:00:00.000Z").epochMilliseconds)
      assert.deepInclude(checked((yield* allInvoices).at(-1)!), { status: "paid", total: 0n })
      assert.deepStrictEqual(yield* pendingOf, [-3_000n])
    }).pipe(inWorld()),
  )

  it.effect(
    "that is a credit waits for another invoice when its invoice is void, and a charge does not",
    () =>
      Effect.gen(function* () {
        const { customer, subscribe } = yield* begin
        const items = yield* InvoiceItems
        yield* items.create(item(customer, 4_900n))
        yield* items.create(item(customer, -700n))
        yield* subscribe
        yield* advanceTo(at("2026-11-22T00:00:00.000Z").epochMilliseconds)
        const [first] = yield* allInvoices
        assert.strictEqual(first?.total, 6_200n)
        yield* (yield* Invoices).void(first!.id)
        assert.deepStrictEqual(yield* pendingOf, [-700n])
        yield* advanceTo(at("2026-12-22T00:00:00.000Z").epochMilliseconds)
        assert.strictEqual((yield* allInvoices).at(-1)?.total, 1_300n)
      }).pipe(inWorld()),
  )

  it.effect(
    "of a subscription that ends is on its last invoice, and what is left on the customer's next one",
    () =>
      Effect.gen(function* () {
        const { customer, subscribe } = yield* begin
        const items = yield* InvoiceItems
        const { id: subscriptionId } = yield* subscribe
        yield* advanceTo(START)
        yield* (yield* Usage).record({
          customerId: customer.id,
          productId: "api",
          unit: "call",
          quantity: 1_100,
        })
        yield* advanceTo(START + 3_600_000)
        const charge = yield* items.create({ ...item(customer, 300n), subscriptionId })
        const credit = yield* items.create({ ...item(customer, -3_000n), subscriptionId })
        yield* (yield* Subscriptions).cancel(subscriptionId, { at: "now", credit: "none" })
        const on = (id: string) => Effect.map(items.get(id), ({ amount, invoiceId }) => [amount, invoiceId])
        yield* advanceTo(at("2026-11-22T00:00:00.000Z").epochMilliseconds)
        const last = checked((yield* allInvoices).at(-1)!)
        assert.deepInclude(last, { subscriptionId, subtotal: 0n, total: 0n, status: "paid" })
        assert.deepStrictEqual(yield* on(charge.id), [300n, last.id])
        assert.deepStrictEqual(yield* on(credit.id), [-1_300n, last.id])
        assert.deepStrictEqual(
          (yield* items.list({ status: "pending" })).data.map((one) => [one.amount, one.subscriptionId]),
          [[-1_700n, null]],
        )
        yield* subscribe
        yield* advanceTo(at("2026-11-23T00:00:00.000Z").epochMilliseconds)
        assert.strictEqual((yield* allInvoices).at(-1)?.total, 300n)
        assert.deepStrictEqual(yield* pendingOf, [])
      }).pipe(inWorld()),
  )

  it.effect("of a subscription that ends with nothing to pay is on the customer's next one", () =>
    Effect.gen(function* () {
      const { customer, subscribe } = yield* begin
      const items = yield* InvoiceItems
      const { id: subscriptionId } = yield* subscribe
      yield* advanceTo(START)
      yield* items.create({ ...item(customer, -500n), subscriptionId })
      yield* (yield* Subscriptions).cancel(subscriptionId, { at: "now", credit: "none" })
      yield* advanceTo(at("2026-11-21T18:00:00.000Z").epochMilliseconds)
      assert.strictEqual((yield* allInvoices).at(-1)?.total, 0n)
      assert.deepStrictEqual(yield* pendingOf, [-500n])
      yield* subscribe
      yield* advanceTo(at("2026-11-22T00:00:00.000Z").epochMilliseconds)
      assert.strictEqual((yield* allInvoices).at(-1)?.total, 1_500n)
      assert.deepStrictEqual(yield* pendingOf, [])
    }).pipe(inWorld()),
  )

  it.effect("of a subscription that ends when its period does leaves nothing behind, either", () =>
    Effect.gen(function* () {
      const { customer, subscribe } = yield* begin
      const items = yield* InvoiceItems
      const flat = { ...pro, key: "flat", charges: pro.charges.slice(0, 1) }
      yield* (yield* Plans).push({ plans: [flat] })
      const subscriptions = yield* Subscriptions
      const { id: subscriptionId } = yield* subscriptions.create({ customerId: customer.id, plan: "flat" })
      yield* advanceTo(START)
      yield* items.create({ ...item(customer, 300n), subscriptionId })
      yield* items.create({ ...item(customer, -1_000n), subscriptionId })
      yield* subscriptions.cancel(subscriptionId, { at: "period_end" })
      const month = at("2026-12-21T12:00:00.000Z").epochMilliseconds
      yield* advanceTo(month)
      assert.deepInclude((yield* allInvoices).at(-1), { subscriptionId, total: 0n, status: "paid" })
      assert.deepStrictEqual(yield* pendingOf, [-700n])
      yield* subscribe
      yield* advanceTo(month + 1)
      assert.strictEqual((yield* allInvoices).at(-1)?.total, 1_300n)
    }).pipe(inWorld()),
  )

  it.effect(
    "of a subscription that has ended comes back from a void invoice for the customer's next one",
    () =>
      Effect.gen(function* () {
        const { customer, subscribe } = yield* begin
        const items = yield* InvoiceItems
        const { id: subscriptionId } = yield* subscribe
        yield* items.create({ ...item(customer, -500n), subscriptionId })
        const month = at("2026-12-22T00:00:00.000Z").epochMilliseconds
        yield* advanceTo(month)
        const issued = (yield* allInvoices).at(-1)!
        assert.strictEqual(issued.total, 1_500n)
        yield* (yield* Subscriptions).cancel(subscriptionId, { at: "now", credit: "none" })
        yield* (yield* Invoices).void(issued.id)
        yield* subscribe
        yield* advanceTo(month + 1)
        assert.strictEqual((yield* allInvoices).at(-1)?.total, 1_500n)
        assert.deepStrictEqual(yield* pendingOf, [])
      }).pipe(inWorld()),
  )

  it.effect("can't be for a subscription that has ended", () =>
    Effect.gen(function* () {
      const { customer, subscribe } = yield* begin
      const { id: subscriptionId } = yield* subscribe
      yield* (yield* Subscriptions).cancel(subscriptionId, { at: "now" })
      const items = yield* InvoiceItems
      const error = yield* Effect.flip(items.create({ ...item(customer, 100n), subscriptionId }))
      assert.instanceOf(error, InvalidInput)
      assert.strictEqual(error.field, "subscriptionId")
    }).pipe(inWorld()),
  )

  it.effect("is on no invoice that was due before it, however late that one is made", () =>
    Effect.gen(function* () {
      const { customer, subscribe } = yield* begin
      yield* subscribe
      yield* advanceTo(at("2026-11-22T00:00:00.000Z").epochMilliseconds)
      // Nobody bills what is due on December 21 before December 25.
      yield* TestClock.setTime(at("2026-12-23T00:00:00.000Z").epochMilliseconds)
      yield* (yield* InvoiceItems).create(item(customer, 700n))
      yield* TestClock.setTime(at("2026-12-25T00:00:00.000Z").epochMilliseconds)
      yield* (yield* BillingRuns).runDue()
      yield* advanceTo(at("2027-01-22T00:00:00.000Z").epochMilliseconds)
      assert.deepStrictEqual(
        (yield* allInvoices).map(({ lines }) => lines.filter(({ kind }) => kind === "item").length),
        [0, 0, 1],
      )
    }).pipe(inWorld()),
  )

  it.effect("is on the next invoice of its customer and currency, once", () =>
    Effect.gen(function* () {
      const { customer, subscribe } = yield* begin
      const items = yield* InvoiceItems
      const fee = yield* items.create({
        ...item(customer, 4_900n, "Onboarding"),
        periodStart: NOON,
        periodEnd: at("2026-11-22T12:00:00.000Z"),
        metadata: { ticket: "4711" },
      })
      assert.deepInclude(fee, { status: "pending", invoiceId: null, taxCode: null, subscriptionId: null })
      yield* items.create({ ...item(customer, 100n), currency: "USD" })
      yield* items.create(item(yield* newCustomer(), 100n))
      yield* subscribe
      yield* advanceTo(at("2027-01-22T00:00:00.000Z").epochMilliseconds)
      const [first, ...others] = yield* allInvoices
      assert.deepStrictEqual(linesOf(checked(first!)), [
        `${first!.lines[0]!.description} 2000`,
        "Onboarding 4900",
      ])
      const line = first!.lines[1]!
      assert.deepInclude(line, { id: fee.id, kind: "item", periodStart: START, origin: null })
      assert.lengthOf(others, 2)
      for (const other of others) assert.isTrue(other.lines.every(({ kind }) => kind !== "item"))
      assert.deepInclude(yield* items.get(fee.id), { status: "invoiced", invoiceId: first!.id })
      assert.deepStrictEqual(
        (yield* items.list({ invoiceId: first!.id })).data.map(({ id }) => id),
        [fee.id],
      )
      assert.deepStrictEqual(yield* pendingOf, [100n, 100n])
    }).pipe(inWorld()),
  )

  it.effect("of a subscription waits for an invoice of it", () =>
    Effect.gen(function* () {
      const { customer, subscribe } = yield* begin
      const first = yield* subscribe
      const items = yield* InvoiceItems
      const own = yield* items.create({ ...item(customer, 500n), subscriptionId: first.id })
      yield* subscribe
      assert.strictEqual((yield* items.get(own.id)).status, "pending")
      yield* advanceTo(at("2026-12-22T00:00:00.000Z").epochMilliseconds)
      const { invoiceId } = yield* items.get(own.id)
      assert.strictEqual((yield* (yield* Invoices).get(invoiceId!)).subscriptionId, first.id)
    }).pipe(inWorld()),
  )

  it.effect("is deleted while it is pending or on a draft, and stays once it is on an issued invoice", () =>
    Effect.gen(function* () {
      const { customer, subscribe } = yield* begin
      const items = yield* InvoiceItems
      const [one, two, three] = [
        yield* items.create(item(customer, 1n)),
        yield* items.create(item(customer, 2n)),
        yield* items.create(item(customer, 3n)),
      ]
      yield* items.delete(one.id)
      assert.instanceOf(yield* Effect.flip(items.delete(one.id)), InvoiceItem.InvoiceItemNotFound)
      yield* subscribe
      assert.deepStrictEqual(linesOf((yield* allInvoices)[0])?.slice(1), ["of 2 2", "of 3 3"])
      yield* items.delete(two.id)
      yield* (yield* BillingRuns).runDue()
      const [issued] = yield* allInvoices
      assert.strictEqual(issued?.status, "open")
      assert.deepStrictEqual(linesOf(checked(issued!))?.slice(1), ["of 3 3"])
      const refused = yield* Effect.flip(items.delete(three.id))
      assert.instanceOf(refused, ActionUnavailable)
      assert.include(refused.message, `is on the invoice ${issued!.id}, which is issued`)
    }).pipe(inWorld()),
  )

  it.effect("is refused for what breaks a rule, and seen by its tenant only", () =>
    Effect.gen(function* () {
      const { customer, subscribe } = yield* begin
      const { create, get } = yield* InvoiceItems
      const subscription = yield* subscribe
      const other = yield* newCustomer()
      const wrong: ReadonlyArray<readonly [string, object]> = [
        ["amount", { amount: 0n }],
        ["amount", { amount: 10n ** 15n + 1n }],
        ["currency", { currency: "XXX" }],
        ["currency", { currency: "USD", subscriptionId: subscription.id }],
        ["description", { description: "" }],
        ["periodEnd", { periodStart: NOON }],
        ["periodEnd", { periodStart: NOON, periodEnd: NOON }],
        ["periodEnd", { periodStart: NOON, periodEnd: at("2036-11-22T12:00:00.001Z") }],
        ["taxCode", { taxCode: "Reduced" }],
      ]
      for (const [field, change] of wrong) {
        const error = yield* Effect.flip(create({ ...item(customer, 1n), ...change }))
        assert.instanceOf(error, InvalidInput)
        assert.strictEqual(error.field, field)
      }
      const foreign = yield* Effect.flip(create({ ...item(other, 1n), subscriptionId: subscription.id }))
      assert.instanceOf(foreign, Subscription.SubscriptionNotFound)
      const unknown = { ...item(customer, 1n), customerId: Customer.CustomerId.make(`cus_${"0".repeat(26)}`) }
      assert.instanceOf(yield* Effect.flip(create(unknown)), Customer.CustomerNotFound)
      const own = yield* create(item(customer, 1n))
      for (const tenant of [acmeTest, globex]) {
        assert.instanceOf(yield* Effect.flip(as(tenant)(get(own.id))), InvoiceItem.InvoiceItemNotFound)
      }
    }).pipe(inWorld()),
  )
})

describe("a credit", () => {
  it.effect("makes no invoice less than 0: what is left of it is on the next one", () =>
    Effect.gen(function* () {
      const { customer, subscribe } = yield* begin
      const items = yield* InvoiceItems
      yield* items.create(item(customer, -5_000n, "Credit"))
      yield* subscribe
      yield* advanceTo(at("2027-02-22T00:00:00.000Z").epochMilliseconds)
      const invoices = (yield* allInvoices).map(checked)
      assert.deepStrictEqual(
        invoices.map(({ lines, status, total }) => [
          lines.find(({ kind }) => kind === "item")?.amount,
          total,
          status,
        ]),
        [
          [-2_000n, 0n, "paid"],
          [-2_000n, 0n, "paid"],
          [-1_000n, 1_000n, "open"],
          [undefined, 2_000n, "open"],
        ],
      )
      const { data } = yield* items.list()
      assert.deepStrictEqual(
        data.map(({ amount, status }) => `${amount} ${status}`),
        ["-1000 invoiced", "-2000 invoiced", "-2000 invoiced"],
      )
    }).pipe(inWorld()),
  )

  it.effect("alone makes no invoice, and one that takes nothing stays as it is", () =>
    Effect.gen(function* () {
      const { customer, subscribe } = yield* begin
      const items = yield* InvoiceItems
      const subscription = yield* subscribe
      yield* advanceTo(START)
      yield* (yield* Subscriptions).pause(subscription.id, { credit: "none" })
      const before = (yield* allInvoices).length
      const first = yield* items.create(item(customer, -2_500n, "First"))
      const second = yield* items.create(item(customer, -1n, "Second"))
      yield* advanceTo(at("2026-12-10T00:00:00.000Z").epochMilliseconds)
      assert.lengthOf(yield* allInvoices, before)
      assert.deepStrictEqual(yield* pendingOf, [-1n, -2_500n])
      yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
      yield* (yield* BillingRuns).runDue()
      const issued = (yield* allInvoices).at(-1)
      assert.deepStrictEqual(linesOf(checked(issued!))?.slice(1), ["First -2000"])
      assert.deepInclude(yield* items.get(first.id), { amount: -2_000n, invoiceId: issued!.id })
      assert.deepInclude(yield* items.get(second.id), { status: "pending", invoiceId: null, amount: -1n })
      assert.deepStrictEqual(yield* pendingOf, [-500n, -1n])
    }).pipe(inWorld()),
  )

  it.effect(
    "with taxes: no total is less than 0, and what is on invoices and pending sums to what was given",
    () =>
      holdsEffect(
        fc.array(
          fc.bigInt({ min: -4_000n, max: 3_000n }).filter((amount) => amount !== 0n),
          { maxLength: 6 },
        ),
        (amounts) =>
          Effect.gen(function* () {
            const { customer, subscribe } = yield* begin
            const items = yield* InvoiceItems
            for (const amount of amounts) yield* items.create(item(customer, amount))
            yield* subscribe
            yield* advanceTo(at("2027-01-22T00:00:00.000Z").epochMilliseconds)
            const invoices = yield* allInvoices
            let sum = 0n
            for (const invoice of invoices.map(checked)) {
              assert.isTrue(invoice.total >= 0n)
              for (const { amount, kind } of invoice.lines) if (kind === "item") sum += amount
            }
            for (const amount of yield* pendingOf) sum += amount
            assert.strictEqual(
              sum,
              amounts.reduce((total, amount) => total + amount, 0n),
            )
          }).pipe(
            inWorld({
              invoices: {
                tax: { behavior: "exclusive", seller: "DE", rates: EU_STANDARD_RATES, union: EU_COUNTRIES },
              },
            }),
          ),
        10,
      ),
    60_000,
  )
})
