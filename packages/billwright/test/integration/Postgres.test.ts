/** The Promise API on a real Postgres, in its own transactions and in transactions of the host. */
import {
  type Billing,
  ConfigurationError,
  createBilling,
  CustomerNotFoundError,
  generateEncryptionKey,
  type LogEntry,
  StorageUnavailableError,
} from "billwright"
import { fromDrizzle, fromKysely, postgres } from "billwright/postgres"
import { sql } from "drizzle-orm"
import { drizzle } from "drizzle-orm/node-postgres"
import { CompiledQuery, Kysely, PostgresDialect } from "kysely"
import { Client, Pool, type PoolClient } from "pg"
import postgresJs from "postgres"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { rejection } from "../Rejection.ts"
import { makeDatabase } from "./Database.ts"

const ada = { name: "Ada Lovelace", email: "ada@example.com" }

let database: Awaited<ReturnType<typeof makeDatabase>>
let pool: Pool
let billing: Billing
let customerId: string

beforeAll(async () => {
  database = await makeDatabase()
  pool = new Pool({ connectionString: database.url })
  billing = await createBilling({ store: postgres({ pool }), log: false })
  await pool.query("create table orders (id text primary key)")
  customerId = (await billing.customers.create(ada)).id
})
afterAll(async () => {
  await billing.close()
  await pool.end()
  await database.drop()
})

const total = async () => (await billing.usage.summary({ customerId })).totalQuantity
const use = { productId: "order", quantity: 1, unit: "item" }

describe("billing.transaction(fn)", () => {
  it("commits, and rolls back", async () => {
    const before = await total()
    await billing.transaction(async (tx) => {
      await Promise.all([1, 2].map(() => tx.usage.record({ ...use, customerId })))
      await tx.usage.recordBatch([{ ...use, customerId }])
      assert.strictEqual((await tx.usage.summary({ customerId })).totalQuantity, before + 3n)
      assert.strictEqual(await total(), before)
    })
    assert.strictEqual(await total(), before + 3n)
    const mine = new Error("mine")
    const failed = billing.transaction(async (tx) => {
      await tx.usage.record({ ...use, customerId })
      throw mine
    })
    assert.strictEqual(await rejection(failed), mine)
    assert.strictEqual(await total(), before + 3n)
  })

  it("works while other calls of the same billing use other connections", async () => {
    const before = await total()
    await billing.transaction(async (tx) => {
      await tx.usage.record({ ...use, customerId })
      assert.strictEqual(await total(), before)
    })
  })

  it("keeps the writes of successful concurrent calls when others fail", async () => {
    const before = await total()
    const unknown = `${customerId.slice(0, -1)}${customerId.endsWith("0") ? "1" : "0"}`
    await billing.transaction(async (tx) => {
      const batches = [1, 2, 3, 4, 5, 6].map((number) =>
        tx.usage.recordBatch([
          { ...use, customerId },
          { ...use, customerId: number % 2 === 0 ? unknown : customerId },
        ]),
      )
      const outcomes = await Promise.allSettled(batches)
      assert.deepStrictEqual(
        outcomes.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled", "rejected", "fulfilled", "rejected"],
      )
    })
    assert.strictEqual(await total(), before + 6n)
  })

  it("is repeated after a deadlock", async () => {
    const left = await billing.customers.create(ada)
    const right = await billing.customers.create(ada)
    let runs = 0
    const change = (ids: ReadonlyArray<string>, met: PromiseWithResolvers<void>, other: Promise<void>) =>
      billing.transaction(async (tx) => {
        runs++
        await tx.customers.update(ids[0]!, { name: "changed" })
        met.resolve()
        await other
        await tx.customers.update(ids[1]!, { name: "changed" })
      })
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await Promise.all([
      change([left.id, right.id], first, second.promise),
      change([right.id, left.id], second, first.promise),
    ])
    assert.isAtLeast(runs, 3)
  })

  it("continues after a failed call whose error was caught", async () => {
    const before = await total()
    await billing.transaction(async (tx) => {
      const unknown = `${customerId.slice(0, -1)}${customerId.endsWith("0") ? "1" : "0"}`
      const batch = [
        { ...use, customerId },
        { ...use, customerId: unknown },
      ]
      assert.instanceOf(await rejection(tx.usage.recordBatch(batch)), CustomerNotFoundError)
      await tx.usage.record({ ...use, customerId })
    })
    assert.strictEqual(await total(), before + 1n)
  })
})

