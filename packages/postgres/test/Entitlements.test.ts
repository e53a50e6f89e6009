/**
 * Entitlements on Postgres: callers at once in transactions of the host, and what it refuses by itself, also in plain SQL
 * of the owner of the tables.
 */
import {
  Billing,
  type CurrentTenant,
  Customers,
  Entitlements,
  Id,
  Meters,
  Plans,
  Subscriptions,
} from "@billwright/core"
import { Host, PostgresClient, Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Redacted } from "effect"
import { Client, Pool } from "pg"
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

const planOf = (key: string, feature: { readonly rollover?: { readonly maximum: string } } = {}) =>
  ({
    key,
    name: key,
    currencies: ["EUR"],
    interval: { unit: "year", count: 1 },
    charges: [],
    features: { exports: { type: "metered", meter: "exports", included: "100", limit: "hard", ...feature } },
  }) as const

/** A new customer with a subscription of a plan since a year and a day. */
const subscribed = Effect.fnUntraced(function* (plan: ReturnType<typeof planOf>) {
  yield* (yield* Plans).push({ plans: [plan] })
  const { id: customerId } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
  const startAt = DateTime.subtract(yield* DateTime.now, { years: 1, days: 1 })
  yield* (yield* Subscriptions).create({ customerId, plan: plan.key, startAt })
  return { customerId, feature: "exports" }
})

/** A new customer whose plan includes 100 exports in a period. */
const begin = Effect.gen(function* () {
  yield* (yield* Meters).create({ key: "exports", productId: "export", unit: "export" })
  return yield* subscribed(planOf("exporter"))
})

type Asked = Effect.Success<typeof begin>

/** Uses 3 exports in a transaction of the host, which repeats it when it met another one. Gives whether it was allowed. */
const consumeInHosts = Effect.fnUntraced(function* (pool: Pool, isolation: string, asked: Asked) {
  const { consume } = yield* Entitlements
  const once = Effect.gen(function* () {
    const client = yield* Effect.acquireRelease(
      Effect.promise(() => pool.connect()),
      (one) => Effect.sync(() => one.release()),
    )
    const query = (sql: string) => Effect.promise(() => client.query(sql))
    yield* query(`begin isolation level ${isolation}`)
    // The snapshot of the transaction is from before it waits.
    yield* query("select count(*) from billwright.usage_records")
    const used = yield* Effect.result(consume({ ...asked, quantity: 3 }).pipe(Host.joining(client)))
    if (used._tag === "Success") {
      return yield* Effect.promise(() =>
        client.query("commit").then(
          () => used.success.allowed,
          () => client.query("rollback").then(() => undefined),
        ),
      )
    }
    yield* query("rollback")
    assert.deepInclude(used.failure, { _tag: "StorageError", retryable: true })
    return undefined
  }).pipe(Effect.scoped)
  let outcome: boolean | undefined
  while (outcome === undefined) outcome = yield* once
  return outcome
})

/** Services over a pool. They are built anew: those of the test ask by connections of their own. */
const servicesOver = (pool: Pool) =>
  Layer.build(
    Billing.layer.pipe(
      Layer.provideMerge(Storage.layerStorage()),
      Layer.provide(Host.fromPool(pool)),
      Layer.fresh,
    ),
  )

it.live.each(["read committed", "repeatable read", "serializable"])(
  "callers at once in transactions of a host at %s never pass a hard limit together",
  (isolation) =>
    withDatabase((url) =>
      Effect.gen(function* () {
        const asked = yield* begin
        const pool = yield* Effect.acquireRelease(
          Effect.sync(() => new Pool({ connectionString: url, max: CONNECTIONS })),
          (one) => Effect.promise(() => one.end()),
        )
        const hosted = yield* servicesOver(pool)
        const outcomes = yield* Effect.all(
          Array.from({ length: CALLERS }, () => consumeInHosts(pool, isolation, asked)),
          { concurrency: CONNECTIONS },
        ).pipe(Effect.provide(hosted))
        assert.lengthOf(
          outcomes.filter((isAllowed) => isAllowed),
          33,
        )
        assert.deepInclude(yield* (yield* Entitlements).check(asked), { used: 99n, balance: 1n })
      }).pipe(Effect.scoped),
    ),
  { timeout: 60_000 },
)

/** A pool that notes its statements. */
const notingPool = Effect.fnUntraced(function* (url: string, statements: Array<string>) {
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => new Pool({ connectionString: url, max: CONNECTIONS })),
    (one) => Effect.promise(() => one.end()),
  )
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as (...input: ReadonlyArray<unknown>) => unknown
    const noted = (...input: ReadonlyArray<unknown>): unknown => {
      const [asked] = input as ReadonlyArray<string | { readonly text: string }>
      statements.push(typeof asked === "string" ? asked : asked!.text)
      return query(...input)
    }
    Object.assign(client, { query: noted })
  })
  return pool
})

/** The subscriptions, the versions of plans, the meter and the totals of usage. */
const STATEMENTS_OF_CHECKS = 4

