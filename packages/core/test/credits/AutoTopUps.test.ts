/**
 * Automatic top-ups under a test clock: nobody comes back to them when the next day begins.
 */
import { AutoTopUps, BillingRuns, Credits, Invoices, Payments, TestClocks, TopUps } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { acmeTest, as, inWorld, newCustomer } from "../world.ts"

const pack = { unit: "token", amount: 1_000n, currency: "EUR", price: 500n, level: 1_500n } as const

/** A customer of a test clock whose automatic top-up has bought what it may in a day. Less than its level is available. */
const begin = Effect.gen(function* () {
  const clock = yield* (yield* TestClocks).create({})
  const { id: customerId } = yield* newCustomer({ testClockId: clock.id })
  const auto = yield* (yield* AutoTopUps).create({ customerId, ...pack })
  yield* (yield* BillingRuns).runDue()
  const [first] = (yield* (yield* TopUps).list({ customerId })).data
  yield* (yield* Invoices).finalize(first!.invoiceId)
  yield* (yield* Payments).record({ invoiceId: first!.invoiceId })
  /** How many top-ups there are when runners have done what is due. */
  const bought = Effect.gen(function* () {
    yield* (yield* BillingRuns).runDue()
    return (yield* (yield* TopUps).list({ customerId })).data.length
  })
  assert.strictEqual(yield* bought, 1)
  yield* (yield* TestClocks).advance(clock.id, { to: DateTime.add(clock.now, { days: 1 }) })
  assert.strictEqual(yield* bought, 1, "nobody comes back by itself")
  return { account: { customerId, unit: "token" }, auto, bought }
})

describe("an automatic top-up under a test clock buys on the next day", () => {
  it.effect("when it is updated, also with nothing to change", () =>
    Effect.gen(function* () {
      const { auto, bought } = yield* begin
      yield* (yield* AutoTopUps).update(auto.id, {})
      assert.strictEqual(yield* bought, 2)
    }).pipe(as(acmeTest), inWorld()),
  )

  it.effect("when its level is crossed again", () =>
    Effect.gen(function* () {
      const { account, bought } = yield* begin
      const { consume, grant } = yield* Credits
      yield* consume({ ...account, amount: 1n })
      assert.strictEqual(yield* bought, 1, "it was below the level before")
      yield* grant({ ...account, kind: "promotional", amount: 1_000n })
      yield* consume({ ...account, amount: 1_000n })
      assert.strictEqual(yield* bought, 2)
    }).pipe(as(acmeTest), inWorld()),
  )
})
