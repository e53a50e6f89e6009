/**
 * Migrations beside other transactions: those that hold locks on tables, and those of other levels of isolation.
 */
import { BatchTransactor, Transactor } from "@billwright/core"
import { Host, Migrations, PostgresClient, Storage, sqlState } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger, Redacted } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import type { Client } from "pg"
import { describe } from "vitest"
import { Patience, untilUnlocked } from "../src/migrations/LockWaits.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** The URL of a new database that lacks the migration that changes `api_keys` last, and those after it. */
const migratedInPart = Effect.gen(function* () {
  const url = yield* TestDatabase.empty
  const [untilThen] = Migrations.print().split("-- 0061")
  yield* Effect.promise(() => TestDatabase.execute(url, `${untilThen} commit`))
  return url
})

const query = (client: Client, text: string) => Effect.promise(() => client.query(text))

/** A session that reads `api_keys` in a transaction, as a backup does. */
const readerOf = Effect.fnUntraced(function* (url: string) {
  const session = yield* TestDatabase.administrator(url)
  yield* query(session, "begin")
  yield* query(session, "lock table billwright.api_keys in access share mode")
  return session
})

/** Until somebody waits for a lock of this kind in the database. */
const untilWaiting = (session: Client, waiting: string, count = 1) =>
  Effect.repeat(
    query(
      session,
      `select from pg_locks where not granted and ${waiting}
  and database = (select oid from pg_database where datname = current_database())`,
    ),
    { until: ({ rowCount }) => rowCount === count },
  )

const on = (url: string) => Effect.provide(PostgresClient.layer({ url: Redacted.make(url), poolSize: 2 }))

/** Tries again often. */
const eager = { lockMillis: 200, pauseMillis: 20, limitMillis: 600_000 }

const WAITS = /^the migration waits for locks of other transactions, such as a backup: it tries again/

describe("a migration of a table that another transaction reads", () => {
  it.live("lets those who come later read it meanwhile, and is done when that one ends", () =>
    Effect.gen(function* () {
      const url = yield* migratedInPart
      const [backup, later] = [yield* readerOf(url), yield* TestDatabase.administrator(url)]
      const [isLogged, logged] = [yield* Deferred.make<void>(), [] as Array<string>]
      const logger = Logger.make(({ message }) => {
        logged.push(String(message))
        Deferred.doneUnsafe(isLogged, Effect.void)
      })
      const migrating = yield* Migrations.run().pipe(
        on(url),
        Effect.provideService(Patience, eager),
        Effect.provide(Logger.layer([logger])),
        Effect.forkChild,
      )
      yield* untilWaiting(later, "relation = 'billwright.api_keys'::regclass")
      // It is over long before that, unless it waits for the backup.
      yield* query(later, "set statement_timeout = '10s'")
      yield* query(later, "select from billwright.api_keys")
      yield* Effect.raceFirst(Deferred.await(isLogged), Effect.asVoid(Fiber.join(migrating)))
      yield* query(backup, "commit")
      const { migrations } = yield* Fiber.join(migrating)
      assert.strictEqual(migrations[0], "rolled_api_keys_and_blocks_that_are_over")
      assert.lengthOf(
        logged.filter((line) => WAITS.test(line)),
        1,
      )
    }).pipe(Effect.scoped),
  )

  it.live("is given up at last, says why, and has changed nothing", () =>
    Effect.gen(function* () {
      const url = yield* migratedInPart
      const backup = yield* readerOf(url)
      const error = yield* Migrations.run().pipe(
        on(url),
        Effect.provideService(Patience, { ...eager, limitMillis: 0 }),
        Effect.flip,
      )
      assert.strictEqual(error._tag, "StorageError")
      assert.propertyVal(error, "retryable", true)
      assert.match(String(error.cause), /could not lock its tables, because other transactions use them/)
      const { rows } = yield* query(backup, "select max(id) as id from billwright.schema_migrations")
      assert.deepStrictEqual(rows, [{ id: 60 }])
    }).pipe(Effect.scoped),
  )

  it.live("fails when it is run by hand, and changes nothing", () =>
    Effect.gen(function* () {
      const url = yield* migratedInPart
      yield* readerOf(url)
      const printed = Migrations.print({ after: 60 })
      assert.match(printed, /nothing has changed\. Run all of it again/)
      const byHand = TestDatabase.execute(url, "set statement_timeout = '10s'", printed)
      const error = yield* Effect.flip(Effect.tryPromise({ try: () => byHand, catch: (cause) => cause }))
      assert.strictEqual(sqlState(error), "55P03")
    }).pipe(Effect.scoped),
  )
})

