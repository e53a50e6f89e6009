/**
 * Using credits of one account reads no more rows when the tenant has many accounts and holds, also with a plan that was made while
 * the planner took the tables to be empty. A plan is kept until they are analyzed again, so it must use the right index from the
 * beginning. Postgres counts the rows.
 */
import { Billing, Credits, type Customer, Customers, Holds, Id } from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { hasExpiredHold } from "../src/functions/CreditFunctions.ts"
import { lapses, newEntries } from "../src/functions/CreditLedgerFunctions.ts"
import { DEFAULT_SCHEMA, SchemaName } from "../src/SchemaName.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const live = Billing.layerWith({ encryption: "none" }).pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient({ poolSize: 1 })),
)

/** How many other accounts the tenant has, each with settled holds. The accounts and the holds are many more than `MOST_ROWS`. */
const ACCOUNTS = 600
const HOLDS_OF_EACH = 4
/** More than 5: after so many executions Postgres may switch to a generic plan. */
const TIMES = 8
/**
 * Most rows that an index gives for one use, which reads the same row a few times. Old versions of rows count, too, for as long as
 * another database of the server has an older transaction: each use leaves some.
 */
const MOST_ROWS = 300

const TABLES = ["accounts", "consumptions", "entries", "grants", "holds"].map(
  (name) => `billing_credit_${name}`,
)

const unit = "token"

const newCustomer = Effect.flatMap(Customers, (customers) =>
  customers.create({ name: "A", email: "a@example.com" }),
)

const grant = (customerId: Customer.CustomerId, scope?: ReadonlyArray<string>) =>
  Effect.flatMap(Credits, (credits) =>
    credits.grant({
      customerId,
      unit,
      kind: "paid",
      amount: 1_000_000n,
      ...(scope === undefined ? {} : { scope }),
    }),
  )

let keys = 0

/** What an app does with an account over and over. */
const uses = (customerId: Customer.CustomerId) => {
  const asked = () => ({ customerId, unit, amount: 5n, idempotencyKey: `use ${keys++}` })
  const hold = Effect.flatMap(Holds, (holds) => holds.reserve(asked()))
  return {
    consume: Effect.flatMap(Credits, (credits) => credits.consume(asked())),
    "consume in SQL after a hold has lapsed": Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* hold
      yield* sql`update billwright.billing_credit_holds set expires_at = now() - interval '1 s'
where account_id = 'default' and mode = 'live' and id = ${Id.toUuid(id)}::uuid`
      yield* sql`select billwright.consume_credits('default', 'live', ${customerId}, ${unit}, 5)`
    }),
    commit: Effect.flatMap(hold, ({ id }) =>
      Effect.flatMap(Holds, (holds) => holds.commit(id, { amount: 3n })),
    ),
    balance: Effect.flatMap(Credits, (credits) => credits.balance({ customerId, unit })),
    release: Effect.flatMap(hold, ({ id }) => Effect.flatMap(Holds, (holds) => holds.release(id))),
  }
}

/** What each index of the tables has given so far. */
const rowsRead = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select pg_stat_force_next_flush()`
  const rows = yield* sql<{
    name: string
    read: string
  }>`select indexrelname as name, idx_tup_read::text as read
from pg_stat_user_indexes where schemaname = 'billwright' and relname in ${sql.in(TABLES)}`
  return new Map(rows.map(({ name, read }) => [name, Number(read)]))
})

/** Other accounts of the tenant. */
const others = Effect.forEach(
  Array.from({ length: ACCOUNTS }),
  Effect.fnUntraced(function* () {
    const { id } = yield* newCustomer
    yield* grant(id)
    return id
  }),
  { concurrency: 10 },
)

/** Makes and settles holds of accounts. */
const hold = (accounts: ReadonlyArray<Customer.CustomerId>) =>
  Effect.forEach(
    Array.from({ length: HOLDS_OF_EACH }).flatMap(() => accounts),
    Effect.fnUntraced(function* (customerId) {
      const holds = yield* Holds
      const { id } = yield* holds.reserve({ customerId, unit, amount: 1n })
      yield* holds.release(id)
    }),
    { concurrency: 50, discard: true },
  )

/** Analyzes the tables now, and not later: autovacuum would do it when it likes. */
const analyzed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of TABLES) {
    yield* sql.unsafe(`alter table billwright.${table} set (autovacuum_enabled = off)`)
    yield* sql.unsafe(`vacuum (analyze) billwright.${table}`)
  }
})

/** Uses an account, and gives what read more rows of an index than it needs. */
const readingMany = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
  const many: Array<string> = []
  for (const [name, call] of Object.entries(uses(customerId))) {
    const before = yield* rowsRead
    for (let time = 0; time < TIMES; time++) yield* call
    const after = yield* rowsRead
    for (const [index, read] of after) {
      const rows = Math.round((read - before.get(index)!) / TIMES)
      if (rows > MOST_ROWS) many.push(`${name}: ${rows} rows of ${index}`)
    }
  }
  return many
})

it.live("credits are used by few rows, with plans of tables that were analyzed while they were empty", () =>
  asTenant(
    Effect.gen(function* () {
      yield* analyzed
      const { id } = yield* newCustomer
      yield* grant(id)
      // The quick functions leave some of this account's uses to others.
      const scoped = yield* newCustomer
      yield* grant(scoped.id)
      yield* grant(scoped.id, ["chat"])
      const accounts = [id, scoped.id]
      // Some plans are made now, and kept.
      yield* Effect.forEach(accounts, readingMany)
      yield* hold(yield* others)
      assert.deepStrictEqual((yield* Effect.forEach(accounts, readingMany)).flat(), [])
      yield* (yield* SqlClient.SqlClient)`discard plans`
      assert.deepStrictEqual((yield* Effect.forEach(accounts, readingMany)).flat(), [])
    }),
  ).pipe(Effect.provide(live)),
)

const schema = SchemaName.make(DEFAULT_SCHEMA)

/** Queries of functions that only one index answers by few rows. */
const looks = [
  {
    index: "billing_credit_holds_open",
    query: `select ${hasExpiredHold(schema, "now()")} from billwright.billing_credit_accounts a`,
  },
  { index: "billing_credit_holds_open", query: lapses(schema) },
  { index: "billing_credit_entries_pkey", query: newEntries(schema) },
]

/** A query with values instead of the arguments and variables of its function. */
const withValues = (query: string): string =>
  query
    .replace(/(?:p_|v_account\.)account_id/, "'default'")
    .replace(/(?:p_|v_account\.)mode/, "'live'")
    .replace("v_account.customer_id", "'01940000-0000-7000-8000-000000000000'::uuid")
    .replace("v_account.unit", "'token'")
    .replace("p_before.sequence", "1")
    .replace("p_now", "now()")

it.live("expired holds and new entries are looked for by their own index, also while there are none", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* analyzed
    const settings = ["seqscan", "bitmapscan", "sort", "incremental_sort"]
    yield* sql.withTransaction(
      Effect.gen(function* () {
        // As the functions have them.
        for (const setting of settings) yield* sql.unsafe(`set local enable_${setting} = off`)
        for (const { index, query } of looks) {
          const plan = yield* sql.unsafe<{ readonly "QUERY PLAN": string }>(`explain ${withValues(query)}`)
          const scans = plan
            .map((row) => row["QUERY PLAN"])
            .filter((line) => /Scan.*credit_(holds|entries)/.test(line))
          assert.lengthOf(scans, 1)
          assert.include(scans[0], index)
        }
      }),
    )
  }).pipe(Effect.provide(live)),
)
