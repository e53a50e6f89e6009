/**
 * Top-ups: credits that are bought by a call, or by themselves below a level.
 */
import {
  type AutoTopUp,
  AutoTopUps,
  BillingRuns,
  type Credit,
  CreditAlerts,
  CreditNotes,
  Credits,
  type Customer,
  Invoices,
  Payments,
  Plans,
  Subscriptions,
  TopUps,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { times, together } from "../contract/ContractTest.ts"
import type { InvoicingTest } from "../contract/InvoicingProbe.ts"
import { at, basic, newCustomer, scenario, told, until } from "./Scenario.ts"

const services = Layer.mergeAll(
  AutoTopUps.layer,
  CreditAlerts.layer,
  CreditNotes.layer,
  Credits.layer,
  Payments.layer,
  TopUps.layer,
)

const CALLERS = 64

const bought = { unit: "token", amount: 1_000n, currency: "EUR", price: 500n } as const

const available = Effect.fnUntraced(function* (customerId: Customer.CustomerId, unit = "token") {
  return (yield* (yield* Credits).balance({ customerId, unit })).available
})

const pay = Effect.fnUntraced(function* (invoiceId: string) {
  const { amountDue } = yield* (yield* Invoices).get(invoiceId)
  return yield* (yield* Payments).record({ invoiceId, amount: amountDue, acceptOverpayment: true } as never)
})

const lowEvents = Effect.map(told, (all) => all.filter((one) => / credit\.(low|granted)/.test(one)))

/** An account of a customer with so many tokens, and an automatic top-up below a level. */
const begin = (has: bigint, level: bigint, maxPerDay = 1) =>
  Effect.gen(function* () {
    const { id: customerId } = yield* newCustomer
    const account: Credit.AccountKey = { customerId, unit: "token" }
    yield* (yield* Credits).grant({ ...account, kind: "paid", amount: has })
    const auto = yield* (yield* AutoTopUps).create({ customerId, ...bought, level, maxPerDay })
    yield* (yield* BillingRuns).runDue()
    return { account, auto, customerId }
  })

const bySelf = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
  yield* (yield* BillingRuns).runDue()
  return (yield* (yield* TopUps).list({ customerId })).data.toReversed()
})

