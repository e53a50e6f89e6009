/** A development database in one line. */
import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConfigurationError, createBilling } from "billwright"
import { embedded } from "billwright/postgres"
import { Pool } from "pg"
import { afterAll, assert, describe, it } from "vitest"
import { rejection } from "../Rejection.ts"

const folder = mkdtempSync(join(tmpdir(), "billwright-embedded-store-"))
// When tests run as root, Postgres runs as another user, who must be able to enter the directory.
chmodSync(folder, 0o711)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const directory = join(folder, "data")
const start = (store = embedded({ directory })) => createBilling({ store, log: false })

describe("embedded()", () => {
  it("starts and ends with billing, and keeps its data", async () => {
    const first = await start()
    const { id } = await first.customers.create({ name: "Ada", email: "ada@example.com" })
    const second = await rejection(start())
    assert.instanceOf(second, ConfigurationError)
    assert.include(second.message, `${directory} is in use by the process ${process.pid}`)
    await first.close()
    assert.throws(() => statSync(join(directory, "postgres", "postmaster.pid")), /ENOENT/)

    const again = await start()
    assert.strictEqual((await again.customers.get(id)).name, "Ada")
    await again.close()
  }, 120_000)

  it("can have tables of the app, and transactions on them", async () => {
    const store = embedded({ directory })
    const message = /^the embedded Postgres is not running/
    assert.throws(() => store.url(), ConfigurationError, message)
    const billing = await start(store)
    const pool = new Pool({ connectionString: store.url() })
    await pool.query("create table orders (id text)")
    const { id } = await billing.customers.create({ name: "Bob", email: "bob@example.com" })
    const client = await pool.connect()
    for (const end of ["rollback", "commit"]) {
      await client.query("begin")
      await client.query("insert into orders values ($1)", [end])
      await billing.transaction(client, (tx) =>
        tx.usage.record({ customerId: id, productId: "api", quantity: 5, unit: "call" }),
      )
      await client.query(end)
    }
    client.release()
    assert.strictEqual((await billing.usage.summary({ customerId: id })).totalQuantity, 5n)
    assert.deepStrictEqual((await pool.query("select id from orders")).rows, [{ id: "commit" }])
    await pool.end()
    await billing.close()
    assert.throws(() => store.url(), ConfigurationError, message)
  }, 120_000)

  it("refuses unknown options", () => {
    assert.throws(() => embedded({ port: 0 }), ConfigurationError, "embedded.port must be an integer from 1")
    assert.throws(() => embedded({ dir: "x" } as never), ConfigurationError, 'embedded has no option "dir"')
  })
})
