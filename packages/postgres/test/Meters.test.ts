/**
 * Meters under concurrency that the contract suite can't force, because the test has to hold transactions open, or to see
 * what Postgres does.
 */
import type { EventEmitter } from "node:events"
import {
  Billing,
  type CurrentTenant,
  type Customer,
  Customers,
  InvalidInput,
  type Meter,
  Meters,
  Rollup,
  StorageError,
  Transactor,
  Usage,
  type UsageDiscrepancy,
  type UsageRecord,
  UsageStore,
} from "@billwright/core"
import { Host, Storage } from "@billwright/postgres"
import { Sample } from "@billwright/testing"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Pool } from "pg"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const live = Billing.layer.pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient({ poolSize: 20 })),
)

const DAY_MILLIS = 86_400_000
const FIRST_DAY = DateTime.makeUnsafe("2026-03-10T12:00:00Z")

const newCustomer = Effect.flatMap(Customers, (customers) => customers.create({ name: "A", email: "a@b" }))

/** Appends records of the product `p` in the unit `u`, and gives the tags of their outcomes. */
const append = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  fields: ReadonlyArray<Partial<UsageRecord.NewUsageRecord>>,
) {
  const records = yield* Effect.forEach(fields, (field) =>
    Sample.record(customerId, { productId: "p", unit: "u", timestamp: FIRST_DAY, ...field }),
  )
  const { outcomes } = yield* (yield* UsageStore).append(records)
  return outcomes.map(({ _tag }) => _tag)
})

/** A meter with the dimension `model`, after the work that its creation does itself. */
const newMeter = Effect.fnUntraced(function* (key: string, productId = "p") {
  return yield* (yield* Meters).create({ key, productId, unit: "u", dimensions: ["model"] })
})

const totalOf = (customerId: Customer.CustomerId, meter: Meter.Meter) =>
  Effect.map(
    Effect.flatMap(Usage, (usage) => usage.summary({ customerId, meter: meter.key })),
    ({ recordCount }) => recordCount,
  )

const requireNoDiscrepancy = Effect.flatMap(UsageStore, ({ audit }) =>
  Effect.map(audit, (found) => assert.deepStrictEqual(found, [])),
)

/** Runs `effect` in a transaction, then `meanwhile`, and only then lets the transaction commit. */
const around = Effect.fnUntraced(function* <A, E, R, B, E2, R2>(
  effect: Effect.Effect<A, E, R>,
  meanwhile: Effect.Effect<B, E2, R2>,
) {
  const { atomically } = yield* Transactor
  const [isDone, mayCommit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const held = Effect.tap(effect, () =>
    Effect.andThen(Deferred.succeed(isDone, undefined), Deferred.await(mayCommit)),
  )
  const holder = yield* Effect.forkChild(atomically(held))
  yield* Deferred.await(isDone)
  const result = yield* meanwhile
  yield* Deferred.succeed(mayCommit, undefined)
  return [yield* Fiber.join(holder), result] as const
})

const repeatableRead = Effect.provideService(
  SqlClient.BeginTransaction,
  "BEGIN ISOLATION LEVEL REPEATABLE READ",
)

/** What Postgres said, at the bottom of a driver's error. */
const refusalOf = (error: unknown): { code?: string; detail?: string; message?: string } => {
  let found = error as { cause?: unknown; reason?: unknown }
  while ((found.cause ?? found.reason) !== undefined) found = (found.cause ?? found.reason) as typeof found
  return found as { code?: string; detail?: string; message?: string }
}

const count = (table: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql.unsafe<{ count: string }>(`select count(*)::text as count from billwright.${table}`),
      ([row]) => Number(row?.count),
    ),
  )

/** The rows of the tables of usage that were read so far. */
const rowsRead = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select pg_stat_force_next_flush()`
  const rows = yield* sql<{ name: string; read: string }>`
