import { Host, HostBridge } from "@billwright/postgres"
import { CompiledQuery, Kysely, PostgresDialect } from "kysely"
import { Pool } from "pg"
import { usageOf } from "./Billing.ts"
import type { OpenShop } from "./Shop.ts"

interface Tables {
  readonly orders: {
    readonly id: string
    readonly customer_id: string
    readonly product: string
    readonly credits: number
  }
}

export const openWithKysely: OpenShop = (url, billing) => {
  const database = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new Pool({ connectionString: url }) }),
  })
  return {
    placeOrder: (order, check) =>
      database.transaction().execute(async (trx) => {
        const { customerId: customer_id, id, product, credits } = order
        await trx.insertInto("orders").values({ id, customer_id, product, credits }).execute()
        await billing.run(usageOf(order).pipe(Host.joining(HostBridge.fromKysely(trx, CompiledQuery))))
        await check()
      }),
    close: () => database.destroy(),
  }
}
