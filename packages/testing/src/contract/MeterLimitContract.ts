/**
 * The contract of the limit of meters: at most `Rollup.MAX_COMBINATIONS` combinations for each customer and day.
 */
import { Rollup, UsageStore } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Sample from "../Sample.ts"
import { type ContractTest, same, times, together } from "./ContractTest.ts"
import { again, at, DAY, HOUR, START } from "./MeterHistory.ts"
import * as MeterProbe from "./MeterProbe.ts"
import { append, appendOne, newCustomer } from "./UsageProbe.ts"

export const meterLimitContract = (test: ContractTest): void => {
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
