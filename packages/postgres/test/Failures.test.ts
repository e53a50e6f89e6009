import {
  ApiKey,
  ApiKeyStore,
  Billing,
  Collections,
  Customer,
  Customers,
  Events,
  type StorageError,
  Transactor,
  Usage,
} from "@billwright/core"
import { PostgresClient, Storage, type StorageOptions } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Exit, Fiber, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Client } from "pg"
import * as Proxy from "./Proxy.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

type ClientOptions = Partial<PostgresClient.ClientOptions>

const services = (url: string, client: ClientOptions = {}, storage: StorageOptions = {}) =>
  Billing.layer.pipe(
    Layer.provideMerge(Storage.layerStorage(storage)),
    Layer.provideMerge(PostgresClient.layer({ url: Redacted.make(url), ...client })),
  )

/** A migrated database, with a second connection to observe and to interfere. */
const database = Effect.gen(function* () {
  const url = yield* TestDatabase.make
  yield* Effect.provide(
    Effect.void,
    Layer.provide(Storage.layer(), PostgresClient.layer({ url: Redacted.make(url) })),
  )
  const admin = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client({ connectionString: url })
      client.on("error", () => {})
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end()),
  )
  const count = (table: string) =>
    Effect.promise(async () =>
      Number((await admin.query(`select count(*) from billwright.${table}`)).rows[0].count),
    )
  return { url, admin, count }
})

const publish = Effect.flatMap(Events, (events) =>
  events.publish({
    type: "invoice.paid",
    data: { invoice_id: "in_1", customer_id: "ours", amount: 1, currency: "EUR" },
  }),
)
const createCustomer = Effect.flatMap(Customers, (customers) => customers.create({ name: "A", email: "a@b" }))

const record = (customerId: Effect.Success<typeof createCustomer>["id"], key?: string) =>
  Effect.flatMap(Usage, (usage) =>
    usage.recordBatch({
      records: [
        {
          customerId,
          productId: "p",
          unit: "u",
          quantity: 1,
          ...(key === undefined ? {} : { idempotencyKey: key }),
        },
      ],
    }),
  )

const failure = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error as StorageError)

