/** Stripe as the provider of `createBilling`, at the fake of its API. */
import { FakeStripe } from "@billwright/testing/stripe"
import { ConfigurationError, definePlan } from "billwright"
import { stripe } from "billwright/stripe"
import { createTestBilling } from "billwright/testing"
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
  it("takes the payment of each invoice that is issued, by a saved card", async () => {
    const billing = await createTestBilling({ now: "2026-01-01T00:00:00Z", payments: stripe({ client }) })
    try {
      await billing.plans.push(plan)
      const { id: customerId } = await billing.testing.customer()
      const { id } = await billing.paymentMethods.create({ customerId })
      await billing.paymentMethods.startSetup(id)
      const [setup] = account.all("setup_intent")
      account.enterCard(setup!.id, "pm_card_visa")
      const saved = await billing.paymentMethods.refresh(id)
      assert.deepInclude(saved, { status: "attached", brand: "visa", isDefault: true })
      await billing.subscriptions.create({ customerId, plan: "pro" })
      await billing.testing.advance({ days: 10 })
      const [invoice] = (await billing.invoices.list({ status: "paid" }).page()).data
      const [payment] = (await billing.payments.list({ invoiceId: invoice!.id }).page()).data
      const [intent] = account.all("payment_intent")
      const [customer] = account.all("customer")
      const wanted = { amount: 2_000, currency: "eur", status: "succeeded", customer: customer!.id } as const
      assert.deepInclude(intent, wanted)
      assert.strictEqual(intent?.id, payment?.reference)
      assert.strictEqual(intent?.metadata["billwright_payment"], payment?.id)
      assert.strictEqual(payment?.provider, "stripe")
    } finally {
      await billing.close()
    }
  })

  it("names the option that is wrong", () => {
    const wrong = () => stripe({ client, requestsPerSecond: 0 })
    assert.throws(wrong, ConfigurationError, /^stripe: requestsPerSecond/)
    assert.throws(() => stripe({ client: {} as Stripe }), ConfigurationError, /^stripe: client/)
  })
})
