import { BillingRuns, SpendAlerts, SpendMarks, StorageError, Subscriptions } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { at, listen, newCustomer } from "../world.ts"
import { allEvents, inYears, pushPro, use } from "./billing.ts"

const START = at("2026-06-01T00:00:00.000Z").epochMilliseconds

const failure = new StorageError({
  operation: "SpendMarks.take",
  retryable: true,
  cause: new Error("gone"),
})

/** Billing runs that can't take the marks of customers, from a call on. */
const failingFrom = (call: number) => {
  let calls = 0
  const failing = Layer.effect(
    SpendMarks,
    Effect.map(SpendMarks, (marks) =>
      SpendMarks.of({
        ...marks,
        take: (id) => Effect.suspend(() => (++calls < call ? marks.take(id) : Effect.fail(failure))),
      }),
    ),
  )
  return Layer.fresh(BillingRuns.layerManual).pipe(Layer.provide(failing))
}

/** Billing runs whose check of a customer fails, and meanwhile the customer is marked again. */
const failingMeanwhile = Layer.effect(
  SpendMarks,
  Effect.map(SpendMarks, (marks) =>
    SpendMarks.of({
      ...marks,
      take: () => Effect.fail(failure),
      putOff: (marked, ...how) => Effect.andThen(marks.mark(marked.customerId), marks.putOff(marked, ...how)),
    }),
  ),
)

const check = Effect.flatMap(BillingRuns, ({ checkSpend }) => checkSpend)
const fired = Effect.map(allEvents, (all) => all.filter((event) => event.endsWith(" spend.alert")))

describe("the check of spend alerts", () => {
  it.effect("is made after any number of failures, also when the customer uses nothing more", () => {
    const { logged, logger } = listen()
    return Effect.gen(function* () {
      yield* pushPro
      const customer = yield* newCustomer()
      const { id: customerId } = customer
      yield* (yield* Subscriptions).create({ customerId, plan: "pro" })
      yield* (yield* SpendAlerts).create({ customerId, currency: "EUR", amount: 500n })
      yield* check
      yield* use(customer, 700)
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* check, 1)
        assert.strictEqual(yield* check, 0, "it is put off")
        for (let failures = 1; failures < 20; failures++) {
          yield* TestClock.adjust("6 hours")
          assert.strictEqual(yield* check, 1)
        }
      }).pipe(Effect.provide(failingFrom(1)))
      // The first ten, and then each tenth.
      assert.lengthOf(logged, 11)
      assert.strictEqual(logged.at(-1), "checking spend alerts failed 20 times in a row; it is tried again")
      assert.deepStrictEqual(yield* fired, [])
      yield* TestClock.adjust("6 hours")
      assert.strictEqual(yield* check, 1)
      assert.deepStrictEqual(yield* fired, ["2026-06-06T00:00:00.000Z spend.alert"])
    }).pipe(inYears(START), Effect.provide(logger))
  })

  it.effect("is made at once for usage that came while it failed", () => {
    const { logger } = listen()
    return Effect.gen(function* () {
      yield* pushPro
      const customer = yield* newCustomer()
      const { id: customerId } = customer
      yield* (yield* Subscriptions).create({ customerId, plan: "pro" })
      yield* (yield* SpendAlerts).create({ customerId, currency: "EUR", amount: 500n })
      yield* check
      yield* use(customer, 700)
      const failing = Layer.fresh(BillingRuns.layerManual).pipe(Layer.provide(failingMeanwhile))
      yield* check.pipe(Effect.provide(failing))
      assert.deepStrictEqual(yield* fired, [])
      assert.strictEqual(yield* check, 1)
      assert.lengthOf(yield* fired, 1)
    }).pipe(inYears(START), Effect.provide(logger))
  })

  it.effect("is made again for what is left, when it fails after an alert that bills", () => {
    const { logged, logger } = listen()
    return Effect.gen(function* () {
      yield* pushPro
      const customer = yield* newCustomer()
      const { id: customerId } = customer
      const { create } = yield* Subscriptions
      const bill = { currency: "EUR", amount: 500n, action: "invoice" } as const
      for (const { id: subscriptionId } of [
        yield* create({ customerId, plan: "pro" }),
        yield* create({ customerId, plan: "pro" }),
      ]) {
        yield* (yield* SpendAlerts).create({ customerId, subscriptionId, ...bill })
      }
      yield* check
      yield* use(customer, 700)
      yield* check.pipe(Effect.provide(failingFrom(2)))
      assert.lengthOf(logged, 1)
      assert.lengthOf(yield* fired, 1)
      yield* TestClock.adjust("6 hours")
      yield* check
      assert.lengthOf(yield* fired, 2)
    }).pipe(inYears(START), Effect.provide(logger))
  })
})