describe("a transaction", () => {
  it.live("is repeated after a deadlock, and both transactions succeed", () =>
    Effect.gen(function* () {
      const { url } = yield* database
      yield* Effect.gen(function* () {
        const store = (yield* Collections).of(Customer.customers)
        const transactor = yield* Transactor
        const [a, b] = [yield* createCustomer, yield* createCustomer]
        const meeting = [yield* Deferred.make<void>(), yield* Deferred.make<void>()] as const
        let tries = 0
        const rename = (first: typeof a, second: typeof a, mine: 0 | 1) =>
          transactor.atomically(
            Effect.gen(function* () {
              tries++
              yield* store.modify(first.id, (customer) => Effect.succeed({ ...customer, name: `${mine}` }))
              yield* Deferred.succeed(meeting[mine], undefined)
              yield* Deferred.await(meeting[mine === 0 ? 1 : 0])
              yield* store.modify(second.id, (customer) => Effect.succeed({ ...customer, name: `${mine}` }))
            }),
          )
        yield* Effect.all([rename(a, b, 0), rename(b, a, 1)], { concurrency: "unbounded" })
        assert.isAbove(tries, 2)
        const customers = yield* Customers
        assert.strictEqual((yield* customers.get(a.id)).name, (yield* customers.get(b.id)).name)
      }).pipe(asTenant, Effect.provide(services(url)))
    }).pipe(Effect.scoped),
  )

  it.live("is tried three times when a lock takes too long, then is unavailable and changes nothing", () =>
    Effect.gen(function* () {
      const { admin, url } = yield* database
      yield* Effect.promise(() =>
        admin.query(
          "do $$ begin execute format('alter database %I set lock_timeout = 50', current_database()); end $$",
        ),
      )
      yield* Effect.gen(function* () {
        const store = (yield* Collections).of(Customer.customers)
        const customer = yield* createCustomer
        yield* Effect.promise(() => admin.query("begin"))
        yield* Effect.promise(() => admin.query("select 1 from billwright.customers for update"))
        let tries = 0
        const change = Effect.suspend(() =>
          store.modify(customer.id, (old) => Effect.succeed({ ...old, name: "B" })),
        )
        const transactor = yield* Transactor
        const error = yield* failure(
          transactor.atomically(
            Effect.andThen(
              Effect.sync(() => tries++),
              change,
            ),
          ),
        )
        assert.strictEqual(error._tag, "StorageError")
        assert.isTrue(error.retryable)
        assert.strictEqual(tries, 3)
        yield* Effect.promise(() => admin.query("rollback"))
        yield* change
      }).pipe(asTenant, Effect.provide(services(url)))
    }).pipe(Effect.scoped),
  )

  it.live("is tried three times when a statement of the caller takes too long", () =>
    Effect.gen(function* () {
      const { url } = yield* database
      yield* Effect.gen(function* () {
        const transactor = yield* Transactor
        const sql = yield* SqlClient.SqlClient
        let tries = 0
        const slow = Effect.suspend(() => {
          tries++
          return sql`select pg_sleep(60)`
        })
        const exit = yield* Effect.exit(transactor.atomically(slow))
        assert.isTrue(Exit.isFailure(exit))
        assert.strictEqual(tries, 3)
      }).pipe(asTenant, Effect.provide(services(url, { statementTimeoutMillis: 50 })))
    }).pipe(Effect.scoped),
  )

  it.live("is repeated on another connection when its own is terminated", () =>
    Effect.gen(function* () {
      const { admin, count, url } = yield* database
      yield* Effect.gen(function* () {
        const transactor = yield* Transactor
        const sql = yield* SqlClient.SqlClient
        const customer = yield* createCustomer
        let tries = 0
        const work = Effect.gen(function* () {
          tries++
          yield* record(customer.id)
          if (tries === 1) {
            const [row] = yield* sql<{ pid: number }>`select pg_backend_pid() as pid`
            yield* Effect.promise(() => admin.query("select pg_terminate_backend($1)", [row!.pid]))
          }
          return yield* record(customer.id)
        })
        yield* transactor.atomically(work)
        assert.strictEqual(tries, 2)
        assert.strictEqual(yield* count("usage_records"), 2)
      }).pipe(asTenant, Effect.provide(services(url)))
    }).pipe(Effect.scoped),
  )

  it.live("keeps the error of its effect, even when the connection is lost", () =>
    Effect.gen(function* () {
      const { admin, url } = yield* database
      yield* Effect.gen(function* () {
        const transactor = yield* Transactor
        const sql = yield* SqlClient.SqlClient
        const work = Effect.gen(function* () {
          const [row] = yield* sql<{ pid: number }>`select pg_backend_pid() as pid`
          yield* Effect.promise(() => admin.query("select pg_terminate_backend($1)", [row!.pid]))
          return yield* Effect.fail("refused" as const)
        })
        const exit = yield* Effect.exit(transactor.atomically(work))
        // The lost connection shows before ROLLBACK or with it. Either way nothing was stored.
        assert.isTrue(Exit.isFailure(exit))
        assert.isFalse(Exit.hasDies(exit))
      }).pipe(asTenant, Effect.provide(services(url, {}, { maxAttempts: 1 })))
    }).pipe(Effect.scoped),
  )

  it.live("leaves nothing and no locks when it is interrupted", () =>
    Effect.gen(function* () {
      const { count, url } = yield* database
      yield* Effect.gen(function* () {
        const transactor = yield* Transactor
        const customers = yield* Customers
        const customer = yield* createCustomer
        const isInside = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(
          transactor.atomically(
            Effect.gen(function* () {
              yield* record(customer.id)
              yield* customers.update(customer.id, { name: "B" })
              yield* Deferred.succeed(isInside, undefined)
              return yield* Effect.never
            }),
          ),
        )
        yield* Deferred.await(isInside)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(yield* count("usage_records"), 0)
        assert.strictEqual((yield* customers.update(customer.id, { name: "C" })).name, "C")
      }).pipe(asTenant, Effect.provide(services(url)))
    }).pipe(Effect.scoped),
  )
})

