import { Host } from "@billwright/postgres"
import { Pool } from "pg"
import { usageOf } from "./Billing.ts"
import type { OpenShop } from "./Shop.ts"

export const openWithPg: OpenShop = (url, billing) => {
  const pool = new Pool({ connectionString: url })
  return {
    placeOrder: async (order, check) => {
      const client = await pool.connect()
      try {
        await client.query("begin")
        await client.query("insert into orders (id, customer_id, product, credits) values ($1, $2, $3, $4)", [
          order.id,
          order.customerId,
          order.product,
          order.credits,
        ])
        await billing.run(usageOf(order).pipe(Host.joining(client)))
        await check()
        await client.query("commit")
      } catch (error) {
        // Fails when the connection is lost. Then Postgres has already rolled back.
        await client.query("rollback").catch(() => undefined)
        throw error
      } finally {
        client.release()
      }
    },
    close: () => pool.end(),
  }
}
