/** Items by promises, and over the client. */
import {
  ActionUnavailableError,
  type Billing,
  createBilling,
  InvalidInputError,
  InvoiceItemNotFoundError,
} from "billwright"
import { type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { afterEach, assert, beforeEach, describe, it } from "vitest"

let billing: Billing
let client: BillingClient

beforeEach(async () => {
  const tax = { behavior: "exclusive", seller: "DE", rates: [{ country: "DE", rate: "19" }] } as const
  billing = await createBilling({
    store: memory(),
    mode: "test",
    dispatcher: false,
    log: false,
    invoices: { tax },
  })
  const apiKey = (await billing.keys.create({ name: "app", scopes: ["invoices:*"] })).secret
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  client = createClient({ url: "http://localhost/billing", apiKey, fetch })
})

afterEach(() => billing.close())

describe("items", () => {
  it("are on the next invoice, taxed, for promises and for the client alike", async () => {
    const customer = await billing.customers.create({ name: "Ada", email: "ada@example.com", netDays: 7 })
    await billing.plans.push([
      {
        key: "pro",
        name: "Pro",
        currencies: ["EUR"],
        interval: { unit: "month", count: 1 },
        charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
      },
    ])
    const periodStart = new Date("2026-01-01T00:00:00Z")
    const periodEnd = new Date("2026-02-01T00:00:00Z")
    const input = {
      customerId: customer.id,
      currency: "EUR",
      description: "Onboarding",
      periodStart,
      periodEnd,
    }
    const ours = await billing.invoiceItems.create({ ...input, amount: 4900 })
    const theirs = await client.invoiceItems.create({
      ...input,
      amount: -100n,
      periodStart: null,
      periodEnd: null,
    })
    assert.deepInclude(ours, { amount: 4900n, status: "pending", periodStart, invoiceId: null })
    assert.deepStrictEqual(await client.invoiceItems.get(ours.id), ours)
    assert.deepStrictEqual(await billing.invoiceItems.get(theirs.id), theirs)
    await billing.subscriptions.create({ customerId: customer.id, plan: "pro" })
    await billing.runDue()
    const [invoice] = (await billing.invoices.list({ customerId: customer.id }).page()).data
    assert.deepStrictEqual([invoice?.subtotal, invoice?.tax, invoice?.total], [6_800n, 1_292n, 8_092n])
    const { data } = await client.invoiceItems.list({ invoiceId: invoice!.id }).page()
    assert.deepStrictEqual(
      data.map(({ id }) => id),
      [theirs.id, ours.id],
    )
    const refused = await client.invoiceItems.delete(ours.id).catch((error: unknown) => error)
    assert.propertyVal(refused, "status", 409)
    const unknown = await client.invoiceItems.get(`itm_${"0".repeat(26)}`).catch((error: unknown) => error)
    assert.propertyVal(unknown, "status", 404)
    await invoiceItemErrors(customer.id)
  })

  const invoiceItemErrors = async (customerId: string): Promise<void> => {
    const { create, delete: remove, get } = billing.invoiceItems
    const input = { customerId, currency: "EUR", amount: 1, description: "x" }
    const wrong = await create({ ...input, amount: 0 }).catch((error: unknown) => error)
    assert.instanceOf(wrong, InvalidInputError)
    assert.strictEqual(wrong.field, "amount")
    const { id } = await create(input)
    await remove(id)
    assert.instanceOf(await get(id).catch((error: unknown) => error), InvoiceItemNotFoundError)
    const [invoiced] = (await billing.invoiceItems.list({ status: "invoiced" }).page()).data
    assert.instanceOf(await remove(invoiced!.id).catch((error: unknown) => error), ActionUnavailableError)
  }
})
