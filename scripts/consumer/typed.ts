/**
 * An app in TypeScript. Its compiler must accept and refuse the right things, under `nodenext` and under `bundler`.
 */
import assert from "node:assert/strict"
import { type Billing, BillingError, createBilling, type Customer, defineEvent } from "billwright"
import { type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { fromKysely, postgres } from "billwright/postgres"
import { type VerifiedWebhook, verify } from "billwright/verify"

interface Order {
  readonly order: string
}
const parse = (data: unknown): Order => {
  assert.equal(typeof (data as Order).order, "string")
  return data as Order
}
const shipped = defineEvent({
  name: "order.shipped",
  description: "An order left.",
  parse,
  example: { order: "1" },
})

const billing = await createBilling({ store: memory(), events: [shipped], dispatcher: false })
const customer: Customer = await billing.customers.create({ name: "Ada", email: "ada@example.com" })
await billing.transaction(async (tx) => {
  await tx.usage.record({ customerId: customer.id, productId: "api", quantity: 5, unit: "call" })
  await tx.events.publish({ type: "order.shipped", data: { order: "1" } })
})
// @ts-expect-error the data must fit the type
await assert.rejects(billing.events.publish({ type: "order.shipped", data: { order: 1 } }), BillingError)

const { totalQuantity } = await billing.usage.summary({ customerId: customer.id })
const total: bigint = totalQuantity
assert.equal(total, 5n)
const orders: Array<string> = []
for await (const event of billing.events.list())
  if (event.type === "order.shipped") orders.push(event.data.order)
assert.deepEqual(orders, ["1"])
await billing.close()

// Typed calls that need a server.
export const client = (url: string, apiKey: string): BillingClient => createClient({ url, apiKey })
export const receive = (secret: string, request: Request): Promise<VerifiedWebhook> =>
  request.text().then((body) => verify({ secret, headers: request.headers, body }))
export const onPostgres = (url: string): Promise<Billing> => createBilling({ store: postgres({ url }) })
export { fromKysely }
console.log("works")
