/**
 * The queue of billing runs on this storage: several runners, runners that were killed, backlogs, and plans.
 */
import {
  Billing,
  BillingRuns,
  type ClaimedSubject,
  CurrentTenant,
  Customer,
  DueStore,
  type Due,
  Id,
  Invoices,
  type Tenant,
  Transactor,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { advanceTo, allEvents, allInvoices, START, subscribe, use } from "./Invoicing.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const live = Billing.layer.pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient({ poolSize: 4 })),
)

const minute = (minutes: number): DateTime.Utc => DateTime.add(START, { minutes })

const claim = (now: number, limit = 100) =>
  Effect.flatMap(DueStore, (due) =>
    due.claimDue({ lane: "billing", now: minute(now), leaseUntil: minute(now + 2), limit }),
  )

const asOf = ({ tenant }: ClaimedSubject) => Effect.provideService(CurrentTenant, tenant)
const holds = (claimed: ClaimedSubject) =>
  Effect.flatMap(DueStore, (due) => due.holds(claimed)).pipe(asOf(claimed))
const release = (claimed: ClaimedSubject, failure: Due.DueFailure | null = null) =>
  Effect.flatMap(DueStore, (due) => due.release(claimed, failure)).pipe(asOf(claimed))

/** Rows of the queue, due one a minute, from a minute on. */
const queue = (account: string, from: number, count: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`insert into billwright.billing_due (account_id, mode, kind, id, customer_id, due_at)
select ${account}, 'live', 'subscription', gen_random_uuid(), gen_random_uuid(),
  to_timestamp(${String(minute(from).epochMilliseconds)}::float8 / 1000) + n * interval '1 minute'
from generate_series(0, ${String(count - 1)}::integer) n`,
  )

const empty = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`delete from billwright.billing_due`)
const keyOf = ({ subject }: ClaimedSubject): string => subject.id
const accountOf = ({ tenant }: ClaimedSubject): string => tenant.accountId

