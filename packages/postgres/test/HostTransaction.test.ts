import { Billing, Customers, Thresholds, Transactor, Usage, type Customer } from "@billwright/core"
import { Host, HostBridge, type HostClient, PostgresClient, Storage } from "@billwright/postgres"
import { PrismaPg } from "@prisma/adapter-pg"
import { sql as drizzleSql } from "drizzle-orm"
import { drizzle } from "drizzle-orm/node-postgres"
import { drizzle as drizzleOnPostgresJs } from "drizzle-orm/postgres-js"
import { Deferred, Effect, Exit, Fiber, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { CompiledQuery, Kysely, PostgresDialect } from "kysely"
import { Client, Pool } from "pg"
import postgres from "postgres"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { PrismaClient } from "./prisma/generated/client.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

/**
 * A host with another database library: begins a transaction, writes an order, runs our effect, and commits if it
 * succeeds.
 */
interface HostLibrary {
  readonly placeOrder: (note: string, work: (client: HostClient) => Promise<void>) => Promise<void>
  readonly end: () => Promise<void>
}

const INSERT = "insert into orders (note) values ($1)"

const libraries: Readonly<Record<string, (url: string) => HostLibrary>> = {
  pg: (url) => {
    const pool = new Pool({ connectionString: url })
    return {
      placeOrder: async (note, work) => {
        const client = await pool.connect()
        try {
          await client.query("begin")
          await client.query(INSERT, [note])
          await work(client)
          await client.query("commit")
        } catch (error) {
          await client.query("rollback")
          throw error
        } finally {
          client.release()
        }
      },
      end: () => pool.end(),
    }
  },
  "postgres.js": (url) => {
    const sql = postgres(url, { max: 2 })
    return {
      placeOrder: async (note, work) => {
        await sql.begin(async (transaction) => {
          await transaction`insert into orders (note) values (${note})`
          await work(HostBridge.fromPostgresJs(transaction))
        })
      },
      end: () => sql.end(),
    }
  },
  "Drizzle on pg": (url) => {
    const pool = new Pool({ connectionString: url })
    const database = drizzle(pool)
    return {
      placeOrder: (note, work) =>
        database.transaction(async (transaction) => {
          await transaction.execute(drizzleSql`insert into orders (note) values (${note})`)
          await work(HostBridge.fromDrizzle(transaction, drizzleSql))
        }),
      end: () => pool.end(),
    }
  },
  "Drizzle on postgres.js": (url) => {
    const client = postgres(url, { max: 2 })
    const database = drizzleOnPostgresJs(client)
    return {
      placeOrder: (note, work) =>
        database.transaction(async (transaction) => {
          await transaction.execute(drizzleSql`insert into orders (note) values (${note})`)
          await work(HostBridge.fromDrizzle(transaction, drizzleSql))
        }),
      end: () => client.end(),
    }
  },
  Kysely: (url) => {
    const database = new Kysely<{ orders: { note: string } }>({
      dialect: new PostgresDialect({ pool: new Pool({ connectionString: url }) }),
    })
    return {
      placeOrder: (note, work) =>
        database.transaction().execute(async (transaction) => {
          await transaction.insertInto("orders").values({ note }).execute()
          await work(HostBridge.fromKysely(transaction, CompiledQuery))
        }),
      end: () => database.destroy(),
    }
  },
  Prisma: (url) => {
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) })
    return {
      placeOrder: (note, work) =>
        prisma.$transaction(async (transaction) => {
          await transaction.$executeRawUnsafe(INSERT, note)
          await work(HostBridge.fromPrisma(transaction))
        }),
      end: () => prisma.$disconnect(),
    }
  },
}

const scope = Scope.makeUnsafe()
let url = ""
let admin: Client
let customer: Customer.Customer

type Services = Billing.Services | Billing.Storage
let runtime: ManagedRuntime.ManagedRuntime<Services, unknown>

