/**
 * Credits on Postgres: callers at once in transactions of the host, and what it refuses by itself, also in plain SQL of the
 * owner of the tables.
 */
import {
  AutoTopUps,
  Billing,
  type Credit,
  CreditAlerts,
  CreditAudit,
  Credits,
  CurrentTenant,
  Customers,
  Holds,
  Id,
  Invoices,
  Payments,
  Tenant,
  TopUps,
} from "@billwright/core"
import { Host, PostgresClient, Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { Client, Pool } from "pg"
import { inTurn } from "./Races.ts"
import { type Attempt, tried } from "./Refusals.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const CHECK = "23514"
const FINAL = "23001"
const UNIQUE = "23505"

/** How many callers there are, and how many of them are in a transaction at once. */
const CALLERS = 64
const CONNECTIONS = 8

/** Runs a test over a database of its own. */
const withDatabase = <A, E>(
  test: (url: string) => Effect.Effect<A, E, Billing.Services | Billing.Storage | CurrentTenant>,
) =>
  Effect.gen(function* () {
    const url = yield* TestDatabase.make
    const services = Billing.layer.pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
    )
    return yield* test(url).pipe(asTenant, Effect.provide(services))
  }).pipe(Effect.scoped)

const raced = Billing.layer.pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient()),
)

/** 100 tokens of a new customer in two grants. */
const begin = Effect.gen(function* () {
  const credits = yield* Credits
  const { id } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
  const account: Credit.AccountKey = { customerId: id, unit: "token" }
  yield* credits.grant({ ...account, kind: "paid", amount: 60n, idempotencyKey: "order" })
  yield* credits.grant({ ...account, kind: "promotional", amount: 40n, priority: 1 })
  return account
})

/** Uses 3 tokens in a transaction of the host, which repeats it when it met another one. Gives whether there was enough. */
const consumeInHosts = Effect.fnUntraced(function* (
  pool: Pool,
  isolation: string,
  account: Credit.AccountKey,
) {
  const credits = yield* Credits
  const once = Effect.gen(function* () {
    const client = yield* Effect.acquireRelease(
      Effect.promise(() => pool.connect()),
      (one) => Effect.sync(() => one.release()),
    )
    const query = (sql: string) => Effect.promise(() => client.query(sql))
    yield* query(`begin isolation level ${isolation}`)
    // The snapshot of the transaction is from before it waits.
    yield* query("select count(*) from billwright.billing_credit_accounts")
    const used = yield* Effect.result(credits.consume({ ...account, amount: 3n }).pipe(Host.joining(client)))
    if (used._tag === "Success") {
      return yield* Effect.promise(() =>
        client.query("commit").then(
          () => "used" as const,
          () => client.query("rollback").then(() => "again" as const),
        ),
      )
    }
    yield* query("rollback")
    if (used.failure._tag === "InsufficientCredits") return "refused" as const
    assert.deepInclude(used.failure, { _tag: "StorageError", retryable: true })
    return "again" as const
  }).pipe(Effect.scoped)
  let outcome: "again" | "refused" | "used" = "again"
  while (outcome === "again") outcome = yield* once
  return outcome
})

it.live.each(["read committed", "repeatable read", "serializable"])(
  "callers at once in transactions of a host at %s never use more than there is",
  (isolation) =>
    withDatabase((url) =>
      Effect.gen(function* () {
        const account = yield* begin
        const pool = yield* Effect.acquireRelease(
          Effect.sync(() => new Pool({ connectionString: url, max: CONNECTIONS })),
          (one) => Effect.promise(() => one.end()),
        )
        const hosted = yield* Layer.build(
          Layer.fresh(
            Billing.layer.pipe(
              Layer.provideMerge(Storage.layerStorage()),
              Layer.provide(Host.fromPool(pool)),
            ),
          ),
        )
        const outcomes = yield* Effect.all(
          Array.from({ length: CALLERS }, () => consumeInHosts(pool, isolation, account)),
          { concurrency: CONNECTIONS },
        ).pipe(Effect.provide(hosted))
        assert.lengthOf(
          outcomes.filter((outcome) => outcome === "used"),
          33,
        )
        const balance = yield* (yield* Credits).balance(account)
        assert.deepInclude(balance, { available: 1n, held: 0n, debt: 0n })
      }).pipe(Effect.scoped),
    ),
  { timeout: 60_000 },
)

