/** Entitlements by promises, and over the client. */
import {
  type Billing,
  createBilling,
  CustomerNotFoundError,
  definePlan,
  InvalidInputError,
  UsageKeyConflictError,
} from "billwright"
import { type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

let billing: Billing
let client: BillingClient
let customerId: string

const exporter = definePlan("exporter", {
  name: "Exporter",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  meters: ["exports"],
  charges: [],
  features: {
    exports: { type: "metered", meter: "exports", included: "10", limit: "soft" },
    sso: { type: "boolean" },
  },
})

beforeEach(async () => {
  billing = await createBilling({ store: memory(), mode: "test", dispatcher: false, log: false })
  const apiKey = (await billing.keys.create({ name: "app", scopes: ["entitlements:*"] })).secret
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  client = createClient({ url: "http://localhost/billing", apiKey, fetch })
  await billing.meters.create({ key: "exports", productId: "export", unit: "export" })
  await billing.plans.push([exporter])
  customerId = (await billing.customers.create({ name: "Ada", email: "ada@example.com" })).id
  await billing.subscriptions.create({ customerId, plan: "exporter" })
})

afterEach(() => billing.close())

describe("entitlements", () => {
  it("may be as old as the caller accepts, and what this process consumes counts at once", async () => {
    const asked = { customerId, feature: "exports" }
    const { check, consume } = billing.entitlements
    const record = () =>
      billing.usage.record({ customerId, productId: "export", quantity: 1, unit: "export" })
    const recent = { ...asked, maxStalenessMillis: 60_000 }
    assert.strictEqual((await check(recent)).used, 0n)
    await record()
    assert.strictEqual((await check(recent)).used, 0n)
    assert.strictEqual((await check({ ...recent, quantity: 2 })).used, 1n)
    assert.strictEqual((await client.entitlements.check(recent)).used, 1n)
    assert.strictEqual((await check({ ...asked, maxStalenessMillis: 0 })).used, 1n)
    assert.strictEqual((await check(asked)).used, 1n)
    assert.strictEqual((await check(recent)).used, 0n)
    await consume(asked)
    assert.strictEqual((await check(recent)).used, 2n)
    const error = await rejection(check({ ...asked, maxStalenessMillis: 60_001 }))
    assert.instanceOf(error, InvalidInputError)
    assert.strictEqual(error.field, "maxStalenessMillis")
  })

  it("are the same for promises and for the client", async () => {
    const asked = { customerId, feature: "exports" }
    const use = { ...asked, quantity: 8, idempotencyKey: "k", dimensions: { region: "eu" } }
    const used = await billing.entitlements.consume(use)
    assert.deepInclude(used, { allowed: true, reason: "included", used: 8n, balance: 2n, quantity: 8 })
    assert.instanceOf(used.resetsAt, Date)
    assert.deepStrictEqual(await client.entitlements.consume(use), used)
    const over = await client.entitlements.consume({ ...asked, quantity: 3 })
    assert.deepInclude(over, { allowed: true, reason: "overage", used: 11n, balance: 0n, overage: 1n })
    const checked = await billing.entitlements.check({ ...asked, quantity: 2 })
    assert.deepInclude(checked, { allowed: true, reason: "overage", limit: 10n, limitType: "soft" })
    assert.deepStrictEqual(await client.entitlements.check({ ...asked, quantity: 2 }), checked)
    const listed = await billing.entitlements.list({ customerId })
    assert.deepStrictEqual(
      listed.map(({ allowed, feature, limit }) => [feature, allowed, limit]),
      [
        ["exports", true, 10n],
        ["sso", true, null],
      ],
    )
    assert.deepStrictEqual(await client.entitlements.list({ customerId }), listed)
    const [event] = (await billing.events.list({ type: "entitlement.limit_reached" }).page()).data
    assert.deepInclude(event?.data, { feature: "exports", limit: 10, used: 11 })
  })

  it("are refused with an error that says why", async () => {
    const { check, consume } = billing.entitlements
    await consume({ customerId, feature: "exports", idempotencyKey: "k" })
    const other = await rejection(
      consume({ customerId, feature: "exports", quantity: 2, idempotencyKey: "k" }),
    )
    assert.instanceOf(other, UsageKeyConflictError)
    const notMetered = await rejection(consume({ customerId, feature: "sso" }))
    assert.instanceOf(notMetered, InvalidInputError)
    assert.strictEqual(notMetered.field, "feature")
    const nobody = await rejection(check({ customerId: `cus_${"0".repeat(26)}`, feature: "sso" }))
    assert.instanceOf(nobody, CustomerNotFoundError)
  })

  it("commit and roll back with a transaction", async () => {
    const asked = { customerId, feature: "exports" }
    await rejection(
      billing.transaction(async (tx) => {
        await tx.entitlements.consume({ ...asked, idempotencyKey: "k" })
        throw new Error("undone")
      }),
    )
    assert.strictEqual((await billing.entitlements.check(asked)).used, 0n)
  })
})
