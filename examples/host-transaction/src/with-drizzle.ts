import { Host, HostBridge } from "@billwright/postgres"
import { sql } from "drizzle-orm"
import { drizzle } from "drizzle-orm/node-postgres"
import { bigint, pgTable, text, uuid } from "drizzle-orm/pg-core"
import { Pool } from "pg"
import { usageOf } from "./Billing.ts"
import type { OpenShop } from "./Shop.ts"

const orders = pgTable("orders", {
  id: uuid().primaryKey(),
  customerId: text("customer_id").notNull(),
  product: text().notNull(),
  credits: bigint({ mode: "number" }).notNull(),
})

export const openWithDrizzle: OpenShop = (url, billing) => {
  const pool = new Pool({ connectionString: url })
  const database = drizzle(pool)
  return {
    placeOrder: (order, check) =>
      database.transaction(async (tx) => {
        await tx.insert(orders).values(order)
        await billing.run(usageOf(order).pipe(Host.joining(HostBridge.fromDrizzle(tx, sql))))
        await check()
      }),
    close: () => pool.end(),
  }
}
