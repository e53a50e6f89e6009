/** Stripe as the provider of `createBilling`, at the fake of its API. */
import { FakeStripe } from "@billwright/testing/stripe"
import { ConfigurationError, definePlan } from "billwright"
import { stripe } from "billwright/stripe"
import { createTestBilling, type TestBilling } from "billwright/testing"
import { Stripe } from "stripe"
import { afterAll, assert, describe, it } from "vitest"

const fake = await FakeStripe.start()
afterAll(() => fake.close())

const key = ["sk", "test", "host"].join("_")
const account = fake.account(key)
const client = new Stripe(key, { host: fake.host, port: fake.port, protocol: "http", telemetry: false })

const plan = definePlan("pro", {
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", name: "Base fee", model: "flat", price: { EUR: "20.00" } }],
})

describe("billwright/stripe", () => {
  /** A customer who saves a card, and what becomes of the first invoice. */
  const firstInvoice = async (billing: TestBilling) => {
    await billing.plans.push(plan)
    const { id: customerId } = await billing.testing.customer()
    const { id } = await billing.paymentMethods.create({ customerId })
    await billing.paymentMethods.startSetup(id)
    account.enterCard(account.all("setup_intent").at(-1)!.id, "pm_card_visa")
    const saved = await billing.paymentMethods.refresh(id)
    assert.deepInclude(saved, { status: "attached", brand: "visa", isDefault: true })
    await billing.subscriptions.create({ customerId, plan: "pro" })
    await billing.testing.advance({ days: 10 })
    const [invoice] = (await billing.invoices.list().page()).data
    const [payment] = (await billing.payments.list({ invoiceId: invoice!.id }).page()).data
    return { invoice: invoice!, payment: payment! }
  }

  it("takes the payment of each invoice that is issued, by a saved card", async () => {
    const billing = await createTestBilling({ now: "2026-01-01T00:00:00Z", payments: stripe({ client }) })
    try {
      const { invoice, payment } = await firstInvoice(billing)
      assert.strictEqual(invoice.status, "paid")
      const intent = account.all("payment_intent").find(({ id }) => id === payment.reference)
      const customer = account.all("customer").at(-1)!.id
      assert.deepInclude(intent, { amount: 2_000, currency: "eur", status: "succeeded", customer })
      assert.strictEqual(intent?.metadata["billwright_payment"], payment.id)
      assert.strictEqual(payment.provider, "stripe")
    } finally {
      await billing.close()
    }
  })

  it("takes no money with a key of the other mode, and pays no invoice with it", async () => {
    const options = { now: "2026-01-01T00:00:00Z", payments: stripe({ client }) }
    const billing = await createTestBilling({ ...options, mode: "live" })
    const before = account.all("charge").length
    try {
      const { invoice } = await firstInvoice(billing)
      assert.deepInclude(invoice, { status: "open", collection: "needs_attention" })
      assert.strictEqual(account.all("charge").length, before)
    } finally {
      await billing.close()
    }
  })

  it("names the option that is wrong", () => {
    const wrong = () => stripe({ client, requestsPerSecond: 0 })
    assert.throws(wrong, ConfigurationError, /^stripe: requestsPerSecond/)
    for (const secret of ["", undefined as never]) {
      const unsigned = () => stripe({ client, webhookSecrets: [secret] })
      assert.throws(unsigned, ConfigurationError, /^stripe: webhookSecrets: each must be/)
    }
    assert.throws(() => stripe({ client: {} as Stripe }), ConfigurationError, /^stripe: client/)
  })
})
