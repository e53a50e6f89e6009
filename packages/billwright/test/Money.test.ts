/** The overview of money, beside sums that the test adds up from the lists. */
import { definePlan, type Invoice, type Payment } from "billwright"
import { createClient } from "billwright/client"
import { createTestBilling, fakePayments, type TestBilling } from "billwright/testing"
import { assert, it } from "vitest"

const DAY = 86_400_000

const plans = [
  definePlan("monthly", {
    name: "Monthly",
    currencies: ["EUR", "USD"],
    interval: { unit: "month", count: 1 },
    quantities: ["seats"],
    charges: [
      { key: "base", model: "flat", price: { EUR: "10.00", USD: "12.00" } },
      { key: "seats", model: "unit", quantity: "seats", price: { EUR: "0.50", USD: "0.60" } },
    ],
  }),
  definePlan("yearly", {
    name: "Yearly",
    currencies: ["EUR"],
    interval: { unit: "year", count: 1 },
    charges: [{ key: "base", model: "flat", price: { EUR: "100.00" } }],
  }),
  definePlan("weekly", {
    name: "Weekly",
    currencies: ["EUR"],
    interval: { unit: "week", count: 2 },
    charges: [{ key: "base", model: "flat", price: { EUR: "1.00" } }],
  }),
]

/** Customers with and without cards, some of which are declined, over 110 days. */
const live = async (billing: TestBilling, payments: ReturnType<typeof fakePayments>) => {
  await billing.plans.push(plans)
  const inputs = [
    { plan: "monthly", currency: "EUR", quantities: { seats: "3" } },
    { plan: "monthly", currency: "EUR", quantities: { seats: "3" } },
    { plan: "monthly", currency: "USD", quantities: { seats: "1.5" } },
    { plan: "yearly" },
    { plan: "weekly" },
  ]
  for (const [n, input] of inputs.entries()) {
    const { id: customerId } = await billing.testing.customer()
    if (n % 2 === 0) await payments.saveCard(customerId)
    await billing.subscriptions.create({ customerId, ...input })
  }
  await billing.testing.advance({ days: 109 })
  for (let n = 0; n < 12; n++) payments.next({ code: "insufficient_funds" })
  await billing.testing.advance({ days: 14 })
  const [open] = (await billing.invoices.list({ status: "open" }).page()).data
  await billing.invoices.void(open!.id)
}

const all = async <A>(items: AsyncIterable<A>): Promise<Array<A>> => {
  const found: Array<A> = []
  for await (const item of items) found.push(item)
  return found
}

const figure = (items: ReadonlyArray<Invoice | Payment>, amountOf: (item: never) => bigint) => ({
  count: items.length,
  amount: items.reduce((sum, item) => sum + amountOf(item as never), 0n),
})

/** How many days an invoice is late. */
const late = ({ dueAt }: Invoice, now: number) => (now - (dueAt?.getTime() ?? now)) / DAY

/** The figures of a currency that are added up, from all invoices and payments. */
const addedUp = async (billing: TestBilling, currency: string, now: number) => {
  const invoices = (await all(billing.invoices.list())).filter((one) => one.currency === currency)
  const payments = (await all(billing.payments.list())).filter((one) => one.currency === currency)
  const open = invoices.filter(({ status }) => status === "open")
  const due = ({ amountDue }: Invoice) => amountDue
  const isRecent = (at: Date | null) => at !== null && now - at.getTime() < 30 * DAY
  return {
    currency,
    invoiced: figure(
      invoices.filter(({ issuedAt, status }) => isRecent(issuedAt) && status !== "void"),
      ({ total }: Invoice) => total,
    ),
    collected: figure(
      payments.filter(({ paidAt, status }) => status === "succeeded" && isRecent(paidAt)),
      ({ amount }: Payment) => amount,
    ),
    outstanding: figure(open, due),
    notDue: figure(
      open.filter((one) => late(one, now) <= 0),
      due,
    ),
    lateThirty: figure(
      open.filter((one) => late(one, now) > 0 && late(one, now) <= 30),
      due,
    ),
    lateSixty: figure(
      open.filter((one) => late(one, now) > 30 && late(one, now) <= 60),
      due,
    ),
    lateMore: figure(
      open.filter((one) => late(one, now) > 60),
      due,
    ),
    toRetry: figure(
      open.filter(({ collection }) => collection === "retrying"),
      due,
    ),
  }
}

it("is what the lists add up to, in each currency, and the client reads the same", async () => {
  const payments = fakePayments()
  const billing = await createTestBilling({ now: "2026-01-01T00:00:00Z", payments, log: false })
  assert.deepEqual((await billing.money.overview()).currencies, [])
  await live(billing, payments)
  const overview = await billing.money.overview()
  const now = billing.testing.now.getTime()
  assert.strictEqual(overview.at.getTime(), now)
  assert.strictEqual(overview.since.getTime(), now - 30 * DAY)
  assert.isTrue(overview.isComplete)
  assert.deepEqual(overview.currencies, [
    {
      // Two of 11.50, a twelfth of 100.00, and 1.00 for two weeks: 365 / (14 × 12).
      recurring: { count: 4, amount: 2_300n + 833n + 217n + 1n },
      ...(await addedUp(billing, "EUR", now)),
    },
    { recurring: { count: 1, amount: 1_290n }, ...(await addedUp(billing, "USD", now)) },
  ])
  const [euros] = overview.currencies
  for (const { count } of [euros!.invoiced, euros!.collected, euros!.lateSixty, euros!.lateMore])
    assert.isAbove(count, 0)
  assert.isAbove(euros!.toRetry.count + overview.currencies[1]!.toRetry.count, 0)

  const lists = await all(billing.invoices.list({ figure: "late_more", currency: "EUR" }))
  assert.lengthOf(lists, euros!.lateMore.count)
  const paid = await all(billing.payments.list({ figure: "collected", currency: "EUR" }))
  assert.lengthOf(paid, euros!.collected.count)

  const { secret } = await billing.keys.create({ name: "reader", scopes: ["invoices:read"] })
  const client = createClient({
    url: "http://billing.test",
    apiKey: secret,
    fetch: (url, init) => billing.fetch(new Request(url, init)),
  })
  assert.deepEqual(await client.money.overview(), overview)
  assert.deepEqual((await billing.live.money.overview()).currencies, [])
  await billing.close()
})