/** A pool of one connection that notes its statements. */
const countingPool = Effect.fnUntraced(function* (url: string, statements: Array<string>) {
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => new Pool({ connectionString: url, max: 1 })),
    (one) => Effect.promise(() => one.end()),
  )
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as (...input: ReadonlyArray<unknown>) => unknown
    const counted = (...input: ReadonlyArray<unknown>): unknown => {
      const [asked] = input as ReadonlyArray<string | { readonly text: string }>
      statements.push(typeof asked === "string" ? asked : asked!.text)
      return query(...input)
    }
    Object.assign(client, { query: counted })
  })
  return pool
})

it.live("consuming is one statement, and the last credits of an account take a transaction", () =>
  withDatabase((url) =>
    Effect.gen(function* () {
      const account = yield* begin
      const statements: Array<string> = []
      const pool = yield* countingPool(url, statements)
      const hosted = yield* Layer.build(
        Layer.fresh(
          Billing.layer.pipe(Layer.provideMerge(Storage.layerStorage()), Layer.provide(Host.fromPool(pool))),
        ),
      )
      const { consume } = yield* Effect.provide(Credits, hosted)
      const asLive = Effect.provideService(CurrentTenant, {
        accountId: Tenant.defaultAccountId,
        mode: "live",
      })
      const { id } = yield* asLive((yield* Customers).create({ name: "Ada", email: "ada@example.com" }))
      const live = { customerId: id, unit: account.unit }
      yield* asLive((yield* Credits).grant({ ...live, kind: "paid", amount: 10n }))
      statements.length = 0
      yield* asLive(consume({ ...live, amount: 4n, idempotencyKey: "request" }))
      assert.lengthOf(statements, 1, statements.join("\n"))
      assert.include(statements[0], "take_credits")
      yield* asLive(consume({ ...live, amount: 6n }))
      assert.isAbove(statements.length, 2)
      assert.deepInclude(yield* asLive((yield* Credits).balance(live)), { available: 0n, held: 0n, debt: 0n })
    }).pipe(Effect.scoped),
  ),
)

it.live(
  "while a transaction of the host has an account, calls of other accounts go on, and its own wait",
  () =>
    withDatabase((url) =>
      Effect.gen(function* () {
        const [credits, holds] = [yield* Credits, yield* Holds]
        const [kept, free] = [yield* begin, yield* begin]
        const client = yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const one = new Client({ connectionString: url })
            await one.connect()
            return one
          }),
          (one) => Effect.promise(() => one.end()),
        )
        const { id } = yield* holds.reserve({ ...kept, amount: 10n })
        yield* Effect.promise(() => client.query("begin"))
        const lock = "select from billwright.billing_credit_accounts where customer_id = $1 for update"
        yield* Effect.promise(() => client.query(lock, [Id.toUuid(kept.customerId)]))
        const waiting = yield* Effect.forkChild(
          Effect.all(
            [
              ...Array.from({ length: CALLERS / 2 }, () => credits.consume({ ...kept, amount: 1n })),
              holds.reserve({ ...kept, amount: 1n }),
              holds.commit(id, { amount: 4n }),
            ],
            { concurrency: "unbounded", discard: true },
          ),
        )
        for (let call = 0; call < 10; call++) {
          yield* credits.consume({ ...free, amount: 1n })
          const held = yield* holds.reserve({ ...free, amount: 1n })
          yield* holds.commit(held.id)
        }
        assert.deepInclude(yield* credits.balance(free), { available: 80n, held: 0n })
        assert.deepInclude(yield* credits.balance(kept), { available: 90n, held: 10n })
        yield* Effect.promise(() => client.query("commit"))
        yield* Fiber.join(waiting)
        assert.deepInclude(yield* credits.balance(kept), { available: 63n, held: 1n })
      }).pipe(Effect.scoped),
    ),
)