describe("when the network fails at COMMIT", () => {
  it.live("and the answer is lost, the record is stored once and the caller gets it", () =>
    Effect.gen(function* () {
      const { count, url } = yield* database
      const customer = yield* asTenant(createCustomer).pipe(Effect.provide(services(url)))
      const proxy = yield* Proxy.make(url)
      yield* Effect.gen(function* () {
        for (const key of [undefined, "key"]) {
          proxy.commit = "cut answer"
          const [recorded] = yield* record(customer.id, key)
          assert.strictEqual(recorded?._tag, "Recorded")
          assert.strictEqual(proxy.commit, "pass")
        }
        assert.strictEqual(yield* count("usage_records"), 2)
      }).pipe(asTenant, Effect.provide(services(proxy.url, { poolSize: 1 })))
    }).pipe(Effect.scoped),
  )

  it.live("and COMMIT never arrives, the transaction is repeated", () =>
    Effect.gen(function* () {
      const { count, url } = yield* database
      const customer = yield* asTenant(createCustomer).pipe(Effect.provide(services(url)))
      const proxy = yield* Proxy.make(url)
      yield* Effect.gen(function* () {
        proxy.commit = "cut before"
        const [recorded] = yield* record(customer.id)
        assert.strictEqual(recorded?._tag, "Recorded")
        assert.strictEqual(yield* count("usage_records"), 1)
      }).pipe(asTenant, Effect.provide(services(proxy.url, { poolSize: 1 })))
    }).pipe(Effect.scoped),
  )

  it.live("and the outcome can't be found out, the error says that a repeat may not be safe", () =>
    Effect.gen(function* () {
      const { count, url } = yield* database
      const customer = yield* asTenant(createCustomer).pipe(Effect.provide(services(url)))
      const proxy = yield* Proxy.make(url)
      yield* Effect.gen(function* () {
        const usage = yield* Usage
        yield* usage.summary({ customerId: customer.id })
        proxy.commit = "cut answer"
        proxy.isOpen = false
        const error = yield* failure(record(customer.id, "key"))
        assert.strictEqual(error._tag, "StorageError")
        assert.isFalse(error.retryable)
        proxy.isOpen = true
        // The caller repeats with the same idempotency key, and so finds out.
        const [repeated] = yield* record(customer.id, "key")
        assert.strictEqual(repeated?._tag, "Duplicate")
        assert.strictEqual(yield* count("usage_records"), 1)
      }).pipe(asTenant, Effect.provide(services(proxy.url, { poolSize: 1 }, { deadlineMillis: 500 })))
    }).pipe(Effect.scoped),
  )
})

