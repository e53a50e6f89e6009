/** Payments by promises, and over the client. */
import {
  ActionUnavailableError,
  type Billing,
  createBilling,
  InvalidInputError,
  InvoiceNotFoundError,
  PaymentNotFoundError,
} from "billwright"
import { ApiError, type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

let billing: Billing
let client: BillingClient
let invoiceId: string

beforeEach(async () => {
  billing = await createBilling({ store: memory(), mode: "test", dispatcher: false, log: false })
  const apiKey = (await billing.keys.create({ name: "app", scopes: ["payments:*"] })).secret
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  client = createClient({ url: "http://localhost/billing", apiKey, fetch })
  const customer = await billing.customers.create({ name: "Ada", email: "ada@example.com" })
  await billing.plans.push([
    {
      key: "pro",
      name: "Pro",
      currencies: ["EUR"],
      interval: { unit: "month", count: 1 },
      charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
    },
  ])
  await billing.subscriptions.create({ customerId: customer.id, plan: "pro" })
  await billing.runDue()
  invoiceId = (await billing.invoices.list().page()).data[0]!.id
})

afterEach(() => billing.close())

describe("payments", () => {
  it("are the same for promises and for the client", async () => {
    const paidAt = new Date(Date.now() - 86_400_000)
    const ours = await billing.payments.record({ invoiceId, amount: 300, paidAt, reference: "R1" })
    assert.deepInclude(ours, { amount: 300n, applied: 300n, overpaid: 0n, paidAt, status: "succeeded" })
    assert.deepStrictEqual(await client.payments.get(ours.id), ours)
    assert.deepStrictEqual(await client.payments.record({ invoiceId, amount: 300n, reference: "R1" }), ours)
    const theirs = await client.payments.record({ invoiceId, amount: 2_000n, acceptOverpayment: true })
    assert.deepInclude(theirs, { amount: 2_000n, applied: 1_700n, overpaid: 300n })
    assert.deepStrictEqual(await billing.payments.get(theirs.id), theirs)
    for (const { payments } of [billing, client]) {
      assert.deepStrictEqual((await payments.list({ invoiceId }).page()).data, [theirs, ours])
      assert.deepStrictEqual((await payments.list({ status: "open" }).page()).data, [])
    }
    const invoice = await billing.invoices.get(invoiceId)
    assert.deepStrictEqual([invoice.status, invoice.amountPaid], ["paid", 2_000n])
    const types = (await billing.events.list().page()).data.map(({ type }) => type)
    assert.includeMembers(types, ["payment.succeeded", "payment.overpaid", "invoice.paid"])
  })

  it("are refused with an error that says why", async () => {
    const { payments } = billing
    const tooMuch = await rejection(payments.record({ invoiceId, amount: 2_001 }))
    assert.instanceOf(tooMuch, InvalidInputError)
    assert.strictEqual(tooMuch.field, "amount")
    const fraction = await rejection(payments.record({ invoiceId, amount: 0.5 }))
    assert.strictEqual(fraction.message, "amount must be an integer from 1 to 10^30")
    const date = await rejection(payments.record({ invoiceId, paidAt: "yesterday" }))
    assert.instanceOf(date, InvalidInputError)
    assert.strictEqual(date.field, "paidAt")
    const unknown = `inv_${"0".repeat(26)}`
    assert.instanceOf(await rejection(payments.record({ invoiceId: unknown })), InvoiceNotFoundError)
    assert.instanceOf(await rejection(payments.get("pay_1")), PaymentNotFoundError)
    await payments.record({ invoiceId })
    assert.instanceOf(await rejection(payments.record({ invoiceId })), ActionUnavailableError)
    assert.instanceOf(await rejection(client.payments.record({ invoiceId })), ApiError)
  })

  it("roll back with the transaction around them", async () => {
    const work = billing.transaction(async (tx) => {
      await tx.payments.record({ invoiceId })
      throw new Error("no")
    })
    assert.strictEqual((await rejection(work)).message, "no")
    assert.deepStrictEqual((await billing.payments.list().page()).data, [])
    assert.strictEqual((await billing.invoices.get(invoiceId)).status, "open")
  })
})
