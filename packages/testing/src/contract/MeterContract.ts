/**
 * The contract of meters: `rollup`, `build`, `sweep` and `unfinished` of `UsageStore`, and what appends and voids do to
 * cells.
 */
import { CurrentTenant, type Meter, Rollup, StorageError, Transactor, UsageStore } from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import * as fc from "fast-check"
import { cut, cutFor, recordDimensions, rollupDefinition } from "../generators/MeterGenerators.ts"
import { valuesOf } from "../model/ReferenceMeter.ts"
import { forAll } from "../Property.ts"
import * as Sample from "../Sample.ts"
import {
  asTenant,
  type ContractServices,
  type ContractTest,
  Effort,
  otherTenants,
  same,
  times,
  together,
} from "./ContractTest.ts"
import * as MeterProbe from "./MeterProbe.ts"
import { append, appendOne, listed, newCustomer } from "./UsageProbe.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Midnight before the records of the tests. */
const START = Sample.instant("2026-03-09T00:00:00.000Z").epochMilliseconds

const at = (millis: number): DateTime.Utc => DateTime.makeUnsafe(START + millis)

/** Few instants, so that some are equal and some are at the borders of days. */
const moment = fc.oneof(
  fc.constantFrom(0, DAY - 1, DAY, DAY + 1, 2 * DAY, 3 * DAY - 1),
  fc.integer({ min: 0, max: 3 * DAY - 1 }),
)
const written = fc.record({
  moment,
  dimensions: recordDimensions,
  quantity: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant(Number.MAX_SAFE_INTEGER)),
  key: fc.option(fc.constantFrom("a", "b", "\uffee", "😀"), { nil: null }),
  isVoided: fc.boolean(),
})

const query = fc.record({
  cuts: fc.uniqueArray(fc.integer({ min: -DAY, max: 4 * DAY }), { minLength: 2, maxLength: 5 }),
  isOpen: fc.boolean(),
  cut,
})
type Query = typeof query extends fc.Arbitrary<infer A> ? A : never

/** A query that the meter can answer. */
const queryOf = (of: Rollup.Definition, { cut: chosen, cuts, isOpen }: Query) => {
  const instants = cuts.toSorted((a, b) => a - b).map((each) => START + each)
  const open = [undefined, ...instants.slice(1, -1), undefined]
  return {
    boundaries: isOpen && of.aggregation !== "time_weighted" ? open : instants,
    ...cutFor(of, chosen),
  }
}

/** How a caller handles a temporary failure. */
const again = { while: (error: unknown) => error instanceof StorageError && error.retryable, times: 50 }

