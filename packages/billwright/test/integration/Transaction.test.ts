/** Calls on a `tx` belong to their transaction. Calls after its end or outside of it are reported and do nothing else. */
import {
  type Billing,
  createBilling,
  type LogEntry,
  type Transaction,
  TransactionEndedError,
} from "billwright"
import { postgres } from "billwright/postgres"
import { Pool } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { rejection } from "../Rejection.ts"
import { makeDatabase } from "./Database.ts"
import { type Library, librariesOn } from "./Libraries.ts"

const ada = { name: "Ada Lovelace", email: "ada@example.com" }
const meter = { productId: "late", unit: "item" }

let database: Awaited<ReturnType<typeof makeDatabase>>
let billing: Billing
let customerId: string
/** A pool with one connection, so that every transaction uses the same one. */
let pool: Pool
const logged: Array<LogEntry> = []

beforeAll(async () => {
  database = await makeDatabase()
  pool = new Pool({ connectionString: database.url, max: 1 })
  billing = await createBilling({
    store: postgres({ url: database.url }),
    mode: "test",
    dispatcher: false,
    log: (entry) => void logged.push(entry),
  })
  await pool.query("create table orders (id text primary key)")
  customerId = (await billing.customers.create(ada)).id
  await billing.plans.push({
    key: "late",
    name: "Late",
    currencies: ["EUR"],
    interval: { unit: "month", count: 1 },
    charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
  })
})
afterAll(async () => {
  await pool.end()
  await billing.close()
  await database.drop()
})

const calls: Readonly<Record<string, (tx: Transaction) => Promise<unknown>>> = {
  "usage.record": (tx) => tx.usage.record({ ...meter, customerId, quantity: 1 }),
  "usage.recordBatch": (tx) => tx.usage.recordBatch([{ ...meter, customerId, quantity: 1 }]),
  "usage.summary": (tx) => tx.usage.summary({ customerId }),
  "customers.create": (tx) => tx.customers.create({ ...ada, email: "late@example.com" }),
  "customers.update": (tx) => tx.customers.update(customerId, { name: "late" }),
  "customers.erase": (tx) => tx.customers.erase(customerId),
  "customers.get": (tx) => tx.customers.get(customerId),
  "thresholds.create": (tx) => tx.thresholds.create({ ...meter, customerId, quantity: 5, period: "day" }),
  "events.publish": (tx) =>
    tx.events.publish({
      type: "payment.succeeded",
      data: { payment_id: "late", customer_id: customerId, amount: 1, currency: "EUR" },
    }),
  "endpoints.create": (tx) => tx.endpoints.create({ url: "https://example.com/late", eventTypes: ["*"] }),
  "subscriptions.create": (tx) => tx.subscriptions.create({ customerId, plan: "late" }),
  "subscriptions.list": (tx) => tx.subscriptions.list().page(),
  "invoices.list": (tx) => tx.invoices.list().page(),
  "keys.create": (tx) => tx.keys.create({ name: "late" }),
}

const traces = async () => {
  const { rows } = await pool.query(`select
  (select count(*) from billwright.usage_records)::int as records,
  (select count(*) from billwright.customers where email = 'late@example.com' or name = 'late' or erased_at is not null)::int as customers,
  (select count(*) from billwright.usage_thresholds)::int as thresholds,
  (select count(*) from billwright.events)::int as events,
  (select count(*) from billwright.webhook_endpoints)::int as endpoints,
  (select count(*) from billwright.subscriptions)::int as subscriptions,
  (select count(*) from billwright.invoices)::int as invoices,
  (select count(*) from billwright.api_keys)::int as keys`)
  return rows[0]
}
const nothing = {
  records: 0,
  customers: 0,
  thresholds: 0,
  events: 0,
  endpoints: 0,
  subscriptions: 0,
  invoices: 0,
  keys: 0,
}