describe("the queue", () => {
  layer(live, { excludeTestServices: true })((it) => {
    it.effect("gives each subject to one of many runners", () =>
      Effect.gen(function* () {
        yield* empty
        for (const account of ["a", "b", "c"]) yield* queue(account, 0, 150)
        const all = yield* Effect.all(
          Array.from({ length: 12 }, () => claim(1_000, 50)),
          { concurrency: "unbounded" },
        )
        const claimed = all.flat()
        assert.strictEqual(new Set(claimed.map(keyOf)).size, claimed.length)
        assert.strictEqual(new Set(claimed.map(({ token }) => token)).size, claimed.length)
        const rest = yield* claim(1_000, 500)
        assert.lengthOf([...claimed, ...rest], 450)
        assert.deepStrictEqual(yield* claim(1_000), [])
      }),
    )

    it.effect(
      "gives a subject again when the lease of a killed runner is over, and the old lease holds no more",
      () =>
        Effect.gen(function* () {
          const transactor = yield* Transactor
          yield* empty
          yield* queue("a", 0, 1)
          const [first] = yield* claim(0)
          assert.deepStrictEqual(yield* claim(1), [])
          const next = yield* Effect.flatMap(DueStore, (due) => due.nextDueAt)
          assert.deepStrictEqual(next, Option.some(minute(2)))
          assert.isTrue(yield* transactor.atomically(holds(first!)))
          const [second] = yield* claim(2)
          assert.strictEqual(keyOf(second!), keyOf(first!))
          assert.notStrictEqual(second!.token, first!.token)
          assert.isFalse(yield* transactor.atomically(holds(first!)))
          assert.isFalse(yield* release(first!))
          assert.isTrue(yield* release(second!))
          assert.isFalse(yield* transactor.atomically(holds(second!)))
        }),
    )

    it.effect("gives nobody a subject that a transaction holds, also after its lease", () =>
      Effect.gen(function* () {
        const transactor = yield* Transactor
        yield* empty
        yield* queue("a", 0, 2)
        const [first, second] = yield* claim(1)
        const [isHeld, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const working = yield* holds(first!).pipe(
          Effect.tap(() => Deferred.succeed(isHeld, undefined)),
          Effect.tap(() => Deferred.await(mayEnd)),
          transactor.atomically,
          Effect.forkChild,
        )
        yield* Deferred.await(isHeld)
        assert.deepStrictEqual((yield* claim(10)).map(keyOf), [keyOf(second!)])
        yield* Deferred.succeed(mayEnd, undefined)
        assert.isTrue(yield* Fiber.join(working))
        assert.deepStrictEqual((yield* claim(11)).map(keyOf), [keyOf(first!)])
      }),
    )

    it.effect("gives tenants their turns, also behind a backlog", () =>
      Effect.gen(function* () {
        yield* empty
        yield* queue("busy", 0, 2_500)
        yield* queue("late1", 3_000, 2)
        yield* queue("late2", 3_005, 1)
        const claimed = yield* claim(10_000, 7)
        assert.deepStrictEqual(claimed.map(accountOf), [
          "busy",
          "busy",
          "busy",
          "busy",
          "late1",
          "late1",
          "late2",
        ])
        assert.deepStrictEqual(
          claimed.slice(0, 4).map(({ dueAt }) => dueAt),
          [0, 1, 2, 3].map((at) => minute(at).epochMilliseconds),
        )
        assert.deepStrictEqual((yield* claim(10_000, 1)).map(accountOf), ["busy"])
      }),
    )

    it.effect("gives every one of very many tenants a turn", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* empty
        yield* queue("a", 0, 1_200)
        yield* sql`insert into billwright.billing_due (account_id, mode, kind, id, customer_id, due_at)
select 't' || n, 'live', 'invoice', gen_random_uuid(), gen_random_uuid(),
  to_timestamp(${String(minute(5_000).epochMilliseconds)}::float8 / 1000) from generate_series(1, 1200) n`
        const seen = new Set<string>()
        for (let round = 0; round < 4; round++) {
          for (const claimed of yield* claim(10_000, 500)) seen.add(accountOf(claimed))
        }
        assert.strictEqual(seen.size, 1_201)
      }),
    )

    it.effect("tries again what failed, sets it aside, and lets nothing wait for it", () =>
      Effect.gen(function* () {
        yield* empty
        yield* queue("a", 0, 3)
        const [first, second] = yield* claim(1)
        const failure = (attempts: number, retryAt: DateTime.Utc | null) => ({
          attempts,
          problem: "it failed",
          at: minute(1),
          retryAt,
        })
        assert.isTrue(yield* release(first!, failure(1, minute(30))))
        assert.isTrue(yield* release(second!, failure(2, null)))
        const [third] = yield* claim(29)
        assert.lengthOf(yield* claim(29), 0)
        const next = Effect.flatMap(DueStore, (due) => due.nextDueAt)
        assert.deepStrictEqual(yield* next, Option.some(minute(30)))
        yield* release(third!)
        const again = yield* claim(30)
        assert.deepStrictEqual(
          again.map((claimed) => [keyOf(claimed), claimed.attempts]),
          [
            [keyOf(first!), 1],
            [keyOf(third!), 0],
          ],
        )
        yield* Effect.forEach(again, (claimed) => release(claimed, failure(3, null)))
        assert.deepStrictEqual(yield* next, Option.none())
      }),
    )
  })
})

/** More than 5: after those Postgres may switch to a generic plan. */
const EXECUTIONS = 8

/** How many rows of the queue were read so far. The pool has one connection, which reports what it counted. */
const rowsRead = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select pg_stat_force_next_flush()`
  const [row] = yield* sql<{ count: string }>`select (seq_tup_read + idx_tup_fetch)::text as count