const values = (test: ContractTest): void => {
  test(
    "gives the values of every aggregation, by any window, filter and group, also of late and voided records",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const effort = yield* Effort
      const written3 = fc.tuple(
        fc.array(written, { maxLength: 12 }),
        fc.array(written, { maxLength: 12 }),
        fc.array(written, { maxLength: 12 }),
      )
      const generated = fc.record({
        before: rollupDefinition,
        after: rollupDefinition,
        written: written3,
        query,
      })
      const check = Effect.fnUntraced(function* (
        meter: Meter.Meter,
        customerId: Parameters<typeof listed>[0],
        asked: Query,
      ) {
        const kept = (yield* listed(customerId)).filter(({ voidedAt }) => voidedAt === null)
        const q = queryOf(meter, asked)
        const answer = yield* MeterProbe.ask(customerId, meter, q)
        same(MeterProbe.totalsOf(answer), MeterProbe.inOrder(valuesOf(meter, kept, q)))
        same(MeterProbe.wholeOf(answer), MeterProbe.inOrder(valuesOf(meter, kept, { ...q, groupBy: [] })))
      })
      yield* forAll(generated, effort, ({ after, before, query: asked, written: [first, second, third] }) =>
        Effect.gen(function* () {
          const customerId = yield* newCustomer
          // A product of its own, so that the meters of earlier cases have no records to read.
          const productId = customerId
          const write = Effect.fnUntraced(function* (batch: typeof first) {
            const records = yield* append(
              customerId,
              batch.map(({ dimensions: own, key, moment: when, quantity }) => ({
                productId,
                quantity,
                dimensions: own,
                timestamp: at(when),
                idempotencyKey: key,
              })),
            )
            for (const [index, { isVoided }] of batch.entries()) {
              if (isVoided) yield* store.void(records[index]!.id, Sample.CREATED_AT)
            }
          })
          yield* write(first)
          const { id } = yield* MeterProbe.insertMeter(before, { productId })
          yield* write(second)
          const meter = yield* MeterProbe.work(id)
          same(meter.status, "ready")
          yield* check(meter, customerId, asked)
          yield* MeterProbe.redefine(id, after)
          yield* write(third)
          // The old definition answers until the new one is whole.
          yield* check({ ...(yield* MeterProbe.current(id)), ...before }, customerId, asked)
          const changed = yield* MeterProbe.work(id)
          same([changed.status, changed.rebuild], ["ready", null])
          yield* check(changed, customerId, asked)
          yield* write(first)
          yield* check(changed, customerId, asked)
        }),
      )
      same(yield* store.audit, [])
    }),
  )

  test(
    "carries a level over from any day before the period",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const meter = yield* MeterProbe.readyMeter(
        MeterProbe.definition({ aggregation: "time_weighted", dimensions: ["model"] }),
      )
      yield* append(customerId, [
        { quantity: 5, timestamp: at(0), dimensions: { model: "a" } },
        { quantity: 7, timestamp: at(0), dimensions: { model: "b" } },
        { quantity: 0, timestamp: at(DAY), dimensions: { model: "b" } },
        { quantity: 1, timestamp: at(40 * DAY + HOUR), dimensions: { model: "a" } },
      ])
      const boundaries = [START + 39 * DAY, START + 40 * DAY, START + 41 * DAY]
      const hours = (count: number, level: number) => BigInt(count * HOUR) * BigInt(level)
      same(
        MeterProbe.totalsOf(yield* MeterProbe.ask(customerId, meter, { boundaries, groupBy: ["model"] })),
        [
          { window: 0, group: ["a"], quantity: hours(24, 5), recordCount: 0 },
          { window: 1, group: ["a"], quantity: hours(1, 5) + hours(23, 1), recordCount: 1 },
        ],
      )
    }),
  )

  test(
    "orders equal instants by idempotency key, then by id",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const meter = yield* MeterProbe.readyMeter(MeterProbe.definition({ aggregation: "latest" }))
      const latest = Effect.map(
        MeterProbe.ask(customerId, meter),
        (answer) => MeterProbe.totalsOf(answer)[0]?.quantity,
      )
      const timestamp = at(HOUR)
      yield* append(customerId, [{ quantity: 1, timestamp, idempotencyKey: "😀" }])
      yield* append(customerId, [{ quantity: 2, timestamp, idempotencyKey: "\uffee" }])
      yield* append(customerId, [{ quantity: 3, timestamp }])
      same(yield* latest, 1n)
      yield* append(customerId, [{ quantity: 4, timestamp: at(HOUR + 1) }])
      const [fifth] = yield* append(customerId, [{ quantity: 5, timestamp: at(HOUR + 1) }])
      same(yield* latest, 5n)
      yield* (yield* UsageStore).void(fifth!.id, Sample.CREATED_AT)
      same(yield* latest, 4n)
    }),
  )

  test(
    "says that there are too many groups, over all windows",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const meter = yield* MeterProbe.readyMeter(MeterProbe.definition({ dimensions: ["model"] }))
      yield* append(customerId, [
        { dimensions: { model: "a" }, timestamp: at(0) },
        { dimensions: { model: "b" }, timestamp: at(DAY) },
        { timestamp: at(DAY) },
      ])
      const boundaries = [START, START + DAY, START + 2 * DAY]
      const asked = (most: number) =>
        Effect.map(
          MeterProbe.ask(customerId, meter, { boundaries, groupBy: ["model"], most }),
          ({ _tag }) => _tag,
        )
      same([yield* asked(2), yield* asked(3)], ["TooManyGroups", "Totals"])
    }),
  )

  test(
    "answers for one generation only",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const meters = yield* MeterProbe.collection
      const building = yield* MeterProbe.insertMeter(MeterProbe.definition({ aggregation: "max" }))
      same(yield* MeterProbe.ask(customerId, building), { _tag: "Gone" })
      const first = yield* MeterProbe.work(building.id)
      same((yield* MeterProbe.ask(customerId, first))._tag, "Totals")
      yield* MeterProbe.redefine(first.id, MeterProbe.definition({ aggregation: "latest" }))
      const second = yield* MeterProbe.work(first.id)
      assert.isAbove(second.generation, first.generation)
      same(yield* MeterProbe.ask(customerId, first), { _tag: "Gone" })
      same((yield* MeterProbe.ask(customerId, second))._tag, "Totals")
      yield* meters.modify(first.id, (meter) => Effect.succeed(Rollup.archived(meter, Sample.CREATED_AT)))
      same(yield* MeterProbe.ask(customerId, second), { _tag: "Gone" })
      same((yield* MeterProbe.work(first.id)).rebuild, null)
      const other = yield* MeterProbe.insertMeter(MeterProbe.definition({ aggregation: "max" }))
      same(yield* MeterProbe.ask(customerId, { ...second, id: other.id }), { _tag: "Gone" })
    }),
  )

  test(
    "lists records with some dimensions, in pages",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const [a, , c] = yield* append(customerId, [
        { dimensions: { model: "a", region: "eu" } },
        { dimensions: { model: "b", region: "eu" } },
        { dimensions: { model: "c", region: "eu", other: "x" } },
        { dimensions: { region: "eu" } },
        { dimensions: { model: "a", region: "us" } },
        {},
      ])
      const where: Rollup.Where = [
        ["model", ["a", "c"]],
        ["region", ["eu"]],
      ]
      const filter = { customerId, productId: "api", unit: "call", where }
      same(yield* store.list(filter, { limit: 5, cursor: undefined }), { data: [c, a], hasMore: false })
      same(yield* store.list(filter, { limit: 1, cursor: undefined }), { data: [c], hasMore: true })
      const older = { limit: 1, cursor: { direction: "older", id: c!.id } } as const
      same(yield* store.list(filter, older), { data: [a], hasMore: false })
      const newer = { limit: 1, cursor: { direction: "newer", id: a!.id } } as const
      same(yield* store.list(filter, newer), { data: [c], hasMore: false })
    }),
  )
}