for (const [name, make] of Object.entries(librariesOn(() => ({ url: database.url, pool })))) {
  describe(`a transaction on ${name}`, () => {
    let library: Library
    beforeAll(() => {
      library = make()
    })
    afterAll(() => library.close())

    /** Begins a transaction, joins it without awaiting, and ends it. The calls start when `go` resolves. */
    const leaveBehind = async (ends: "commits" | "rolls back") => {
      const go = Promise.withResolvers<void>()
      const errors: Array<Promise<readonly [string, Error]>> = []
      const no = new Error("no")
      const ended = library.begin(async (client) => {
        for (const [call, make] of Object.entries(calls)) {
          const late = billing.transaction(client, async (tx) => {
            await go.promise
            return make(tx)
          })
          errors.push(rejection(late).then((error) => [call, error] as const))
        }
        if (ends === "rolls back") throw no
      })
      await (ends === "commits" ? ended : rejection(ended))
      return { go: go.resolve, errors: () => Promise.all(errors) }
    }

    const assertTold = (errors: ReadonlyArray<readonly [string, Error]>) => {
      assert.lengthOf(errors, Object.keys(calls).length)
      for (const [call, error] of errors) {
        assert.instanceOf(error, TransactionEndedError, `${call}: ${error.message}`)
        assert.match(error.message, /your transaction ended before this call/, call)
      }
    }

    it.each(["commits", "rolls back"] as const)(
      "that %s before calls that were not awaited: the calls reject, and do nothing outside of it",
      async (ends) => {
        const { errors, go } = await leaveBehind(ends)
        go()
        assertTold(await errors())
        assert.deepStrictEqual(await traces(), nothing)
      },
    )

    it("of another request on the same connection is not affected by earlier calls", async () => {
      const id = `${name} other`
      const { errors, go } = await leaveBehind("commits")
      await library.begin(async (client, execute) => {
        await execute(`insert into orders values ('${id}')`)
        // It has its own join, with another mark.
        await billing.transaction(client, async (tx) => {
          await tx.usage.summary({ customerId })
          go()
          assertTold(await errors())
          assert.strictEqual((await tx.customers.get(customerId)).name, ada.name)
        })
      })
      assert.deepStrictEqual(await traces(), nothing)
      assert.strictEqual((await pool.query("select from orders where id = $1", [id])).rowCount, 1)
    })

    it("can be joined several times, also at the same time", async () => {
      const rollback = new Error("rollback")
      const failed = library.begin(async (client) => {
        const record = () => billing.transaction(client, calls["usage.record"]!)
        await Promise.all([record(), record(), record()])
        for (let n = 0; n < 5; n++) await record()
        const { recordCount } = await billing.transaction(client, (tx) => tx.usage.summary({ customerId }))
        assert.strictEqual(recordCount, 8)
        await billing.transaction(client, (tx) => tx.customers.create(ada))
        throw rollback
      })
      assert.strictEqual(await rejection(failed), rollback)
      assert.deepStrictEqual(await traces(), nothing)
    })

    it("rejects when its function ends before its calls, and names the calls", async () => {
      const failed = library.begin((client) =>
        billing.transaction(client, async (tx) => {
          await tx.customers.get(customerId)
          void tx.usage.record({ ...meter, customerId, quantity: 1 })
          void tx.customers.create(ada).catch(() => undefined)
        }),
      )
      const error = await rejection(failed)
      assert.instanceOf(error, TransactionEndedError)
      assert.match(error.message, /ended before tx\.usage\.record, tx\.customers\.create had finished/)
      assert.deepStrictEqual(await traces(), nothing)
    })

    it("ends only the joins of a savepoint when the savepoint is rolled back", async () => {
      const rollback = new Error("rollback")
      const failed = library.begin(async (client, execute) => {
        await billing.transaction(client, async (outer) => {
          await execute("savepoint mine")
          const go = Promise.withResolvers<void>()
          const inner = rejection(
            billing.transaction(client, async (tx) => {
              await tx.usage.record({ ...meter, customerId, quantity: 1 })
              await execute("rollback to savepoint mine")
              go.resolve()
              return tx.usage.record({ ...meter, customerId, quantity: 1 })
            }),
          )
          await go.promise
          assert.instanceOf(await inner, TransactionEndedError)
          assert.strictEqual((await outer.usage.summary({ customerId })).recordCount, 0)
        })
        throw rollback
      })
      assert.strictEqual(await rejection(failed), rollback)
      assert.deepStrictEqual(await traces(), nothing)
    })

    it("is reported as failed after an earlier statement failed", async () => {
      const failed = library.begin(async (client, execute) => {
        await rejection(execute("select 1 / 0"))
        await billing.transaction(client, calls["usage.record"]!)
      })
      assert.match((await rejection(failed)).message, /an earlier statement in this transaction failed/)
    })
  })
}