const byCall = (test: InvoicingTest): void => {
  scenario(
    test,
    "a top-up gives its credits when its invoice is paid, once",
    Effect.gen(function* () {
      const [topUps, invoices] = [yield* TopUps, yield* Invoices]
      const { id: customerId } = yield* newCustomer
      const topUp = yield* topUps.create({ customerId, ...bought })
      assert.deepInclude(topUp, { ...bought, status: "pending", grantId: null, autoTopUpId: null })
      const invoice = yield* invoices.get(topUp.invoiceId)
      assert.deepInclude(invoice, { status: "open", amountDue: 500n, currency: "EUR" })
      assert.deepStrictEqual(
        invoice.lines.map(({ amount, kind, quantity }) => [kind, quantity, amount]),
        [["top_up", "1000", 500n]],
      )
      assert.strictEqual(yield* available(customerId), 0n)
      yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 200n })
      assert.strictEqual(yield* available(customerId), 0n)
      yield* pay(invoice.id)
      assert.strictEqual(yield* available(customerId), 1_000n)
      const granted = yield* topUps.get(topUp.id)
      assert.strictEqual(granted.status, "granted")
      const grant = yield* (yield* Credits).getGrant(granted.grantId!)
      assert.deepInclude(grant, { kind: "paid", amount: 1_000n })
      assert.deepInclude(grant.source, { type: "invoice", id: invoice.id })
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "credits in a currency are bought with money and without taxes, and not with credits",
    Effect.gen(function* () {
      const [topUps, invoices, credits] = [yield* TopUps, yield* Invoices, yield* Credits]
      const { id: customerId } = yield* newCustomer
      const euros = { customerId, unit: "EUR" }
      yield* credits.grant({ ...euros, kind: "paid", amount: 300n })
      yield* credits.grant({ ...euros, kind: "promotional", amount: 300n })
      const topUp = yield* topUps.create({ ...euros, amount: 2_000n })
      assert.deepInclude(topUp, { currency: "EUR", price: 2_000n })
      const invoice = yield* invoices.get(topUp.invoiceId)
      assert.deepInclude(invoice, { status: "open", amountDue: 2_000n })
      assert.strictEqual(invoice.lines[0]!.tax.category, "O")
      assert.strictEqual(yield* available(customerId, "EUR"), 600n)
      yield* pay(invoice.id)
      assert.strictEqual(yield* available(customerId, "EUR"), 2_600n)
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "a voided invoice gives nothing, and what can't be bought is refused by name",
    Effect.gen(function* () {
      const [topUps, invoices] = [yield* TopUps, yield* Invoices]
      const { id: customerId } = yield* newCustomer
      const { id, invoiceId } = yield* topUps.create({ customerId, ...bought })
      yield* invoices.void(invoiceId)
      assert.deepInclude(yield* topUps.get(id), { status: "canceled", grantId: null })
      assert.strictEqual(yield* available(customerId), 0n)
      const { currency: _, ...noCurrency } = bought
      const { price: __, ...noPrice } = bought
      const euros = { unit: "EUR", amount: 5n } as const
      const wrong = [
        ["currency", noCurrency],
        ["price", noPrice],
        ["currency", { ...euros, currency: "USD" }],
        ["price", { ...euros, price: 4n }],
        ["taxCode", { ...euros, taxCode: "reduced" }],
        ["amount", { ...euros, amount: 10n ** 16n }],
        ["currency", { ...bought, currency: "QQQ" }],
      ] as const
      for (const [field, input] of wrong) {
        const refused = yield* Effect.flip(topUps.create({ customerId, ...input }))
        assert.deepInclude(refused, { _tag: "InvalidInput", field })
      }
    }).pipe(Effect.provide(services)),
  )
}

const credited = (test: InvoicingTest): void => {
  scenario(
    test,
    "an invoice that is credited in full before it is paid gives nothing, and one that is credited in part does",
    Effect.gen(function* () {
      const [notes, topUps] = [yield* CreditNotes, yield* TopUps]
      const { id: customerId } = yield* newCustomer
      const unpaid = yield* topUps.create({ customerId, ...bought })
      yield* notes.create({ invoiceId: unpaid.invoiceId, reason: "order_change" })
      const begun = yield* topUps.create({ customerId, ...bought })
      yield* (yield* Payments).record({ invoiceId: begun.invoiceId, amount: 200n })
      yield* notes.create({ invoiceId: begun.invoiceId, reason: "order_change", refund: 200n })
      for (const { id, invoiceId } of [unpaid, begun]) {
        assert.strictEqual((yield* (yield* Invoices).get(invoiceId)).status, "paid")
        assert.deepInclude(yield* topUps.get(id), { status: "canceled", grantId: null })
      }
      assert.strictEqual(yield* available(customerId), 0n)
      const cheaper = yield* topUps.create({ customerId, ...bought })
      yield* notes.create({ invoiceId: cheaper.invoiceId, reason: "other", amount: 100n })
      yield* pay(cheaper.invoiceId)
      assert.strictEqual((yield* topUps.get(cheaper.id)).status, "granted")
      assert.strictEqual(yield* available(customerId), 1_000n)
    }).pipe(Effect.provide(services)),
  )
}

const byLevel = (test: InvoicingTest): void => {
  scenario(
    test,
    "of many callers and runners at once, a crossing buys once",
    Effect.gen(function* () {
      const [credits, runs] = [yield* Credits, yield* BillingRuns]
      const { account, auto, customerId } = yield* begin(1_000n, 900n)
      assert.lengthOf(yield* bySelf(customerId), 0)
      yield* together(times(CALLERS, () => credits.consume({ ...account, amount: 3n })))
      yield* together(times(4, () => runs.runDue()))
      const all = yield* bySelf(customerId)
      assert.lengthOf(all, 1)
      assert.deepInclude(all[0], { ...bought, status: "pending", autoTopUpId: auto.id })
      assert.deepInclude(yield* (yield* Invoices).get(all[0]!.invoiceId), { status: "open", amountDue: 500n })
      yield* pay(all[0]!.invoiceId)
      yield* runs.runDue()
      assert.strictEqual(yield* available(customerId), 1_808n)
      assert.lengthOf(yield* bySelf(customerId), 1)
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "it buys one after another, and so often in a UTC day",
    Effect.gen(function* () {
      const [autos, credits, topUps] = [yield* AutoTopUps, yield* Credits, yield* TopUps]
      const { account, auto, customerId } = yield* begin(5_000n, 4_000n, 2)
      yield* credits.consume({ ...account, amount: 5_000n })
      const [first] = yield* bySelf(customerId)
      // While it is not paid, nothing more is bought, also when the level is crossed again.
      yield* credits.grant({ ...account, kind: "promotional", amount: 4_000n })
      yield* credits.consume({ ...account, amount: 4_000n })
      assert.lengthOf(yield* bySelf(customerId), 1)
      yield* pay(first!.invoiceId)
      const second = (yield* bySelf(customerId))[1]!
      yield* pay(second.invoiceId)
      assert.lengthOf(yield* bySelf(customerId), 2)
      yield* autos.update(auto.id, {})
      assert.lengthOf(yield* bySelf(customerId), 2)
      yield* until("2026-01-01T23:59")
      assert.lengthOf((yield* topUps.list({ customerId })).data, 2)
      yield* until("2026-01-02")
      assert.lengthOf((yield* topUps.list({ customerId })).data, 3)
      yield* autos.delete(auto.id)
      yield* pay((yield* bySelf(customerId))[2]!.invoiceId)
      assert.lengthOf(yield* bySelf(customerId), 3)
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "credits that expire are noted at their instant, with events and a top-up",
    Effect.gen(function* () {
      const credits = yield* Credits
      const { account, customerId } = yield* begin(100n, 500n)
      const [first] = yield* bySelf(customerId)
      yield* pay(first!.invoiceId)
      yield* bySelf(customerId)
      yield* (yield* CreditAlerts).create({ ...account, level: 1_150n })
      const expiresAt = DateTime.add(yield* DateTime.now, { days: 3 })
      yield* credits.consume({ ...account, amount: 700n })
      yield* credits.grant({ ...account, kind: "promotional", amount: 900n, expiresAt })
      yield* bySelf(customerId)
      assert.lengthOf((yield* (yield* TopUps).list({ customerId })).data, 1)
      yield* until("2026-01-03T23:59")
      assert.lengthOf((yield* (yield* TopUps).list({ customerId })).data, 1)
      yield* until("2026-01-04")
      assert.lengthOf((yield* (yield* TopUps).list({ customerId })).data, 2)
      assert.strictEqual((yield* lowEvents).at(-1), "2026-01-04 credit.low")
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "a transaction that is undone buys nothing, and a unit has one automatic top-up",
    Effect.gen(function* () {
      const autos = yield* AutoTopUps
      const { auto, customerId } = yield* begin(1_000n, 900n)
      const again = yield* Effect.flip(autos.create({ customerId, ...bought, level: 5n }))
      assert.deepInclude(again, { _tag: "InvalidInput", field: "unit" })
      yield* autos.update(auto.id, { level: 2_000n })
      yield* TestClock.adjust("1 second")
      assert.lengthOf(yield* bySelf(customerId), 1)
      yield* (yield* Invoices).void((yield* bySelf(customerId))[0]!.invoiceId)
      // Somebody did not want it. The next crossing buys again.
      assert.lengthOf(yield* bySelf(customerId), 1)
    }).pipe(Effect.provide(services)),
  )
}

/** A plan that grants 1,000 tokens in each period. What is left of them, up to 300, stays for one more. */
const granting = {
  ...basic,
  key: "granting",
  charges: [],
  grants: [{ unit: "token", amount: "1000" }],
}
const rolling = {
  ...granting,
  key: "rolling",
  grants: [{ unit: "token", amount: "1000", rollover: { maximum: "300" } }],
}

/** A subscription of a plan with credits, which ends with its first period. */
const forOnePeriod = Effect.fnUntraced(function* (customerId: Customer.CustomerId, plan: string) {
  yield* (yield* Plans).push({ plans: [granting, rolling] })
  const { cancel, create } = yield* Subscriptions
  const { id } = yield* create({ customerId, plan })
  yield* cancel(id, { at: "period_end" })
})

const count = (customerId: Customer.CustomerId) =>
  Effect.flatMap(TopUps, ({ list }) => Effect.map(list({ customerId }), ({ data }) => data.length))

/** Buys EUR below 10.00. */
const euros = { unit: "EUR", amount: 5_000n, level: 1_000n } as const

const byClock = (test: InvoicingTest): void => {
  scenario(
    test,
    "credits that rolled over are noted at their end",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      yield* forOnePeriod(customerId, "rolling")
      yield* (yield* AutoTopUps).create({ customerId, ...bought, level: 100n })
      yield* until("2026-02-28T23:59")
      assert.deepStrictEqual([yield* available(customerId), yield* count(customerId)], [300n, 0])
      yield* until("2026-03-01")
      assert.deepStrictEqual([yield* available(customerId), yield* count(customerId)], [0n, 1])
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "credits of a plan are noted at their end, though the automatic top-up was there before them",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      const { consume, grant } = yield* Credits
      const account = { customerId, unit: "token" }
      yield* grant({ ...account, kind: "paid", amount: 500n, priority: 1 })
      yield* (yield* AutoTopUps).create({ customerId, ...bought, level: 100n })
      yield* until("2026-01-02")
      yield* forOnePeriod(customerId, "granting")
      yield* consume({ ...account, amount: 450n })
      yield* until("2026-02-01T23:59")
      assert.deepStrictEqual([yield* available(customerId), yield* count(customerId)], [1_050n, 0])
      // A runner that comes before the subscription has ended waits for that.
      yield* until("2026-02-02T00:01")
      assert.deepStrictEqual([yield* available(customerId), yield* count(customerId)], [50n, 1])
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "credits that a voided invoice gives back to a grant are noted at its end",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      const { consume, grant } = yield* Credits
      const account = { customerId, unit: "EUR" }
      // Those of plans pay no invoice.
      yield* grant({ ...account, kind: "plan", amount: 1_000n, priority: 1 })
      yield* grant({ ...account, kind: "promotional", amount: 200n, expiresAt: at("2026-01-10") })
      const invoices = yield* Invoices
      const lines = [{ description: "Work", amount: 500n }]
      const { id } = yield* invoices.create({ customerId, currency: "EUR", lines })
      yield* invoices.finalize(id)
      yield* (yield* AutoTopUps).create({ customerId, ...euros })
      yield* until("2026-01-05")
      yield* invoices.void(id)
      yield* consume({ ...account, amount: 150n })
      yield* until("2026-01-09T23:59")
      assert.deepStrictEqual([yield* available(customerId, "EUR"), yield* count(customerId)], [1_050n, 0])
      yield* until("2026-01-10")
      assert.deepStrictEqual([yield* available(customerId, "EUR"), yield* count(customerId)], [850n, 1])
    }).pipe(Effect.provide(services)),
  )
}

const replaced = (test: InvoicingTest): void => {
  scenario(
    test,
    "one that replaces another waits for what that one bought, counts it, and goes on when it is paid",
    Effect.gen(function* () {
      const [autos, credits] = [yield* AutoTopUps, yield* Credits]
      const { account, auto, customerId } = yield* begin(100n, 500n)
      const replace = (id: AutoTopUp.AutoTopUp["id"], maxPerDay: number) =>
        Effect.andThen(autos.delete(id), autos.create({ customerId, ...bought, level: 500n, maxPerDay }))
      const [first] = yield* bySelf(customerId)
      const second = yield* replace(auto.id, 1)
      assert.lengthOf(yield* bySelf(customerId), 1)
      yield* pay(first!.invoiceId)
      yield* credits.consume({ ...account, amount: 1_000n })
      assert.lengthOf(yield* bySelf(customerId), 1)
      yield* until("2026-01-02")
      const [, next] = yield* bySelf(customerId)
      assert.strictEqual(next?.autoTopUpId, second.id)
      yield* replace(second.id, 2)
      yield* credits.consume({ ...account, amount: 100n })
      // Nothing is left. What another unit buys is none of its own.
      yield* (yield* TopUps).create({ customerId, ...bought, unit: "image" })
      assert.lengthOf(yield* bySelf(customerId), 3)
      yield* credits.grant({ ...account, kind: "promotional", amount: 1n })
      yield* autos.create({ customerId, ...bought, unit: "image", level: 1n })
      assert.lengthOf(yield* bySelf(customerId), 4)
      const { id } = (yield* autos.list({ customerId })).data.find(({ unit }) => unit === "token")!
      yield* autos.update(id, { level: 5_000n })
      assert.lengthOf(yield* bySelf(customerId), 4)
      yield* pay(next!.invoiceId)
      const all = yield* bySelf(customerId)
      assert.lengthOf(all, 5)
      assert.deepInclude(all[4], { autoTopUpId: id, unit: "token", status: "pending" })
    }).pipe(Effect.provide(services)),
  )
}

const replacedAndVoided = (test: InvoicingTest): void => {
  scenario(
    test,
    "one that replaces another buys when the invoice that it waited for is void",
    Effect.gen(function* () {
      const [autos, invoices] = [yield* AutoTopUps, yield* Invoices]
      const { auto, customerId } = yield* begin(100n, 500n)
      yield* autos.delete(auto.id)
      const second = yield* autos.create({ customerId, ...bought, level: 500n })
      const [first, ...none] = yield* bySelf(customerId)
      assert.deepStrictEqual(none, [])
      yield* invoices.void(first!.invoiceId)
      // The one that was canceled counts for its day.
      assert.lengthOf(yield* bySelf(customerId), 1)
      yield* until("2026-01-02")
      const [, next] = yield* bySelf(customerId)
      assert.deepInclude(next, { autoTopUpId: second.id, status: "pending" })
      // Void means that the customer does not want it: the one that bought it waits for the next crossing.
      yield* invoices.void(next!.invoiceId)
      yield* until("2026-01-04")
      assert.lengthOf(yield* bySelf(customerId), 2)
    }).pipe(Effect.provide(services)),
  )
}

export const topUpScenarios = (test: InvoicingTest): void => {
  byCall(test)
  credited(test)
  byLevel(test)
  byClock(test)
  replaced(test)
  replacedAndVoided(test)
}