it.live("holding and settling are one statement each", () =>
  withDatabase((url) =>
    Effect.gen(function* () {
      const statements: Array<string> = []
      const pool = yield* countingPool(url, statements)
      const hosted = yield* Layer.build(
        Layer.fresh(
          Billing.layer.pipe(Layer.provideMerge(Storage.layerStorage()), Layer.provide(Host.fromPool(pool))),
        ),
      )
      const live = Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "live" })
      const account = yield* live(begin)
      const { commit, release, reserve } = yield* Effect.provide(Holds, hosted)
      statements.length = 0
      const first = yield* live(reserve({ ...account, amount: 4n, idempotencyKey: "stream" }))
      assert.deepInclude(yield* live(commit(first.id, { amount: 3n })), {
        status: "committed",
        committed: 3n,
      })
      const second = yield* live(reserve({ ...account, amount: 4n }))
      assert.deepInclude(yield* live(release(second.id)), { status: "released", committed: null })
      assert.lengthOf(statements, 4, statements.join("\n"))
      assert.deepInclude(yield* live((yield* Credits).balance(account)), { available: 97n, held: 0n })
    }).pipe(Effect.scoped),
  ),
)

it.live("Postgres refuses what must not be, also of the owner of the tables", () =>
  withDatabase((url) =>
    Effect.gen(function* () {
      const account = yield* begin
      yield* (yield* Credits).consume({ ...account, amount: 5n, idempotencyKey: "request" })
      yield* (yield* Holds).reserve({ ...account, amount: 7n, idempotencyKey: "stream" })
      const client = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const one = new Client({ connectionString: url })
          await one.connect()
          return one
        }),
        (one) => Effect.promise(() => one.end()),
      )
      const update = (table: string, set: string): ReadonlyArray<string> => [
        `update billwright.billing_credit_${table} set ${set}`,
      ]
      const repeat = (table: string, columns: string): ReadonlyArray<string> => [
        `insert into billwright.billing_credit_${table} (account_id, mode, customer_id, unit, id, ${columns})
  select account_id, mode, customer_id, unit, gen_random_uuid(), ${columns} from billwright.billing_credit_${table}
  where idempotency_key is not null`,
      ]
      const attempts: ReadonlyArray<Attempt> = [
        ["nothing", undefined, []],
        ["an account below 0", CHECK, update("accounts", "available = -1")],
        ["a hold below 0", CHECK, update("accounts", "held = -1")],
        ["a debt beside credits", CHECK, update("accounts", "debt = 1")],
        ["a balance without an entry", CHECK, update("accounts", "available = available + 1")],
        ["a sequence without an entry", CHECK, update("accounts", "sequence = sequence + 1")],
        ["a grant below 0", CHECK, update("grants", "available = -1")],
        ["more than was granted", CHECK, update("grants", "available = amount, held = 1")],
        ["something left of a grant that has ended", CHECK, update("grants", "status = 'voided'")],
        ["an open hold that was committed", CHECK, update("holds", "committed = 1")],
        [
          "a second grant with a key",
          UNIQUE,
          repeat(
            "grants",
            "kind, amount, priority, effective_at, status, available, held, idempotency_key, created_at",
          ),
        ],
        [
          "a second hold with a key",
          UNIQUE,
          repeat(
            "holds",
            "amount, slices, ttl_seconds, expires_at, status, is_late, idempotency_key, created_at",
          ),
        ],
        [
          "a second consumption with a key",
          UNIQUE,
          repeat("consumptions", "amount, available, held, debt, idempotency_key, created_at"),
        ],
        ["a change of an entry", FINAL, update("entries", "available = available + 1")],
        ["a change of a consumption", FINAL, update("consumptions", "amount = 1")],
        ...["accounts", "grants", "holds", "entries", "consumptions"].flatMap((table): Array<Attempt> => [
          [`the removal of ${table}`, FINAL, [`delete from billwright.billing_credit_${table}`]],
          [`the truncation of ${table}`, FINAL, [`truncate billwright.billing_credit_${table} cascade`]],
        ]),
      ]
      assert.deepStrictEqual(yield* Effect.promise(() => tried(client, attempts)), attempts)
    }).pipe(Effect.scoped),
  ),
)

/** What damages a balance, and what the audit says of it. Triggers and constraints are off, as a superuser may have them. */
const DAMAGES = [
  {
    sql: "update billwright.billing_credit_accounts set available = available + 1",
    problem: "is not the sum of its entries",
    isGrant: false,
  },
  {
    sql: "update billwright.billing_credit_grants set available = available - 1 where kind = 'paid'",
    problem: "is not the sum of its entries",
    isGrant: true,
  },
  {
    sql: "update billwright.billing_credit_holds set amount = amount + 1",
    problem: "counts 1 open holds of 7, and has 1 of 8",
    isGrant: false,
  },
  {
    sql: "update billwright.billing_credit_entries set sequence = sequence + 1 where kind = 'reserve'",
    problem: "counts 4 entries, and has 4 up to the number 5",
    isGrant: false,
  },
]

