/** Refunds by promises, and over the client. */
import { type Billing, createBilling } from "billwright"
import { ApiError, type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { afterEach, assert, beforeEach, it } from "vitest"
import { rejection } from "./Rejection.ts"

let billing: Billing
let client: BillingClient
let paymentId: string
let invoiceId: string

beforeEach(async () => {
  billing = await createBilling({ store: memory(), mode: "test", dispatcher: false, log: false })
  const scopes = ["payments:*", "invoices:*"] as const
  const apiKey = (await billing.keys.create({ name: "app", scopes: [...scopes] })).secret
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  client = createClient({ url: "http://localhost/billing", apiKey, fetch })
  const customer = await billing.customers.create({ name: "Ada", email: "ada@example.com" })
  const lines = [{ description: "Work", amount: 2000 }]
  const draft = await billing.invoices.create({ customerId: customer.id, currency: "EUR", lines })
  invoiceId = draft.id
  await billing.invoices.finalize(invoiceId)
  paymentId = (await billing.payments.record({ invoiceId })).id
})

afterEach(() => billing.close())

it("gives money of a recorded payment back", async () => {
  const refund = await billing.refunds.create({ paymentId, amount: 500, reason: "unsatisfactory" })
  assert.deepInclude(refund, { status: "succeeded", amount: 500n, reversed: 500n, provider: "manual" })
  assert.deepStrictEqual(await client.refunds.get(refund.id), await billing.refunds.get(refund.id))
  assert.deepInclude(await client.invoices.get(invoiceId), { status: "open", amountDue: 500n })
  const rest = await client.refunds.create({ paymentId, reason: "other" })
  assert.deepInclude(rest, { amount: 1500n, sequence: 2 })
  const { data } = await client.refunds.list({ paymentId, status: "succeeded" }).page()
  assert.deepStrictEqual(
    data.map(({ id }) => id),
    [rest.id, refund.id],
  )
  const nothing = await rejection(billing.refunds.create({ paymentId, reason: "other" }))
  assert.deepInclude({ ...nothing } as object, {
    code: "action_unavailable",
    object: "payment",
    id: paymentId,
  })
  const refused = await rejection(client.refunds.create({ paymentId, reason: "other" }))
  assert.instanceOf(refused, ApiError)
  assert.strictEqual(refused.status, 409)
})

it("refunds what a credit note refunds, in the same step", async () => {
  const note = await client.creditNotes.create({
    invoiceId,
    amount: 800,
    refund: 300,
    reason: "order_change",
  })
  const { data } = await client.refunds.list({ invoiceId }).page()
  assert.lengthOf(data, 1)
  assert.deepInclude(data[0], { creditNoteId: note.id, amount: 300n, reversed: 0n, status: "succeeded" })
  assert.deepInclude(await client.invoices.get(invoiceId), { status: "paid", amountPaid: 2000n })
})

it("has disputes to read only", async () => {
  assert.deepStrictEqual((await billing.disputes.list({ paymentId }).page()).data, [])
  assert.deepStrictEqual((await client.disputes.list().page()).data, [])
  assert.notProperty(billing.disputes, "create")
  assert.notProperty(client.disputes, "create")
  const unknown = await rejection(billing.disputes.get("dis_01kb2r9d3vffx9qd6k4v2n1h7c"))
  assert.deepInclude({ ...unknown } as object, { code: "dispute_not_found" })
})