beforeAll(async () => {
  url = await Effect.runPromise(Scope.provide(TestDatabase.make, scope))
  await TestDatabase.execute(url, "create table orders (id serial primary key, note text not null)")
  admin = new Client({ connectionString: url })
  await admin.connect()
  runtime = ManagedRuntime.make(
    Billing.layer.pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url), poolSize: 2 })),
    ),
  )
  const create = Effect.flatMap(Customers, (customers) => customers.create({ name: "A", email: "a@b" }))
  customer = await runtime.runPromise(asTenant(create))
})

afterAll(async () => {
  await runtime.dispose()
  await admin.end()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const orders = async (note: string) =>
  (await admin.query("select 1 from orders where note = $1", [note])).rowCount
const records = async (key: string) =>
  (await admin.query("select 1 from billwright.usage_records where idempotency_key = $1", [key])).rowCount

const record = (key: string, quantity = 3) =>
  Effect.flatMap(Usage, (usage) =>
    usage.record({
      customerId: customer.id,
      productId: "calls",
      unit: "call",
      quantity,
      idempotencyKey: key,
    }),
  )

describe.each(Object.keys(libraries))("inside a transaction of %s", (name) => {
  let host: HostLibrary
  beforeAll(() => {
    host = libraries[name]!(url)
  })
  afterAll(() => host.end())

  it("commits with the host's own row", async () => {
    const key = `${name} commits`
    await host.placeOrder(key, async (client) => {
      const recorded = await runtime.runPromise(asTenant(record(key)).pipe(Host.joining(client)))
      assert.strictEqual(recorded._tag, "Recorded")
      assert.strictEqual(await records(key), 0, "it is invisible to others before the host commits")
      const again = await runtime.runPromise(asTenant(record(key)).pipe(Host.joining(client)))
      assert.deepStrictEqual(again, { _tag: "Duplicate", record: recorded.record })
    })
    assert.strictEqual(await orders(key), 1)
    assert.strictEqual(await records(key), 1)
  })

  it("leaves nothing of ours when the host rolls back", async () => {
    const key = `${name} rolls back`
    const attempt = host.placeOrder(key, async (client) => {
      await runtime.runPromise(asTenant(record(key)).pipe(Host.joining(client)))
      throw new Error("the host changes its mind")
    })
    await attempt.then(
      () => assert.fail("it should have failed"),
      () => undefined,
    )
    assert.strictEqual(await orders(key), 0)
    assert.strictEqual(await records(key), 0)
    const usage = await admin.query(
      `select (select coalesce(sum(quantity), 0) from billwright.usage_records)
        = (select coalesce(sum(quantity), 0) from billwright.usage_daily) as is_equal`,
    )
    assert.isTrue(usage.rows[0].is_equal)
  })

  it("undoes only our part when ours fails, and the host continues", async () => {
    const key = `${name} goes on`
    await host.placeOrder(key, async (client) => {
      await runtime.runPromise(asTenant(record(key)).pipe(Host.joining(client)))
      const nested = Effect.gen(function* () {
        const transactor = yield* Transactor
        yield* record(`${key}, inner`)
        yield* Effect.exit(
          transactor.atomically(Effect.andThen(record(`${key}, innermost`), Effect.fail("no"))),
        )
        yield* record(key, 99) // the same key with other content
      })
      const exit = await runtime.runPromiseExit(
        asTenant(Effect.flatMap(Transactor, (transactor) => transactor.atomically(nested))).pipe(
          Host.joining(client),
        ),
      )
      assert.isTrue(Exit.isFailure(exit))
      await runtime.runPromise(asTenant(record(`${key}, after`)).pipe(Host.joining(client)))
    })
    assert.strictEqual(await orders(key), 1)
    assert.strictEqual(await records(key), 1)
    assert.strictEqual(await records(`${key}, inner`), 0)
    assert.strictEqual(await records(`${key}, innermost`), 0)
    assert.strictEqual(await records(`${key}, after`), 1)
  })

  it("runs several calls at once, one after another", async () => {
    const key = `${name} at once`
    await host.placeOrder(key, async (client) => {
      const all = Effect.forEach([1, 2, 3, 4], (n) => record(`${key} ${n}`), { concurrency: "unbounded" })
      await runtime.runPromise(asTenant(all).pipe(Host.joining(client)))
    })
    for (const n of [1, 2, 3, 4]) assert.strictEqual(await records(`${key} ${n}`), 1)
  })

  it("reads and writes everything else, too", async () => {
    await host.placeOrder(`${name} reads`, async (client) => {
      const work = Effect.gen(function* () {
        const customers = yield* Customers
        const thresholds = yield* Thresholds
        const usage = yield* Usage
        const created = yield* customers.create({ name: 'N "1"', email: "n@b", metadata: { a: "\\ü€𝄞" } })
        assert.deepStrictEqual(yield* customers.get(created.id), created)
        const updated = yield* customers.update(created.id, { metadata: { b: "2" } })
        assert.deepStrictEqual(updated.metadata, { a: "\\ü€𝄞", b: "2" })
        const meter = { customerId: created.id, productId: "p", unit: "u" }
        const threshold = yield* thresholds.create({ ...meter, quantity: 5n, period: "day" })
        const timestamp = created.createdAt
        const { record } = yield* usage.record({ ...meter, quantity: 7, timestamp })
        assert.deepStrictEqual(yield* usage.getRecord(record.id), record)
        const fired = yield* thresholds.get(threshold.id)
        assert.deepStrictEqual(fired.lastFiredAt, record.createdAt)
        assert.strictEqual((yield* usage.summary({ customerId: created.id })).totalQuantity, 7n)
        const berlin = { customerId: created.id, startDate: "0001-01-02", timezone: "Europe/Berlin" }
        assert.strictEqual((yield* usage.summary(berlin)).totalQuantity, 7n)
        yield* customers.erase(created.id)
      })
      await runtime.runPromise(asTenant(work).pipe(Host.joining(client)))
    })
  })
})

describe("on the host's pool", () => {
  it("needs no connection of its own, and returns every client to the pool", async () => {
    const pool = new Pool({ connectionString: url, max: 2 })
    const onPool = ManagedRuntime.make(
      Billing.layer.pipe(Layer.provideMerge(Storage.layerStorage()), Layer.provide(Host.fromPool(pool))),
    )
    const many = Effect.forEach(
      Array.from({ length: 20 }, (_, n) => n),
      (n) =>
        Effect.flatMap(Transactor, (transactor) =>
          transactor.atomically(
            Effect.andThen(record(`pool ${n}`), n % 2 === 0 ? Effect.void : Effect.fail("odd")),
          ),
        ).pipe(Effect.exit),
      { concurrency: "unbounded" },
    )
    await onPool.runPromise(asTenant(many))
    for (let n = 0; n < 20; n++) assert.strictEqual(await records(`pool ${n}`), n % 2 === 0 ? 1 : 0)
    await onPool.dispose()
    assert.strictEqual(pool.waitingCount, 0)
    assert.strictEqual(pool.idleCount, pool.totalCount)
    await pool.end()
  })

  it.each(["a statement", "a savepoint"] as const)(
    "refuses %s of a fiber whose transaction has ended, also while another one has the connection",
    async (what) => {
      const pool = new Pool({ connectionString: url, max: 1 })
      const onPool = ManagedRuntime.make(
        Billing.layer.pipe(Layer.provideMerge(Storage.layerStorage()), Layer.provide(Host.fromPool(pool))),
      )
      const [lateKey, otherKey] = [`late ${what}`, `other ${what}`]
      const program = Effect.gen(function* () {
        const transactor = yield* Transactor
        const mayGoOn = yield* Deferred.make<void>()
        const late =
          what === "a savepoint" ? transactor.atomically(Effect.void) : Effect.asVoid(record(lateKey))
        const behind = yield* transactor.atomically(
          Effect.forkDetach(Effect.andThen(Deferred.await(mayGoOn), late)),
        )
        return yield* transactor.atomically(
          Effect.gen(function* () {
            yield* record(otherKey)
            yield* Deferred.succeed(mayGoOn, undefined)
            return yield* Effect.flip(Fiber.join(behind))
          }),
        )
      })
      const error = await onPool.runPromise(asTenant(program))
      assert.deepInclude(error, { _tag: "StorageError", retryable: false })
      assert.strictEqual(await records(otherKey), 1)
      assert.strictEqual(await records(lateKey), 0)
      await onPool.dispose()
      await pool.end()
    },
  )
})
