/** The Promise API with a real PgBouncer in transaction pooling mode. */
import { type Billing, createBilling } from "billwright"
import { postgres, type Store } from "billwright/postgres"
import { Pool } from "pg"
import { assert, describe, inject, it } from "vitest"
import { makeDatabase } from "../integration/Database.ts"
import { rejection } from "../Rejection.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** The URL of a database behind PgBouncer. */
    readonly pooledUrl: string
  }
}

interface Pooled {
  readonly billing: Billing
  /** The host's own pool, which also connects to PgBouncer. */
  readonly pool: Pool
}

/** Runs a test on a new database. */
const withBilling = async (
  makeStore: (url: string, pool: Pool) => Store,
  test: (pooled: Pooled) => Promise<void>,
) => {
  const database = await makeDatabase()
  const url = new URL(inject("pooledUrl"))
  url.pathname = new URL(database.url).pathname
  const pool = new Pool({ connectionString: url.href })
  const billing = await createBilling({ store: makeStore(url.href, pool), log: false })
  try {
    await pool.query("create table orders (id text primary key)")
    await test({ billing, pool })
  } finally {
    await billing.close()
    await pool.end()
    await database.drop("with (force)") // PgBouncer keeps its connections
  }
}

const stores: Readonly<Record<string, (url: string, pool: Pool) => Store>> = {
  "a pg.Pool": (_, pool) => postgres({ pool }),
  "connections of its own": (url) => postgres({ url, isPooled: true }),
}

describe.each(Object.entries(stores))("billing behind PgBouncer, on %s", (_, store) => {
  it("commits and rolls back its own transactions and those of the host", () =>
    withBilling(store, async ({ billing, pool }) => {
      const { id: customerId } = await billing.customers.create({ name: "Ada", email: "ada@example.com" })
      const use = { customerId, productId: "order", quantity: 1, unit: "item" }
      const mine = new Error("mine")
      const own = (fails: boolean) =>
        billing.transaction(async (tx) => {
          await tx.usage.record(use)
          if (fails) throw mine
        })
      const hosts = async (order: string, end: "commit" | "rollback") => {
        const client = await pool.connect()
        await client.query("begin")
        await client.query("insert into orders values ($1)", [order])
        await billing.transaction(client, (tx) => tx.usage.record(use))
        await client.query(end)
        client.release()
      }
      const all = Array.from({ length: 20 }, (__, n) => [
        own(false),
        rejection(own(true)),
        hosts(`kept ${n}`, "commit"),
        hosts(`dropped ${n}`, "rollback"),
        billing.usage.record(use),
      ]).flat()
      await Promise.all(all)
      assert.strictEqual((await billing.usage.summary({ customerId })).totalQuantity, 60n)
      const { rows } = await pool.query("select count(*)::int as orders from orders")
      assert.deepStrictEqual(rows, [{ orders: 20 }])
      assert.deepStrictEqual(await billing.usage.audit(), [])
    }))
})
