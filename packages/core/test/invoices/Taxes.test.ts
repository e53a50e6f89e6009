import {
  type Billing,
  BillingRuns,
  type Customer,
  Customers,
  type Invoice,
  Invoices,
  Subscriptions,
  TAX_SERVICE_MILLIS,
  TopUps,
  type TaxService,
  Usage,
} from "@billwright/core"
import {
  EU_COUNTRIES,
  EU_STANDARD_RATES,
  problemsOfLines,
  problemsOfSums,
  type TaxRequest,
  type TaxTable,
} from "@billwright/engine"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { advanceTo, allInvoices, pushPro, use } from "../time/billing.ts"
import { at, inWorld, newCustomer, NOON } from "../world.ts"

const DAY = 86_400_000
const START = NOON.epochMilliseconds

const german: TaxTable = {
  behavior: "exclusive",
  seller: "DE",
  rates: EU_STANDARD_RATES,
  union: EU_COUNTRIES,
}

const taxed = (tax: NonNullable<Billing.BillingOptions["invoices"]>["tax"]) =>
  inWorld({ invoices: { timezone: "Europe/Berlin", ...(tax === undefined ? {} : { tax }) } })

/** A customer with a subscription of 20.00 a month, and its first invoice. */
const begin = Effect.fnUntraced(function* (input: Partial<Customer.CreateCustomer> = {}) {
  yield* pushPro
  const customer = yield* newCustomer(input)
  const subscription = yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
  yield* advanceTo(START)
  const [invoice] = yield* allInvoices
  return { customer, subscription, invoice: invoice! }
})

const amountsOf = ({ subtotal, tax, taxes, total }: Invoice.Invoice) => ({
  subtotal,
  tax,
  total,
  taxes: taxes.map(({ amount, category, country, rate, taxable }) => ({
    category,
    country,
    rate,
    taxable,
    amount,
  })),
})

const checked = (invoice: Invoice.Invoice): Invoice.Invoice => {
  assert.deepStrictEqual(problemsOfSums(invoice), [])
  assert.deepStrictEqual(problemsOfLines(invoice), [])
  return invoice
}

describe("a table of taxes", () => {
  it.effect("adds the tax of the customer's country to exclusive prices", () =>
    Effect.gen(function* () {
      const { invoice } = yield* begin({ country: "DE" })
      assert.strictEqual(invoice.status, "open")
      assert.deepStrictEqual(amountsOf(checked(invoice)), {
        subtotal: 2_000n,
        tax: 380n,
        total: 2_380n,
        taxes: [{ category: "S", country: "DE", rate: "19", taxable: 2_000n, amount: 380n }],
      })
    }).pipe(taxed(german)),
  )

  it.effect("taxes by country, tax id and status, and in the seller's country by default", () =>
    Effect.gen(function* () {
      yield* pushPro
      const { create } = yield* Subscriptions
      const customers: ReadonlyArray<readonly [Partial<Customer.CreateCustomer>, string]> = [
        [{}, "S DE 19 380"],
        [{ country: "AT" }, "S AT 20 400"],
        [{ country: "AT", taxId: "ATU12345678" }, "AE AT 0 0"],
        [{ country: "DE", taxStatus: "exempt" }, "E DE 0 0"],
        [{ country: "DE", taxStatus: "reverse_charge" }, "AE DE 0 0"],
        [{ country: "US" }, "O US 0 0"],
      ]
      for (const [input, expected] of customers) {
        const { id } = yield* newCustomer(input)
        yield* create({ customerId: id, plan: "pro" })
        yield* advanceTo(START)
        const { data } = yield* (yield* Invoices).list({ customerId: id })
        assert.deepStrictEqual(
          checked(data[0]!).taxes.map(
            ({ amount, category, country, rate }) => `${category} ${country} ${rate} ${amount}`,
          ),
          [expected],
        )
      }
    }).pipe(taxed(german)),
  )

  it.effect("is asked again when a draft is finalized: a customer that has moved is taxed where it is", () =>
    Effect.gen(function* () {
      const { customer } = yield* begin({ country: "DE" })
      yield* advanceTo(at("2026-12-01T00:00:00.000Z").epochMilliseconds)
      yield* use(customer, 100_100)
      yield* advanceTo(at("2026-12-21T12:00:00.000Z").epochMilliseconds)
      const draft = (yield* allInvoices)[1]!
      assert.strictEqual(draft.status, "draft")
      assert.strictEqual(draft.taxes[0]?.country, "DE")
      yield* (yield* Customers).update(customer.id, { country: "FR" })
      yield* advanceTo(at("2026-12-21T13:00:00.000Z").epochMilliseconds)
      const issued = checked((yield* allInvoices)[1]!)
      assert.strictEqual(issued.status, "open")
      assert.deepInclude(issued.taxes[0], { country: "FR", rate: "20" })
    }).pipe(taxed(german)),
  )

  it.effect("with inclusive prices credits what was paid for, tax included", () =>
    Effect.gen(function* () {
      const { invoice, subscription } = yield* begin({ country: "DE" })
      assert.deepStrictEqual(amountsOf(checked(invoice)), {
        subtotal: 2_000n,
        tax: 319n,
        total: 2_000n,
        taxes: [{ category: "S", country: "DE", rate: "19", taxable: 1_681n, amount: 319n }],
      })
      yield* advanceTo(START + 15 * DAY)
      yield* (yield* Subscriptions).cancel(subscription.id, { at: "now" })
      yield* advanceTo(START + 20 * DAY)
      const credit = checked((yield* allInvoices)[1]!)
      assert.deepStrictEqual(
        credit.lines.filter(({ kind }) => kind === "credit").map(({ amount }) => amount),
        // 14 of 30 days are left whole. Of the net amount it would be 784.
        [-933n],
      )
      assert.strictEqual(credit.total, -933n)
    }).pipe(taxed({ ...german, behavior: "inclusive" })),
  )

  it.effect("without the rate of a country, the draft waits, says why, and is issued once it can be", () =>
    Effect.gen(function* () {
      const { customer, invoice } = yield* begin({ country: "FR" })
      assert.strictEqual(invoice.status, "draft")
      assert.strictEqual(
        invoice.failure?.problem,
        'lines["0.0.base"] has no tax rate: add one for FR and code "standard" on 2026-11-21 to the table',
      )
      assert.strictEqual(invoice.taxes[0]?.reason, "The tax is not known yet")
      yield* (yield* Customers).update(customer.id, { country: "DE" })
      yield* advanceTo(START + 61_000)
      const [issued] = yield* allInvoices
      assert.strictEqual(issued?.status, "open")
      assert.strictEqual(issued?.failure, null)
      assert.strictEqual(issued?.tax, 380n)
    }).pipe(
      taxed({
        behavior: "exclusive",
        seller: "DE",
        rates: [{ country: "DE", rate: "19" }],
        union: ["DE", "FR"],
      }),
    ),
  )

  it.effect("that breaks a rule is refused at the start", () =>
    Effect.sync(() => {
      const wrong = { ...german, seller: "Germany" }
      assert.throws(() => Effect.runSync(Effect.void.pipe(taxed(wrong))), /invoices\.tax\.seller must be two/)
    }),
  )
})

