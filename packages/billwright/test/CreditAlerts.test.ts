/** Credit alerts by promises, and over the client. */
import { CreditAlertNotFoundError, LimitReachedError } from "billwright"
import { createClient } from "billwright/client"
import { createTestBilling } from "billwright/testing"
import { assert, it } from "vitest"
import { rejection } from "./Rejection.ts"

const begin = async () => {
  const billing = await createTestBilling({ now: "2026-01-01T00:00:00Z" })
  const apiKey = (await billing.keys.create({ name: "app", scopes: ["credits:*"] })).secret
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  const client = createClient({ url: "http://localhost/billing", apiKey, fetch })
  const { id: customerId } = await billing.testing.customer()
  await billing.credits.grant({ customerId, unit: "token", kind: "paid", amount: 100 })
  return { billing, client, tokens: { customerId, unit: "token" } }
}

it("are created, changed and deleted, and fire below their level", async () => {
  const { billing, client, tokens } = await begin()
  const created = await client.creditAlerts.create({ ...tokens, level: 50 })
  const now = new Date("2026-01-01T00:00:00Z")
  assert.deepStrictEqual(created, { ...tokens, id: created.id, level: 50n, createdAt: now, updatedAt: now })
  await client.credits.consume({ ...tokens, amount: 50 })
  assert.deepStrictEqual(await client.creditAlerts.update(created.id, { level: 40n }), {
    ...created,
    level: 40n,
  })
  await client.credits.consume({ ...tokens, amount: 11 })
  const [event, ...others] = (await billing.events.list({ type: "credit.low" }).page()).data
  assert.deepStrictEqual(others, [])
  assert.deepStrictEqual(event?.data, {
    customer_id: tokens.customerId,
    unit: "token",
    available: 39,
    held: 0,
    debt: 0,
    sequence: 3,
    credit_alert_id: created.id,
    level: 40,
  })
  assert.deepStrictEqual(await billing.creditAlerts.get(created.id), { ...created, level: 40n })
  await client.creditAlerts.delete(created.id)
  assert.instanceOf(await rejection(billing.creditAlerts.get(created.id)), CreditAlertNotFoundError)
  const { customerId } = tokens
  assert.deepStrictEqual((await client.creditAlerts.list({ customerId }).page()).data, [])
  await billing.close()
})

it("are at most 20 for a customer", async () => {
  const { billing, tokens } = await begin()
  for (let n = 1; n <= 20; n++) await billing.creditAlerts.create({ ...tokens, level: n })
  const error = await rejection(billing.creditAlerts.create({ ...tokens, level: 21 }))
  assert.instanceOf(error, LimitReachedError)
  assert.deepInclude({ ...error } as object, { code: "too_many_credit_alerts" })
  await billing.close()
})

it("fire before what comes later: the sequence of the events of an account never falls", async () => {
  const { billing, tokens } = await begin()
  for (const month of ["02", "03"]) {
    const expiresAt = new Date(`2026-${month}-01T00:00:00Z`)
    await billing.credits.grant({ ...tokens, kind: "promotional", amount: 30, expiresAt, priority: 0 })
  }
  await billing.creditAlerts.create({ ...tokens, level: 140 })
  await billing.credits.consume({ ...tokens, amount: 10 })
  await billing.testing.advanceTo("2026-04-01T00:00:00Z")
  await billing.credits.consume({ ...tokens, amount: 1 })
  const events = (await billing.events.list().page()).data.toReversed()
  const told = events.flatMap(({ data, type }) =>
    type.startsWith("credit.") ? [`${type} ${(data as { sequence: number }).sequence}`] : [],
  )
  assert.deepStrictEqual(told.slice(3), ["credit.expired 5", "credit.low 5", "credit.expired 6"])
  await billing.close()
})
