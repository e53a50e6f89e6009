/**
 * The contract of `UsageStore.build`, `sweep` and `unfinished`: how the roll-ups of meters are built and removed.
 */
import { CurrentTenant, Transactor, UsageStore } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { rollupDefinition } from "../generators/MeterGenerators.ts"
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
import { again, at, batchOf, check, DAY, everything, HOUR, START, written } from "./MeterHistory.ts"
import * as MeterProbe from "./MeterProbe.ts"
import { append, listed, newCustomer } from "./UsageProbe.ts"

export const meterBuildContract = (test: ContractTest): void => {
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
        voids: fc.array(fc.nat({ max: 20 }), { maxLength: 4 }),
      })
      // Not shrunk: the order of the fibers differs in each run.
      const options = { ...effort, runs: Math.ceil(effort.runs / 2), isShrunk: false }
      yield* forAll(generated, options, ({ after, appends, before, voids }) =>
        Effect.gen(function* () {
          const customerId = yield* newCustomer
          const productId = customerId
          yield* append(customerId, batchOf(productId, appends[0]!))
          const { id } = yield* MeterProbe.insertMeter(before, { productId })
          const voidOne = (nth: number) =>
            Effect.gen(function* () {
              const known = yield* listed(customerId)
              yield* store.void(known[nth % known.length]!.id, Sample.CREATED_AT)
            })
          const drive = Effect.retry(MeterProbe.work(id, { days: 1, cells: 2 }), again)
          const changing = Effect.andThen(drive, Effect.andThen(MeterProbe.redefine(id, after), drive))
          const fibers: ReadonlyArray<Effect.Effect<unknown, unknown, ContractServices>> = [
            ...appends.map((batch) => Effect.retry(append(customerId, batchOf(productId, batch)), again)),
            ...voids.map((nth) => Effect.retry(voidOne(nth), again)),
            drive,
            drive,
            changing,
          ]
          yield* together(fibers)
          const meter = yield* drive
          same([meter.status, meter.rebuild], ["ready", null])
          yield* check(meter, customerId, everything(meter))
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
