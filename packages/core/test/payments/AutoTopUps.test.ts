/** Automatic top-ups with a provider: what is paid, and what is declined. */
import {
  AutoTopUp,
  AutoTopUps,
  BillingRuns,
  Collections,
  Credits,
  Customers,
  FakeProvider,
  Invoices,
  TopUps,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { newCustomer } from "../world.ts"
import { advanceTo, declined, events, inHours, outcomes, save, SOON, withProvider } from "./collecting.ts"

const TOKENS = { unit: "token", amount: 1_000n, currency: "EUR", price: 500n, level: 100n } as const

const begin = Effect.gen(function* () {
  const { id: customerId } = yield* newCustomer()
  const auto = yield* (yield* AutoTopUps).create({ customerId, ...TOKENS, maxPerDay: 5 })
  const look = Effect.gen(function* () {
    const { data } = yield* (yield* TopUps).list({ customerId })
    const { available } = yield* (yield* Credits).balance({ customerId, unit: "token" })
    const { suspendedAt } = yield* (yield* AutoTopUps).get(auto.id)
    const suspensions = (yield* events).filter(({ type }) => type === "credit.top_up_suspended")
    return {
      statuses: data.map(({ status }) => status).toReversed(),
      available,
      isSuspended: suspendedAt !== null,
      suspensions: suspensions.length,
    }
  })
  return { auto, customerId, look }
})

describe("automatic top-ups", () => {
  it.effect("are paid by themselves", () => {
    const provider = new FakeProvider({})
    return Effect.gen(function* () {
      const { customerId, look } = yield* begin
      yield* advanceTo(SOON)
      const paid = { statuses: ["granted"], available: 1_000n, isSuspended: false, suspensions: 0 }
      assert.deepStrictEqual(yield* look, paid)
      yield* (yield* Credits).consume({ customerId, unit: "token", amount: 950n })
      yield* advanceTo(inHours(2))
      assert.deepStrictEqual(yield* look, { ...paid, statuses: ["granted", "granted"], available: 1_050n })
    }).pipe(withProvider(provider))
  })

  it.effect("give nothing after a decline, and buy nothing more until somebody arms them", () => {
    const provider = new FakeProvider({ outcomeOf: outcomes(declined("insufficient_funds")) })
    return Effect.gen(function* () {
      const { auto, customerId, look } = yield* begin
      yield* advanceTo(SOON)
      const stopped = { statuses: ["pending"], available: 0n, isSuspended: true, suspensions: 1 }
      assert.deepStrictEqual(yield* look, stopped)
      // The invoice is collected again like every other one, and then gives its credits.
      yield* advanceTo(inHours(24 * 4))
      const later = { ...stopped, statuses: ["granted"], available: 1_000n }
      assert.deepStrictEqual(yield* look, later)
      yield* (yield* Credits).consume({ customerId, unit: "token", amount: 950n })
      yield* (yield* BillingRuns).runDue()
      assert.deepStrictEqual(yield* look, { ...later, available: 50n })
      yield* (yield* AutoTopUps).update(auto.id, {})
      yield* (yield* BillingRuns).runDue()
      assert.deepInclude(yield* look, { statuses: ["granted", "granted"], isSuspended: false })
    }).pipe(withProvider(provider))
  })

  it.effect("end with their customer, also while a payment is under way", () => {
    const provider = new FakeProvider({ outcomeOf: outcomes({ status: "processing" }) })
    return Effect.gen(function* () {
      const { auto, customerId } = yield* begin
      yield* (yield* Credits).grant({ customerId, unit: "token", kind: "paid", amount: 50n })
      yield* advanceTo(SOON)
      assert.lengthOf(provider.payments, 1)
      yield* (yield* Customers).erase(customerId)
      const { data } = yield* (yield* AutoTopUps).list({ customerId })
      assert.deepStrictEqual(data, [])
      assert.strictEqual(
        (yield* Effect.flip((yield* AutoTopUps).update(auto.id, {})))._tag,
        "AutoTopUpNotFound",
      )
      provider.settle(provider.payments[0]!.reference, "succeeded")
      yield* advanceTo(inHours(24 * 4))
      assert.lengthOf(provider.payments, 1)
      assert.lengthOf((yield* (yield* Invoices).list({ customerId })).data, 1)
    }).pipe(withProvider(provider))
  })

  it.effect("of a customer who was erased by an earlier release buy nothing, and are deleted", () => {
    const provider = new FakeProvider({})
    return Effect.gen(function* () {
      const { auto, customerId } = yield* begin
      yield* (yield* Customers).erase(customerId)
      yield* (yield* Collections).of(AutoTopUp.autoTopUps).insert(auto)
      yield* advanceTo(inHours(48))
      assert.deepStrictEqual((yield* (yield* AutoTopUps).list({ customerId })).data, [])
      assert.deepStrictEqual((yield* (yield* TopUps).list({ customerId })).data, [])
    }).pipe(withProvider(provider))
  })

  it.effect("are armed by a new payment method", () => {
    const provider = new FakeProvider({
      hasMethods: true,
      outcomeOf: outcomes(declined("insufficient_funds")),
    })
    return Effect.gen(function* () {
      const { customerId, look } = yield* begin
      yield* save(provider, customerId)
      yield* advanceTo(SOON)
      assert.deepInclude(yield* look, { statuses: ["pending"], isSuspended: true })
      yield* save(provider, customerId)
      assert.deepInclude(yield* look, { statuses: ["pending"], isSuspended: false })
    }).pipe(withProvider(provider))
  })
})
