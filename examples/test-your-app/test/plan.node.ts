/** The tests of `Plan.ts`, with node:test: `node --test test/plan.node.ts`. */
import assert from "node:assert/strict"
import { afterEach, beforeEach, test } from "node:test"
import { createTestBilling, type TestBilling } from "billwright/testing"
import { makePlan } from "../src/Plan.ts"

let billing: TestBilling
beforeEach(async () => {
  billing = await createTestBilling({ now: "2026-01-31T23:59:00Z" })
})
afterEach(() => billing.close())

test("bills each month for its own calls, and a retry once", async () => {
  const plan = makePlan(billing)
  const { id } = await billing.testing.customer()
  const { receiver } = await billing.testing.endpoint({ eventTypes: ["invoice.created"] })
  await plan.count(id, "a")
  await plan.count(id, "a")
  await plan.count(id, "b")
  await billing.testing.advance({ hours: 1 }) // it is February
  await plan.count(id, "c")
  await plan.bill(id, billing.testing.now)
  await plan.bill(id, billing.testing.now)

  const deliveries = await billing.testing.deliveries()
  assert.deepEqual(
    deliveries.map(({ status }) => status),
    ["Delivered"],
  )
  assert.deepEqual(
    receiver.requests.map(({ event }) => event.data),
    [{ invoice_id: `${id}-2026-01-01`, customer_id: id, amount: 2, currency: "EUR" }],
  )
})

test("sends an invoice again after the receiver has failed", async () => {
  const { id } = await billing.testing.customer()
  const { receiver } = await billing.testing.endpoint()
  receiver.answer({ error: "connection_refused" }, 503, 204)
  await makePlan(billing).bill(id, billing.testing.now)
  await billing.testing.advance({ minutes: 1 })
  const [delivery] = await billing.testing.deliveries()
  assert.equal(delivery?.status, "Delivered")
  assert.equal(receiver.requests.length, 3)
})
