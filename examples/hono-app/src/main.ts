/** A shop on Hono, with its billing in memory or on Postgres. See README.md. */
import type { AddressInfo } from "node:net"
import { serve } from "@hono/node-server"
import { ConflictError, createBilling, InvalidInputError, NotFoundError } from "billwright"
import { memory } from "billwright/memory"
import { postgres } from "billwright/postgres"
import { Hono } from "hono"

const url = process.env["DATABASE_URL"]
const store = url === undefined ? memory() : postgres({ url })
const billing = await createBilling({ store })

// The first start prints the first key of the REST API.
if ((await billing.keys.list({ limit: 1 }).page()).data.length === 0)
  console.log(`key ${(await billing.keys.create({ name: "first" })).secret}`)

const app = new Hono()
app.all("/billing/*", billing.hono())

app.post("/customers", async (context) => {
  const { name, email } = await context.req.json<{ name: string; email: string }>()
  const { id } = await billing.customers.create({ name, email })
  return context.json({ id }, 201)
})

// The caller chooses the order's id, so an order that is sent again counts once.
app.put("/customers/:customerId/orders/:id", async (context) => {
  const { customerId, id } = context.req.param()
  const { items, cents } = await context.req.json<{ items: number; cents: number }>()
  // Stores usage and its event, or neither.
  await billing.transaction(async (tx) => {
    const idempotencyKey = `${customerId}-${id}`
    const usage = { customerId, productId: "shop", quantity: items, unit: "item", idempotencyKey }
    await tx.usage.record(usage)
    const data = { invoice_id: id, customer_id: customerId, amount: cents, currency: "EUR" }
    await tx.events.publish({ type: "invoice.paid", data, customerId, idempotencyKey })
  })
  return context.body(null, 204)
})

app.get("/customers/:customerId/usage", async (context) => {
  const { totalQuantity } = await billing.usage.summary({
    customerId: context.req.param("customerId"),
    unit: "item",
  })
  // A string, because many JSON parsers would round a large total.
  return context.json({ items: String(totalQuantity) })
})

app.onError((error, context) => {
  const { message } = error
  const isOfRequest = error instanceof InvalidInputError || error instanceof SyntaxError
  if (isOfRequest) return context.json({ error: message }, 400)
  if (error instanceof NotFoundError) return context.json({ error: message }, 404)
  if (error instanceof ConflictError) return context.json({ error: message }, 409)
  console.error(error)
  return context.json({ error: "something went wrong here" }, 500)
})

const options = { fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env["PORT"] ?? 3000) }
const server = serve(options, ({ port }: AddressInfo) => {
  console.log(`listening on http://127.0.0.1:${port}`)
})
const close = () => server.close(() => billing.close())
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, close)
