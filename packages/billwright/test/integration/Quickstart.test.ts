/** The README's Express app, on a real Postgres. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Pool } from "pg"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { makeDatabase } from "./Database.ts"

let database: Awaited<ReturnType<typeof makeDatabase>>
let pool: Pool

beforeAll(async () => {
  database = await makeDatabase()
  pool = new Pool({ connectionString: database.url })
  await pool.query("create table orders (id text primary key)")
  vi.stubEnv("DATABASE_URL", database.url)
  vi.stubEnv("NODE_ENV", "test") // Express prints errors otherwise.
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await pool.end()
  await database.drop()
})

describe("README.md", () => {
  it("adds billing to an app with Express and pg", async () => {
    const { app, billing, pool: ownPool } = await import("../readme/start/express.ts")
    const server = createServer(app).listen(0, "127.0.0.1")
    await once(server, "listening")
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { id } = await billing.customers.create({ name: "Ada Lovelace", email: "ada@example.com" })
    const order = async (name: string, customerId: string) => {
      const body = JSON.stringify({ customerId, order: name })
      const headers = { "content-type": "application/json" }
      return (await fetch(`${url}/orders`, { method: "POST", headers, body })).status
    }
    assert.strictEqual(await order("first", id), 201)
    assert.strictEqual(await order("second", "cus_none"), 500)
    assert.strictEqual((await billing.usage.summary({ customerId: id })).totalQuantity, 1n)
    assert.deepStrictEqual((await pool.query("select id from orders")).rows, [{ id: "first" }])
    assert.strictEqual((await fetch(`${url}/billing/readyz`)).status, 200)
    server.close()
    server.closeAllConnections()
    await billing.close()
    await ownPool.end()
  })
})
