/** The same shop with billing: `diff src/shop.ts src/shop-with-billing.ts`. */
import type { AddressInfo } from "node:net"
import { createBilling } from "billwright"
import { postgres } from "billwright/postgres"
import express, { type ErrorRequestHandler } from "express"
import { Pool, type PoolClient } from "pg"

const pool = new Pool({ connectionString: process.env["DATABASE_URL"] })
// Errors of idle connections. The pool replaces the connections.
pool.on("error", (error) => console.error(error.message))
await pool.query(`
  create table if not exists customers (id uuid primary key, name text not null, email text not null);
  create table if not exists orders (
    id uuid primary key, customer_id uuid not null references customers,
    items integer not null, cents integer not null, paid_at timestamptz
  )`)
const billing = await createBilling({ store: postgres({ pool }) })
await pool.query("alter table customers add column if not exists billing_id text")

const inTransaction = async <A>(work: (client: PoolClient) => Promise<A>): Promise<A> => {
  const client = await pool.connect()
  try {
    await client.query("begin")
    const result = await work(client)
    await client.query("commit")
    return result
  } catch (error) {
    // Fails when the connection is lost. Then Postgres has already rolled back.
    await client.query("rollback").catch(() => undefined)
    throw error
  } finally {
    client.release()
  }
}

// A customer from before billing is created in billing with the next order.
const billingIdOf = async (client: PoolClient, id: string): Promise<string> => {
  const find = "select billing_id, name, email from customers where id = $1 for no key update"
  const { billing_id, ...customer } = (await client.query(find, [id])).rows[0]
  if (billing_id !== null) return billing_id
  const created = await billing.transaction(client, (tx) => tx.customers.create(customer))
  await client.query("update customers set billing_id = $2 where id = $1", [id, created.id])
  return created.id
}

const app = express()
app.use("/billing", billing.express())
app.use(express.json())

// The caller chooses the id, so a repeated request changes nothing.
app.put("/customers/:id", async (request, response) => {
  const { name, email } = request.body as { name: string; email: string }
  const add = "insert into customers (id, name, email) values ($1, $2, $3) on conflict do nothing"
  await pool.query(add, [request.params.id, name, email])
  response.sendStatus(204)
})

app.put("/orders/:id", async (request, response) => {
  const { id } = request.params
  const { customerId, items, cents } = request.body as { customerId: string; items: number; cents: number }
  await inTransaction(async (client) => {
    const add =
      "insert into orders (id, customer_id, items, cents) values ($1, $2, $3, $4) on conflict do nothing"
    await client.query(add, [id, customerId, items, cents])
    const usage = { customerId: await billingIdOf(client, customerId), quantity: items, idempotencyKey: id }
    await billing.transaction(client, (tx) => tx.usage.record({ ...usage, productId: "shop", unit: "item" }))
  })
  response.sendStatus(204)
})

app.post("/orders/:id/payment", async (request, response) => {
  const { id } = request.params
  const isPaid = await inTransaction(async (client) => {
    const pay = "update orders set paid_at = now() where id = $1 and paid_at is null returning *"
    const [order] = (await client.query<{ customer_id: string; cents: number }>(pay, [id])).rows
    // The order is unknown or already paid.
    if (order === undefined) return false
    const customerId = await billingIdOf(client, order.customer_id)
    const data = { invoice_id: id, customer_id: customerId, amount: order.cents, currency: "EUR" }
    await billing.transaction(client, (tx) => tx.events.publish({ type: "invoice.paid", data, customerId }))
    return true
  })
  response.sendStatus(isPaid ? 204 : 409)
})

const onError: ErrorRequestHandler = (error, _request, response, _next) => {
  console.error(error)
  response.status(500).json({ error: "internal_error" })
}
app.use(onError)

const server = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
const close = async (): Promise<void> => {
  await new Promise((closed) => server.close(closed))
  await billing.close()
  await pool.end()
}
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, close)
