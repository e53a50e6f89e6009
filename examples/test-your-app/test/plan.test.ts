/** The tests of `Plan.ts`, with vitest. `plan.node.ts` has the same with node:test. */
import { createTestBilling, type TestBilling } from "billwright/testing"
import { verify } from "billwright/verify"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makePlan } from "../src/Plan.ts"

let billing: TestBilling
beforeEach(async () => {
  billing = await createTestBilling({ now: "2026-01-31T23:59:00Z" })
})
afterEach(() => billing.close())

it("bills each month for its own calls, and a retry once", async () => {
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

  expect(await billing.testing.deliveries()).toMatchObject([{ status: "Delivered" }])
  expect(receiver.requests.map(({ event }) => event.data)).toEqual([
    { invoice_id: `${id}-2026-01-01`, customer_id: id, amount: 2, currency: "EUR" },
  ])
})

it("sends an invoice again after the receiver has failed", async () => {
  const { id } = await billing.testing.customer()
  const { endpoint, receiver } = await billing.testing.endpoint()
  receiver.answer({ error: "connection_refused" }, 503, 204)
  await makePlan(billing).bill(id, billing.testing.now)
  expect(await billing.testing.deliveries()).toMatchObject([{ status: "Pending", attemptCount: 1 }])
  await billing.testing.advance({ minutes: 1 })
  expect(await billing.testing.deliveries()).toMatchObject([{ status: "Delivered", attemptCount: 3 }])

  // The third request can be verified like any webhook.
  const { at, body, headers } = receiver.requests[2]!
  const { event } = await verify({ secret: endpoint.secret!, headers, body, now: at })
  expect(event.type).toBe("invoice.created")
})