describe("a transaction that is repeated until it gets its locks", () => {
  const failing = (code: string) =>
    new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: { code } }) })
  /** Fails the first time. Gives how often it ran. */
  const ran = (code: string) => {
    let count = 0
    const once = Effect.suspend(() => (++count === 1 ? Effect.fail(failing(code)) : Effect.succeed(count)))
    return untilUnlocked("Migrations", once).pipe(
      Effect.provideService(Patience, eager),
      Effect.provide(Logger.layer([])),
    )
  }

  it.live("is repeated when Postgres ends it to resolve a deadlock", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* ran("40P01"), 2)
    }),
  )

  it.live("is not repeated after other failures", () =>
    Effect.gen(function* () {
      assert.strictEqual(sqlState(yield* Effect.flip(ran("42501"))), "42501")
    }),
  )
})

/** The URL of a new database whose transactions are at REPEATABLE READ unless they say otherwise. */
const repeatableRead = (database: typeof TestDatabase.make) =>
  Effect.tap(database, (url) =>
    Effect.promise(() =>
      TestDatabase.execute(
        url,
        `do $$ begin execute format('alter database %I set default_transaction_isolation = ''repeatable read''', current_database()); end $$`,
      ),
    ),
  )

const clients = {
  "connections of our own": (url: string) => PostgresClient.layer({ url: Redacted.make(url) }),
  "a host's pool": (url: string) => TestDatabase.layerHostPool(Effect.succeed(url)),
}

describe("where transactions are at REPEATABLE READ by default", () => {
  for (const [name, clientOf] of Object.entries(clients)) {
    it.live(`two processes may start at once, on ${name}`, () =>
      Effect.gen(function* () {
        const url = yield* repeatableRead(TestDatabase.empty)
        const gate = yield* TestDatabase.administrator(url)
        yield* query(
          gate,
          "select pg_advisory_lock(hashtextextended('billwright migrations of billwright', 0))",
        )
        const start = Effect.forkChild(Effect.scoped(Effect.provide(Migrations.run(), clientOf(url))))
        const [first, second] = [yield* start, yield* start]
        yield* untilWaiting(gate, "locktype = 'advisory'", 2)
        yield* query(gate, "select pg_advisory_unlock_all()")
        const applied = [yield* Fiber.join(first), yield* Fiber.join(second)]
        assert.sameMembers(
          applied.map(({ migrations }) => migrations.length),
          [0, Migrations.latestId],
        )
      }).pipe(Effect.scoped),
    )

    it.live(`our transactions are at READ COMMITTED, and a host's are as it began them, on ${name}`, () =>
      Effect.gen(function* () {
        const url = yield* repeatableRead(TestDatabase.make)
        const host = yield* TestDatabase.administrator(url)
        const storage = Storage.layer().pipe(Layer.provideMerge(clientOf(url)))
        yield* Effect.gen(function* () {
          const [sql, { atomically }] = [yield* SqlClient.SqlClient, yield* Transactor]
          const { atomicallyAll } = yield* BatchTransactor
          const level = sql<{ level: string }>`select current_setting('transaction_isolation') as level`
          assert.deepStrictEqual(yield* atomically(level), [{ level: "read committed" }])
          yield* query(host, "begin")
          yield* Host.joining(host)(atomicallyAll([Effect.void]))
          // Also when it joins inside of a transaction of ours.
          yield* atomically(Host.joining(host)(atomically(Effect.void)))
          const { rows } = yield* query(host, "select current_setting('transaction_isolation') as level")
          assert.deepStrictEqual(rows, [{ level: "repeatable read" }])
          const asked = atomically(level).pipe(
            Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL SERIALIZABLE"),
          )
          assert.deepStrictEqual(yield* asked, [{ level: "serializable" }])
        }).pipe(Effect.provide(storage))
      }).pipe(Effect.scoped),
    )
  }
})