/** The statement that takes a damage back. */
const undone = (sql: string): string =>
  sql.replace(/ [+-] 1/, (change) => (change === " + 1" ? " - 1" : " + 1"))

it.live("the audit finds a balance that is not its entries", () =>
  withDatabase((url) =>
    Effect.gen(function* () {
      const account = yield* begin
      yield* (yield* Credits).consume({ ...account, amount: 5n })
      yield* (yield* Holds).reserve({ ...account, amount: 7n })
      const { page } = yield* CreditAudit
      assert.deepInclude(yield* page(), { accounts: 1, discrepancies: [], last: account })
      const client = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const one = new Client({ connectionString: url })
          await one.connect()
          return one
        }),
        (one) => Effect.promise(() => one.end()),
      )
      yield* Effect.promise(() => client.query("set session_replication_role = replica"))
      for (const { isGrant, problem, sql } of DAMAGES) {
        yield* Effect.promise(() => client.query("begin"))
        yield* Effect.promise(() => client.query(sql))
        // Not committed: the audit sees the database as it is.
        assert.deepInclude(yield* page(), { accounts: 1, discrepancies: [] })
        yield* Effect.promise(() => client.query("commit"))
        const { discrepancies } = yield* page()
        assert.lengthOf(discrepancies, 1, sql)
        const [found] = discrepancies
        assert.deepInclude(found, { ...account, problem })
        assert.strictEqual(found!.grantId !== null, isGrant)
        yield* Effect.promise(() => client.query(undone(sql)))
      }
      assert.deepInclude(yield* page(), { accounts: 1, discrepancies: [] })
    }).pipe(Effect.scoped),
  ),
)

it.live(
  "a customer has no more alerts and automatic top-ups than the limit, also of several units at once",
  () =>
    Effect.gen(function* () {
      const [alerts, autos] = [yield* CreditAlerts, yield* AutoTopUps]
      const { id: customerId } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
      const bought = { customerId, level: 1n, amount: 10n, currency: "EUR", price: 100n }
      for (let n = 0; n < 19; n++) {
        yield* alerts.create({ customerId, unit: "token", level: 1n })
        yield* autos.create({ ...bought, unit: `unit${n}` })
      }
      const [alert, refusedAlert] = yield* inTurn(
        alerts.create({ customerId, unit: "token", level: 1n }),
        alerts.create({ customerId, unit: "EUR", level: 1n }),
      )
      assert.isTrue(Exit.isSuccess(alert))
      assert.strictEqual((yield* Effect.flip(refusedAlert))._tag, "TooManyCreditAlerts")
      const [auto, refusedAuto] = yield* inTurn(
        autos.create({ ...bought, unit: "one" }),
        autos.create({ ...bought, unit: "two" }),
      )
      assert.isTrue(Exit.isSuccess(auto))
      assert.strictEqual((yield* Effect.flip(refusedAuto))._tag, "TooManyAutoTopUps")
    }).pipe(asTenant, Effect.provide(raced)),
)

it.live("a customer who is erased while its first credits are paid has none of them", () =>
  Effect.gen(function* () {
    const [credits, customers] = [yield* Credits, yield* Customers]
    const { id: customerId } = yield* customers.create({ name: "Ada", email: "ada@example.com" })
    const bought = { unit: "token", amount: 100n, currency: "EUR", price: 500n } as const
    const { invoiceId } = yield* (yield* TopUps).create({ customerId, ...bought })
    const { amountDue: amount } = yield* (yield* Invoices).get(invoiceId)
    const [paid, erased] = yield* inTurn(
      (yield* Payments).record({ invoiceId, amount }),
      customers.erase(customerId),
    )
    assert.isTrue(Exit.isSuccess(paid))
    assert.isTrue(Exit.isSuccess(erased))
    const { data } = yield* credits.listGrants({ customerId })
    assert.deepStrictEqual(
      data.map(({ available, status }) => [available, status]),
      [[0n, "voided"]],
    )
    const refused = yield* Effect.flip(credits.consume({ customerId, unit: "token", amount: 1n }))
    assert.strictEqual(refused._tag, "CustomerNotFound")
  }).pipe(asTenant, Effect.provide(raced)),
)