/** Runs work in a transaction of the host that inserts an order. Rolls back when the work fails. */
interface Library {
  readonly begin: (order: string, work: (client: object) => Promise<unknown>) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

const libraries: Readonly<Record<string, () => Library>> = {
  pg: () => ({
    begin: async (order, work) => {
      const client = await pool.connect()
      try {
        await client.query("begin")
        await client.query("insert into orders values ($1)", [order])
        await work(client)
        await client.query("commit")
      } catch (error) {
        await client.query("rollback")
        throw error
      } finally {
        client.release()
      }
    },
    close: async () => {},
  }),
  "postgres.js": () => {
    const db = postgresJs(database.url, { onnotice: () => {} })
    return {
      begin: (order, work) =>
        db.begin(async (tx) => {
          await tx`insert into orders values (${order})`
          await work(tx)
        }),
      close: () => db.end(),
    }
  },
  Drizzle: () => {
    const db = drizzle(pool)
    return {
      begin: (order, work) =>
        db.transaction(async (tx) => {
          await tx.execute(sql`insert into orders values (${order})`)
          await work(fromDrizzle(tx, sql))
        }),
      close: async () => {},
    }
  },
  Kysely: () => {
    const db = new Kysely<{ orders: { id: string } }>({ dialect: new PostgresDialect({ pool }) })
    return {
      begin: (order, work) =>
        db.transaction().execute(async (trx) => {
          await trx.insertInto("orders").values({ id: order }).execute()
          await work(fromKysely(trx, CompiledQuery))
        }),
      close: async () => {},
    }
  },
}

/** Runs a statement of the host on what it passes to `billing.transaction`. */
const send = (client: object, text: string): Promise<unknown> => {
  const { query, unsafe } = client as Partial<
    Record<string, (text: string, values: Array<unknown>) => Promise<unknown>>
  >
  return (unsafe ?? query)!.call(client, text, [])
}

for (const [name, make] of Object.entries(libraries)) {
  describe(`a transaction of the host on ${name}`, () => {
    let library: Library
    beforeAll(() => {
      library = make()
    })
    afterAll(() => library.close())
    const ordersOf = async (order: string) =>
      (await pool.query("select from orders where id = $1", [order])).rowCount

    it("commits the writes of billing with the rows of the host", async () => {
      const before = await total()
      await library.begin(`${name} 1`, (client) =>
        billing.transaction(client, async (tx) => {
          await tx.usage.record({ ...use, customerId })
          await tx.events.publish({
            type: "invoice.paid",
            data: { invoice_id: name, customer_id: "ours", amount: 1, currency: "EUR" },
            idempotencyKey: name,
          })
        }),
      )
      assert.strictEqual(await total(), before + 1n)
      assert.strictEqual(await ordersOf(`${name} 1`), 1)
      const [event] = (await billing.events.list({ type: "invoice.paid" }).page()).data
      assert.strictEqual(event?.idempotencyKey, name)
    })

    it("rolls the writes of billing back with the rows of the host", async () => {
      const before = await total()
      const failed = library.begin(`${name} 2`, async (client) => {
        await billing.transaction(client, (tx) => tx.usage.record({ ...use, customerId }))
        throw new Error("no")
      })
      assert.strictEqual((await rejection(failed)).message, "no")
      assert.strictEqual(await total(), before)
      assert.strictEqual(await ordersOf(`${name} 2`), 0)
    })

    it("stays usable after a call that failed", async () => {
      await library.begin(`${name} 3`, async (client) => {
        const missing = billing.transaction(client, (tx) => tx.customers.get("cus_none"))
        assert.instanceOf(await rejection(missing), CustomerNotFoundError)
        const conflicting = billing.transaction(client, (tx) =>
          tx.usage.recordBatch([{ ...use, customerId: `${customerId.slice(0, -3)}zzz` }]),
        )
        assert.instanceOf(await rejection(conflicting), CustomerNotFoundError)
      })
      assert.strictEqual(await ordersOf(`${name} 3`), 1)
    })

    it("has to be rolled back after a statement that failed, and the error says so", async () => {
      const locking = await pool.connect()
      try {
        await locking.query("begin")
        await locking.query("lock table billwright.usage_records in access exclusive mode")
        const work = async (client: object) => {
          await send(client, "set local lock_timeout = '100ms'")
          await billing.transaction(client, (tx) => tx.usage.record({ ...use, customerId }))
        }
        const error = await rejection(library.begin(`${name} 4`, work))
        assert.instanceOf(error, StorageUnavailableError)
        assert.isTrue(error.isRetryable)
        assert.strictEqual(error.operation, "UsageStore.append")
        assert.match(
          error.message,
          /^storage is unavailable \(UsageStore\.append\): roll back your transaction$/,
        )
        assert.strictEqual(await ordersOf(`${name} 4`), 0)
      } finally {
        await locking.query("rollback")
        locking.release()
      }
    })
  })
}

describe("a transaction of the host that can't be joined", () => {
  const create = (client: Client) => billing.transaction(client, (tx) => tx.customers.create(ada))
  const begin = async (url: string) => {
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query("begin")
    return client
  }

  it("is explained when it has already failed", async () => {
    const client = await begin(database.url)
    await client.query("select 1 / 0").catch(() => {})
    const error = await rejection(create(client))
    assert.instanceOf(error, StorageUnavailableError)
    assert.isFalse(error.isRetryable)
    assert.match(error.message, /an earlier statement in this transaction failed, .*: roll it back$/)
    await client.query("rollback")
    await client.query("begin")
    await create(client)
    await client.end()
  })

  it("is explained when it is on another database", async () => {
    const client = await begin(inject("serverUrl"))
    const error = await rejection(create(client))
    assert.instanceOf(error, ConfigurationError)
    assert.match(error.message, /has no Billwright tables in the schema "billwright": pass a client of the/)
    await client.end()
  })

  it("is explained when its user may not use the schema", async () => {
    const client = await begin(database.url)
    await client.query("set local role pg_monitor")
    const error = await rejection(create(client))
    assert.instanceOf(error, ConfigurationError)
    assert.match(
      error.message,
      /the user of this client lacks privileges on the schema "billwright": grant them/,
    )
    await client.end()
  })

  it("is explained when its client has ended", async () => {
    const client = await begin(database.url)
    await client.end()
    const error = await rejection(create(client))
    assert.instanceOf(error, ConfigurationError)
    assert.match(error.message, /this client has been ended: pass a connected one$/)
  })
})

describe("a value that is not a client with a transaction", () => {
  const joined = (client: object) => billing.transaction(client, async () => {})

  it("is refused with an explanation", async () => {
    assert.match((await rejection(joined(pool))).message, /a pool has no transaction/)
    assert.match((await rejection(joined({}))).message, /fromDrizzle\(tx, sql\)/)
    assert.match(
      (await rejection(joined({ executeQuery: () => {} }))).message,
      /fromKysely\(trx, CompiledQuery\)/,
    )
    const idle = await pool.connect()
    assert.match((await rejection(joined(idle))).message, /is not in a transaction: send BEGIN on it first/)
    idle.release()
    assert.match((await rejection(joined("x" as never))).message, /pass the client that you sent BEGIN on/)
  })
})

describe("at start", () => {
  it("wrong options are explained", () => {
    const wrong: ReadonlyArray<readonly [unknown, RegExp]> = [
      [undefined, /takes either a pool or a url/],
      [{ pool, url: database.url }, /takes either a pool or a url/],
      [
        { url: undefined },
        /the url of .* is undefined: the environment variable that it is read from may be/,
      ],
      [{ pool: null }, /is not a pool/],
      [{ pool: {} }, /has no connect\(\)/],
      [{ pool: new Client() }, /is a single client/],
      [{ pool: Object.assign(() => {}, { unsafe: () => {} }) }, /postgres\.js: pass \{ url \}/],
      [{ url: "mysql://localhost" }, /begins with postgres:\/\//],
      [{ pool, schema: "No-Schema" }, /schema must be a lower-case letter/],
      [{ pool, shcema: "x" }, /has no option "shcema"/],
      [{ pool, schema: 5 }, /postgres\.schema must be text/],
      [{ pool, deadlineMillis: "5s" }, /postgres\.deadlineMillis must be an integer of at least 1/],
      [{ pool, migrate: "no" }, /postgres\.migrate must be true or false/],
      [{ url: database.url, poolSize: 0 }, /postgres\.poolSize must be an integer of at least 1/],
      [{ url: database.url, ssl: "require" }, /postgres\.ssl must be true, false or options of node:tls/],
    ]
    for (const [options, sentence] of wrong) {
      assert.throws(() => postgres(options as never), ConfigurationError, sentence)
    }
  })

  it("a schema that is not migrated is reported, with how to migrate it", async () => {
    const store = postgres({ pool, schema: "nothing_here", migrate: false })
    const error = await rejection(createBilling({ store }))
    assert.instanceOf(error, ConfigurationError)
    assert.match(
      error.message,
      /the schema "nothing_here" has no tables of Billwright yet\. Run `npx @billwright\/cli migrate --store postgres --schema nothing_here`/,
    )
  })

  it("an unreachable database is reported", async () => {
    const store = postgres({ url: "postgres://127.0.0.1:9/none", deadlineMillis: 2_000 })
    const error = await rejection(createBilling({ store }))
    assert.instanceOf(error, StorageUnavailableError)
    assert.match(error.message, /^billing can't start: the database can't be reached/)
  })
})

describe("encryption keys", () => {
  it("can be replaced step by step", async () => {
    const schema = "rotated"
    const [older, newer] = [generateEncryptionKey("older"), generateEncryptionKey("newer")]
    const start = (keys: ReadonlyArray<string>) =>
      createBilling({
        store: postgres({ pool, schema }),
        encryptionKeys: keys,
        dispatcher: "manual",
        log: false,
      })
    const first = await start([older])
    await first.endpoints.create({ url: "https://example.com/hooks", eventTypes: ["*"] })
    await first.close()
    const both = await start([newer, older])
    assert.strictEqual(await both.rotateEncryption(), 1)
    assert.strictEqual(await both.rotateEncryption(), 0)
    await both.close()
  })
})

describe("a pool without a listener for errors", () => {
  it("does not end the process when it loses idle connections, and logs that", async () => {
    const lonely = new Pool({ connectionString: database.url, application_name: "lonely" })
    const told = Promise.withResolvers<LogEntry>()
    const log = (entry: LogEntry) => /idle connection/.test(entry.message) && told.resolve(entry)
    const mine = await createBilling({ store: postgres({ pool: lonely }), dispatcher: false, log })
    await mine.customers.create(ada)
    await pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lonely'",
    )
    assert.deepInclude(await told.promise, {
      level: "warn",
      message: "the pool lost an idle connection",
      details: ["terminating connection due to administrator command"],
    })
    await mine.customers.create(ada)
    await mine.close()
    assert.strictEqual(lonely.listenerCount("error"), 0)
    await lonely.end()
  })

  it("does not end the process when a connection is lost between two statements", async () => {
    const lonely = new Pool({ connectionString: database.url, application_name: "lent" })
    const mine = await createBilling({ store: postgres({ pool: lonely }), dispatcher: false, log: false })
    const lent: Array<PoolClient> = []
    lonely.on("acquire", (client) => void lent.push(client))
    let tries = 0
    const email = "twice@example.com"
    await mine.transaction(async (tx) => {
      await tx.customers.create({ ...ada, email })
      if (tries++ > 0) return
      const lost = new Promise((resolve) => lent.at(-1)!.once("end", resolve))
      await pool.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lent'",
      )
      await lost
      await tx.customers.list().page()
    })
    assert.strictEqual(tries, 2)
    assert.strictEqual((await mine.customers.list({ email }).page()).data.length, 1)
    await mine.close()
    await lonely.end()
  })

  it("gets no listener when the host has one", async () => {
    const heard = new Pool({ connectionString: database.url }).on("error", () => {})
    const mine = await createBilling({ store: postgres({ pool: heard }), dispatcher: false })
    assert.strictEqual(heard.listenerCount("error"), 1)
    await mine.close()
    assert.strictEqual(heard.listenerCount("error"), 1)
    await heard.end()
  })
})

describe("closing", () => {
  it("leaves the host's pool open", async () => {
    const closing = await createBilling({ store: postgres({ pool }) })
    await closing.close()
    assert.strictEqual((await pool.query("select 1 as one")).rows[0].one, 1)
  })
})
