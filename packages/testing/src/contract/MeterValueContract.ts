/**
 * The contract of `UsageStore.rollup`: the values of meters are exact, for any history.
 */
import { Aggregation, Rollup, UsageStore } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { rollupDefinition } from "../generators/MeterGenerators.ts"
import { forAll } from "../Property.ts"
import * as Sample from "../Sample.ts"
import { type ContractTest, Effort, same } from "./ContractTest.ts"
import { action, at, check, DAY, definitionOf, history, HOUR, START } from "./MeterHistory.ts"
import * as MeterProbe from "./MeterProbe.ts"
import { append, newCustomer } from "./UsageProbe.ts"

export const meterValueContract = (test: ContractTest): void => {
  for (const aggregation of Aggregation.Aggregation.literals) {
    test(
      `gives the values of ${aggregation} after any appends, voids and changes, by any window, filter and group`,
      Effect.flatMap(Effort, (effort) =>
        forAll(
          fc.record({
            first: rollupDefinition.map((any) => definitionOf(aggregation, any)),
            actions: fc.array(action, { minLength: 3, maxLength: 14 }),
          }),
          effort,
          ({ actions, first }) => history(first, actions),
        ),
      ),
    )
  }

  test(
    "reads the day again when a void or a late record changes more than a cell can tell",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const expectations: ReadonlyArray<readonly [Aggregation.Aggregation, ReadonlyArray<bigint>]> = [
        ["max", [7n, 7n, 5n, 5n]],
        ["latest", [4n, 4n, 4n, 5n]],
        ["time_weighted", [108n, 114n, 106n, 118n].map((levels) => levels * BigInt(HOUR))],
      ]
      for (const [aggregation, expected] of expectations) {
        const customerId = yield* newCustomer
        const productId = customerId
        const meter = yield* MeterProbe.readyMeter(MeterProbe.definition({ aggregation }), { productId })
        const write = (quantity: number, hour: number) =>
          append(customerId, [{ productId, quantity, timestamp: at(hour * HOUR) }])
        const seen: Array<bigint | undefined> = []
        const boundaries = [START, START + DAY]
        const look = Effect.map(MeterProbe.ask(customerId, meter, { boundaries }), (answer) => {
          seen.push(MeterProbe.totalsOf(answer)[0]?.quantity)
        })
        // Levels by hour: 5 from 0, 7 from 4, 3 from 8, 4 from 12.
        yield* write(5, 0)
        const [largest] = yield* write(7, 4)
        yield* write(3, 8)
        const [last] = yield* write(4, 12)
        yield* look
        // A late record between others: 5 instead of 3 from 9 on.
        yield* write(5, 9)
        yield* look
        yield* store.void(largest!.id, Sample.CREATED_AT)
        yield* look
        yield* store.void(last!.id, Sample.CREATED_AT)
        yield* look
        same(seen, expected, aggregation)
      }
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
    "has nothing in a window of no length, and carries levels over it",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const meter = yield* MeterProbe.readyMeter(MeterProbe.definition({ aggregation: "time_weighted" }))
      // Two changes on the day before, so that their area is not the level at the end of it.
      yield* append(customerId, [
        { quantity: 4, timestamp: at(8 * HOUR) },
        { quantity: 10, timestamp: at(20 * HOUR) },
      ])
      const instant = START + DAY
      const later = { window: 1, group: [], quantity: BigInt(DAY) * 10n, recordCount: 0 }
      for (const [boundaries, expected] of [
        [[instant, instant], []],
        [[instant, instant, instant + DAY], [later]],
      ] as const) {
        const totals = MeterProbe.totalsOf(yield* MeterProbe.ask(customerId, meter, { boundaries }))
        same(
          totals.filter(({ quantity, recordCount }) => quantity !== 0n || recordCount !== 0),
          expected,
        )
      }
    }),
  )

  test(
    "carries over levels that begin, end and begin again, into any windows",
    Effect.flatMap(Effort, (effort) => {
      const halfDay = (min: number, max: number) => fc.integer({ min, max }).map((count) => (count * DAY) / 2)
      const change = fc.record({
        moment: halfDay(0, 11),
        quantity: fc.constantFrom(0, 0, 1, 2),
        model: fc.constantFrom("a", "b"),
      })
      const generated = fc.record({
        changes: fc.array(change, { minLength: 8, maxLength: 16 }),
        cuts: fc.uniqueArray(halfDay(7, 13), { minLength: 2, maxLength: 6 }),
      })
      return forAll(generated, effort, ({ changes, cuts }) =>
        Effect.gen(function* () {
          const customerId = yield* newCustomer
          const productId = customerId
          const of = MeterProbe.definition({ aggregation: "time_weighted", dimensions: ["model"] })
          const meter = yield* MeterProbe.readyMeter(of, { productId })
          yield* append(
            customerId,
            changes.map(({ model, moment, quantity }) => ({
              productId,
              quantity,
              dimensions: { model },
              timestamp: at(moment),
            })),
          )
          const boundaries = cuts.toSorted((a, b) => a - b).map((each) => START + each)
          yield* check(meter, customerId, { boundaries, where: [], groupBy: ["model"] })
          yield* check(meter, customerId, { boundaries, where: [["model", ["b"]]], groupBy: [] })
        }),
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