describe("when the database", () => {
  it.live("does not answer at all, every call ends as unavailable, and calls work again afterwards", () =>
    Effect.gen(function* () {
      const { url } = yield* database
      const proxy = yield* Proxy.make(url)
      yield* Effect.gen(function* () {
        const customers = yield* Customers
        const customer = yield* createCustomer
        proxy.isBlackhole = true
        const read = yield* failure(customers.get(customer.id))
        assert.isTrue(read.retryable)
        const written = yield* failure(publish)
        assert.isFalse(written.retryable, "it may have been stored")
        const transacted = yield* failure(record(customer.id))
        assert.isTrue(transacted.retryable)
        proxy.isBlackhole = false
        assert.deepStrictEqual(yield* Effect.retry(customers.get(customer.id), { times: 20 }), customer)
      }).pipe(
        asTenant,
        Effect.provide(services(proxy.url, { connectTimeout: "1 second" }, { deadlineMillis: 400 })),
      )
    }).pipe(Effect.scoped),
  )

  it.live("is down, calls are unavailable and may be repeated", () =>
    Effect.gen(function* () {
      const { url } = yield* database
      const proxy = yield* Proxy.make(url)
      yield* Effect.gen(function* () {
        const customer = yield* createCustomer
        proxy.isOpen = false
        const sql = yield* SqlClient.SqlClient
        yield* Effect.exit(sql`select pg_terminate_backend(pg_backend_pid())`)
        assert.isTrue((yield* failure(record(customer.id))).retryable)
        assert.isTrue((yield* failure(createCustomer)).retryable)
        proxy.isOpen = true
        assert.strictEqual((yield* record(customer.id)).length, 1)
      }).pipe(asTenant, Effect.provide(services(proxy.url, { poolSize: 1 })))
    }).pipe(Effect.scoped),
  )

  it.live("is read-only, reading works and writing is unavailable", () =>
    Effect.gen(function* () {
      const { admin, url } = yield* database
      const customer = yield* asTenant(createCustomer).pipe(Effect.provide(services(url)))
      yield* Effect.promise(() =>
        admin.query(
          "do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$",
        ),
      )
      yield* Effect.gen(function* () {
        const customers = yield* Customers
        assert.deepStrictEqual(yield* customers.get(customer.id), customer)
        for (const write of [createCustomer, record(customer.id), customers.erase(customer.id)]) {
          const error = yield* failure(
            write as Effect.Effect<unknown, unknown, Effect.Services<typeof write>>,
          )
          assert.strictEqual(error._tag, "StorageError")
          assert.isTrue(error.retryable)
        }
      }).pipe(asTenant, Effect.provide(services(url)))
    }).pipe(Effect.scoped),
  )

  it.live("has no connection left, calls are unavailable and may be repeated", () =>
    Effect.gen(function* () {
      const { admin, url } = yield* database
      const role = `guest_${new URL(url).pathname.slice(1)}`
      yield* Effect.promise(async () => {
        await admin.query(`create role ${role} login password 'guest' connection limit 0`)
        await admin.query(`grant usage on schema billwright to ${role}`)
      })
      yield* Effect.addFinalizer(() =>
        Effect.promise(() =>
          admin.query(`revoke usage on schema billwright from ${role}; drop role ${role}`),
        ),
      )
      const guest = new URL(url)
      guest.username = role
      guest.password = "guest"
      const error = yield* failure(Effect.provide(Effect.void, services(guest.href)))
      assert.strictEqual(error._tag, "StorageError")
      assert.isTrue(error.retryable)
    }).pipe(Effect.scoped),
  )
})

describe("a read-only database", () => {
  it.live("refuses to note the use of an unknown key, which tells a server that it is not ready", () =>
    Effect.gen(function* () {
      const { admin, url } = yield* database
      const name = `"${new URL(url).pathname.slice(1)}"`
      const note = Effect.gen(function* () {
        const keys = yield* ApiKeyStore
        assert.deepStrictEqual(yield* keys.findByDigest("0".repeat(64)), Option.none())
        yield* keys.touch(ApiKey.ApiKeyId.make(`key_${"0".repeat(26)}`), DateTime.makeUnsafe(0))
      })
      yield* Effect.promise(() =>
        admin.query(`alter database ${name} set default_transaction_read_only = on`),
      )
      assert.strictEqual((yield* failure(Effect.provide(note, services(url)))).operation, "ApiKeyStore.touch")
      yield* Effect.promise(() => admin.query("set default_transaction_read_only = off"))
      yield* Effect.promise(() => admin.query(`alter database ${name} reset default_transaction_read_only`))
      yield* Effect.provide(note, services(url))
    }).pipe(Effect.scoped),
  )
})