const limits = (test: ContractTest): void => {
  /** Combinations of two dimensions, of which `model` has more values. */
  const combination = (index: number) => ({
    model: `m${Math.floor(index / 2)}`,
    ...(index % 2 === 0 ? {} : { region: "eu" }),
  })

  test(
    "refuses the combination that is one too many for a customer and day, and nothing else",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const meter = yield* MeterProbe.readyMeter(MeterProbe.definition({ dimensions: ["region", "model"] }))
      const records = yield* append(
        customerId,
        times(Rollup.MAX_COMBINATIONS, (index) => ({ dimensions: combination(index), timestamp: at(HOUR) })),
      )
      // A combination whose records are voided still counts.
      yield* store.void(records[0]!.id, Sample.CREATED_AT)
      const made = yield* Effect.all([
        Sample.record(customerId, { dimensions: combination(0), timestamp: at(2 * HOUR) }),
        Sample.record(customerId, {
          dimensions: { model: "one too many" },
          timestamp: at(2 * HOUR),
          idempotencyKey: "refused",
        }),
        Sample.record(customerId, { dimensions: { model: "one too many" }, timestamp: at(DAY) }),
        Sample.record(yield* newCustomer, { dimensions: { model: "one too many" }, timestamp: at(HOUR) }),
        Sample.record(customerId, {
          unit: "byte",
          dimensions: { model: "one too many" },
          timestamp: at(HOUR),
        }),
      ])
      const { outcomes } = yield* store.append(made)
      same(
        outcomes.map(({ _tag }) => _tag),
        ["Recorded", "TooManyCombinations", "Recorded", "Recorded", "Recorded"],
      )
      same(outcomes[1], {
        _tag: "TooManyCombinations",
        meterKey: meter.key,
        day: "2026-03-09",
        dimension: "model",
      })
      const [total] = MeterProbe.totalsOf(
        yield* MeterProbe.ask(customerId, meter, { boundaries: [START, START + DAY] }),
      )
      same(total?.recordCount, Rollup.MAX_COMBINATIONS)
      // Nothing of it was stored, so its key is free.
      const { outcome } = yield* appendOne(customerId, { idempotencyKey: "refused", timestamp: at(5 * DAY) })
      same(outcome._tag, "Recorded")
      same(yield* store.audit, [])
    }),
  )

  test(
    "counts the combinations of one append, and of concurrent appends",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      yield* MeterProbe.readyMeter(MeterProbe.definition({ dimensions: ["model"], aggregation: "count" }))
      const rows = (from: number, count: number) =>
        Effect.all(
          times(count, (index) =>
            Sample.record(customerId, { dimensions: { model: `m${from + index}` }, timestamp: at(HOUR) }),
          ),
        )
      yield* store.append(yield* rows(0, 990))
      const batches = yield* Effect.all(times(4, (index) => rows(1000 + index * 5, 5)))
      const results = yield* together(batches.map((batch) => Effect.retry(store.append(batch), again)))
      const recorded = results.flatMap(({ outcomes }) => outcomes).filter(({ _tag }) => _tag === "Recorded")
      same(recorded.length, 10)
      const { outcomes } = yield* store.append([...(yield* rows(2000, 2)), ...(yield* rows(0, 1))])
      same(
        outcomes.map(({ _tag }) => _tag),
        ["TooManyCombinations", "TooManyCombinations", "Recorded"],
      )
      same(yield* store.audit, [])
    }),
  )

  test(
    "can't build a roll-up with too many combinations, and goes on answering",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const meter = yield* MeterProbe.readyMeter(MeterProbe.definition({ aggregation: "max" }))
      yield* append(
        customerId,
        times(Rollup.MAX_COMBINATIONS, (index) => ({ dimensions: combination(index), timestamp: at(HOUR) })),
      )
      yield* append(customerId, [{ dimensions: { model: "other" }, timestamp: at(2 * HOUR) }])
      yield* MeterProbe.redefine(meter.id, MeterProbe.definition({ dimensions: ["region", "model"] }))
      const failed = yield* MeterProbe.work(meter.id)
      same([failed.status, failed.aggregation, failed.rebuild?.status], ["ready", "max", "failed"])
      for (const named of ["2026-03-09", "model", customerId]) {
        assert.include(failed.rebuild?.problem ?? "", named)
      }
      const [total] = MeterProbe.totalsOf(yield* MeterProbe.ask(customerId, meter))
      same(total?.recordCount, Rollup.MAX_COMBINATIONS + 1)
      const { outcome } = yield* appendOne(customerId, { dimensions: { model: "more" }, timestamp: at(HOUR) })
      same(outcome._tag, "Recorded")
    }),
  )
}

