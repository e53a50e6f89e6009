/**
 * For any other language. It uses only SQL statements, and nothing of Billwright except its functions in the database.
 */
import { Pool } from "pg"
import { TENANT, UNIT } from "./Billing.ts"
import type { OpenShop } from "./Shop.ts"

const INSERT_ORDER = "insert into orders (id, customer_id, product, credits) values ($1, $2, $3, $4)"

const RECORD_USAGE = `select billwright.record_usage(
  account_id => $1, mode => $2, customer_id => $3, product_id => $4,
  quantity => $5, unit => $6, idempotency_key => $7)`

export const openWithSql: OpenShop = (url) => {
  const pool = new Pool({ connectionString: url })
  return {
    placeOrder: async ({ id, customerId, product, credits }, check) => {
      const client = await pool.connect()
      try {
        await client.query("begin")
        await client.query(INSERT_ORDER, [id, customerId, product, credits])
        const { accountId, mode } = TENANT
        await client.query(RECORD_USAGE, [accountId, mode, customerId, product, credits, UNIT, `order-${id}`])
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
