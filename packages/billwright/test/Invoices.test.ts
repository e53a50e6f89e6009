/** One-off invoices by promises, and over the client. */
import {
  ActionUnavailableError,
  type Billing,
  createBilling,
  InvalidInputError,
  InvoiceNotFoundError,
} from "billwright"
import { ApiError, type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

let billing: Billing
let client: BillingClient
let customerId: string

beforeEach(async () => {
  billing = await createBilling({ store: memory(), mode: "test", dispatcher: false, log: false })
  const apiKey = (await billing.keys.create({ name: "app", scopes: ["invoices:*"] })).secret
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  client = createClient({ url: "http://localhost/billing", apiKey, fetch })
  customerId = (await billing.customers.create({ name: "Ada", email: "ada@example.com", currency: "EUR" })).id
})
afterEach(() => billing.close())

/** The same calls with `createBilling` and with the client. */
const both = [
  ["createBilling", () => billing],
  ["the client", () => client],
] as const

const item = { currency: "EUR", amount: 4900, description: "Onboarding" }

describe.each(both)("one-off invoices of %s", (_, caller) => {
  it("are made of pending items, and issued by call", async () => {
    const { invoiceItems, invoices } = caller()
    await invoiceItems.create({ customerId, ...item })
    const draft = await invoices.create({ customerId })
    assert.deepInclude(draft, { status: "draft", total: 4900n, finalizesAt: null, subscriptionId: null })
    assert.deepStrictEqual(await invoices.get(draft.id), draft)
    const issued = await invoices.finalize(draft.id)
    assert.deepInclude(issued, { status: "open", amountDue: 4900n })
    assert.match(issued.number ?? "", /-0001$/)
    const refused = await rejection(invoices.finalize(draft.id))
    assert.strictEqual(refused instanceof ApiError || refused instanceof ActionUnavailableError, true)
  })

  it("are made of given lines", async () => {
    const periodStart = new Date("2026-11-01T00:00:00Z")
    const lines = [
      { description: "Workshop", amount: 90_000, periodStart, periodEnd: "2026-11-02T00:00:00Z" },
      { description: "Rebate", amount: -10_000n, taxCode: "reduced" },
    ]
    const draft = await caller().invoices.create({ customerId, currency: "USD", lines })
    assert.deepInclude(draft, { currency: "USD", total: 80_000n })
    assert.deepInclude(draft.lines[0], {
      description: "Workshop",
      periodStart,
      periodEnd: new Date("2026-11-02T00:00:00Z"),
    })
  })

  it("are deleted as drafts, and their items are pending again", async () => {
    const { invoiceItems, invoices } = caller()
    const { id } = await invoiceItems.create({ customerId, ...item })
    const draft = await invoices.create({ customerId })
    assert.strictEqual((await invoiceItems.get(id)).invoiceId, draft.id)
    assert.isUndefined(await invoices.delete(draft.id))
    assert.deepInclude(await invoiceItems.get(id), { status: "pending", invoiceId: null })
    assert.instanceOf(await rejection(billing.invoices.get(draft.id)), InvoiceNotFoundError)
  })
})

describe.each(both)("the records behind a line of %s", (_, caller) => {
  it("are listed as usage records", async () => {
    await billing.meters.create({ key: "calls", productId: "api", unit: "call" })
    await billing.plans.push({
      key: "metered",
      name: "Metered",
      currencies: ["EUR"],
      interval: { unit: "month", count: 1 },
      charges: [{ key: "calls", model: "unit", meter: "calls", price: { EUR: "0.01" } }],
    })
    const startAt = new Date(Date.now() - 3_600_000)
    const { id } = await billing.subscriptions.create({ customerId, plan: "metered", startAt })
    const usage = { customerId, productId: "api", unit: "call", timestamp: startAt }
    const { record } = await billing.usage.record({ ...usage, quantity: 300 })
    await billing.subscriptions.cancel(id, { at: "now" })
    const [invoice] = (await billing.invoices.list({ subscriptionId: id }).page()).data
    const line = invoice?.lines[0]
    assert.strictEqual(line?.quantity, "300")
    const records = caller().invoices.records(invoice!.id, line!.id, { limit: 10 })
    assert.deepStrictEqual((await records.page()).data, [record])
  })
})

describe("a one-off invoice", () => {
  it("in a transaction is marked as ready, and issued by the next billing run", async () => {
    const ready = await billing.transaction(async (tx) => {
      const { id } = await tx.invoices.create({ customerId, lines: [{ description: "Order", amount: 700 }] })
      return tx.invoices.finalize(id)
    })
    assert.deepInclude(ready, { status: "draft", number: null })
    assert.instanceOf(ready.finalizesAt, Date)
    await billing.runDue()
    assert.deepInclude(await billing.invoices.get(ready.id), { status: "open", total: 700n })
  })

  it("names the field that is wrong", async () => {
    const line = { description: "Order", amount: 700, periodStart: "yesterday" }
    const refused = await rejection(billing.invoices.create({ customerId, lines: [line] }))
    assert.instanceOf(refused, InvalidInputError)
    assert.strictEqual((refused as InvalidInputError).field, "lines[0].periodStart")
    const minor = "must be an integer from -10^15 to 10^15, and not 0"
    const fraction = { customerId, lines: [{ description: "Workshop", amount: 9.5 }] }
    assert.strictEqual(
      (await rejection(billing.invoices.create(fraction))).message,
      `lines[0].amount ${minor}`,
    )
    assert.instanceOf(await rejection(billing.invoices.create({ customerId })), InvalidInputError)
    assert.instanceOf(await rejection(billing.invoices.create(null as never)), InvalidInputError)
  })
})

describe("the upcoming invoice", () => {
  it("is the same for both, and null when there is none", async () => {
    await billing.plans.push({
      key: "pro",
      name: "Pro",
      currencies: ["EUR"],
      interval: { unit: "month", count: 1 },
      charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
    })
    const { id } = await billing.subscriptions.create({ customerId, plan: "pro" })
    for (const [, caller] of both) {
      const upcoming = await caller().invoices.upcoming(id)
      assert.deepInclude(upcoming, { status: "draft", total: 2000n, subscriptionId: id })
      assert.instanceOf(upcoming?.finalizesAt, Date)
    }
    await billing.subscriptions.cancel(id, { at: "now", credit: "none" })
    for (const [, caller] of both) assert.isNull(await caller().invoices.upcoming(id))
    assert.lengthOf((await billing.invoices.list().page()).data, 1)
  })
})