const building = (test: ContractTest): void => {
  test(
    "builds in batches that go on where the last one ended, and says how far it is",
    Effect.gen(function* () {
      const [ada, bob] = yield* Effect.all([newCustomer, newCustomer])
      const days = times(5, (index) => ({ timestamp: at(index * DAY), quantity: index }))
      yield* append(ada, days)
      yield* append(bob, days)
      yield* append(bob, [{ unit: "byte" }])
      const { id } = yield* MeterProbe.insertMeter(MeterProbe.definition({ aggregation: "max" }))
      const seen: Array<readonly [number, number] | string> = []
      for (let batch = 0; batch < 12; batch++) {
        const meter = yield* MeterProbe.step(id, { days: 3, cells: 100 })
        if (meter.rebuild === null) {
          seen.push(meter.status)
          break
        }
        seen.push([meter.rebuild.done, meter.rebuild.total])
      }
      same(seen.at(-1), "ready")
      const progress = seen.slice(0, -1).map((each) => each as readonly [number, number])
      for (const [index, [done, total]] of progress.entries()) {
        assert.isAtMost(done, total)
        assert.isAtMost(done - (progress[index - 1]?.[0] ?? 0), 3)
        // Before the first day, a store may wait for transactions that have not seen the meter.
        if (done > 0 || total > 0) same(total, 10)
      }
      const meter = yield* MeterProbe.current(id)
      for (const customerId of [ada, bob]) {
        same(MeterProbe.totalsOf(yield* MeterProbe.ask(customerId, meter)), [
          { window: 0, group: [], quantity: 4n, recordCount: 5 },
        ])
      }
    }),
  )

  test(
    "is ready without records of its product and unit",
    Effect.gen(function* () {
      yield* append(yield* newCustomer, [{ unit: "byte" }])
      const { id } = yield* MeterProbe.insertMeter(MeterProbe.definition({ dimensions: ["model"] }))
      const meter = yield* MeterProbe.work(id)
      same([meter.status, meter.rebuild], ["ready", null])
    }),
  )

  test(
    "misses no record and no void while it is being built and changed by several at once",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const effort = yield* Effort
      const generated = fc.record({
        before: rollupDefinition,
        after: rollupDefinition,
        appends: fc.array(fc.array(written, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 }),
      })
      // Not shrunk: the order of the fibers differs in each run.
      const options = { ...effort, runs: Math.ceil(effort.runs / 2), isShrunk: false }
      yield* forAll(generated, options, ({ after, appends, before }) =>
        Effect.gen(function* () {
          const customerId = yield* newCustomer
          const productId = customerId
          const batchOf = (batch: ReadonlyArray<(typeof appends)[number][number]>) =>
            batch.map(({ dimensions: own, key, moment: when, quantity }) => ({
              productId,
              quantity,
              dimensions: own,
              timestamp: at(when),
              idempotencyKey: key,
            }))
          yield* append(customerId, batchOf(appends[0]!))
          const { id } = yield* MeterProbe.insertMeter(before, { productId })
          const write = (batch: (typeof appends)[number]) =>
            Effect.gen(function* () {
              yield* append(customerId, batchOf(batch))
              const known = yield* listed(customerId)
              for (const [index, { isVoided }] of batch.entries()) {
                const victim = known[index * 2]
                if (isVoided && victim !== undefined) yield* store.void(victim.id, Sample.CREATED_AT)
              }
            })
          const drive = Effect.retry(MeterProbe.work(id, { days: 1, cells: 2 }), again)
          const changing = Effect.andThen(drive, Effect.andThen(MeterProbe.redefine(id, after), drive))
          const fibers: ReadonlyArray<Effect.Effect<unknown, unknown, ContractServices>> = [
            ...appends.map((batch) => Effect.retry(write(batch), again)),
            drive,
            drive,
            changing,
          ]
          yield* together(fibers)
          const meter = yield* drive
          same([meter.status, meter.rebuild], ["ready", null])
          const kept = (yield* listed(customerId)).filter(({ voidedAt }) => voidedAt === null)
          const q = { boundaries: [START, START + DAY + HOUR, START + 3 * DAY], where: [], groupBy: [] }
          same(
            MeterProbe.totalsOf(yield* MeterProbe.ask(customerId, meter, q)),
            MeterProbe.inOrder(valuesOf(meter, kept, q)),
          )
        }),
      )
      same(yield* store.audit, [])
    }),
  )

  test(
    "removes the cells that are no longer used, in batches",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const meter = yield* MeterProbe.readyMeter(MeterProbe.definition({ dimensions: ["model"] }))
      yield* append(
        customerId,
        times(10, (index) => ({ dimensions: { model: `m${index}` }, timestamp: at(index * HOUR) })),
      )
      yield* MeterProbe.redefine(
        meter.id,
        MeterProbe.definition({ aggregation: "max", dimensions: ["model"] }),
      )
      let changed = yield* MeterProbe.current(meter.id)
      while (changed.rebuild?.status === "building")
        changed = yield* MeterProbe.step(meter.id, { days: 100, cells: 4 })
      same([changed.aggregation, changed.rebuild?.status], ["max", "removing"])
      for (let batches = 0; changed.rebuild !== null; batches++) {
        // 10 cells need 3 batches. A store may need others to see that none is left.
        assert.isBelow(batches, 10)
        changed = yield* MeterProbe.step(meter.id, { days: 100, cells: 4 })
      }
      same(MeterProbe.totalsOf(yield* MeterProbe.ask(customerId, changed)), [
        { window: 0, group: [], quantity: 1n, recordCount: 10 },
      ])
      same(yield* store.audit, [])
    }),
  )

  test(
    "undoes cells, batches and changes of a meter with their transaction",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const { atomically } = yield* Transactor
      const customerId = yield* newCustomer
      const of = MeterProbe.definition({ aggregation: "time_weighted", dimensions: ["model"] })
      const meter = yield* MeterProbe.readyMeter(of)
      const records = yield* append(
        customerId,
        times(4, (index) => ({ quantity: index, dimensions: { model: "a" }, timestamp: at(index * HOUR) })),
      )
      const look = Effect.gen(function* () {
        const boundaries = [START, START + DAY]
        return {
          values: yield* MeterProbe.ask(customerId, meter, { boundaries, groupBy: ["model"] }),
          meter: yield* MeterProbe.current(meter.id),
          count: (yield* (yield* MeterProbe.collection).list({}, { limit: 10, cursor: undefined })).data
            .length,
          audit: yield* store.audit,
        }
      })
      const before = yield* look
      const change = Effect.gen(function* () {
        yield* append(customerId, [
          { quantity: 9, dimensions: { model: "a" }, timestamp: at(90) },
          { quantity: 9, dimensions: { model: "b" }, timestamp: at(DAY) },
        ])
        yield* store.void(records[3]!.id, Sample.CREATED_AT)
        yield* store.void(records[1]!.id, Sample.CREATED_AT)
        yield* MeterProbe.insertMeter(MeterProbe.definition({ dimensions: ["region"] }))
        yield* MeterProbe.redefine(meter.id, MeterProbe.definition({ dimensions: ["model"] }))
      })
      yield* Effect.ignore(atomically(Effect.andThen(change, Effect.fail("undone"))))
      same(yield* look, before)
      yield* atomically(Effect.ignore(atomically(Effect.andThen(change, Effect.fail("undone")))))
      same(yield* look, before)
      // A batch of building that is undone is made again.
      yield* MeterProbe.redefine(meter.id, MeterProbe.definition({ dimensions: ["model"] }))
      const batch = MeterProbe.step(meter.id, { days: 100, cells: 100 })
      yield* Effect.ignore(atomically(Effect.andThen(batch, Effect.fail("undone"))))
      const built = yield* MeterProbe.work(meter.id)
      same(MeterProbe.totalsOf(yield* MeterProbe.ask(customerId, built)), [
        { window: 0, group: [], quantity: 6n, recordCount: 4 },
      ])
      same(yield* store.audit, [])
    }),
  )

  test(
    "lists one meter with work of each tenant, in a fixed order of tenants",
    Effect.gen(function* () {
      const own = yield* CurrentTenant
      const tenants = [own, ...(yield* otherTenants)]
      const of = MeterProbe.definition({ aggregation: "max" })
      const insert = Effect.andThen(MeterProbe.insertMeter(of), MeterProbe.insertMeter(of))
      for (const tenant of tenants) yield* insert.pipe(asTenant(tenant))
      const { unfinished } = yield* UsageStore
      const isOurs = ({ tenant }: { readonly tenant: typeof own }) =>
        tenants.some(({ accountId, mode }) => accountId === tenant.accountId && mode === tenant.mode)
      const everybody = yield* unfinished(undefined, 10_000)
      const ours = everybody.filter(isOurs)
      same(ours.length, 3)
      const last = ours.at(-1)!
      const afterLast = yield* unfinished(last.tenant, 10_000)
      same(afterLast.filter(isOurs), [])
      same((yield* unfinished(ours[0]!.tenant, 10_000)).filter(isOurs), ours.slice(1))
      same((yield* unfinished(undefined, 1)).length, 1)
      const { data } = yield* (yield* MeterProbe.collection)
        .list({}, { limit: 10, cursor: undefined })
        .pipe(asTenant(last.tenant))
      for (const { id } of data) yield* MeterProbe.work(id).pipe(asTenant(last.tenant))
      same((yield* unfinished(undefined, 10_000)).filter(isOurs), ours.slice(0, -1))
    }),
  )
}

export const meterContract = (test: ContractTest): void => {
  test.section("meters", () => {
    values(test)
    limits(test)
    building(test)
  })
}
