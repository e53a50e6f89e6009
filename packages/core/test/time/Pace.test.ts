/**
 * How much of the storage a run takes: counted in transactions, and in the time of a clock that stands until it is set.
 */
import { BatchTransactor, BillingRuns, DueStore, Subscriptions, Transactor } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { acmeTest, as, at, globex, newCustomer } from "../world.ts"
import { inYears, pushPro } from "./billing.ts"

const START = at("2026-06-30T23:58:57.300Z").epochMilliseconds
const END = at("2026-07-01T00:00:00.000Z").epochMilliseconds

/** Subscriptions of two tenants, two of each, whose first period is about to end. */
const begin = Effect.forEach([acmeTest, globex], (tenant) =>
  Effect.gen(function* () {
    yield* pushPro
    for (let count = 0; count < 2; count++) {
      const customer = yield* newCustomer()
      const startAt = at("2026-06-01T00:00:00.000Z")
      yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro", startAt })
    }
    yield* (yield* BillingRuns).runDue()
  }).pipe(as(tenant)),
)

type Pace = "background" | "full"
const run = (pace?: Pace) =>
  Effect.flatMap(BillingRuns, (runs) => runs.runDue(pace === undefined ? {} : { pace }))

/** When each subject is begun, in milliseconds after the end of the period. Each takes as long as it is said to. */
const beginnings = (
  millis: number,
  work: Effect.Effect<unknown, unknown, BillingRuns>,
  runs = BillingRuns.layerManual,
) => {
  const begun: Array<number> = []
  const slow = Layer.effect(
    DueStore,
    Effect.map(DueStore, (store) =>
      DueStore.of({
        ...store,
        holds: (claimed) =>
          Effect.gen(function* () {
            begun.push((yield* Clock.currentTimeMillis) - END)
            yield* Effect.sleep(millis)
            return yield* store.holds(claimed)
          }),
      }),
    ),
  )
  return Effect.gen(function* () {
    yield* begin
    yield* TestClock.setTime(END)
    const running = yield* Effect.forkChild(Effect.provide(work, Layer.fresh(runs).pipe(Layer.provide(slow))))
    yield* TestClock.adjust("1 minute")
    yield* Fiber.interrupt(running)
    return begun
  }).pipe(inYears(START))
}

/** How many transactions of many subjects there are, and how many of them at the same time. */
const transactions = (pace: Pace) => {
  let all = 0
  let now = 0
  let most = 0
  const batches = Layer.effect(
    BatchTransactor,
    Effect.map(Transactor, ({ atomically }) =>
      BatchTransactor.of({
        atomicallyAll: (effects) =>
          Effect.gen(function* () {
            all++
            most = Math.max(most, ++now)
            yield* Effect.sleep("100 millis")
            now--
            return yield* atomically(Effect.all(effects))
          }),
      }),
    ),
  )
  return Effect.gen(function* () {
    yield* begin
    yield* TestClock.setTime(END)
    const running = yield* Effect.forkChild(
      Effect.provide(run(pace), Layer.fresh(BillingRuns.layerManual).pipe(Layer.provide(batches))),
    )
    yield* TestClock.adjust("1 minute")
    assert.strictEqual((yield* Fiber.join(running)).subscriptions, 4)
    return { all, most }
  }).pipe(inYears(START))
}

describe("the pace of a run", () => {
  it.effect("makes no pause unless it is asked to", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* beginnings(100, run()), [0, 100, 200, 300])
      assert.deepStrictEqual(yield* beginnings(100, run("full")), [0, 100, 200, 300])
    }),
  )

  it.effect("makes a pause after each transaction in the background, as long as that took", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* beginnings(100, run("background")), [0, 200, 400, 600])
    }),
  )

  it.effect("is that of the background for what runs by itself", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* beginnings(100, Effect.never, BillingRuns.layer), [0, 200, 400, 600])
    }),
  )

  it.effect("makes no pause of more than half a second", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* beginnings(2_000, run("background")), [0, 2_500, 5_000, 7_500])
    }),
  )

  it.effect("works on one batch at a time in the background, and on two otherwise", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* transactions("full"), { all: 2, most: 2 })
      assert.deepStrictEqual(yield* transactions("background"), { all: 2, most: 1 })
    }),
  )
})