select relname as name, (seq_tup_read + idx_tup_fetch)::text as read from pg_stat_user_tables
where schemaname = 'billwright' and relname in ('usage_records', 'meter_cells') order by relname`
  return new Map(rows.map(({ name, read }) => [name, Number(read)]))
})

/** How many rows of each table an effect reads. All on one connection, whose counts are complete. */
const readBy = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const before = yield* rowsRead
  yield* effect
  const after = yield* rowsRead
  return Object.fromEntries([...after].map(([name, read]) => [name, read - (before.get(name) ?? 0)]))
})

/** The storage on a host's pool, and how many rows the server has sent to it. */
const watched = Effect.gen(function* () {
  const connectionString = yield* TestDatabase.make
  const rows = { received: 0 }
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => new Pool({ connectionString })),
    (made) => Effect.promise(() => made.end()),
  )
  pool.on("connect", (client) => {
    const { connection } = client as unknown as { readonly connection: EventEmitter }
    connection.on("dataRow", () => rows.received++)
  })
  const storage = Billing.layer.pipe(Layer.provideMerge(Storage.layer()), Layer.provide(Host.fromPool(pool)))
  return { rows, storage }
})

const alone = Billing.layer.pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient({ poolSize: 1 })),
)

type Needed = Billing.Services | Billing.Storage | CurrentTenant

describe("the cost of a meter", () => {
  layer(alone, { excludeTestServices: true })((it) => {
    for (const aggregation of ["sum", "max", "latest", "time_weighted"] as const) {
      it.effect(
        `${aggregation}: summaries and appends read as many rows however many records there are`,
        () =>
          Effect.gen(function* () {
            const customers = [yield* newCustomer, yield* newCustomer] as const
            const models = ["a", "b", "c"]
            yield* (yield* Meters).create({
              key: aggregation,
              productId: aggregation,
              unit: "u",
              dimensions: ["model"],
              aggregation,
            })
            // 10 records a day, and 100.
            for (const [index, { id }] of customers.entries()) {
              const records = Array.from({ length: index === 0 ? 100 : 1000 }, (_, number) => ({
                productId: aggregation,
                dimensions: { model: models[number % 3]! },
                timestamp: DateTime.makeUnsafe(
                  FIRST_DAY.epochMilliseconds + (number % 10) * DAY_MILLIS + number,
                ),
              }))
              yield* append(id, records)
            }
            const month = (id: Customer.CustomerId) =>
              Effect.flatMap(Usage, (usage) =>
                usage.summary({
                  customerId: id,
                  meter: aggregation,
                  where: { model: ["a", "b"] },
                  startDate: "2026-03-12",
                  endDate: "2026-03-18",
                }),
              )
            const next = { productId: aggregation, dimensions: { model: "a" } }
            let late = FIRST_DAY.epochMilliseconds + DAY_MILLIS / 3
            const another = (id: Customer.CustomerId) =>
              append(id, [{ ...next, timestamp: DateTime.makeUnsafe(late++) }])
            const works: ReadonlyArray<(id: Customer.CustomerId) => Effect.Effect<unknown, unknown, Needed>> =
              [month, another]
            for (const work of works) {
              // Once without counting: a connection reads definitions and makes plans.
              for (const { id } of customers) yield* work(id)
              const [few, many] = [yield* readBy(work(customers[0].id)), yield* readBy(work(customers[1].id))]
              assert.deepStrictEqual(few, many)
              assert.isAtMost(few["meter_cells"]!, 7 * 3 + 3 * 3)
            }
          }).pipe(asTenant),
        60_000,
      )
    }
  })
})

it.live("a summary of levels gets nothing of combinations whose level has ended", () =>
  Effect.gen(function* () {
    const { rows, storage } = yield* watched
    yield* Effect.gen(function* () {
      yield* (yield* Meters).create({
        key: "levels",
        productId: "p",
        unit: "u",
        dimensions: ["model"],
        aggregation: "time_weighted",
      })
      const receivedWith = Effect.fnUntraced(function* (ended: number) {
        const { id: customerId } = yield* newCustomer
        const later = DateTime.add(FIRST_DAY, { days: 1 })
        yield* append(
          customerId,
          Array.from({ length: ended }, (_, index) => ({ dimensions: { model: `m${index}` } })),
        )
        yield* append(customerId, [
          ...Array.from({ length: ended }, (_, index) => ({
            dimensions: { model: `m${index}` },
            quantity: 0,
            timestamp: later,
          })),
          { dimensions: { model: "alive" }, quantity: 2 },
        ])
        const usage = yield* Usage
        const april = { meter: "levels", startDate: "2026-04-01", endDate: "2026-04-30" }
        const before = rows.received
        const { denominator, totalQuantity } = yield* usage.summary({ customerId, ...april })
        assert.strictEqual(totalQuantity / denominator, 2n)
        return rows.received - before
      })
      // Once without counting: a connection reads definitions.
      yield* receivedWith(1)
      assert.strictEqual(yield* receivedWith(300), yield* receivedWith(3))
    }).pipe(asTenant, Effect.provide(storage))
  }).pipe(Effect.scoped),
)

it.live("a meter can't be built again from a day of which somebody has removed records", () =>
  Effect.gen(function* () {
    const { id } = yield* newCustomer
    const sql = yield* SqlClient.SqlClient
    const meters = yield* Meters
    const product = { productId: "pruned", dimensions: { model: "a", region: "eu" } }
    const days = [0, 1, 2].map((day) => DateTime.add(FIRST_DAY, { days: day }))
    yield* append(
      id,
      days.flatMap((timestamp) => [
        { ...product, timestamp },
        { ...product, timestamp },
      ]),
    )
    const store = yield* UsageStore
    const { data } = yield* store.list(
      { customerId: id, productId: "pruned", unit: "u" },
      { limit: 1, cursor: undefined },
    )
    // A voided record is still there.
    yield* store.void(data[0]!.id, FIRST_DAY)
    const old = yield* newMeter("pruned", "pruned")
    const prune = (table: string, where: string) =>
      sql.unsafe(
        `delete from billwright.${table} where customer_id = billwright.parse_id('cus', '${id}') and ${where}`,
      )
    yield* prune("usage_records", "occurred_at < '2026-03-11'")
    yield* prune(
      "usage_records",
      `id = (select id from billwright.usage_records
where occurred_at < '2026-03-12' and product_id = 'pruned' limit 1)`,
    )
    const groupBy = ["model", "region"]
    for (const [index, day] of ["2026-03-10", "2026-03-11"].entries()) {
      yield* meters.update(old.id, { dimensions: groupBy })
      const failed = yield* meters.rebuild(old.id)
      assert.strictEqual(
        failed.rebuild?.problem,
        `records of customer ${id} on ${day} were removed, so that day can't be computed again`,
      )
      assert.deepStrictEqual([failed.status, failed.rebuild?.status], ["ready", "failed"])
      assert.deepStrictEqual(failed.dimensions, ["model"])
      assert.strictEqual(yield* totalOf(id, failed), 5)
      const created = yield* newMeter(`other_${index}`, "pruned")
      assert.strictEqual((yield* meters.rebuild(created.id)).status, "building")
      yield* meters.archive(created.id)
      // With the total of the day gone as well, nothing says any more that there were records.
      yield* prune("usage_daily", `product_id = 'pruned' and day = '${day}'`)
    }
    yield* meters.update(old.id, { dimensions: groupBy })
    const built = yield* meters.rebuild(old.id)
    assert.deepStrictEqual([built.dimensions, built.rebuild], [groupBy, null])
    assert.strictEqual(yield* totalOf(id, built), 1)
    yield* prune("usage_records", "product_id = 'pruned' and occurred_at < '2026-03-12'")
    yield* requireNoDiscrepancy
  }).pipe(asTenant, Effect.provide(live)),
)

