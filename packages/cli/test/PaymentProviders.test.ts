import { FakeStripe } from "@billwright/testing/stripe"
/** Payments of `billwright serve`: by a stand-in for Stripe, and by the provider for trials. */
import { assert, describe, it } from "@effect/vitest"
import * as Cli from "./Cli.ts"
import { Tenant } from "./Tenant.ts"
import { until } from "./Until.ts"

const TIMEOUT = 120_000
const MEMORY = ["--store", "memory"]

const customerOf = async (tenant: Tenant): Promise<string> => {
  const ada = { name: "Ada Lovelace", email: "ada@example.com", country: "DE" }
  return String((await tenant.request("POST", "/customers", ada))["id"])
}

/** An invoice of 900.00 EUR that is issued. */
const issue = async (tenant: Tenant): Promise<string> => {
  const lines = [{ description: "Workshop", amount: 90_000 }]
  const invoice = { customer_id: await customerOf(tenant), currency: "EUR", lines }
  const { id } = await tenant.request("POST", "/invoices", invoice)
  await tenant.request("POST", `/invoices/${String(id)}/finalize`)
  return `/invoices/${String(id)}`
}

const invoiceWith = (tenant: Tenant, path: string, field: string, value: string) =>
  until(`${path} has ${field} ${value}`, async () => {
    const invoice = await tenant.request("GET", path)
    return invoice[field] === value ? invoice : undefined
  })

describe("billwright serve --payments fake", () => {
  it("pays what is issued in test mode, and nothing of live mode", { timeout: TIMEOUT }, async () => {
    const server = await Cli.serve([...MEMORY, "--payments", "fake"])
    assert.include(server.stdout(), "made up, for trials in test mode (--payments fake)")
    const [test, live] = [new Tenant(server.url, server.keys.test), new Tenant(server.url, server.keys.live)]
    const [ofTest, ofLive] = await Promise.all([issue(test), issue(live)])
    const paid = await invoiceWith(test, ofTest, "status", "paid")
    assert.deepInclude(paid, { amount_paid: 90_000, amount_due: 0 })
    const refused = await invoiceWith(live, ofLive, "collection", "needs_attention")
    assert.deepInclude(refused, { status: "open", amount_paid: 0 })
    await server.stop()
  })
})

describe("billwright serve --payments stripe", () => {
  it("takes money with the key of the environment", { timeout: TIMEOUT }, async () => {
    const stripe = await FakeStripe.start()
    const env = {
      STRIPE_SECRET_KEY: "sk_test_cli",
      STRIPE_WEBHOOK_SECRETS: "whsec_new, whsec_old",
      STRIPE_API_BASE: `http://127.0.0.1:${stripe.port}`,
    }
    const server = await Cli.serve([...MEMORY, "--payments", "stripe"], { env })
    assert.include(server.stdout(), "POST /payment_providers/stripe/webhook")
    const tenant = new Tenant(server.url, server.keys.test)
    await issue(tenant)
    const customer = await customerOf(tenant)
    const method = await tenant.request("POST", "/payment_methods", { customer_id: customer })
    const setup = await tenant.request("POST", `/payment_methods/${String(method["id"])}/setup`)
    assert.include(JSON.stringify(setup), "seti_")
    // A notice that nobody signed is refused: so the secrets are used.
    const notice = await fetch(`${server.url}/payment_providers/stripe/webhook?mode=test`, {
      method: "POST",
      body: "{}",
    })
    assert.strictEqual(notice.status, 400)
    assert.notInclude(server.stdout() + server.stderr(), "sk_test_cli")
    await server.stop()
    await stripe.close()
  })

  it.each([
    [{}, /--payments stripe needs the environment variable STRIPE_SECRET_KEY/],
    [
      { STRIPE_SECRET_KEY: "sk_test_x", STRIPE_API_BASE: "stripe" },
      /STRIPE_API_BASE must be an address such as/,
    ],
    [
      { STRIPE_SECRET_KEY: "sk_test_x", STRIPE_WEBHOOK_SECRETS: "whsec_a,," },
      /STRIPE_WEBHOOK_SECRETS: .*whsec_…/,
    ],
  ])("refuses %j", { timeout: TIMEOUT }, async (env, sentence) => {
    const { code, stderr } = await Cli.run(["serve", "--port", "0", ...MEMORY, "--payments", "stripe"], {
      env,
    })
    assert.strictEqual(code, 1)
    assert.match(stderr, sentence)
    assert.notInclude(stderr, "sk_test_x")
  })
})
