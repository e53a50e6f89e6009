import { Host, HostBridge } from "@billwright/postgres"
import postgres from "postgres"
import { usageOf } from "./Billing.ts"
import type { OpenShop } from "./Shop.ts"

export const openWithPostgresJs: OpenShop = (url, billing) => {
  const database = postgres(url)
  return {
    placeOrder: async (order, check) => {
      await database.begin(async (sql) => {
        await sql`insert into orders (id, customer_id, product, credits)
          values (${order.id}, ${order.customerId}, ${order.product}, ${order.credits})`
        await billing.run(usageOf(order).pipe(Host.joining(HostBridge.fromPostgresJs(sql))))
        await check()
      })
    },
    close: () => database.end(),
  }
}
