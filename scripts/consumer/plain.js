/** An app in plain JavaScript, as it is on a machine that has nothing but Node and the packed packages. */
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import { buffer } from "node:stream/consumers"
import { createBilling, InvalidInputError } from "billwright"
import { createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { verify } from "billwright/verify"

const listen = async (handler) => {
  const server = createServer(handler).listen(0, "127.0.0.1")
  await once(server, "listening")
  return { server, url: `http://127.0.0.1:${server.address().port}` }
}

const billing = await createBilling({
  store: memory(),
  mode: "test",
  dispatcher: "manual",
  network: { allowLoopback: true },
})

// The library.
const customer = await billing.customers.create({ name: "Ada Lovelace", email: "ada@example.com" })
const use = { customerId: customer.id, productId: "api", quantity: Number.MAX_SAFE_INTEGER, unit: "call" }
await billing.usage.record(use)
await billing.usage.record({ ...use, quantity: 5n })
const { totalQuantity } = await billing.usage.summary({ customerId: customer.id })
assert.equal(totalQuantity, BigInt(Number.MAX_SAFE_INTEGER) + 5n)
await assert.rejects(billing.usage.record({ ...use, quantity: -1 }), InvalidInputError)

// A webhook, to a receiver that verifies it.
const received = []
let secret = ""
const receiver = await listen(async (request, response) => {
  const { event } = await verify({ secret, headers: request.headers, body: await buffer(request) })
  received.push(event.type)
  response.writeHead(204).end()
})
const created = await billing.endpoints.create({ url: `${receiver.url}/`, eventTypes: ["invoice.paid"] })
secret = created.secret
await billing.events.publish({
  type: "invoice.paid",
  data: { invoice_id: "in_1", customer_id: customer.id, amount: 4200, currency: "EUR" },
})
assert.equal(await billing.deliverDue(), 1)
assert.deepEqual(received, ["invoice.paid"])

// The REST API, by its client.
const api = await listen(billing.node({ basePath: "/billing" }))
const key = await billing.keys.create({ name: "first" })
const client = createClient({ url: `${api.url}/billing`, apiKey: key.secret })
const names = []
for await (const { name } of client.customers.list()) names.push(name)
assert.deepEqual(names, ["Ada Lovelace"])

receiver.server.close()
api.server.close()
await billing.close()
console.log("works")