/** A service that gives 10 percent, and remembers what it was asked. */
const service = (before: (request: TaxRequest) => Effect.Effect<unknown, unknown> = () => Effect.void) => {
  const asked: Array<TaxRequest> = []
  const quote: TaxService["quote"] = (request) =>
    Effect.gen(function* () {
      asked.push(request)
      yield* before(request)
      const rate = { category: "S", rate: "10", country: "DE", reason: null } as const
      return {
        behavior: "exclusive",
        rates: Object.fromEntries(request.lines.map(({ id }) => [id, rate])),
      }
    })
  return { asked, quote }
}

describe("a tax service", () => {
  it.effect("is asked once for an invoice, and its answer is stored with a hash of what was asked", () => {
    const remote = service()
    return Effect.gen(function* () {
      const { customer, invoice } = yield* begin({ country: "DE", taxId: "DE123456789" })
      assert.strictEqual(checked(invoice).tax, 200n)
      assert.deepStrictEqual(remote.asked, [
        {
          currency: "EUR",
          taxPoint: "2026-11-21",
          customer: { country: "DE", taxId: "DE123456789", taxStatus: "taxable" },
          lines: [{ id: "0.0.base", taxCode: null, amount: 2_000n }],
        },
      ])
      const { invoices } = yield* (yield* MemoryInspector).snapshot
      const stored = invoices[0]!.invoice.taxedBy
      assert.match(stored.asked!, /^[0-9a-f]{64}$/)
      assert.strictEqual(stored.quote?.rates["0.0.base"]?.rate, "10")
      assert.strictEqual(stored.customer.taxId, customer.taxId)
    }).pipe(taxed(remote))
  })

  it.effect("is not asked about credits in a currency, which are not taxed", () => {
    const remote = service(() => Effect.fail(new Error("must have lines")))
    return Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer()
      const purchase = { customerId, unit: "EUR", amount: 5_000n, currency: "EUR", price: 5_000n }
      const { invoiceId } = yield* (yield* TopUps).create(purchase)
      assert.deepInclude(yield* (yield* Invoices).get(invoiceId), { status: "open", total: 5_000n, tax: 0n })
      assert.deepStrictEqual(remote.asked, [])
    }).pipe(taxed(remote))
  })

  it.effect("that fails makes the draft wait: it says why, and is tried again", () => {
    let isDown = true
    const remote = service(() => (isDown ? Effect.fail(new Error("503")) : Effect.void))
    return Effect.gen(function* () {
      const { invoice } = yield* begin()
      assert.strictEqual(invoice.status, "draft")
      assert.strictEqual(invoice.failure?.problem, "the tax service gave no rates: 503")
      assert.strictEqual(invoice.failure?.attempts, 1)
      yield* advanceTo(START + 59_000)
      assert.lengthOf(remote.asked, 1)
      isDown = false
      yield* advanceTo(START + 60_000)
      assert.lengthOf(remote.asked, 2)
      const [issued] = yield* allInvoices
      assert.deepStrictEqual([issued?.status, issued?.failure, issued?.tax], ["open", null, 200n])
    }).pipe(taxed(remote))
  })

  it.effect.each([
    ["never answers", () => Effect.uninterruptible(Effect.never), "it did not answer within 10 s"],
    ["interrupts itself", () => Effect.interrupt, "it was interrupted"],
    ["throws", () => assert.fail("503"), "503"],
  ] as const)("that %s counts as one that fails, and the run goes on", ([, quote, problem]) =>
    Effect.gen(function* () {
      yield* pushPro
      const { id: customerId } = yield* newCustomer()
      yield* (yield* Subscriptions).create({ customerId, plan: "pro" })
      // Detached: if it hung, the test would wait for it.
      const running = yield* Effect.forkDetach((yield* BillingRuns).runDue())
      yield* TestClock.adjust(TAX_SERVICE_MILLIS)
      assert.isDefined(running.pollUnsafe())
      const [invoice] = yield* allInvoices
      assert.strictEqual(invoice?.failure?.problem, `the tax service gave no rates: ${problem}`)
    }).pipe(taxed({ quote })),
  )

  it.effect("that gives no valid rate for a line counts as one that fails", () => {
    const quote = () =>
      Effect.succeed({ behavior: "exclusive", rates: { other: { category: "S" } } } as never)
    return Effect.gen(function* () {
      const { invoice } = yield* begin()
      assert.strictEqual(invoice.status, "draft")
      assert.match(
        invoice.failure!.problem,
        /rates\["0\.0\.base"\] is required: the tax service gave no rate/,
      )
    }).pipe(taxed({ quote }))
  })

  it.effect("is asked outside of transactions, and again when the lines have changed meanwhile", () => {
    // Records usage of the period that the draft bills, in a transaction of its own, while it is asked the first time.
    let late: Effect.Effect<unknown, unknown> = Effect.void
    const remote = service(({ taxPoint }) => {
      if (taxPoint !== "2026-12-21") return Effect.void
      const once = late
      late = Effect.void
      return once
    })
    return Effect.gen(function* () {
      const { customer } = yield* begin()
      const usage = yield* Usage
      const input = { customerId: customer.id, productId: "api", unit: "call", quantity: 300 }
      yield* usage.record({ ...input, timestamp: NOON })
      const context = yield* Effect.context<never>()
      late = Effect.provide(usage.record({ ...input, timestamp: NOON }), context) as Effect.Effect<
        unknown,
        unknown
      >
      yield* advanceTo(at("2026-12-21T13:00:00.000Z").epochMilliseconds)
      const issued = checked((yield* allInvoices)[1]!)
      assert.strictEqual(issued.status, "open")
      // 600 calls, of which 100 are free, at 0.01.
      assert.deepStrictEqual(
        issued.lines.map(({ amount }) => amount),
        [500n, 2_000n],
      )
      assert.strictEqual(issued.tax, 250n)
      const amounts = remote.asked.slice(1).map(({ lines }) => lines.map(({ amount }) => amount))
      assert.deepStrictEqual(amounts, [
        [200n, 2_000n],
        [500n, 2_000n],
      ])
    }).pipe(taxed(remote))
  })
})

describe("when an invoice has to be paid", () => {
  it.effect("depends on the customer's days and time zone, and else on the installation's", () =>
    Effect.gen(function* () {
      const { invoice } = yield* begin({ netDays: 30, timezone: "America/New_York" })
      assert.strictEqual(DateTime.formatIso(DateTime.makeUnsafe(invoice.dueAt!)), "2026-12-22T04:59:59.999Z")
      const { id } = yield* newCustomer()
      yield* (yield* Subscriptions).create({ customerId: id, plan: "pro" })
      yield* advanceTo(START)
      const { data } = yield* (yield* Invoices).list({ customerId: id })
      assert.strictEqual(DateTime.formatIso(DateTime.makeUnsafe(data[0]!.dueAt!)), "2026-12-05T22:59:59.999Z")
    }).pipe(taxed(undefined)),
  )
})
