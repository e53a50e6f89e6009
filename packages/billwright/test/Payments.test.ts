/** Payments by promises, and over the client. */
import {
  ActionUnavailableError,
  type Billing,
  ConfigurationError,
  createBilling,
  InvalidInputError,
  InvoiceNotFoundError,
  PaymentNotFoundError,
  type PaymentProvider,
  PaymentProviderError,
} from "billwright"
import { ApiError, type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { createTestBilling } from "billwright/testing"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

const PLAN = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
} as const

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
  await billing.plans.push([PLAN])
  await billing.subscriptions.create({ customerId: customer.id, plan: "pro" })
  await billing.runDue()
  invoiceId = (await billing.invoices.list().page()).data[0]!.id
})

afterEach(() => billing.close())

/** A provider that declines first, then loses its answer, and then has taken the money. */
const provider = (): PaymentProvider & { readonly calls: Array<string> } => {
  const calls: Array<string> = []
  let isTaken = false
  return {
    calls,
    name: "acme",
    chargeable: () => ({ status: "ok" }),
    openPayment: async ({ amount, currency, paymentId }) => {
      calls.push(`open ${amount} ${currency}`)
      return { reference: `ref_${paymentId}` }
    },
    attemptPayment: async ({ attemptId }) => {
      calls.push("attempt")
      const attempts = calls.filter((call) => call === "attempt").length
      if (attempts === 1) throw new PaymentProviderError("transient", "busy")
      if (attempts === 2) {
        const code = "insufficient_funds"
        return { status: "declined", attemptId, code, advice: null, notBefore: null }
      }
      isTaken = true
      throw new Error("the connection was lost")
    },
    readPayment: async () => {
      calls.push("read")
      return { status: isTaken ? "succeeded" : "open" }
    },
    closePayment: async () => (isTaken ? "already_succeeded" : "closed"),
    refund: async (refund) => ({ ...refund, reference: refund.refundId, status: "succeeded", code: null }),
    readRefund: async () => null,
    readDispute: async () => null,
    receive: () => ({ type: "foreign" }),
  }
}

describe("a payment provider", () => {
  it("is asked for the money of invoices, and again after what it says", async () => {
    const payments = provider()
    await using test = await createTestBilling({ now: "2026-01-01T00:00:00Z", payments })
    await test.plans.push([PLAN])
    const { id: customerId } = await test.testing.customer()
    await test.subscriptions.create({ customerId, plan: PLAN.key })
    await test.testing.advance({ days: 3 })
    const [invoice] = (await test.invoices.list({ customerId }).page()).data
    assert.deepInclude(invoice, { status: "paid", collection: "paid", amountPaid: 2_000n })
    assert.deepStrictEqual(payments.calls, ["open 2000 EUR", "attempt", "attempt", "attempt", "read"])
    const [payment] = (await test.payments.list({ customerId }).page()).data
    assert.deepInclude(payment, { provider: "acme", status: "succeeded", applied: 2_000n })
    assert.strictEqual(payment?.reference, `ref_${payment?.id}`)
    const types = (await test.events.list().page()).data.map(({ type }) => type)
    assert.deepStrictEqual(
      types.toReversed().filter((type) => type.startsWith("payment")),
      ["payment.failed", "payment.unresolved", "payment.succeeded"],
    )
  })

  it("is refused when it lacks something", async () => {
    const { closePayment: _, ...incomplete } = provider()
    const withoutSetups = { ...provider(), methods: { ensureCustomer: () => undefined } }
    for (const payments of [incomplete, withoutSetups, { ...provider(), name: "manual" }]) {
      const error = await rejection(createTestBilling({ payments: payments as never }))
      assert.instanceOf(error, ConfigurationError)
      assert.include(error.message, "payments must be a payment provider")
    }
  })
})

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