describe("meters", () => {
  layer(live, { excludeTestServices: true })((it) => {
    it.effect("have at most 1,000 combinations when 64 appends add the last ones together", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const meter = yield* newMeter("limited")
        const model = (index: number) => ({ dimensions: { model: `m${index}` } })
        yield* append(
          id,
          Array.from({ length: Rollup.MAX_COMBINATIONS - 20 }, (_, index) => model(index)),
        )
        // Each append has a new combination, a known one, and one that another append has, too.
        const appends = Array.from({ length: 64 }, (_, index) =>
          append(id, [model(2000 + index), model(index), model(3000 + Math.floor(index / 2))]),
        )
        const outcomes = yield* Effect.all(appends, { concurrency: "unbounded" })
        for (const [, known] of outcomes) assert.strictEqual(known, "Recorded")
        const [row] = yield* (yield* SqlClient.SqlClient)<{ combinations: string; cells: string }>`
select combination_count::text as combinations, (select count(*) from billwright.meter_cells c
  where c.meter_id = d.meter_id)::text as cells
from billwright.meter_days d where customer_id = billwright.parse_id('cus', ${id})`
        assert.deepStrictEqual(row, { combinations: "1000", cells: "1000" })
        const recorded = outcomes.flat().filter((tag) => tag === "Recorded").length
        assert.strictEqual(yield* totalOf(id, meter), Rollup.MAX_COMBINATIONS - 20 + recorded)
        assert.isAtMost(recorded, 64 + 20 + 32)
        yield* requireNoDiscrepancy
      }).pipe(asTenant),
    )

    it.effect("refuse what record_usage adds with the error of the library", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const sql = yield* SqlClient.SqlClient
        const name = "the model"
        yield* (yield* Meters).create({ key: "sql", productId: "sql", unit: "u", dimensions: [name] })
        yield* append(
          id,
          Array.from({ length: Rollup.MAX_COMBINATIONS }, (_, index) => ({
            productId: "sql",
            dimensions: { [name]: `m${index}` },
          })),
        )
        const record = { customerId: id, productId: "sql", unit: "u", quantity: 1, timestamp: FIRST_DAY }
        const ours = yield* Effect.flip(
          Effect.flatMap(Usage, (usage) => usage.record({ ...record, dimensions: { [name]: "new" } })),
        )
        assert.instanceOf(ours, InvalidInput)
        const call = (model: string) => sql<{
          status: string
        }>`select billwright.record_usage('default', 'live', ${id},
'sql', 1, 'u', ${DateTime.formatIso(FIRST_DAY)}::timestamptz, null,
${JSON.stringify({ [name]: model })}::text::jsonb) ->> 'status' as status`
        const { code, detail, message } = refusalOf(yield* Effect.flip(call("new")))
        assert.deepStrictEqual([code, detail, message], ["BW400", ours.field, ours.message])
        assert.deepStrictEqual(yield* call("m0"), [{ status: "recorded" }])
        yield* requireNoDiscrepancy
      }).pipe(asTenant),
    )

    it.effect("wait for a transaction that appended before it could see them", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const meters = yield* Meters
        const product = { productId: "early" }
        const [tags, meter] = yield* around(
          append(id, [{ ...product, dimensions: { model: "a" } }]),
          Effect.gen(function* () {
            const made = yield* newMeter("early", "early")
            assert.strictEqual(made.status, "building")
            // Other appends don't wait for it.
            const next = DateTime.makeUnsafe(FIRST_DAY.epochMilliseconds + DAY_MILLIS)
            const tags = yield* append(id, [{ ...product, timestamp: next, dimensions: { model: "b" } }])
            assert.deepStrictEqual(tags, ["Recorded"])
            return made
          }),
        )
        assert.deepStrictEqual(tags, ["Recorded"])
        assert.strictEqual((yield* meters.rebuild(meter.id)).status, "ready")
        assert.strictEqual(yield* totalOf(id, meter), 2)
        yield* requireNoDiscrepancy
      }).pipe(asTenant),
    )

    it.effect("are built while another transaction has appended and stays open", () =>
      Effect.gen(function* () {
        const [{ id: busy }, { id: other }] = [yield* newCustomer, yield* newCustomer]
        const meters = yield* Meters
        const product = { productId: "open", dimensions: { model: "a" } }
        yield* append(busy, [product])
        yield* append(other, [product])
        const meter = yield* newMeter("open", "open")
        const changed = yield* meters.update(meter.id, { aggregation: "max" })
        const built = yield* meters.rebuild(changed.id)
        // This append has seen the second change, so its building goes on only after the commit.
        const [, seen] = yield* around(
          append(busy, [product]),
          Effect.andThen(meters.update(built.id, { aggregation: "latest" }), meters.get(built.id)),
        )
        assert.strictEqual(seen.aggregation, "max")
        assert.strictEqual((yield* meters.rebuild(built.id)).aggregation, "latest")
        assert.strictEqual(yield* totalOf(busy, meter), 2)
        yield* requireNoDiscrepancy
      }).pipe(asTenant),
    )

    it.effect("don't wait for the maintenance of tables, which writes no rows", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const sql = yield* SqlClient.SqlClient
        yield* append(id, [{ productId: "upkeep", dimensions: { model: "a" } }])
        // The locks of VACUUM, ANALYZE and CREATE INDEX CONCURRENTLY, and of CREATE INDEX.
        for (const [key, mode] of [
          ["vacuumed", "share update exclusive"],
          ["indexed", "share"],
        ] as const) {
          const lock = sql.unsafe(`lock billwright.customers, billwright.usage_records in ${mode} mode`)
          const [, meter] = yield* around(lock, newMeter(key, "upkeep"))
          assert.deepStrictEqual([meter.status, meter.rebuild], ["ready", null])
        }
      }).pipe(asTenant),
    )

    it.effect("are not missed by a transaction with an older snapshot: it fails, and can be repeated", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const sql = yield* SqlClient.SqlClient
        const product = { productId: "snapshot", dimensions: { model: "a" } }
        const meters = yield* Meters
        const [isBegun, mayGoOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const old = yield* sql
          .withTransaction(
            Effect.gen(function* () {
              yield* sql`select 1 from billwright.customers limit 1`
              yield* Deferred.succeed(isBegun, undefined)
              yield* Deferred.await(mayGoOn)
              return yield* append(id, [product])
            }),
          )
          .pipe(repeatableRead, Effect.flip, Effect.forkChild)
        yield* Deferred.await(isBegun)
        const meter = yield* newMeter("snapshot", "snapshot")
        assert.strictEqual((yield* meters.rebuild(meter.id)).status, "ready")
        yield* Deferred.succeed(mayGoOn, undefined)
        const error = yield* Fiber.join(old)
        assert.instanceOf(error, StorageError)
        assert.isTrue(error.retryable)
        // With a newer snapshot it succeeds.
        const again = yield* sql.withTransaction(append(id, [product])).pipe(repeatableRead)
        assert.deepStrictEqual(again, ["Recorded"])
        assert.strictEqual(yield* totalOf(id, meter), 1)
        yield* requireNoDiscrepancy
      }).pipe(asTenant),
    )

    it.effect(
      "are built by two at once, with appends and voids meanwhile, at both isolation levels",
      () =>
        Effect.gen(function* () {
          const customers = yield* Effect.forEach([1, 2, 3, 4], () => newCustomer)
          const meters = yield* Meters
          const store = yield* UsageStore
          for (const [level, at] of [
            ["committed", <A, E, R>(effect: Effect.Effect<A, E, R>) => effect],
            ["repeatable", repeatableRead],
          ] as const) {
            const fields = (round: number) => ({
              productId: level,
              dimensions: { model: `m${round % 5}` },
              timestamp: DateTime.makeUnsafe(FIRST_DAY.epochMilliseconds + (round % 7) * DAY_MILLIS),
            })
            const write = (customerId: Customer.CustomerId) =>
              Effect.forEach(
                Array.from({ length: 20 }, (_, round) => round),
                (round) =>
                  Effect.gen(function* () {
                    yield* append(customerId, [fields(round), fields(round + 1)])
                    if (round % 4 > 0) return
                    const { data } = yield* store.list(
                      { customerId, productId: level, unit: "u" },
                      { limit: 1, cursor: undefined },
                    )
                    yield* store.void(data[0]!.id, FIRST_DAY)
                  }).pipe(at),
              )
            yield* Effect.forEach(customers, ({ id }) => write(id))
            const meter = yield* newMeter(level, level)
            const rebuild = Effect.retry(meters.rebuild(meter.id), {
              while: (error) => error instanceof StorageError && error.retryable,
              times: 20,
            })
            yield* Effect.all([...customers.map(({ id }) => write(id)), at(rebuild), at(rebuild)], {
              concurrency: "unbounded",
            })
            const done = yield* rebuild
            assert.deepStrictEqual([done.status, done.rebuild], ["ready", null])
            for (const { id } of customers) assert.strictEqual(yield* totalOf(id, done), 70)
          }
          yield* requireNoDiscrepancy
        }).pipe(asTenant),
      60_000,
    )

    it.effect(
      "go on with their building when the connection of a batch is killed",
      () =>
        Effect.gen(function* () {
          const { id } = yield* newCustomer
          const meters = yield* Meters
          const sql = yield* SqlClient.SqlClient
          yield* append(
            id,
            Array.from({ length: 300 }, (_, index) => ({
              productId: "killed",
              dimensions: { model: `m${index % 3}` },
              timestamp: DateTime.makeUnsafe(FIRST_DAY.epochMilliseconds + index * DAY_MILLIS),
            })),
          )
          const created = yield* newMeter("killed", "killed")
          const seen: Array<number> = []
          const rebuild = meters.rebuild(created.id, {
            onProgress: ({ rebuild: work }) =>
              Effect.sync(() => {
                if (work !== null) seen.push(work.done)
              }),
          })
          const kill = sql`select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and query ilike '%build_cells%' and state = 'active'`
          // A batch waits for this append, so it is there to be killed.
          yield* around(
            append(id, [{ productId: "killed", dimensions: { model: "m0" } }]),
            Effect.gen(function* () {
              const building = yield* Effect.forkChild(Effect.ignore(rebuild))
              yield* Effect.repeat(kill, { until: (killed) => killed.length > 0 })
              yield* Fiber.interrupt(building)
            }),
          )
          const meter = yield* rebuild
          assert.deepStrictEqual([meter.status, meter.rebuild], ["ready", null])
          assert.deepStrictEqual(
            seen,
            seen.toSorted((a, b) => a - b),
          )
          assert.strictEqual(yield* totalOf(id, meter), 301)
          yield* requireNoDiscrepancy
        }).pipe(asTenant),
      60_000,
    )

    it.effect("stay right when records are voided on a day that is not built yet", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const meters = yield* Meters
        const store = yield* UsageStore
        const product = { productId: "unbuilt", dimensions: { model: "a" } }
        // A batch builds 100 days, so the last one is left.
        const days = Array.from(
          { length: 101 },
          (_, index) => FIRST_DAY.epochMilliseconds + index * DAY_MILLIS,
        )
        const last = DateTime.makeUnsafe(days.at(-1)!)
        yield* append(
          id,
          days.map((at) => ({ ...product, timestamp: DateTime.makeUnsafe(at) })),
        )
        yield* append(id, [
          { ...product, timestamp: last },
          { ...product, timestamp: last },
        ])
        const { atomically } = yield* Transactor
        const created = yield* atomically(newMeter("unbuilt", "unbuilt"))
        const begun = yield* meters.rebuild(created.id, { batches: 2 })
        assert.deepInclude(begun.rebuild, { status: "building", done: 100, total: 101 })
        yield* append(id, [{ ...product, timestamp: last }])
        const { data } = yield* store.list(
          { customerId: id, productId: "unbuilt", unit: "u" },
          { limit: 3, cursor: undefined },
        )
        for (const record of data) yield* store.void(record.id, FIRST_DAY)
        const meter = yield* meters.rebuild(created.id)
        assert.strictEqual(yield* totalOf(id, meter), 101)
        yield* requireNoDiscrepancy
      }).pipe(asTenant),
    )

    it.effect("are audited: a damaged, a missing and a superfluous cell are found", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const sql = yield* SqlClient.SqlClient
        yield* newMeter("audited", "audited")
        yield* append(
          id,
          ["a", "b"].map((model) => ({ productId: "audited", quantity: 3, dimensions: { model } })),
        )
        yield* requireNoDiscrepancy
        const damage = Effect.gen(function* () {
          yield* sql`update billwright.meter_cells set quantity = 4, combination = '{a}'
where customer_id = billwright.parse_id('cus', ${id}) and combination = '{a}'`
          yield* sql`update billwright.meter_cells set combination = '{c}'
where customer_id = billwright.parse_id('cus', ${id}) and combination = '{b}'`
          return yield* (yield* UsageStore).audit
        })
        const undone = yield* sql.withTransaction(Effect.flatMap(damage, Effect.fail)).pipe(Effect.flip)
        assert.isArray(undone)
        const found = (undone as ReadonlyArray<UsageDiscrepancy>).map(
          ({ combination, meterKey, recordsQuantity, rollupCount, rollupQuantity }) =>
            [meterKey, combination, recordsQuantity, rollupQuantity, rollupCount] as const,
        )
        assert.deepStrictEqual(found, [
          ["audited", ["a"], 3n, 4n, 1],
          ["audited", ["b"], 3n, 0n, 0],
          ["audited", ["c"], 0n, 3n, 1],
        ])
        yield* requireNoDiscrepancy
      }).pipe(asTenant),
    )

    it.effect("leave no cells, and nothing to do, when they are archived", () =>
      Effect.gen(function* () {
        const { id } = yield* newCustomer
        const meters = yield* Meters
        const before = [yield* count("meter_cells"), yield* count("meter_days")]
        const meter = yield* newMeter("ended", "ended")
        const [, archived] = yield* around(
          append(id, [{ productId: "ended", dimensions: { model: "a" } }]),
          Effect.andThen(meters.archive(meter.id), meters.get(meter.id)),
        )
        // The transaction has added a cell that was no longer needed.
        assert.strictEqual(archived.rebuild?.status, "removing")
        assert.isNull((yield* meters.rebuild(meter.id)).rebuild)
        assert.deepStrictEqual([yield* count("meter_cells"), yield* count("meter_days")], before)
        assert.strictEqual(yield* count("meter_works"), 0)
      }).pipe(asTenant),
    )
  })
})