it.live(
  "checks at once share their statements, and one that can't be answered keeps none of the others from it",
  () =>
    withDatabase((url) =>
      Effect.gen(function* () {
        const asked = yield* begin
        const broken = yield* (yield* Customers).create({ name: "Bob", email: "bob@example.com" })
        yield* (yield* Subscriptions).create({ customerId: broken.id, plan: "exporter" })
        const statements: Array<string> = []
        const pool = yield* notingPool(url, statements)
        const { check } = Context.get(yield* servicesOver(pool), Entitlements)
        // Those that looked at the schema.
        statements.length = 0
        const checkAll = Effect.all(
          Array.from({ length: CALLERS }, (_, n) =>
            Effect.exit(check(n === 40 ? { ...asked, customerId: broken.id } : asked)),
          ),
          { concurrency: "unbounded" },
        )
        const isAllowed = (exit: Effect.Success<typeof checkAll>[number]) =>
          exit._tag === "Success" && exit.value.allowed
        assert.isTrue((yield* checkAll).every(isAllowed))
        // The first check finds nobody waiting, and is a group by itself. The others are two groups or three.
        assert.isAtMost(statements.length, 4 * STATEMENTS_OF_CHECKS, statements.join("\n"))
        yield* Effect.promise(() =>
          TestDatabase.execute(
            url,
            "set session_replication_role = replica",
            `update billwright.billing_subscriptions set state = state || '{"period": 5}' where customer_id = '${Id.toUuid(broken.id)}'`,
          ),
        )
        const exits = yield* checkAll
        assert.deepStrictEqual(
          exits.map(isAllowed),
          exits.map((_, n) => n !== 40),
        )
      }).pipe(Effect.scoped),
    ),
)

it.live("a check of a feature that rolls over reads the earlier periods, and no other check does", () =>
  withDatabase((url) =>
    Effect.gen(function* () {
      const bare = yield* begin
      const asked = yield* subscribed(planOf("rolling", { rollover: { maximum: "30" } }))
      const statements: Array<string> = []
      const pool = yield* notingPool(url, statements)
      const { check } = Context.get(yield* servicesOver(pool), Entitlements)
      const counted = Effect.fnUntraced(function* (one: typeof bare) {
        statements.length = 0
        const { limit, rolledOver } = yield* check(one)
        return [limit, rolledOver, statements.length]
      })
      assert.deepStrictEqual(yield* counted(bare), [100n, 0n, STATEMENTS_OF_CHECKS])
      assert.deepStrictEqual(yield* counted(asked), [130n, 30n, STATEMENTS_OF_CHECKS + 1])
      const atOnce = yield* Effect.all(
        Array.from({ length: CALLERS }, () => check(asked)),
        { concurrency: "unbounded" },
      )
      assert.isTrue(atOnce.every(({ rolledOver }) => rolledOver === 30n))
      assert.isAtMost(statements.length, 5 * (STATEMENTS_OF_CHECKS + 1), statements.join("\n"))
    }).pipe(Effect.scoped),
  ),
)

it.live("Postgres refuses what must not be, also of the owner of the tables", () =>
  withDatabase((url) =>
    Effect.gen(function* () {
      const asked = yield* begin
      yield* (yield* Entitlements).consume({ ...asked, quantity: 100, idempotencyKey: "k" })
      const client = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const one = new Client({ connectionString: url })
          await one.connect()
          return one
        }),
        (one) => Effect.promise(() => one.end()),
      )
      const update = (table: string, set: string): ReadonlyArray<string> => [
        `update billwright.billing_entitlement_${table} set ${set}`,
      ]
      const repeat = (key: string, used: string, limitType: string, reason: string) => [
        `insert into billwright.billing_entitlement_consumptions (account_id, mode, customer_id, idempotency_key, feature,
    quantity, dimensions, usage_record_id, subscription_id, meter, reason, limit_type, usage_limit, used, period_start,
    resets_at, created_at)
  select account_id, mode, customer_id, ${key}, feature, quantity, dimensions, usage_record_id, subscription_id, meter,
    '${reason}', '${limitType}', usage_limit, ${used}, period_start, resets_at, created_at
  from billwright.billing_entitlement_consumptions`,
      ]
      const attempts: ReadonlyArray<Attempt> = [
        ["nothing", undefined, []],
        ["another consumption", undefined, repeat("'l'", "used", "hard", "included")],
        ["a second consumption with a key", UNIQUE, repeat("idempotency_key", "used", "hard", "included")],
        ["more than a hard limit", CHECK, repeat("'l'", "used + 1", "hard", "overage")],
        ["more than is included without overage", CHECK, repeat("'l'", "used + 1", "soft", "included")],
        [
          "a limit that is told twice",
          UNIQUE,
          [
            "insert into billwright.billing_entitlement_limits select * from billwright.billing_entitlement_limits",
          ],
        ],
        ["a change of a consumption", FINAL, update("consumptions", "used = 1")],
        ["a change of a limit", FINAL, update("limits", "usage_limit = 1")],
        ...["consumptions", "limits"].flatMap((table): Array<Attempt> => [
          [`the removal of ${table}`, FINAL, [`delete from billwright.billing_entitlement_${table}`]],
          [`the truncation of ${table}`, FINAL, [`truncate billwright.billing_entitlement_${table}`]],
        ]),
      ]
      assert.deepStrictEqual(yield* Effect.promise(() => tried(client, attempts)), attempts)
    }).pipe(Effect.scoped),
  ),
)