from pg_stat_user_tables where relname = 'billing_due'`
  return Number(row?.count)
})

describe("the queue", () => {
  const single = Billing.layer.pipe(
    Layer.provideMerge(Storage.layer()),
    Layer.provideMerge(TestDatabase.layerClient({ poolSize: 1 })),
  )

  layer(single, { excludeTestServices: true })((it) => {
    it.effect("is read by its indexes, also when it was analyzed while it was empty", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const transactor = yield* Transactor
        yield* empty
        yield* sql`analyze billwright.billing_due`
        yield* claim(0)
        yield* queue("later", 100_000, 20_000)
        yield* queue("a", 0, 10)
        const before = yield* rowsRead
        for (let n = 0; n < EXECUTIONS; n++) {
          const [claimed] = yield* claim(10 * n, 1)
          assert.isTrue(yield* transactor.atomically(holds(claimed!)))
          yield* release(claimed!)
        }
        // The due rows, and not the 20,000 that are due later.
        assert.isBelow((yield* rowsRead) - before, EXECUTIONS * 40)
        // The subject of one customer, and not those of others.
        yield* queue("b", 0, 20_000)
        const [{ customer } = { customer: "" }] = yield* sql<{
          readonly customer: string
        }>`select customer_id::text as customer from billwright.billing_due where account_id = 'b' limit 1`
        const customerId = Id.fromUuid(Customer.CUSTOMER_ID_PREFIX, customer) as Customer.CustomerId
        const beforeCustomer = yield* rowsRead
        const ofB = Effect.provideService(CurrentTenant, { accountId: "b" as Tenant.AccountId, mode: "live" })
        for (let n = 0; n < EXECUTIONS; n++) {
          const due = yield* DueStore
          const until = minute(1_000_000).epochMilliseconds
          assert.lengthOf(yield* due.ofCustomer(customerId, until).pipe(ofB), 1)
        }
        assert.isBelow((yield* rowsRead) - beforeCustomer, EXECUTIONS * 10)
        yield* sql`delete from billwright.billing_due where account_id = 'b'`
        const beforeNext = yield* rowsRead
        for (let n = 0; n < EXECUTIONS; n++) yield* Effect.flatMap(DueStore, (due) => due.nextDueAt)
        // It reads the first 1,000 for the end of their leases.
        assert.isBelow((yield* rowsRead) - beforeNext, EXECUTIONS * 1_010)
      }),
    )
  })
})

describe("two runners", () => {
  const process = (url: string) =>
    Billing.layer.pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
    )
  const MONTH = DateTime.add(START, { months: 1, hours: 2 }).epochMilliseconds

  it.live("bill each period once, with numbers without gaps, also after one was killed", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const runners = yield* Effect.forEach([1, 2, 3], () => Layer.build(Layer.fresh(process(url))))
      const [one] = runners
      yield* Effect.gen(function* () {
        yield* TestClock.setTime(START.epochMilliseconds)
        for (let n = 0; n < 12; n++) {
          const { customer } = yield* subscribe
          yield* use(customer, 100 * n)
        }
        yield* TestClock.setTime(MONTH)
        // A runner that claims everything and is killed.
        const lost = yield* Effect.flatMap(DueStore, (due) =>
          due.claimDue({
            lane: "billing",
            now: DateTime.makeUnsafe(MONTH),
            leaseUntil: DateTime.makeUnsafe(MONTH + 60_000),
            limit: 500,
          }),
        )
        assert.lengthOf(lost, 24)
        const runs = yield* BillingRuns
        assert.deepStrictEqual(yield* runs.runDue(), {
          subscriptions: 0,
          invoices: 0,
          failed: 0,
          hasMore: false,
        })
        yield* TestClock.setTime(MONTH + 60_000)
        const all = Effect.flatMap(BillingRuns, (own) => own.runDue())
        const reports = yield* Effect.all(
          runners.map((runner) => Effect.provide(all, runner)),
          { concurrency: "unbounded" },
        )
        assert.strictEqual(
          reports.reduce((sum, { failed }) => sum + failed, 0),
          0,
        )
        yield* advanceTo(MONTH + 7_200_000)
        for (const claimed of lost) {
          const transactor = yield* Transactor
          assert.isFalse(yield* transactor.atomically(holds(claimed)))
        }
        const invoices = yield* allInvoices
        assert.lengthOf(invoices, 24)
        assert.deepStrictEqual(
          invoices.map(({ number }) => number).toSorted(),
          Array.from({ length: 24 }, (_, n) => `2026-${String(n + 1).padStart(4, "0")}`),
        )
        const { data } = yield* (yield* Invoices).list({ limit: 100, status: "draft" })
        assert.lengthOf(data, 0)
        const finalized = (yield* allEvents).filter(
          (payload) => typeof payload === "string" && payload.includes(`"invoice.finalized"`),
        )
        assert.lengthOf(finalized, 24)
      }).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(one!))
    }).pipe(Effect.scoped),
  )
})
