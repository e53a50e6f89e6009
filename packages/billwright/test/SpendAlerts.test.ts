/** Spend alerts by promises, and over the client. */
import { definePlan, LimitReachedError, SpendAlertNotFoundError } from "billwright"
import { createClient } from "billwright/client"
import { createTestBilling } from "billwright/testing"
import { assert, it } from "vitest"
import { rejection } from "./Rejection.ts"

const pro = definePlan("pro", {
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  meters: ["calls"],
  charges: [{ key: "calls", model: "unit", meter: "calls", price: { EUR: "0.10" } }],
})

const begin = async () => {
  const billing = await createTestBilling({ now: "2026-01-01T00:00:00Z" })
  const apiKey = (await billing.keys.create({ name: "app", scopes: ["subscriptions:*"] })).secret
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  const client = createClient({ url: "http://localhost/billing", apiKey, fetch })
  await billing.meters.create({ key: "calls", productId: "api", unit: "call" })
  await billing.plans.push(pro)
  const { id: customerId } = await billing.testing.customer()
  const { id: subscriptionId } = await billing.subscriptions.create({ customerId, plan: "pro" })
  return { billing, client, customerId, subscriptionId }
}

it("are created, changed and deleted, and fire when a run checks them", async () => {
  const { billing, client, customerId, subscriptionId } = await begin()
  const created = await client.spendAlerts.create({
    customerId,
    subscriptionId,
    currency: "EUR",
    amount: 500,
    action: "block",
  })
  assert.deepStrictEqual(created, {
    id: created.id,
    customerId,
    subscriptionId,
    currency: "EUR",
    amount: 500n,
    repeat: "once",
    action: "block",
    firedAmount: 0n,
    firedPeriodStart: null,
    firedAt: null,
    blockedUntil: null,
    createdAt: new Date("2026-01-01T00:00:00Z"),
    updatedAt: new Date("2026-01-01T00:00:00Z"),
  })
  await billing.usage.record({ customerId, productId: "api", unit: "call", quantity: 51 })
  await billing.runDue()
  const fired = await client.spendAlerts.get(created.id)
  assert.deepStrictEqual(fired, await billing.spendAlerts.get(created.id))
  assert.deepInclude(fired, { firedAmount: 500n, blockedUntil: new Date("2026-02-01T00:00:00Z") })
  const [event] = (await billing.events.list({ type: "spend.alert" }).page()).data
  assert.deepStrictEqual(event?.data, {
    spend_alert_id: created.id,
    customer_id: customerId,
    subscription_id: subscriptionId,
    currency: "EUR",
    amount: 500,
    spent: 510,
    action: "block",
    period_start: "2026-01-01T00:00:00.000Z",
    period_end: "2026-02-01T00:00:00.000Z",
  })
  assert.isNull((await client.spendAlerts.update(created.id, { amount: 600n })).blockedUntil)
  await client.spendAlerts.delete(created.id)
  assert.instanceOf(await rejection(client.spendAlerts.get(created.id)), Error)
  assert.instanceOf(await rejection(billing.spendAlerts.get(created.id)), SpendAlertNotFoundError)
  assert.deepStrictEqual((await client.spendAlerts.list({ customerId }).page()).data, [])
  await billing.close()
})

it("are 20 for a customer at most", async () => {
  const { billing, customerId } = await begin()
  const alert = { customerId, currency: "EUR", amount: 1 }
  for (let n = 0; n < 20; n++) await billing.spendAlerts.create(alert)
  const error = await rejection(billing.spendAlerts.create(alert))
  assert.instanceOf(error, LimitReachedError)
  assert.deepInclude({ ...error } as object, { code: "too_many_spend_alerts" })
  await billing.close()
})