describe("a joined call", () => {
  it("needs only one additional round trip, for the join", async () => {
    const client = await pool.connect()
    await client.query("begin")
    const statements: Array<string> = []
    const counted = {
      query: (text: string, values: Array<unknown>) => {
        statements.push(text)
        return client.query(text, values)
      },
    }
    await billing.transaction(counted, async (tx) => {
      for (let n = 0; n < 3; n++) await calls["usage.record"]!(tx)
      await calls["events.publish"]!(tx)
    })
    assert.lengthOf(statements, 1 + 3 + 1)
    // Without the mark a query does nothing: the condition is checked once, and nothing below it is executed.
    const { rows } = await client.query<{ "QUERY PLAN": string }>(
      `explain (analyze, costs off, timing off, summary off) ${statements.at(-1)!}`
        .replace(/\$(\d+)(?=::text = any)/, "'nobody'")
        .replaceAll(/\$\d+/g, "null"),
    )
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n")
    assert.match(plan, /One-Time Filter/)
    assert.match(plan, /Function Scan on publish_event_row.*\(never executed\)/)
    await client.query("rollback")
    client.release()
  })
})

describe("the function of a transaction", () => {
  const begin = async <A>(work: (client: object) => Promise<A>): Promise<A> => {
    const client = await pool.connect()
    try {
      await client.query("begin")
      return await work(client)
    } finally {
      await client.query("rollback")
      client.release()
    }
  }

  it("that ends before its calls rejects with their names, and is rolled back", async () => {
    const work = async (tx: Transaction) => {
      await tx.customers.get(customerId)
      void tx.usage.record({ ...meter, customerId, quantity: 1 })
      void tx.customers.create(ada).catch(() => undefined)
    }
    const error = await rejection(billing.transaction(work))
    assert.instanceOf(error, TransactionEndedError)
    assert.match(
      error.message,
      /ended before tx\.usage\.record, tx\.customers\.create had finished: await every call on tx$/,
    )
    assert.deepStrictEqual(await traces(), nothing)
  })

  it("that rejects keeps its own error", async () => {
    const mine = new Error("mine")
    const failed = billing.transaction(async (tx) => {
      void tx.customers.get(customerId)
      throw mine
    })
    assert.strictEqual(await rejection(failed), mine)
  })

  const failing = (tx: Transaction) => tx.customers.get("cus_unknown")

  it("fails with the stack of the call that failed", async () => {
    const ways = [
      () => billing.transaction(failing),
      () => begin((client) => billing.transaction(client, failing)),
    ]
    for (const way of ways) {
      const { stack = "" } = await rejection(way())
      assert.match(stack, /at failing .*Transaction\.test\.ts/)
    }
  })

  it("logs a warning for calls outside of its transaction, once for each call", async () => {
    logged.length = 0
    const beside = async (tx: Transaction) => {
      await tx.customers.get(customerId)
      for (let n = 0; n < 2; n++) await billing.customers.get(customerId)
      await billing.usage.summary({ customerId })
    }
    await billing.transaction(beside)
    await begin((client) => billing.transaction(client, beside))
    await billing.customers.get(customerId)
    assert.deepStrictEqual(
      logged.map(({ level, message }) => [level, message.split(":")[0]]),
      ["customers.get", "usage.summary"].map((call) => [
        "warn",
        `billing.${call} was called inside the function of billing.transaction, but is not part of the transaction`,
      ]),
    )
  })
})
