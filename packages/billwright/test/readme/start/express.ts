import { createBilling } from "billwright"
import { postgres } from "billwright/postgres"
import express from "express"
import { Pool } from "pg"

export const pool = new Pool({ connectionString: process.env["DATABASE_URL"] })
export const billing = await createBilling({ store: postgres({ pool }) })

export const app = express()
app.use("/billing", billing.express()) // the REST API: /billing/v1/customers, /billing/docs, …
app.use(express.json())

app.post("/orders", async (request, response) => {
  const { customerId, order } = request.body
  const client = await pool.connect()
  try {
    await client.query("begin")
    await client.query("insert into orders (id) values ($1)", [order])
    // Commits and rolls back with your rows.
    await billing.transaction(client, (tx) =>
      tx.usage.record({ customerId, productId: "orders", quantity: 1, unit: "order", idempotencyKey: order }),
    )
    await client.query("commit")
    response.sendStatus(201)
  } catch (error) {
    await client.query("rollback")
    throw error
  } finally {
    client.release()
  }
})
